"""Parameters along the history: sparse snapshots plus deterministic replay, so that Back is exact and memory stays small.

The parameters in force at a moment are the result of a chain of updates that ends in the build. Snapshots lie on that chain
at distances that grow with their age, within a budget of bytes; what lies between is computed again, bit for bit the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from app.session.scenario import Training
from app.session.training import make_optimizer

BUILD = -1


@dataclass(frozen=True)
class Snapshot:
    """A copy of parameters and optimizer state after `updates` updates."""

    updates: int
    parameters: dict[str, Tensor]
    optimizer: dict[str, Any] | None
    kind: str

    @property
    def bytes(self) -> int:
        held = list(self.parameters.values())
        for slots in (self.optimizer or {"state": {}})["state"].values():
            held += [v for v in slots.values() if isinstance(v, Tensor)]
        return sum(t.numel() * t.element_size() for t in held)


class Learner:
    """The model whose parameters can change, with its optimizer. Shared weights are copied before the first update."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.weights = BUILD
        self.updates = 0
        self.optimizer: torch.optim.Optimizer | None = None
        self.kind = ""
        self._shared = {name: p.data for name, p in model.named_parameters()}
        self.owned = False

    def prepare(self, training: Training) -> torch.optim.Optimizer:
        """The optimizer for this update: a new one where the kind changed, the same with new settings otherwise."""
        self._own()
        if self.optimizer is None or self.kind != training.optimizer:
            self.optimizer, self.kind = make_optimizer(training, self.model.parameters()), training.optimizer
        for group in self.optimizer.param_groups:
            group["lr"] = training.learning_rate
        return self.optimizer

    def _own(self) -> None:
        if not self.owned:
            for p in self.model.parameters():
                p.data = p.data.clone()
            self.owned = True

    def snapshot(self) -> Snapshot:
        state = None if self.optimizer is None else _copied(self.optimizer.state_dict())
        parameters = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        return Snapshot(self.updates, parameters, state, self.kind)

    def reset(self) -> None:
        """Back to the build: the shared weights, no optimizer state."""
        for name, p in self.model.named_parameters():
            p.data, p.grad = self._shared[name], None
        self.optimizer, self.kind, self.owned = None, "", False
        self.weights, self.updates = BUILD, 0

    def load(self, weights: int, snapshot: Snapshot, training: Training) -> None:
        self._own()
        for name, p in self.model.named_parameters():
            p.data.copy_(snapshot.parameters[name])
            p.grad = None
        self.optimizer, self.kind = None, ""
        if snapshot.optimizer is not None:
            settings = training.model_copy(update={"optimizer": snapshot.kind})
            self.optimizer, self.kind = make_optimizer(settings, self.model.parameters()), snapshot.kind
            self.optimizer.load_state_dict(_copied(snapshot.optimizer))
        self.weights, self.updates = weights, snapshot.updates


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    slots = {k: {n: v.clone() if isinstance(v, Tensor) else v for n, v in s.items()} for k, s in state["state"].items()}
    return {"state": slots, "param_groups": [dict(g) for g in state["param_groups"]]}


class Snapshots:
    """Snapshots by the moment whose update they follow, thinned so that near ones are dense and far ones sparse."""

    def __init__(self, budget: int = 5 << 20, every: int = 8) -> None:
        self.budget, self.every = budget, every
        self.kept: dict[int, Snapshot] = {}

    def offer(self, weights: int, learner: Learner) -> None:
        """Keep one of every few updates."""
        if learner.updates % self.every == 0 and weights not in self.kept:
            self.kept[weights] = learner.snapshot()
            self._thin(learner.updates)

    def _thin(self, now: int) -> None:
        while len(self.kept) > 1 and sum(s.bytes for s in self.kept.values()) > self.budget:
            del self.kept[self._most_dispensable(now)]

    def _most_dispensable(self, now: int) -> int:
        """The one whose neighbours lie closest to each other, measured against how far away it is."""
        order = sorted(self.kept, key=lambda w: self.kept[w].updates)
        at = [0, *(self.kept[w].updates for w in order), now + 1]
        gap = {w: (at[i + 2] - at[i]) / (now + 1 - at[i + 1]) for i, w in enumerate(order)}
        return min(order, key=gap.__getitem__)
