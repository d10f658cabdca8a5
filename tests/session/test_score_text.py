"""Scoring of a given text: the factors of its probability, teacher-forced."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from app.session.commands import Analyse, Choose, Step
from app.session.engine import Engine
from app.session.events import Analysis, Refused
from models.tasks import EOS
from tests.session.driving import do, moved, numbers, of, opened

PAIRS = [{"source": ["the", "black", "cat"], "target": []}, {"source": ["thank", "you"], "target": ["le"]}]


def score(engine: Engine, **arguments: Any) -> dict[str, Any]:
    result = of(do(engine, Analyse(name="score_text", arguments=arguments)), Analysis)[-1].result
    assert result is not None
    return result


@pytest.mark.parametrize("architecture", ["encoder_decoder", "bahdanau", "fixed_context", "recurrent", "decoder_only"])
def test_it_is_what_decoding_says_when_the_same_tokens_are_chosen(architecture: str) -> None:
    """The other road to the same numbers: one row a call from the kept state, each token chosen by hand."""
    engine = opened(architecture)
    found = score(engine, text="the cat sleeps" if engine.scenario.requests[0].source is None else "le chat noir")
    for id in found["ids"]:
        events = do(engine, Choose(request=0, token=id))
    view = moved(events).requests[0]
    assert view.finished == "eos" and view.log_p is not None
    torch.testing.assert_close(torch.tensor(found["log_p"]), torch.tensor(numbers(view.log_p)), rtol=0, atol=1e-5)
    assert found["total"] == pytest.approx(view.log_probability, abs=1e-5) and found["total"] == pytest.approx(
        sum(found["log_p"])
    )


def test_each_token_has_its_rank_and_the_best_one_beside_it() -> None:
    engine = opened("bahdanau")
    do(engine, Step())
    first = moved([engine.moved(())]).requests[0]
    found = score(engine, text="")
    assert found["tokens"] == ["<eos>"] and found["ids"] == [EOS]
    best = score(engine, text=engine.opened().vocabulary["target"][found["best"][0]])
    assert best["rank"][0] == 1 and best["log_p"][0] == pytest.approx(found["best_log_p"][0]) and first.finished == ""


def test_the_second_request_goes_on_after_its_known_target_and_edits_of_it_count() -> None:
    edit = {"path": "logits", "index": [1, 1, 5], "action": "set", "value": 30.0}
    plain, edited = opened(requests=PAIRS), opened(requests=PAIRS, edits=[edit])
    ids = [score(e, request=1, text="chat") for e in (plain, edited)]
    assert ids[0]["known"] == ["<bos>", "le"] and ids[0]["log_p"] != ids[1]["log_p"]
    assert ids[1]["best"][0] == 5
    assert score(plain, request=0, text="chat")["log_p"] == score(edited, request=0, text="chat")["log_p"]


def test_unknown_words_are_scored_as_unk_and_said() -> None:
    found = score(opened(), text="le zèbre dort")
    assert found["unknown"] == ["zèbre"] and found["ids"][1] == 3 and len(found["log_p"]) == 4


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"text": 3}, "arguments.text"),
        ({}, "arguments.text"),
        ({"text": "le " * 600}, "arguments.text"),
        ({"text": "le", "request": 2}, "arguments.request"),
        ({"text": "le", "request": True}, "arguments.request"),
        ({"text": "le", "other": 1}, "arguments.other"),
    ],
)
def test_what_cannot_be_scored_is_refused(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refusal:
        score(opened(requests=PAIRS), **arguments)
    assert refusal.value.problems[0].field == field
