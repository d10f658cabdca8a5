"""An LSTM language model (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000) under the one call.

    i, f, o = sigmoid(W [x; h] + b)   g = tanh(W [x; h] + b)   c' = f c + i g   h' = o tanh(c')

Small on purpose: it shows that the contract holds for a model that has a loop, a state that does not grow, and no read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Spec
from models.parts.tap import Tap


@dataclass(frozen=True)
class LSTMConfig:
    width: int = field(
        default=24, metadata={"title": "State width n", "why": "what one step hands to the next", "low": 4, "high": 64}
    )


@dataclass(frozen=True)
class LSTMState:
    """Target rows known `[b]`, hidden and cell state `[b, n]`: the same size after any number of rows."""

    lengths: Tensor
    hidden: Tensor
    cell: Tensor

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {"recurrence.hidden": (self.hidden, "b n", False), "recurrence.cell": (self.cell, "b n", False)}


class LSTM(nn.Module):
    def __init__(self, config: LSTMConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(vocabulary, config.width)
        self.W, self.U = nn.Linear(config.width, 4 * config.width), nn.Linear(config.width, 4 * config.width, bias=False)
        self.head = nn.Linear(config.width, vocabulary)

    def initial_state(self, batch: int) -> LSTMState:
        zeros = self.token.weight.new_zeros(batch, self.config.width)
        return LSTMState(torch.zeros(batch, dtype=torch.int64), zeros, zeros)

    def forward(self, inputs: Inputs, state: LSTMState, tap: Tap) -> tuple[Outputs, LSTMState]:
        target = inputs.target
        x = tap("token", self.token(tap("ids", target.values, "b t", "ids")), "b t d")
        h, c, valid, rows = state.hidden, state.cell, target.valid, []
        for t in range(target.values.shape[1]):
            new_h, new_c = self.step(x[:, t], h, c, (tap / "recurrence").at("t", t))
            here = valid[:, t, None]
            h, c = torch.where(here, new_h, h), torch.where(here, new_c, c)  # padding leaves the state alone
            rows.append(h)
        hidden = torch.stack(rows, 1) if rows else x
        logits = tap("logits", self.head(hidden), "b t v", "logits")
        return Outputs("next_token", logits), LSTMState(state.lengths + target.lengths, h, c)

    def step(self, x: Tensor, h: Tensor, c: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        i, f, g, o = (self.W(x) + self.U(h)).chunk(4, -1)
        i, f, o = (tap(name, gate.sigmoid(), "b n") for name, gate in (("input", i), ("forget", f), ("output", o)))
        c = tap("cell", f * c + i * tap("candidate", g.tanh(), "b n"), "b n", "state")
        return tap("hidden", o * c.tanh(), "b n", "state"), c


def _build(config: Any, source: int | None, target: int) -> nn.Module:
    return LSTM(config, target)


SPEC = Spec(
    id="lstm",
    name="LSTM",
    family="Recurrent",
    summary="A language model that keeps one state of fixed size.",
    inventory=("A4",),
    paper="Hochreiter and Schmidhuber 1997",
    config=LSTMConfig,
    build=_build,
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("language_model",),
    layers=lambda config: 1,
    capabilities=Capabilities(),
)


def torch_twin(model: LSTM) -> nn.LSTM:
    """torch.nn's LSTM with the same weights (the same gate order i, f, g, o)."""
    twin = nn.LSTM(model.config.width, model.config.width, batch_first=True).to(model.W.weight.dtype)
    pairs = {"weight_ih_l0": model.W.weight, "weight_hh_l0": model.U.weight, "bias_ih_l0": model.W.bias}
    pairs["bias_hh_l0"] = torch.zeros_like(model.W.bias)
    with torch.no_grad():
        for name, value in pairs.items():
            getattr(twin, name).copy_(value)
    return twin


def logits_of(model: LSTM, twin: nn.LSTM, ids: Tensor) -> Tensor:
    return F.linear(twin(model.token(ids))[0], model.head.weight, model.head.bias)
