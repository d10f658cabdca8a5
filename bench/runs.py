"""The runs that are measured: seeded random weights, so that every variant computes the same and no run ends early."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

import torch
from torch import Tensor, nn

from app.session import weights
from app.session.scenario import Scenario, defaults
from models import Inputs
from models.catalogue import architectures, tasks
from models.parts.tap import OFF, Tap
from models.parts.tape import SemanticType
from models.tasks import BOS, words_of
from models.tasks.objective import pad

SEED = 8  # of weights that do not end a run where it is measured
AROUND = 4  # steps before and after the size that is named: T=16 is measured from 12 to 20 rows


def scenario(rows: int, architecture: str = "decoder_only", weights: str = "random", **fields: Any) -> Scenario:
    """One request with that many target rows known after prefill, and source rows where it has one; 2 layers, 4 heads, d 64."""
    task = tasks()[architectures()[architecture].tasks[0]]
    request = {"target": _words(task.target.words, rows - 1)}
    if source := words_of(task):
        request["source"] = _words(source.words, rows)
    fields = {"seed": SEED, "policy": {"limit": 128}, **fields}
    return defaults(architecture, weights=weights, requests=[request], **fields)


def _words(words: tuple[str, ...], count: int) -> list[str]:
    """Words of a vocabulary, special tokens left out."""
    return list(islice(cycle(words[4:]), count))


class Weights:
    """A tap that keeps attention weights and nothing else."""

    def __init__(self) -> None:
        self.kept: list[Tensor] = []

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor:
        if type == "weights":
            self.kept.append(value)
        return value

    def __truediv__(self, name: str) -> Tap:
        return self

    def at(self, axis: str, index: int) -> Tap:
        return self

    def show(self, name: str, make: Callable[[], Tensor], axes: str, type: SemanticType = "hidden") -> None:
        self(name, make(), axes, type)


def model() -> nn.Module:
    """The decoder-only model that `scenario` builds."""
    return weights.build(scenario(2), "cpu")[0]


def prompt(rows: int) -> list[int]:
    """The ids of the prompt of `scenario(rows)`."""
    target = tasks()["language_model"].target
    return [BOS, *target.encode(_words(target.words, rows - 1))]


def decoding(model: nn.Module, rows: int) -> Iterator[tuple[list[str], Tensor]]:
    """Greedy decoding as a bare app does it: each call's new words and their rows of every map, `[8, t, t']`; prefill first."""
    words = tasks()["language_model"].target.words
    state = model.initial_state(1)  # type: ignore[operator]
    ids = prompt(rows)
    while True:
        tap = Weights()
        with torch.no_grad():
            outputs, state = model(Inputs(pad([ids])), state, tap)
        yield [words[i] for i in ids], torch.cat([w[0] for w in tap.kept])
        ids = [int(outputs.values[0, -1].argmax())]


def silent(model: nn.Module, inputs: Inputs, state: Any) -> None:
    """One forward that nobody listens to."""
    with torch.no_grad():
        model(inputs, state, OFF)
