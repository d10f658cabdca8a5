"""BERT against Hugging Face's, with copied weights (fp32): the masked-token head and the class head."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close
from transformers import BertForSequenceClassification

from models import Inputs, Rows
from models.encoder_only import ROWS, EncoderOnly
from models.parts.bert import BertConfig
from models.parts.tap import OFF, Recorder
from tests.models.bert import WORDS, bert, weights

CONFIG = BertConfig(layers=2, heads=4, d_model=16, d_ff=32)


def source(*lengths: int) -> Inputs:
    ids = torch.randint(4, WORDS, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(3))
    return Inputs(Rows(ids[:, :0], torch.zeros(len(lengths), dtype=torch.int64)), Rows(ids, torch.tensor(lengths)))


@torch.no_grad()
def test_masked_tokens() -> None:
    torch.manual_seed(5)
    oracle, inputs = bert(ROWS), source(9, 6)
    assert inputs.source is not None
    model = EncoderOnly(CONFIG, WORDS, WORDS)
    model.load_state_dict(weights(oracle, "encoder"))
    recorder = Recorder()
    out, _ = model(inputs, model.initial_state(2), recorder)
    valid = inputs.source.valid
    theirs = oracle(inputs.source.values, attention_mask=valid.long(), output_attentions=True)
    assert out.kind == "same_token"
    assert_close(out.values[valid], theirs.logits[valid], atol=2e-6, rtol=0)
    for layer, attention in enumerate(theirs.attentions):
        ours = recorder.tape.records[f"encoder.layer{layer}.self.weights"].value.transpose(1, 2)
        assert_close(ours[valid], attention.transpose(1, 2)[valid], atol=2e-6, rtol=0)


@torch.no_grad()
def test_a_class() -> None:
    torch.manual_seed(5)
    base, inputs = bert(ROWS), source(9, 6)
    assert inputs.source is not None
    config: Any = base.config
    config.num_labels = 3
    oracle = BertForSequenceClassification(config).eval()
    for value in oracle.parameters():
        nn.init.normal_(value, 0.5 if value.dim() == 1 else 0.0, 0.3)
    model = EncoderOnly(CONFIG, WORDS, 3)
    state: dict[str, Tensor] = oracle.state_dict()
    heads = {"head.W": "bert.pooler.dense", "head.U": "classifier"}
    theirs = {f"{ours}.{k}": state[f"{name}.{k}"] for ours, name in heads.items() for k in ("weight", "bias")}
    base.bert.load_state_dict(
        {k.removeprefix("bert."): v for k, v in state.items() if k.startswith("bert.") and "pooler" not in k}
    )
    model.load_state_dict({**{k: v for k, v in weights(base, "encoder").items() if not k.startswith("head.")}, **theirs})
    out, _ = model(inputs, model.initial_state(2), OFF)
    expected = oracle(inputs.source.values, attention_mask=inputs.source.valid.long()).logits
    assert out.kind == "class"
    assert_close(out.values, expected, atol=2e-6, rtol=0)


def test_a_source_that_is_not_there_or_too_long_is_refused() -> None:
    model = EncoderOnly(BertConfig(), 20, 20)
    none = Rows(torch.zeros(1, 0, dtype=torch.int64), torch.tensor([0]))
    with pytest.raises(ValueError, match="none given"):
        model(Inputs(none), model.initial_state(1), OFF)
    with pytest.raises(ValueError, match="130 given, at most 129 allowed"):
        model(Inputs(none, Rows(torch.ones(1, 130, dtype=torch.int64), torch.tensor([130]))), model.initial_state(1), OFF)
