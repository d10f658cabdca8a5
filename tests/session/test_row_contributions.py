"""Which rows pushed a parameter, against outer products that are made by hand from recorded inputs and gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from app.session.analyses import row_contributions
from app.session.analyses.row_contributions import Catching, Use
from app.session.commands import Analyse, Back, Enter, Step
from app.session.engine import Engine
from app.session.events import Analysis, Refused
from app.session.updating import Update
from tests.session.driving import do, of, opened

BACKWARD = ("step", "stage", "stage", "stage", "stage")


def trained(architecture: str, units: tuple[str, ...] = ("step", "step"), **fields: Any) -> Engine:
    engine = opened(architecture, phase="train", **fields)
    for unit in units:
        do(engine, Step(unit=unit))  # type: ignore[arg-type]
    return engine


def update_of(engine: Engine) -> Update:
    assert engine.standing.update is not None and engine.standing.update.lesson is not None
    return engine.standing.update


def measure(engine: Engine, parameter: str, request: int = 0) -> dict[str, Any]:
    asked = Analyse(name="row_contributions", arguments={"parameter": parameter, "request": request})
    found = of(do(engine, asked), Analysis)
    assert [a.progress for a in found] == sorted(a.progress for a in found)
    result = found[-1].result
    assert result is not None
    return result


def norms(result: dict[str, Any], owner: str = "t") -> Tensor:
    return torch.tensor([r["norm"] for r in result["rows"] if r["owner"] == owner])


@pytest.mark.parametrize("units", [BACKWARD, ("step", "step")], ids=["after backward", "after update"])
def test_the_rows_of_a_product_push_by_their_outer_products(units: tuple[str, ...]) -> None:
    engine = trained("decoder_only", units)
    update, before = update_of(engine), engine.digest()
    result = measure(engine, "decoder.layer0.self.W_K.weight", 1)
    x = update.tape.records["decoder.layer0.self.norm"].value[1]
    g = update.tape.gradients["decoder.layer0.self.k"][1].transpose(0, 1).flatten(1)
    count = len(result["rows"])
    assert count == update.extent[1][1]
    assert_close(norms(result), (x.norm(dim=-1) * g.norm(dim=-1))[:count], atol=1e-6, rtol=1e-4)
    assert result["by"] == "application"
    assert result["whole"] == pytest.approx(result["recorded"], rel=1e-4)
    assert engine.digest() == before, "it must change nothing of the run"


def test_a_matrix_that_is_used_twice_adds_up_both_uses() -> None:
    engine = trained("decoder_only")
    update = update_of(engine)
    assert update.lesson is not None
    result = measure(engine, "decoder.embedding.token.weight")
    read_in, out = update.tape.gradients["decoder.embedding.token"][0], update.tape.gradients["logits"][0]
    final, ids = update.tape.records["decoder.final"].value[0], update.lesson.inputs.values[0]
    expected = []
    for t in range(update.extent[1][0]):
        part = torch.outer(out[t], final[t])
        part[ids[t]] += read_in[t]
        expected.append(part.norm())
    assert_close(norms(result), torch.stack(expected), atol=1e-6, rtol=1e-4)


SOURCE = ("decoder.layer0.cross.W_V.weight", "encoder.layer0.ffn.W_1.bias", "encoder.embedding.token.weight")


@pytest.mark.parametrize("name", SOURCE)
def test_rows_of_the_source_push_what_is_applied_to_them(name: str) -> None:
    engine = trained("encoder_decoder")
    results = [measure(engine, name, b) for b in range(3)]
    lesson = update_of(engine).lesson
    assert lesson is not None and lesson.source is not None
    assert [len(norms(r, "s")) for r in results] == lesson.source.lengths.tolist()
    assert all(r["by"] == "application" and max(norms(r, "s")) > 0 for r in results)


def test_rows_of_the_loss_stand_in_where_a_parameter_is_not_applied_to_rows() -> None:
    """Between this bias and the loss lie only the scores of the same row: told either way it is the same."""
    engine = trained("decoder_only", BACKWARD)
    update = update_of(engine)
    assert update.lesson is not None
    losses, _ = row_contributions._losses(engine.learner.model, update.scenario, update.lesson, update.number)
    bias = dict(engine.learner.model.named_parameters())["decoder.final.bias"]
    by_loss = [part.norm() for part in row_contributions._by_loss(losses, update.lesson, bias, 2)]
    assert_close(torch.stack(by_loss), norms(measure(engine, "decoder.final.bias", 2)), atol=1e-7, rtol=1e-4)


def test_a_call_is_caught_with_the_axis_of_its_rows() -> None:
    w = torch.ones(8, requires_grad=True)
    with Catching(w) as caught:
        (torch.ones(2, 5, 8) * w).sum() + (w.view(2, 4)).sum()
    assert [use.row_axis({"b": 2, "t": 5, "s": 4}) for use in caught.uses] == [("t", 1), ("s", 1)]
    assert Use(torch.add, (), {}, torch.zeros(5, 2)).row_axis({"b": 2, "t": 5}) is None


def test_what_is_asked_wrongly_is_refused_with_what_is_allowed() -> None:
    engine = trained("decoder_only", ("step",))
    bias = {"parameter": "decoder.final.bias"}
    for arguments, words in (
        ({"parameter": "W"}, "parameter 'W' is unknown"),
        (bias | {"request": 3}, "request was given 3; allowed: a whole number from 0 to 2"),
        ({"row": 1}, "row_contributions has no argument 'row'"),
    ):
        with pytest.raises(Refused, match=words):
            do(engine, Analyse(name="row_contributions", arguments=arguments))
    for command in (Back(), Enter(phase="decode")):
        do(engine, command)
        with pytest.raises(Refused, match="Step there first"):
            do(engine, Analyse(name="row_contributions", arguments=bias))
