"""Parameters along the history: sparse snapshots plus deterministic replay, so that Back is exact and memory stays small.

The parameters in force at a moment are the result of a chain of updates that ends in the build. Snapshots lie on that chain
at distances that grow with their age, in an unnamed scratch file; what lies between is computed again, bit for bit the same.
"""

from __future__ import annotations

import io
import json
import tempfile
import weakref
from dataclasses import dataclass
from typing import Any, BinaryIO

import torch
from safetensors.torch import load as unpack
from safetensors.torch import save as pack
from torch import Tensor, nn

from app.session.methods import Training
from app.session.training import make_optimizer
from models.parts import norms

BUILD = -1  # the parameters as they were built or loaded
UNKNOWN = -3  # an update is being carried out, or was broken off: the parameters belong to no moment


@dataclass(frozen=True)
class Snapshot:
    """A copy of parameters (running statistics among them) and optimizer state after `updates` updates."""

    updates: int
    parameters: dict[str, Tensor]
    optimizer: dict[str, Any] | None
    kind: str

    def tensors(self) -> dict[str, Tensor]:
        """All its tensors by name: "parameter/NAME" and "slot/INDEX/NAME"."""
        found = {f"parameter/{name}": value for name, value in self.parameters.items()}
        for i, slots in (self.optimizer or {"state": {}})["state"].items():
            found |= {f"slot/{i}/{name}": value for name, value in slots.items()}
        return found

    def pack(self) -> bytes:
        """As bytes (safetensors)."""
        groups = None if self.optimizer is None else self.optimizer["param_groups"]
        head = {"updates": self.updates, "kind": self.kind, "groups": groups}
        return pack({k: v.cpu().contiguous() for k, v in self.tensors().items()}, {"snapshot": json.dumps(head)})

    @classmethod
    def unpack(cls, data: bytes) -> Snapshot:
        """The reverse of `pack`."""
        length = int.from_bytes(data[:8], "little")
        head = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["snapshot"])
        parameters: dict[str, Tensor] = {}
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in unpack(data).items():
            kind, name = key.split("/", 1)
            if kind == "parameter":
                parameters[name] = value
            else:
                i, slot = name.split("/")
                state.setdefault(int(i), {})[slot] = value
        optimizer = None if head["groups"] is None else {"state": state, "param_groups": head["groups"]}
        return cls(head["updates"], parameters, optimizer, head["kind"])


class Learner:
    """The model whose parameters can change, with its optimizer. Shared weights are copied before the first update.

    `weights`: the moment whose update made the present parameters, BUILD or UNKNOWN.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.weights = BUILD
        self.updates = 0
        self.optimizer: torch.optim.Optimizer | None = None
        self.kind = ""
        self._shared = {name: p.data for name, p in model.named_parameters()} | norms.statistics(model)
        self._owned = False

    def update(self, training: Training, number: int) -> None:
        """Carry out one update with the gradients as they are. Whose parameters these are is for the caller to say."""
        self.weights = UNKNOWN
        self._own()
        if self.optimizer is None or self.kind != training.optimizer:
            self.optimizer, self.kind = make_optimizer(training, self.model.parameters()), training.optimizer
        for group in self.optimizer.param_groups:
            group["lr"] = training.learning_rate
        self.optimizer.step()
        self.updates = number

    def _own(self) -> None:
        if not self._owned:
            for p in self.model.parameters():
                p.data = p.data.clone()
            self._owned = True

    def snapshot(self) -> Snapshot:
        """A copy of what is now."""
        state = None if self.optimizer is None else _copied(self.optimizer.state_dict())
        held = {**dict(self.model.named_parameters()), **norms.statistics(self.model)}
        parameters = {name: p.detach().clone() for name, p in held.items()}
        return Snapshot(self.updates, parameters, state, self.kind)

    def reset(self) -> None:
        """Back to the build: the shared weights, no optimizer state."""
        for name, p in self.model.named_parameters():
            p.data, p.grad = self._shared[name], None
        norms.restore(self.model, self._shared)
        self.optimizer, self.kind, self._owned = None, "", False
        self.weights, self.updates = BUILD, 0

    def load(self, weights: int, snapshot: Snapshot, training: Training) -> None:
        """Stand where the snapshot was taken."""
        self.weights = UNKNOWN
        self._own()
        for name, p in self.model.named_parameters():
            p.data.copy_(snapshot.parameters[name])
            p.grad = None
        norms.restore(self.model, snapshot.parameters)
        self.optimizer, self.kind = None, ""
        if snapshot.optimizer is not None:
            settings = training.model_copy(update={"optimizer": snapshot.kind})
            self.optimizer, self.kind = make_optimizer(settings, self.model.parameters()), snapshot.kind
            self.optimizer.load_state_dict(snapshot.optimizer)
        self.weights, self.updates = weights, snapshot.updates


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    slots = {k: {n: v.clone() if isinstance(v, Tensor) else v for n, v in s.items()} for k, s in state["state"].items()}
    return {"state": slots, "param_groups": [dict(g) for g in state["param_groups"]]}


class Snapshots:
    """Packed snapshots by the moment whose update they follow, thinned so that near ones are dense and far ones sparse.

    every: one of so many updates is offered; most: so many are kept. They lie in the slots of a scratch file without a name,
    which goes when nobody refers to it; where nothing can be written they stay in memory.
    """

    def __init__(self, every: int = 8, most: int = 12) -> None:
        self.every, self.most = every, most
        self._updates: dict[int, int] = {}
        self._slots: dict[int, tuple[int, int]] = {}  # weights -> (slot, length)
        self._stride = 0
        self._file: BinaryIO | None = None

    def __contains__(self, weights: int) -> bool:
        return weights in self._slots

    def offer(self, weights: int, learner: Learner) -> None:
        """Keep one of every few updates."""
        if learner.updates % self.every == 0:
            self.keep(weights, learner.updates, learner.snapshot().pack())

    def keep(self, weights: int, updates: int, packed: bytes) -> None:
        """Keep this one, and let one go if there are too many."""
        if weights in self._slots or (self._stride and len(packed) > self._stride):
            return
        if self._file is None:
            self._file, self._stride = _scratch(), 4 * len(packed)  # a later optimizer may need three times the parameters
            weakref.finalize(self, self._file.close)
        if len(self._slots) >= self.most:
            gone = self._most_dispensable(updates)
            del self._slots[gone], self._updates[gone]
        used = {slot for slot, _ in self._slots.values()}
        slot = next(i for i in range(self.most) if i not in used)
        self._file.seek(slot * self._stride)
        self._file.write(packed)
        self._slots[weights], self._updates[weights] = (slot, len(packed)), updates

    def packed(self, weights: int) -> bytes:
        """One that is kept."""
        assert self._file is not None
        slot, length = self._slots[weights]
        self._file.seek(slot * self._stride)
        return self._file.read(length)

    def _most_dispensable(self, now: int) -> int:
        """The one whose neighbours lie closest to each other, measured against how far away from `now` it is."""
        order = sorted(self._updates, key=self._updates.__getitem__)
        at = [0, *(self._updates[w] for w in order), max(now, self._updates[order[-1]]) + 1]
        gap = {w: (at[i + 2] - at[i]) / (abs(now - at[i + 1]) + 1) for i, w in enumerate(order)}
        return min(order, key=gap.__getitem__)


def _scratch() -> BinaryIO:
    try:
        return tempfile.TemporaryFile(buffering=0)
    except OSError:
        return io.BytesIO()
