"""One update against the same computed with torch alone, and what an update keeps in memory."""

from __future__ import annotations

import copy
import gc

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from app.session import checks, updating
from app.session.commands import Change, Selector, Step
from app.session.events import Curve, Moved, Refused, Values
from models import Inputs
from models.parts.tap import OFF, Recorder
from models.parts.tape import Tape, TapeFull
from models.tasks import PAD
from tests.session.driving import SMALL, Reader, do, moved, of, opened


def test_norms_clip_and_moves_are_what_torch_computes() -> None:
    """Loss, every gradient norm, the norm of all, the clip and what AdamW adds, from the batch that was drawn."""
    engine = opened(phase="train", training={"clip_norm": 0.5, "learning_rate": 0.01})
    model = copy.deepcopy(engine.learner.model)
    view = moved(do(engine, Step())).train
    update = engine.standing.update
    assert view is not None and update is not None and update.lesson is not None
    assert view.parameter_norms and view.parameter_moves and view.norm and view.clip_factor

    outputs, _ = model(Inputs(update.lesson.inputs, update.lesson.source), model.initial_state(3), OFF)  # type: ignore[operator]
    losses = F.cross_entropy(outputs.values.flatten(0, 1), update.lesson.labels.flatten(), ignore_index=PAD, reduction="none")
    counted = int((update.lesson.labels != PAD).sum())
    loss = losses.sum() / counted
    loss.backward()
    named = dict(model.named_parameters())
    assert_close(view.loss, loss.item())
    assert_close([n for _, n in view.parameter_norms], [float(named[p].grad.norm()) for p, _ in view.parameter_norms])  # type: ignore[union-attr]
    assert len(view.parameter_norms) == len(named)

    before = {n: p.detach().clone() for n, p in named.items()}
    norm = float(torch.nn.utils.clip_grad_norm_(named.values(), 0.5))
    assert_close(view.norm, norm)
    assert_close(view.clip_factor, 0.5 / norm, rtol=1e-5, atol=0)
    torch.optim.AdamW(named.values(), lr=0.01, betas=(0.9, 0.98), weight_decay=0.01).step()
    for name, moves, size in view.parameter_moves:
        assert_close(size, float(before[name].norm()))
        assert_close(moves, float((named[name].detach() - before[name]).norm()), rtol=1e-4, atol=1e-7)


def test_what_the_optimizer_keeps_goes_from_update_to_update() -> None:
    """Three updates leave the parameters that one AdamW of torch leaves: its moments are those of all batches so far."""
    engine = opened(phase="train", training={"clip_norm": None, "learning_rate": 0.01})
    model = copy.deepcopy(engine.learner.model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.98), weight_decay=0.01)
    for _ in range(3):
        do(engine, Step())
        update = engine.standing.update
        assert update is not None and update.lesson is not None
        outputs, _ = model(Inputs(update.lesson.inputs, update.lesson.source), model.initial_state(3), OFF)  # type: ignore[operator]
        optimizer.zero_grad()
        F.cross_entropy(outputs.values.flatten(0, 1), update.lesson.labels.flatten(), ignore_index=PAD).backward()
        optimizer.step()
    assert_close(dict(engine.learner.model.named_parameters()), dict(model.named_parameters()), rtol=1e-3, atol=1e-5)


def test_the_rows_losses_make_the_mean() -> None:
    view = moved(do(opened(phase="train"), Step())).train
    assert view is not None
    counted = [r for rows in view.rows for r in rows if r.counts]
    assert_close(view.loss, sum(r.loss or 0.0 for r in counted) / len(counted))
    assert [r.label for r in view.rows[0]][:-1] == [r.input for r in view.rows[0]][1:]


def test_moves_are_known_at_the_end_and_not_before() -> None:
    engine = opened(phase="train")
    seen = [moved(do(engine, Step(unit="stage"))).train for _ in range(6)]
    assert [v is not None and v.parameter_moves is not None for v in seen] == [False] * 5 + [True]


def test_backward_goes_through_the_operations_in_reverse() -> None:
    engine = opened(phase="train", config={**SMALL, "layers": 2})
    stages = {s.name: s.ops for s in moved(do(engine, Step())).stages}
    assert stages["backward"][0] == "logits" and stages["backward"][-1].endswith("embedding")
    assert set(stages["backward"]) <= set(stages["forward"])
    decoder = [f"decoder.layer{layer}.{op}" for layer in (1, 0) for op in ("ffn", "cross", "self")]
    assert [op for op in stages["backward"] if op.startswith("decoder.layer")] == decoder


@pytest.mark.parametrize("architecture", ["encoder_decoder", "decoder_only"])
def test_the_schema_tells_in_which_order_backward_reaches_what(architecture: str) -> None:
    engine = opened(architecture, phase="train")
    do(engine, Step())
    assert engine.standing.update is not None
    reached = {t.path: t.reached for t in engine.schema.taps}
    assert [p for p in sorted(reached, key=reached.__getitem__) if p in engine.standing.update.tape.gradients] == list(
        engine.standing.update.tape.gradients
    )
    assert reached["parameter.decoder.layer0.self.W_O.weight"] == reached["decoder.layer0.self.output"]
    assert reached["parameter.decoder.layer0.self.W_Q.bias"] == reached["decoder.layer0.self.q"]
    assert reached["decoder.embedding.ids"] == -1
    assert all(p.grad is None and not p._post_accumulate_grad_hooks for p in opened(architecture).learner.model.parameters())


def test_a_new_batch_takes_the_values_of_the_update_before_away() -> None:
    engine, reader = opened(phase="train"), Reader()
    watch = (Selector(path="*.scores", side="gradient", dtype="f32"),)
    reader.take(do(engine, Step(), watch))
    assert reader.known
    reader.take(do(engine, Step(unit="stage"), watch))
    assert not reader.known
    for _ in range(3):
        reader.take(do(engine, Step(unit="stage"), watch))
    assert reader.known


def test_a_watched_parameter_comes_anew_with_its_gradient_and_its_update() -> None:
    engine = opened(phase="train")
    name = "parameter.decoder.layer0.self.W_Q.weight"
    watch = (Selector(path=name, dtype="f32"), Selector(path=name, side="gradient", dtype="f32"))
    sent = []
    for _ in range(6):
        sent.append({p.side for v in of(do(engine, Step(unit="stage"), watch), Values) for p in v.pieces})
    assert sent[3:] == [{"value", "gradient"}] * 3


def test_the_curve_tells_the_norm_before_and_after_clipping() -> None:
    engine = opened(phase="train", training={"clip_norm": 0.25})
    do(engine, Step())
    do(engine, Step())
    assert min(engine.curve().norm) > 0.25 and engine.curve().clipped == (0.25, 0.25)
    do(engine, Change(fields={"training": {"clip_norm": None}}))  # runs the second update again
    assert engine.curve().clipped == (0.25, engine.curve().norm[1])


def test_validation_is_measured_every_few_updates() -> None:
    engine = opened(phase="train")
    curves = [of(do(engine, Step()), Curve)[-1] for _ in range(2 * updating.VALIDATE_EVERY)]
    points = [p for c in curves for p in c.validation]
    assert [u for u, _ in points] == [updating.VALIDATE_EVERY, 2 * updating.VALIDATE_EVERY]
    assert (curves[0].validated_every, curves[0].held_out) == (updating.VALIDATE_EVERY, updating.HELD_OUT)
    assert engine.curve().validation == tuple(points)


# ---- what is kept


def test_a_tape_takes_no_more_than_it_has_room_for() -> None:
    tape = Tape(room=100)
    tap = Recorder(tape)
    tap("x", torch.zeros(2, 10), "b t")
    with pytest.raises(TapeFull):
        tap("y", torch.zeros(1, 10), "one t")
    assert list(tape.records) == ["x"]


def test_an_update_that_would_hold_too_much_is_refused_and_the_run_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(phase="train", training={"batch_size": 2})
    do(engine, Step())
    assert engine.standing.update is not None
    small = engine.standing.update.recorded
    assert small == sum(r.value.nbytes for r in engine.standing.update.tape.records.values())
    monkeypatch.setattr(updating, "ROOM", 4 * small)
    do(engine, Change(fields={"training": {"batch_size": 64}}))
    before, at = engine.digest(), engine.timeline.at
    with pytest.raises(Refused) as refusal:
        do(engine, Step())
    problem = refusal.value.problems[0]
    assert problem.field == "training.batch_size" and "Take a smaller batch (now 64)" in problem.message
    assert (engine.digest(), engine.timeline.at) == (before, at)
    do(engine, Change(fields={"training": {"batch_size": 2}}))
    assert moved(do(engine, Step())).updates == 2


def test_all_sessions_share_what_there_is_and_give_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    taken = updating.EVERYBODY - sum(u.recorded for u in updating._live)
    one = opened(phase="train")
    do(one, Step())
    assert one.standing.update is not None
    monkeypatch.setattr(updating, "EVERYBODY", updating.EVERYBODY - taken + one.standing.update.recorded + 10)
    assert updating.room() <= 10
    with pytest.raises(Refused, match="Take a smaller batch"):
        do(opened(phase="train"), Step())
    assert isinstance(moved(do(one, Step())), Moved)


def test_the_first_gradient_that_is_not_finite_is_named() -> None:
    recorder, x = Recorder(gradients=True), torch.ones(1, requires_grad=True)
    first = recorder("x", x * 1, "d")
    second = recorder("decoder.layer1.ffn.output", first * 2, "d")
    recorder("logits", second * torch.inf, "d").sum().backward()
    tape = recorder.tape
    assert [*tape.gradients] == ["logits", "decoder.layer1.ffn.output", "x"]
    assert checks.first_gradient_not_finite(tape) == "decoder.layer1.ffn.output"
    assert checks.first_gradient_not_finite(Tape()) is None
