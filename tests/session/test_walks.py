"""Random walks over everything that a person can do: a moment is the same whichever way one comes to it.

Compared at every visit: digest, every recorded number, rows, training view, checks. In between the run is saved and restored,
and shared and opened again.
"""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest
import torch

from app.session.commands import Back, Change, Choose, Command, Enter, Go, Join, Leave, Open, Selector, Share, Step, Undo
from app.session.engine import Engine
from app.session.events import Refused, Shared
from app.session.lineage import Snapshots
from models.catalogue import architectures
from tests.session.driving import do, of, opened

EVERYTHING = tuple(Selector(path="*", side=side, dtype="f32") for side in ("value", "unedited", "gradient"))


def _command(draw: random.Random, engine: Engine) -> Command:
    ways: list[tuple[float, Any]] = [
        (8, lambda: Step(unit=draw.choice(["step", "step", "stage"]))),
        (3, Back),
        (2, lambda: Go(moment=draw.randrange(len(engine.timeline.moments)))),
        (2, lambda: Enter(phase=draw.choice(["train", "prefill", "decode"]))),
        (1, lambda: Choose(request=draw.randrange(len(engine.scenario.requests)), token=draw.randrange(2, 60))),
        (1, Undo),
        (2, lambda: Join(request=_fields(draw, engine, "requests")["requests"][0])),
        (2, lambda: Leave(request=draw.randrange(3))),
        (4, lambda: Change(fields=_fields(draw, engine))),
    ]
    return draw.choices([way for _, way in ways], [weight for weight, _ in ways])[0]()


def _fields(draw: random.Random, engine: Engine, kind: str = "") -> dict[str, Any]:
    source = engine.scenario.requests[0].source is not None
    kind = kind or draw.choice(["masks", "policy", "training", "edits", "requests"])
    match kind:
        case "masks":
            relations = architectures()[engine.scenario.architecture].relations
            if not relations:
                return {"training": {"batch_size": 2}}
            relation = draw.choice(relations).name
            program = draw.choice(["full", "causal", "prefix", "sliding", "causal_sliding"])
            cells = [{"query": draw.randrange(8), "key": draw.randrange(8), "visible": draw.random() < 0.5} for _ in range(3)]
            mask = {"relation": relation, "layer": draw.choice([None, 0]), "program": program, "parameter": draw.randrange(1, 5)}
            return {kind: [{**mask, "cells": cells}]}
        case "policy":
            how = {
                "kind": draw.choice(["greedy", "sample"]),
                "temperature": draw.choice([0.5, 2.0]),
                "limit": draw.choice([4, 8]),
            }
            cut = {"top_k": draw.choice([None, 5]), "top_p": draw.choice([1.0, 0.9]), "ended": draw.choice(["stays", "leaves"])}
            return {kind: {**how, **cut, "execution": draw.choice(["cached", "full_prefix"])}}
        case "training":
            chosen = {"optimizer": draw.choice(["adamw", "sgd"]), "learning_rate": draw.choice([1e-3, 1e-2])}
            return {kind: {**chosen, "batch_size": draw.choice([1, 3])}}
        case "edits":
            index = [draw.choice([None, 0, 1]), draw.choice([None, 1]), draw.choice([None, 1, 4])]
            edit = {
                "path": draw.choice([t.path for t in engine.schema.taps if t.editable]),
                "index": index[: draw.randrange(4)],
                "action": draw.choice(["set", "scale"]),
            }
            donor = {"target": ["the", "cat", "sleeps", "the"], **({"source": ["thank", "you"]} if source else {})}
            patch = {**edit, "action": "patch", "donor": donor}
            return {kind: draw.choice([[], [{**edit, "value": draw.choice([0.0, 2.0])}], [patch]])}
    words = ["the", "cat", "sleeps"]
    requests = [{"target": words[: draw.randrange(4)]} for _ in range(draw.randrange(1, 4))]
    return {kind: [{**r, "source": words[: draw.randrange(1, 4)]} for r in requests] if source else requests}


def _seen(engine: Engine) -> tuple[str, ...]:
    values = hashlib.sha256()
    for p in engine.keyframe(EVERYTHING).pieces:
        values.update(repr((p.path, p.side, p.axes, p.start, p.array.shape)).encode() + p.array.data)
    moved = engine.moved(())
    train = moved.train and (moved.train.rows, moved.train.loss, moved.train.norm, moved.train.parameter_norms)
    checks = [c for c in engine.checked().checks if c.status != "pending"]
    return engine.digest(), values.hexdigest(), repr(moved.requests), repr(train), repr(checks)


def _shared(engine: Engine) -> Engine:
    file = of(do(engine, Share()), Shared)[0].file
    other = Engine(torch.device("cpu"))
    do(other, Open(scenario=file["scenario"], log=tuple(file["log"])))
    return other


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("architecture", architectures())
def test_a_moment_is_the_same_whichever_way_one_comes_to_it(architecture: str, seed: int) -> None:
    draw = random.Random(seed)
    engine = opened(architecture, policy={"limit": 6})
    engine.snapshots = Snapshots(every=draw.choice([1, 2, 3]), most=draw.choice([1, 2, 4]))
    visits = {0: _seen(engine)}
    moved_again = 0
    for _ in range(70):
        command, at = _command(draw, engine), engine.timeline.at
        try:
            do(engine, command)
        except Refused:
            assert engine.timeline.at == at
        seen = _seen(engine)
        moved_again += engine.timeline.at in visits
        assert visits.setdefault(engine.timeline.at, seen) == seen, command
        if draw.random() < 0.1:
            engine = Engine.restore(engine.save(), torch.device("cpu"))
            assert _seen(engine) == seen
        if draw.random() < 0.05:
            assert _shared(engine).digest() == engine.digest()
    assert moved_again > 10
