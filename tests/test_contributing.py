"""The worked examples of CONTRIBUTING.md, put into a copy of the repository: they work as printed and need no other change."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is tracked, as it stands, with the examples added."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    clone = tmp_path_factory.mktemp("clone")
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    for name, text in EXAMPLES.items():
        assert not (clone / name).exists(), f"{name} is an example and should not be in the repository"
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text)
    return clone


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


@pytest.fixture
def address(clone: Path) -> Iterator[str]:
    """A server of the clone, ready."""
    command = (sys.executable, "-m", "app.cli", "serve", "--port", "0")
    environment = {**os.environ, "LOOKBACK_DATA": str(clone / "var")}
    with subprocess.Popen(command, cwd=clone, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().removeprefix("Lookback is ready: ").strip()
        finally:
            server.terminate()


@pytest.mark.browser
def test_the_page_shows_both(address: str) -> None:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.get_by_role("button", name="Step", exact=True).click()
        expect(page.locator("#view-spread")).to_have_text(re.compile(r"The shown row reads \d\.\d+ keys in effect\."))
        page.get_by_text("Recurrent").first.click()
        page.get_by_text("Moving average").click()
        expect(page.get_by_label("Width n")).to_have_value("32")
        expect(page.locator("#view-spread")).to_have_text("The shown row reads no keys in effect.")
        page.get_by_role("button", name="Step", exact=True).click()
        expect(page.locator("#view-sentence")).to_contain_text("Decode 1")
        browser.close()


def test_the_examples_are_tidy(clone: Path) -> None:
    python = [name for name in EXAMPLES if name.endswith(".py")]
    done(clone, sys.executable, "-m", "ruff", "check", *python)
    done(clone, sys.executable, "-m", "ruff", "format", "--check", *python)
