"""ConvS2S against values that an independent implementation gave (its name and settings are in the file's metadata)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from models import Inputs, Rows
from models.convs2s import HALF, Config, ConvS2S
from models.parts.tap import OFF, Recorder
from models.parts.tape import Tape
from models.parts.visibility import NoVisibleKey

GOLDEN = load_file(Path(__file__).parents[1] / "fixtures" / "convs2s.safetensors")
FIRST = 2  # their first real row has position 2
LENGTHS = torch.tensor([5, 3])
close = partial(assert_close, atol=1e-8, rtol=0)  # theirs rounds the scores to fp32 where a source is padded
LABELS = torch.tensor([5, 6, 7, 2, 8, 9, 4, 2])


def normalised(ours: str, theirs: str) -> Iterator[tuple[str, Tensor]]:
    """Theirs holds a convolution as [k, in, out], a linear map as [out, in]."""
    V, g = GOLDEN[f"weight.{theirs}.weight_v"], GOLDEN[f"weight.{theirs}.weight_g"]
    yield f"{ours}.V", V.permute(2, 0, 1).flatten(1) if V.dim() == 3 else V
    yield f"{ours}.g", g.flatten()
    yield f"{ours}.bias", GOLDEN[f"weight.{theirs}.bias"]


def weights() -> Iterator[tuple[str, Tensor]]:
    for ours, theirs in (("encoder.", "encoder."), ("", "decoder.")):
        yield f"{ours}embedding.token.weight", GOLDEN[f"weight.{theirs}embed_tokens.weight"]
        yield from normalised(f"{ours}enter", f"{theirs}fc1")
        yield from normalised(f"{ours}leave", f"{theirs}fc2")
        for i in (0, 1):
            yield from normalised(f"{ours}layers.{i}.W", f"{theirs}convolutions.{i}")
    for i in (0, 1):
        yield from normalised(f"reads.{i}.W_Q", f"decoder.attention.{i}.in_projection")
        yield from normalised(f"reads.{i}.W_O", f"decoder.attention.{i}.out_projection")
    yield from normalised("head", "decoder.fc3")


@pytest.fixture(scope="module")
def model() -> ConvS2S:
    one = ConvS2S(Config(layers=2, kernel=3, width=8), 12, 12).double()
    missing, unexpected = one.load_state_dict(dict(weights()), strict=False)
    assert missing == ["encoder.embedding.position.weight", "embedding.position.weight"] and not unexpected
    with torch.no_grad():
        for ours, theirs in ((one.encoder.embedding, "encoder"), (one.embedding, "decoder")):
            table = GOLDEN[f"weight.{theirs}.embed_positions.weight"][FIRST:]
            ours.position.weight[: len(table)] = table
    return one


def forward(model: ConvS2S) -> tuple[Tensor, Tape]:
    recorder = Recorder()
    source, target = Rows(GOLDEN["source"], LENGTHS), Rows(GOLDEN["target"], torch.tensor([4, 4]))
    out, _ = model(Inputs(target, source), model.initial_state(2), recorder)
    return out.values, recorder.tape.finish()


def test_logits_and_reads_are_theirs(model: ConvS2S) -> None:
    logits, tape = forward(model)
    close(logits, GOLDEN["logits"])
    reads = [tape.records[f"decoder.layer{i}.cross.weights"].value[:, 0] for i in (0, 1)]
    close(sum(reads) / 2, GOLDEN["attention"])


def test_gradients_are_theirs_and_the_encoders_are_slowed(model: ConvS2S) -> None:
    """Section 3.4: gradients that reach the encoder are divided by twice the number of reads; the decoder's are not."""
    model.zero_grad()
    F.cross_entropy(forward(model)[0].flatten(0, 1), LABELS).backward()
    found = {
        "encoder.fc1.weight_v": model.encoder.enter.V.grad,
        "encoder.embed_tokens.weight": model.encoder.embedding.token.weight.grad,
        "decoder.fc1.weight_v": model.enter.V.grad,
    }
    for name, gradient in found.items():
        close(gradient, GOLDEN[f"gradient.{name}"])


def test_windows_hold_the_rows_that_they_name(model: ConvS2S) -> None:
    _, tape = forward(model)
    x, seen = (tape.records[f"decoder.{name}"].value for name in ("enter", "layer0.window"))
    assert seen.shape == (2, 4, 3, 8)
    assert_close(seen[:, 3], x[:, 1:4], atol=0, rtol=0)
    assert_close(seen[:, 0, :2], torch.zeros(2, 2, 8).double(), atol=0, rtol=0)
    x, seen = (tape.records[f"encoder.{name}"].value for name in ("enter", "layer0.window"))
    assert_close(seen[0, 1], x[0, 0:3], atol=0, rtol=0)
    assert (seen[1, 2, 2] == 0).all(), "row 3 of request 1 is padding"
    summed = tape.records["decoder.layer0.sum"].value
    entered, unit = (tape.records[f"decoder.{name}"].value for name in ("enter", "layer0.cross.output"))
    assert_close(summed, (entered + unit) * HALF, atol=1e-12, rtol=0)


def test_too_many_rows_are_named(model: ConvS2S) -> None:
    long = Rows(torch.zeros(1, 129, dtype=torch.int64), torch.tensor([129]))
    with pytest.raises(ValueError, match="source rows: 129 given, at most 128"):
        model(Inputs(Rows(long.values[:, :1], torch.tensor([1])), long), model.initial_state(1), OFF)
    one = Rows(torch.zeros(1, 1, dtype=torch.int64), torch.tensor([1]))
    _, state = model(Inputs(long, one), model.initial_state(1), OFF)
    with pytest.raises(ValueError, match="target rows: 130 given, at most 129"):
        model(Inputs(one), state, OFF)


def test_an_empty_source_is_refused_by_name(model: ConvS2S) -> None:
    none, target = Rows(torch.zeros(1, 0, dtype=torch.int64), torch.tensor([0])), Rows(torch.tensor([[1]]), torch.tensor([1]))
    with pytest.raises(NoVisibleKey, match="row 0 of request 0 may read no key in relation 'cross'"):
        model(Inputs(target, none), model.initial_state(1), OFF)
