"""The worked examples of CONTRIBUTING.md, put into a copy of the repository: they work as printed and need no other change."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S))
pytestmark = pytest.mark.slow


def with_examples(clone: Path) -> Path:
    """Put what is tracked, as it stands, into this folder, and the examples with it."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    for name, text in EXAMPLES.items():
        assert not (clone / name).exists(), f"{name} is an example and should not be in the repository"
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text)
    return clone


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_examples(tmp_path_factory.mktemp("clone"))


def done(clone: Path, *command: str) -> str:
    """What the command said; it must succeed in the clone."""
    result = subprocess.run(command, cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_there_is_an_architecture_and_a_view_each_with_its_test() -> None:
    folders = sorted(Path(name).parent.as_posix() for name in EXAMPLES)
    assert folders == ["assets/views", "models", "tests/assets/views", "tests/models"]


def test_the_contract_takes_the_architecture_up_by_itself(clone: Path) -> None:
    said = done(clone, sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/models", "-k", "moving_average")
    assert "test_contract[moving_average-default-prefill_equals_decode_steps] PASSED" in said
    assert "test_the_average_weighs_older_rows_by_powers_of_a PASSED" in said


def test_the_architecture_can_be_run(clone: Path) -> None:
    assert "moving_average: Moving average" in done(clone, sys.executable, "-m", "app.cli", "list")
    (clone / "toy.json").write_text('{"architecture": "moving_average", "task": "language_model"}')
    done(clone, sys.executable, "-m", "app.cli", "run", "toy.json", "--steps", "3", "--out", "toy.safetensors")


def test_the_view_passes_its_test(clone: Path) -> None:
    assert "fail 0" in done(clone, "node", "--test", *(name for name in EXAMPLES if name.endswith(".test.mjs")))


def test_the_examples_are_tidy(clone: Path) -> None:
    python = [name for name in EXAMPLES if name.endswith(".py")]
    done(clone, sys.executable, "-m", "ruff", "check", *python)
    done(clone, sys.executable, "-m", "ruff", "format", "--check", *python)
