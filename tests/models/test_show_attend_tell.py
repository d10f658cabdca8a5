"""Show, Attend and Tell against the paper's equations, worked out here row by row in NumPy, and its score against Keras.

No independent implementation of the whole model can be installed beside the other libraries, so `by_hand` follows Xu et al. 2015,
eqs. 1-9 and 13, and section 4.2.1, in loops over places and words. The gradient of hard attention is compared with the exact one:
the expected lower bound of a tiny case, every sequence of draws counted.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import Drawn, Inputs, Outputs, Rows
from models.parts.tap import OFF, Recorder
from models.show_attend_tell import Config, ShowAttendTell, draw
from models.tasks.objective import mean_loss, row_losses
from models.tasks.reinforce import rewards, settle, surrogate

SMALL: dict[str, Any] = {"width": 4, "channels": 8, "d_token": 4, "alignment": 5}


def _model(words: int = 7, **changes: Any) -> ShowAttendTell:
    torch.manual_seed(3)
    return ShowAttendTell(Config(**SMALL | changes), words).double()


def _pictures(lines: int = 8, width: int = 8) -> Rows:
    torch.manual_seed(4)
    return Rows(torch.rand(2, lines, width, dtype=torch.float64), torch.tensor([lines, lines]))


def _call(model: ShowAttendTell, source: Rows, ids: Tensor, tap: Any = OFF, chances: Tensor | None = None) -> Outputs:
    target = Rows(ids, torch.full((len(ids),), ids.shape[1]))
    return model(Inputs(target, source, chances=chances), model.initial_state(len(ids)), tap)[0]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def by_hand(model: ShowAttendTell, a: Any, ids: list[int], location: list[int] | None) -> Any:
    """Logits of one request from its annotations `[places, c]`; location: the place of each word, or None for soft attention."""
    w = {name: value.detach().numpy() for name, value in model.named_parameters()}
    mean = a.mean(0)
    h, c = np.tanh(w["f_h.weight"] @ mean + w["f_h.bias"]), np.tanh(w["f_c.weight"] @ mean + w["f_c.bias"])
    out = []
    for t, word in enumerate(ids):
        y = w["token.weight"][word]
        e = [w["score.v.weight"][0] @ np.tanh(w["score.W.weight"] @ h + w["score.U.weight"] @ a_i) for a_i in a]  # eq. 4
        alpha = np.exp(e) / np.exp(e).sum()  # eq. 5
        beta = _sigmoid(w["f_beta.weight"][0] @ h + w["f_beta.bias"][0])  # section 4.2.1
        z = beta * (sum(p * a_i for p, a_i in zip(alpha, a, strict=True)) if location is None else a[location[t]])  # eq. 13 or 9
        gates = w["decoder.layers.0.W.weight"] @ np.concatenate((y, z)) + w["decoder.layers.0.W.bias"]
        i, f, g, o = np.split(gates + w["decoder.layers.0.U.weight"] @ h, 4)  # eq. 1
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)  # eq. 2
        h = _sigmoid(o) * np.tanh(c)  # eq. 3
        deep = y + w["L_h.weight"] @ h + w["L_h.bias"] + w["L_z.weight"] @ z
        out.append(w["L_o.weight"] @ deep + w["L_o.bias"])  # eq. 7
    return np.stack(out)


@pytest.mark.parametrize("attention", ["soft", "hard"])
def test_the_equations_worked_by_hand(attention: str) -> None:
    model, source, ids = _model(attention=attention), _pictures(), torch.tensor([[1, 4, 5], [1, 6, 4]])
    chances = torch.tensor([[0.1, 0.9, 0.5], [0.6, 0.2, 0.99]], dtype=torch.float64)
    recorder = Recorder()
    logits = _call(model, source, ids, recorder, chances).values.detach()
    records = recorder.tape.finish().records
    for b in range(2):
        location = None
        if attention == "hard":
            taken = records["decoder.cross.location"].value[b, 0]
            assert bool((taken.sum(-1) == 1).all())
            location = taken.argmax(-1).tolist()
        a = records["encoder.annotations"].value[b].numpy()
        assert_close(logits[b], torch.tensor(by_hand(model, a, ids[b].tolist(), location)), atol=1e-12, rtol=0)


def test_a_place_sees_what_the_convolutions_reach() -> None:
    """The annotations by plain loops over pixels: three 3 x 3 filters, two poolings of 2 x 2, a LayerNorm."""
    model, source = _model(), _pictures(lines=8, width=8)
    recorder = Recorder()
    _call(model, source, torch.tensor([[1], [1]]), recorder)
    expected = source.values[1][None].numpy()
    for layer in (model.see.first, model.see.second, model.see.third):
        w, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()  # type: ignore[union-attr]
        around = np.pad(expected, ((0, 0), (1, 1), (1, 1)))
        y, x = expected.shape[1:]
        cells = itertools.product(range(y), range(x))
        flat = [(w * around[:, r : r + 3, q : q + 3]).sum((1, 2, 3)) + bias for r, q in cells]
        expected = np.stack(flat, -1).reshape(-1, y, x)
        if layer is not model.see.third:
            expected = np.maximum(expected, 0).reshape(len(w), y // 2, 2, x // 2, 2).max((2, 4))
    rows = expected.reshape(len(expected), -1).T
    rows = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    assert_close(recorder.tape.records["encoder.annotations"].value[1], torch.tensor(rows), atol=1e-10, rtol=0)


def test_the_score_is_that_of_keras() -> None:
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    model, source, ids = _model(gate=False), _pictures(), torch.tensor([[1], [1]])
    recorder = Recorder()
    _call(model, source, ids, recorder)
    records = recorder.tape.records
    layer = keras.layers.AdditiveAttention(use_scale=True)
    start = torch.tanh(model.f_h(records["encoder.mean"].value))
    query, keys = model.score.W(start)[:, None].detach().float(), model.score.keys(records["encoder.annotations"].value).float()
    layer.build([query.shape, keys.shape, keys.shape])
    layer.set_weights([model.score.v.weight[0].detach().float().numpy()])
    read, weights = layer([query, records["encoder.annotations"].value.float(), keys.detach()], return_attention_scores=True)
    tape = recorder.tape.finish().records
    assert_close(weights[:, 0].detach().double(), tape["decoder.cross.weights"].value[:, 0, 0], atol=1e-6, rtol=0)
    assert_close(read[:, 0].detach().double(), tape["decoder.cross.context"].value[:, 0], atol=1e-6, rtol=0)


def test_each_place_is_drawn_as_often_as_its_weight_says() -> None:
    weights = torch.tensor([[[0.0, 0.5, 0.2, 0.0, 0.3, 0.0]]], dtype=torch.float64)
    chances = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    count = draw(weights.expand(1000, -1, -1), chances).sum(0)[0]
    assert count.tolist() == [0, 500, 200, 0, 300, 0]
    assert draw(weights, None)[0, 0].tolist() == [0, 1, 0, 0, 0, 0]
    edges = torch.tensor([0.0, 1 - 1e-16], dtype=torch.float64)  # the least and the most that a chance can be
    assert draw(weights.expand(2, -1, -1), edges)[:, 0].argmax(-1).tolist() == [1, 4]


def test_the_doubly_stochastic_term() -> None:
    """Eq. 14 by hand: lambda sum_i (1 - sum_t alpha_ti)^2, over the real rows of each request, per row."""
    model, source = _model(doubly=2.0), _pictures()
    target = Rows(torch.tensor([[1, 4, 5], [1, 6, 0]]), torch.tensor([3, 2]))
    recorder = Recorder()
    out, _ = model(Inputs(target, source), model.initial_state(2), recorder)
    weights = recorder.tape.finish().records["decoder.cross.weights"].value[:, 0]
    sums = [weights[0].sum(0), weights[1, :2].sum(0)]
    assert_close(out.penalties["doubly_stochastic"].detach(), 2.0 * sum(((1 - s) ** 2).sum() for s in sums) / 5)


def _loss(model: ShowAttendTell, source: Rows, ids: Tensor, chances: Tensor) -> tuple[Outputs, Tensor, Tensor]:
    out = _call(model, source, ids[:, :-1], chances=chances)
    return out, row_losses(out.values, ids[:, 1:]), torch.ones(len(ids), ids.shape[1] - 1, dtype=torch.bool)


def _gradients(model: ShowAttendTell) -> Tensor:
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    return torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for _, p in named])


def _exact(model: ShowAttendTell, source: Rows, ids: Tensor) -> Tensor:
    """Gradient of minus the expected lower bound per row: the sum over every sequence of places, differentiated as it stands."""
    rows, total, places = ids.shape[1] - 1, torch.zeros((), dtype=torch.float64), 4
    for sequence in itertools.product(range(places), repeat=rows):
        chances = torch.zeros(1, rows, dtype=torch.float64)
        for t in range(rows):  # a chance in the middle of the place that is wanted; its weight depends on the draws before it
            recorder = Recorder()
            _call(model, source, ids[:, :-1], recorder, chances)
            weights = recorder.tape.finish().records["decoder.cross.weights"].value[0, 0, t]
            chances[0, t] = weights[: sequence[t]].sum() + weights[sequence[t]] / 2
        out, losses, counted = _loss(model, source, ids, chances)
        assert out.drawn is not None
        log_p = out.drawn.log_p.sum()
        total = total + log_p.exp() * mean_loss(losses, counted)
    model.zero_grad()
    total.backward()
    return _gradients(model)


def test_reinforce_is_the_gradient_of_the_expected_lower_bound() -> None:
    """2 x 2 places, three words: all 64 sequences against the mean of many draws, within 3 standard errors."""
    model, source = _model(attention="hard", entropy=0.0, reward=1.0), _pictures()
    source = Rows(source.values[:1], source.lengths[:1])
    ids = torch.tensor([[1, 4, 5, 2]])
    with torch.no_grad():
        model.score.v.weight.mul_(4)  # so that the draws matter
        assert model.baseline is not None
        model.baseline.fill_(-5.0)  # any constant leaves the mean as it is
    exact = _exact(model, source, ids)
    draws, generator, found = 500, torch.Generator().manual_seed(5), []
    for _ in range(draws):
        out, losses, counted = _loss(model, source, ids, torch.rand(1, 3, generator=generator, dtype=torch.float64))
        assert out.drawn is not None
        model.zero_grad()
        (mean_loss(losses, counted) + surrogate(losses, counted, out.drawn)).backward()
        found.append(_gradients(model))
    estimates = torch.stack(found)
    # Along three fixed directions and along the exact gradient itself: each a mean of independent numbers.
    directions = torch.cat((exact[None], torch.randn(3, len(exact), generator=generator, dtype=torch.float64)))
    along = estimates @ directions.T
    error = along.std(0) / draws**0.5
    assert bool(((along.mean(0) - directions @ exact).abs() <= 3 * error).all())
    assert float(error[0]) < float(exact @ exact) / 5  # else three standard errors would allow anything


def test_the_baseline_follows_the_mean_reward() -> None:
    losses, counted = torch.tensor([[1.0, 2.0], [3.0, 9.0]]), torch.tensor([[True, True], [True, False]])
    assert rewards(losses, counted).tolist() == [-3.0, -3.0]
    drawn = Drawn(torch.tensor([[-1.0, -0.5], [-2.0, 0.0]]), torch.nn.Parameter(torch.tensor(-1.0), requires_grad=False), 0.5)
    # -0.5 * ((-3 + 1) * -1.5 + (-3 + 1) * -2) / 3
    assert_close(surrogate(losses, counted, drawn), torch.tensor(-0.5 * (3 + 4) / 3))
    settle(losses, counted, drawn)
    assert_close(drawn.baseline.data, torch.tensor(0.9 * -1 + 0.1 * -3))


@pytest.mark.parametrize("ink", ["none", "all", "one pixel"])
def test_pictures_with_nothing_to_see(ink: str) -> None:
    model, pixels = _model(), torch.zeros(1, 24, 24, dtype=torch.float64)
    if ink == "all":
        pixels += 1
    elif ink == "one pixel":
        pixels[0, 13, 2] = 1
    recorder = Recorder()
    logits = _call(model, Rows(pixels, torch.tensor([24])), torch.tensor([[1, 4]]), recorder).values
    weights = recorder.tape.finish().records["decoder.cross.weights"].value
    assert bool(logits.isfinite().all()) and weights.shape[-1] == 36
    assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
