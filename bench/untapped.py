"""A copy of `models` without taps, made from its source when it is imported as `untapped.models`, so that it stays true.

Every call of a tap becomes the value that it was given, every tap that is handed on goes, every parameter of type Tap goes.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "untapped"


class _Strip(ast.NodeTransformer):
    """taps: names that hold a tap in the function that is being rewritten. left: taps that no rule took away."""

    def __init__(self) -> None:
        self.taps: set[str] = set()
        self.left: list[str] = []

    def is_tap(self, node: ast.expr) -> bool:
        """A name that holds a tap, a scope of one, or one step of it: `tap`, `tap / "layer0"`, `tap.at("t", 3)`."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return self.is_tap(node.left)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "at":
            return self.is_tap(node.func.value)
        return isinstance(node, ast.Name) and node.id in self.taps

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer = self.taps
        mine = {a.arg for a in node.args.args if isinstance(a.annotation, ast.Name) and a.annotation.id == "Tap"}
        self.taps = outer | mine
        node.args.args = [a for a in node.args.args if a.arg not in mine]
        self.generic_visit(node)
        self.taps = outer
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        """`here = tap / "decoder"` goes; in `here, count = tap / "decoder", n` the first of the two."""
        target = node.targets[0]
        if isinstance(target, ast.Name) and self.is_tap(node.value):
            self.taps.add(target.id)
            return None
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
            gone = [(t, v) for t, v in pairs if self.is_tap(v)]
            self.taps |= {t.id for t, _ in gone if isinstance(t, ast.Name)}
            left = [p for p in pairs if p not in gone]
            target.elts, node.value.elts = [t for t, _ in left], [v for _, v in left]
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """A tap whose value nobody uses, and `tap.show(...)`, which has none."""
        func = node.value.func if isinstance(node.value, ast.Call) else node.value
        shows = isinstance(func, ast.Attribute) and func.attr == "show" and self.is_tap(func.value)
        return None if shows or self.is_tap(func) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if self.is_tap(node.func):
            return self.visit(node.args[1])
        node.args = [a for a in node.args if not self.is_tap(a)]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.taps:
            self.left.append(f"{node.id} in line {node.lineno}")
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.module and node.module.split(".")[0] == "models":
            node.module = f"{PACKAGE}.{node.module}"
        return node


def strip(source: str) -> ast.Module:
    stripper = _Strip()
    tree: ast.Module = ast.fix_missing_locations(stripper.visit(ast.parse(source)))
    if stripper.left:
        raise RuntimeError(f"taps were not stripped wholly: {stripper.left} are left; mend bench/untapped.py")
    return tree


class _Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if name.split(".")[0] != PACKAGE:
            return None
        place = ROOT.joinpath(*name.split(".")[1:])
        package = place.is_dir()
        spec = importlib.machinery.ModuleSpec(name, self, origin=str(place / "__init__.py" if package else f"{place}.py"))
        spec.submodule_search_locations = [str(place)] if package else None
        return spec

    def exec_module(self, module: ModuleType) -> None:
        file = Path(module.__spec__.origin or "")  # type: ignore[union-attr]
        if file.exists():  # the root of the repository is no module itself
            module.__file__ = str(file)
            exec(compile(strip(file.read_text()), f"{file} without taps", "exec"), module.__dict__)


def transformer() -> ModuleType:
    """`models.transformer` without taps: its models are called as `model(inputs, state)`."""
    if not any(isinstance(f, _Loader) for f in sys.meta_path):
        sys.meta_path.insert(0, _Loader())
    return importlib.import_module(f"{PACKAGE}.models.transformer")
