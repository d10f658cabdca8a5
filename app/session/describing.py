"""A moment and its tensors, said as events: what the page shows that is not a recorded value."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn

from app.session import given, pieces
from app.session.events import RelationInfo, Schema, TapInfo
from app.session.formulas import Formulas, declared
from app.session.scenario import Scenario
from models import AXES, State
from models.catalogue import read_config
from models.parts.norms import BatchNorm, RMSNorm
from models.parts.tape import Tape
from models.parts.visibility import Cell, Visibility
from models.tasks import Features


def relations(scenario: Scenario, heads: dict[str, int]) -> tuple[RelationInfo, ...]:
    """Every kind of read with its mask in each layer. `heads`: by relation name, as recorded."""
    seen = given.visibility(scenario)
    own = {(m.relation, m.layer) for m in scenario.masks if m.layer is not None}
    layers = given.layers_of(scenario)
    return tuple(
        RelationInfo(
            r.name,
            r.title,
            r.query,
            r.key,
            r.path,
            layers,
            heads[r.name],
            tuple({**_program(v), "own": (r.name, layer) in own} for layer, v in enumerate(seen[r.name])),
            _program(r.default),
        )
        for r in given.spec_of(scenario).relations
    )


def task(scenario: Scenario) -> dict[str, Any]:
    """What the page must know of a task to show it: what is learned, in which phases, from words or from which features."""
    it = given.task_of(scenario)
    features = dataclasses.asdict(it.source) if isinstance(it.source, Features) else None
    phases = list(given.phases_of(scenario))
    config, _ = read_config(given.spec_of(scenario), scenario.config)
    rows = dict(given.spec_of(scenario).rows_of(config))
    told = {"objective": it.objective, "phases": phases, "features": features, "opening": it.opening, "rows": rows}
    return {**told, "tokenizer": pieces.told(scenario)}


def _program(v: Visibility) -> dict[str, Any]:
    """As plain data. A cell's size is told where it is more than one cell."""
    cells = [{"query": c.query, "key": c.key, "visible": c.visible, **_extent(c)} for c in v.cells]
    more = {"every": v.every, "global_rows": list(v.global_rows)}
    return {"program": v.program, "parameter": v.parameter, "cells": cells, **more}


def _extent(c: Cell) -> dict[str, int]:
    return {} if c.queries == c.keys == 1 else {"queries": c.queries, "keys": c.keys}


def schema(tape: Tape, model: nn.Module, scenario: Scenario, reached: Mapping[str, int]) -> Schema:
    """The contract of every recorded value and of every parameter (inventory D2). `reached`: see `TapInfo`, by path."""
    found = (*_recorded(tape), *_parameters(model))
    told = Formulas([f for f in declared(scenario) if any(fnmatchcase(t.path, f.path) for t in found)])
    taps = [replace(t, formula=told.index(t.path), reached=reached.get(t.path, -1)) for t in found]
    carries = given.spec_of(scenario).carries(given.config_of(scenario))
    return Schema(tuple(taps), told.infos, same(model), carries)


def same(model: nn.Module) -> tuple[tuple[str, str], ...]:
    """Further names of parameters, each with the first: by identity, not by equal values. A model names in `ties` what it applies
    a second time without a module of its own."""
    first = {id(p): name for name, p in model.named_parameters()}
    every = ((name, first[id(p)]) for name, p in model.named_parameters(remove_duplicate=False))
    return (*((name, owner) for name, owner in every if name != owner), *getattr(model, "ties", {}).items())


def _recorded(tape: Tape) -> list[TapInfo]:
    return [
        TapInfo(
            path,
            r.axes,
            (),
            _dtype(r.value),
            owner(r.axes),
            r.type,
            lifetime(r.type),
            r.editable,
            path in tape.gradients,
        )
        for path, r in tape.records.items()
    ]


def _parameters(model: nn.Module) -> list[TapInfo]:
    axes = parameter_axes(model)
    return [
        TapInfo(
            f"parameter.{n}",
            axes[n],
            tuple(p.shape),
            _dtype(p),
            "none: one parameter, shared by every row",
            "parameter",
            "until the next update",
            False,
            not n.startswith(KERNEL),
        )
        for n, p in (*model.named_parameters(), *kernels(model).items())
    ]


KERNEL, LAGS = "kernel.", 128


def kernels(model: nn.Module) -> dict[str, Tensor]:
    """What follows from parameters alone and is shown like one: the kernels of a model that has some, over `LAGS` lags."""
    with torch.no_grad():
        found = model.kernels(LAGS) if hasattr(model, "kernels") else {}  # type: ignore[operator]
    return {f"{KERNEL}{path}": kernel for path, (kernel, _) in found.items()}


AXES_OF = {
    nn.Linear: ("out", "in"),
    nn.Embedding: ("entry", "width"),
    nn.LayerNorm: ("width",),
    RMSNorm: ("width",),
    BatchNorm: ("width",),
}


def parameter_axes(model: nn.Module) -> dict[str, tuple[str, ...]]:
    """What the axes of each parameter are, by its module; "d0", "d1", ... where that does not say."""
    found: dict[str, tuple[str, ...]] = {}
    for prefix, module in model.named_modules():
        known = next((axes for kind, axes in AXES_OF.items() if isinstance(module, kind)), ())
        for name, p in module.named_parameters(prefix, recurse=False):
            found[name] = known[: p.ndim] if p.ndim <= len(known) else tuple(f"d{i}" for i in range(p.ndim))
    made = model.kernels(1) if hasattr(model, "kernels") else {}  # type: ignore[operator]
    return found | {f"{KERNEL}{path}": tuple(axes.split()) for path, (_, axes) in made.items()}


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def owner(axes: Sequence[str]) -> str:
    """Who owns a row of it, from the axes alone: "target row", "target row × source row", "hop × source row", ... Without rows it
    is the request's, or nobody's."""
    rows = [a for a in axes if a.rstrip("'") in ("r", "s", "t")]
    named = [AXES[a.rstrip("'")] + (" (read)" if a.endswith("'") else "") for a in rows]
    return " × ".join(named) or ("request" if "b" in axes else "none")


def lifetime(type: str) -> str:
    """How long a value of a semantic type is kept, in words."""
    return "kept until the request ends" if type == "state" else "this call"


def kept(state: State) -> tuple[dict[str, Any], ...]:
    """What is retained after this call, in bytes, and what one further target row adds."""
    out = []
    for path, (value, axes, grows) in state.kept().items():
        size = value.numel() * value.element_size()
        letters = axes.split()
        per_row = 0
        if grows:
            at = next(i for i, a in enumerate(letters) if a.rstrip("'") == "t")
            per_row = value.element_size() * math.prod(s for i, s in enumerate(value.shape) if i != at)
        out.append(
            {"path": path, "axes": letters, "shape": list(value.shape), "bytes": size, "grows": grows, "bytes_per_row": per_row}
        )
    return tuple(out)
