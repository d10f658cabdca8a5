"""What a change to another architecture or task carries over, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.session import given, inputs, pieces
from app.session.scenario import Scenario, SpecialToken, Word, defaults, parse
from models import Spec
from models.catalogue import architectures, tasks
from models.tasks import Features, words_of


def changed(scenario: Scenario, fields: dict[str, Any]) -> Scenario:
    """The scenario with these fields replaced. Another architecture or task keeps the requests if it can read them, else it
    brings its own example. Raises `Refused`."""
    now = scenario.model_dump(mode="json")
    architecture, task = (fields.get(name, now[name]) for name in ("architecture", "task"))
    if "requests" in fields:  # what was drawn of another input says nothing of this one
        fields = {"draws": [], **fields}
    if (architecture, task) == (now["architecture"], now["task"]):
        return _with_masks(scenario, parse({**now, "masks": [], **fields})) if "masks" not in fields else parse({**now, **fields})
    if not isinstance(architecture, str) or architecture not in architectures():
        return parse({**now, **fields})
    task = task if "task" in fields or task in architectures()[architecture].tasks else None
    fresh = defaults(architecture, task)
    keeps = ("weights", "seed", "training", "policy", *(["phase"] if now["phase"] in given.phases_of(fresh) else []))
    kept = {k: now[k] for k in keeps}
    return parse({**fresh.model_dump(mode="json"), **kept, **requests(scenario, fresh), **fields})


def _with_masks(before: Scenario, after: Scenario) -> Scenario:
    """With the masks of before, which follow a text that became shorter."""
    masks = given.fitting(after.model_copy(update={"masks": before.masks})).masks
    return parse({**after.model_dump(mode="json"), "masks": [m.model_dump(mode="json") for m in masks]}) if masks else after


def requests(before: Scenario, after: Scenario) -> dict[str, Any]:
    """The field `requests` as in `before`, if the architecture of `after` can read them: short enough, of the same task or
    made of words that its task knows."""
    old, new = (architectures()[s.architecture] for s in (before, after))
    if old.capabilities.has_source != new.capabilities.has_source:
        return {}
    cut = pieces.cut_again(before, after)
    if cut is not None:
        return {"requests": cut} if all(len(r["target"]) < new.capabilities.largest_rows for r in cut) else {}
    if not _short_enough(before, new):
        return {}
    if before.task != after.task and not _knows(before, after.task):
        return {}
    return {"requests": [r.model_dump(mode="json") for r in before.requests]}


def left_behind(before: Scenario, after: Scenario, given: dict[str, Any], moments: int) -> str:
    """What a run of so many moments leaves behind for another architecture, in words; "" where nothing is. What was `given` with
    the change was meant."""
    if before.architecture == after.architecture:
        return ""
    named = ("requests", "your text"), ("edits", "edits of tensors"), ("masks", "your masks")
    gone = [words for field, words in named if field not in given and _lost(before, after, field)]
    gone += ["the steps of this run"] if moments > 1 else []
    return f"Not carried over to this architecture: {', '.join(gone)}." if gone else ""


def untrained(was: dict[str, Any], now: dict[str, Any], after: Scenario, given: dict[str, Any]) -> str:
    """Weights as they were loaded, before a change and after it: what to say where nobody asked for random ones, else ""."""
    if was.get("kind") != "trained" or now.get("kind") == "trained" or given.keys() & {"weights", "architecture", "task"}:
        return ""
    return f"No trained weights fit this variant: it runs on random ones, drawn from seed {after.seed}."


def _lost(before: Scenario, after: Scenario, field: str) -> bool:
    old, new = getattr(before, field), getattr(after, field)
    if field == "requests":
        return old != new and [r.model_dump(mode="json") for r in old] not in _examples(before)
    return bool(old) and not new


def _examples(scenario: Scenario) -> list[list[dict[str, Any]]]:
    """The task's own examples, as single requests: nobody typed them."""
    spec = architectures()[scenario.architecture]
    empty: dict[str, Any] = {"source": None, "target": [], "features": None}
    return [[empty | inputs.example(spec, preset)] for preset in tasks()[scenario.task].presets]


def _short_enough(scenario: Scenario, spec: Spec) -> bool:
    can = spec.capabilities
    counts = ((len(r.target), len(r.features or r.source or ())) for r in scenario.requests)
    return all(target < can.largest_rows and source <= can.largest_source for target, source in counts)


def _knows(scenario: Scenario, task: str) -> bool:
    """Whether every word of the requests is in that task's vocabularies. What it would not read at all counts as unknown."""
    known, old = tasks()[task], tasks()[scenario.task]
    if isinstance(known.source, Features) or isinstance(old.source, Features) or known.objective != old.objective:
        return False
    source, target = (_words(t for r in scenario.requests for t in getattr(r, side) or ()) for side in ("source", "target"))
    words = words_of(known)
    return not (words.unknown(source) if words else source) and not known.target.unknown(target)


def _words(tokens: Iterable[Word | SpecialToken]) -> list[str]:
    return [t for t in tokens if isinstance(t, str)]
