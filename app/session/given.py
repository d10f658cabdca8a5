"""From a scenario to what a model is given: ids, visibility. The only place that translates between the two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from app.session import mask_sizes
from app.session.events import Problem, Refused
from app.session.keyed import generator, number
from app.session.problems import shorten
from app.session.scenario import Mask, Scenario, SpecialToken
from models import Inputs, Phase, Rows, Spec
from models.catalogue import architectures, read_config, tasks
from models.parts.visibility import Cell, Visibility
from models.tasks import BOS, MASK, Example, Special, Task, Token, phases, words_of
from models.tasks.objective import Corruption, source_of


def spec_of(scenario: Scenario) -> Spec:
    """The Spec of the scenario's architecture."""
    return architectures()[scenario.architecture]


def task_of(scenario: Scenario) -> Task:
    """The scenario's task."""
    return tasks()[scenario.task]


def config_of(scenario: Scenario) -> Any:
    """The Config of the scenario's architecture."""
    return _config(scenario.architecture, tuple(scenario.config.items()))


@lru_cache(maxsize=64)
def _config(architecture: str, fields: tuple[tuple[str, Any], ...]) -> Any:
    return read_config(architectures()[architecture], dict(fields))[0]


def layers_of(scenario: Scenario) -> int:
    """How many layers its model has."""
    return spec_of(scenario).layers(config_of(scenario))


def fitting(scenario: Scenario) -> Scenario:
    """The same with its masks within the rows of its text."""
    masks = mask_sizes.fitted(scenario.masks, scenario, spec_of(scenario), config_of(scenario))
    return scenario if masks == scenario.masks else scenario.model_copy(update={"masks": masks})


def tokens(given: Iterable[str | SpecialToken]) -> tuple[Token, ...]:
    """Tokens of a request as a task takes them."""
    return tuple(Special(t.special) if isinstance(t, SpecialToken) else t for t in given)


def phases_of(scenario: Scenario) -> tuple[Phase, ...]:
    """The phases that this architecture has on this task."""
    return phases(spec_of(scenario).phases, task_of(scenario).objective)


def writes(scenario: Scenario) -> bool:
    """Whether there are target rows: next tokens are written, everything else is said of the source."""
    return task_of(scenario).objective == "next_token"


def source_rows(scenario: Scenario) -> Rows | None:
    """Source rows of all requests, right-padded (`Rows`), or None when the architecture reads no source."""
    return source_of(task_of(scenario), _examples(scenario))


def cuts(scenario: Scenario) -> bool:
    """Whether a text is cut into pieces, as a stage of its own that one can look at."""
    return task_of(scenario).tokenizer is not None


def prompts(scenario: Scenario) -> list[list[int]]:
    """The target ids that each request begins with: <bos> and what a person typed; none where nothing is written."""
    vocabulary = task_of(scenario).target
    if not writes(scenario):
        return [[] for _ in scenario.requests]
    return [[BOS, *vocabulary.encode(tokens(r.target))] for r in scenario.requests]


def hidden_id(scenario: Scenario) -> int | None:
    """The id of <mask> in the source, where the task has it."""
    words = words_of(task_of(scenario))
    return words.specials.index(MASK) if words is not None and MASK in words.specials else None


def corruption(scenario: Scenario, purpose: str) -> Corruption:
    """How a batch of masked tokens is corrupted; the draw follows from seed and purpose."""
    how = scenario.training
    return Corruption(str(number(scenario.seed, "mask", purpose)), how.mask_rate, how.mask_hidden, how.mask_replaced)


def own_examples(scenario: Scenario) -> list[Example]:
    """The requests as training examples ("mine"). A request without anything to learn is refused."""
    masked = task_of(scenario).objective == "masked"
    for i, request in enumerate(scenario.requests):
        if masked and all(isinstance(t, SpecialToken) for t in request.source or ()):
            message = f"Request {i} has no word to hide. Type one, or train on the task's own batch."
            raise Refused(Problem(f"requests.{i}.source", shorten(request.source), "1 or more words", message))
        if not masked and not request.target:
            message = f"Request {i} has no target words to learn. Type its target, or train on the task's own batch."
            raise Refused(Problem(f"requests.{i}.target", [], "1 or more tokens", message))
    known = zip(gold(scenario), _examples(scenario), strict=True)
    return [replace(e, alignment=g.alignment) if g is not None and g.target == e.target else e for g, e in known]


def _examples(scenario: Scenario) -> list[Example]:
    """The requests as they stand."""
    both = [(tokens(r.source) if r.source is not None else None, tokens(r.target)) for r in scenario.requests]
    features = [r.features for r in scenario.requests]
    return [Example(source, target, (), f) for (source, target), f in zip(both, features, strict=True)]  # type: ignore[arg-type]


def gold(scenario: Scenario) -> list[Example | None]:
    """Of each request the one right answer with its alignment, where the task knows it."""
    return [task_of(scenario).gold(tokens(r.source or ())) for r in scenario.requests]


def chances(scenario: Scenario, starts: Sequence[int], rows: int) -> Tensor | None:
    """What a model that draws at each target row draws by, `[b, rows]` in [0, 1); None for one that does not.

    A row's chance follows from the seed and its own number: a request draws the same beside others and alone, cached or not."""
    if not spec_of(scenario).capabilities.draws:
        return None
    every = [[number(scenario.seed, "place", first + i) / 2**63 for i in range(rows)] for first in starts]
    return torch.tensor(every, dtype=torch.float64).view(len(starts), rows)


def places(scenario: Scenario, starts: Sequence[int], rows: int, requests: Sequence[int] | None = None) -> Tensor | None:
    """What a person set in place of draws, `[b, rows]`, -1 where it is drawn; None: nothing. `requests`: whose number is at each
    place of the batch; left out, its own.

    All hypotheses of a beam are the first request."""
    if not scenario.draws or not spec_of(scenario).capabilities.draws:
        return None
    own = {(d.request, d.row): d.place for d in scenario.draws}
    who = [0] * len(starts) if scenario.policy.kind == "beam" else range(len(starts)) if requests is None else requests
    return torch.tensor([[own.get((b, first + i), -1) for i in range(rows)] for b, first in zip(who, starts, strict=True)])


def inputs(
    scenario: Scenario, target: Rows, source: Rows | None, starts: Sequence[int], requests: Sequence[int] | None = None
) -> Inputs:
    """One call in prefill or decode, whose first target row is `starts[b]` at place b. `requests`: as in `places`."""
    rows = target.values.shape[1]
    drawn, own = chances(scenario, starts, rows), places(scenario, starts, rows, requests)
    return Inputs(target, source, visibility(scenario), drawn, None if own is None else own.to(target.values.device))


def training_chances(scenario: Scenario, update: int, shape: Sequence[int], draw: int = 0) -> Tensor | None:
    """The same for a batch `[b, t]` of one update: new ones in each update, and in each further draw of it."""
    if not spec_of(scenario).capabilities.draws:
        return None
    return torch.rand(tuple(shape), generator=generator(scenario.seed, "places", update, draw), dtype=torch.float64)


def visibility(scenario: Scenario) -> dict[str, tuple[Visibility, ...]]:
    """By relation, one visibility a layer: the mask of that layer, else the one for all layers, else the Spec's default."""
    return _visibilities(scenario.architecture, layers_of(scenario), scenario.masks)


@lru_cache(maxsize=32)
def _visibilities(architecture: str, layers: int, masks: tuple[Mask, ...]) -> dict[str, tuple[Visibility, ...]]:
    chosen = {(m.relation, m.layer): _visibility(m) for m in masks}
    out = {}
    for r in architectures()[architecture].relations:
        everywhere = chosen.get((r.name, None), r.default)
        out[r.name] = tuple(chosen.get((r.name, layer), everywhere) for layer in range(layers))
    return out


def _visibility(mask: Mask) -> Visibility:
    cells = tuple(Cell(c.query, c.key, c.visible, c.queries, c.keys) for c in mask.cells)
    return Visibility(mask.program, mask.parameter, (), mask.every, mask.global_rows).with_cells(cells)
