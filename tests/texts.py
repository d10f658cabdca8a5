"""Every text that a person can see, as the keys of a language file: English with {0}, {1}, ... where something is put in.

Scripts: what stands in msg`...`, parts`...` and counted(...). Layout: what stands in say("..."). The catalogue: names, titles and
notes, as it answers. Server: every text of these modules that reads like words, so that a new one cannot be forgotten; what is
not for people is left out by where it stands (`NOT_SHOWN`, `SILENT`), not by being listed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from app.session.catalogue_view import catalogue
from app.ui import controls, gallery
from models.catalogue import architectures

ROOT = Path(__file__).parents[1]

# --- scripts -----------------------------------------------------------------------------------------------------------------

ESCAPES = {"n": "\n", "t": "\t"}
CALL = re.compile(r"\b(?:(?:msg|parts)`|counted\()")
COMMENT = re.compile(r"^\s*(?:/\*\*.*?\*/|//[^\n]*)", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r'^  title: "([^"]+)",$', re.MULTILINE)


@cache
def of_scripts() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "assets").rglob("*.mjs"):
        if path.name != "language.mjs":
            text = COMMENT.sub("", path.read_text(encoding="utf-8"))
            found |= set(_messages(text))
            found |= set(TITLE.findall(text)) if path.parent.name == "views" else set()
    return found


def _messages(text: str) -> Iterator[str]:
    for call in CALL.finditer(text):
        if call[0].endswith("`"):
            yield _template(text, call.end())[0]
        else:
            yield from _strings(text[call.end() : _closing(text, call.end())])[-2:]


def _template(text: str, at: int) -> tuple[str, int]:
    """The key of the template whose inside begins here, and where it ends."""
    key, places = "", 0
    while text[at] != "`":
        if text[at] == "\\":
            key += ESCAPES.get(text[at + 1], text[at + 1])
            at += 2
        elif text.startswith("${", at):
            key += f"{{{places}}}"
            places, at = places + 1, _closing(text, at + 2) + 1
        else:
            key += text[at]
            at += 1
    return key, at + 1


def _closing(text: str, at: int) -> int:
    """The bracket that ends what begins here; brackets within strings are text."""
    depth = 0
    while depth or text[at] not in ")]}":
        if text[at] == "`":
            at = _template(text, at + 1)[1]
        elif text[at] in "\"'":
            at = text.index(text[at], at + 1) + 1
        else:
            depth += (text[at] in "([{") - (text[at] in ")]}")
            at += 1
    return at


def _strings(arguments: str) -> list[str]:
    return re.findall(r'"((?:[^"\\]|\\.)*)"', arguments)


# --- layout and catalogue ----------------------------------------------------------------------------------------------------


def of_layout() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "app" / "ui").glob("*.py"):
        calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
        first = [c.args[0] for c in calls if isinstance(c.func, ast.Name) and c.func.id == "say"]
        found |= {a.value for a in first if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found | set(gallery.OWN.values()) | set(gallery.BESIDE.values())


def of_catalogue() -> set[str]:
    given = catalogue()
    found = {text for task in given["tasks"] for p in task["presets"] for text in (p["name"], p["note"])}
    found |= {task["name"] for task in given["tasks"]}
    for spec in architectures().values():
        found |= {spec.name, spec.family, spec.summary, *(r.title for r in spec.relations), *filter(None, [spec.changed])}
    return found | set(_of_fields(controls.fields(given))) | {"masks", "edits"}  # what a moment says that it was set anew


def _of_fields(fields: Any) -> Iterator[str]:
    for group in (*fields["config"].values(), fields["training"], fields["policy"], fields["seed"]):
        for field in group:
            yield from (field["title"], field["why"], *(c["label"] for c in field.get("choices", ())))
            if not field["path"].startswith(("config.", "seed")):
                yield field["path"].split(".")[1].replace("_", " ") + " {0}"


# --- the server's sentences --------------------------------------------------------------------------------------------------

# Modules that speak to programs, to whoever runs the server, or in files that are data.
NOT_SHOWN = {
    "app/cli.py", "app/main.py", "app/settings.py",
    "app/server/admission.py", "app/server/keeping.py", "app/server/reference.py", "app/server/wire.py",
    "app/session/headless.py", "app/session/journal.py", "app/session/link.py", "app/session/measures.py",
    "app/session/describing.py", "models/__init__.py", "models/parts/read.py", "models/parts/tap.py",
}  # fmt: skip
# What is called with texts that are no words for people: names of taps, settings that the catalogue tells, logs, addresses.
SILENT = re.compile(
    r"(tap|here|at|join|setting|_setting|Spec|_spec|reading_spec|Random|debug|info|warning|error|exception|execute|Field|get|post"
    r"|app\.\w+|Relation|role|print|create_task|cells\.formulas|startswith|endswith|replace|removeprefix|split)$"
)
INNER = re.compile(r"(Value|Type|Runtime|Axis|Read|Assertion|Key|Programming)Error$")  # mistakes of a programmer, not of a person
SHOWN_ERRORS = {"app/session/scenario.py"}  # except here, where pydantic makes refusals of them
WORDS = re.compile(r"[A-Za-z]{3,}")
LATEX = re.compile(r"\\|\^")
AXES = re.compile(r"^(?:one|\{\d\}|[a-z]'?)(?: (?:one|\{\d\}|[a-z]'?))*$")
PLACE = re.compile(r"\{\d\}")
TEXT = re.compile(r"\\text\{+([^}]*)\}")


@cache
def of_server() -> set[str]:
    found: set[str] = set()
    for path in sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "models").rglob("*.py")]):
        name = path.relative_to(ROOT).as_posix()
        if name in NOT_SHOWN or name.startswith(("app/ui/", "models/tasks/")):
            continue
        found |= set(_sentences(ast.parse(path.read_text(encoding="utf-8")), name))
    return found


def _sentences(tree: ast.Module, name: str) -> Iterator[str]:
    for node, above in _walk(tree, ()):
        key = _key(node)
        if key is None:
            continue
        if TEXT.search(key):
            yield from (words.strip() for words in TEXT.findall(key))
        elif _words(key) and not any(_silent(a, name) for a in above):
            yield key


def _words(text: str) -> bool:
    return " " in text.strip() and bool(WORDS.search(PLACE.sub("", text))) and not (LATEX.search(text) or AXES.match(text))


def _walk(node: ast.AST, above: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """All expressions with what they stand in; docstrings, type hints and the pieces of an f-string's text left out."""
    yield node, above
    for child in ast.iter_child_nodes(node):
        piece = isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
        if not piece and not (isinstance(node, ast.Expr) and isinstance(child, ast.Constant)):
            yield from _walk(child, (*above, node))


def _key(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if not isinstance(node, ast.JoinedStr):
        return None
    places = iter(range(10))
    return "".join(v.value if isinstance(v, ast.Constant) else f"{{{next(places)}}}" for v in node.values)  # type: ignore[misc]


def _silent(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        return bool(SILENT.search(called) or (INNER.search(called) and name not in SHOWN_ERRORS))
    return isinstance(node, ast.keyword) and node.arg in ("paper", "summary", "description", "name")


def all_texts() -> set[str]:
    return of_scripts() | of_layout() | of_catalogue() | of_server()
