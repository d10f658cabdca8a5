"""The gradient's way back through a time loop, against loops worked by hand from the cell's own weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from app.session.commands import Analyse, Step
from app.session.engine import Engine
from app.session.events import Analysis, Refused
from models.parts.tap import OFF
from models.tasks.objective import row_losses
from tests.session.driving import do, of, opened


def trained(architecture: str = "recurrent", stages: int = 1, **config: Any) -> Engine:
    engine = opened(architecture, phase="train", config={"width": 8, "d_token": 4, **config}, seed=5)
    for _ in range(stages):
        do(engine, Step(unit="stage"))
    return engine


def measure(engine: Engine, **arguments: Any) -> dict[str, Any]:
    found = of(do(engine, Analyse(name="gradient_through_time", arguments=arguments)), Analysis)
    assert [a.progress for a in found] == sorted(a.progress for a in found) and found[-1].result is not None
    return found[-1].result


def by_hand(engine: Engine, request: int = 0) -> tuple[list[Tensor], Tensor]:
    """The states of a one-layer loop, each a leaf of the graph after it, and the losses of its rows over all that count."""
    update, model = engine.standing.update, engine.learner.model
    assert update is not None and update.lesson is not None
    length = int(update.lesson.inputs.lengths[request])
    loop: Any = model
    x = loop.token(update.lesson.inputs.values[request : request + 1, :length])
    state, states, hidden = loop.recurrence.initial(1, loop.token.weight), [], []
    for t in range(length):
        _, state = loop.recurrence.step(x[:, t], state, OFF)
        whole = torch.cat([s[0] for s in state[0]])
        whole.retain_grad()
        states.append(whole)
        state = (tuple(whole[None].split(8, -1)),)
        hidden.append(state[0][-1] if len(state[0]) == 1 else state[0][0 if loop.recurrence.names[0] == "hidden" else 1])
    logits = loop.head(torch.stack(hidden, 1))
    losses = row_losses(logits, update.lesson.labels[request : request + 1, :length])[0]
    return states, torch.where(update.lesson.loss_rows[request, :length], losses, 0.0) / update.lesson.loss_rows.sum()


@pytest.mark.parametrize("cell", ["tanh", "gru"])
def test_gradients_and_signals_are_those_of_an_unrolled_loop(cell: str) -> None:
    engine = trained(cell=cell)
    result = measure(engine)
    (scope,) = result["scopes"]
    states, losses = by_hand(engine)
    assert result["row"] == max(t for t, x in enumerate(result["losses"]) if x is not None)
    for name, loss in (("gradients", losses.sum()), ("signals", losses[result["row"]])):
        grads = torch.autograd.grad(loss, states, retain_graph=True, allow_unused=True)
        expected = [0.0 if g is None else float(g.norm()) for g in grads]
        measured = [m for m in scope[name] if m is not None]
        assert measured == pytest.approx(expected[: len(measured)], rel=1e-4, abs=1e-9)


def test_the_product_of_a_tanh_loop_by_hand() -> None:
    engine = trained(cell="tanh")
    model: Any = engine.learner.model
    result = measure(engine, row=4)
    (scope,) = result["scopes"]
    U = model.recurrence.layers[0].U.weight.detach()
    J = [torch.diag(1 - h.detach() ** 2) @ U for h in by_hand(engine)[0]]  # d tanh(a) / d h = diag(1 - tanh(a)^2) U
    norm = lambda m: float(torch.linalg.matrix_norm(m.double(), 2))  # noqa: E731
    assert scope["links"][:4] == pytest.approx([norm(j) for j in J[1:5]], rel=1e-5) and scope["links"][-1] is None
    products = [J[4] @ J[3] @ J[2] @ J[1], J[4] @ J[3] @ J[2], J[4] @ J[3], J[4]]
    assert scope["products"][:5] == pytest.approx([*(norm(p) for p in products), 1.0], rel=1e-4)
    assert all(p <= b * (1 + 1e-6) for p, b in zip(scope["products"][:5], scope["bounds"][:5], strict=True))
    assert set(scope["products"][5:]) <= {None}


def test_truncation_cuts_the_way() -> None:
    engine = trained(cell="gru", truncate=2)
    result = measure(engine, row=3)
    (scope,) = result["scopes"]
    assert result["truncate"] == 2 and scope["links"][1] is None and scope["links"][0] is not None
    assert scope["products"][:4] == [None, None, pytest.approx(scope["products"][2]), 1.0]
    assert scope["signals"][0] == scope["signals"][1] == 0.0 and scope["signals"][2] > 0


@pytest.mark.parametrize("architecture", ["bahdanau", "luong", "fixed_context", "lstmn"])
def test_any_loop_is_found_and_nothing_changes(architecture: str) -> None:
    engine = trained(architecture, stages=4)
    before = engine.digest()
    result = measure(engine, request=1)
    assert result["scopes"] and all(len(s["gradients"]) == len(result["losses"]) for s in result["scopes"])
    assert any(g > 0 for s in result["scopes"] for g in s["gradients"]) and engine.digest() == before


def test_what_has_no_time_loop_says_so_by_having_no_scope() -> None:
    engine = opened("decoder_only", phase="train")
    do(engine, Step(unit="stage"))
    assert measure(engine)["scopes"] == []


@pytest.mark.parametrize("arguments", [{"row": 99}, {"request": 5}, {"row": True}, {"depth": 1}])
def test_wrong_arguments_say_what_is_allowed(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="allowed"):
        measure(trained(), **arguments)


def test_before_a_batch_there_is_nothing_to_go_back_from() -> None:
    with pytest.raises(Refused, match="Step to a batch"):
        measure(opened("recurrent", phase="train"))
