"""What the texts print about the encoder-decoder's run, teacher forcing, prefill and decode, from our own code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from models import Inputs, Rows
from models.parts.tap import OFF, Recorder
from models.parts.tape import Record
from models.tasks import BOS, EOS, PAD
from models.tasks.objective import decision_rows, pad, shift
from models.transformer import DecoderOnly, DecoderOnlyConfig, EncoderDecoder, EncoderDecoderConfig

WORKED = json.loads((Path(__file__).parents[2] / "models" / "worked_numbers.json").read_text())
NAMED = {"BOS": BOS, "EOS": EOS, "PAD": PAD}


def numbers(rows: list[list[Any]]) -> list[list[int]]:
    return [[NAMED.get(token, token) for token in row] for row in rows]


def unpadded(rows: list[list[Any]]) -> Rows:
    return pad([[token for token in row if token != PAD] for row in numbers(rows)])


def test_encoder_decoder_trace() -> None:
    w = WORKED["encoder_decoder_trace"]
    config = EncoderDecoderConfig(layers=w["N"], d_model=w["d"], d_ff=w["d_ff"])
    torch.manual_seed(0)
    model, recorder = EncoderDecoder(config, w["V_src"], w["V_tgt"]), Recorder()
    source, target = (torch.randint(4, 31, (w["B"], w[n])) for n in ("S", "T"))
    lengths = torch.full((w["B"],), w["T"])
    out, _ = model(Inputs(Rows(target, lengths), Rows(source, lengths.new_full((2,), w["S"]))), model.initial_state(2), recorder)
    records = recorder.tape.records
    probabilities = out.values.softmax(-1)
    found = {
        "src_ids": records["encoder.embedding.ids"],
        "source_state": records["encoder.embedding.sum"],
        "memory": records["encoder.memory"],
        "tgt_ids": records["decoder.embedding.ids"],
        "target_state": records["decoder.embedding.sum"],
        "decoder_hidden": records["decoder.final"],
        "logits": records["logits"],
        "probabilities": probabilities,
        "selected_next_ids": probabilities[torch.arange(2), decision_rows(lengths)].argmax(-1),
    }
    owners, types = {"source": "s", "target": "t"}, {"IDs": "ids", "logits": "logits"}
    for name, shape, kind, owner, meaning in w["stages"]:
        one = found.pop(name)
        value = one.value if isinstance(one, Record) else one
        assert list(value.shape) == shape and value.dtype.is_floating_point == (kind == "floating"), name
        if isinstance(one, Record):
            assert one.axes[1] == owners[owner] and one.type == types.get(meaning, "hidden"), name
    assert not found


def test_teacher_forcing_shift() -> None:
    w = WORKED["teacher_forcing_shift"]
    shifted = shift(unpadded(w["full_target"]))
    assert shifted.inputs.values.tolist() == numbers(w["decoder_input"])
    assert shifted.labels.tolist() == numbers(w["labels"])
    assert shifted.loss_rows.int().tolist() == w["loss_rows"]
    assert int(shifted.loss_rows.sum()) == w["supervised_rows"] and shifted.labels.numel() == w["logit_rows"]


def gpt() -> DecoderOnly:
    torch.manual_seed(0)
    return DecoderOnly(DecoderOnlyConfig(), 32).double()


def test_prefill_decides_at_the_last_valid_row() -> None:
    w = WORKED["prefill_last_valid_row"]
    prompts, model = unpadded(w["prompts"]), gpt()
    assert prompts.values.tolist() == numbers(w["prompts"]) and prompts.lengths.tolist() == w["valid_lengths"]
    assert decision_rows(prompts.lengths).tolist() == w["decision_rows"]
    out, _ = model(Inputs(prompts), model.initial_state(2), OFF)
    for b, row in enumerate(w["decision_rows"]):
        alone = Rows(prompts.values[b : b + 1, : row + 1], prompts.lengths[b : b + 1])
        single, _ = model(Inputs(alone), model.initial_state(1), OFF)
        torch.testing.assert_close(out.values[b, row], single.values[0, -1])


def test_decode_known_lengths() -> None:
    w = WORKED["decode_known_lengths"]
    prompts, model = unpadded(WORKED["prefill_last_valid_row"]["prompts"]), gpt()
    assert prompts.lengths.tolist() == w["prompt_lengths"]
    _, state = model(Inputs(prompts), model.initial_state(2), OFF)
    for selected, before in zip(numbers(w["selected"]), w["known_lengths_before"], strict=True):
        assert state.lengths.tolist() == before
        recorder = Recorder()
        _, state = model(Inputs(pad([[token] for token in selected])), state, recorder)
        mask = recorder.tape.records["decoder.layer0.self.mask"].value
        assert mask.sum(-1).flatten().tolist() == [n + 1 for n in before], "each request reads its own known rows and the new one"
