"""Encoder-only: BERT, which reads in both directions and says which token was masked, or which class the whole is of.

    Devlin et al. 2019, BERT, arXiv 1810.04805. The block is that of `parts/bert.py`; every row reads every row.
    masked tokens   row s says which token stood in its own place            (section 3.1, task 1)
    class           the row of <cls> says which class the whole is of        (section 4.1)

An encoder has source rows alone, read in one call; nothing is kept and nothing is decoded: a row that reads later rows cannot be
extended. Which of the two it says follows from its task: of masked tokens, the words that may be said are those that are read.

Axes: b request, s source row that asks, s' source row that is read, h head, e head width, d model width, f feed-forward width,
v vocabulary entry or class.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Relation, Spec
from models.parts import bert, blocks
from models.parts.attention import Readable, SourceSelfAttention, read_masks
from models.parts.formulas import Formula, linear, p
from models.parts.norms import FINE
from models.parts.places import Nowhere
from models.parts.stack import FeedForward, initialise, layered
from models.parts.tap import Tap
from models.parts.visibility import Visibility

ROWS = 129  # <cls> and 128 tokens
SELF = Relation("source_self", "source reads source", "s", "s", Visibility("full"), "encoder.layer{layer}.self")


class Block(nn.Module):
    """Source rows read source rows, then feed-forward."""

    def __init__(self, config: bert.BertConfig, place: Nowhere) -> None:
        super().__init__()
        norm = bert.norm(config)
        self.self = SourceSelfAttention(config.d_model, config.heads, norm, blocks.wiring(config, place))
        self.ffn = FeedForward(config.d_model, config.d_ff, norm, "s", F.gelu)

    def forward(self, x: Tensor, mask: Readable, tap: Tap) -> Tensor:
        return self.ffn(self.self(x, mask, tap / "self"), tap / "ffn")


class EncoderOnly(nn.Module):
    """words: those that may be read; says: those, or the classes."""

    def __init__(self, config: bert.BertConfig, words: int, says: int) -> None:
        super().__init__()
        self.config, self.masked = config, words == says
        embedding = bert.Embedding(words, blocks.vectors(config, ROWS), config.d_model, "s")
        place, last = blocks.place(config, both=True), blocks.final(config, config.d_model, FINE)
        self.encoder = bert.Encoder(embedding, ROWS, layered(config.layers, config.sharing, lambda: Block(config, place)), last)
        self.head = bert.Head(config.d_model, says, "s") if self.masked else bert.Pooler(config.d_model, says)
        initialise(self, config.d_model)

    def initial_state(self, batch: int) -> bert.Nothing:
        return bert.nothing(batch, self.encoder.embedding.token.weight)

    def forward(self, inputs: Inputs, state: bert.Nothing, tap: Tap) -> tuple[Outputs, bert.Nothing]:
        here = tap / "encoder"
        x, rows = self.encoder.begin(inputs.source, here)
        assert inputs.source is not None
        valid = inputs.source.valid
        masks = read_masks(inputs, SELF, self.config.layers, rows, valid, valid, x.dtype)
        for name, mask in zip(self.encoder.names, masks, strict=True):
            x = self.encoder.get_submodule(name)(x, mask, here / name)
        x = bert.end(self.encoder.final, x, "b s d", here)
        if self.masked:
            return Outputs("same_token", self.head(x, self.encoder.embedding.token.weight, tap)), state
        return Outputs("class", self.head(x, tap)), state


def _build(config: bert.BertConfig, source: Any, target: int) -> nn.Module:
    if not isinstance(source, int):
        raise ValueError(f"source was given {source}; an encoder-only model reads words")
    return EncoderOnly(config, source, target)


def _formulas(config: bert.BertConfig) -> tuple[Formula, ...]:
    return (
        *bert.embedding_formulas("encoder.embedding", config.position),
        *bert.block_formulas(
            SELF, config.d_model // config.heads, False, config, blocks.wiring(config, blocks.place(config, True))
        ),
        *_head_formulas(),
    )


def _head_formulas() -> tuple[Formula, ...]:
    """Of both heads: a task has one of them. What they share is said so that it holds for each."""
    scores = rf"z = y {p('C')}^{{\top}} + {p('c')}, \; C = E \text{{ of words, }} U \text{{ of classes}}"
    own = [f for f in (*bert.head_formulas(), *bert.pooler_formulas()) if f.path != "logits" and "head.W" not in f.path]
    shared = linear("parameter.head.W", "u", "x", "W", "b", "the hidden layer of the head", "b")
    return (*own, *shared, Formula("logits", scores, "one score for each word, or for each class"))


SPEC = Spec(
    id="encoder_only",
    name="Encoder-only",
    family="Attention",
    summary="BERT: every row reads all others, before and behind it, and says which word was hidden or which class the whole is.",
    inventory=("A12",),
    paper="Devlin et al. 2019, BERT: Pre-training of Deep Bidirectional Transformers, arXiv 1810.04805",
    config=bert.BertConfig,
    build=_build,
    relations=(SELF,),
    phases=("train", "prefill"),
    tasks=("masked_french", "agreement"),
    layers=lambda config: config.layers,
    check=blocks.check,
    gives_up=blocks.gives_up,
    capabilities=Capabilities(has_source=True, causal=False, streams=False, largest_source=ROWS - 1),
    formulas=_formulas,
)
