"""The language of the page. English stands in the code and is its own key; `assets/lang/` has a file for each other language.

Who asks chooses: `?lang=fr` in the address (which is remembered in a cookie), the cookie, what the browser prefers, or English.
See docs/decisions/0012-english-is-the-key.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "fr": "Français"}
COOKIE = "lookback-language"
YEAR = 365 * 24 * 3600
FOLDER = Path(__file__).parents[2] / "assets" / "lang"
_chosen: ContextVar[str] = ContextVar("language", default=ENGLISH)


def chosen() -> str:
    """The language that is spoken now: a key of `LANGUAGES`."""
    return _chosen.get()


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within it `say` speaks this language."""
    before = _chosen.set(language)
    try:
        yield
    finally:
        _chosen.reset(before)


@cache
def words(language: str) -> Mapping[str, str]:
    """English with {0}, {1}, ... -> the same in that language. Empty for English."""
    if language == ENGLISH:
        return {}
    found: dict[str, str] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return found


def say(english: str, *values: object) -> str:
    """A text in the language that is spoken now. `values` take the places of {0}, {1}, ... and stay as they are."""
    text = words(chosen()).get(english, english)
    return re.sub(r"\{(\d)\}", lambda place: str(values[int(place[1])]), text) if values else text


class Languages:
    """Wraps an application: every request is answered in the language of who asks."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        asked = _asked(scope)

        async def remembering(message: Message) -> None:
            if asked and message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("set-cookie", f"{COOKIE}={asked}; Path=/; Max-Age={YEAR}; SameSite=Lax")
            await send(message)

        with speaking(asked or preferred(Headers(scope=scope))):
            return await self._app(scope, receive, remembering)


def _asked(scope: Scope) -> str:
    """The language of the address; "" where it names none that there is."""
    found = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("lang", [""])[-1]
    return found if found in LANGUAGES else ""


def preferred(headers: Headers) -> str:
    """The language of the cookie, else the first that the browser asks for and that there is, else English."""
    try:
        kept = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        kept = None
    if kept and kept.value in LANGUAGES:
        return kept.value
    asked = (part.partition(";")[0].strip().lower().split("-")[0] for part in headers.get("accept-language", "").split(","))
    return next((language for language in asked if language in LANGUAGES), ENGLISH)
