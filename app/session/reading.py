"""Prefill and decode: what the requests' rows are, one model call after another.

All tensors here are a pure function of (model, scenario, what was written): the source is encoded once, the prompt is read in
one call, then each written token is one more row a request. Cached execution gives a call its new rows; full-prefix execution
gives it every known row and an empty cache. Sources: 000 0x0B.4-0x0B.6.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn

from app.session import given, interventions, policy
from app.session.scenario import Scenario
from app.session.timeline import Ending, Place, Written
from models import Outputs, Rows, State
from models.parts.select import join, select, trimmed
from models.parts.tap import OFF, Editor, Recorder, Tap
from models.parts.tape import Tape
from models.tasks import EOS
from models.tasks.objective import deciding, decision_rows, pad


@dataclass(frozen=True)
class Call:
    """One call of the model: what it recorded, where its rows lie, how long it took.

    starts, lengths: by place in the batch, the first target row of this call and how many of its rows are real.
    whole: it recorded every known row anew (prefill, full prefix), so nothing earlier is needed to show it.
    requests: which request is at each place of the batch, by number.
    """

    stage: str
    tape: Tape
    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    ms: float
    whole: bool
    requests: tuple[int, ...]

    def pick(self, rows: Sequence[int]) -> Call:
        """The same call as these of its requests have it."""
        tape = replace(self.tape, records={}, sizes={**self.tape.sizes, "b": len(rows)})
        for path, record in self.tape.records.items():
            own = record.axes[:1] == ("b",)
            at = torch.tensor(rows, device=record.value.device)
            value = record.value.index_select(0, at) if own else record.value
            unedited = record.unedited.index_select(0, at) if own and record.unedited is not None else record.unedited
            tape.records[path] = record._replace(value=value, unedited=unedited)
        starts, lengths = (tuple(numbers[b] for b in rows) for numbers in (self.starts, self.lengths))
        return replace(self, tape=tape, starts=starts, lengths=lengths, requests=tuple(range(len(rows))))

    @cached_property
    def bytes(self) -> int:
        """Of recorded values; caches do not count, as the run holds them anyway."""
        return sum(r.value.numel() * r.value.element_size() for r in self.tape.records.values() if r.type != "state")


class Reading:
    """The requests of one scenario on their way through prefill and decode.

    requests: which of them are in the batch, by number, in the order of its places; what is kept by request is kept by place.
    unedited: the same rows beside it without a person's edits and masks, unrecorded; only where it is recorded and there are any.
    decisions: by request, the logits `[v]` that each decision so far was made from; log_p: log p of each token chosen.
    gone: of requests that left, log_p.
    unused: logits of the prompt's physical last row `[b, v]`, which is padding in a shorter request.
    said: where nothing is written, what the one call gave; deciding: then the source rows that decide, by request.
    """

    def __init__(
        self,
        model: nn.Module,
        scenario: Scenario,
        device: torch.device,
        *,
        record: bool = True,
        only: Sequence[int] | None = None,
    ) -> None:
        """only: the requests to begin with; else all of them."""
        self.model, self.scenario, self.device, self.record = model, scenario, device, record
        self.requests = list(range(len(scenario.requests)) if only is None else only)
        began = time.perf_counter()
        every = given.prompts(scenario)
        self.prompts = [every[b] for b in self.requests]
        self.cutting_ms = (time.perf_counter() - began) * 1e3  # from text to the ids of its pieces
        self.source = self._source()
        self.state: State = model.initial_state(len(self.prompts))  # type: ignore[operator]
        self.logits: Tensor | None = None  # of each request's decision row, [b, v]
        self.writes = given.writes(scenario)
        self.encoded = self.source is None or not self.writes  # apart from what is written, one call reads all
        self.said: Outputs | None = None
        self.deciding: list[list[int | None]] = [[] for _ in self.prompts]
        self.memory = self.state  # what a full-prefix call begins with: the encoded source, or nothing
        self.decisions: list[list[Tensor]] = [[] for _ in self.prompts]
        self.gone: dict[int, list[float]] = {}
        self.log_p: list[list[float]] = [[] for _ in self.prompts]
        self.unused: Tensor | None = None
        plain = interventions.unedited(scenario) if record else None
        self.unedited = None if plain is None else Reading(model, plain, device, record=False, only=self.requests)

    def _source(self) -> Rows | None:
        """The source rows of those in the batch, as wide as they need."""
        every = given.source_rows(self.scenario)
        if every is None:
            return None
        lengths = every.lengths[self.requests]
        return Rows(every.values[self.requests, : int(lengths.max())], lengths)

    def place(self, request: int) -> int | None:
        """Where this request is in the batch; None: it is not in it."""
        return self.requests.index(request) if request in self.requests else None

    def encode(self) -> Call:
        """Read the source into its memory, once. No target row yet."""
        call, _ = self._call("encode", [[] for _ in self.prompts], self.state, with_source=True)
        self.encoded = True
        self.memory = self.state
        if self.unedited is not None:
            self.unedited.encode()
        return call

    def prefill(self) -> Call:
        """All prompt rows in one call; the last valid row of each request decides (000 0x0B.4). Or the whole source."""
        if self.unedited is not None:
            self.unedited.prefill()
        return self._read(self.prompts, prompt=True) if self.writes else self._whole()

    def goes_on(self, written: tuple[Written, ...], decided: int) -> bool:
        """Whether the `decided`-th decision gives any request in the batch a row to read."""
        return any(written[b].read(decided) != written[b].read(decided - 1) for b in self.requests)

    def decode(self, written: tuple[Written, ...], decided: int) -> Call:
        """Read what the `decided`-th decision wrote: one new row a request that goes on, or every known row (full prefix)."""
        here = [written[b] for b in self.requests]
        fed = [w.read(decided) for w in here]
        if self.unedited is not None:
            self.unedited.decode(written, decided)
        if self.scenario.policy.execution == "full_prefix":
            return self._read([[*p, *f] for p, f in zip(self.prompts, fed, strict=True)], anew=True)
        before = [w.read(decided - 1) for w in here]
        return self._read([list(f[len(b) :]) for f, b in zip(fed, before, strict=True)])

    def decided(self, written: tuple[Written, ...], number: int) -> None:
        """Keep what the number-th decision (from 1) was made from, and how probable its tokens were."""
        assert self.logits is not None
        log_p = torch.log_softmax(self.logits.double(), -1)
        for at, one in enumerate(written[b] for b in self.requests):
            if one.joined < number <= one.decided:
                self.decisions[at].append(self.logits[at])
                self.log_p[at].append(float(log_p[at, one.ids[number - one.joined - 1]]))
        if self.unedited is not None:
            self.unedited.decided(written, number)

    def _whole(self) -> Call:
        assert self.source is not None
        call, self.said = self._call("read", self.prompts, self.memory, with_source=True)
        self.deciding = deciding(self.said, self.source.to(self.device), given.hidden_id(self.scenario))
        return call

    def answers(self, b: int) -> Tensor | None:
        """Where nothing is written: the logits of the rows that decide in request b, `[rows, v]`; None before they are read."""
        if self.said is None:
            return None
        rows, values = self.deciding[b], self.said.values[b]
        return values[None] if rows == [None] else values[[r for r in rows if r is not None]]

    def pick(self, rows: Sequence[int], requests: list[int] | None = None) -> None:
        """Go on with what is at these places, in this order, some of them twice: each keeps what it knows. requests: whose they
        are; left out, each becomes one of its own (beam search)."""
        at = torch.tensor(rows, device=self.device)
        self.prompts = [self.prompts[b] for b in rows]
        self.log_p = [list(self.log_p[b]) for b in rows]
        self.state, self.memory = select(self.state, at), select(self.memory, at)
        self.logits = None if self.logits is None else self.logits[at]
        self.decisions = [list(self.decisions[b]) for b in rows]
        self.unused = None
        if self.source is not None:
            self.source = Rows(self.source.values[rows], self.source.lengths[rows])
        self.requests = list(range(len(rows))) if requests is None else list(requests)
        if self.unedited is not None:
            self.unedited.pick(rows, requests)

    def join(self, other: Reading) -> None:
        """Go on with the requests of another reading of the same model beside these."""
        self.scenario = other.scenario
        self.requests += other.requests
        self.prompts, self.source = self.prompts + other.prompts, self._source()
        self.log_p, self.decisions = self.log_p + other.log_p, self.decisions + other.decisions
        self.state, self.memory = join(self.state, other.state), join(self.memory, other.memory)
        assert self.logits is not None and other.logits is not None
        self.logits, self.unused = torch.cat((self.logits, other.logits)), None
        if self.unedited is not None and other.unedited is not None:
            self.unedited.join(other.unedited)

    def leave(self, request: int) -> None:
        """Go on without this request: what is kept of it is freed."""
        self.gone[request] = self.log_p[self.requests.index(request)]
        stay = [b for b in self.requests if b != request]
        self.pick([self.requests.index(b) for b in stay], stay)
        for reading in (self, self.unedited):
            if reading is not None:
                reading.state, reading.memory, reading.source = trimmed(reading.state), trimmed(reading.memory), reading._source()

    def _read(self, rows: list[list[int]], *, anew: bool = False, prompt: bool = False) -> Call:
        call, outputs = self._call("read", rows, self.memory if anew else self.state)
        logits = outputs.values
        decides = decision_rows(torch.tensor(call.lengths, device=self.device))
        new = logits[torch.arange(len(rows), device=self.device), decides.clamp(min=0)]
        self.logits = new if self.logits is None else torch.where((decides >= 0)[:, None], new, self.logits)
        self.unused = logits[:, -1].clone() if prompt and len(set(call.lengths)) > 1 else None
        return call

    def _call(self, stage: str, rows: list[list[int]], state: State, *, with_source: bool = False) -> tuple[Call, Outputs]:
        starts = tuple(state.lengths.tolist())
        target = pad(rows)
        source = self.source.to(self.device) if with_source and self.source is not None else None
        inputs = given.inputs(self.scenario, target.to(self.device), source, starts, self.requests)
        tape = Tape()
        tap = listening(self.model, self.scenario, starts, tape if self.record else None, requests=self.requests)
        began = time.perf_counter()
        with torch.no_grad():
            outputs, self.state = self.model(inputs, state, tap)
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        ms = (time.perf_counter() - began) * 1e3
        whole = all(s == 0 for s in starts)
        return Call(stage, tape.finish(), starts, tuple(target.lengths.tolist()), ms, whole, tuple(self.requests)), outputs


def listening(
    model: nn.Module,
    scenario: Scenario,
    starts: Sequence[int],
    tape: Tape | None,
    *,
    gradients: bool = False,
    requests: Sequence[int] | None = None,
) -> Tap:
    """The tap of one call: the scenario's edits in front of a recorder, as far as there are any. requests: as in `Call`."""
    recorder = None if tape is None else Recorder(tape, gradients=gradients)
    edits = interventions.edits(scenario, starts, interventions.donors(model, scenario), requests) if scenario.edits else {}
    if edits:
        return Editor(edits, recorder)
    return OFF if recorder is None else recorder


def within_limit(place: Place) -> tuple[Written, ...]:
    """What was written under a limit that may have changed: it goes on where there is room again, and ends where there is not.

    A beam is searched anew anyway; of a beam that is left the best hypothesis stays. Who left the batch stays away.
    """
    scenario, written = place.everyone, place.written
    if scenario.policy.kind == "beam":
        return written
    goes_on = [w.finished != "eos" and b in place.present for b, w in enumerate(written[: len(scenario.requests)])]
    return tuple(
        replace(w, finished=full(scenario, b, len(w.ids))) if on else w
        for b, (w, on) in enumerate(zip(written, goes_on, strict=False))
    )


def full(scenario: Scenario, b: int, count: int) -> Ending:
    """ "limit" where request b can take no token after its first `count`: by the policy, or by what the architecture can hold."""
    rows = len(given.prompts(scenario)[b]) + count
    return "limit" if count >= scenario.policy.limit or rows > given.spec_of(scenario).capabilities.largest_rows else ""


def decide(
    reading: Reading, written: tuple[Written, ...], override: tuple[int, int] | None = None, before: Sequence[int | None] = ()
) -> tuple[Written, ...]:
    """One decision for each request that goes on: the policy's, the one that a person chose (`override`: request, id), or, by
    request, the one that was written `before` a part was exchanged.

    A request ends by <eos>, by the policy's limit, or when the architecture can hold no further row.
    """
    scenario, out = reading.scenario, []
    for b, one in enumerate(written):
        at = reading.place(b)
        if one.finished or at is None:
            out.append(one)
            continue
        assert reading.logits is not None
        own = override is not None and override[0] == b
        known = override[1] if own and override else before[b] if b < len(before) else None
        id = policy.choose(reading.logits[at], scenario.policy, scenario.seed, len(one.ids), b) if known is None else known
        finished: Ending = "eos" if id == EOS else full(scenario, b, len(one.ids) + 1)
        out.append(
            replace(
                one,
                ids=(*one.ids, id),
                origins=(*one.origins, "chosen" if own else "model"),
                finished=finished,
            )
        )
    return tuple(out)
