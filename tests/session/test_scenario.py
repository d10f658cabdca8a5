"""Every field of a scenario: what is refused, and in which words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from app.session import link
from app.session.commands import Command
from app.session.events import Refused
from app.session.methods import MAX_TOKENS
from app.session.problems import refused
from app.session.scenario import defaults, parse
from models.catalogue import architectures


def test_an_empty_scenario_is_the_default_one() -> None:
    scenario = parse({})
    assert scenario == defaults() and scenario.requests[0].source == ("the", "black", "cat", "sleeps")
    assert scenario.config["layers"] == 2, "config fields are written out"


@pytest.mark.parametrize("architecture", architectures())
def test_every_architecture_has_a_default_scenario_that_stays_the_same_when_parsed_again(architecture: str) -> None:
    scenario = parse({"architecture": architecture})
    assert scenario.task == architectures()[architecture].tasks[0], "without a task it has its architecture's first"
    assert scenario == defaults(architecture) == parse(json.loads(scenario.model_dump_json()))


CELL = {"query": 0, "key": 0, "visible": True}
MASK = {"relation": "cross", "program": "full"}
CAUSAL = {"relation": "target_self", "program": "causal"}
ALONE = {"architecture": "decoder_only", "task": "language_model"}
EDIT = {"path": "logits", "action": "set", "value": 1.0}


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        ({"version": 2}, "version", "allowed: 1"),
        ({"version": "1"}, "version", "allowed: 1"),
        ({"architecture": 5}, "architecture", "allowed: text"),
        ({"architecture": "nope"}, "architecture", "'nope' is unknown; allowed: bahdanau"),
        ({"task": "chess"}, "task", "'chess' is unknown"),
        ({"task": "language_model"}, "task", "Encoder–decoder has no task"),
        ({"weights": "good"}, "weights", "trained or random"),
        ({"seed": 1.5}, "seed", "a whole number"),
        ({"seed": True}, "seed", "a whole number"),
        ({"seed": 2**31}, "seed", "below 2147483648"),
        ({"phase": "sleep"}, "phase", "train, prefill or decode"),
        ({"config": {"heads": 3}}, "config.heads", "divisor"),
        ({"config": {"heads": 1e9}}, "config.heads", "whole number"),
        ({"config": {"colour": 1}}, "config.colour", "one of the fields"),
        ({"config": []}, "config", "an object"),
        ({"training": {"mask_hidden": 0.8, "mask_replaced": 0.3}}, "training.mask_replaced", "make 1.1 together"),
        ({"requests": []}, "requests", "at least 1 items"),
        ({"requests": [{"source": ["a"]}] * 9}, "requests", "'9 items'; allowed: at most 8 items"),
        ({"requests": [{"source": []}]}, "requests.0.source", "is empty; type a source sentence"),
        ({"requests": [{"source": ["a"] * 129}]}, "requests.0.source", "has 129 tokens; allowed: at most 128"),
        ({"requests": [{"source": ["a"] * 10_000}]}, "requests.0.source", "'10000 items'"),
        ({"requests": [{"source": ["a"], "target": ["b"] * 129}]}, "requests.0.target", "at most 128 tokens after <bos>"),
        ({**ALONE, "requests": [{"target": ["b"] * 513}]}, "requests.0.target", "at most 512 items"),
        ({**ALONE, "requests": [{"target": ["b"] * 512}] * 8}, "requests", "16,842,816 cells in all layers and heads"),
        ({"masks": [{**MASK, "program": "block"}]}, "masks.0.parameter", "a block has 1 or more rows"),
        ({"masks": [{**MASK, "every": 0}]}, "masks.0.every", "at least 1"),
        ({"masks": [{**MASK, "global_rows": [513]}]}, "masks.0.global_rows.0", "at most 512"),
        ({"masks": [{**MASK, "cells": [{**CELL, "keys": 0}]}]}, "masks.0.cells.0.keys", "at least 1"),
        ({"requests": [{"source": "the cat"}]}, "requests.0.source", "a list"),
        ({"requests": [{"source": [3]}]}, "requests.0.source.0", "text"),
        ({"requests": [{"source": [""]}]}, "requests.0.source.0", "at least 1 characters"),
        ({"requests": [{"source": ["x" * 501]}]}, "requests.0.source.0", "(501 characters)"),
        ({"requests": [{"source": ["a\x00b"]}]}, "requests.0.source.0", "U+0000"),
        ({"requests": [{"source": ["\u202eabc"]}]}, "requests.0.source.0", "U+202E"),
        ({"requests": [{"source": [{"special": "<x>"}]}]}, "requests.0.source.0.special", "<eos>, <unk>, <mask> or <cls>"),
        ({"requests": [{"source": [{"special": "<mask>"}]}]}, "requests.0.source", "this task does not have; allowed: <pad>"),
        ({"requests": [{"source": [{}]}]}, "requests.0.source.0.special", "is missing"),
        ({"requests": [{"source": ["a"], "colour": 1}]}, "requests.0.colour", "is not a field"),
        (
            {"architecture": "decoder_only", "task": "language_model", "requests": [{"source": ["a"]}]},
            "requests.0.source",
            "reads no source",
        ),
        ({"masks": [{**MASK, "relation": "sideways"}]}, "masks.0.relation", "'sideways' is unknown"),
        ({"masks": [{**MASK, "layer": 7}]}, "masks.0.layer", "0 to 1, or null"),
        ({"masks": [{**MASK, "layer": -1}]}, "masks.0.layer", "at least 0"),
        ({"masks": [{**MASK, "program": "spiral"}]}, "masks.0.program", "full, causal"),
        ({"masks": [{**MASK, "parameter": -1}]}, "masks.0.parameter", "at least 0"),
        ({"masks": [{**MASK, "cells": [{**CELL, "query": -1}]}]}, "masks.0.cells.0.query", "at least 0"),
        ({"masks": [{**MASK, "cells": [{**CELL, "visible": 1}]}]}, "masks.0.cells.0.visible", "true or false"),
        ({"masks": [{**MASK, "cells": [CELL] * 4097}]}, "masks.0.cells", "at most 4096 items"),
        ({"masks": [MASK, MASK]}, "masks", "twice"),
        ({"edits": [{**EDIT, "value": float("inf")}]}, "edits.0.value", "a finite number"),
        ({"edits": [{**EDIT, "action": "melt"}]}, "edits.0.action", "set, scale or patch"),
        ({"edits": [{**EDIT, "index": [-1]}]}, "edits.0.index.0", "at least 0"),
        ({"training": {"optimizer": "adam"}}, "training.optimizer", "adamw or sgd"),
        ({"training": {"learning_rate": float("nan")}}, "training.learning_rate", "a finite number"),
        ({"training": {"learning_rate": 0}}, "training.learning_rate", "above 0"),
        ({"training": {"clip_norm": 0}}, "training.clip_norm", "above 0"),
        ({"training": {"batch_size": 65}}, "training.batch_size", "at most 64"),
        ({"training": None}, "training", "an object"),
        ({"policy": {"temperature": 0}}, "policy.temperature", "at least 0.01"),
        ({"policy": {"top_k": 0}}, "policy.top_k", "at least 1 and at most 100000"),
        ({"policy": {"top_k": 10**20}}, "policy.top_k", "at least 1 and at most 100000"),
        ({"policy": {"top_p": 1.1}}, "policy.top_p", "at most 1"),
        ({"policy": {"limit": 0}}, "policy.limit", "at least 1"),
        ({"policy": {"kind": "best"}}, "policy.kind", "greedy, sample or beam"),
        ({"colour": 1}, "colour", "is not a field; remove it"),
        ([], "scenario", "an object"),
        (None, "scenario", "an object"),
        ("decode", "scenario", "an object"),
        (
            {"phase": "prefill", "masks": [{**CAUSAL, "program": "prefix", "parameter": 2}]},
            "masks.0.parameter",
            "from 0 to 1, the",
        ),
        (
            {"masks": [{**CAUSAL, "program": "prefix", "parameter": 34}]},
            "masks.0.parameter",
            "was given 34; allowed: a whole number",
        ),
        ({"masks": [{**CAUSAL, "program": "sliding"}]}, "masks.0.parameter", "radius r (masks.0.parameter) was given 0"),
        ({"masks": [{**CAUSAL, "program": "causal_sliding"}]}, "masks.0.parameter", "a window of 0 would be the row alone"),
        ({"masks": [{**CAUSAL, "every": 40}]}, "masks.0.every", "from 1 to 32: the rows that the text may have"),
    ],
)
def test_what_is_wrong_is_named_with_what_was_given_and_what_is_allowed(data: Any, field: str, words: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse(data)
    assert [p.field for p in refusal.value.problems] == [field]
    problem = refusal.value.problems[0]
    assert words in problem.message
    assert problem.allowed and len(problem.message) < 400


def test_shares_may_make_the_whole_and_a_beam_follows_one_request() -> None:
    assert parse({"training": {"mask_hidden": 0.7, "mask_replaced": 0.3}, "policy": {"kind": "beam"}}).policy.width > 1


def test_every_wrong_field_is_named_at_once() -> None:
    with pytest.raises(Refused) as refusal:
        parse({"seed": "x", "colour": 1, "policy": {"top_p": 2}})
    assert {p.field for p in refusal.value.problems} == {"seed", "colour", "policy.top_p"}


def test_deep_nesting_is_refused_not_crashed_on() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(Refused):
        parse({"config": {"layers": deep}})


@pytest.mark.parametrize("words", [["שלום"], ["日本語"], ["🙂", "👩‍👩‍👧"], ["e\u0301"], ["a" * 500], ["<eos>"], [" "]])
def test_any_text_is_a_word(words: list[str]) -> None:
    assert parse({"requests": [{"source": words}]}).requests[0].source == tuple(words)


@pytest.mark.parametrize("seed", [0, -1, -(2**31), 2**31 - 1])
def test_any_seed_of_32_bits_is_allowed(seed: int) -> None:
    assert parse({"seed": seed}).seed == seed


def test_as_many_tokens_as_allowed() -> None:
    parse({"requests": [{"source": ["cat"] * 128, "target": ["chat"] * 128}]})
    parse({**ALONE, "requests": [{"target": ["cat"] * MAX_TOKENS}], "policy": {"limit": MAX_TOKENS}})


def test_a_link_carries_what_was_packed() -> None:
    content = {"v": 1, "scenario": defaults().model_dump(mode="json"), "view": {"head": 3, "note": "é 🙂"}}
    assert link.unpack(link.pack(content)) == content


@pytest.mark.parametrize("text", ["", "!!!", "abc", link.pack({"a": 1})[:-4], "é", link.pack({"x": "y" * 3_000_000})])
def test_a_broken_cut_or_huge_link_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="This link cannot be read"):
        link.unpack(text)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ({"kind": "explode"}, "given 'explode'; allowed: kind open, step, back"),
        ({}, "allowed: an object with kind"),
        ([], "allowed: an object"),
    ],
)
def test_a_command_that_is_none_is_told_which_there_are(command: Any, said: str) -> None:
    with pytest.raises(ValidationError) as error:
        TypeAdapter(Command).validate_python(command)
    assert said in refused(error.value).problems[0].message
