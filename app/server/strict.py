"""JSON as its standard says. A number that is not finite is refused like any other value: by the field that it was given for."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from app.session.events import Problem, Refused
from app.session.problems import MOST, shorten

ALLOWED = "a finite number"


class _NotFinite(str):
    """NaN, Infinity, 1e999: as it was written."""


def read_json(text: str | bytes) -> Any:
    """What a text holds. Raises ValueError and RecursionError where it is not JSON, `Refused` where a number is not finite."""
    data = json.loads(text, parse_constant=_NotFinite, parse_float=_number)
    problems = tuple(islice(_refused(data, ()), MOST))
    if problems:
        raise Refused(*problems)
    return data


def _number(text: str) -> float | _NotFinite:
    number = float(text)
    return number if math.isfinite(number) else _NotFinite(text)


def _refused(data: Any, place: tuple[str, ...]) -> Iterator[Problem]:
    if isinstance(data, _NotFinite):
        field, given = ".".join(place) or "body", shorten(str(data))
        yield Problem(field, given, ALLOWED, f"{field} was given {given!r}; allowed: {ALLOWED}")
    elif isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _refused(value, (*place, shorten(str(key))))
