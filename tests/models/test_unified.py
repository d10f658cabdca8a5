"""One stack over one stream: its masks through Hugging Face's BERT with a 4-D mask (copied weights, fp32); the border."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import Inputs, Rows
from models.parts.bert import BertConfig
from models.parts.tap import OFF, Recorder
from models.parts.visibility import Visibility
from models.tasks import BOS, EOS
from models.tasks.objective import asked, batch, shift
from models.tasks.one_stream import SEPARATOR, TASK
from models.unified import ROWS, Unified
from tests.models.bert import WORDS, bert, weights

LAYERS = 2
MASKS = {
    "full": Visibility("full"),
    "causal": Visibility("causal"),
    "prefix": Visibility("prefix", 3),
    "source_target": Visibility("source_target"),
}


def additive(mask: Tensor) -> Tensor:
    """The eager form takes a float that is added to the scores; a bool there is silently wrong."""
    return torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)[:, None]


@pytest.mark.parametrize("name", MASKS)
@torch.no_grad()
def test_bert_with_a_mask(name: str) -> None:
    torch.manual_seed(5)
    oracle, lengths = bert(ROWS), torch.tensor([9, 6])
    model = Unified(BertConfig(layers=LAYERS, heads=4, d_model=16, d_ff=32), WORDS)
    model.load_state_dict(weights(oracle, "decoder"))
    ids = torch.randint(SEPARATOR + 1, WORDS, (2, 9))
    ids[0, 4] = ids[0, 6] = ids[1, 2] = SEPARATOR  # the first of two ends the source
    borders, rows = torch.tensor([5, 3]), torch.arange(9)
    recorder = Recorder()
    visible = {"target_self": (MASKS[name],) * LAYERS}
    out, state = model(Inputs(Rows(ids, lengths), visibility=visible), model.initial_state(2), recorder)
    mask = MASKS[name].allows(rows[:, None], rows, borders[:, None, None]) & (rows < lengths[:, None])[:, None, :]
    mask = mask.expand(2, 9, 9)
    segments = (rows >= borders[:, None]).long()
    theirs = oracle(ids, attention_mask=additive(mask), token_type_ids=segments, output_attentions=True)
    valid = rows < lengths[:, None]
    assert_close(out.values[valid], theirs.logits[valid], atol=2e-6, rtol=0)
    for layer, attention in enumerate(theirs.attentions):
        ours = recorder.tape.records[f"decoder.layer{layer}.self.weights"].value.transpose(1, 2)
        assert_close(ours[valid], attention.transpose(1, 2)[valid], atol=2e-6, rtol=0)
    assert state.kept()["decoder.border"][0].tolist() == [5, 3]


def test_source_target_is_the_prefix_that_fits_each_request() -> None:
    rows = torch.arange(6)
    for border in (1, 4):
        both = [
            v.allows(rows[:, None], rows, torch.tensor([[[border]]]))
            for v in (MASKS["source_target"], Visibility("prefix", border))
        ]
        assert torch.equal(both[0][0], both[1])
    assert torch.equal(MASKS["source_target"].dense(4, 4), Visibility("causal").dense(4, 4)), "no source ended: causal"


@torch.no_grad()
def test_a_prefix_beyond_the_sequence_is_full_and_an_empty_one_causal() -> None:
    model, target = Unified(BertConfig(), 20), Rows(torch.tensor([[1, 9, 4, 8]]), torch.tensor([4]))

    def logits(visible: Visibility) -> Tensor:
        return model(Inputs(target, visibility={"target_self": (visible,) * 2}), model.initial_state(1), OFF)[0].values

    assert torch.equal(logits(Visibility("prefix", 500)), logits(Visibility("full")))
    assert torch.equal(logits(Visibility("prefix", 0)), logits(Visibility("causal")))


def test_only_the_target_counts() -> None:
    example = TASK.example(7, "train", 0)
    prompt, answer = asked(TASK, example)
    _, full = batch(TASK, [example])
    shifted = shift(full, TASK.separator)
    assert prompt[0] == BOS and prompt[-1] == SEPARATOR and full.values[0].tolist() == [*prompt, *answer, EOS]
    counted = shifted.loss_rows[0].nonzero().flatten().tolist()
    assert counted == list(range(len(prompt) - 1, len(prompt) + len(answer)))
    assert shifted.labels[0, counted].tolist() == [*answer, EOS]


def test_the_stream_holds_the_sentences_of_the_translation_task() -> None:
    from models.tasks.translation import TASK as pairs

    for split in ("train", "held_out"):
        stream, pair = TASK.example(7, split, 3), pairs.example(7, split, 3)
        assert stream.target == (*(pair.source or ()), "→", *pair.target)
        for (s, t), (row, column) in zip(pair.alignment, stream.alignment, strict=True):
            assert (stream.target[row], stream.target[column]) == ((pair.source or ())[s], pair.target[t])


def test_too_long_a_stream_is_refused() -> None:
    model = Unified(BertConfig(), 20)
    many = Rows(torch.full((1, ROWS + 1), 9), torch.tensor([ROWS + 1]))
    with pytest.raises(ValueError, match="258 given, at most 257 allowed"):
        model(Inputs(many), model.initial_state(1), OFF)
