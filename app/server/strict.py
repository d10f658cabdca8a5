"""JSON as its standard says. A number that is not finite is refused like any other value: by the field that it was given for.

And no more of it than anything here has a use for: every field that is unknown would be named, one by one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from app.session.events import Problem, Refused
from app.session.problems import MOST, shorten

ALLOWED = "a finite number"
MOST_KEYS = 256  # of one object


class _NotFinite(str):
    """NaN, Infinity, 1e999: as it was written."""


def read_json(text: str | bytes) -> Any:
    """What a text holds. Raises ValueError and RecursionError where it is not JSON, `Refused` where a number is not finite or an
    object is too large."""
    odd: list[str] = []  # a text that has none is not searched for their places

    def not_finite(written: str) -> _NotFinite:
        odd.append(written)
        return _NotFinite(written)

    def number(written: str) -> float | _NotFinite:
        value = float(written)
        return value if math.isfinite(value) else not_finite(written)

    data = json.loads(text, parse_constant=not_finite, parse_float=number, object_pairs_hook=_object)
    problems = tuple(islice(_refused(data, ()), MOST)) if odd else ()
    if problems:
        raise Refused(*problems)
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_KEYS:
        given, allowed = f"an object of {len(pairs)} fields", f"at most {MOST_KEYS} fields in one object"
        raise Refused.one("body", given, allowed, f"body was given {given}; allowed: {allowed}")
    return dict(pairs)


def _refused(data: Any, place: tuple[str, ...]) -> Iterator[Problem]:
    if isinstance(data, _NotFinite):
        field, given = ".".join(place) or "body", shorten(str(data))
        yield Problem(field, given, ALLOWED, f"{field} was given {given!r}; allowed: {ALLOWED}")
    elif isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _refused(value, (*place, shorten(str(key))))
