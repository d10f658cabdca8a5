"""T5 against Hugging Face's, with copied weights (fp32): both feed-forward kinds, tied and untied, whole and cached."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close
from transformers import T5Config, T5ForConditionalGeneration

from models import Inputs, Rows
from models.parts.tap import OFF, Recorder
from models.t5 import T5, Config

WORDS, LAYERS = 50, 2


def oracle(kind: str, tied: bool) -> T5ForConditionalGeneration:
    sizes = {"vocab_size": WORDS, "d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": LAYERS, "num_heads": 4}
    bias = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 64}
    style: dict[str, Any] = {"feed_forward_proj": kind, "tie_word_embeddings": tied, "scale_decoder_outputs": tied}
    style["attn_implementation"] = "eager"
    made = T5ForConditionalGeneration(T5Config(**sizes, **bias, **style, decoder_start_token_id=0)).eval()
    if not tied:  # a fresh one shares them all the same
        made.lm_head.weight = nn.Parameter(torch.empty(WORDS, 16))
    for value in made.parameters():
        nn.init.normal_(value, 0.5 if value.dim() == 1 else 0.0, 0.3)
    return made


def attention(ours: str, theirs: str, name: str) -> dict[str, str]:
    return {f"{ours}.W_{short}.weight": f"{theirs}.{name}.{short.lower()}.weight" for short in "QKVO"}


def block(stack: str, i: int, gated: bool) -> dict[str, str]:
    ours, theirs, last = f"{stack}.layer{i}", f"{stack}.block.{i}.layer", 2 if stack == "decoder" else 1
    names = attention(f"{ours}.self", f"{theirs}.0", "SelfAttention") | {
        f"{ours}.self.norm.weight": f"{theirs}.0.layer_norm.weight"
    }
    names[f"{ours}.self.place.table.weight"] = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    if stack == "decoder":
        names |= attention(f"{ours}.cross", f"{theirs}.1", "EncDecAttention")
        names[f"{ours}.cross.norm.weight"] = f"{theirs}.1.layer_norm.weight"
    inner = f"{theirs}.{last}.DenseReluDense"
    kinds = {"W_1": "wi_0", "W_3": "wi_1", "W_2": "wo"} if gated else {"W_1": "wi", "W_2": "wo"}
    names |= {f"{ours}.ffn.{own}.weight": f"{inner}.{name}.weight" for own, name in kinds.items()}
    return names | {f"{ours}.ffn.norm.weight": f"{theirs}.{last}.layer_norm.weight"}


def ours(theirs: T5ForConditionalGeneration, kind: str, tied: bool) -> T5:
    gated = kind != "relu"
    names = {f"{stack}.embedding.token.weight": "shared.weight" for stack in ("encoder", "decoder")}
    names |= {f"{stack}.final.weight": f"{stack}.final_layer_norm.weight" for stack in ("encoder", "decoder")}
    for stack in ("encoder", "decoder"):
        for i in range(LAYERS):
            names |= block(stack, i, gated)
    names |= {} if tied else {"head.weight": "lm_head.weight"}
    state: dict[str, Any] = theirs.state_dict()
    feed_forward = "gated_gelu" if gated else "relu"
    model = T5(Config(layers=LAYERS, heads=4, d_model=16, d_ff=32, feed_forward=feed_forward, buckets=8, tied=tied), WORDS)
    model.load_state_dict({own: torch.clone(state[name]) for own, name in names.items()})
    return model


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", ["relu", "gated-gelu"])
@torch.no_grad()
def test_huggingface(kind: str, tied: bool) -> None:
    torch.manual_seed(5)
    theirs = oracle(kind, tied)
    model = ours(theirs, kind, tied)
    source = Rows(torch.randint(4, WORDS, (2, 30)), torch.tensor([30, 21]))
    target = Rows(torch.randint(4, WORDS, (2, 25)), torch.tensor([25, 25]))
    recorder = Recorder()
    out, _ = model(Inputs(target, source), model.initial_state(2), recorder)
    expected = theirs(
        input_ids=source.values, attention_mask=source.valid.long(), decoder_input_ids=target.values, output_attentions=True
    )
    assert_close(out.values, expected.logits, atol=2e-6, rtol=0)
    for layer in range(LAYERS):
        reads = {"encoder.{}.self": "encoder", "decoder.{}.self": "decoder", "decoder.{}.cross": "cross"}
        for path, name in reads.items():
            weights = getattr(expected, f"{name}_attentions")[layer]
            own = recorder.tape.records[f"{path.format(f'layer{layer}')}.weights"].value
            rows = source.valid if name == "encoder" else target.valid
            assert_close(own.transpose(1, 2)[rows], weights.transpose(1, 2)[rows], atol=2e-6, rtol=0)
    assert_close(stepwise(model, source, target), out.values, atol=2e-6, rtol=0)


def stepwise(model: T5, source: Rows, target: Rows) -> Tensor:
    """Row by row, with the cache: the bias of a distance is that of absolute rows."""
    state, given, found = model.initial_state(2), source, []
    for t in range(target.values.shape[1]):
        row = Rows(target.values[:, t : t + 1], torch.tensor([1, 1]))
        out, state = model(Inputs(row, given if t == 0 else None), state, OFF)
        found.append(out.values)
    return torch.cat(found, 1)


def test_one_table_a_stack() -> None:
    model = T5(Config(layers=3), 20)
    tables = [name for name, _ in model.named_parameters() if "place.table" in name]
    assert tables == ["encoder.layer0.self.place.table.weight", "decoder.layer0.self.place.table.weight"]
    assert sum(name.endswith("token.weight") for name, _ in model.named_parameters()) == 1
    assert not any("bias" in name for name, _ in model.named_parameters())
