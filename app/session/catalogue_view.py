"""What there is, as plain data: `GET /api/catalogue` and `lookback list --json` answer with it."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import torch

from app.session import inputs, weights
from app.session.probe import probe
from app.session.scenario import defaults
from models import Spec
from models.catalogue import architectures, config_schema, tasks
from models.tasks import Features, Preset, Task, words_of


@cache
def catalogue() -> dict[str, Any]:
    """Every architecture and task. Built once: the taps are those of a small run of the default model."""
    return {
        "architectures": [_architecture(spec) for spec in architectures().values()],
        "tasks": [_task(task) for task in tasks().values()],
    }


def _architecture(spec: Spec) -> dict[str, Any]:
    return {
        "id": spec.id,
        "name": spec.name,
        "family": spec.family,
        "summary": spec.summary,
        "changed": spec.changed,
        "inventory": list(spec.inventory),
        "paper": spec.paper,
        "config_schema": config_schema(spec.config),
        "capabilities": dataclasses.asdict(spec.capabilities),
        "phases": list(spec.phases),
        "tasks": list(spec.tasks),
        "taps": _taps(spec),
        "checkpoints": weights.checkpoints(spec.id),
    }


def _taps(spec: Spec) -> list[dict[str, Any]]:
    scenario, device = defaults(spec.id, weights="random"), torch.device("cpu")
    model, _ = weights.build(scenario, device)
    found, _, _ = probe(model, scenario, device)
    return [
        {"path": t.path, "axes": list(t.axes), "type": t.type, "editable": t.editable}
        for t in found.taps
        if t.type != "parameter"
    ]


def _task(task: Task) -> dict[str, Any]:
    words = words_of(task)
    return {
        "id": task.id,
        "name": task.name,
        "summary": task.summary,
        "objective": task.objective,
        "vocabulary": {"source": None if words is None else list(words.words), "target": list(task.target.words)},
        "features": dataclasses.asdict(task.source) if isinstance(task.source, Features) else None,
        "stamps": [{"name": name, "lines": lines} for name, lines in task.stamps.items()],
        "restates": None if task.restates is None else dataclasses.asdict(task.restates),
        "presets": [_preset(preset) for preset in task.presets],
    }


def _preset(preset: Preset) -> dict[str, Any]:
    source = None if preset.source is None else inputs.plain(preset.source)
    return {**dataclasses.asdict(preset), "source": source}
