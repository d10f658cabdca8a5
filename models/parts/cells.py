"""Recurrent cells and the loop over rows that they share (source text 000, section 0x03).

A cell is one update: `(what this row gives, state) -> state`. Its first state is the hidden one, which the next layer reads.

    tanh        h' = tanh(W x + U h)                                                    Elman 1990
    GRU         r, z = sigmoid(W x + U h)    h~ = tanh(W x + U (r h))  or  tanh(W x + r (U h))
                h' = z h + (1 - z) h~   (z near 1 carries)   or   h' = (1 - z) h + z h~   (z near 1 writes)
                Cho et al. 2014, arXiv 1406.1078, eqs. 5-8 (carries, reset before the product); Bahdanau et al. 2015, arXiv
                1409.0473, appendix A.1.1 (writes, before); reset after the product is what cuDNN and torch.nn compute.
    LSTM        i, f, o = sigmoid(W x + U h)    g = tanh(W x + U h)    c' = f c + i g    h' = o tanh(c')
                Gers et al. 2000; without f it is Hochreiter and Schmidhuber 1997: c' = c + i g.

Axes: b request, s or t the row that the loop stands at, n state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.parts.carrying import Carry, Factor
from models.parts.formulas import Formula, p
from models.parts.tap import Tap

States = tuple[Tensor, ...]  # of one layer: hidden, and the cell of an LSTM, each [b, n]

KINDS = ("tanh", "gru", "lstm", "lstm_1997")
UPDATES = ("carries", "writes")
RESETS = ("before", "after")


@dataclass(frozen=True)
class CellKind:
    """Which cell, one of `KINDS`, and the two switches of a GRU, of `UPDATES` and `RESETS` (other cells have neither)."""

    kind: str
    update: str = "carries"
    reset: str = "before"


class TanhCell(nn.Module):
    """One state, no gate: what was goes through U again and again."""

    names: tuple[str, ...] = ("hidden",)

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.W, self.U = nn.Linear(inputs, width), nn.Linear(width, width, bias=False)

    def forward(self, given: Tensor, state: States, tap: Tap) -> States:
        """given: W x of this row `[b, n]`, made for all rows at once."""
        return (tap("hidden", torch.tanh(torch.addmm(given, state[0], self.U.weight.T)), "b n", "state"),)


class GRUCell(nn.Module):
    """Two gates on one state. What z near 1 means is one switch, where the reset gate acts is the other."""

    names: tuple[str, ...] = ("hidden",)

    def __init__(self, inputs: int, width: int, update: str, reset: str) -> None:
        super().__init__()
        self.W = nn.Linear(inputs, 3 * width)  # reset, update, candidate
        self.carries = update == "carries"
        before = reset == "before"
        self.U = nn.Linear(width, 2 * width, bias=False) if before else nn.Linear(width, 3 * width)
        self.U_candidate = nn.Linear(width, width, bias=False) if before else None

    def forward(self, given: Tensor, state: States, tap: Tap) -> States:
        (h,) = state
        n = h.shape[-1]
        (gates, candidate), (read, *past) = given.split(2 * n, -1), self.U(h).split(2 * n, -1)
        r, z = torch.sigmoid(gates + read).chunk(2, -1)
        r, z = tap("reset", r, "b n"), tap("update", z, "b n")
        if self.U_candidate is None:
            inner = torch.addcmul(candidate, r, past[0])
        else:
            inner = torch.addmm(candidate, r * h, self.U_candidate.weight.T)
        candidate = tap("candidate", torch.tanh(inner), "b n")
        old, new = (candidate, h) if self.carries else (h, candidate)
        return (tap("hidden", torch.lerp(old, new, z), "b n", "state"),)  # (1 - z) old + z new


class LSTMCell(nn.Module):
    """A cell that is added to, behind gates; the forget gate came in 2000."""

    names: tuple[str, ...] = ("hidden", "cell")

    def __init__(self, inputs: int, width: int, forget: bool) -> None:
        super().__init__()
        parts = 4 if forget else 3  # input, forget, candidate, output, as torch.nn orders them
        self.W, self.U = nn.Linear(inputs, parts * width), nn.Linear(width, parts * width, bias=False)
        self.entries = 2 if forget else 1  # gates before the candidate
        if forget:
            with torch.no_grad():
                self.W.bias[width : 2 * width] = 1.0  # begins by remembering (Gers et al. 2000)

    def forward(self, given: Tensor, state: States, tap: Tap) -> States:
        h, c = state
        n = h.shape[-1]
        gates, g, o = torch.addmm(given, h, self.U.weight.T).split((self.entries * n, n, n), -1)
        i, *f = gates.sigmoid().chunk(self.entries, -1)
        i, g, o = tap("input", i, "b n"), tap("candidate", g.tanh(), "b n"), tap("output", o.sigmoid(), "b n")
        old = tap("forget", f[0], "b n") * c if f else c
        c = tap("cell", torch.addcmul(old, i, g), "b n", "state")
        return tap("hidden", o * torch.tanh(c), "b n", "state"), c


Cell = TanhCell | GRUCell | LSTMCell


def make_cell(kind: CellKind, inputs: int, width: int) -> Cell:
    """The cell of that kind for rows of `inputs` numbers and a state of `width`."""
    match kind.kind:
        case "tanh":
            return TanhCell(inputs, width)
        case "gru":
            return GRUCell(inputs, width, kind.update, kind.reset)
        case "lstm" | "lstm_1997":
            return LSTMCell(inputs, width, kind.kind == "lstm")
    raise ValueError(f"cell was given {kind.kind!r}; allowed: {', '.join(KINDS)}")


class Recurrence(nn.Module):
    """Layers of cells over rows: layer i reads the hidden states of layer i - 1.

    owner: the letter of the rows, "s" or "t". Padding leaves a state as it was, so a state after the loop is that of each
    request's last real row (of its first one, backwards).
    """

    def __init__(self, kind: CellKind, inputs: int, width: int, layers: int, owner: str) -> None:
        super().__init__()
        self.width, self.owner = width, owner
        self.layers = nn.ModuleList(make_cell(kind, width if i else inputs, width) for i in range(layers))
        self.names: tuple[str, ...] = self.layers[0].names  # type: ignore[assignment]

    def initial(self, batch: int, like: Tensor) -> tuple[States, ...]:
        """A state of zeros for each layer."""
        return tuple(tuple(like.new_zeros(batch, self.width) for _ in self.names) for _ in self.layers)

    def forward(
        self, x: Tensor, valid: Tensor, states: Sequence[States], tap: Tap, *, backwards: bool = False, truncate: int = 0
    ) -> tuple[Tensor, tuple[States, ...]]:
        """Rows `[b, r, inputs]`, valid `[b, r]` -> hidden states of the top layer `[b, r, n]` and the states after the loop.

        truncate: the gradient does not cross from one group of so many rows into the one before (0: it crosses all;
        truncated backpropagation through time, Williams and Peng 1990). The numbers of the forward pass stay.
        """
        after = []
        order = range(x.shape[1])[:: -1 if backwards else 1]
        padded = not bool(valid.all())
        for i, (cell, state) in enumerate(zip(self.layers, states, strict=True)):
            given, here, rows = cell.W(x), tap / f"layer{i}", [x] * len(order)  # type: ignore[operator]
            for count, r in enumerate(order):
                if truncate and count and count % truncate == 0:
                    state = tuple(s.detach() for s in state)
                new = cell(given[:, r], state, here.at(self.owner, r))
                state = held(valid[:, r], new, state) if padded else new
                rows[r] = state[0]
            x = torch.stack(rows, 1) if rows else x.new_zeros(x.shape[0], 0, self.width)
            after.append(state)
        return x, tuple(after)

    def step(self, x: Tensor, states: Sequence[States], tap: Tap) -> tuple[Tensor, tuple[States, ...]]:
        """One row `[b, inputs]` through all layers, for a decoder that reads between its steps. tap: that of the step."""
        after = []
        for i, (cell, state) in enumerate(zip(self.layers, states, strict=True)):
            state = cell(cell.W(x), state, tap / f"layer{i}")  # type: ignore[operator]
            x = state[0]
            after.append(state)
        return x, tuple(after)


def held(real: Tensor, new: States, old: States) -> States:
    """The new states, but for requests whose row is padding `[b]`: those stand as they stood."""
    return tuple(torch.where(real[:, None], n, o) for n, o in zip(new, old, strict=True))


def kept_states(path: str, names: Sequence[str], states: Sequence[States]) -> dict[str, tuple[Tensor, str, bool]]:
    """What `State.kept` says of a recurrence: its states by path; none of them grows."""
    return {
        f"{path}.layer{i}.{name}": (value, "b n", False)
        for i, state in enumerate(states)
        for name, value in zip(names, state, strict=True)
    }


def carries(at: str, kind: CellKind) -> tuple[Carry, ...]:
    """The states of one recurrence that gates alone decide over: a cell of an LSTM, h of a GRU. A tanh RNN has none."""
    if kind.kind == "gru":
        writes = kind.update == "writes"
        return (Carry(at, "hidden", Factor("update", writes), (Factor("update", not writes), Factor("candidate"))),)
    if kind.kind == "tanh":
        return ()
    keeps = Factor("forget") if kind.kind == "lstm" else None
    return (Carry(at, "cell", keeps, (Factor("input"), Factor("candidate")), shown=("hidden", "output")),)


def formulas(
    at: str, kind: CellKind, row: str = "t", x: str = "x_t", before: str = "", state: str = "h", cell: str = "c"
) -> tuple[Formula, ...]:
    """How one recurrence's gates and states come about. row: its number; x: what a layer is given; before: the row before.

    state, cell: the paper's letters for them; beside a context c an LSTM's cell needs another."""
    past = before or f"{row}-1"
    last = f"{state}_{{{past}}}"
    both = rf"{x} {p('W')}^{{\top}} + {last} {p('U')}^{{\top}} + {p('b')}"
    if kind.kind == "tanh":
        return (
            Formula(f"{at}.hidden", rf"{state}_{row} = \tanh({both})", "the state, made anew of this row and the state before"),
        )
    if kind.kind == "gru":
        return _gru_formulas(at, kind, f"{state}_{row}", x, last, both)
    return _lstm_formulas(at, kind.kind == "lstm", f"{state}_{row}", (f"{cell}_{row}", f"{cell}_{{{past}}}"), both)


def _gru_formulas(at: str, kind: CellKind, state: str, x: str, last: str, both: str) -> tuple[Formula, ...]:
    inner = (
        rf"(r \odot {last}) {p('U')}^{{\top}}" if kind.reset == "before" else rf"r \odot ({last} {p('U')}^{{\top}} + {p('b')})"
    )
    carries = kind.update == "carries"
    kept, new = ("z", "(1 - z)") if carries else ("(1 - z)", "z")
    near = "near 1 it carries the old state" if carries else "near 1 it writes"
    return (
        Formula(f"{at}.reset", rf"r = \sigma({both})", "how much of the old state the candidate sees"),
        Formula(f"{at}.update", rf"z = \sigma({both})", near),
        Formula(f"{at}.candidate", rf"\tilde h = \tanh({x} {p('W')}^{{\top}} + {inner} + {p('b')})", "what could be written"),
        Formula(
            f"{at}.hidden", rf"{state} = {kept} \odot {last} + {new} \odot \tilde h", "the state, part kept and part written"
        ),
    )


def _lstm_formulas(at: str, forget: bool, state: str, cells: tuple[str, str], both: str) -> tuple[Formula, ...]:
    cell, last = cells
    old = rf"f \odot {last}" if forget else last
    keeps = Formula(f"{at}.forget", rf"f = \sigma({both})", "how much of the old cell stays")
    return (
        Formula(f"{at}.input", rf"i = \sigma({both})", "how much of the candidate is written"),
        *((keeps,) if forget else ()),
        Formula(f"{at}.output", rf"o = \sigma({both})", "how much of the cell is shown"),
        Formula(f"{at}.candidate", rf"g = \tanh({both})", "what could be written"),
        Formula(f"{at}.cell", rf"{cell} = {old} + i \odot g", "what is carried: added to, not made anew"),
        Formula(f"{at}.hidden", rf"{state} = o \odot \tanh({cell})", "what is shown of the cell"),
    )
