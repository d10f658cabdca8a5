"""Both Transformers against independent implementations with copied weights, fp32, within 1e-5 (measured about 1e-6)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close
from transformers import GPT2Config, GPT2LMHeadModel, MarianConfig, MarianMTModel

from models import Inputs, Rows
from models.parts.attention import CrossAttention, KeysValues, readable
from models.parts.norms import PreNorm
from models.parts.positions import Sinusoidal
from models.parts.tap import OFF, Recorder
from models.transformer import DecoderOnly, DecoderOnlyConfig, EncoderDecoder, EncoderDecoderConfig

WORDS, WIDTH, LAYERS, HEADS = 50, 16, 2, 4
Weights = Mapping[str, Tensor]


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(5)


def stir(oracle: nn.Module) -> nn.Module:
    """Random weights, biases and norm scales of a size that shows: libraries begin with small numbers, zeros and ones."""
    for name, value in oracle.named_parameters():
        if "embed_positions" not in name:
            nn.init.normal_(value, 0.5 if value.dim() == 1 else 0.0, 0.3)
    return oracle


def rows(*lengths: int) -> Rows:
    return Rows(torch.randint(4, WORDS, (len(lengths), max(lengths))), torch.tensor(lengths))


def linear(prefix: str, weight: Tensor, bias: Tensor) -> Weights:
    return {f"{prefix}.weight": weight, f"{prefix}.bias": bias}


def qkv(prefix: str, weight: Tensor, bias: Tensor) -> Weights:
    """Three projections from one that holds them all: weight [3 d, d]."""
    parts = zip("QKV", weight.chunk(3), bias.chunk(3), strict=True)
    return dict(itertools.chain.from_iterable(linear(f"{prefix}.W_{name}", w, b).items() for name, w, b in parts))


def all_of(parts: Iterable[Weights]) -> Weights:
    return {name: value.detach().clone() for part in parts for name, value in part.items()}


def close(ours: Tensor, theirs: Tensor) -> None:
    assert_close(ours, theirs, atol=2e-6, rtol=0)


# GPT-2


def gpt2() -> tuple[DecoderOnly, GPT2LMHeadModel]:
    sizes = {"vocab_size": WORDS, "n_positions": 513, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS}
    oracle = GPT2LMHeadModel(GPT2Config(**sizes, attn_implementation="eager", bos_token_id=1, eos_token_id=2)).eval()
    core: Any = stir(oracle).get_submodule("transformer")
    weights = all_of(
        [
            {"decoder.embedding.token.weight": core.wte.weight, "decoder.embedding.position.weight": core.wpe.weight},
            linear("decoder.final", core.ln_f.weight, core.ln_f.bias),
            *(gpt2_layer(f"decoder.layer{i}", block) for i, block in enumerate(core.h)),
        ]
    )
    model = DecoderOnly(DecoderOnlyConfig(layers=LAYERS, heads=HEADS, d_model=WIDTH, d_ff=4 * WIDTH), WORDS)
    model.load_state_dict(weights)
    return model, oracle


def gpt2_layer(prefix: str, block: nn.Module) -> Weights:
    """Its linear maps are Conv1D, whose weight is [in, out]."""
    p = dict(block.named_parameters())
    return {
        **linear(f"{prefix}.self.norm", p["ln_1.weight"], p["ln_1.bias"]),
        **qkv(f"{prefix}.self", p["attn.c_attn.weight"].T, p["attn.c_attn.bias"]),
        **linear(f"{prefix}.self.W_O", p["attn.c_proj.weight"].T, p["attn.c_proj.bias"]),
        **linear(f"{prefix}.ffn.norm", p["ln_2.weight"], p["ln_2.bias"]),
        **linear(f"{prefix}.ffn.W_1", p["mlp.c_fc.weight"].T, p["mlp.c_fc.bias"]),
        **linear(f"{prefix}.ffn.W_2", p["mlp.c_proj.weight"].T, p["mlp.c_proj.bias"]),
    }


@torch.no_grad()
def test_gpt2_prefill() -> None:
    (model, oracle), target = gpt2(), rows(9, 6)
    recorder = Recorder()
    out, _ = model(Inputs(target), model.initial_state(2), recorder)
    theirs = oracle(target.values, output_attentions=True)
    close(out.values[target.valid], theirs.logits[target.valid])
    for layer, weights in enumerate(theirs.attentions):
        close(recorder.tape.records[f"decoder.layer{layer}.self.weights"].value[0], weights[0])


@torch.no_grad()
def test_gpt2_cached_decode() -> None:
    (model, oracle), target = gpt2(), rows(9, 9)
    out, state = model(Inputs(Rows(target.values[:, :4], torch.tensor([4, 4]))), model.initial_state(2), OFF)
    theirs = oracle(target.values[:, :4], use_cache=True)
    for t in range(4, 9):
        out, state = model(Inputs(Rows(target.values[:, t : t + 1], torch.tensor([1, 1]))), state, OFF)
        theirs = oracle(target.values[:, t : t + 1], cache=theirs.past_key_values, use_cache=True)
        close(out.values, theirs.logits)
    for layer, kept in enumerate(theirs.past_key_values.layers):
        close(state.kept()[f"decoder.layer{layer}.self.keys"][0], kept.keys)
        close(state.kept()[f"decoder.layer{layer}.self.values"][0], kept.values)


# Marian is the post-norm model of 2017


def marian() -> tuple[EncoderDecoder, MarianMTModel]:
    sizes = {
        **{f"{side}_layers": LAYERS for side in ("encoder", "decoder")},
        **{f"{side}_attention_heads": HEADS for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": 32 for side in ("encoder", "decoder")},
    }
    ids = {"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    config = MarianConfig(
        vocab_size=WORDS,
        d_model=WIDTH,
        max_position_embeddings=129,
        activation_function="relu",
        scale_embedding=True,
        **sizes,
        **ids,
    )
    oracle = MarianMTModel(config).eval()
    p = dict(stir(oracle).named_parameters())
    # Its positions are cat(sin, cos), ours interleave them: take its table, and compare the two tables in a test of their own.
    table, token = oracle.model.encoder.embed_positions.weight, p["model.shared.weight"]
    parts: list[Weights] = [{f"{side}.embedding.token.weight": token} for side in ("encoder", "decoder")]
    parts += [{"encoder.embedding.position.weight": table[:128]}, {"decoder.embedding.position.weight": table}]
    for side, i in itertools.product(("encoder", "decoder"), range(LAYERS)):
        parts += marian_layer(p, f"{side}.layer{i}", f"model.{side}.layers.{i}")
    model = EncoderDecoder(
        EncoderDecoderConfig(layers=LAYERS, heads=HEADS, d_model=WIDTH, d_ff=32, position="learned"), WORDS, WORDS
    )
    model.load_state_dict(all_of(parts))
    return model, oracle


def marian_layer(p: Weights, ours: str, theirs: str) -> list[Weights]:
    names = {"final_layer_norm": "ffn.norm", "fc1": "ffn.W_1", "fc2": "ffn.W_2"}
    for relation, prefix in (("self", "self_attn"), ("cross", "encoder_attn")):
        names |= {f"{prefix}.{name.lower()}_proj": f"{relation}.W_{name}" for name in "QKV"}
        names |= {f"{prefix}.out_proj": f"{relation}.W_O", f"{prefix}_layer_norm": f"{relation}.norm"}
    present = {a: b for a, b in names.items() if f"{theirs}.{a}.weight" in p}
    return [linear(f"{ours}.{b}", p[f"{theirs}.{a}.weight"], p[f"{theirs}.{a}.bias"]) for a, b in present.items()]


@torch.no_grad()
def test_marian() -> None:
    (model, oracle), source, target = marian(), rows(7, 4), rows(5, 8)
    recorder = Recorder()
    out, _ = model(Inputs(target, source), model.initial_state(2), recorder)
    theirs = oracle(
        input_ids=source.values, attention_mask=source.valid.long(), decoder_input_ids=target.values, output_attentions=True
    )
    close(out.values[target.valid], theirs.logits[target.valid])
    memory = recorder.tape.records["encoder.memory"].value
    close(memory[source.valid], theirs.encoder_last_hidden_state[source.valid])
    for layer, weights in enumerate(theirs.cross_attentions):
        close(recorder.tape.records[f"decoder.layer{layer}.cross.weights"].value[1], weights[1])


def test_sinusoids_are_marians_interleaved() -> None:
    table = Sinusoidal(129, WIDTH)(torch.arange(129))
    theirs = marian()[1].model.encoder.embed_positions.weight
    close(torch.cat((table[:, 0::2], table[:, 1::2]), 1), theirs)


# torch.nn, both places of the norm


def torch_layer(ours: str, layer: nn.Module) -> list[Weights]:
    p = dict(layer.named_parameters())
    relations = {"self": "self_attn", "cross": "multihead_attn"} if "norm3.weight" in p else {"self": "self_attn"}
    names = {"linear1": "ffn.W_1", "linear2": "ffn.W_2", f"norm{len(relations) + 1}": "ffn.norm"}
    for i, (relation, prefix) in enumerate(relations.items()):
        names |= {f"norm{i + 1}": f"{relation}.norm", f"{prefix}.out_proj": f"{relation}.W_O"}
    parts = [linear(f"{ours}.{b}", p[f"{a}.weight"], p[f"{a}.bias"]) for a, b in names.items()]
    return parts + [qkv(f"{ours}.{r}", p[f"{n}.in_proj_weight"], p[f"{n}.in_proj_bias"]) for r, n in relations.items()]


def torch_twin(norm: str) -> tuple[EncoderDecoder, nn.Transformer]:
    """nn.Transformer adds a last norm to both stacks; the post-norm model has none, so its stacks are made without."""
    sizes: dict[str, Any] = {
        "d_model": WIDTH,
        "nhead": HEADS,
        "dim_feedforward": 32,
        "dropout": 0.0,
        "batch_first": True,
        "norm_first": norm == "pre",
    }
    last = nn.LayerNorm(WIDTH) if norm == "pre" else None
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**sizes), LAYERS, last, enable_nested_tensor=False)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**sizes), LAYERS, nn.LayerNorm(WIDTH) if last else None)
    oracle = nn.Transformer(WIDTH, HEADS, custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
    stir(oracle)
    parts: list[Weights] = []
    stacks: tuple[tuple[str, Any], ...] = (("encoder", encoder), ("decoder", decoder))
    for side, stack in stacks:
        for i, layer in enumerate(stack.layers):
            parts += torch_layer(f"{side}.layer{i}", layer)
        if norm == "pre":
            parts.append(linear(f"{side}.final", stack.norm.weight, stack.norm.bias))
    model = EncoderDecoder(EncoderDecoderConfig(layers=LAYERS, heads=HEADS, d_model=WIDTH, d_ff=32, norm=norm), WORDS, WORDS)
    own = {name: value for name, value in model.state_dict().items() if "embedding" in name}
    model.load_state_dict(all_of([*parts, own]))
    return model, oracle


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_torch_transformer(norm: str) -> None:
    (model, oracle), source, target = torch_twin(norm), rows(7, 4), rows(5, 8)
    out, _ = model(Inputs(target, source), model.initial_state(2), OFF)
    at = torch.arange(8).expand(2, 8)
    src, tgt = model.encoder.embedding(source.values, at[:, :7], OFF), model.decoder.embedding(target.values, at, OFF)
    hidden = oracle(
        src,
        tgt,
        tgt_mask=torch.ones(8, 8).tril() == 0,
        src_key_padding_mask=~source.valid,
        memory_key_padding_mask=~source.valid,
    )
    theirs = F.linear(hidden, model.decoder.embedding.token.weight)
    close(out.values[target.valid], theirs[target.valid])


def test_attention_is_sdpa() -> None:
    attention = CrossAttention(WIDTH, HEADS, PreNorm)
    kept = KeysValues(torch.randn(2, HEADS, 6, 4), torch.randn(2, HEADS, 6, 4))
    mask = torch.rand(2, 5, 6) < 0.6
    mask[..., 0] = True
    recorder = Recorder()
    attention(torch.randn(2, 5, WIDTH), kept, readable(mask, torch.float32), recorder)
    tape = recorder.tape.records
    mixed = F.scaled_dot_product_attention(tape["q"].value, kept.keys, kept.values, attn_mask=mask[:, None])
    close(tape["mixed"].value, mixed)
