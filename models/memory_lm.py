"""Recurrent language models that also read their own earlier outputs (source text 000, section 0x0E.3).

    LSTMN: Cheng, Dong and Lapata 2016, arXiv 1601.06733, eqs. 4-10. Two tapes, of hidden and of cell states; the read happens
    inside the update:
        a_i = v tanh(W_h h_i + W_x x_t + W_s h~_(t-1))  over i < t     s = softmax(a)     h~_t, c~_t = sum s_i h_i, sum s_i c_i
        i, f, o = sigmoid(W [h~_t, x_t])   g = tanh(W [h~_t, x_t])   c_t = f c~_t + i g   h_t = o tanh(c_t)

    Key-value(-predict) attention: Daniluk et al. 2017, arXiv 1702.04521, section 2. An LSTM's output is cut into roles, and the
    last L outputs are a memory:
        a_i = w tanh(W_Y k_i + W_h k_t)  over t - L <= i < t     r_t = sum softmax(a)_i v_i     h*_t = tanh(W_r r_t + W_x p_t)
    One role: k = v = p = h. Two: [k; v] and p = v. Three: [k; v; p].

Same-stream reading does not make these Transformers: the controller still goes from row to row, and nothing is projected to
queries, keys and values.

Axes: b request, h the one head, t target row, t' target row that is known, d token vector, n state, a alignment width, e role, v
vocabulary entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Relation, Spec
from models.parts import cells
from models.parts.attention import Readable, read_masks
from models.parts.cells import CellKind, Recurrence, States, kept_states
from models.parts.formulas import Formula, k, p, q, v
from models.parts.rows import Joining, joining
from models.parts.settings import setting
from models.parts.tap import Tap
from models.parts.visibility import Visibility

ROWS = 129
MEMORY = Relation("memory", "row reads earlier rows", "t", "t", Visibility("past"), "memory")
ROLES = ("one", "key_value", "key_value_predict")


@dataclass(frozen=True)
class LSTMNConfig:
    """One layer; its tapes grow by a row a step."""

    width: int = setting(48, "State width n", "of a row of either tape", low=4, high=128)
    d_token: int = setting(32, "Token width d", "length of a token's vector", low=4, high=128)
    alignment: int = setting(32, "Alignment width a", "of the hidden layer that scores", low=4, high=128)


@dataclass(frozen=True)
class KeyValueConfig:
    """One LSTM whose output does two or three jobs, cut apart or not."""

    roles: str = setting(
        "key_value_predict", "Roles", "parts of one output: what is it addressed by, read, predicts", choices=ROLES
    )
    width: int = setting(48, "Role width e", "of each part of the output", low=4, high=96)
    d_token: int = setting(32, "Token width d", "length of a token's vector", low=4, high=128)
    window: int = setting(15, "Memory L", "how many earlier outputs are kept", low=1, high=128, same_weights=True)


@dataclass(frozen=True)
class TapesState:
    """Rows known `[b]`, hidden and cell tapes `[b, 1, t', n]`, and the last read of the hidden tape `[b, n]`."""

    lengths: Tensor
    hidden: Tensor
    cell: Tensor
    summary: Tensor

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {
            "memory.hidden": (self.hidden, "b h t' n", True),
            "memory.cell": (self.cell, "b h t' n", True),
            "memory.summary": (self.summary, "b n", False),
        }


def _earlier(join: Joining, inputs: Inputs, dtype: torch.dtype, window: int = ROWS) -> Readable:
    """Who reads whom, as the person says it, but never a row that is not written yet and none beyond the window."""
    rows = join.rows
    asks = join.valid & (rows > 0)  # the first row has nothing behind it
    mask = read_masks(inputs, MEMORY, 1, rows, asks, join.known, dtype, limit=_behind(rows, join.known, window))[0]
    return mask


def _behind(rows: Tensor, known: Tensor, window: int) -> Tensor:
    away = rows[:, :, None] - torch.arange(known.shape[1], device=rows.device)
    return (away > 0) & (away <= window)


class LSTMN(nn.Module):
    """An LSTM that keeps every state it had and reads them before each update."""

    def __init__(self, config: LSTMNConfig, vocabulary: int) -> None:
        super().__init__()
        self.config, n, d, a = config, config.width, config.d_token, config.alignment
        self.token = nn.Embedding(vocabulary, d)
        self.W_h, self.W_x, self.W_s = nn.Linear(n, a, bias=False), nn.Linear(d, a), nn.Linear(n, a, bias=False)
        self.v = nn.Linear(a, 1, bias=False)
        self.W = nn.Linear(n + d, 4 * n)  # input, forget, candidate, output
        self.head = nn.Linear(n, vocabulary)
        with torch.no_grad():
            self.W.bias[n : 2 * n] = 1.0

    def initial_state(self, batch: int) -> TapesState:
        like, n = self.token.weight, self.config.width
        tape = like.new_zeros(batch, 1, 0, n)
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return TapesState(lengths, tape, tape, like.new_zeros(batch, n))

    def forward(self, inputs: Inputs, state: TapesState, tap: Tap) -> tuple[Outputs, TapesState]:
        x = tap("token", self.token(tap("ids", inputs.target.values, "b t", "ids")), "b t d")
        join = joining(state.lengths, state.hidden.shape[2], inputs.target, ROWS)
        may_read, here = _earlier(join, inputs, x.dtype), tap / "memory"
        here("mask", may_read.mask, "b t t'", "mask")
        empty = x.new_zeros(len(x), 1, x.shape[1], self.config.width)
        hidden, cell = join.join(state.hidden, empty)[:, 0], join.join(state.cell, empty)[:, 0]  # b t' n, new rows still 0
        summary, given, rows = state.summary, self.W_x(x), []
        for t in range(x.shape[1]):
            at, real = here.at("t", t), join.valid[:, t, None]
            read = self.read(hidden, cell, given[:, t], summary, may_read, t, at)
            h, c = self.update(x[:, t], *read, at)
            summary = torch.where(real, read[0], summary)
            place = (torch.arange(hidden.shape[1], device=x.device) == join.rows[:, t, None]) & real
            hidden = torch.where(place[..., None], h[:, None], hidden)
            cell = torch.where(place[..., None], c[:, None], cell)
            rows.append(h)
        top = torch.stack(rows, 1) if rows else x.new_zeros(len(x), 0, self.config.width)
        logits = tap("logits", self.head(top), "b t v", "logits")
        return Outputs("next_token", logits), TapesState(join.lengths, hidden[:, None], cell[:, None], summary)

    def read(
        self, hidden: Tensor, cell: Tensor, given: Tensor, summary: Tensor, may_read: Readable, t: int, tap: Tap
    ) -> tuple[Tensor, Tensor]:
        """Adaptive summaries h~ and c~ `[b, n]` of the tapes `[b, t', n]`."""
        joint = tap("joint", torch.tanh(self.W_h(hidden) + (given + self.W_s(summary))[:, None]), "b t' a")
        scores = tap("scores", self.v(joint)[..., 0][:, None], "b h t'", "scores")
        weights = tap("weights", may_read.at(t).softmax(scores[:, :, None])[:, :, 0], "b h t'", "weights")
        return tap("read_hidden", (weights @ hidden)[:, 0], "b n"), tap("read_cell", (weights @ cell)[:, 0], "b n")

    def update(self, x: Tensor, h: Tensor, c: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        """The LSTM's gates from the read and this row; its cell continues the cell that was read."""
        i, f, g, o = self.W(torch.cat((h, x), -1)).chunk(4, -1)
        i, f, o = (tap(name, gate.sigmoid(), "b n") for name, gate in (("input", i), ("forget", f), ("output", o)))
        c = tap("new_cell", f * c + i * tap("candidate", g.tanh(), "b n"), "b n", "state")
        return tap("new_hidden", o * c.tanh(), "b n", "state"), c


@dataclass(frozen=True)
class OutputsState:
    """Rows known `[b]`, the controller's states, keys and values of all rows `[b, 1, t', e]`; the last L of them are read."""

    lengths: Tensor
    layers: tuple[States, ...]
    keys: Tensor
    values: Tensor | None  # None where one output plays both roles

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        kept = {"memory.keys": (self.keys, "b h t' e", True)}
        kept |= {} if self.values is None else {"memory.values": (self.values, "b h t' e", True)}
        return kept | kept_states("controller", ("hidden", "cell"), self.layers)


class KeyValue(nn.Module):
    """An LSTM whose outputs, in roles, are read again for L rows."""

    def __init__(self, config: KeyValueConfig, vocabulary: int) -> None:
        super().__init__()
        self.config, e = config, config.width
        self.parts = ROLES.index(config.roles) + 1
        self.token = nn.Embedding(vocabulary, config.d_token)
        self.controller = Recurrence(CellKind("lstm"), config.d_token, e * self.parts, 1, "t")
        self.W_Y, self.W_h, self.w = nn.Linear(e, e, bias=False), nn.Linear(e, e, bias=False), nn.Linear(e, 1, bias=False)
        self.W_r, self.W_x = nn.Linear(e, e, bias=False), nn.Linear(e, e, bias=False)
        self.head = nn.Linear(e, vocabulary)

    def initial_state(self, batch: int) -> OutputsState:
        like = self.token.weight
        empty = like.new_zeros(batch, 1, 0, self.config.width)
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return OutputsState(lengths, self.controller.initial(batch, like), empty, None if self.parts == 1 else empty)

    def forward(self, inputs: Inputs, state: OutputsState, tap: Tap) -> tuple[Outputs, OutputsState]:
        x = tap("token", self.token(tap("ids", inputs.target.values, "b t", "ids")), "b t d")
        join = joining(state.lengths, state.keys.shape[2], inputs.target, ROWS)
        may_read, here = _earlier(join, inputs, x.dtype, self.config.window), tap / "memory"
        here("window", _behind(join.rows, join.known, self.config.window), "b t t'", "mask")
        rows, layers = self.controller(x, join.valid, state.layers, tap / "controller")
        roles = rows.chunk(self.parts, -1)
        key, predict = tap("key", roles[0], "b t e"), tap("predict", roles[-1], "b t e")
        keys = values = join.join(state.keys, key[:, None])
        if state.values is not None:
            values = join.join(state.values, tap("value", roles[1], "b t e")[:, None])
        read = self.read(
            key, here("keys", keys, "b h t' e", "state"), here("values", values, "b h t' e", "state"), may_read, here
        )
        output = tap("output", torch.tanh(self.W_r(read) + self.W_x(predict)), "b t e")
        logits = tap("logits", self.head(output), "b t v", "logits")
        kept = OutputsState(join.lengths, layers, keys, None if state.values is None else values)
        return Outputs("next_token", logits), kept

    def read(self, key: Tensor, keys: Tensor, values: Tensor, may_read: Readable, tap: Tap) -> Tensor:
        """Rows `[b, t, e]` read keys and values `[b, 1, t', e]`: `[b, t, e]`."""
        tap("mask", may_read.mask, "b t t'", "mask")
        joint = torch.tanh(self.W_Y(keys) + self.W_h(key)[:, :, None])  # b t t' e
        scores = tap("scores", self.w(joint)[..., 0][:, None], "b h t t'", "scores")
        weights = tap("weights", may_read.softmax(scores), "b h t t'", "weights")
        return tap("read", (weights @ values)[:, 0], "b t e")


def _lstmn_formulas(config: LSTMNConfig) -> tuple[Formula, ...]:
    last = r"\tilde h_{t-1}"
    joint = rf"\tanh({k('h')}_j {p('W_h')}^{{\top}} + x_t {p('W_x')}^{{\top}} + {q(last)} {p('W_s')}^{{\top}})"
    both = rf"[\tilde h_t; x_t] {p('W')}^{{\top}} + {p('b')}"
    gates = {"input": r"i = \sigma", "forget": r"f = \sigma", "output": r"o = \sigma", "candidate": r"g = \tanh"}
    return (
        Formula("token", rf"x_t = {p('E')}[id_t]", "the token’s learned vector"),
        Formula("memory.joint", joint, "row, earlier state and last read in one hidden layer"),
        Formula("memory.scores", rf"a_{{tj}} = {p('v')}^{{\top}} {joint}", "how well an earlier state fits this row"),
        Formula("memory.weights", rf"{v('A')} = \operatorname{{softmax}}(a + M)", "share of each earlier row"),
        Formula("memory.read_hidden", rf"\tilde h_t = \sum_j {v('A')}_{{tj}} {v('h')}_j", "the hidden tape, read"),
        Formula("memory.read_cell", rf"\tilde c_t = \sum_j {v('A')}_{{tj}} {v('c')}_j", "the cell tape, read alike"),
        *(Formula(f"memory.{name}", f"{latex}({both})", "what could be written" if name == "candidate" else "a gate")
          for name, latex in gates.items()),
        Formula("memory.new_cell", r"c_t = f \odot \tilde c_t + i \odot g", "written to the cell tape"),
        Formula("memory.new_hidden", r"h_t = o \odot \tanh(c_t)", "written to the hidden tape"),
        Formula("logits", rf"\ell_t = h_t {p('W')}^{{\top}} + {p('b')}", "one score for each word that may come next"),
    )  # fmt: skip


def _key_value_formulas(config: KeyValueConfig) -> tuple[Formula, ...]:
    joint = rf"\tanh({k('k')}_j {p('W_Y')}^{{\top}} + {q('k_t')} {p('W_h')}^{{\top}})"
    parts = {"one": "k = v = p = h", "key_value": "h = [k; v], p = v", "key_value_predict": "h = [k; v; p]"}[config.roles]
    return (
        Formula("token", rf"x_t = {p('E')}[id_t]", "the token’s learned vector"),
        *cells.formulas("controller.layer*", CellKind("lstm")),
        Formula("key", parts, "the part that is searched by"),
        Formula("predict", parts, "the part that predicts"),
        Formula("memory.window", rf"t - {config.window} \le j < t", "earlier rows that are still read"),
        Formula("memory.scores", rf"a_{{tj}} = {p('w')}^{{\top}} {joint}", "how well an earlier key fits this one"),
        Formula(
            "memory.weights", rf"{v('A')} = \operatorname{{softmax}}(a + M)", f"share of each of the last {config.window} rows"
        ),
        Formula("memory.read", rf"r_t = \sum_j {v('A')}_{{tj}} {v('v')}_j", "what the last rows give"),
        Formula(
            "output", rf"h^*_t = \tanh(r_t {p('W_r')}^{{\top}} + p_t {p('W_x')}^{{\top}})", "what was read, and the row itself"
        ),
        Formula("logits", rf"\ell_t = h^*_t {p('W')}^{{\top}} + {p('b')}", "one score for each word that may come next"),
    )


def _build_lstmn(config: LSTMNConfig, source: int | None, target: int) -> nn.Module:
    return LSTMN(config, target)


def _build_key_value(config: KeyValueConfig, source: int | None, target: int) -> nn.Module:
    return KeyValue(config, target)


def _spec(id: str, name: str, summary: str, inventory: str, paper: str, config: type, build: Any, formulas: Any) -> Spec:
    return Spec(
        id=id,
        name=name,
        family="Recurrent with attention",
        summary=summary,
        inventory=(inventory,),
        paper=paper,
        config=config,
        build=build,
        relations=(MEMORY,),
        phases=("train", "prefill", "decode"),
        tasks=("dyck", "language_model"),
        layers=lambda config: 1,
        capabilities=Capabilities(largest_rows=ROWS),
        formulas=formulas,
    )


SPECS = (
    _spec("lstmn", "LSTMN", "An LSTM that keeps all its states on two tapes and reads them before each update.", "A21",
          "Cheng, Dong and Lapata 2016, Long Short-Term Memory-Networks for Machine Reading, arXiv 1601.06733",
          LSTMNConfig, _build_lstmn, _lstmn_formulas),
    _spec("key_value", "Key-value-predict", "One LSTM output cut into roles; the last L outputs are read again.", "A22",
          "Daniluk et al. 2017, Frustratingly Short Attention Spans in Neural Language Modeling, arXiv 1702.04521",
          KeyValueConfig, _build_key_value, _key_value_formulas),
)  # fmt: skip
