"""Text cut into pieces: the tokenizer of a scenario, and what others make of the same text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from app.session import given, inputs, weights
from app.session.scenario import Scenario
from models.catalogue import tasks
from models.tasks import Special, Task, Token
from models.tasks.tokenizers import BytePairs, Tokenizer


def told(scenario: Scenario) -> dict[str, Any] | None:
    """For the page: the kind, the merges of byte pairs (left piece, right piece, how often they were neighbours), and `beside`:
    every tokenizer that this architecture has a task for. None where the task has no tokenizer of its own."""
    task = given.task_of(scenario)
    if task.tokenizer is None:
        return None
    merges = task.tokenizer.merges if isinstance(task.tokenizer, BytePairs) else ()
    return {
        "kind": task.tokenizer.kind,
        "merges": [list(m) for m in merges],
        "beside": [_beside(scenario, t) for t in _all(scenario)],
    }


def _all(scenario: Scenario) -> list[Task]:
    every = (tasks()[name] for name in given.spec_of(scenario).tasks)
    return sorted((t for t in every if t.tokenizer is not None), key=_order)


def _order(task: Task) -> int:
    assert task.tokenizer is not None
    return ("word", "character", "byte", "bpe").index(task.tokenizer.kind)


def _beside(scenario: Scenario, task: Task) -> dict[str, Any]:
    """One tokenizer: how many pieces each request takes and which of them are unknown, and what was measured of its weights."""
    mine = given.task_of(scenario).tokenizer
    assert mine is not None and task.tokenizer is not None
    cut = [again(mine, task.tokenizer, given.tokens(r.target)) for r in scenario.requests]
    return {
        "task": task.id,
        "kind": task.tokenizer.kind,
        "vocabulary": len(task.target) - len(task.target.specials),
        "pieces": [len(tokens) for tokens in cut],
        "unknown": [task.target.unknown(tokens) for tokens in cut],
        "measured": _measured(scenario, task),
    }


def _measured(scenario: Scenario, task: Task) -> dict[str, float]:
    """Of the weights shipped for this architecture and task, over held-out texts; empty where none are."""
    found = (c["metrics"].get("per_character") for c in weights.checkpoints(scenario.architecture) if c["task"] == task.id)
    return next((m for m in found if m), {})


def again(old: Tokenizer, new: Tokenizer, tokens: Iterable[Token]) -> list[Token]:
    """The text of these pieces, cut by another tokenizer. Special tokens stay where they are."""
    found: list[Token] = []
    for special, run in itertools.groupby(tokens, key=lambda t: isinstance(t, Special)):
        alike = list(run)
        found += alike if special else new.pieces(old.text(t for t in alike if isinstance(t, str)))
    return found


def cut_again(before: Scenario, after: Scenario) -> list[dict[str, Any]] | None:
    """The requests of one scenario as the tokenizer of the other cuts them; None where the two do not both have one."""
    old, new = (given.task_of(s).tokenizer for s in (before, after))
    if old is None or new is None or before.task == after.task:
        return None
    return [{"target": inputs.plain(again(old, new, given.tokens(r.target)))} for r in before.requests]
