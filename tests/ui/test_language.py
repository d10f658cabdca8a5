"""The page in another language: who asks chooses it, and every request is answered in it."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from app.ui import language


@pytest.mark.parametrize(
    ("cookie", "accept", "expected"),
    [
        ("", "", "en"),
        ("", "fr-CH, en;q=0.5", "fr"),
        ("", "tlh, en, fr", "en"),
        ("lookback-language=fr", "en", "fr"),
        ("a=b; lookback-language=en", "fr", "en"),
        ("lookback-language=xx", "fr", "fr"),
        ("[]=\x01;;; lookback-language", "*;q=0, ,", "en"),
    ],
)
def test_the_cookie_decides_then_the_browser_then_english(cookie: str, accept: str, expected: str) -> None:
    assert language.preferred(Headers({"cookie": cookie, "accept-language": accept})) == expected


def test_a_text_is_filled_in_the_language_that_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "words", lambda name: {"{0} of {1}": "{1} / {0}"} if name == "fr" else {})
    with language.speaking("fr"):
        assert language.say("{0} of {1}", "{1}", 2) == "2 / {1}"
        assert language.say("unknown {0}") == "unknown {0}"
    assert language.say("{0} of {1}", 1, 2) == "1 of 2"
    assert language.chosen() == "en"
