"""The page's modules as one script: order, names, and what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.ui.gathered import FOLDER, Gatherer, add_files
from app.ui.index import ASSETS

MODULES = {
    "lib/a.mjs": 'import { two as second } from "./b.mjs";\nexport const one = 1;\nexport function sum() { return one+second; }',
    "lib/b.mjs": "export const two = 2;\nexport class Three {}\nconst modules = 3;\nexport async function later() {}\n",
    "lib/c.mjs": 'export { sum as total } from "./a.mjs";\nexport * from "./b.mjs";\n',
    "views/v.mjs": 'import * as all from "../lib/c.mjs";\nexport default { id: `v${all.total()}${all.two}${typeof all.later}` };',
    "start.mjs": 'import { one } from "./lib/a.mjs";\nconsole.log(one, window.lookbackViews["views/v.mjs"].id);\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {**MODULES, "app.css": "@font-face{src:url(fonts/f.woff2)}", "css/v.css": ".v{}"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_one_script_does_what_the_modules_do(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.mjs"
    file.write_text("globalThis.window = {};\n" + Gatherer(folder)().script())
    said = subprocess.run(["node", str(file)], capture_output=True, text=True, check=True, timeout=30)
    assert said.stdout == "1 v32function\n"


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        (
            "lib/b.mjs",
            'import { one } from "./a.mjs";\nexport const two = one;\n',
            "circle: .*lib/a.mjs -> lib/b.mjs -> lib/a.mjs",
        ),
        ("lib/b.mjs", "const two = 2;\nexport { two };\n", "lib/b.mjs: 'export { two };' is no import or export"),
        ("lib/b.mjs", 'import two from "two";\nexport const one = two;\n', "no import or export"),
    ],
)
def test_what_it_does_not_know_is_refused(folder: Path, name: str, text: str, match: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(ValueError, match=match):
        Gatherer(folder)().script()


def test_comments_that_say_types_are_left_out_and_their_lines_stay(folder: Path) -> None:
    before = Gatherer(folder)().script()
    (folder / "lib/b.mjs").write_text("/** One\n * @type {any} */\n  /** Two. */\n" + MODULES["lib/b.mjs"])
    assert Gatherer(folder)().script() == before.replace('$["lib/b.mjs"] = (() => {\n', '$["lib/b.mjs"] = (() => {\n\n\n\n')
    code = "const x = /** @type {any} */ (1);\n/** @type {any} */ (x).y;\nconst z = 2; /** said */\n"
    (folder / "lib/b.mjs").write_text(MODULES["lib/b.mjs"] + code)
    assert code in Gatherer(folder)().script()


def test_another_file_makes_another_version(folder: Path) -> None:
    gather = Gatherer(folder)
    before = gather()
    assert gather() is before
    (folder / "css" / "v.css").write_text(".v{color:red}")
    assert gather().version != before.version
    assert gather().style == f"@font-face{{src:url(../../assets/fonts/f.woff2?m={gather().version})}}\n.v{{color:red}}"


def test_only_what_is_there_now_is_kept(folder: Path) -> None:
    api, gather = FastAPI(), Gatherer(folder)
    add_files(api, gather)
    client = TestClient(api)
    now = client.get(f"/{FOLDER}/{gather().version}/lookback.mjs")
    assert (now.text, "immutable" in now.headers["cache-control"]) == (gather().script(), True)
    assert client.get(f"/{FOLDER}/older/lookback.css").headers["cache-control"] == "no-cache"


def test_the_pages_own_modules_can_be_gathered() -> None:
    script = Gatherer(ASSETS)().script()
    assert all(f'$["views/{path.name}"].default' in script for path in (ASSETS / "views").glob("*.mjs"))
