"""The shape of the repository: what lies where, how long files are, what may be named in them, what is declared."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import app
import models

ROOT = Path(__file__).resolve().parents[1]
TRACKED = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]
PRESENT = [ROOT / name for name in TRACKED if (ROOT / name).is_file()]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

TOP_LEVEL = {
    *(".ci", ".dockerignore", ".gitignore", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "Makefile", "README.md"),
    *("THIRD_PARTY_NOTICES.md", "app", "assets", "bench", "constraints.txt", "docs", "models", "pyproject.toml", "tests"),
}
LONGEST = 320  # "about 300"

MODULES = [m.name for package in (app, models) for m in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]

PAPERS = ("arxiv.org", "doi.org", "aclanthology.org", "openreview.net", "proceedings.mlr.press", "papers.nips.cc")
# Hosts that may be named: this machine, names reserved for examples, the namespaces of SVG and MathML, and where papers are.
HOSTS = re.compile(r"([\w-]+|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|www\.w3\.org|([\w-]+\.)*(example|test|invalid)(\.com)?)$")
ADDRESS = re.compile(r"\b(?:https?|wss?|ftp)://(\[::1\]|[A-Za-z0-9][\w.-]*)")
MACHINE_PATH = re.compile(r"(?<![\w.~}/-])/(?:work|root|home|Users|opt|mnt)/\w")
DOWNLOAD = re.compile(r"\.whl#|/simple/|\"resolved\":|index-url\s*=\s*\S")


def texts() -> list[tuple[str, str]]:
    """Every tracked text file with its content; this file (it names what it looks for) and font licences left out."""
    own = Path(__file__).resolve()
    files = [p for p in PRESENT if p != own and p.parent.name != "fonts" and b"\0" not in p.read_bytes()[:4096]]
    return [(p.relative_to(ROOT).as_posix(), p.read_text(encoding="utf-8")) for p in files]


def test_the_top_level_is_what_the_readme_describes() -> None:
    assert {name.split("/")[0] for name in TRACKED} == TOP_LEVEL


def test_no_file_names_a_download_address_or_a_path_of_one_machine() -> None:
    wrong = []
    for name, text in texts():
        foreign = {h for h in ADDRESS.findall(text) if not HOSTS.match(h) and not h.removeprefix("www.").endswith(PAPERS)}
        wrong += [f"{name}: {found}" for found in (*foreign, *MACHINE_PATH.findall(text), *DOWNLOAD.findall(text))]
    assert wrong == []


def test_files_are_short() -> None:
    checked = [p for p in PRESENT if p.suffix in (".py", ".mjs") and p.relative_to(ROOT).parts[0] in ("app", "models", "assets")]
    long = {p.relative_to(ROOT).as_posix(): n for p in checked if (n := len(p.read_text().splitlines())) > LONGEST}
    assert long == {}, f"over {LONGEST} lines; a file that grows is two ideas"


@pytest.mark.parametrize("name", MODULES)
def test_every_module_imports(name: str) -> None:
    importlib.import_module(name)


def imported(package: str) -> set[str]:
    """Top names of all that the package's files import absolutely."""
    trees = [ast.parse(p.read_text()) for p in (ROOT / package).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    sources = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.split(".")[0] for name in plain | sources}


def test_every_package_that_the_code_imports_is_declared_and_the_other_way_round() -> None:
    declared = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    outside = (imported("app") | imported("models")) - {"app", "models"} - set(sys.stdlib_module_names)
    distributions = packages_distributions()
    used = {canonicalize_name(distributions[name][0]) for name in outside}
    # uvicorn finds its websocket implementation by name; of plotly the page's script is served, also by name.
    assert used | {"websockets", "plotly"} == declared


def test_every_declared_package_is_pinned_to_a_version_that_its_range_allows() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    pins = {canonicalize_name(name): Version(version) for name, version in pinned.items()}
    extras = [line for group in PROJECT["optional-dependencies"].values() for line in group]
    requirements = [Requirement(line) for line in (*PROJECT["dependencies"], *extras)]
    assert [str(r) for r in requirements if pins[canonicalize_name(r.name)] not in r.specifier] == []
