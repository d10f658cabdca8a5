"""Longformer against Hugging Face's (copied weights, fp32), and the band against the dense masked form."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close
from transformers import LongformerConfig, LongformerModel

from models import Inputs, Rows
from models.longformer import ALONE, GLOBAL, ROWS, Config, Longformer
from models.parts.band import Projected, Window, banded, bound, dense, edges, reach
from models.parts.tap import Recorder
from models.parts.visibility import Visibility

WORDS, HEADS, WIDTH = 50, 4, 16


def oracle(radius: int) -> LongformerModel:
    sizes = {"vocab_size": WORDS, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS}
    more = {"max_position_embeddings": ROWS + 2, "attention_window": [2 * radius] * 2, "pad_token_id": 1, "type_vocab_size": 2}
    made = LongformerModel(
        LongformerConfig(**sizes, **more, intermediate_size=32, sep_token_id=2), add_pooling_layer=False
    ).eval()
    for value in made.parameters():
        nn.init.normal_(value, 0.5 if value.dim() == 1 else 0.0, 0.3)
    return made


def _both(ours: str, theirs: str) -> dict[str, str]:
    return {f"{ours}.{kind}": f"{theirs}.{kind}" for kind in ("weight", "bias")}


def copied(model: Longformer, theirs: LongformerModel) -> Longformer:
    names = {
        "embedding.token.weight": "embeddings.word_embeddings.weight",
        "embedding.segment.weight": "embeddings.token_type_embeddings.weight",
    }
    names |= _both("embedding.norm", "embeddings.LayerNorm")
    for i in range(2):
        ours, layer = f"layer{i}", f"encoder.layer.{i}"
        for short, name in (("Q", "query"), ("K", "key"), ("V", "value")):
            names |= _both(f"{ours}.self.W_{short}", f"{layer}.attention.self.{name}")
            names |= _both(f"{ours}.self.W_{short}_global", f"{layer}.attention.self.{name}_global")
        names |= _both(f"{ours}.self.W_O", f"{layer}.attention.output.dense") | _both(
            f"{ours}.self.norm", f"{layer}.attention.output.LayerNorm"
        )
        names |= _both(f"{ours}.ffn.W_1", f"{layer}.intermediate.dense") | _both(f"{ours}.ffn.W_2", f"{layer}.output.dense")
        names |= _both(f"{ours}.ffn.norm", f"{layer}.output.LayerNorm")
    state: dict[str, Any] = theirs.state_dict()
    weights = {ours: state[name] for ours, name in names.items()}
    weights["embedding.position.weight"] = state["embeddings.position_embeddings.weight"][2:]  # theirs begin after the padding's
    model.encoder.load_state_dict(weights)
    return model


@pytest.mark.parametrize("rows", [(), (0,), (0, 9, 17)])
@torch.no_grad()
def test_huggingface(rows: tuple[int, ...]) -> None:
    torch.manual_seed(5)
    radius, n, lengths = 3, 24, torch.tensor([24, 19])
    theirs = oracle(radius)
    model = copied(Longformer(Config(layers=2, heads=HEADS, d_model=WIDTH, d_ff=32), GLOBAL, WORDS, 5), theirs)
    ids = torch.randint(4, WORDS, (2, n))
    valid = torch.arange(n) < lengths[:, None]
    visible = {"source_self": (Visibility("sliding", radius, global_rows=rows),) * 2}
    inputs = Inputs(Rows(ids[:, :0], torch.zeros(2, dtype=torch.int64)), Rows(ids, lengths), visible)
    ours = model.encode(inputs, Recorder())
    everywhere = torch.zeros(2, n, dtype=torch.int64)
    everywhere[:, list(rows)] = 1
    expected = theirs(ids.masked_fill(~valid, 1), valid.long(), everywhere).last_hidden_state
    assert_close(ours[valid], expected[valid], atol=2e-6, rtol=0)


def test_a_local_row_reads_a_global_key_by_the_ordinary_projections() -> None:
    """Only what global rows read depends on the global projections: with these changed, every other row's read stays as it is."""
    torch.manual_seed(5)
    model = Longformer(Config(layers=1, d_model=16), GLOBAL, WORDS, 5)
    inputs = Inputs(
        Rows(torch.zeros(1, 0, dtype=torch.int64), torch.tensor([0])), Rows(torch.randint(4, WORDS, (1, 12)), torch.tensor([12]))
    )
    before, after = Recorder(), Recorder()
    model.encode(inputs, before)
    with torch.no_grad():
        model.encoder.get_submodule("layer0.self").W_Q_global.weight.mul_(3)  # type: ignore[union-attr, operator]
    model.encode(inputs, after)
    change = [r.tape.finish().records["encoder.layer0.self.weights"].value for r in (before, after)]
    moved = (change[0] - change[1]).abs().amax((0, 1, 3))
    assert moved[0] > 1e-4 and moved[1:].max() == 0


def projected(n: int, seed: int) -> Projected:
    made = torch.Generator().manual_seed(seed)
    return Projected(*(torch.randn(2, 2, n, 4, generator=made, dtype=torch.float64) for _ in range(3)))


def mask_of(window: Window, n: int, valid: Tensor) -> Tensor:
    seen = Visibility("sliding", window.radius, every=window.dilation, global_rows=window.rows).dense(n, n)
    return seen & valid[:, None, :]


WINDOWS = st.builds(
    Window,
    st.integers(0, 12),
    st.integers(1, 40),
    st.lists(st.integers(0, 34), max_size=4).map(tuple),
)


@given(WINDOWS, st.integers(1, 30), st.booleans(), st.integers(0, 10_000))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_the_band_is_the_dense_masked_form(window: Window, n: int, separate: bool, seed: int) -> None:
    local, wide = projected(n, seed), projected(n, seed + 1) if separate else None
    valid = torch.arange(n) < torch.tensor([n, 1 + seed % n])[:, None]
    mask = mask_of(window, n, valid)
    assert_close(banded(local, window, valid, wide), dense(local, mask, window.of(n), wide), atol=1e-12, rtol=0)


@given(WINDOWS, st.integers(1, 40))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_edges_are_counted_exactly_and_within_the_bound(window: Window, n: int) -> None:
    count = edges(window, n)
    assert count == int(Visibility("sliding", window.radius, every=window.dilation, global_rows=window.rows).dense(n, n).sum())
    assert count <= bound(window, n)


def test_edges_of_the_text() -> None:
    """Worked by hand: n = 6, r = 1: 2 + 3 + 3 + 3 + 3 + 2 = 16; row 0 global opens 4 more in its row, 4 in its column."""
    assert edges(Window(1), 6) == 16 and edges(Window(1, 1, (0,)), 6) == 24
    assert bound(Window(1, 1, (0,)), 6) == 30 and reach(Window(8), 2) == 16 and reach(Window(2, 3), 4) == 24


@pytest.mark.parametrize(
    ("window", "n"),
    [
        (Window(0), 5),
        (Window(3, 50), 5),
        (Window(2, 1, (0, 1, 2, 3, 4)), 5),
        (Window(4), 1),
        (Window(900), 5),
        (Window(1, 1, (77,)), 5),
    ],
)
def test_windows_at_the_edge(window: Window, n: int) -> None:
    """Radius 0, dilation beyond the length, every row global, one token, a radius or a global row beyond the length."""
    local, wide = projected(n, 3), projected(n, 4)
    valid = torch.ones(2, n, dtype=torch.bool)
    mixed = banded(local, window, valid, wide)
    assert mixed.isfinite().all() and mixed.shape == local.v.shape
    assert_close(mixed, dense(local, mask_of(window, n, valid), window.of(n), wide), atol=1e-12, rtol=0)
    if window.radius == 0 or window.dilation > n:
        assert_close(mixed, local.v)


def test_the_band_has_the_gradients_of_the_dense_form() -> None:
    window, valid = Window(2, 2, (0, 7)), torch.arange(13) < torch.tensor([13, 9])[:, None]
    found = []
    for form in (lambda x: banded(x, window, valid), lambda x: dense(x, mask_of(window, 13, valid))):
        x = projected(13, 3)
        leaves = [t.requires_grad_() for t in (x.q, x.k, x.v)]
        form(x)[valid[:, None].expand(2, 2, 13)].square().sum().backward()
        found.append([leaf.grad for leaf in leaves])
    assert_close(found[0], found[1], atol=1e-12, rtol=0)


@torch.no_grad()
def test_without_a_global_row_the_first_knows_its_reach_and_no_more() -> None:
    torch.manual_seed(5)
    model = Longformer(Config(layers=2), ALONE, WORDS, 5).double()
    ids = torch.randint(4, WORDS, (1, 40))

    def first(values: Tensor) -> Tensor:
        none = Rows(values[:, :0], torch.tensor([0]))
        return model.encode(Inputs(none, Rows(values, torch.tensor([40]))), Recorder())[0, 0]

    far, near = ids.clone(), ids.clone()
    far[0, 17], near[0, 16] = (far[0, 17] - 3) % 40 + 4, (near[0, 16] - 3) % 40 + 4
    assert torch.equal(first(far), first(ids)) and not torch.equal(first(near), first(ids))
