"""Pieces as a stage of prefill, a text that is cut again by another tokenizer, and what a character costs."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from app.session import carried, pieces, weights
from app.session.commands import Back, Change, Go, Step
from app.session.engine import Engine
from app.session.events import Opened, Refused
from app.session.measures import REPORT_SEED, draw_held_out
from app.session.per_character import per_character
from app.session.scenario import defaults, parse
from models.catalogue import tasks
from models.tasks import Example
from tests.session.driving import do, moved, of, opened

TEXT = "To be, naïve"
VERSE = ("words", "characters", "bytes", "subwords")


def cut(task: str, *texts: str) -> dict[str, Any]:
    return {"task": task, "requests": [{"target": tasks()[task].tokenize(t)} for t in texts]}


def reading(task: str, *texts: str, **fields: Any) -> Engine:
    return opened("decoder_only", phase="prefill", weights="random", **cut(task, *texts), **fields)


def words(engine: Engine, b: int = 0) -> list[str]:
    return [r.token for r in engine.moved(()).requests[b].target if r.state != "padded"][1:]


def test_pieces_are_a_stage_before_the_prompt_is_read() -> None:
    engine = reading("subwords", TEXT)
    assert [s.name for s in engine.moved(()).stages] == ["pieces", "read"]
    event = moved(do(engine, Step(unit="stage")))
    assert (event.phase, event.step, event.stage) == ("prefill", 0, "pieces")
    done, ahead = event.stages
    assert done.ms is not None and done.rows == len(engine.scenario.requests[0].target) + 1 and ahead.ms is None
    assert [r.state for r in event.requests[0].target] == ["unknown"] * done.rows
    event = moved(do(engine, Step(unit="stage")))
    assert (event.step, event.stage) == (1, "") and [s.rows for s in event.stages] == [done.rows] * 2
    do(engine, Back())
    assert engine.moved(()).stage == "pieces"


def test_a_step_does_all_stages_at_once_and_gives_the_same_numbers() -> None:
    by_stage, at_once = reading("bytes", TEXT), reading("bytes", TEXT)
    do(by_stage, Step(unit="stage"))
    one, other = (moved(do(e, Step())).requests[0] for e in (by_stage, at_once))
    assert one.logits == other.logits and one.decision_row == other.decision_row


def test_a_stage_is_stood_at_again() -> None:
    engine = reading("subwords", TEXT)
    at = moved(do(engine, Step(unit="stage"))).at
    do(engine, Step())
    do(engine, Go(moment=at))
    assert engine.moved(()).stage == "pieces" and engine.moved(()).requests[0].choice is None


def test_a_task_whose_words_are_plain_has_no_such_stage() -> None:
    engine = opened("decoder_only", phase="prefill")
    assert [s.name for s in engine.moved(()).stages] == ["read"]
    assert pieces.told(engine.scenario) is None


def test_the_page_is_told_of_every_tokenizer_beside_this_one() -> None:
    engine = reading("words", "O ambassador", "O")
    told = of(list(engine.describe()), Opened)[0].task["tokenizer"]
    assert told["kind"] == "word" and told["merges"] == []
    by_task = {b["task"]: b for b in told["beside"]}
    assert list(by_task) == list(VERSE)
    assert by_task["words"]["unknown"] == [["ambassador"], []]
    assert by_task["bytes"]["pieces"] == [12, 1] and by_task["subwords"]["pieces"][0] < 12
    assert by_task["subwords"]["vocabulary"] == 256 + 512


@pytest.mark.parametrize("task", ["characters", "bytes", "subwords"])
def test_another_tokenizer_cuts_the_same_text(task: str) -> None:
    engine = reading("bytes", "ab\nc", TEXT) if task != "bytes" else reading("subwords", "ab\nc", TEXT)
    do(engine, Change(fields={"task": task}))
    assert [r.target for r in engine.scenario.requests] == [tuple(tasks()[task].tokenize(t)) for t in ("ab\nc", TEXT)]
    assert engine.scenario.task == task and engine.scenario.phase == "prefill"


def test_special_tokens_stay_where_they_are_and_what_is_too_long_is_left_behind() -> None:
    before = parse({**cut_scenario("characters", "é" * 300), "phase": "prefill"})
    assert carried.requests(before, defaults("decoder_only", "bytes")) == {}
    special = {"special": "<eos>"}
    before = parse({"architecture": "decoder_only", "task": "characters", "requests": [{"target": ["é", special, "T", "o"]}]})
    (request,) = carried.requests(before, defaults("decoder_only", "subwords"))["requests"]
    assert request["target"] == ["<0xC3>", "<0xA9>", special, "To"]


def cut_scenario(task: str, text: str) -> dict[str, Any]:
    return {"architecture": "decoder_only", **cut(task, text)}


def test_an_old_scenario_of_characters_opens_as_before() -> None:
    """A link that was made before there were tokenizers."""
    old = {
        "version": 1,
        "architecture": "decoder_only",
        "task": "characters",
        "requests": [{"target": ["H", "a", "m", ".", "↵"]}],
    }
    assert parse(old).requests[0].target == ("H", "a", "m", ".", "↵")


def test_a_piece_with_a_control_character_is_refused_by_name() -> None:
    with pytest.raises(Refused, match=r"U\+0007"):
        parse({"architecture": "decoder_only", "task": "bytes", "requests": [{"target": ["\x07"]}]})
    with pytest.raises(Refused, match="at most 512 items"):
        parse(cut_scenario("bytes", "x" * 513))


def test_bits_of_a_character_are_those_of_a_uniform_guess_worked_by_hand() -> None:
    """A model whose scores are all 0 pays log2 V bits for every piece and the end: (pieces + 1) log2 V / characters."""
    task = tasks()["bytes"]
    model = drawn("bytes")
    for p in model.parameters():
        p.data = torch.zeros_like(p)  # a draw is shared
    examples = [Example(None, tuple(task.tokenize(t))) for t in ("naïve", "ab")]
    found = per_character(model, task, examples)
    assert found["pieces"] == pytest.approx(8 / 7)
    assert found["bits"] == pytest.approx((8 + 2) * math.log2(260) / 7, rel=1e-5)


@pytest.mark.parametrize("task", ["characters", "bytes", "subwords"])
def test_shipped_weights_pay_what_they_say_for_a_character(task: str) -> None:
    """Measured again on a quarter of the same texts: near the number of all of them, and far below a guess."""
    model, loaded = weights.build(defaults("decoder_only", task), "cpu")
    assert loaded["kind"] == "trained"
    said = loaded["source"]["metrics"]["per_character"]
    found = per_character(model, tasks()[task], draw_held_out(tasks()[task], REPORT_SEED, 256))
    assert found["bits"] == pytest.approx(said["bits"], rel=0.03) and found["bits"] < 2.7 < math.log2(62)
    assert (weights.FOLDER / loaded["source"]["file"]).stat().st_size <= 500_000


def test_byte_pairs_pay_less_for_a_character_than_what_they_are_made_of() -> None:
    made = {c["task"]: c["metrics"]["per_character"] for c in weights.checkpoints("decoder_only") if c["task"] in VERSE}
    assert made["subwords"]["bits"] < made["characters"]["bits"] and made["subwords"]["bits"] < made["bytes"]["bits"]
    assert made["subwords"]["pieces"] < 0.5 and made["bytes"]["pieces"] == made["characters"]["pieces"] == 1


def test_where_words_are_unknown_their_share_is_told_instead() -> None:
    task = tasks()["words"]
    found = per_character(drawn("words"), task, [Example(None, tuple(task.tokenize("O ambassador")))])
    assert found["unknown"] == 0.5 and "bits" not in found


def drawn(task: str) -> torch.nn.Module:
    return weights.build(defaults("decoder_only", task, weights="random"), "cpu")[0]
