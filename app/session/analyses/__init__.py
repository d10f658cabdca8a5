"""What is computed about a run rather than in it: one file each, run on demand, with progress, and cancelled by closing.

A module here has `NAME`, `TITLE`, `ARGUMENTS` (name -> what is allowed) and `run(run, arguments)`, which yields progress
(0..1), `Check`s, and at last a `Result`. Nobody keeps a list: putting a file here is enough.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn

from app.session import given, weights
from app.session.beam import spread
from app.session.events import Analysis, Check, Refused
from app.session.lineage import Learner
from app.session.problems import shorten
from app.session.reading import listening
from app.session.shown import Piece
from app.session.standing import load, parameters_before
from app.session.timeline import Place
from app.session.updating import Update
from models import Rows
from models.parts.tape import Tape
from models.tasks.objective import pad

if TYPE_CHECKING:
    from app.session.engine import Engine


log = logging.getLogger("lookback")

FAILED = "measure"  # the field that a refusal names where the measuring itself failed


@dataclass(frozen=True)
class Run:
    """What an analysis may look at. It must change nothing of it."""

    model: nn.Module
    place: Place
    device: torch.device
    update: Update | None = None  # the one in progress, or the one that was finished here
    before: Callable[[], nn.Module] | None = None  # the model with the parameters that this update began with


@dataclass(frozen=True)
class Result:
    """Named numbers, JSON-able, and arrays."""

    values: Mapping[str, Any]
    pieces: tuple[Piece, ...] = ()


@cache
def registry() -> dict[str, ModuleType]:
    """By name."""
    modules = (importlib.import_module(f"{__name__}.{i.name}") for i in pkgutil.iter_modules(__path__))
    return {m.NAME: m for m in modules}


def analyse(engine: Engine, name: str, arguments: dict[str, Any]) -> Iterator[Analysis | Check]:
    """Run one analysis at the moment where the engine stands; its result names that moment."""
    module = registry().get(name)
    if module is None:
        allowed = ", ".join(registry())
        raise Refused.one("name", name, f"one of {allowed}", f"analysis {name!r} is unknown; allowed: {allowed}")
    for key in arguments:
        if key not in module.ARGUMENTS:
            allowed = ", ".join(module.ARGUMENTS) or "none"
            message = f"{name} has no argument {key!r}; allowed: {allowed}"
            raise Refused.one(f"arguments.{key}", shorten(arguments[key]), allowed, message)
    run = Run(
        engine.learner.model, spread(engine.timeline.here.place), engine.device, engine.standing.update, partial(_before, engine)
    )
    yield Analysis(name, 0.0, None)
    for said in _measured(module, run, arguments):
        match said:
            case Check():
                yield said
            case Result():
                yield Analysis(name, 1.0, {"moment": engine.timeline.at, **said.values}, said.pieces)
            case progress:
                yield Analysis(name, float(progress), None)


def _measured(module: ModuleType, run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """What the analysis yields. One that fails has changed nothing, so that it alone is refused; the log says what failed."""
    try:
        yield from module.run(run, arguments)
    except Refused:
        raise
    except Exception:
        log.exception("The analysis %s failed.", module.NAME)
        message = "This could not be measured here: the server failed at it; its log says why. The run goes on as it was."
        raise Refused.one(FAILED, module.NAME, "", message) from None


def known(run: Run) -> Tape:
    """What one call over all known rows of the requests records, edits at taps in force."""
    scenario, prompts = run.place.scenario, given.prompts(run.place.scenario)
    written = [w.read(run.place.decided) for w in run.place.written] or [()] * len(prompts)
    rows, source = pad([[*p, *w] for p, w in zip(prompts, written, strict=True)]).to(run.device), given.source_rows(scenario)
    inputs, tape = given.inputs(scenario, rows, source and source.to(run.device), [0] * len(prompts)), Tape()
    with torch.no_grad():
        state = run.model.initial_state(len(prompts))  # type: ignore[operator]
        run.model(inputs, state, listening(run.model, scenario, [0] * len(prompts), tape))
    return tape.finish()


def one_request(run: Run, arguments: dict[str, Any], name: str) -> tuple[nn.Module, Rows, Rows | None]:
    """For the analysis `name`: the model, and the known target and source rows of one request, alone, so that nothing is padding.
    In training those of one sequence of the batch, with the parameters that its update began with."""
    if run.place.phase == "train":
        update = run.update
        if update is None or update.lesson is None or run.before is None:
            allowed = "an update with its batch"
            raise Refused.one("name", name, allowed, "In training a state is read once the batch is drawn. Step there.")
        request = whole(arguments, "request", 0, len(update.examples) - 1, 0)
        source = update.lesson.source
        return run.before(), _alone(update.lesson.inputs, request), None if source is None else _alone(source, request)
    scenario = run.place.scenario
    prompts, source = given.prompts(scenario), given.source_rows(scenario)
    request = whole(arguments, "request", 0, len(prompts) - 1, 0)
    written = run.place.written[request].read(run.place.decided) if run.place.written else ()
    target = pad([[*prompts[request], *written]]).to(run.device)
    return run.model, target, None if source is None else _alone(source.to(run.device), request)


def _alone(rows: Rows, request: int) -> Rows:
    length = rows.lengths[request : request + 1]
    return Rows(rows.values[request : request + 1, : int(length)], length)


Default = TypeVar("Default", int, None)


def whole(arguments: dict[str, Any], name: str, low: int, high: int, default: Default) -> int | Default:
    """A whole-number argument, or Refused with its range; left out or null, the default."""
    value = arguments.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        allowed = f"a whole number from {low} to {high}"
        value = shorten(value)
        raise Refused.one(f"arguments.{name}", value, allowed, f"{name} was given {value!r}; allowed: {allowed}")
    return int(value)


def _before(engine: Engine) -> nn.Module:
    """A model with the parameters that this moment's update began with: the run's own while they are in force, else a copy."""
    here = engine.timeline.here
    wanted = parameters_before(here)
    if engine.learner.weights == wanted:
        return engine.learner.model
    learner = Learner(weights.build(here.place.scenario, engine.device)[0])
    for _ in load(learner, engine.snapshots, engine.timeline, wanted):
        pass
    return learner.model
