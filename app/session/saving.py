"""A run as bytes, and back, bit for bit: the tree as JSON, parameters and optimizer state as tensors (safetensors)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load
from safetensors.torch import save as pack
from torch import Tensor

from app.session import weights
from app.session.events import Schema
from app.session.lineage import Learner, Snapshot
from app.session.probe import probe
from app.session.scenario import Scenario
from app.session.timeline import Moment, Place, Timeline, Written

if TYPE_CHECKING:
    from app.session.engine import Engine


def save(engine: Engine) -> bytes:
    """Everything that `restore` needs. Between the stages of an update the parameters are those that the update began with."""
    learner = engine.learner
    snapshot = learner.snapshot()
    head = {
        "epoch": engine.epoch,
        "at": engine.timeline.at,
        "weights": engine.timeline.here.before if engine.timeline.here.place.stage else learner.weights,
        "updates": snapshot.updates,
        "owned": learner.owned,
        "kind": snapshot.kind,
        "rebuilt_from": [s.model_dump(mode="json") for s in engine.rebuilt_from],
        **_tree(engine.timeline),
    }
    tensors = _tensors(snapshot) if learner.owned else {}
    head["slots"] = _slots(snapshot)
    return pack({k: v.cpu().contiguous() for k, v in tensors.items()}, {"run": json.dumps(head)})


def _tensors(snapshot: Snapshot) -> dict[str, Tensor]:
    found = {f"parameter/{name}": value for name, value in snapshot.parameters.items()}
    for i, slots in (snapshot.optimizer or {"state": {}})["state"].items():
        found |= {f"slot/{i}/{name}": value for name, value in slots.items() if isinstance(value, Tensor)}
    return found


def _slots(snapshot: Snapshot) -> dict[str, Any] | None:
    if snapshot.optimizer is None:
        return None
    groups = [{k: v for k, v in g.items() if not isinstance(v, Tensor)} for g in snapshot.optimizer["param_groups"]]
    return {"groups": groups, "ids": [str(i) for i in snapshot.optimizer["state"]]}


def _tree(timeline: Timeline) -> dict[str, Any]:
    """Moments as rows; scenarios once each."""
    scenarios: dict[str, int] = {}
    dumped: list[Any] = []
    rows = []
    for m in timeline.moments:
        key = m.place.scenario.model_dump_json()
        number = scenarios.setdefault(key, len(scenarios))
        if number == len(dumped):
            dumped.append(m.place.scenario.model_dump(mode="json"))
        p = m.place
        place = [number, p.phase, p.step, p.stage, p.updates, [asdict(w) for w in p.written]]
        keys = {v: k for k, v in timeline.moments[m.parent].children.items()} if m.parent is not None else {}
        rows.append([m.parent, m.command, place, m.weights, m.before, m.label, m.loss, m.norm, m.validation, keys.get(m.id, "")])
    return {"scenarios": dumped, "moments": rows}


def restore(engine: Engine, data: bytes) -> Engine:
    """Fill a new engine. Raises ValueError (safetensors, JSON) for what `save` did not make."""
    tensors, head = load(data), _head(data)
    timeline = _timeline(head)
    scenario = timeline.here.place.scenario
    model, engine.loaded = weights.build(scenario, engine.device)
    engine.learner = Learner(model)
    taps, engine.heads, engine.widths = probe(model, scenario, engine.device)
    engine.schema, engine.timeline, engine.epoch = Schema(taps), timeline, head["epoch"]
    engine.rebuilt_from = [Scenario.model_validate_json(json.dumps(s)) for s in head["rebuilt_from"]]
    if head["owned"]:
        engine.learner.load(head["weights"], _snapshot(head, tensors), scenario.training)
        engine.snapshots.kept[head["weights"]] = engine.learner.snapshot()
    for _ in engine.stand_here():
        pass
    return engine


def _head(data: bytes) -> dict[str, Any]:
    length = int.from_bytes(data[:8], "little")
    run: dict[str, Any] = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["run"])
    return run


def _timeline(head: dict[str, Any]) -> Timeline:
    scenarios = [Scenario.model_validate_json(json.dumps(s)) for s in head["scenarios"]]
    timeline = Timeline()
    for parent, command, place, made, before, label, loss, norm, validation, key in head["moments"]:
        number, phase, step, stage, updates, written = place
        where = Place(scenarios[number], phase, step, stage, updates, tuple(_written(w) for w in written))
        moment = Moment(len(timeline.moments), parent, command, where, made, before, label, loss, norm, validation)
        timeline.moments.append(moment)
        if parent is not None:
            timeline.moments[parent].children[key] = moment.id
    timeline.at = head["at"]
    return timeline


def _written(w: dict[str, Any]) -> Written:
    return Written(tuple(w["ids"]), tuple(w["origins"]), w["finished"], w["log_probability"])


def _snapshot(head: dict[str, Any], tensors: dict[str, Tensor]) -> Snapshot:
    parameters = {k.removeprefix("parameter/"): v for k, v in tensors.items() if k.startswith("parameter/")}
    optimizer = None
    if head["slots"] is not None:
        state: dict[int, dict[str, Tensor]] = {int(i): {} for i in head["slots"]["ids"]}
        for key, value in tensors.items():
            if key.startswith("slot/"):
                _, i, name = key.split("/")
                state[int(i)][name] = value
        optimizer = {"state": state, "param_groups": head["slots"]["groups"]}
    return Snapshot(head["updates"], parameters, optimizer, head["kind"])


def digest(engine: Engine) -> str:
    """SHA-256 over parameters, optimizer state, caches, the decision row's logits, and the place."""
    found = hashlib.sha256()
    snapshot = engine.learner.snapshot()
    named = [*_tensors(snapshot).items()]
    reading = engine.standing.reading
    if reading is not None:
        named += [(path, value) for path, (value, _, _) in reading.state.kept().items()]
        named += [] if reading.logits is None else [("logits", reading.logits)]
    for name, value in sorted(named, key=lambda n: n[0]):
        found.update(name.encode())
        found.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b"")
    place = engine.timeline.here.place
    found.update(place.scenario.model_dump_json().encode())
    found.update(repr((place.phase, place.step, place.stage, place.updates, place.written)).encode())
    return found.hexdigest()
