"""A structured self-attentive sentence embedding: r hops over the states of a BiLSTM (source text 000, section 0x0E.3).

    H = [forwards; backwards]    A = softmax(W2 tanh(W1 H^T))    M = A H    logits = W relu(V M + c) + b
    loss = cross-entropy + penalty * ||A A^T - I||_F^2

Lin et al. 2017, arXiv 1703.03130, equations 1-8. A hop is a row of weights over the words, asked by nothing but what was
learned: it is no head. A head has queries, keys and values of its own for every row; a hop has one learned row of W2, and all
hops weigh the same H. The penalty keeps them from weighing the same places.

Axes: b request, s source row, r hop, h the one map, d token vector, n state, m both directions, a attention width, f hidden
width, v class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Relation, Rows, Spec
from models.parts import cells
from models.parts.attention import read_masks
from models.parts.cells import CellKind, Recurrence
from models.parts.formulas import Formula, k, linear, p, v
from models.parts.settings import setting
from models.parts.tap import Tap
from models.parts.visibility import Visibility

HOPS = Relation("hops", "hop weighs source", "r", "s", Visibility("full"), "hops")
LSTM = CellKind("lstm")


@dataclass(frozen=True)
class Config:
    """The paper's shapes (r = 30, u = 300, a = 350) in a size for short names."""

    hops: int = setting(4, "Hops r", "rows of weights over the same states", low=1, high=16)
    width: int = setting(48, "State width u", "of each direction", low=4, high=128)
    d_token: int = setting(24, "Token width d", "length of a token's vector", low=4, high=128)
    attention: int = setting(32, "Attention width a", "of the hidden layer that weighs", low=4, high=128)
    hidden: int = setting(48, "Hidden width f", "between the embedding and the classes", low=4, high=256)
    penalty: float = setting(
        0.3, "Penalty", "how much hops that weigh alike cost; 0: nothing", low=0.0, high=10.0, same_weights=True
    )


@dataclass(frozen=True)
class Nothing:
    """Nothing is kept: the whole source is read in one call."""

    lengths: Tensor

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {}


class Hops(nn.Module):
    """Equations 6-8: all rows of weights at once, and what they make of H."""

    def __init__(self, width: int, attention: int, hops: int) -> None:
        super().__init__()
        self.W1, self.W2 = nn.Linear(width, attention, bias=False), nn.Linear(attention, hops, bias=False)

    def forward(self, rows: Tensor, source: Rows, inputs: Inputs, tap: Tap) -> tuple[Tensor, Tensor]:
        """H `[b, s, m]` -> A `[b, 1, r, s]` and M `[b, r, m]`."""
        hops = self.W2.out_features
        hop = torch.arange(hops, device=rows.device).expand(len(rows), hops)
        mask = read_masks(inputs, HOPS, 1, hop, torch.ones_like(hop, dtype=torch.bool), source.valid, rows.dtype)[0]
        tap("mask", mask.mask, "b r s", "mask")
        hidden = tap("hidden", torch.tanh(self.W1(rows)), "b s a")
        scores = tap("scores", self.W2(hidden).transpose(1, 2)[:, None], "b h r s", "scores")
        weights = tap("weights", mask.softmax(scores), "b h r s", "weights")
        return weights, tap("embedding", (weights @ rows[:, None])[:, 0], "b r m")


def penalty(weights: Tensor) -> Tensor:
    """||A A^T - I||_F^2 of each request `[b]`, of A `[b, r, s]` (equation 8)."""
    alike = weights @ weights.transpose(1, 2)
    return (alike - torch.eye(alike.shape[1], dtype=alike.dtype, device=alike.device)).square().sum((1, 2))


class Structured(nn.Module):
    """Letters to a matrix of r rows, that to a class."""

    def __init__(self, config: Config, words: int, classes: int) -> None:
        super().__init__()
        self.config, n = config, config.width
        self.token = nn.Embedding(words, config.d_token)
        self.forwards, self.backwards = (Recurrence(LSTM, config.d_token, n, 1, "s") for _ in range(2))
        self.hops = Hops(2 * n, config.attention, config.hops)
        self.mix, self.head = nn.Linear(config.hops * 2 * n, config.hidden), nn.Linear(config.hidden, classes)

    def initial_state(self, batch: int) -> Nothing:
        return Nothing(torch.zeros(batch, dtype=torch.int64, device=self.token.weight.device))

    def forward(self, inputs: Inputs, state: Nothing, tap: Tap) -> tuple[Outputs, Nothing]:
        source = inputs.source
        if source is None:
            raise ValueError("source: none given; this model reads its whole source in one call")
        here = tap / "encoder"
        x = here("token", self.token(here("ids", source.values, "b s", "ids")), "b s d")
        start = self.forwards.initial(len(x), x)
        right, _ = self.forwards(x, source.valid, start, here / "forwards")
        left, _ = self.backwards(x, source.valid, start, here / "backwards", backwards=True)
        rows = here("rows", torch.cat((right, left), -1), "b s m")
        weights, matrix = self.hops(rows, source, inputs, tap / "hops")
        alike = (tap / "hops")("penalty", penalty(weights[:, 0]), "b", "loss")
        hidden = tap("hidden", torch.relu(self.mix(matrix.flatten(1))), "b f")
        logits = tap("logits", self.head(hidden), "b v", "logits")
        added = {"penalty": self.config.penalty * alike.mean()} if self.config.penalty else {}
        return Outputs("class", logits, added), replace(state)


def _formulas(config: Config) -> tuple[Formula, ...]:
    weights = v("A")
    return (
        Formula("encoder.token", rf"x_s = {p('E')}[id_s]", "the letter’s learned vector"),
        *cells.formulas("encoder.forwards.layer*", LSTM, "s", "x_s"),
        *cells.formulas("encoder.backwards.layer*", LSTM, "s", "x_s", "s+1"),
        Formula("encoder.rows", r"h_s = [\overrightarrow{h}_s; \overleftarrow{h}_s]", "a source row, read from both sides"),
        Formula(
            "hops.mask", r"M_{rs} = 0 \text{ if hop } r \text{ may weigh row } s \text{, else } -\infty", "what may be weighed"
        ),
        Formula("hops.hidden", rf"\tanh(h_s {p('W_1')}^{{\top}})", "what the hops weigh a row by"),
        Formula("hops.scores", rf"e_{{rs}} = {p('w_{2,r}')} \cdot \tanh({p('W_1')} {k('h')}_s)", "one learned row a hop asks"),
        Formula("hops.weights", rf"{weights} = \operatorname{{softmax}}(e + M)", f"{config.hops} hops: each shares itself out"),
        Formula("hops.embedding", rf"M_r = \sum_s {weights}_{{rs}} {v('h')}_s", "the name as this hop sees it"),
        Formula(
            "hops.penalty",
            rf"\lVert {weights} {weights}^{{\top}} - I \rVert_F^2",
            f"how alike the hops are; {config.penalty:g} of its mean is added to the loss",
        ),
        Formula("hidden", rf"z = \operatorname{{relu}}([M_1; \ldots; M_r] {p('V')}^{{\top}} + {p('c')})", "all hops together"),
        Formula("logits", rf"\ell = z {p('W')}^{{\top}} + {p('b')}", "one score for each class"),
        *linear("parameter.mix", "z", "M", "V", "c", "the hidden layer", "b"),
        *linear("parameter.head", r"\ell", "z", of="the scores", row="b"),
    )


def _build(config: Config, source: int | None, target: int) -> nn.Module:
    if source is None:
        raise ValueError("source vocabulary: none given; this model reads a source")
    return Structured(config, source, target)


def _limits(config: Config) -> str:
    if config.penalty:
        return ""
    return "Nothing keeps the hops apart: compare the cosine of two hops, and where they look, with a penalty."


SPEC = Spec(
    id="structured",
    name="Structured self-attention",
    family="Recurrent with attention",
    summary="Several hops weigh the same states; together they are the sentence. A hop is no head.",
    inventory=("A23",),
    paper="Lin et al. 2017, A Structured Self-Attentive Sentence Embedding, arXiv 1703.03130",
    config=Config,
    build=_build,
    relations=(HOPS,),
    phases=("train", "prefill"),
    tasks=("languages",),
    layers=lambda config: 1,
    capabilities=Capabilities(has_source=True, causal=False, streams=False),
    formulas=_formulas,
    rows_of=lambda config: {"r": config.hops},
    limits=_limits,
)
