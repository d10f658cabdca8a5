"""What a page says: every message is understood, or refused by field, what was given and what is allowed."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from app.server.wire import COMMAND_KINDS, Ack, Ask, Malformed, Ping, parse_message
from app.session.commands import Command, Open, Selector, Watch
from app.session.scenario import defaults
from tests.server.test_wire import WORDS


def test_every_command_is_understood() -> None:
    examples: dict[str, dict[str, Any]] = {
        "open": {"scenario": {"seed": 3}, "log": [{"command": {"kind": "step"}, "times": 2}]},
        "go": {"moment": 3},
        "choose": {"request": 0, "token": 5},
        "join": {"request": {"target": ["the"]}},
        "leave": {"request": 1},
        "enter": {"phase": "train"},
        "change": {"fields": {"seed": 4}},
        "play": {"unit": "stage", "rate": 3},
        "watch": {"selectors": [{"path": "*", "index": {"b": 0}}], "mark": 2},
        "fetch": {"selector": {"path": "*", "reduce": "norm"}},
        "analyse": {"name": "reach", "arguments": {"row": 3}},
        "look": {"view": {"layer": 1}},
    }
    assert set(COMMAND_KINDS) == {c.model_fields["kind"].default for c in get_args(get_args(Command)[0])}
    for kind in COMMAND_KINDS:
        text = json.dumps({"seq": 3, "command": {"kind": kind, **examples.get(kind, {})}})
        message = parse_message(text)
        assert isinstance(message, Ask) and message.seq == 3 and message.command.kind == kind
        assert contains(json.loads(message.command.model_dump_json()), examples.get(kind, {}))


def contains(whole: Any, part: Any) -> bool:
    """Whether all that `part` says is said by `whole`, which may say more."""
    if isinstance(part, dict):
        return all(key in whole and contains(whole[key], value) for key, value in part.items())
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(contains, whole, part))
    return bool(whole == part)


def test_acks_and_pings_are_understood() -> None:
    assert parse_message('{"ack": 5}') == Ack(5)
    assert parse_message('{"ping": 1732892393123}') == Ping(1732892393123)


def test_words_of_a_person_come_in_as_they_are() -> None:
    text = json.dumps({"seq": 1, "command": {"kind": "look", "view": {"note": WORDS}}}, ensure_ascii=False)
    message = parse_message(text)
    assert isinstance(message, Ask) and vars(message.command)["view"] == {"note": WORDS}


STEP = '{"seq": 7, "command": {"kind": "step"%s}}'
BAD = [
    ("", -1, "message"),
    ("   ", -1, "message"),
    ("step", -1, "message"),
    ("[1]", -1, "message"),
    ("null", -1, "message"),
    ("{}", -1, "message"),
    ('"\\ud800"', -1, "message"),
    ('{"seq": 7, "command": {"kind": "step"}', -1, "message"),
    ('{"seq": 7, "command": {"kind": "step"}} {}', -1, "message"),
    ("[" * 60_000, -1, "message"),
    ('{"seq": NaN}', -1, "seq"),
    ('{"seq": 7, "command": {"kind": "play", "rate": 1e999}}', -1, "command.rate"),
    ('{"seq": 7, "command": {"kind": "play", "rate": Infinity}}', -1, "command.rate"),
    ('{"seq": 7, "command": {"kind": "look", "view": {"a": -Infinity}}}', -1, "command.view.a"),
    ('{"seq": 7, "command": {"kind": "look", "view": {"a": "\x07"}}}', -1, "message"),
    ('{"seq": ' + "9" * 5000 + "}", -1, "message"),
    ('{"command": {"kind": "step"}}', -1, "message"),
    ('{"seq": "7", "command": {"kind": "step"}}', -1, "seq"),
    ('{"seq": -1, "command": {"kind": "step"}}', -1, "seq"),
    ('{"seq": 1.5, "command": {"kind": "step"}}', -1, "seq"),
    ('{"seq": true, "command": {"kind": "step"}}', -1, "seq"),
    ('{"seq": null}', -1, "seq"),
    ('{"seq": 9007199254740992, "command": {"kind": "step"}}', -1, "seq"),
    ('{"ack": -1}', -1, "message"),
    ('{"ack": "1"}', -1, "message"),
    ('{"ack": true}', -1, "message"),
    ('{"ack": 1, "ping": 2}', -1, "message"),
    ('{"ping": 1.5}', -1, "message"),
    ('{"seq": 7}', 7, "command"),
    ('{"seq": 7, "command": null}', 7, "command"),
    ('{"seq": 7, "command": "step"}', 7, "command"),
    ('{"seq": 7, "command": {"kind": "step"}, "more": 1}', 7, "more"),
    ('{"seq": 7, "command": {}}', 7, "command.kind"),
    ('{"seq": 7, "command": {"kind": "jump"}}', 7, "command.kind"),
    ('{"seq": 7, "command": {"kind": ["step"]}}', 7, "command.kind"),
    (STEP % ', "unit": "leap"', 7, "command.unit"),
    (STEP % ', "unit": null', 7, "command.unit"),
    (STEP % ', "more": 1', 7, "command.more"),
    ('{"seq": 7, "command": {"kind": "go"}}', 7, "command.moment"),
    ('{"seq": 7, "command": {"kind": "go", "moment": -1}}', 7, "command.moment"),
    ('{"seq": 7, "command": {"kind": "go", "moment": "1"}}', 7, "command.moment"),
    ('{"seq": 7, "command": {"kind": "go", "moment": 1.5}}', 7, "command.moment"),
    ('{"seq": 7, "command": {"kind": "play", "rate": 0}}', 7, "command.rate"),
    ('{"seq": 7, "command": {"kind": "play", "rate": 61}}', 7, "command.rate"),
    ('{"seq": 7, "command": {"kind": "play", "rate": true}}', 7, "command.rate"),
    ('{"seq": 7, "command": {"kind": "watch", "selectors": {}}}', 7, "command.selectors"),
    ('{"seq": 7, "command": {"kind": "watch", "selectors": [{"path": ""}]}}', 7, "command.selectors.0.path"),
    ('{"seq": 7, "command": {"kind": "watch", "selectors": [{"path": "a", "dtype": "f64"}]}}', 7, "command.selectors.0.dtype"),
    (json.dumps({"seq": 7, "command": {"kind": "watch", "selectors": [{"path": "a"}] * 65}}), 7, "command.selectors"),
    ('{"seq": 7, "command": {"kind": "fetch", "selector": {"path": "%s"}}}' % ("a" * 201), 7, "command.selector.path"),
    ('{"seq": 7, "command": {"kind": "analyse", "name": "%s"}}' % ("a" * 65), 7, "command.name"),
    ('{"seq": 7, "command": {"kind": "change", "fields": {}}}', 7, "command.fields"),
    ('{"seq": 7, "command": {"kind": "open", "scenario": []}}', 7, "command.scenario"),
    ('{"seq": 7, "command": {"kind": "open"}}', 7, "command.scenario"),
    ('{"seq": 7, "command": {"kind": "look", "view": {"a": "\\ud800"}}}', 7, "command"),
    ('{"seq": 7, "command": {"kind": "look", "view": {"a": ' + "[" * 300 + "]" * 300 + "}}}", 7, "command"),
]


@pytest.mark.parametrize("text, to, field", BAD, ids=[f"{i} {b[0][:40]}" for i, b in enumerate(BAD)])
def test_a_bad_message_is_refused_by_field_given_and_allowed(text: str, to: int, field: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_message(text)
    assert caught.value.to == to
    problem = caught.value.problems[0]
    assert problem.field == field and problem.message and problem.allowed
    assert len(str(problem)) < 1000
    json.dumps(vars(problem), allow_nan=False)


def test_a_scenario_fits_a_message() -> None:
    long = defaults(requests=[{"source": ["convincing"] * 128}]).model_dump(mode="json")
    text = json.dumps({"seq": 1, "command": {"kind": "open", "scenario": long}})
    message = parse_message(text)
    assert isinstance(message, Ask) and isinstance(message.command, Open) and len(text) < 8192


def test_a_watch_names_its_fields() -> None:
    message = parse_message('{"seq": 1, "command": {"kind": "watch", "selectors": [{"path": "a", "index": {"b": 1}}]}}')
    assert message == Ask(1, Watch(selectors=(Selector(path="a", index={"b": 1}),)))
