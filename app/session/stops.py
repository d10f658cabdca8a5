"""Where playing stops: whether a stop fits the run, whether it is reached, and what that is called."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from app.session.commands import Stop, StopAtLoss, StopAtOp, StopAtStage, StopAtStep, StopAtToken
from app.session.events import Event, Moved, Opened, Problem, Refused, Schema
from app.session.shown import RequestView
from app.session.timeline import STAGES
from models import Phase

TILE = re.compile(r"(?<=\.tile)\.\d+$")  # one operation of several that share their taps


def refuse(stops: Sequence[Stop], described: Iterable[Event]) -> None:
    """Raises `Refused` with every stop that this run can never reach. `described`: what a page that joins is told."""
    events = list(described)
    words = next((e.vocabulary.get("target") or () for e in events if isinstance(e, Opened)), ())
    taps = [t.path for e in events if isinstance(e, Schema) for t in e.taps]
    found = [p for i, stop in enumerate(stops) if (p := _problem(f"stops.{i}", stop, words, taps))]
    if found:
        raise Refused(*found)


def _problem(field: str, stop: Stop, words: Sequence[str], taps: Sequence[str]) -> Problem | None:
    match stop:
        case StopAtStage() if stop.stage not in STAGES[stop.phase]:
            allowed = ", ".join(STAGES[stop.phase])
            message = f"{stop.phase} has no stage {stop.stage!r}; allowed: {allowed}"
            return Problem(f"{field}.stage", stop.stage, allowed, message)
        case StopAtOp() if not any(_within(path, TILE.sub("", stop.scope)) for path in taps):
            message = f"this model records nothing in {stop.scope!r}; take a scope of the schema, or remove this stop"
            return Problem(f"{field}.scope", stop.scope, "a scope of the schema", message)
        case StopAtToken() if stop.token >= len(words):
            allowed = f"0 to {len(words) - 1}"
            message = f"token {stop.token} is not in the vocabulary; allowed: {allowed}"
            return Problem(f"{field}.token", stop.token, allowed, message)
        case _:
            return None


def _within(path: str, scope: str) -> bool:
    return path == scope or path.startswith(f"{scope}.")


def inside(stops: Iterable[Stop], before: Moved) -> bool:
    """Whether the step after this moment must be walked stage by stage, because a stop lies inside it."""
    phase = _phase_after(before)
    return any(isinstance(s, StopAtStage | StopAtOp) and s.phase == phase for s in stops)


def _phase_after(before: Moved) -> Phase:
    """Prefill that has ended goes on into decode."""
    return "decode" if before.phase == "prefill" and before.step and not before.stage else before.phase


def reached(stops: Iterable[Stop], before: Moved, now: Moved) -> Stop | None:
    """The first stop that the way from `before` to `now`, one step or stage, came to."""
    return next((s for s in stops if _reached(s, before, now)), None)


def _reached(stop: Stop, before: Moved, now: Moved) -> bool:
    match stop:
        case StopAtStep():
            return (now.phase, now.step, now.stage) == (stop.phase, stop.step, "")
        case StopAtStage():
            return now.phase == stop.phase and stop.stage in _ran(before, now)
        case StopAtOp():
            ran = _ran(before, now)
            return now.phase == stop.phase and any(s.name in ran and stop.scope in s.ops for s in now.stages)
        case StopAtToken():
            return any(stop.token in _given(b, before, request) for b, request in enumerate(now.requests))
        case StopAtLoss():
            return _beyond(stop, now) and not _beyond(stop, before)
        case _:
            assert_never(stop)


def _ran(before: Moved, now: Moved) -> tuple[str, ...]:
    """The stages that ran between the two, by name."""
    names = tuple(s.name for s in now.stages if s.ms is not None)
    inside = (before.phase, before.stage) if before.stage else None
    return names[names.index(before.stage) + 1 :] if inside and before.phase == now.phase and before.stage in names else names


def _given(b: int, before: Moved, request: RequestView) -> list[int]:
    """The tokens that this request has now and had not before."""
    old = _written(before.requests[b]) if b < len(before.requests) else []
    return _written(request)[len(old) :]


def _written(request: RequestView) -> list[int]:
    return [r.id for r in request.target if r.origin in ("model", "chosen")]


def _beyond(stop: StopAtLoss, moved: Moved) -> bool:
    loss = None if moved.train is None else moved.train.loss
    if loss is None or math.isnan(loss):
        return False
    return loss < stop.value if stop.side == "below" else loss > stop.value


def said(stop: Stop, now: Moved) -> str:
    """Why playing stopped, in a sentence."""
    return f"Stopped where you asked: {_what(stop, now)}."


def _what(stop: Stop, now: Moved) -> str:
    at = _place(now)
    match stop:
        case StopAtStep():
            return f"{at} has ended"
        case StopAtStage():
            return f"{at} has done its stage {stop.stage}"
        case StopAtOp():
            return f"{at} has computed {stop.scope}"
        case StopAtToken():
            word = next(r.token for request in now.requests for r in request.target if r.id == stop.token)
            return f"{at} chose “{word}”"
        case StopAtLoss():
            assert now.train is not None and now.train.loss is not None
            loss, limit = f"{now.train.loss:.4g}", f"{stop.value:g}"
            return (
                f"{at} has the loss {loss}, below {limit}" if stop.side == "below" else f"{at} has the loss {loss}, above {limit}"
            )
        case _:
            assert_never(stop)


def _place(now: Moved) -> str:
    match now.phase:
        case "train":
            return f"Update {now.train.update if now.train else now.step}"
        case "decode":
            return f"Decode {now.step}"
        case _:
            return "Prefill"
