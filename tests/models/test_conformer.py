"""The Conformer against Wav2Vec2ConformerEncoder of Transformers (relative positions), with its weights copied, in eval.

That encoder's batch norm is at rest, so the configuration with `scale` computes the same. It ends in a LayerNorm that the paper
does not have; the comparison puts ours through it too.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.testing import assert_close
from transformers import Wav2Vec2ConformerConfig
from transformers.models.wav2vec2_conformer.modeling_wav2vec2_conformer import Wav2Vec2ConformerEncoder

from models import Inputs, Rows
from models.conformer import Config, Conformer
from models.parts.tap import OFF, Recorder

HEADS, WIDTH, KERNEL, BANDS = 2, 16, 5, 12


def _theirs(layers: int) -> Any:
    config = Wav2Vec2ConformerConfig(
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        intermediate_size=32,
        position_embeddings_type="relative",
        conv_depthwise_kernel_size=KERNEL,
        hidden_act="swish",
        attn_implementation="eager",
    )
    torch.manual_seed(1)
    theirs = Wav2Vec2ConformerEncoder(config).double().eval()
    with torch.no_grad():
        for name, value in [*theirs.named_parameters(), *theirs.named_buffers()]:
            if name.endswith("running_var"):
                value.uniform_(0.5, 2.0)
            elif value.dtype.is_floating_point and "layer_norm.weight" not in name and "embed_positions" not in name:
                value.add_(torch.randn_like(value) * 0.3)
    return theirs


def _copy(theirs: Any, order: str, layers: int) -> Conformer:
    config = Config(order=order, layers=layers, heads=HEADS, d_model=WIDTH, d_ff=32, kernel=KERNEL, norm="scale")
    model = Conformer(config, BANDS, 11).double()
    names = {"W_Q": "linear_q", "W_K": "linear_k", "W_V": "linear_v", "W_O": "linear_out", "W_R": "linear_pos"}
    for block, layer in zip(model.encoder.values(), theirs.layers, strict=True):
        mine: Any = block
        for half, norm, ffn in (
            (mine.before, layer.ffn1_layer_norm, layer.ffn1),
            (mine.after, layer.ffn2_layer_norm, layer.ffn2),
        ):
            half.norm.load_state_dict(norm.state_dict())
            half.W_1.load_state_dict(ffn.intermediate_dense.state_dict())
            half.W_2.load_state_dict(ffn.output_dense.state_dict())
        mine.self.norm.load_state_dict(layer.self_attn_layer_norm.state_dict())
        for own, other in names.items():
            getattr(mine.self, own).load_state_dict(getattr(layer.self_attn, other).state_dict())
        conv, bn = layer.conv_module, layer.conv_module.batch_norm
        mine.conv.norm.load_state_dict(conv.layer_norm.state_dict())
        scale = bn.weight / (bn.running_var + bn.eps).sqrt()
        with torch.no_grad():
            mine.self.u.copy_(layer.self_attn.pos_bias_u)
            mine.self.w.copy_(layer.self_attn.pos_bias_v)
            mine.conv.W_in.weight.copy_(conv.pointwise_conv1.weight[..., 0])
            mine.conv.W_out.weight.copy_(conv.pointwise_conv2.weight[..., 0])
            mine.conv.kernel.copy_(conv.depthwise_conv.weight[:, 0])
            mine.conv.inner.weight.copy_(scale)
            mine.conv.inner.bias.copy_(bn.bias - bn.running_mean * scale)
        mine.norm.load_state_dict(layer.final_layer_norm.state_dict())
    return model


def _frames() -> Rows:
    torch.manual_seed(2)
    return Rows(torch.rand(2, 9, BANDS, dtype=torch.float64), torch.tensor([9, 6]))


def _run(model: Conformer, source: Rows) -> Any:
    recorder = Recorder()
    none = Rows(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(2, dtype=torch.int64))
    with torch.no_grad():
        model(Inputs(none, source), model.initial_state(2), recorder)
    return recorder.tape.finish().records


def test_two_layers_are_those_of_transformers() -> None:
    theirs = _theirs(2)
    model, source = _copy(theirs, "serial", 2), _frames()
    records = _run(model, source)
    entered = records["encoder.entered"].value
    for b, length in enumerate(source.lengths.tolist()):  # their convolution reads into padding, so each request alone
        with torch.no_grad():
            expected = theirs(entered[b : b + 1, :length]).last_hidden_state
            mine = theirs.layer_norm(records["encoder.layer1.norm"].value[b : b + 1, :length])
        assert_close(mine, expected, atol=1e-6, rtol=0)  # their table of positions is made in 32 bits


@pytest.mark.parametrize("order", ["reversed", "parallel", "interleaved"])
def test_the_other_orders_compose_the_same_parts(order: str) -> None:
    """Written out with the serial oracle's own modules, applied in the other order."""
    theirs = _theirs(1)
    model, source = _copy(theirs, order, 1), _frames()
    layer, length = theirs.layers[0], 6
    if order == "interleaved":
        mine: Any = model.encoder["layer0"]
        mine.conv_before.load_state_dict(mine.before.state_dict())
        mine.conv_after.load_state_dict(mine.after.state_dict())
        mine.conv_norm.load_state_dict(mine.norm.state_dict())
    records = _run(model, source)
    entered = records["encoder.entered"].value[1:, :length]
    places = theirs.embed_positions(entered)

    def attend(x: torch.Tensor) -> torch.Tensor:
        return layer.self_attn(layer.self_attn_layer_norm(x), None, places)[0]

    def half(x: torch.Tensor, which: str) -> torch.Tensor:
        return x + 0.5 * getattr(layer, which)(getattr(layer, f"{which}_layer_norm")(x))

    with torch.no_grad():
        x = half(entered, "ffn1")
        if order == "reversed":
            x = x + layer.conv_module(x)
            x = x + attend(x)
        elif order == "parallel":
            x = x + attend(x) + layer.conv_module(x)
        else:
            x = half(layer.final_layer_norm(half(x + attend(x), "ffn2")), "ffn1")
            x = x + layer.conv_module(x)
        expected = layer.final_layer_norm(half(x, "ffn2"))
    last = "conv_norm" if order == "interleaved" else "norm"
    assert_close(records[f"encoder.layer0.{last}"].value[1:, :length], expected, atol=1e-6, rtol=0)


def test_one_frame_and_a_kernel_wider_than_the_strip() -> None:
    model = Conformer(Config(kernel=31), BANDS, 11)
    none = Rows(torch.zeros(1, 0, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
    with torch.no_grad():
        out, _ = model(Inputs(none, Rows(torch.rand(1, 1, BANDS), torch.tensor([1]))), model.initial_state(1), OFF)
    assert out.values.shape == (1, 1, 11) and bool(out.values.isfinite().all())
