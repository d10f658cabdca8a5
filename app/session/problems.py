"""Validation errors in words that a person can act on: which field, what was given, what is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

from pydantic import BaseModel, ValidationError

from app.session.events import Problem, Refused

_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "string": "text",
    "bool": "true or false",
    "tuple": "a list",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
    "dataclass": "an object",
    "none_required": "null",
}
_UNION_BRANCHES = ("constrained-str", "SpecialToken", "function-after")  # of a word or special token
MOST = 24  # problems that one refusal names


def refused(error: Exception, prefix: str = "", model: type[BaseModel] | None = None) -> Refused:
    """A pydantic (or JSON) error as a refusal, with one problem for each field, the first `MOST` of them.

    model: what was read; with it a number beyond one end of its range is told both ends.
    """
    if not isinstance(error, ValidationError):
        return Refused.one(prefix or "scenario", None, "JSON data", f"This is not JSON data: {error}")
    schema = model.model_json_schema() if model else {}
    found: dict[str, Problem] = {}
    for e in error.errors():
        found.setdefault(_field(e, prefix), _problem(e, prefix, schema))
    # pydantic says some things twice: the other branch of a union, a list that is short because its items are wrong
    parents = {parent for field in found for parent in accumulate(field.split(".")[:-1], "{}.{}".format)}
    told = [p for f, p in found.items() if f not in parents]
    return Refused(*told[:MOST])  # a picture of wrong numbers is wrong in each: the first ones say it


def shorten(value: Any, limit: int = 80) -> Any:
    """What was given, short enough to be quoted back: plain numbers and short text stay as they are."""
    if value is None or isinstance(value, bool | int):
        return value if not isinstance(value, int) or abs(value) < 10**18 else f"{str(value)[:20]}..."
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def _field(error: Any, prefix: str) -> str:
    place = ".".join(str(p) for p in error["loc"] if str(p).split("[")[0] not in _UNION_BRANCHES)
    return ".".join(p for p in (prefix, place) if p) or "scenario"


def _problem(error: Any, prefix: str, schema: Mapping[str, Any]) -> Problem:
    field = _field(error, prefix)
    if error["type"] == "extra_forbidden":
        return Problem(field, shorten(error["input"]), "no such field", f"{field} is not a field; remove it")
    if error["type"] == "missing":
        return Problem(field, None, "a value", f"{field} is missing; give it")
    given, allowed = _sides(error)
    if error["type"].startswith(("greater_than", "less_than")):
        allowed = _range(schema, error["loc"]) or allowed
    return Problem(field, given, allowed, f"{field} was given {given!r}; allowed: {allowed}")


def _range(schema: Mapping[str, Any], place: Iterable[str | int]) -> str:
    """Both ends of what a field may be; "" where it has one or none. schema: the JSON schema that the place lies in."""
    at = schema
    for part in place:
        at = at.get("items", {}) if isinstance(part, int) else at.get("properties", {}).get(part, {})
        at = next((s for s in at.get("anyOf", ()) if s.get("type") != "null"), at)
        at = schema["$defs"][at["$ref"].rsplit("/", 1)[-1]] if "$ref" in at else at
    match at:
        case {"minimum": low, "maximum": high}:
            return f"at least {low:.12g} and at most {high:.12g}"
        case {"exclusiveMinimum": low, "maximum": high}:
            return f"above {low:.12g} and at most {high:.12g}"
        case {"minimum": low, "exclusiveMaximum": high}:
            return f"at least {low:.12g} and below {high:.12g}"
    return ""


def _sides(error: Any) -> tuple[Any, str]:
    """What was given and what is allowed, by the kind of error."""
    kind, more, value = error["type"], error.get("ctx", {}), error["input"]
    match kind:
        case "too_long":
            return f"{len(value)} items" if hasattr(value, "__len__") else shorten(value), f"at most {more['max_length']} items"
        case "too_short":
            return shorten(value), f"at least {more['min_length']} items"
        case "string_too_long":
            return shorten(value), f"at most {more['max_length']} characters"
        case "string_too_short":
            return value, f"at least {more['min_length']} characters"
        case "greater_than_equal":
            return shorten(value), f"at least {more['ge']}"
        case "greater_than":
            return shorten(value), f"above {more['gt']}"
        case "less_than_equal":
            return shorten(value), f"at most {more['le']}"
        case "less_than":
            return shorten(value), f"below {more['lt']}"
        case "finite_number":
            return str(value), "a finite number"
        case "union_tag_invalid":
            name, tags = more["discriminator"].strip("'"), more["expected_tags"].replace("'", "")
            return shorten(value.get(name) if isinstance(value, dict) else value), f"{name} {tags}"
        case "union_tag_not_found":
            return shorten(value), f"an object with {more['discriminator']}".replace("'", "")
        case "model_attributes_type":
            return shorten(value), "an object"
        case "literal_error":
            return shorten(value), more["expected"].replace("'", "")
    if kind.endswith(("_type", "_parsing")) and kind.rsplit("_", 1)[0] in _TYPES:
        return shorten(value), _TYPES[kind.rsplit("_", 1)[0]]
    return shorten(value), error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
