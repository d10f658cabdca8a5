"""Norms of a state's Jacobians, against cells worked by hand and against torch.autograd.functional."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd.functional import jacobian
from torch.testing import assert_close

from app.session.commands import Analyse, Change, Step
from app.session.engine import Engine
from app.session.events import Analysis, Refused
from models.parts.tap import OFF
from tests.session.driving import do, of, opened

WORDS = ({"target": ["the", "black", "cat"]},)


def measure(engine: Engine, **arguments: Any) -> dict[str, Any]:
    found = of(do(engine, Analyse(name="state_jacobian", arguments=arguments)), Analysis)
    assert [a.progress for a in found] == sorted(a.progress for a in found)
    assert found[-1].result is not None
    return found[-1].result


def recurrent(cell: str, **more: Any) -> Engine:
    engine = opened("recurrent", config={"cell": cell, "width": 8, "d_token": 4, **more}, requests=WORDS, phase="prefill")
    do(engine, Step())
    return engine


def spectral(matrix: Tensor) -> float:
    return float(torch.linalg.matrix_norm(matrix.double(), 2))


def states(engine: Engine, layer: int = 0) -> list[Tensor]:
    """The whole state of one layer after each row `[n]`, with the model alone."""
    model: Any = engine.learner.model
    ids = torch.tensor([[1, *engine_ids(engine)]])
    x, state, out = model.token(ids), model.recurrence.initial(1, model.token.weight), []
    for row in range(ids.shape[1]):
        _, state = model.recurrence.step(x[:, row], state, OFF)
        out.append(torch.cat([s[0] for s in state[layer]]).detach())
    return out


def engine_ids(engine: Engine) -> list[int]:
    return [r.id for r in engine.moved(()).requests[0].target[1:]]


def test_a_tanh_cell_by_hand() -> None:
    engine = recurrent("tanh")
    model: Any = engine.learner.model
    U = model.recurrence.layers[0].U.weight.detach()
    after = states(engine)
    by_hand = [torch.diag(1 - h**2) @ U for h in after]  # d tanh(a) / d h = diag(1 - tanh(a)^2) U
    result = measure(engine, since=1)
    (scope,) = result["scopes"]
    assert (scope["scope"], scope["owner"], scope["states"], result["norm"]) == ("recurrence.layer0", "t", ["hidden"], "spectral")
    assert scope["norms"][0] is None
    assert scope["norms"][1:] == pytest.approx([spectral(j) for j in by_hand[1:]], rel=1e-5)
    assert scope["products"][:2] == [None, None]
    assert scope["products"][2:] == pytest.approx([spectral(by_hand[2]), spectral(by_hand[3] @ by_hand[2])], rel=1e-5)


@pytest.mark.parametrize("cell", ["tanh", "gru", "lstm", "lstm_1997"])
def test_every_cell_against_the_jacobian_of_torch(cell: str) -> None:
    engine = recurrent(cell, layers=2)
    model: Any = engine.learner.model
    result = measure(engine)
    x = model.token(torch.tensor([[1, *engine_ids(engine)]])).detach()
    below = states(engine, 0)
    for layer in (0, 1):
        after, module = states(engine, layer), model.recurrence.layers[layer]
        for row in (1, 3):
            given = x[0, row] if layer == 0 else below[row][:8]

            def step(whole: Tensor, module: Any = module, given: Tensor = given) -> Tensor:
                new = module(module.W(given[None]), tuple(whole[None].split(8, -1)), OFF)
                return torch.cat(new, -1)[0]

            expected = spectral(jacobian(step, after[row - 1]))
            assert result["scopes"][layer]["norms"][row] == pytest.approx(expected, rel=1e-4)


def test_it_changes_nothing_and_reads_both_chains() -> None:
    engine = opened("sutskever_2014", phase="prefill", config={"layers": 2, "width": 8, "d_token": 4})
    do(engine, Step())
    before = engine.digest()
    result = measure(engine)
    by = {s["scope"]: s for s in result["scopes"]}
    assert {s["owner"] for s in by.values()} == {"s", "t"}
    source = by["encoder.layer0"]
    assert source["order"] == "backward", "this encoder reads its last row first"
    assert source["norms"][-1] is None and None not in source["norms"][:-1]
    assert by["decoder.layer1"]["states"] == ["cell", "hidden"]
    assert engine.digest() == before


def test_where_the_gradient_is_cut_there_is_no_norm() -> None:
    (scope,) = measure(recurrent("gru", truncate=2))["scopes"]
    assert [n is None for n in scope["norms"]] == [True, False, True, False]


def test_in_training_it_is_the_batch_with_the_weights_before_the_update() -> None:
    engine = opened("recurrent", phase="train")
    with pytest.raises(Refused, match="once the batch is drawn"):
        measure(engine)
    do(engine, Step(unit="stage"))
    drawn = measure(engine, request=1)
    for _ in range(5):
        do(engine, Step(unit="stage"))
    updated = measure(engine, request=1)
    assert_close(torch.tensor(updated["scopes"][0]["norms"][1:]), torch.tensor(drawn["scopes"][0]["norms"][1:]))
    assert engine.standing.update is not None and engine.standing.update.lesson is not None
    assert len(drawn["scopes"][0]["norms"]) == int(engine.standing.update.lesson.inputs.lengths[1])


def test_it_goes_through_an_edit() -> None:
    """Where nothing is kept and nothing written, c = 0 and h = o tanh(0) = 0 whatever came before: nothing is passed on."""
    engine = recurrent("lstm")
    closed = [
        {"path": f"recurrence.layer0.{gate}", "index": [None, 2], "action": "scale", "value": 0.0} for gate in ("forget", "input")
    ]
    before = measure(engine)["scopes"][0]["norms"]
    do(engine, Change(fields={"edits": closed}))
    norms = measure(engine)["scopes"][0]["norms"]
    assert (norms[1], norms[2]) == (pytest.approx(before[1]), 0.0)
    assert norms[3] > 0.0


@pytest.mark.parametrize("arguments", [{"request": 5}, {"since": 99}, {"request": True}, {"row": 1}])
def test_wrong_arguments_say_what_is_allowed(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="allowed"):
        measure(recurrent("gru"), **arguments)
