"""A run as bytes, and back, bit for bit: the tree as JSON, and the snapshot of parameters from which the rest follows."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch

from app.session import weights
from app.session.lineage import BUILD, Learner, Snapshot
from app.session.probe import probe
from app.session.scenario import Request, Scenario
from app.session.standing import parameters_before, way
from app.session.taking_back import Later
from app.session.timeline import Moment, Place, Timeline, Turn, Written

if TYPE_CHECKING:
    from app.session.engine import Engine


FORMAT = 2  # of what `save` writes


def save(engine: Engine) -> bytes:
    """Everything that `restore` needs: the length of the tree as u64, the tree, and the nearest snapshot (none: the build)."""
    at, _ = way(engine.snapshots, engine.timeline, parameters_before(engine.timeline.here))
    head = {
        "format": FORMAT,
        "epoch": engine.epoch,
        "at": engine.timeline.at,
        "snapshot": at,
        "earlier": [e.scenario.model_dump(mode="json") for e in engine.earlier],
        "later": [[a.scenario.model_dump(mode="json"), a.redos] for a in engine.later],
        **_tree(engine.timeline),
    }
    text = json.dumps(head, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + (b"" if at == BUILD else engine.snapshots.packed(at))


def _tree(timeline: Timeline) -> dict[str, Any]:
    """Moments as rows; scenarios once each, however many moments share one."""
    numbers: dict[int, int] = {}
    scenarios: list[Any] = []
    rows = []
    for m in timeline.moments:
        p = m.place
        if id(p.scenario) not in numbers:
            numbers[id(p.scenario)] = len(scenarios)
            scenarios.append(p.scenario.model_dump(mode="json"))
        place = [numbers[id(p.scenario)], p.phase, p.step, p.stage, p.updates, [asdict(w) for w in p.written]]
        place += [[asdict(t) for t in p.turns], [r.model_dump(mode="json") for r in p.joined]]
        numbers_of = [m.weights, m.before, m.first_loss, m.loss, m.norm, m.validation, m.as_written]
        rows.append([m.parent, m.command, m.kind, place, m.label, *numbers_of])
    return {"scenarios": scenarios, "moments": rows}


def restore(engine: Engine, data: bytes) -> Engine:
    """Fill a new engine. Raises ValueError for what this version's `save` did not make."""
    length = int.from_bytes(data[:8], "little")
    head, packed = json.loads(data[8 : 8 + length]), data[8 + length :]
    if head.get("format") != FORMAT:
        raise ValueError(f"the saved run has format {head.get('format')!r}, this version reads format {FORMAT}")
    engine.timeline, engine.epoch = _timeline(head), head["epoch"]
    scenario = engine.timeline.here.place.scenario
    model, engine.loaded = weights.build(scenario, engine.device)
    engine.learner = Learner(model)
    engine.schema, engine.heads, engine.widths = probe(model, scenario, engine.device)
    later = [Later(Scenario.model_validate_json(json.dumps(s)), redos) for s, redos in head.get("later", ())]
    engine.leave((Scenario.model_validate_json(json.dumps(s)) for s in head["earlier"]), later)
    if packed:
        engine.snapshots.keep(head["snapshot"], Snapshot.unpack(packed).updates, packed)
    for _ in engine.stand_here():
        pass
    return engine


def _timeline(head: dict[str, Any]) -> Timeline:
    scenarios = [Scenario.model_validate_json(json.dumps(s)) for s in head["scenarios"]]
    timeline = Timeline()
    for parent, command, kind, place, label, made, before, first_loss, loss, norm, validation, *more in head["moments"]:
        number, phase, step, stage, updates, written, turns, joined = place
        came = tuple(Request.model_validate_json(json.dumps(r)) for r in joined)
        wrote, turned = tuple(_written(w) for w in written), tuple(Turn(**t) for t in turns)
        where = Place(scenarios[number], phase, step, stage, updates, wrote, turned, came)
        moment = Moment(len(timeline.moments), parent, command, where, made, before, kind, label)
        moment.first_loss, moment.loss, moment.norm, moment.validation = first_loss, loss, norm, validation
        moment.as_written = tuple(more[0]) if more and more[0] else None  # a run saved by an earlier version has none
        timeline.moments.append(moment)
        if parent is not None:
            timeline.moments[parent].children[command] = moment.id
    timeline.at = head["at"]
    return timeline


def _written(w: dict[str, Any]) -> Written:
    return Written(tuple(w["ids"]), tuple(w["origins"]), w["finished"], w["joined"])


def digest(engine: Engine) -> str:
    """SHA-256 over parameters, optimizer state, caches, the decision rows' logits, and the place."""
    found = hashlib.sha256()
    named = [*engine.learner.snapshot().tensors().items()]
    reading = engine.standing.reading
    if reading is not None:
        named += [(path, value) for path, (value, _, _) in reading.state.kept().items()]
        named += [] if reading.logits is None else [("logits", reading.logits)]
    for name, value in sorted(named, key=lambda n: n[0]):
        found.update(name.encode())
        found.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b"")
    place = engine.timeline.here.place
    found.update(place.everyone.model_dump_json().encode())
    found.update(repr((place.phase, place.step, place.stage, place.updates, place.written, place.turns)).encode())
    return found.hexdigest()
