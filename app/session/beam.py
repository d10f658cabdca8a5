"""Beam search: several hypotheses of one request, each a row of the batch, so that one call advances all of them.

At each step every hypothesis that goes on is continued with every word, and the most probable continuations are kept, as many as
the beam is wide less those that have ended: what was given <eos> keeps its place and is not continued (Sutskever et al. 2014,
section 3.2). Hypotheses of different length are compared by a score (Wu et al. 2016, arXiv 1609.08144, eq. 14, without coverage):

    score(Y) = log P(Y | X) / lp(Y)        lp(Y) = ((5 + |Y|) / (5 + 1)) ** alpha        |Y| counts <eos>; alpha 0: log P itself

A width of 1 is greedy decoding; a width that holds every hypothesis is exhaustive search. Source: 000 0x01A-0x01B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from app.session.methods import Policy
from app.session.reading import Reading, full
from app.session.scenario import Scenario
from app.session.shown import BeamStep, BeamView
from app.session.timeline import Place, Written
from models.tasks import EOS


@dataclass(frozen=True)
class Branch:
    """A hypothesis after a step: the one that it continues, its last token (None: it had ended, and stays), log P and score."""

    parent: int
    token: int | None
    log_p: float
    score: float


@dataclass(frozen=True)
class Selection:
    """What a step kept, the best first, and the most probable of what it dropped."""

    kept: tuple[Branch, ...]
    pruned: tuple[Branch, ...]


def score(log_p: float, count: int, policy: Policy) -> float:
    """Of a hypothesis of so many tokens, <eos> among them."""
    return log_p / float(((5 + count) / 6) ** policy.length_penalty)


def choose(logits: Tensor, written: Sequence[Written], log_p: Sequence[float], policy: Policy) -> Selection:
    """One step from `logits` `[b, v]` of hypotheses that have `log_p` each; those that are finished stay."""
    stay = [Branch(b, None, log_p[b], score(log_p[b], len(w.ids), policy)) for b, w in enumerate(written) if w.finished]
    live = [b for b, w in enumerate(written) if not w.finished]
    each = torch.log_softmax(logits[live].double(), -1) + torch.tensor(
        [[log_p[b]] for b in live], dtype=torch.float64, device=logits.device
    )
    room, words = policy.width - len(stay), each.shape[1]
    order = each.flatten().argsort(descending=True, stable=True)[: 2 * room].tolist()
    found = [(live[i // words], i % words, float(each[i // words, i % words])) for i in order]
    branches = [Branch(b, token, p, score(p, len(written[b].ids) + 1, policy)) for b, token, p in found]
    kept = sorted([*stay, *branches[:room]], key=lambda branch: -branch.score)
    return Selection(tuple(kept), tuple(branches[room:]))


@dataclass
class Search:
    """The beam of one request so far: what each hypothesis has written, its log P, and what each step kept and dropped."""

    scenario: Scenario
    written: tuple[Written, ...] = (Written(),)
    log_p: tuple[float, ...] = (0.0,)
    steps: list[Selection] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return all(w.finished for w in self.written)

    @property
    def winner(self) -> int | None:
        """The best of what has ended by <eos> once nothing goes on; where none has, the best of all."""
        if not self.ended:
            return None
        whole = [b for b, w in enumerate(self.written) if w.finished == "eos"] or list(range(len(self.written)))
        return max(whole, key=lambda b: self.steps[-1].kept[b].score)

    def ahead(self, logits: Tensor) -> Selection:
        """What the next step would keep and drop."""
        return choose(logits, self.written, self.log_p, self.scenario.policy)

    def advance(self, logits: Tensor) -> list[int]:
        """Take a step. Which row each new row goes on from."""
        found = self.ahead(logits)
        self.steps.append(found)
        self.written = tuple(self._continued(branch) for branch in found.kept)
        self.log_p = tuple(branch.log_p for branch in found.kept)
        return [branch.parent for branch in found.kept]

    def _continued(self, branch: Branch) -> Written:
        before = self.written[branch.parent]
        if branch.token is None:
            return before
        finished = "eos" if branch.token == EOS else full(self.scenario, 0, len(before.ids) + 1)
        return replace(before, ids=(*before.ids, branch.token), origins=(*before.origins, "model"), finished=finished)

    def view(self, reading: Reading) -> BeamView:
        """As a page is told of it."""
        ahead: list[list[int]] = [[] for _ in self.written]
        if not self.ended and reading.logits is not None and torch.isfinite(reading.logits).all():
            for branch in self.ahead(reading.logits).kept:
                ahead[branch.parent] += [] if branch.token is None else [branch.token]
        steps = tuple(_told(step) for step in self.steps)
        return BeamView(self.scenario.policy.width, steps, self.winner, tuple(map(tuple, ahead)))


def _told(step: Selection) -> BeamStep:
    both = (*step.kept, *step.pruned)
    tokens = tuple(-1 if b.token is None else b.token for b in both)
    numbers = (tuple(float(f"{x:.7g}") for x in values) for values in ([b.log_p for b in both], [b.score for b in both]))
    return BeamStep(len(step.kept), tokens, tuple(b.parent for b in both), *numbers)


def spread(place: Place) -> Place:
    """The same place with a request of the scenario for each: for each hypothesis of a beam (an edit of the request is one of all
    of them), and for each that joined on the way."""
    scenario, rows = place.scenario, len(place.written)
    if scenario.policy.kind != "beam" or rows <= 1:
        return replace(place, scenario=place.everyone, joined=()) if place.joined else place
    return replace(place, scenario=scenario_of(scenario, rows))


def scenario_of(scenario: Scenario, rows: int) -> Scenario:
    """So many requests that are the first one."""
    edits = tuple(e.model_copy(update={"index": (None, *e.index[1:])}) if e.index else e for e in scenario.edits)
    return scenario.model_copy(update={"requests": scenario.requests[:1] * rows, "edits": edits})
