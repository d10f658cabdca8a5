"""The page's modules as one script, and its style sheets as one: two answers instead of 130, which a browser keeps for good.

The files stay as they are and are served one by one too; here each becomes a function that gives what it exports, after the
modules that it imports. Nothing is minified but comments that say types. See docs/decisions/0009-the-page-is-two-files.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from fastapi import FastAPI, Response

FOLDER = "gathered"
COMPILED = "//# allFunctionsCalledOnLoad"  # Chromium compiles them in the background, and keeps them so
KEEP = "public, max-age=31536000, immutable"
FROM = re.compile(r"""^import (?:\* as (\w+)|\{([^}]*)\}) from "(\.[^"]+)";$""", re.MULTILINE)
AGAIN = re.compile(r"""^export (?:\*|\{([^}]*)\}) from "(\.[^"]+)";$""", re.MULTILINE)
NAMED = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)
LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
# A comment of the kind that says types, on lines of its own: a quarter of all bytes. The lines stay, empty.
SAID = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*$", re.MULTILINE | re.DOTALL)
FONT = re.compile(r"url\((fonts/[^)]+)\)")


@dataclass(frozen=True)
class Gathered:
    """What lies in a folder at one moment. version: another one for other files."""

    folder: Path
    version: str

    @cache  # noqa: B019 (one of these lives until a file changes)
    def script(self, page: str = "") -> str:
        """Every module, in an order in which each comes after what it imports; views by their file names in
        `window.lookbackViews`, PAGE/start.mjs in `window.lookbackBeside`. Raises ValueError for modules that import each other in
        a circle, and for a form of import or export that is not known."""
        views = ", ".join(f'"{name}": $["{name}"].default' for name in self._names("views"))
        beside = [f"{page}/start.mjs"] if page else []
        order = list(self._ordered("start.mjs", *self._names("views"), *beside))
        order.remove("start.mjs")
        wrapped = [self._wrapped(name) for name in order]
        more = "".join(f'window.lookbackBeside = $["{name}"];\n' for name in beside)
        last = f"window.lookbackViews = {{ {views} }};\n{more}{{\n{self._rewritten('start.mjs')[0]}\n}}\n"
        return "\n".join([COMPILED, '"use strict";', "(async () => {", "const $ = {};", *wrapped, last, "})();\n"])

    @cached_property
    def style(self) -> str:
        """app.css and the sheets of the views; fonts lie where they lay."""
        files = [self.folder / "app.css", *sorted((self.folder / "css").glob("*.css"))]
        return FONT.sub(rf"url(../../assets/\1?m={self.version})", "\n".join(path.read_text(encoding="utf-8") for path in files))

    def _names(self, under: str) -> list[str]:
        return sorted(f"{under}/{path.name}" for path in (self.folder / under).glob("*.mjs"))

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def _resolved(self, name: str, address: str) -> str:
        return ((self.folder / name).parent / address).resolve().relative_to(self.folder.resolve()).as_posix()

    def _ordered(self, *names: str) -> Iterator[str]:
        done: dict[str, bool] = {}

        def visit(name: str, way: tuple[str, ...]) -> Iterator[str]:
            if name in way:
                raise ValueError(f"modules import each other in a circle: {' -> '.join([*way, name])}; move what both need")
            if name in done:
                return
            text = self._text(name)
            for address in [m[3] for m in FROM.finditer(text)] + [m[2] for m in AGAIN.finditer(text)]:
                yield from visit(self._resolved(name, address), (*way, name))
            done[name] = True
            yield name

        for name in names:
            yield from visit(name, ())

    def _wrapped(self, name: str) -> str:
        text, exports = self._rewritten(name)
        return f'$["{name}"] = (() => {{\n{text}\nreturn {{ {", ".join(exports)} }};\n}})();'

    def _rewritten(self, name: str) -> tuple[str, list[str]]:
        """A module's text without import and export, and what it exports."""
        exports: list[str] = []

        def taken(match: re.Match[str]) -> str:
            whole, names, address = match.groups()
            return f"const {whole or '{' + _pairs(names, ': ') + '}'} = {self._module(name, address)};"

        def passed_on(match: re.Match[str]) -> str:
            names, module = match[1], self._module(name, match[2])
            exports.extend([f"...{module}"] if names is None else [f"{new}: {module}.{old}" for old, new in _named(names)])
            return ""

        def given(match: re.Match[str]) -> str:
            exports.append(match[2])
            return f"{match[1]} {match[2]}"

        text = SAID.sub(lambda comment: "\n" * comment[0].count("\n"), self._text(name))
        text = AGAIN.sub(passed_on, FROM.sub(taken, text))
        text, count = DEFAULT.subn("const defaultExport = ", NAMED.sub(given, text))
        exports += ["default: defaultExport"] * count
        if left := LEFT.search(text):
            raise ValueError(f"assets/{name}: {left[0]!r} is no import or export that app/ui/gathered.py knows")
        return text, exports

    def _module(self, name: str, address: str) -> str:
        return f"$[{json.dumps(self._resolved(name, address))}]"


def _named(names: str) -> list[tuple[str, str]]:
    """What stands between braces, "a, b as c": what each is called there, and here."""
    found = [one.strip() for one in names.split(",") if one.strip()]
    return [(old.strip(), (new or old).strip()) for old, _, new in (one.partition(" as ") for one in found)]


def _pairs(names: str, between: str) -> str:
    return " " + ", ".join(old if old == new else f"{old}{between}{new}" for old, new in _named(names)) + " "


class Gatherer:
    """Gathers a folder anew when a file in it changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._now: Gathered | None = None

    def __call__(self) -> Gathered:
        version = _version(self._folder)
        if self._now is None or self._now.version != version:
            self._now = Gathered(self._folder, version)
        return self._now


def _version(folder: Path) -> str:
    """Names the files of a folder by when they were written and how long they are."""
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        status = path.stat()
        found.update(f"{path} {status.st_mtime_ns} {status.st_size}\n".encode())
    return found.hexdigest()


def add_files(api: FastAPI, gatherer: Gatherer) -> None:
    """`/gathered/VERSION/lookback.mjs` and `.css`. Under an older version lies what there is now, which nobody is to keep."""

    def answer(version: str, kind: str, pick: Callable[[Gathered], str]) -> Response:
        now = gatherer()
        return Response(pick(now), media_type=kind, headers={"Cache-Control": KEEP if version == now.version else "no-cache"})

    @api.get(f"/{FOLDER}/{{version}}/lookback.mjs", include_in_schema=False)
    def script(version: str) -> Response:
        return answer(version, "text/javascript", Gathered.script)

    @api.get(f"/{FOLDER}/{{version}}/{{page}}.mjs", include_in_schema=False)
    def guided(version: str, page: Literal["lesson", "class"]) -> Response:
        return answer(version, "text/javascript", lambda now: now.script(page))

    @api.get(f"/{FOLDER}/{{version}}/lookback.css", include_in_schema=False)
    def style(version: str) -> Response:
        return answer(version, "text/css", lambda now: now.style)
