"""From a scenario to what a model is given: ids, visibility. The only place that translates between the two."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from app.session.events import Problem, Refused
from app.session.scenario import Mask, Scenario, SpecialToken
from models import Rows, Spec
from models.catalogue import architectures, read_config, tasks
from models.parts.visibility import Cell, Visibility
from models.tasks import BOS, Example, Special, Task, Token, words_of
from models.tasks.objective import pad


def spec_of(scenario: Scenario) -> Spec:
    return architectures()[scenario.architecture]


def task_of(scenario: Scenario) -> Task:
    return tasks()[scenario.task]


def layers_of(scenario: Scenario) -> int:
    spec = spec_of(scenario)
    config, _ = read_config(spec, scenario.config)
    return spec.layers(config)


def tokens(given: Iterable[str | SpecialToken]) -> tuple[Token, ...]:
    return tuple(Special(t.special) if isinstance(t, SpecialToken) else t for t in given)


def source_rows(scenario: Scenario) -> Rows | None:
    """Source ids of all requests, right-padded `[b, s]`, or None when the architecture reads no source."""
    vocabulary = words_of(task_of(scenario))
    if vocabulary is None:
        return None
    return pad([vocabulary.encode(tokens(r.source or ())) for r in scenario.requests])


def prompts(scenario: Scenario) -> list[list[int]]:
    """The target ids that each request begins with: <bos> and what a person typed."""
    vocabulary = task_of(scenario).target
    return [[BOS, *vocabulary.encode(tokens(r.target))] for r in scenario.requests]


def own_examples(scenario: Scenario) -> list[Example]:
    """The requests as training examples ("mine"). A request without target words cannot be learned from and is refused."""
    for i, request in enumerate(scenario.requests):
        if not request.target:
            message = f"Request {i} has no target words to learn. Type its target, or train on the task's own batch."
            raise Refused(Problem(f"requests.{i}.target", [], "1 or more tokens", message))
    words = [(tokens(r.source) if r.source is not None else None, tokens(r.target)) for r in scenario.requests]
    links = [g.alignment if g is not None and g.target == t else () for g, (_, t) in zip(gold(scenario), words, strict=True)]
    return [Example(source, target, own) for (source, target), own in zip(words, links, strict=True)]  # type: ignore[arg-type]


def gold(scenario: Scenario) -> list[Example | None]:
    """Of each request the one right answer with its alignment, where the task knows it."""
    return [task_of(scenario).gold(tokens(r.source or ())) for r in scenario.requests]


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
