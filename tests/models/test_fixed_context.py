"""What a fixed context promises: the decoder learns nothing of a source but its summary."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import Inputs, Rows
from models.fixed_context import REDUCTIONS, ChoConfig, Config, Decoder, FixedContext, SutskeverConfig
from models.parts.tap import OFF, Editor, Recorder

WORDS = 23
CONFIGS = [
    *(Config(reduction=r, delivery=d) for r in REDUCTIONS for d in ("initial", "every_step", "both")),
    ChoConfig(),
    SutskeverConfig(),
]
TARGET = Rows(torch.tensor([[1, 6, 9, 5]]), torch.tensor([4]))


def model(config: Config) -> FixedContext:
    torch.manual_seed(2)
    return FixedContext(config, WORDS, WORDS).double()


def source(*ids: int) -> Rows:
    return Rows(torch.tensor([ids]), torch.tensor([len(ids)]))


def logits(one: FixedContext, given: Rows, tap: Any = OFF) -> Tensor:
    return one(Inputs(TARGET, given), one.initial_state(1), tap)[0].values.detach()


def test_the_decoder_takes_no_encoder_states() -> None:
    assert list(inspect.signature(Decoder.forward).parameters) == ["self", "target", "states", "c", "tap"]


def _instead(value: Tensor, *_: Any) -> Tensor:
    return value


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{type(c).__name__}-{c.reduction}-{c.delivery}")
def test_two_sources_with_one_summary_give_one_distribution(config: Config) -> None:
    """What is handed over of one source is put in the place of what is handed over of another: their outputs are equal."""
    one, recorder = model(config), Recorder()
    wanted = logits(one, source(4, 8, 7), recorder)
    handed = [path for path in recorder.tape.finish().records if path.startswith(("encoder.summary", "encoder.initial"))]
    values = {path: recorder.tape.records[path].value for path in handed}
    other = source(11, 5, 13, 9, 6)
    assert not torch.equal(logits(one, other), wanted)
    swapped = logits(one, other, Editor({path: partial(_instead, values[path]) for path in handed}))
    assert_close(swapped, wanted, atol=0, rtol=0)


@pytest.mark.parametrize("reduction", ["final", "projected", "hidden_cell"])
def test_a_state_that_is_not_handed_over_cannot_change_the_output(reduction: str) -> None:
    """The recorded states of earlier source rows are replaced after the loop read them: only the last one leaves the encoder."""
    one = model(Config(reduction=reduction, delivery="both"))
    given = source(4, 8, 7, 5)
    embedded = one.encoder.token(given.values)
    rows, after = one.encoder.forwards(embedded, given.valid, one.encoder.forwards.initial(1, embedded), OFF)
    stirred = rows + torch.randn_like(rows)
    stirred[:, -1] = rows[:, -1]
    before, changed = (one.encoder.reduce(r, given.valid, after[-1][0], OFF) for r in (rows, stirred))
    assert torch.equal(before, changed)


def test_reversal_reads_the_source_backwards() -> None:
    plain, turned = model(Config(reverse=False)), model(Config(reverse=True))
    turned.load_state_dict(plain.state_dict())
    assert_close(logits(turned, source(4, 8, 7)), logits(plain, source(7, 8, 4)), atol=1e-12, rtol=0)


@pytest.mark.parametrize(("reduction", "expected"), [("mean", lambda r: r.mean(1)), ("max", lambda r: r.amax(1))])
def test_mean_and_max_count_real_rows_alone(reduction: str, expected: Any) -> None:
    encoder = model(Config(reduction=reduction)).encoder
    rows = torch.randn(1, 3, 120, dtype=torch.float64) - 3.0  # all below the padding's zeros
    padded = torch.cat((rows, torch.zeros(1, 2, 120, dtype=torch.float64)), 1)
    valid = torch.tensor([[True, True, True, False, False]])
    assert_close(encoder.reduce(padded, valid, rows[:, -1], OFF), expected(rows), atol=1e-12, rtol=0)


def test_pooling_is_a_softmax_over_real_rows() -> None:
    recorder = Recorder()
    both = Rows(torch.tensor([[4, 8, 7], [5, 6, 6]]), torch.tensor([3, 1]))
    one = model(Config(reduction="pooled"))
    target = Rows(TARGET.values.expand(2, -1), torch.tensor([4, 4]))
    one(Inputs(target, both), one.initial_state(2), recorder)
    weights = recorder.tape.finish().records["encoder.pool.weights"].value
    assert_close(weights.sum(-1), torch.ones(2).double(), atol=1e-12, rtol=0)
    assert weights[1].tolist() == [1.0, 0.0, 0.0]


def test_sutskever_hands_over_hidden_and_cell_of_every_layer() -> None:
    one = model(SutskeverConfig())
    given = source(4, 8, 7)
    x = one.encoder.token(given.values)
    _, after = one.encoder.forwards(x, given.valid, one.encoder.forwards.initial(1, x), OFF, backwards=True)
    none = Rows(torch.zeros(1, 0, dtype=torch.int64), torch.tensor([0]))
    _, state = one(Inputs(none, given), one.initial_state(1), OFF)
    assert_close(state.layers, after, atol=0, rtol=0)
    assert list(state.kept()) == [f"decoder.layer{i}.{name}" for i in (0, 1) for name in ("hidden", "cell")]


def test_cho_readout_by_hand() -> None:
    """Appendix A.1.2: pieces from the state, the last token and c; the larger of each pair goes on."""
    one, recorder = model(ChoConfig(width=4, d_token=3)), Recorder()
    out = logits(one, source(4, 8), recorder)
    r = recorder.tape.finish().records
    state, token, c = (r[f"decoder.{name}"].value for name in ("layer0.hidden", "token", "summary"))
    d = one.decoder
    assert d.deep is not None
    for t in range(4):
        pieces = d.deep.weight @ torch.cat((state[0, t], token[0, t], c[0])) + d.deep.bias
        best = torch.stack([torch.maximum(pieces[2 * i], pieces[2 * i + 1]) for i in range(4)])
        assert_close(out[0, t], (d.head.weight @ best + d.head.bias).detach(), atol=1e-12, rtol=0)
