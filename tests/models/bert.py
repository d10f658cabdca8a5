"""Hugging Face's BERT with random weights of a size that shows, and these weights under our names."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertForMaskedLM

WORDS = 50


def bert(rows: int) -> BertForMaskedLM:
    sizes = {"vocab_size": WORDS, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    oracle = BertForMaskedLM(BertConfig(**sizes, max_position_embeddings=rows, attn_implementation="eager")).eval()
    for value in oracle.parameters():
        nn.init.normal_(value, 0.5 if value.dim() == 1 else 0.0, 0.3)
    return oracle


def _both(ours: str, theirs: str) -> dict[str, str]:
    return {f"{ours}.{kind}": f"{theirs}.{kind}" for kind in ("weight", "bias")}


def weights(oracle: BertForMaskedLM, stack: str) -> dict[str, Tensor]:
    """`stack`: our scope of embedding and layers. The head stays in "head"."""
    tables = (("token", "word"), ("position", "position"), ("segment", "token_type"))
    names = {f"{stack}.embedding.{ours}.weight": f"bert.embeddings.{theirs}_embeddings.weight" for ours, theirs in tables}
    names |= _both(f"{stack}.embedding.norm", "bert.embeddings.LayerNorm")
    for i in range(oracle.config.num_hidden_layers):
        ours, theirs = f"{stack}.layer{i}", f"bert.encoder.layer.{i}"
        for short, name in (("Q", "query"), ("K", "key"), ("V", "value")):
            names |= _both(f"{ours}.self.W_{short}", f"{theirs}.attention.self.{name}")
        names |= _both(f"{ours}.self.W_O", f"{theirs}.attention.output.dense")
        names |= _both(f"{ours}.self.norm", f"{theirs}.attention.output.LayerNorm")
        names |= _both(f"{ours}.ffn.W_1", f"{theirs}.intermediate.dense") | _both(f"{ours}.ffn.W_2", f"{theirs}.output.dense")
        names |= _both(f"{ours}.ffn.norm", f"{theirs}.output.LayerNorm")
    names |= _both("head.W", "cls.predictions.transform.dense") | _both("head.norm", "cls.predictions.transform.LayerNorm")
    names["head.bias"] = "cls.predictions.bias"
    state: dict[str, Any] = oracle.state_dict()
    return {ours: torch.clone(state[theirs]) for ours, theirs in names.items()}
