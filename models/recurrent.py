"""A recurrent language model: tanh RNN, GRU or LSTM, stacked (source text 000, section 0x03).

    h_t = cell(x_t, h_(t-1))        logits_t = W h_t + b

Elman 1990, "Finding Structure in Time"; Hochreiter and Schmidhuber 1997, "Long Short-Term Memory"; Cho et al. 2014, arXiv
1406.1078; Mikolov et al. 2010, "Recurrent neural network based language model". It reads no row: what is past lives in a state
of fixed size, `parts/cells.py`. Prefill runs the same loop as decode.

Axes: b request, t target row, d token vector, n state, v vocabulary entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Spec
from models.parts import cells
from models.parts.cells import KINDS, RESETS, UPDATES, CellKind, Recurrence, States, kept_states
from models.parts.formulas import Formula, p
from models.parts.settings import GRU, setting
from models.parts.tap import Tap


@dataclass(frozen=True)
class Config:
    """One LSTM layer; `truncate` changes what is learned, never what is computed."""

    cell: str = setting("lstm", "Cell", "what one step does to the state", choices=KINDS)
    update: str = setting(
        "carries", "GRU: z near 1", "carries the old state (Cho) or writes (Bahdanau)", choices=UPDATES, when=GRU
    )
    reset: str = setting("before", "GRU: reset acts", "before or after the product with U", choices=RESETS, when=GRU)
    layers: int = setting(1, "Layers", "each reads the hidden states of the one below", low=1, high=4)
    width: int = setting(96, "State width n", "all that one step hands to the next", low=4, high=128)
    d_token: int = setting(32, "Token width d", "length of a token's vector", low=4, high=128)
    truncate: int = setting(
        0, "Truncated BPTT", "gradient crosses at most so many rows; 0: all", low=0, high=128, same_weights=True
    )


@dataclass(frozen=True)
class RecurrentState:
    """Target rows known `[b]`, and for each layer its states `[b, n]`: the same size after any number of rows."""

    lengths: Tensor
    layers: tuple[States, ...]
    names: tuple[str, ...]

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return kept_states("recurrence", self.names, self.layers)


class RecurrentLanguageModel(nn.Module):
    """Token vector, recurrence, one linear map to the vocabulary."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(vocabulary, config.d_token)
        self.recurrence = Recurrence(_kind(config), config.d_token, config.width, config.layers, "t")
        self.head = nn.Linear(config.width, vocabulary)

    def initial_state(self, batch: int) -> RecurrentState:
        like = self.token.weight
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return RecurrentState(lengths, self.recurrence.initial(batch, like), self.recurrence.names)

    def forward(self, inputs: Inputs, state: RecurrentState, tap: Tap) -> tuple[Outputs, RecurrentState]:
        target = inputs.target
        x = tap("token", self.token(tap("ids", target.values, "b t", "ids")), "b t d")
        rows, layers = self.recurrence(x, target.valid, state.layers, tap / "recurrence", truncate=self.config.truncate)
        logits = tap("logits", self.head(rows), "b t v", "logits")
        return Outputs("next_token", logits), replace(state, lengths=state.lengths + target.lengths, layers=layers)


def _kind(config: Config) -> CellKind:
    return CellKind(config.cell, config.update, config.reset)


def _formulas(config: Config) -> tuple[Formula, ...]:
    return (
        Formula("token", rf"x_t = {p('E')}[id_t]", "the token’s learned vector"),
        *cells.formulas("recurrence.layer*", _kind(config)),
        Formula("logits", rf"\ell_t = h_t {p('W')}^{{\top}} + {p('b')}", "one score for each word that may come next"),
    )


def _build(config: Config, source: int | None, target: int) -> nn.Module:
    return RecurrentLanguageModel(config, target)


SPEC = Spec(
    id="recurrent",
    name="Recurrent cell",
    family="Recurrent",
    summary="A language model whose past is one state of fixed size, rewritten at every row.",
    inventory=("A4",),
    paper="Elman 1990; Hochreiter and Schmidhuber 1997; Cho et al. 2014, arXiv 1406.1078",
    config=Config,
    build=_build,
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("language_model", "characters"),
    layers=lambda config: config.layers,
    capabilities=Capabilities(largest_rows=512),
    formulas=_formulas,
    carries=lambda config: cells.carries("recurrence.layer*", _kind(config)),
)
