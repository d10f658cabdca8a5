"""Every language has every text, and nothing that is not said any more."""

from __future__ import annotations

import re

import pytest

from app.ui import language
from tests import texts

OTHERS = [name for name in language.LANGUAGES if name != language.ENGLISH]
PLACE = re.compile(r"\{\d\}")


def test_texts_are_found_where_they_stand() -> None:
    script = """
    msg`Row ${at[`${"`}"}`]} of \\`${n}\\``; parts`${a} takes ${msg`a part`}.`;
    counted(f((x) => x === "c"), "{0} row", "{0} rows");
    """
    assert list(texts._messages(script)) == ["Row {0} of `{1}`", "{0} takes {1}.", "a part", "{0} row", "{0} rows"]
    assert "{0} has ended" in texts.of_server() and "next_token" not in texts.of_server()
    assert texts.of_scripts() > {"Next token", "{0} row"} and texts.of_layout() > {"Share", "its own past"}


@pytest.mark.parametrize("name", OTHERS)
def test_a_language_has_every_text_and_no_other(name: str) -> None:
    """What to do: the keys that are missing or left over go into or out of assets/lang/NAME.json, which is sorted by key."""
    words, wanted = language.words(name), texts.all_texts()
    assert sorted(wanted - words.keys()) == [], "missing"
    assert sorted(words.keys() - wanted) == [], "no longer said anywhere"
    assert list(words) == sorted(words, key=lambda key: (key.casefold(), key)), "not in order"


@pytest.mark.parametrize("name", OTHERS)
def test_a_translation_holds_what_the_text_holds(name: str) -> None:
    words = language.words(name)
    wrong = {key: text for key, text in words.items() if sorted(PLACE.findall(key)) != sorted(PLACE.findall(text))}
    wrong |= {
        key: text for key, text in words.items() if (key[:1] == " ", key[-1:] == " ") != (text[:1] == " ", text[-1:] == " ")
    }
    assert wrong == {}


def test_french_has_its_spaces() -> None:
    words = language.words("fr")
    wrong = {key: text for key, text in words.items() if re.search(r"[^\s][;!?»]|« | [:;!?»%]|\w:(?!\w)|«(?!\u202f)", text)}
    assert wrong == {}


def test_what_the_server_fills_can_be_told_apart_again() -> None:
    """Two places side by side could be cut anywhere."""
    assert [text for text in texts.of_server() if "}{" in text] == []
