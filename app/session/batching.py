"""Requests that join a batch and leave it between two decode steps (continuous batching; 000 0x0B.5).

The request axis is not the future-token axis: a request that comes is read on its own, in one call over its prompt, and from
then on takes one decision a step like the others, each at a row of its own. What it decides is what it decides alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from app.session import given, inputs, rows
from app.session.commands import Join, Leave, Selector
from app.session.conflicts import size_problems
from app.session.events import Event, Notice, Refused
from app.session.moving import Moving
from app.session.problems import refused
from app.session.reading import Call
from app.session.scenario import MAX_REQUESTS, Request, Scenario
from app.session.timeline import Moment, Place, Turn, Written
from models.catalogue import architectures, read_config, tasks

EVER = 26  # requests of one run, those that left among them: so many letters name them


class Batching(Moving):
    """A run whose batch changes."""

    def _join(self, command: Join, watch: Sequence[Selector]) -> Iterator[Event]:
        place = self.timeline.here.place
        self._refuse_turn("join", place)
        request = _further(place.scenario, [place.everyone.requests[b] for b in place.present], command.request)
        number = len(place.everyone.requests)
        self._refuse_more(place, number)
        turn = Turn(place.decided, number, True)
        written = (*_written(place), Written(joined=place.decided))
        place = replace(place, written=written, turns=(*place.turns, turn), joined=(*place.joined, request))
        moment, calls = self._take(command, turn, place)
        yield from self.arrived(moment, calls, watch, keyframe=False)
        yield from self._unknown(place, request)

    def _leave(self, command: Leave, watch: Sequence[Selector]) -> Iterator[Event]:
        place, number = self.timeline.here.place, command.request
        self._refuse_turn("leave", place)
        if number not in place.present:
            allowed = ", ".join(map(str, place.present))
            message = f"Request {number} does not exist; in the batch are: {allowed}."
            if number < len(place.everyone.requests):
                message = f"Request {number} has left already; in the batch are: {allowed}."
            raise Refused.one("request", number, allowed, message)
        if len(place.present) == 1:
            message = f"Request {number} is the only one in the batch. Let another join first, or reset the run."
            raise Refused.one("request", number, "one of several", message)
        place, turn = replace(place, written=_written(place)).without(number)
        moment, _ = self._take(command, turn, place)
        yield from self.everything(watch, (moment,) if self.new else ())

    def _take(self, command: Join | Leave, turn: Turn, place: Place) -> tuple[Moment, list[Call]]:
        self._dirty = True
        calls = self.standing.take(turn, place.everyone)
        self.standing.trim()
        here = self.timeline.here
        moment = self._commit(command, place, here.weights, here.weights)
        return moment, calls

    def _refuse_turn(self, kind: str, place: Place) -> None:
        message, allowed = "", "between two decode steps"
        if not given.writes(place.scenario) or "decode" not in given.phases_of(place.scenario):
            message = "Here nothing is decoded, so no request can join or leave. Change the input instead."
        elif place.phase != "decode":
            message = "Requests join and leave between two decode steps. Go to Decode first."
        elif place.scenario.policy.kind == "beam":
            message = "A beam follows one request, so none can join or leave. Decide by greedy or sample first."
        elif place.stage:
            message = "Requests join and leave between two decode steps. Step once to end this one."
        if message:
            raise Refused.one("kind", kind, allowed, message)

    def _refuse_more(self, place: Place, number: int) -> None:
        if len(place.present) >= MAX_REQUESTS:
            message = f"{MAX_REQUESTS} requests are in the batch, as many as it can hold. Let one leave first."
            raise Refused.one("request", len(place.present) + 1, f"at most {MAX_REQUESTS} at once", message)
        if number >= EVER:
            message = f"{EVER} requests took part in this run, as many as it can name. Reset the run to go on."
            raise Refused.one("request", number + 1, f"at most {EVER} in a run", message)

    def _unknown(self, place: Place, request: Request) -> Iterator[Notice]:
        words = rows.unknown_words(place.scenario.model_copy(update={"requests": (request,)}))
        if words:
            yield rows.unknown_notice(words)


def _written(place: Place) -> tuple[Written, ...]:
    return place.written or tuple(Written() for _ in place.everyone.requests)


def _further(scenario: Scenario, others: Iterable[Request], data: Any) -> Request:
    """A request from plain data that joins these others. Raises `Refused` with every problem found."""
    try:
        request = Request.model_validate_json(json.dumps(data))
    except (ValidationError, ValueError, RecursionError) as error:
        raise refused(error, "request") from None
    spec, task = architectures()[scenario.architecture], tasks()[scenario.task]
    config, _ = read_config(spec, scenario.config)
    together = scenario.model_copy(update={"requests": (*others, request)})
    problems = [*inputs.problems("request", request, spec, task), *size_problems(together, spec, config)]
    if problems:
        raise Refused(*problems)
    return request
