"""Parts of a block that do not fit each other are refused with their names, and shared objects are one by identity."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from models import Inputs, Rows
from models.catalogue import read_config
from models.parts.blocks import BlockConfig, check
from models.parts.places import Rotary
from models.parts.tap import OFF, Recorder
from models.transformer import DECODER_ONLY, DecoderOnly, DecoderOnlyConfig


@pytest.mark.parametrize(
    ("given", "field", "allowed"),
    [
        ({"heads": 3}, "heads", "a divisor of the model width 64"),
        ({"position": "rope", "factor": 0}, "factor", "a number from 1.0 to 64.0"),
        ({"position": "rope", "factor": -2.0}, "factor", "a number from 1.0 to 64.0"),
        ({"position": "rope", "base": 1}, "base", "a whole number from 10 to 1000000"),
        (
            {"position": "rope", "d_model": 16, "heads": 8, "scaling": "ntk"},
            "scaling",
            "none, linear or yarn with heads of width 2",
        ),
        ({"norm_kind": "group"}, "norm_kind", "one of ['layer', 'rms', 'batch', 'none']"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given: dict[str, Any], field: str, allowed: str) -> None:
    config, problems = read_config(DECODER_ONLY, given)
    assert config is None and problems[0][0] == field and allowed in problems[0][2]


def test_heads_of_an_odd_width_do_not_turn() -> None:
    (field, given, allowed) = check(BlockConfig(d_model=36, heads=4, position="rope"))[0]
    assert (field, given) == ("heads", 4) and "9 is odd" in allowed


def model(**parts: Any) -> DecoderOnly:
    torch.manual_seed(2)
    return DecoderOnly(DecoderOnlyConfig(d_model=16, d_ff=32, heads=2, **parts), 11)


def layers(made: DecoderOnly) -> list[Any]:
    return [block for _, block in made.decoder.blocks()]


def test_independent_layers_share_nothing() -> None:
    first, second = layers(model())
    assert not {id(p) for p in first.parameters()} & {id(p) for p in second.parameters()}


def test_depth_shared_layers_are_one_object_called_twice() -> None:
    made = model(sharing="depth")
    first, second = layers(made)
    assert first is second and {n.split(".")[1] for n, _ in made.named_parameters() if "layer" in n} == {"layer0"}


def test_aliased_reads_are_one_and_their_gradients_add_up() -> None:
    made, apart = model(sharing="aliased"), model()
    first, second = layers(made)
    assert first.self.W_Q is second.self.W_Q and first.ffn.W_1 is not second.ffn.W_1
    apart.load_state_dict(made.state_dict())
    rows = Inputs(Rows(torch.tensor([[1, 4, 5, 6]]), torch.tensor([4])))
    for one in (made, apart):
        one(rows, one.initial_state(1), OFF)[0].values.square().sum().backward()
    both = sum(block.self.W_V.weight.grad for block in layers(apart))
    torch.testing.assert_close(first.self.W_V.weight.grad, both)


def test_a_tied_head_is_named() -> None:
    assert model().ties == {"head.weight": "decoder.embedding.token.weight"} and model(tied=False).ties == {}


def test_all_layers_see_one_table_of_distances() -> None:
    first, second = layers(model(position="bias"))
    assert first.self.place is second.self.place
    assert isinstance(layers(model(position="rope"))[0].self.place, Rotary)


@pytest.mark.parametrize("projections", ["shared_qk", "one_matrix"])
def test_scores_are_symmetric_where_queries_are_keys(projections: str) -> None:
    made, recorder = model(projections=projections, position="none"), Recorder()
    made(Inputs(Rows(torch.tensor([[1, 4, 5, 6]]), torch.tensor([4]))), made.initial_state(1), recorder)
    scores = recorder.tape.records["decoder.layer0.self.scores"].value
    torch.testing.assert_close(scores, scores.transpose(-1, -2))
