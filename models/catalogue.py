"""All architectures and tasks: every module of `models` with a `SPEC` (or `SPECS`), every module of `models.tasks` with a `TASK`.

Nobody keeps a list: putting a file there is enough.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

import models
import models.tasks
from models import Spec
from models.tasks import Task


@cache
def architectures() -> dict[str, Spec]:
    """By id, in the order of module names."""
    found: dict[str, Spec] = {}
    for info in pkgutil.iter_modules(models.__path__):
        if info.ispkg or info.name == "catalogue":
            continue
        module = importlib.import_module(f"models.{info.name}")
        for spec in getattr(module, "SPECS", (module.SPEC,) if hasattr(module, "SPEC") else ()):
            if spec.id in found:
                raise ValueError(f"two architectures have the id {spec.id!r}")
            found[spec.id] = spec
    return found


@cache
def tasks() -> dict[str, Task]:
    """By id, in the order of module names."""
    modules = (importlib.import_module(f"models.tasks.{i.name}") for i in pkgutil.iter_modules(models.tasks.__path__))
    return {module.TASK.id: module.TASK for module in modules if hasattr(module, "TASK")}


@cache
def config_schema(config: type) -> list[dict[str, Any]]:
    """The fields of a Config for the page and the API: name, title, why, type, default, choices or low and high,
    and when it applies: the values of other fields that it needs."""
    hints = get_type_hints(config)
    return [
        {
            "name": f.name,
            "title": f.metadata.get("title", f.name),
            "why": f.metadata.get("why", ""),
            "type": "choice" if "choices" in f.metadata else {bool: "boolean", int: "integer", float: "number"}[hints[f.name]],
            "default": f.default,
            **{k: f.metadata[k] for k in ("low", "high", "when") if k in f.metadata},
            **({"choices": list(f.metadata["choices"])} if "choices" in f.metadata else {}),
        }
        for f in dataclasses.fields(config)
    ]


def deciding(spec: Spec, config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a config that decide what is learned. A field marked `same_weights` only says how the same weights run
    or go on learning, and one whose `when` does not hold says nothing."""
    free = {f.name for f in dataclasses.fields(spec.config) if f.metadata.get("same_weights")} | idle(spec, config)
    return {name: value for name, value in config.items() if name not in free}


def idle(spec: Spec, config: Mapping[str, Any]) -> set[str]:
    """The fields that mean nothing beside the values of the others."""

    def holds(name: str, needed: Any) -> bool:
        return config[name] in (needed if isinstance(needed, tuple) else (needed,))

    return {name for name, when in _conditions(spec.config) if not all(holds(n, needed) for n, needed in when)}


@cache
def _conditions(config: type) -> tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]:
    """The fields that need something of others, each with that."""
    return tuple((f.name, tuple(f.metadata["when"].items())) for f in dataclasses.fields(config) if "when" in f.metadata)


def read_config(spec: Spec, given: dict[str, Any]) -> tuple[Any, list[tuple[str, Any, str]]]:
    """A Config from its fields: `(config or None, problems)`; each problem is (field, given, allowed)."""
    schema = {f["name"]: f for f in config_schema(spec.config)}
    problems = [(k, v, f"one of the fields {', '.join(schema)}") for k, v in given.items() if k not in schema]
    problems += [(k, v, why) for k, v in given.items() if k in schema and (why := _wrong(schema[k], v))]
    if problems:
        return None, problems
    config = spec.config(**given)
    problems = spec.check(config)
    return (None, problems) if problems else (config, [])


def _wrong(field: dict[str, Any], value: Any) -> str:
    """What is allowed, if this value is not; else an empty string."""
    match field["type"]:
        case "choice":
            return "" if value in field["choices"] and type(value) is type(field["default"]) else f"one of {field['choices']}"
        case "boolean":
            return "" if isinstance(value, bool) else "true or false"
        case kind:
            whole = kind == "integer"
            right = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
            allowed = f"{'a whole number' if whole else 'a number'} from {field['low']} to {field['high']}"
            return "" if right and field["low"] <= value <= field["high"] else allowed
