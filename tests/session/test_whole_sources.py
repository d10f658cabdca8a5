"""Tasks of which nothing is written: masked tokens, classes, CTC; words and features as sources. On the smallest of models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from app.session import fit, measures
from app.session.analyses import registry
from app.session.commands import Analyse, Change, Choose, Enter, Open, Selector, Step
from app.session.engine import Engine
from app.session.events import Checked, Moved, Notice, Opened, Refused
from app.session.scenario import defaults, parse
from models.catalogue import architectures, tasks
from models.tasks import BLANK, Token
from models.tasks.objective import TooFewFrames, collapse, frames_needed
from tests.session.driving import do, of
from tests.session.whole_sources import WORDS, Bright, Hidden, Strip, spec


@pytest.fixture(autouse=True, scope="module")
def known() -> Iterator[None]:
    """The tiny models and their tasks, beside those of the catalogue."""
    mine = (Hidden(), Strip(), Bright())
    tasks().update({t.id: t for t in mine})
    architectures().update({f"tiny_{t.id}": spec(t) for t in mine})
    yield
    for task in mine:
        del tasks()[task.id], architectures()[f"tiny_{task.id}"]


def opened(name: str, **fields: Any) -> Engine:
    engine = Engine(torch.device("cpu"))
    do(engine, Open(scenario=defaults(f"tiny_{name}", **fields).model_dump(mode="json")))
    return engine


def view(engine: Engine) -> Any:
    return engine.moved(()).requests[0]


def test_there_is_no_decode_and_the_source_is_read_in_one_call() -> None:
    engine = opened("bright")
    assert engine.scenario.phase == "prefill" and engine.opened().task["phases"] == ["train", "prefill"]
    events = do(engine, Step())
    assert of(events, Moved)[0].ended and [s.name for s in of(events, Moved)[0].stages] == ["read"]
    assert {c.id: c.status for c in of(events, Checked)[0].checks}["no_future_leak"] == "does_not_apply"
    for command, words in (
        (Step(), "nothing is written"),
        (Choose(request=0, token=0), "nothing to choose"),
        (Enter(phase="decode"), "no phase"),
    ):
        with pytest.raises(Refused, match=words):
            do(engine, command)


@pytest.mark.parametrize("name", ["hidden", "strip", "bright"])
def test_every_analysis_ends_in_an_answer_or_a_refusal(name: str) -> None:
    engine = opened(name, requests=[*[inputs_of(name)] * 2])
    do(engine, Step())
    for analysis in registry():
        try:
            do(engine, Analyse(name=analysis))
        except Refused as refused:
            assert refused.problems[0].message
    do(engine, Enter(phase="train"))
    do(engine, Step())
    for analysis in ("row_contributions", "state_jacobian"):
        do(engine, Analyse(name=analysis, arguments={"parameter": "head.weight"} if analysis == "row_contributions" else {}))


def inputs_of(name: str) -> dict[str, Any]:
    return defaults(f"tiny_{name}").model_dump(mode="json")["requests"][0]


def test_every_masked_row_says_its_own_token_and_the_first_one_leads() -> None:
    engine = opened("hidden")
    do(engine, Step())
    assert view(engine).output == () and view(engine).answers == (), "no word is masked"
    do(engine, Change(fields={"requests": [{"source": ["a", {"special": "<mask>"}, "c", {"special": "<mask>"}]}]}))
    do(engine, Step())
    seen = view(engine)
    assert [r.token for r in seen.source] == ["<cls>", "a", "<mask>", "c", "<mask>"]
    assert [row for row, _ in seen.answers] == [2, 4] and seen.decision_row == 2
    logits = torch.frombuffer(bytearray(seen.logits.data), dtype=torch.float32).view(seen.logits.shape)
    whole = engine.standing.reading.said.values[0]  # type: ignore[union-attr]
    assert_close(logits, whole[[2, 4]])
    assert seen.output == tuple(WORDS.words[i] for i in logits.argmax(-1).tolist())


def test_a_masked_batch_says_what_became_of_each_word_and_takes_the_shares_that_are_set() -> None:
    engine = opened("hidden", phase="train")
    shares = {"mask_rate": 1.0, "mask_hidden": 0.5, "mask_replaced": 0.25, "batch_size": 64}
    do(engine, Change(fields={"training": {**engine.scenario.training.model_dump(), **shares}}))
    do(engine, Step(unit="stage"))
    rows = [row for sequence in engine.moved(()).train.rows for row in sequence if row.key_valid]  # type: ignore[union-attr]
    words = [row for row in rows if row.label != "<cls>"]
    assert all(row.counts == bool(row.became) == (row.label != "<cls>") for row in rows)
    counted = {fate: sum(r.became == fate for r in words) / len(words) for fate in ("mask", "random", "kept")}
    assert all(abs(counted[fate] - share) < 0.1 for fate, share in (("mask", 0.5), ("random", 0.25), ("kept", 0.25)))
    assert all((r.input == "<mask>") == (r.became == "mask") and (r.became != "kept" or r.input == r.label) for r in words)
    again = opened("hidden", phase="train")
    do(again, Change(fields={"training": {**again.scenario.training.model_dump(), **shares}}))
    do(again, Step(unit="stage"))
    assert again.moved(()).train == engine.moved(()).train, "keyed by seed and step"


def test_at_least_one_word_is_hidden_and_shares_above_the_whole_are_refused() -> None:
    engine = opened("hidden", phase="train")
    do(engine, Step(unit="stage"))
    assert all(sum(r.counts for r in one) == 1 for one in engine.moved(()).train.rows)  # type: ignore[union-attr]
    for field, value in (("mask_rate", 0.0), ("mask_rate", 1.5), ("mask_replaced", 0.3)):
        with pytest.raises(Refused, match=field):
            do(engine, Change(fields={"training": {**engine.scenario.training.model_dump(), field: value}}))


def test_frames_collapse_and_their_loss_is_that_of_all_ways_to_write_the_target() -> None:
    assert collapse([0, 1, 1, 0, 1, 2, 2, 0]) == [1, 1, 2] and frames_needed([1, 1, 2]) == 4
    engine = opened("strip", phase="train")
    do(engine, Change(fields={"training": {**engine.scenario.training.model_dump(), "batch_size": 1}}))
    do(engine, Step())
    update = engine.standing.update
    assert update is not None and update.outputs is not None and update.lesson is not None and update.losses is not None
    p = update.outputs.values[0].softmax(-1)
    target = update.lesson.labels[0].tolist()
    paths = torch.cartesian_prod(*[torch.arange(3)] * len(p)).tolist()
    total = sum(float(torch.stack([p[t, i] for t, i in enumerate(path)]).prod()) for path in paths if collapse(path) == target)
    assert_close(update.losses[0, 0].item(), -torch.tensor(total).log().item(), atol=1e-4, rtol=1e-4)
    shown = engine.moved(()).train
    assert shown is not None and shown.features is not None and shown.features[0].shape == (6, 2)
    assert shown.rows[0][0].label == " ".join(update.examples[0].target)


def test_a_target_longer_than_its_frames_is_refused_where_it_is_typed() -> None:
    with pytest.raises(Refused, match="needs 3 frames, its source has 2"):
        parse({"architecture": "tiny_strip", "task": "strip", "requests": [{"features": [[0, 1], [0, 1]], "target": ["2", "2"]}]})
    assert TooFewFrames(0, 2, 3).needed == 3


BAD = [
    ({"features": [[0.5, 0.5], [0.5]]}, "features.1", "has 1 number"),
    ({"features": []}, "features", "is empty"),
    ({"features": [[0.5, 1.5]]}, "features.0.1", "at most 1"),
    ({"features": [[0.5, float("nan")]]}, "features.0.1", "finite"),
    ({"features": [[0.0, 0.0]] * 13}, "features", "has 13 rows"),
    ({"source": ["a"]}, "features", "is empty"),
    ({"features": [[0.0, 0.0]], "target": ["7"]}, "target", "no label"),
]


@pytest.mark.parametrize(("request_", "field", "words"), BAD)
def test_what_cannot_be_read_is_named(request_: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        parse({"architecture": "tiny_strip", "task": "strip", "requests": [request_]})
    assert any(p.field == f"requests.0.{field}" and words in p.message for p in refused.value.problems), refused.value.problems


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_blank_source_and_a_single_number_are_read(value: float) -> None:
    engine = opened("bright", requests=[{"features": [[value]]}])
    do(engine, Step())
    assert view(engine).output in (("dark",), ("light",)) and [r.token for r in view(engine).source] == ["0"]


def test_a_penalty_is_part_of_the_loss_and_said_apart() -> None:
    engine = opened("bright", phase="train")
    do(engine, Step())
    train = engine.moved(()).train
    assert train is not None
    mean = sum(row.loss for (row,) in train.rows if row.loss is not None) / len(train.rows)
    assert_close(train.loss, mean + dict(train.penalties)["size"])


def test_edits_masks_and_the_unedited_answer_stand_beside_each_other() -> None:
    engine = opened("bright")
    do(engine, Step())
    before = view(engine).logits.data
    do(engine, Change(fields={"edits": [{"path": "mixed", "action": "scale", "value": 5.0}]}))
    assert view(engine).unedited.logits.data == before != view(engine).logits.data
    events = do(
        engine,
        Change(
            fields={
                "edits": [],
                "masks": [{"relation": "own", "program": "full", "cells": [{"query": 0, "key": 0, "visible": False}]}],
            }
        ),
    )
    assert not of(events, Notice)


@pytest.mark.parametrize(("name", "metric"), [("hidden", "masked_accuracy"), ("strip", "exact"), ("bright", "accuracy")])
def test_it_is_learned_and_measured(name: str, metric: str) -> None:
    scenario = defaults(f"tiny_{name}", weights="random")
    scenario = scenario.model_copy(
        update={"training": scenario.training.model_copy(update={"batch_size": 16, "learning_rate": 0.03})}
    )
    model, loss = fit.fit(scenario, 150)
    spec_, task = architectures()[f"tiny_{name}"], tasks()[name]
    found = measures.measure(model, spec_, task, 32)
    assert loss < 3.0 and found[metric] >= (0.3 if name == "hidden" else 0.95), found


def test_the_page_is_told_the_labels_the_specials_and_the_form_of_the_source() -> None:
    told: Opened = opened("strip").opened()
    assert told.vocabulary["specials"] == {"source": None, "target": [BLANK]} and told.vocabulary["source"] is None
    assert told.task["features"] == {"width": 2, "most": 12, "what": "frames"} and told.task["objective"] == "ctc"
    assert opened("hidden").opened().task["opening"] == "<cls>"


def test_a_token_that_a_task_does_not_have_is_refused_by_name() -> None:
    tokens: list[Token | dict[str, str]] = [{"special": "<mask>"}]
    with pytest.raises(Refused, match="<mask>, which this task does not have"):
        parse({"requests": [{"source": tokens}]})


def test_what_is_recorded_is_asked_for_as_always() -> None:
    engine = opened("hidden")
    events = list(engine.run(Step(), (Selector(path="read.weights", dtype="f32"),)))
    arrays = [p.array for e in events for p in getattr(e, "pieces", ())]
    assert [a.shape for a in arrays] == [(1, 1, 5, 5)]
