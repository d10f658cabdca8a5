"""What Transformer pages share around their reads: an embedding, the feed-forward sub-layer, a stack of named blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn

from models import Relation
from models.parts import attention, norms
from models.parts.formulas import Formula, linear, p
from models.parts.norms import Norm, Pre
from models.parts.tap import Tap


class Embedding(nn.Module):
    """Ids and absolute row numbers `[b, n]` -> rows `[b, n, d]`: token vector (times `scale`) plus that of its place, if any."""

    def __init__(self, vocabulary: int, width: int, position: nn.Module | None, owner: str, scale: float) -> None:
        super().__init__()
        self.token, self.position, self.scale = nn.Embedding(vocabulary, width), position, scale
        self.id_axes, self.row_axes = f"b {owner}", f"b {owner} d"

    def forward(self, ids: Tensor, rows: Tensor, tap: Tap) -> Tensor:
        token = self.token(tap("ids", ids, self.id_axes, "ids"))
        token = tap("token", token if self.scale == 1.0 else token * self.scale, self.row_axes)
        if self.position is not None:
            token = token + tap("position", self.position(rows), self.row_axes)
        return tap("sum", token, self.row_axes)


class FeedForward(nn.Module):
    """Two linear maps with an activation between, on each row alone (2017, section 3.3)."""

    def __init__(self, width: int, hidden: int, norm: Norm, owner: str, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.norm, self.activation = norm(width), activation
        self.W_1, self.W_2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.row_axes, self.hidden_axes = f"b {owner} d", f"b {owner} f"

    def forward(self, x: Tensor, tap: Tap) -> Tensor:
        before = tap("before_activation", self.W_1(self.norm.enter(x, self.row_axes, tap)), self.hidden_axes)
        output = tap("output", self.W_2(tap("hidden", self.activation(before), self.hidden_axes)), self.row_axes)
        return self.norm.leave(x, output, self.row_axes, tap)


class Stack(nn.Module):
    """An embedding, blocks named layer0, layer1, ..., and what follows them (pre-norm needs a last norm, post-norm nothing)."""

    def __init__(self, embedding: Embedding, blocks: Iterable[nn.Module], final: nn.Module) -> None:
        super().__init__()
        self.embedding = embedding
        self.names: list[str] = []
        for i, block in enumerate(blocks):
            self.names.append(f"layer{i}")
            self.add_module(f"layer{i}", block)
        self.final = final

    def blocks(self) -> list[tuple[str, Any]]:
        """Their names, which are their scopes, and themselves, from the first to the last."""
        return [(name, self._modules[name]) for name in self.names]


def layered(layers: int, sharing: str, make: Callable[[], nn.Module]) -> list[nn.Module]:
    """The blocks of a stack: objects of their own, one object again and again ("depth"; Dehghani et al. 2018, arXiv 1807.03819),
    or copies whose reads were built from one template that nobody copied ("aliased": a mistake; 000 0x0A.1)."""
    if sharing == "depth":
        return [make()] * layers
    blocks = [make() for _ in range(layers)]
    if sharing == "aliased":
        template, *others = (m for block in blocks for m in block.modules() if isinstance(m, attention.Attention))
        for other in others:
            other.W_Q, other.W_K, other.W_V, other.W_O = template.W_Q, template.W_K, template.W_V, template.W_O
    return blocks


def initialise(model: nn.Module, width: int) -> None:
    """Xavier for linear maps, as usual for the 2017 model; embeddings so that a row has length 1 whatever the width."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=width**-0.5)


@dataclass(frozen=True)
class Style:
    """What the formulas of a stack depend on. width: of a head; activation: its name; scale: what a token's vector is multiplied
    by, in LaTeX, or ""; position: "learned", "sinusoidal", else no vector is added; wiring: of its reads of itself."""

    width: int
    norm: Norm
    activation: str
    scale: str
    position: str
    wiring: attention.Wiring = attention.PLAIN


def formulas(at: str, relations: Sequence[Relation], style: Style, output: str) -> tuple[Formula, ...]:
    """Of one stack from its embedding to what it gives, which is tapped at the path `output`."""
    before = issubclass(style.norm, Pre)
    ffn = f"{at}.layer*.ffn"
    reads = (f for r in relations for f in _read_formulas(r, style))
    residual = (f for r in relations for f in norms.formulas(r.path.format(layer="*"), style.norm))
    return (
        *_embedding_formulas(f"{at}.embedding", style),
        *reads,
        *residual,
        *feed_forward_formulas(ffn, style.activation, "n_t" if before else "x_t"),
        *norms.formulas(ffn, style.norm),
        Formula(output, f"m_t = {norms.normalised(style.norm, 'x_t') if before else 'x_t'}", "each row after the last layer"),
        *(norms.parameters(f"parameter.{at}.final", style.norm, "m_t", "x_t") if before else ()),
    )


def _read_formulas(relation: Relation, style: Style) -> tuple[Formula, ...]:
    """A read of another owner's rows sees no place."""
    wiring = style.wiring if relation.query == relation.key else replace(style.wiring, place=None)
    return attention.formulas(relation, style.width, (relation.query, relation.key) != ("s", "s"), wiring)


def head_formulas(tied: bool) -> tuple[Formula, ...]:
    """Of the scores. A tied head is the embedding read backwards."""
    logits = Formula("logits", rf"z_t = m_t {p('E' if tied else 'W')}^{{\top}}", "one score for each vocabulary entry")
    return (logits,) if tied else (logits, Formula("parameter.head.weight", logits.latex, "scores every vocabulary entry"))


WAVES = r"\textstyle p_{t,2i} = \sin(t / 10000^{2i/d}), \; p_{t,2i+1} = \cos(\ldots)"


def _embedding_formulas(at: str, style: Style) -> tuple[Formula, ...]:
    token = rf"e_t = {style.scale} {p('E')}[\mathrm{{id}}_t]"
    place = rf"p_t = {p('P')}[t]" if style.position == "learned" else WAVES
    learned = Formula(f"parameter.{at}.position.weight", place, "one learned vector for each row number")
    both = (
        Formula(f"{at}.position", place, "where the row stands, as a vector"),
        Formula(f"{at}.sum", "x_t = e_t + p_t", "token and place together: what the first layer takes"),
    )
    alone = (Formula(f"{at}.sum", "x_t = e_t", "what the first layer takes: no place is added"),)
    return (
        Formula(f"{at}.token", token, "the token’s own vector"),
        *(both if style.position in ("learned", "sinusoidal") else alone),
        Formula(f"parameter.{at}.token.weight", token, "one learned vector for each vocabulary entry"),
        *((learned,) if style.position == "learned" else ()),
    )


def feed_forward_formulas(at: str, activation: str, x: str) -> tuple[Formula, ...]:
    before = rf"u_t = {x} {p('W_1')}^{{\top}} + {p('b_1')}"
    output = rf"o_t = h_t {p('W_2')}^{{\top}} + {p('b_2')}"
    return (
        Formula(f"{at}.before_activation", before, "what each hidden unit adds up, before its activation"),
        Formula(f"{at}.hidden", rf"h_t = \operatorname{{{activation}}}(u_t)", "the hidden units of a row"),
        Formula(f"{at}.output", output, "what the network adds to the row"),
        *linear(f"parameter.{at}.W_1", "u_t", x, "W_1", "b_1", "hidden units"),
        *linear(f"parameter.{at}.W_2", "o_t", "h_t", "W_2", "b_2", "the network’s output"),
    )
