"""How exact a translation is against the number of its clauses: the run's own model, and every family with shipped weights.

What a fixed context loses with length, a read keeps (source text 000, sections 0x02C and 0x04E; Bahdanau et al. 2015, arXiv
1409.0473, figure 2, has BLEU in place of exact match). Greedy answers to held-out sentences of the grammar; exact: word for word,
and it ends there. The shipped weights learned from 1 to 3 clauses; 4 and 5 are longer than anything in training.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from app.session import given, weights
from app.session.analyses import Result, Run
from app.session.events import Check, Refused
from app.session.measures import CLAUSES, REPORT_SEED, draw_held_out, exact_match
from app.session.problems import shorten
from app.session.scenario import defaults
from models.catalogue import architectures
from models.tasks.translation import Translation

NAME = "bottleneck"
TITLE = "Exact match against the number of clauses"
ARGUMENTS = {"n": "sentences for each number of clauses, 4 to 200"}
CHUNK = 8  # sentences between two signs of life


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """By family the share of exact answers for 1 to 5 clauses; the run's own model comes first."""
    if given.task_of(run.place.scenario).id != "translation":
        allowed = "a run of the task translation"
        raise Refused.one("name", NAME, allowed, "Clauses are those of the translation grammar. Open a model that translates.")
    count, families, done = _count(arguments), _families(run.device), 0
    examples = {c: draw_held_out(Translation((c, c)), REPORT_SEED, count) for c in CLAUSES}
    chunks = [(c, at) for c in CLAUSES for at in range(0, count, CHUNK)]
    told = list[dict[str, Any]]()
    own = (given.spec_of(run.place.scenario).name, run.place.scenario.architecture, run.model)
    for name, architecture, model in (own, *families):
        exact = dict.fromkeys(CLAUSES, 0.0)
        for clauses, at in chunks:
            some = examples[clauses][at : at + CHUNK]
            exact[clauses] += len(some) * exact_match(model, Translation((clauses, clauses)), some) / count
            done += 1
            yield done / (len(chunks) * (1 + len(families)))
        told.append({"name": name, "architecture": architecture, "own": model is run.model, "exact": [exact[c] for c in CLAUSES]})
    yield Result({"clauses": list(CLAUSES), "n": count, "seed": REPORT_SEED, "families": told})


def _families(device: torch.device) -> list[tuple[str, str, nn.Module]]:
    """Every architecture that shipped weights translate with, as they are shipped."""
    found = []
    for spec in architectures().values():
        if "translation" in spec.tasks:
            model, loaded = weights.build(defaults(spec.id, "translation"), device)
            if loaded["kind"] == "trained":
                found.append((spec.name, spec.id, model))
    return found


def _count(arguments: dict[str, Any]) -> int:
    value = arguments.get("n", 24)
    if not isinstance(value, int) or isinstance(value, bool) or not 4 <= value <= 200:
        allowed = "a whole number from 4 to 200"
        raise Refused.one("arguments.n", value, allowed, f"n was given {shorten(value)!r}; allowed: {allowed}")
    return value
