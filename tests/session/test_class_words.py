"""What is said in a class: names and texts that people read, and messages that are none."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.session import class_words as words
from app.session.events import Refused

KINDS = [
    "open",
    "join",
    "where",
    "poll",
    "answer",
    "show",
    "close",
    "again",
    "clear",
    "call",
    "remove",
    "end",
    "vote",
    "leave",
    "ping",
]


def join(name: str) -> str:
    found = words.read({"kind": "join", "code": "KQ7-42V", "name": name})
    assert isinstance(found, words.JoinClass)
    return found.name


@pytest.mark.parametrize(
    "name, read",
    [
        ("Ann", "Ann"),
        ("  Ann \t  Lee\u00a0", "Ann Lee"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("李小龙", "李小龙"),
        ("محمد", "محمد"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d👩\u200d👧\u200d👦 ❤\ufe0f", "👩\u200d👩\u200d👧\u200d👦 ❤\ufe0f"),
        ("ก็ ผึ้ง", "ก็ ผึ้ง"),
        ("<b>Ann</b>", "<b>Ann</b>"),
        ("x" * 24, "x" * 24),
        ("é" * 24, "é" * 24),
    ],
)
def test_names_of_people_are_names(name: str, read: str) -> None:
    assert join(name) == read


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "\u3164",
        "\u200d",
        "\u2800\u2800",
        "x" * 25,
        "a\u202eb",
        "a\u2066b",
        "a\0b",
        "\ue000",
        "\u0301",
        "Z" + "\u0301" * 9,
        "a\u200bb",
    ],
    ids=ascii,
)
def test_what_hides_reorders_or_shows_nothing_is_no_name(name: str) -> None:
    with pytest.raises(Refused) as found:
        join(name)
    assert [(p.field, p.allowed) for p in found.value.problems] == [("name", "1 to 24 visible characters")]


@given(st.text(max_size=40))
def test_a_name_is_refused_or_one_visible_line(name: str) -> None:
    try:
        found = join(name)
    except Refused as refusal:
        assert all(p.field in ("name", "message") for p in refusal.problems)
        return
    assert found == words.tidied(found) and 1 <= len(found) <= 72
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in found)
    assert any(unicodedata.category(c)[0] in "LNPSC" for c in found)
    assert join(found) == found


@pytest.mark.parametrize(
    "said, field",
    [
        ({}, "kind"),
        ([], "message"),
        (None, "message"),
        ({"kind": None}, "kind"),
        ({"kind": {"a": 1}}, "kind"),
        ({"kind": "stand"}, "kind"),
        ({"kind": "call", "now": True}, "now"),
        ({"kind": "join", "code": "x" * 33, "name": "Ann"}, "code"),
        ({"kind": "join", "code": 5, "name": "Ann"}, "code"),
        ({"kind": "where", "phase": "lunch", "step": 1}, "phase"),
        ({"kind": "where", "phase": "train", "step": -1}, "step"),
        ({"kind": "where", "phase": "train", "step": 10**10}, "step"),
        ({"kind": "where", "phase": "train", "step": 1.5}, "step"),
        ({"kind": "where", "phase": "train", "step": True}, "step"),
        ({"kind": "where", "phase": "train", "step": 1, "label": "x" * 81}, "label"),
        ({"kind": "where", "phase": "train", "step": 1, "label": "\u202e"}, "label"),
        ({"kind": "where", "phase": "train", "step": 1, "own": 1}, "own"),
        ({"kind": "where", "phase": "train", "step": 1, "edits": -1}, "edits"),
        ({"kind": "poll", "question": "", "options": ["a", "b"]}, "question"),
        ({"kind": "poll", "question": "x" * 201, "options": ["a", "b"]}, "question"),
        ({"kind": "poll", "question": "?", "options": ["a"]}, "options"),
        ({"kind": "poll", "question": "?", "options": [str(i) for i in range(13)]}, "options"),
        ({"kind": "poll", "question": "?", "options": "ab"}, "options"),
        ({"kind": "poll", "question": "?", "options": ["a", ""]}, "options.1.text"),
        ({"kind": "poll", "question": "?", "options": ["a", 1]}, "options.1"),
        ({"kind": "poll", "question": "?", "options": ["a", {"text": "b", "key": "k" * 61}]}, "options.1.key"),
        ({"kind": "poll", "question": "?", "options": ["a", {"text": "b", "who": 1}]}, "options.1.who"),
        ({"kind": "poll", "question": "?", "options": ["a", "b"], "about": {"x": [1]}}, "about.x"),
        ({"kind": "poll", "question": "?", "options": ["a", "b"], "about": {"x": "y" * 201}}, "about.x"),
        ({"kind": "poll", "question": "?", "options": ["a", "b"], "about": {str(i): i for i in range(17)}}, "about"),
        ({"kind": "answer"}, "option"),
        ({"kind": "answer", "option": 12}, "option"),
        ({"kind": "answer", "option": 0, "measured": "x" * 81}, "measured"),
        ({"kind": "show"}, "shown"),
        ({"kind": "vote", "option": None}, "option"),
        ({"kind": "ping", "n": -1}, "n"),
    ],
    ids=str,
)
def test_what_is_no_message_is_refused_by_its_field(said: Any, field: str) -> None:
    with pytest.raises(Refused) as found:
        words.read(said)
    problem = found.value.problems[0]
    assert problem.field == field and problem.message and problem.allowed
    assert "scenario" not in problem.message and len(json.dumps(problem.message)) < 1000


def test_every_kind_is_read_and_every_kind_is_documented() -> None:
    with pytest.raises(Refused) as found:
        words.read({"kind": "?"})
    assert found.value.problems[0].allowed == f"kind {', '.join(KINDS)}"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS: tuple[str, ...] = ("session", "code", "key", "name", "token", "phase", "step", "label", "own", "edits")
FIELDS += ("question", "options", "about", "option", "measured", "shown", "n")
fields = st.sampled_from(FIELDS)


@given(st.one_of(st.sampled_from(KINDS), json_values), st.dictionaries(fields, json_values, max_size=5))
def test_whatever_is_said_is_read_or_refused(kind: Any, said: dict[str, Any]) -> None:
    try:
        found = words.read({"kind": kind, **said})
    except Refused as refusal:
        assert refusal.problems
        json.dumps([p.message for p in refusal.problems])
        return
    assert found.kind == kind
