"""A run as text that fits a link's fragment, and back."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from app.session.events import Problem, Refused
from app.session.problems import shorten

LONGEST = 16_000  # characters of a fragment that browsers and chat programs still carry
LARGEST = 1 << 20  # bytes of what it holds


def pack(content: dict[str, Any]) -> str:
    """A JSON object as text that fits a link's fragment: zlib, then base64url without padding."""
    raw = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


def unpack(text: str) -> dict[str, Any]:
    """The reverse of `pack`. Raises `Refused` for anything that is not what `pack` makes, or larger than a megabyte."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        inflater = zlib.decompressobj()
        data = inflater.decompress(raw, LARGEST)
        if not inflater.eof:
            raise ValueError("it is cut short or too large")
        content = json.loads(data)
        if not isinstance(content, dict):
            raise ValueError("it holds no object")
    except (ValueError, zlib.error, RecursionError) as error:
        message = f"This link cannot be read ({error}). Copy it again, whole, or start from an example."
        raise Refused(Problem("link", shorten(text), "a link made by Lookback", message)) from None
    return content
