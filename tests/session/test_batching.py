"""Requests that join and leave between decode steps: each decides what it decides alone, and every moment is exact again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from app.session.analyses import Run, batch_equals_alone
from app.session.commands import Back, Change, Choose, Command, Enter, Go, Join, Leave, Open, Selector, Share, Step, Undo
from app.session.engine import Engine
from app.session.events import Check, Moved, Notice, Refused, Shared, Values
from tests.session.driving import SMALL, SOURCES, Reader, do, edits, logits, measured, moved, numbers, of, opened
from tests.session.test_batch_equals_alone import Coupled

LONG, SHORT = {"target": ["the", "report", "was", "not", "convincing"]}, {"target": ["the"]}
FAMILIES = {  # attention caches of unequal length, recurrent states, convolution buffers, a source memory, one stream of both
    "decoder_only": [LONG, SHORT, {"target": ["the", "black", "cat"]}],
    "recurrent": [LONG, SHORT, {"target": ["the", "black", "cat"]}],
    "mamba": [LONG, SHORT, {"target": ["the", "black", "cat"]}],
    "lstmn": [{"target": ["(", "["]}, {"target": ["("]}, {"target": ["[", "(", ")", "]"]}],
    "convs2s": [*SOURCES, {"source": ["the", "cat", "sleeps", "the", "cat"], "target": ["le"]}],
    "encoder_decoder": [*SOURCES, {"source": ["the", "cat", "sleeps", "the", "cat"], "target": ["le"]}],
    "bahdanau": [*SOURCES, {"source": ["the", "cat", "sleeps", "the", "cat"], "target": ["le"]}],
}


def steps(engine: Engine, count: int = 1) -> Moved:
    for _ in range(count):
        event = moved(do(engine, Step()))
    return event


def own(engine: Engine, request: int) -> list[str]:
    """What a request has written."""
    return [r.token for r in engine.moved(()).requests[request].target if r.origin in ("model", "chosen")]


@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
@pytest.mark.parametrize("architecture", FAMILIES)
def test_a_request_decides_what_it_decides_alone(architecture: str, execution: str) -> None:
    first, second, third = FAMILIES[architecture]
    policy = {"limit": 20, "execution": execution}
    engine = opened(architecture, requests=[first, second], policy=policy)
    steps(engine, 2)
    do(engine, Join(request=third))
    steps(engine, 2)
    do(engine, Leave(request=0))
    steps(engine)
    do(engine, Join(request=first))
    steps(engine, 2)
    for number, request, count in [(1, second, 7), (2, third, 5), (3, first, 2)]:
        alone = opened(architecture, requests=[request], policy=policy)
        steps(alone, count)
        assert own(engine, number) == own(alone, 0)
        np.testing.assert_allclose(logits(engine, number), logits(alone), atol=2e-6)
    alone = opened(architecture, requests=[first], policy=policy)
    steps(alone, 4)
    assert own(engine, 0) == own(alone, 0), "what had left keeps what it wrote"


def changing(**fields: Any) -> Engine:
    """Two requests after two steps, a third that has just joined."""
    engine = opened(requests=SOURCES, policy={"limit": 12, **fields})
    steps(engine, 2)
    do(engine, Join(request=FAMILIES["encoder_decoder"][2]))
    return engine


def test_who_joins_is_read_on_its_own_and_counts_its_own_rows() -> None:
    engine = changing()
    here = engine.moved(())
    assert [(s.name, s.rows) for s in here.stages] == [("encode", 5), ("read", 2)]
    first, second, third = here.requests
    assert (first.joined, second.joined, third.joined, third.left) == (None, None, 2, None)
    assert (first.decision_row, second.decision_row, third.decision_row) == (2, 3, 1)
    assert [r.state for r in third.target] == ["new", "new"] and first.target[-1].state == "known"
    node = engine.timeline.node(engine.timeline.here)
    assert (node.command, node.label, node.step, node.changed) == ("join", "2", 2, None)
    here = steps(engine)
    assert [r.decision_row for r in here.requests] == [3, 4, 2] and here.step == 3
    assert [(s.name, s.rows) for s in here.stages] == [("choose", 0), ("read", 3)]


def test_who_leaves_frees_its_rows() -> None:
    engine = changing()
    steps(engine, 2)
    before = {k["path"]: k for k in engine.moved(()).kept}
    written = engine.moved(()).requests[1]
    here = moved(do(engine, Leave(request=1)))
    after = {k["path"]: k for k in here.kept}
    cache, memory = "decoder.layer0.self.keys", "encoder.memory"
    assert [before[cache]["shape"][i] for i in (0, 2)] == [3, 6], "<bos>, a prompt of one word, four that were written"
    assert [after[cache]["shape"][i] for i in (0, 2)] == [2, 5], "what only the longest needed is freed too"
    assert after[memory]["bytes"] * 3 == before[memory]["bytes"] * 2
    gone = here.requests[1]
    assert (gone.finished, gone.left, gone.choice, gone.candidates) == ("left", 4, None, ())
    assert [r.token for r in gone.target] == [r.token for r in written.target] and gone.log_p == written.log_p
    assert engine.learner.model is not None and here.ended is False
    assert [r.decision_row for r in steps(engine).requests] == [5, None, 4]


def test_who_has_ended_leaves_by_itself_where_it_is_said_so() -> None:
    engine = changing(ended="leaves")
    end = 2
    here = moved(do(engine, Choose(request=0, token=end)))
    assert (here.requests[0].finished, here.requests[0].left) == ("eos", 3)
    assert {k["shape"][0] for k in here.kept} == {2}
    do(engine, Choose(request=1, token=end))
    here = moved(do(engine, Choose(request=2, token=end)))
    assert here.ended and here.requests[2].left is None, "the last one stays"
    do(engine, Change(fields={"policy": {"limit": 20}}))
    assert engine.moved(()).requests[0].left == 3, "a change of the policy brings nobody back"
    stays = changing()
    assert {k["shape"][0] for k in moved(do(stays, Choose(request=0, token=end))).kept} == {3}


def everything(engine: Engine) -> list[tuple[Any, ...]]:
    watch = (Selector(path="*", dtype="f32"),)
    return [(p.path, p.start, p.array.shape, p.array.data) for p in engine.keyframe(watch).pieces]


def test_back_over_a_turn_is_exact_and_another_way_is_a_branch() -> None:
    engine = changing()
    seen = {engine.timeline.at: (engine.digest(), everything(engine), engine.moved(()).requests)}
    for command in (Step(), Leave(request=0), Step(), Join(request=SOURCES[0]), Step(unit="stage"), Step()):
        do(engine, command)
        seen[engine.timeline.at] = (engine.digest(), everything(engine), engine.moved(()).requests)
    for moment in [*sorted(seen, reverse=True), *seen]:
        do(engine, Go(moment=moment))
        assert (engine.digest(), everything(engine), engine.moved(()).requests) == seen[moment]
    again = Engine.restore(engine.save(), torch.device("cpu"))
    assert again.digest() == engine.digest()
    do(engine, Go(moment=min(seen)))
    do(engine, Leave(request=2))
    assert engine.timeline.here.parent == min(seen) and len(engine.timeline.moments[min(seen)].children) == 2
    do(engine, Back())
    assert engine.timeline.at == min(seen)


def test_a_link_and_an_edit_carry_who_came() -> None:
    engine = changing()
    steps(engine)
    do(engine, Leave(request=1))
    steps(engine)
    file = of(do(engine, Share()), Shared)[0].file
    assert [e["command"]["kind"] for e in file["log"]] == ["step", "join", "step", "leave", "step"]
    other = Engine(torch.device("cpu"))
    do(other, Open(scenario=file["scenario"], log=tuple(file["log"])))
    assert other.digest() == engine.digest()
    before = {b: logits(engine, b) for b in (0, 2)}
    do(engine, edits({"path": "decoder.layer0.self.output", "index": [2], "action": "set", "value": 0.0}))
    assert np.array_equal(logits(engine, 0), before[0]), "an edit of request 2 is of the one that joined, wherever it stands"
    assert not np.allclose(logits(engine, 2), before[2])
    assert engine.moved(()).requests[2].unedited is not None
    do(engine, Undo())
    assert np.array_equal(logits(engine, 2), before[2]) and engine.moved(()).requests[1].left == 3
    do(engine, Enter(phase="decode"))
    assert len(engine.moved(()).requests) == 2, "a phase begins with the requests of the scenario"


def test_a_page_that_was_there_knows_what_a_page_that_joins_is_told() -> None:
    watch = (
        Selector(path="decoder.layer0.*", dtype="f32"),
        Selector(path="decoder.layer0.cross.weights", index={"b": 2}, dtype="f32"),
    )
    engine, there = opened(requests=SOURCES), Reader()
    there.take(do(engine, Step(), watch))
    for command in (Step(), Join(request=FAMILIES["encoder_decoder"][2]), Step(), Step(), Leave(request=0), Step()):
        events = do(engine, command, watch)
        there.take(events)
    for piece in of(events, Values)[-1].pieces:
        assert piece.start.get("b", 0) != 0, "what request 0 had is not told any more"
    fresh = engine.keyframe(watch)
    rows = {
        p.start.get("b", 0): numbers(p.array).shape for p in fresh.pieces if p.selector == 0 and p.path.endswith("self.weights")
    }
    assert set(rows) == {0, 1, 2} and rows[2][2] == 5, "two rows of its prompt, three that it wrote"
    [own] = [p for p in fresh.pieces if p.selector == 1]
    assert own.start == {"b": 2} and own.array.shape[2] == 5


def test_the_same_as_alone_is_measured_with_whoever_came_and_left() -> None:
    engine = changing()
    do(engine, Leave(request=1))
    steps(engine)
    found = measured(engine, "batch_equals_alone")
    assert found.status == "pass" and found.measured.startswith("max |Δlogit| ")
    run = Run(Coupled(engine.learner.model), engine.timeline.here.place, engine.device)
    failed = next(c for c in batch_equals_alone.run(run, {}) if isinstance(c, Check))
    assert failed.status == "fail" and failed.place["request"] in (0, 2)
    mixed = opened("decoder_only", config={**SMALL, "norm_kind": "batch", "statistics": "batch"}, requests=[LONG, SHORT])
    do(mixed, Join(request=SHORT))
    assert "BatchNorm" in measured(mixed, "batch_equals_alone").reason


def test_what_cannot_be_done_is_refused_in_words() -> None:
    engine = changing()
    digest = engine.digest()
    refusals: list[tuple[Command, str, str]] = [
        (Join(request={"source": []}), "request.source", "is empty"),
        (Join(request={"source": ["the"] * 200}), "request.source", "Use a shorter text"),
        (Join(request={"source": ["the"], "target": ["le"] * 200}), "request.target", "Use a shorter text"),
        (Join(request={"sauce": ["the"]}), "request.sauce", "not a field"),
        (Leave(request=3), "request", "Request 3 does not exist; in the batch are: 0, 1, 2."),
        (Choose(request=3, token=5), "request", "allowed: 0 to 2"),
        (Change(fields={"policy": {"kind": "beam"}}), "policy.kind", "one request"),
    ]
    for command, field, said in refusals:
        with pytest.raises(Refused) as refused:
            do(engine, command)
        problem = refused.value.problems[0]
        assert (problem.field, engine.digest()) == (field, digest) and said in problem.message
    for _ in range(5):
        do(engine, Join(request=SOURCES[0]))
    with pytest.raises(Refused, match="8 requests are in the batch, as many as it can hold"):
        do(engine, Join(request=SOURCES[0]))
    for number in range(1, 8):
        do(engine, Leave(request=number))
    with pytest.raises(Refused, match="Request 0 is the only one in the batch"):
        do(engine, Leave(request=0))
    with pytest.raises(Refused, match="Request 3 has left already; in the batch are: 0"):
        do(engine, Leave(request=3))
    with pytest.raises(Refused, match="Request 3 has left the batch"):
        do(engine, Choose(request=3, token=5))
    do(engine, Step(unit="stage"))
    with pytest.raises(Refused, match="Step once to end this one"):
        do(engine, Join(request=SOURCES[0]))
    do(engine, Enter(phase="train"))
    with pytest.raises(Refused, match="Go to Decode first"):
        do(engine, Leave(request=0))


def test_an_unknown_word_is_told_and_a_class_has_no_turns() -> None:
    engine = opened(requests=[SOURCES[0]])
    [notice] = of(do(engine, Join(request={"source": ["the", "blorp"]})), Notice)
    assert "blorp" in notice.message
    with pytest.raises(Refused, match="nothing is decoded"):
        do(opened("structured"), Join(request={"source": ["the"]}))
    with pytest.raises(Refused, match="A beam follows one request"):
        do(opened(policy={"kind": "beam"}), Join(request=SOURCES[0]))
    do(engine, Leave(request=0))
    with pytest.raises(Refused, match="others joined or left"):
        do(engine, Change(fields={"policy": {"kind": "beam"}}))
