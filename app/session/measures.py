"""How good a trained model is, on sentences that it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from app.session import sight
from app.session.aligning import aligned, alignment, best_head
from app.session.copying import copied
from app.session.hops import hops
from app.session.induction import induction
from app.session.per_character import per_character
from app.session.quarters import mass
from app.session.training import batches, draw
from models import Inputs, Outputs, Rows, Spec
from models.parts.tap import OFF, Recorder
from models.tasks import BOS, EOS, Example, Features, Task
from models.tasks.dyck import CLOSES, Dyck
from models.tasks.language_model import LanguageModel
from models.tasks.objective import (
    Corruption,
    Lesson,
    asked,
    batch,
    collapse,
    deciding,
    decision_rows,
    lesson,
    losses,
    mean_loss,
    pad,
    shift,
)
from models.tasks.one_stream import OneStream
from models.tasks.pronunciation import Pronunciation
from models.tasks.repeats import Repeats
from models.tasks.selective_copy import SelectiveCopy
from models.tasks.spans import RESTORE, SENTINELS, TRANSLATE, TextToText
from models.tasks.translation import Translation

CLAUSES = (1, 2, 3, 4, 5)
MOST_WORDS = 64  # of an answer: no task asks for more
MOST_SOUNDS = 24
SELECTION_SEED, REPORT_SEED = 1, 2  # a head is chosen on one draw and reported on another


def measure(model: nn.Module, spec: Spec, task: Task, size: int = 1024) -> dict[str, Any]:
    """Everything that applies to this task, over `size` held-out examples. Plain data, for a checkpoint's provenance."""
    examples = draw_held_out(task, REPORT_SEED, size)
    found: dict[str, Any] = {"validation_loss": validation_loss(model, task, examples), "examples": size}
    if task.objective != "next_token":
        found |= said(model, task, examples)
        found |= hops(model, task, spec, batches(examples))
        found |= sight.measure(model, task, spec, examples)
    elif task.source is not None or task.separator is not None:
        found["exact"] = exact_match(model, task, examples)
    found |= mass(model, spec, task, batches(examples))
    if task.tokenizer is not None:
        found["per_character"] = per_character(model, task, examples)
    return found | _of_task(model, spec, task, examples)


def _of_task(model: nn.Module, spec: Spec, task: Task, examples: list[Example]) -> dict[str, Any]:
    """What only this task is measured by."""
    match task:
        case Translation():
            return _translated(model, spec, task, examples)
        case Pronunciation():
            return {"phone_error_rate": phone_error_rate(model, task, examples)}
        case TextToText():
            begin = {p: [e for e in examples if (e.source or ())[:2] == p] for p in (TRANSLATE, RESTORE)}
            translate, restore = exact_match(model, task, begin[TRANSLATE]), restored(model, task, begin[RESTORE])
            return {"translate": translate, "restore": restore}
        case OneStream():
            return {"exact_by_clauses": _by_clauses(model, OneStream, len(examples))}
        case Repeats():
            return {"induction": induction(model, examples, task)}
        case Dyck():
            return {"closers": closers(model, task, examples)}
        case SelectiveCopy():
            return {"copied": copied(model, task, examples)}
        case LanguageModel():
            return {"decision": {" ".join(prompt): decision(model, task, prompt) for prompt in PROMPTS}}
        case _:
            return {}


def _by_clauses(model: nn.Module, kind: type[Translation | OneStream], size: int) -> dict[int, float]:
    """Exact match by the number of clauses, a quarter of `size` sentences each."""
    tasks = {n: kind((n, n)) for n in CLAUSES}
    return {n: exact_match(model, task, draw_held_out(task, REPORT_SEED, size // 4)) for n, task in tasks.items()}


def _translated(model: nn.Module, spec: Spec, task: Translation, examples: list[Example]) -> dict[str, Any]:
    """Exact match by clauses; where target rows read source rows, how well those reads lie on the gold alignment."""
    found: dict[str, Any] = {"exact_by_clauses": _by_clauses(model, Translation, len(examples))}
    cross = next((r for r in spec.relations if (r.query, r.key) == ("t", "s")), None)
    if cross is None:
        return found
    layer, head = best_head(model, task, cross, draw_held_out(task, SELECTION_SEED, len(examples)))
    shares, rows = aligned(model, task, cross, examples)
    found["moved_adjectives"] = {"layer": layer, "head": head, "share": float(shares[layer, head]), "rows": rows}
    best, links = alignment(model, task, cross, examples)
    found["alignment"] = {"share": float(best.max()), "links": links}
    return found


def longest(task: Task, seed: int, steps: int, size: int) -> dict[str, int]:
    """The most source and target words in any sentence of so many updates' batches: what the model was trained on."""
    if isinstance(task.source, Features):  # pictures cost more to make than they tell: a part of them stands for all
        steps = min(steps, 40)
    seen = [e for step in range(steps) for e in draw(task, seed, step, size)]
    target = max(len(e.target) for e in seen) if task.objective == "next_token" else 0  # else there is no target row
    return {"source": max(len(e.features or e.source or ()) for e in seen), "target": target}


def draw_held_out(task: Task, seed: int, size: int) -> list[Example]:
    """The first examples of the seed's held-out stream, which training never draws from."""
    return [task.example(seed, "held_out", i) for i in range(size)]


@torch.no_grad()
def validation_loss(model: nn.Module, task: Task, examples: Sequence[Example]) -> float:
    """Mean over examples of the mean loss of their batch, in nats per row that counts, without a model's penalties."""
    total = 0.0
    for some in batches(examples):
        outputs, taught = answered(model, task, some)
        total += float(mean_loss(losses(outputs, taught), taught.loss_rows)) * len(some)
    return total / len(examples)


def answered(model: nn.Module, task: Task, examples: list[Example]) -> tuple[Outputs, Lesson]:
    """What the model says of a batch, and what it should. Words are hidden the same way each time."""
    taught = lesson(task, examples, Corruption("held_out"))
    outputs, _ = model(Inputs(taught.inputs, taught.source), model.initial_state(len(examples)), OFF)  # type: ignore[operator]
    return outputs, taught


@torch.no_grad()
def said(model: nn.Module, task: Task, examples: Sequence[Example]) -> dict[str, float]:
    """How much is said right where nothing is written: the share of classes ("accuracy"), of hidden, replaced and kept words
    ("masked_accuracy"), of whole CTC strings ("exact")."""
    right = count = 0
    for some in batches(examples):
        outputs, taught = answered(model, task, some)
        best = outputs.values.argmax(-1)
        if outputs.kind == "frames":
            rows = deciding(outputs, taught.rows)
            texts = [collapse(best[b, : len(r)].tolist()) for b, r in enumerate(rows)]
            right += sum(t == task.target.encode(e.target) for t, e in zip(texts, some, strict=True))
        else:
            right += int(((best.view(taught.labels.shape) == taught.labels) & taught.loss_rows).sum())
        count += int(taught.loss_rows.sum())
    names = {"class": "accuracy", "masked": "masked_accuracy", "ctc": "exact"}
    return {names[task.objective]: right / count}


@torch.no_grad()
def greedy_decode(model: nn.Module, source: Rows | None, prompts: Sequence[Sequence[int]], limit: int) -> list[list[int]]:
    """The most probable token again and again, with the cache, until <eos> (left out of the answer) or `limit` tokens.

    prompts: known target ids of each request, <bos> first. A finished request takes part with no row.
    """
    state = model.initial_state(len(prompts))  # type: ignore[operator]
    rows, written = pad(prompts), [list[int]() for _ in prompts]
    going = [True] * len(prompts)
    for _ in range(limit):
        outputs, state = model(Inputs(rows, source), state, OFF)
        source = None
        decides = decision_rows(rows.lengths).clamp(min=0)
        chosen = outputs.values[torch.arange(len(prompts)), decides].argmax(-1).tolist()
        going = [g and c != EOS for g, c in zip(going, chosen, strict=True)]
        for ids, go, id in zip(written, going, chosen, strict=True):
            ids.extend([id] if go else [])
        if not any(going):
            break
        rows = pad([[id] if go else [] for go, id in zip(going, chosen, strict=True)])
    return written


def exact_match(model: nn.Module, task: Task, examples: Sequence[Example]) -> float:
    """The share of examples whose greedy answer is the target, word for word, and ends there."""
    right = 0
    for some in batches(examples):
        source, _ = batch(task, some)
        prompts, wanted = zip(*(asked(task, e) for e in some), strict=True)
        answers = greedy_decode(model, source, prompts, MOST_WORDS)
        right += sum(a == w for a, w in zip(answers, wanted, strict=True))
    return right / len(examples)


@torch.no_grad()
def restored(model: nn.Module, task: TextToText, examples: Sequence[Example]) -> dict[str, float]:
    """Under teacher forcing, how often the most probable token is the right one: of sentinels (the form of an answer), and of the
    words between them, of which the text often allows several."""
    right, rows = {"sentinels": 0, "words": 0}, {"sentinels": 0, "words": 0}
    for some in batches(examples):
        source, target = batch(task, some)
        shifted = shift(target)
        outputs, _ = model(Inputs(shifted.inputs, source), model.initial_state(len(some)), OFF)  # type: ignore[operator]
        hits = outputs.values.argmax(-1) == shifted.labels
        form = torch.isin(shifted.labels, torch.tensor([task.target.ids[s] for s in SENTINELS]))
        words = shifted.loss_rows & ~form & (shifted.labels != EOS)
        for kind, which in (("sentinels", form), ("words", words)):
            right[kind], rows[kind] = right[kind] + int(hits[which].sum()), rows[kind] + int(which.sum())
    return {kind: right[kind] / max(1, rows[kind]) for kind in rows}


@torch.no_grad()
def phone_error_rate(model: nn.Module, task: Task, examples: Sequence[Example]) -> float:
    """Edits (insert, delete, replace) that greedy answers need to be the targets, to the number of target sounds."""
    edits = sounds = 0
    for some in batches(examples):
        source, _ = batch(task, some)
        answers = greedy_decode(model, source, [[BOS]] * len(some), MOST_SOUNDS)
        wanted = [task.target.encode(e.target) for e in some]
        edits += sum(distance(a, w) for a, w in zip(answers, wanted, strict=True))
        sounds += sum(map(len, wanted))
    return edits / sounds


def distance(a: Sequence[int], b: Sequence[int]) -> int:
    """The Levenshtein distance of two sequences."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


@torch.no_grad()
def closers(model: nn.Module, task: Dyck, examples: Sequence[Example]) -> dict[str, Any]:
    """Of all rows whose next bracket closes: how often the right one is the most probable of the closing ones, and for a read of
    earlier rows how often its largest weight lies on the row of the bracket that is closed.

    The row that predicts bracket t is given bracket t - 1 and stands at row t (row 0: <bos>); bracket i was given at row i + 1.
    """
    ids, right, read, rows = [task.target.ids[b] for b in CLOSES], 0, 0, 0
    for some in batches(examples):
        _, target = batch(task, some)
        recorder = Recorder()
        outputs, _ = model(Inputs(shift(target).inputs), model.initial_state(len(some)), recorder)  # type: ignore[operator]
        weights = recorder.tape.finish().records.get("memory.weights")
        best = outputs.values[..., ids].argmax(-1)
        for b, example in enumerate(some):
            for t, opener in task.openers(example.target).items():
                right += ids[int(best[b, t])] == task.target.ids[example.target[t]]
                read += weights is not None and int(weights.value[b, 0, t].argmax()) == opener + 1
                rows += 1
    return {"right": right / rows, "rows": rows, **({"reads_opener": read / rows} if weights is not None else {})}


PROMPTS = tuple(
    tuple(text.split()) for text in ("the report was convincing . the committee", "the report was not convincing . the committee")
)


@torch.no_grad()
def decision(model: nn.Module, task: Task, prompt: Sequence[str]) -> dict[str, float]:
    """The probabilities of "accepted" and "rejected" as the next word."""
    rows = pad([[BOS, *task.target.encode(prompt)]])
    outputs, _ = model(Inputs(rows), model.initial_state(1), OFF)  # type: ignore[operator]
    probabilities = outputs.values[0, -1].softmax(-1)
    return {word: float(probabilities[task.target.ids[word]]) for word in ("accepted", "rejected")}
