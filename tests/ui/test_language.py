"""The page in another language: who asks chooses it, and every request is answered in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from dash.development.base_component import Component
from fastapi import FastAPI
from starlette.datastructures import Headers

from app.session.catalogue_view import catalogue
from app.ui import controls, gallery, language, layout, parts, replay, sections
from app.ui.index import build_dash


def _shown(component: Any) -> Iterator[str]:
    """Every text of a layout that somebody sees or hears."""
    if isinstance(component, str):
        yield component
    elif isinstance(component, list | tuple):
        for child in component:
            yield from _shown(child)
    elif isinstance(component, Component):
        props = component.to_plotly_json()["props"]
        yield from (v for k, v in props.items() if k in ("aria-label", "title", "placeholder", "nothingFoundMessage"))
        for key in ("children", "data", "leftSection"):
            yield from _shown(props.get(key))
    elif isinstance(component, dict):
        yield from _shown([component.get(k) for k in ("label", "group", "items")])


def test_nothing_of_the_layout_is_said_past_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (layout, controls, gallery, parts, sections):
        monkeypatch.setattr(module, "say", lambda english, *values: "~")
    said = set(_shown(layout.page(catalogue())))
    assert {text for text in said if re.search(r"[A-Za-z]{2}", text)} == {"Lookback", "FR", "FR: Français", "Français"}
    assert "~" in said


def test_the_page_is_whole_in_every_language() -> None:
    page = build_dash(FastAPI(), catalogue())
    for name in language.LANGUAGES:
        with language.speaking(name):
            index = page.index()
            dash = page.layout()
        found = re.search(r'id="lookback-data">(.*?)</script>', index, re.DOTALL)
        assert found and f'<html lang="{name}" data-cold>' in index
        assert json.loads(found[1])["words"] == language.words(name)
        assert f">{language.words(name).get('Share', 'Share')}</span>" in index
        assert language.words(name).get("Decode", "Decode") in set(_shown(dash))


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


def test_a_replay_speaks_the_language_of_who_saved_it() -> None:
    pages = replay.replay_pages(build_dash(FastAPI(), catalogue()), catalogue())
    with language.speaking("fr"):
        before = pages()(False)[0].decode()
        title = language.say("Lookback: a recorded run")
    assert '<html lang="fr" data-recording data-cold>' in before and f"<title>{title}</title>" in before
    assert title != "Lookback: a recorded run" and '"words": {"' in before
    assert '<html lang="en" data-recording data-cold>' in pages()(False)[0].decode()
