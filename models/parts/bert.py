"""The blocks of BERT (Devlin et al. 2019, arXiv 1810.04805, section 3 and appendix A), which UniLM keeps as they are.

    x_0 = LayerNorm(token + position + segment)        each layer: post-norm read, post-norm feed-forward with the exact GELU
    logits = LayerNorm(GELU(x_L W^T + b)) E^T + c       E: the token embedding, read backwards

Axes: b request, t target row of this call, t' target row that is known, d model width, f feed-forward width, v vocabulary entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Relation, Rows
from models.parts import attention, blocks, norms, stack
from models.parts.attention import PLAIN, KeysValues, Readable, TargetSelfAttention, Wiring
from models.parts.blocks import Norms, PartsConfig
from models.parts.formulas import Formula, layer_norm, linear, p
from models.parts.norms import FINE, Norm
from models.parts.places import Nowhere
from models.parts.positions import POSITIONS
from models.parts.rows import Joining
from models.parts.settings import default
from models.parts.stack import FeedForward, feed_forward_formulas
from models.parts.tap import Tap

EPS = 1e-12


@dataclass(frozen=True)
class BertConfig(PartsConfig):
    """BERT in a size that trains in a minute: post-norm and learned positions, until a part is exchanged."""

    norm: str = default(PartsConfig, "norm", "post")


def norm(config: Norms) -> Norm:
    """The norm of the config; a LayerNorm is that of BERT."""
    return blocks.norm(config, FINE)


class Embedding(nn.Module):
    """Ids, absolute row numbers and segments (0 or 1), each `[b, n]` -> rows `[b, n, d]`. position: rows to vectors, or None;
    owner: of the rows, "t" or "s"."""

    def __init__(self, vocabulary: int, position: nn.Module | None, width: int, owner: str = "t") -> None:
        super().__init__()
        self.id_axes, self.row_axes = f"b {owner}", f"b {owner} d"
        self.token, self.position, self.segment = nn.Embedding(vocabulary, width), position, nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, EPS)

    def forward(self, ids: Tensor, rows: Tensor, segments: Tensor, tap: Tap) -> Tensor:
        token = tap("token", self.token(tap("ids", ids, self.id_axes, "ids")), self.row_axes)
        placed = token if self.position is None else token + tap("position", self.position(rows), self.row_axes)
        segment = tap("segment", self.segment(segments), self.row_axes)
        return tap("norm", self.norm(tap("sum", placed + segment, self.row_axes)), self.row_axes)


class Block(nn.Module):
    """Rows read rows as far as the mask lets them, then feed-forward."""

    def __init__(self, config: BertConfig, place: Nowhere) -> None:
        super().__init__()
        self.self = TargetSelfAttention(config.d_model, config.heads, norm(config), blocks.wiring(config, place))
        self.ffn = FeedForward(config.d_model, config.d_ff, norm(config), "t", F.gelu)

    def forward(self, x: Tensor, kept: KeysValues, join: Joining, mask: Readable, tap: Tap) -> tuple[Tensor, KeysValues]:
        x, kept = self.self(x, kept, join, mask, tap / "self")
        return self.ffn(x, tap / "ffn"), kept


class Head(nn.Module):
    """Rows `[b, n, d]` to scores `[b, n, v]`: one hidden layer, then the token embedding read backwards."""

    def __init__(self, width: int, vocabulary: int, owner: str = "t") -> None:
        super().__init__()
        self.row_axes, self.score_axes = f"b {owner} d", f"b {owner} v"
        self.W, self.norm = nn.Linear(width, width), nn.LayerNorm(width, EPS)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, x: Tensor, embedding: Tensor, tap: Tap) -> Tensor:
        here = tap / "head"
        hidden = here("hidden", F.gelu(self.W(x)), self.row_axes)
        normed = here("norm", self.norm(hidden), self.row_axes)
        return tap("logits", F.linear(normed, embedding, self.bias), self.score_axes, "logits")


class Pooler(nn.Module):
    """The first source row, <cls>, speaks for all: `[b, s, d]` to one score a class `[b, v]`."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.W, self.U = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, x: Tensor, tap: Tap) -> Tensor:
        pooled = (tap / "head")("pooled", torch.tanh(self.W(x[:, 0])), "b d")
        return tap("logits", self.U(pooled), "b v", "logits")


class Encoder(nn.Module):
    """Source rows through an embedding, blocks layer0, layer1, ... and in pre-norm a last norm. most: rows."""

    def __init__(self, embedding: Embedding, most: int, layers: Iterable[nn.Module], final: nn.Module) -> None:
        super().__init__()
        self.most, self.embedding = most, embedding
        self.names = []
        for i, block in enumerate(layers):
            self.add_module(f"layer{i}", block)
            self.names.append(f"layer{i}")
        self.final = final

    def begin(self, source: Rows | None, tap: Tap) -> tuple[Tensor, Tensor]:
        """Embedded rows `[b, s, d]` and their numbers `[b, s]`. Raises ValueError without rows, or with more than fit."""
        if source is None:
            raise ValueError("source: none given; an encoder reads all of its rows in one call")
        b, s = source.values.shape
        if s > self.most:
            raise ValueError(f"source rows: {s} given, at most {self.most} allowed; use a shorter text")
        rows = torch.arange(s, device=source.values.device).expand(b, s)
        return self.embedding(source.values, rows, torch.zeros_like(rows), tap / "embedding"), rows


def end(final: nn.Module, x: Tensor, axes: str, tap: Tap) -> Tensor:
    """Rows after the last layer; post-norm adds nothing to them."""
    return x if isinstance(final, nn.Identity) else tap("final", final(x), axes)


@dataclass(frozen=True)
class Nothing:
    """An encoder keeps nothing: the next input is read anew. lengths: `[b]`, of target rows, all 0."""

    lengths: Tensor

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {}


def nothing(batch: int, like: Tensor) -> Nothing:
    """The state of an encoder, which keeps nothing, on the device of `like`."""
    return Nothing(torch.zeros(batch, dtype=torch.int64, device=like.device))


def embedding_formulas(at: str, position: str = "learned") -> tuple[Formula, ...]:
    token, place = rf"e_t = {p('E')}[\mathrm{{id}}_t]", rf"p_t = {p('P')}[t]"
    segment, added = rf"g_t = {p('G')}[\mathrm{{segment}}_t]", "p_t + " if position in POSITIONS else ""
    learned = Formula(f"parameter.{at}.position.weight", place, "one learned vector for each row number")
    place = place if position == "learned" else stack.WAVES
    return (
        Formula(f"{at}.token", token, "the token’s own vector"),
        *((Formula(f"{at}.position", place, "where the row stands, as a vector"),) if added else ()),
        Formula(f"{at}.segment", segment, "which segment the row belongs to, as a vector"),
        Formula(f"{at}.sum", f"r_t = e_t + {added}g_t", "token, place and segment together"),
        Formula(f"{at}.norm", r"x_t = \operatorname{LayerNorm}(r_t)", "what the first layer takes"),
        Formula(f"parameter.{at}.token.weight", token, "one learned vector for each vocabulary entry"),
        *((learned,) if position == "learned" else ()),
        Formula(f"parameter.{at}.segment.weight", segment, "one learned vector for each segment"),
        *layer_norm(f"parameter.{at}.norm", "x_t", "r_t"),
    )


def block_formulas(relation: Relation, width: int, kept: bool, config: Norms, wiring: Wiring = PLAIN) -> tuple[Formula, ...]:
    """Of every layer. width: of a head."""
    scope = relation.path.format(layer="*")
    stack_of, used, before = scope.split(".")[0], norm(config), config.norm == "pre"
    ffn = f"{scope.rpartition('.')[0]}.ffn"
    last = Formula(f"{stack_of}.final", f"m_t = {norms.normalised(used, 'x_t')}", "each row after the last layer")
    return (
        *attention.formulas(relation, width, kept, wiring),
        *norms.formulas(scope, used),
        *feed_forward_formulas(ffn, "GELU", "n_t" if before else "x_t"),
        *norms.formulas(ffn, used),
        *((last, *norms.parameters(f"parameter.{stack_of}.final", used, "m_t", "x_t")) if before else ()),
    )


def pooler_formulas() -> tuple[Formula, ...]:
    pooled, scores = rf"h = \tanh(x_0 {p('W')}^{{\top}} + {p('b')})", rf"z = h {p('U')}^{{\top}} + {p('c')}"
    return (
        Formula("head.pooled", pooled, "what the first row, <cls>, says of the whole"),
        Formula("logits", scores, "one score for each class"),
        *linear("parameter.head.W", "u", "x_0", "W", "b", "the pooled row", "b"),
        *linear("parameter.head.U", "z", "h", "U", "c", "the scores of the classes", "b"),
    )


def head_formulas() -> tuple[Formula, ...]:
    scores = rf"z_t = n_t {p('E')}^{{\top}} + {p('c')}"
    hidden = rf"h_t = \operatorname{{GELU}}(x_t {p('W')}^{{\top}} + {p('b')})"
    return (
        Formula("head.hidden", hidden, "a hidden layer over the row"),
        Formula("head.norm", r"n_t = \operatorname{LayerNorm}(h_t)", "the hidden layer, normalised"),
        Formula("logits", scores, "one score for each vocabulary entry"),
        Formula("parameter.head.bias", scores, "learned shift of each vocabulary entry’s score"),
        *linear("parameter.head.W", "u_t", "x_t", "W", "b", "the hidden layer"),
        *layer_norm("parameter.head.norm", "n_t", "h_t"),
    )
