"""CPU time of making the shipped weights (`make checkpoints`), by families: a few updates of each recipe, times their number."""

from __future__ import annotations

import time
from argparse import Namespace
from collections import defaultdict

import torch

from app import cli
from app.session import fit, weights
from app.session.scenario import Scenario
from bench.report import Line
from models.catalogue import architectures

MOST = 25.0  # minutes, for each group
TIMES = 12  # updates that are measured, of each kind
GROUPS = {
    "Recurrent": "recurrent families",
    "Recurrent with attention": "recurrent families",
    "Attention": "attention",
}
REST = "convolution, state space, speech and vision"


def measure(times: int = TIMES) -> list[Line]:
    torch.set_num_threads(1)
    minutes, files = defaultdict[str, float](float), defaultdict[str, int](int)
    for line in (weights.FOLDER / "recipes").read_text().splitlines():
        given = cli.read_recipe(line)
        group = GROUPS.get(architectures()[given.architecture].family, REST)
        minutes[group] += _seconds(cli.to_train(given), given, times) / 60
        files[group] += 1
    return [_line(group, minutes[group], files[group], times) for group in minutes]


def _line(group: str, minutes: float, files: int, times: int) -> Line:
    measured = f"{minutes:.1f} min for {files} files, from {times} updates of each recipe"
    return Line(f"Training all shipped weights of {group}", f"≤ {MOST:g} CPU min", measured, minutes / MOST, 1.0)


def _seconds(scenario: Scenario, given: Namespace, times: int) -> float:
    """Of a whole training: updates on the task, and on its shortest examples alone."""
    alone, mixed = given.short, given.steps - given.short if given.short else 0
    usual = given.steps - alone - mixed // 2
    return usual * _update(scenario, times, 0) + (given.steps - usual) * (_update(scenario, times, times) if alone else 0.0)


def _update(scenario: Scenario, times: int, short: int) -> float:
    fit.fit(scenario, 2, short=min(short, 2))  # what is done once only
    began = time.process_time()
    fit.fit(scenario, times, short=short)
    return (time.process_time() - began) / times
