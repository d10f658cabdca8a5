"""RNNsearch: the decoder's last state asks, and what it reads enters the next state (source text 000, section 0x04E).

    e_ts = v tanh(W s_(t-1) + U h_s)    a_t = softmax(e_t)    c_t = sum a_ts h_s    s_t = cell([y_(t-1); c_t], s_(t-1))

Bahdanau, Cho and Bengio 2015, arXiv 1409.0473, sections 3.1-3.2 and appendix A. h_s = [forwards; backwards]; the output is a
maxout of state, last token and context.

Axes: b request, h the one head, s source row, t target row, d token vector, n state, m annotation, a alignment width, v
vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from models import Rows
from models.parts import cells
from models.parts.attention import Readable
from models.parts.cells import KINDS, RESETS, UPDATES, CellKind, Recurrence, States
from models.parts.formulas import Formula, p
from models.parts.reading import CELL, WEIGHTS, Memory, Read, Reading, ReadingState, read_formulas, reading_spec
from models.parts.scores import Additive
from models.parts.settings import setting
from models.parts.tap import Tap


@dataclass(frozen=True)
class Config:
    """RNNsearch in a size that trains in a minute."""

    cell: str = setting("gru", "Cell", "the paper's gated unit", choices=KINDS)
    update: str = setting("writes", "GRU: z near 1", "carries the old state (Cho) or writes (Bahdanau)", choices=UPDATES)
    reset: str = setting("before", "GRU: reset acts", "before or after the product with U", choices=RESETS)
    width: int = setting(64, "State width n", "of each direction and of the decoder", low=4, high=128)
    d_token: int = setting(32, "Token width d", "length of a token's vector", low=4, high=128)
    alignment: int = setting(32, "Alignment width a", "of the hidden layer that scores", low=4, high=128)
    readout: str = setting("new", "Readout state", "s_t (section 3.1), s_(t-1) (appendix A.2.2)", choices=("new", "previous"))


class Bahdanau(Reading):
    """RNNsearch: s_(t-1) asks, c_t is made, then s_t; the output is made from (y_(t-1), s, c_t) by maxout (appendix A.2.2)."""

    feeds = False

    def __init__(self, config: Config, source_vocabulary: int, vocabulary: int) -> None:
        super().__init__()
        self.config, n, d = config, config.width, config.d_token
        kind = CellKind(config.cell, config.update, config.reset)
        self.source, self.target = nn.Embedding(source_vocabulary, d), nn.Embedding(vocabulary, d)
        self.forwards, self.backwards = Recurrence(kind, d, n, 1, "s"), Recurrence(kind, d, n, 1, "s")
        self.initial = nn.Linear(n, n)
        self.read = Read(Additive(n, 2 * n, config.alignment))
        self.decoder = Recurrence(kind, d + 2 * n, n, 1, "t")
        self.deep = nn.Linear(n + d + 2 * n, 2 * n)
        self.head = nn.Linear(n, vocabulary)

    def encode(self, source: Rows, state: ReadingState, tap: Tap) -> ReadingState:
        x = tap("token", self.source(tap("ids", source.values, "b s", "ids")), "b s d")
        start = self.forwards.initial(len(x), x)
        right, _ = self.forwards(x, source.valid, start, tap / "forwards")
        left, after = self.backwards(x, source.valid, start, tap / "backwards", backwards=True)
        rows = tap("annotations", torch.cat((right, left), -1), "b s m")
        first = tap("initial", torch.tanh(self.initial(after[0][0])), "b n", "state")  # from the leftmost state, A.2.2
        rest = tuple(torch.zeros_like(first) for _ in self.decoder.names[1:])
        return replace(state, layers=((first, *rest),), memory=self.read.remember(rows, source))

    def row(
        self, y: Tensor, row: Tensor, layers: tuple[States, ...], fed: Tensor | None, memory: Memory, mask: Readable, tap: Tap
    ) -> tuple[Tensor, tuple[States, ...], Tensor]:
        before = layers[0][0]
        context = self.read(before, memory, mask, tap / "cross")
        state, layers = self.decoder.step(torch.cat((y, context), -1), layers, tap)
        asked = state if self.config.readout == "new" else before
        pieces = self.deep(torch.cat((asked, y, context), -1)).unflatten(-1, (-1, 2))
        return (tap / "readout")("maxout", pieces.amax(-1), "b n"), layers, state


def _formulas(config: Config) -> tuple[Formula, ...]:
    kind = CellKind(config.cell, config.update, config.reset)
    asked = "s_t" if config.readout == "new" else "s_{t-1}"
    return (
        Formula("encoder.token", rf"x_s = {p('E')}[id_s]", "the source token’s learned vector"),
        *cells.formulas("encoder.forwards.layer*", kind, "s", "x_s"),
        *cells.formulas("encoder.backwards.layer*", kind, "s", "x_s", "s+1"),
        Formula(
            "encoder.annotations", r"h_s = [\overrightarrow{h}_s; \overleftarrow{h}_s]", "a source row, read from both sides"
        ),
        Formula("decoder.token", rf"y_t = {p('E')}[id_t]", "the target token’s learned vector"),
        *read_formulas("additive", WEIGHTS, "s_{t-1}", "the state before this row"),
        *cells.formulas("decoder.layer*", kind, "t", "[y_t; c_t]", state="s", cell=CELL),
        Formula(
            "decoder.readout.maxout",
            rf"m_t = \max(\text{{pairs of }} [{asked}; y_t; c_t] {p('W')}^{{\top}} + {p('b')})",
            "maxout",
        ),
        Formula("logits", rf"\ell_t = m_t {p('W')}^{{\top}} + {p('b')}", "one score for each word that may come next"),
    )


SPEC = reading_spec(
    "bahdanau",
    "Bahdanau",
    "The decoder's last state asks; the context of its read enters the next state.",
    ("A5",),
    "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate, arXiv 1409.0473",
    Config,
    Bahdanau,
    _formulas,
)
