"""Cells and their loop against torch.nn (fp64, 1e-12), Keras (reset before the product, fp32) and the texts' numbers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.testing import assert_close

from models.parts.cells import CellKind, Recurrence
from models.parts.tap import OFF, Recorder

WORKED = json.loads((Path(__file__).parents[2] / "models" / "worked_numbers.json").read_text())
INPUTS, WIDTH, LENGTHS = 5, 6, (4, 7, 1)
VALID = torch.arange(7) < torch.tensor(LENGTHS)[:, None]
LIBRARY: dict[str, Any] = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(7)


def rows() -> Tensor:
    return torch.randn(3, 7, INPUTS, dtype=torch.float64)


def recurrence(kind: CellKind, layers: int = 1) -> Any:
    model = Recurrence(kind, INPUTS, WIDTH, layers, "s").double()
    for parameter in model.parameters():
        nn.init.normal_(parameter, 0.0, 0.5)
    return model


def copy(cell: Any, library: nn.RNNBase, suffix: str) -> None:
    """Our parameters of one layer and direction into the library's; both order the gates alike."""
    zero = torch.zeros_like(cell.W.bias)
    bias = cell.U.bias if cell.U.bias is not None else zero
    pairs = {"weight_ih": cell.W.weight, "weight_hh": cell.U.weight, "bias_ih": cell.W.bias, "bias_hh": bias}
    with torch.no_grad():
        for name, value in pairs.items():
            getattr(library, name + suffix).copy_(value)


@pytest.mark.parametrize("kind", LIBRARY)
@pytest.mark.parametrize("layers", [1, 3])
def test_stacked_and_padded_equals_torch_packed(kind: str, layers: int) -> None:
    ours, x = recurrence(CellKind(kind, "carries", "after"), layers), rows()
    library = LIBRARY[kind](INPUTS, WIDTH, layers, batch_first=True, dtype=torch.float64)
    for i, cell in enumerate(ours.layers):
        copy(cell, library, f"_l{i}")
    packed, after = library(pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False))
    theirs, _ = pad_packed_sequence(packed, batch_first=True)
    top, states = ours(x, VALID, ours.initial(3, x), OFF)
    assert_close(top[VALID], theirs[VALID], atol=1e-12, rtol=0)
    finals = after if isinstance(after, tuple) else (after,)
    assert_close(tuple(torch.stack(s) for s in zip(*states, strict=True)), finals, atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", LIBRARY)
def test_both_directions_equal_torch_bidirectional(kind: str) -> None:
    right, left, x = recurrence(CellKind(kind, reset="after")), recurrence(CellKind(kind, reset="after")), rows()
    library = LIBRARY[kind](INPUTS, WIDTH, batch_first=True, bidirectional=True, dtype=torch.float64)
    copy(right.layers[0], library, "_l0")
    copy(left.layers[0], library, "_l0_reverse")
    packed, after = library(pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False))
    theirs, _ = pad_packed_sequence(packed, batch_first=True)
    forwards, last = right(x, VALID, right.initial(3, x), OFF)
    backwards, first = left(x, VALID, left.initial(3, x), OFF, backwards=True)
    assert_close(torch.cat((forwards, backwards), -1)[VALID], theirs[VALID], atol=1e-12, rtol=0)
    hidden = after[0] if isinstance(after, tuple) else after
    assert_close(torch.stack((last[0][0], first[0][0])), hidden, atol=1e-12, rtol=0)


def keras_gru(cell: Any, x: Tensor) -> Tensor:
    """Keras orders z, r, h and computes h' = z h + (1 - z) h~ with the reset gate before the product."""
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    layer = keras.layers.GRU(WIDTH, reset_after=False, return_sequences=True, dtype="float64")
    layer.build((3, 7, INPUTS))
    r, z, h = cell.W.weight.detach().chunk(3)
    br, bz, bh = cell.W.bias.detach().chunk(3)
    ur, uz = cell.U.weight.detach().chunk(2)
    kernels = (torch.cat((z, r, h)).T, torch.cat((uz, ur, cell.U_candidate.weight.detach())).T, torch.cat((bz, br, bh)))
    layer.set_weights([k.numpy() for k in kernels])
    return torch.as_tensor(layer(x))


def test_reset_before_the_product_equals_keras() -> None:
    ours, x = recurrence(CellKind("gru", "carries", "before")), rows()
    top, _ = ours(x, torch.ones(3, 7, dtype=torch.bool), ours.initial(3, x), OFF)
    # Keras computes in 32 bits whatever its layer is told.
    assert_close(top, keras_gru(ours.layers[0], x).to(top.dtype), atol=5e-7, rtol=0)


def test_what_writes_is_what_carries_with_the_gate_turned_round() -> None:
    carries, writes, x = recurrence(CellKind("gru", "carries")), recurrence(CellKind("gru", "writes")), rows()
    weights = {k: v.clone() for k, v in carries.state_dict().items()}
    for name, value in weights.items():  # sigmoid(-a) = 1 - sigmoid(a)
        if name.endswith(("W.weight", "W.bias", "U.weight")):
            value[WIDTH : 2 * WIDTH] *= -1
    writes.load_state_dict(weights)
    found = [model(x, VALID, model.initial(3, x), OFF)[0] for model in (carries, writes)]
    assert_close(found[1], found[0], atol=1e-12, rtol=0)


def test_lstm_of_1997_is_a_forget_gate_that_stays_open() -> None:
    old, new, x = recurrence(CellKind("lstm_1997")), recurrence(CellKind("lstm")), rows()
    i, g, o = (w.chunk(3) for w in (old.layers[0].W.weight, old.layers[0].W.bias, old.layers[0].U.weight))
    with torch.no_grad():
        for target, (a, b, c) in zip(
            (new.layers[0].W.weight, new.layers[0].W.bias, new.layers[0].U.weight), (i, g, o), strict=True
        ):
            target.copy_(torch.cat((a, torch.zeros_like(a), b, c)))
        new.layers[0].W.bias[WIDTH : 2 * WIDTH] = 1000.0
    found = [model(x, VALID, model.initial(3, x), OFF)[0] for model in (old, new)]
    assert_close(found[1], found[0], atol=1e-12, rtol=0)


def test_worked_gru_mix() -> None:
    """Section 0x03D: z of 0.9 keeps most of the old value."""
    w = WORKED["gru_mix"]
    cell = recurrence(CellKind("gru", "carries")).layers[0]
    z, candidate = (torch.tensor(w[name], dtype=torch.float64) for name in ("z", "h_candidate"))
    given = torch.zeros(1, 3 * WIDTH, dtype=torch.float64)
    given[0, WIDTH : WIDTH + 2], given[0, 2 * WIDTH : 2 * WIDTH + 2] = z.logit(), candidate.atanh()
    with torch.no_grad():
        for map_ in (cell.U, cell.U_candidate):
            map_.weight.zero_()
    before = torch.zeros(1, WIDTH, dtype=torch.float64)
    before[0, :2] = torch.tensor(w["h_prev"], dtype=torch.float64)
    (after,) = cell(given, (before,), OFF)
    assert_close(after[0, :2], torch.tensor(w["h_new"], dtype=torch.float64), atol=w["atol"], rtol=0)


@pytest.mark.parametrize("case", WORKED["jacobian_scalar"]["cases"], ids=lambda case: str(case["factor"]))
def test_worked_product_of_jacobians(case: dict[str, Any]) -> None:
    """Section 0x03B: a state that each step multiplies by `factor`, over so many steps, measured by autograd near 0."""
    ours: Any = Recurrence(CellKind("tanh"), 1, 1, 1, "t").double()
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.zero_()
        ours.layers[0].U.weight.fill_(case["factor"])
    start = torch.zeros(1, 1, dtype=torch.float64, requires_grad=True)  # tanh'(0) = 1
    steps = case["steps"]
    _, states = ours(torch.zeros(1, steps, 1).double(), torch.ones(1, steps, dtype=torch.bool), ((start,),), OFF)
    (product,) = torch.autograd.grad(states[0][0].sum(), start)
    assert_close(product.item(), case["product"], rtol=WORKED["jacobian_scalar"]["rtol"], atol=0)


def test_truncation_cuts_the_gradient_and_changes_no_number() -> None:
    ours, x = recurrence(CellKind("gru")), rows().requires_grad_()
    everywhere = torch.ones(3, 7, dtype=torch.bool)
    whole, _ = ours(x, everywhere, ours.initial(3, x), OFF)
    cut, _ = ours(x, everywhere, ours.initial(3, x), OFF, truncate=3)
    assert torch.equal(whole, cut)
    (gradient,) = torch.autograd.grad(cut[:, 6].sum(), x, retain_graph=True)
    assert (gradient[:, :6] == 0).all() and (gradient[:, 6] != 0).any()  # row 6 begins a group: rows 3-5 are cut off
    (gradient,) = torch.autograd.grad(cut[:, 5].sum(), x)
    assert (gradient[:, :3] == 0).all() and (gradient[:, 3:6] != 0).any((1, 2)).all()


def test_gates_and_states_are_tapes_over_rows() -> None:
    ours, x, recorder = recurrence(CellKind("lstm"), 2), rows(), Recorder()
    top, _ = ours(x, VALID, ours.initial(3, x), recorder)
    records = recorder.tape.finish().records
    names = {"input", "forget", "output", "candidate", "cell", "hidden"}
    assert {path.split(".")[1] for path in records} == names
    assert all(r.axes == ("b", "s", "n") for r in records.values())
    assert_close(records["layer1.hidden"].value[VALID], top[VALID].detach(), atol=0, rtol=0)
    gates = torch.cat([records[f"layer0.{gate}"].value for gate in ("input", "forget", "output")])
    assert ((gates > 0) & (gates < 1)).all()
