"""Rows and numbers of a moment for the page: the requests with their distributions, and the update in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from app.session import given, interventions, policy, trace
from app.session.checks import logits_path
from app.session.events import Candidate, RequestView, Row, RowState, TrainRow, TrainView, Unedited
from app.session.reading import Call, Reading
from app.session.scenario import Scenario
from app.session.timeline import Place, Written
from app.session.updating import Update
from models.tasks import SPECIALS, UNK, Special, Token, Vocabulary, words_of

CANDIDATES = 8
PADDING = Row(SPECIALS[0], 0, "padded", "special")


def requests(place: Place, reading: Reading, newest: Call | None, would: dict[tuple[int, int], int]) -> tuple[RequestView, ...]:
    """Every request: its rows, and the distribution of its decision row where there is one."""
    return tuple(_request(place, reading, newest, b, w, would) for b, w in enumerate(_written(place, reading)))


def _written(place: Place, reading: Reading) -> tuple[Written, ...]:
    return place.written or tuple(Written() for _ in reading.prompts)


def _request(
    place: Place, reading: Reading, newest: Call | None, b: int, written: Written, would: dict[tuple[int, int], int]
) -> RequestView:
    scenario, task = place.scenario, given.task_of(place.scenario)
    request = scenario.requests[b]
    source = None
    words = words_of(task)
    if words is not None and reading.source is not None:
        state: RowState = "known" if reading.encoded else "unknown"
        source = _typed_rows(given.tokens(request.source or ()), words, state, reading.source.values.shape[1])
    read = int(reading.state.lengths[b])
    target = _target_rows(place, reading, newest, b, written, read, would)
    candidates: tuple[Candidate, ...] = ()
    rest, choice = 0.0, None
    if reading.logits is not None and not written.finished and policy.readable(reading.logits[b]):
        taken = written.ids[-1] if place.stage == "choose" else None
        candidates, rest, choice = _distribution(scenario, reading.logits[b], task.target, len(written.ids), b, taken)
    unknown = words.unknown(given.tokens(request.source or ())) if words else []
    unknown += task.target.unknown(given.tokens(request.target))
    row = None if choice is None else read - 1
    log_p = reading.log_p[b]
    return RequestView(
        source,
        target,
        written.finished,
        row,
        choice,
        candidates,
        rest,
        sum(log_p),
        tuple(unknown),
        None if choice is None or reading.logits is None else trace.array(reading.logits[b], "f32"),
        trace.array(torch.tensor(log_p, dtype=torch.float32), "f32") if log_p else None,
        _unedited(scenario, reading, b, None if choice is None else len(written.ids) - (place.stage == "choose")),
        _unused(scenario, reading, b, task.target),
    )


def _unedited(scenario: Scenario, reading: Reading, b: int, step: int | None) -> Unedited | None:
    """The same request without edits and masks of a person, where there are any. step: that of its decision, if it has one."""
    beside = reading.unedited
    if beside is None or beside.logits is None or reading.logits is None or not policy.readable(beside.logits[b]):
        return None
    without, log_probability, logits = interventions.left_away(scenario), sum(beside.log_p[b]), beside.logits[b]
    if step is None:
        return Unedited(without, log_probability)
    choice = policy.choose(logits, scenario.policy, scenario.seed, step, b)
    probability = float(policy.tempered(logits, scenario.policy)[choice])
    kl = policy.divergence(reading.logits[b], logits, scenario.policy)
    return Unedited(without, log_probability, choice, probability, kl, trace.array(logits, "f32"))


def _unused(scenario: Scenario, reading: Reading, b: int, vocabulary: Vocabulary) -> Candidate | None:
    """What the physical last row of a padded prompt would say, while the prompt is the newest call."""
    longest = max(len(p) for p in reading.prompts)
    if reading.unused is None or len(reading.prompts[b]) == longest or not policy.readable(reading.unused[b]):
        return None
    logits = reading.unused[b]
    plain = policy.tempered(logits, scenario.policy)
    id = int(plain.argmax())
    return Candidate(id, vocabulary.words[id], float(logits[id]), float(plain[id]), float(policy.cut(plain, scenario.policy)[id]))


def _typed_rows(tokens: Sequence[Token], vocabulary: Vocabulary, state: RowState, width: int = 0) -> tuple[Row, ...]:
    """Rows of what a person typed, padded to the batch's width."""
    ids = vocabulary.encode(tokens)
    rows = [
        Row(
            vocabulary.words[i],
            i,
            state,
            "special" if isinstance(t, Special) else "person",
            t if isinstance(t, str) and i == UNK else None,
        )
        for t, i in zip(tokens, ids, strict=True)
    ]
    return (*rows, *[PADDING] * (width - len(rows)))


def _target_rows(
    place: Place,
    reading: Reading,
    newest: Call | None,
    b: int,
    written: Written,
    read: int,
    would: dict[tuple[int, int], int],
) -> tuple[Row, ...]:
    """<bos>, the prompt, and what was written. `read` rows were given to the model; the rest is chosen but not read yet."""
    vocabulary = given.task_of(place.scenario).target
    first_new = newest.starts[b] if newest is not None and newest.stage == "read" else read
    bos = Row(SPECIALS[1], 1, "known", "special")
    typed = [bos, *_typed_rows(given.tokens(place.scenario.requests[b].target), vocabulary, "known")]
    own = [Row(vocabulary.words[i], i, "known", o) for i, o in zip(written.ids, written.origins, strict=True)]
    rows = []
    for i, row in enumerate([*typed, *own]):
        other = would.get((b, i))
        state: RowState = "unknown" if i >= read else "new" if i >= first_new else "known"
        same = state == row.state and other is None  # nearly all of a long run: a copy of each would cost more than the row
        rows.append(row if same else replace(row, state=state, would=None if other is None else vocabulary.words[other]))
    if not own:  # a right-padded prompt shows its padding; decode rows take those places
        rows += [PADDING] * (max(len(p) for p in reading.prompts) - len(rows))
    return tuple(rows)


def _distribution(
    scenario: Scenario, logits: Tensor, vocabulary: Vocabulary, step: int, b: int, taken: int | None
) -> tuple[tuple[Candidate, ...], float, int]:
    """The largest candidates, what the others have together, and what is taken: by the policy, or already (`taken`)."""
    plain = policy.tempered(logits, scenario.policy)
    after = policy.cut(plain, scenario.policy)
    choice = policy.choose(logits, scenario.policy, scenario.seed, step, b) if taken is None else taken
    ids = plain.topk(min(CANDIDATES, len(plain))).indices.tolist()
    if choice not in ids:
        ids[-1] = choice
    numbers = zip(ids, logits[ids].tolist(), plain[ids].tolist(), after[ids].tolist(), strict=True)
    shown = tuple(Candidate(i, vocabulary.words[i], *rest) for i, *rest in numbers)
    return shown, max(0.0, 1.0 - sum(c.probability for c in shown)), choice


def train(update: Update) -> TrainView:
    """The update in progress, as far as its stages are done."""
    loss = None if update.loss is None else float(update.loss.detach())
    norms = None if update.norms is None else tuple(update.norms)
    activations = None if update.norms is None else _activation_norms(update)
    rows, sources = _train_rows(update), _train_sources(update)
    moves = None if update.moves is None else tuple(update.moves)
    factor, beside, gold = update.clip_factor, update.unedited_loss, tuple(e.alignment for e in update.examples)
    return TrainView(update.number, sources, rows, loss, norms, activations, update.norm, factor, moves, gold, beside)


def _train_rows(update: Update) -> tuple[tuple[TrainRow, ...], ...]:
    s = update.shifted
    if s is None:
        return ()
    words = given.task_of(update.scenario).target.words
    nothing = [[None] * s.labels.shape[1]] * s.labels.shape[0]
    gradient = update.tape.gradients.get(logits_path(update.tape) or "")
    columns = (
        s.inputs.values.tolist(),
        s.labels.tolist(),
        s.inputs.valid.tolist(),
        s.loss_rows.tolist(),
        nothing if update.losses is None else update.losses.detach().tolist(),
        nothing if gradient is None else gradient.norm(dim=-1).tolist(),
    )
    return tuple(
        tuple(TrainRow(words[i], words[label], *rest) for i, label, *rest in zip(*request, strict=True))
        for request in zip(*columns, strict=True)
    )


def _activation_norms(update: Update) -> tuple[tuple[str, float], ...]:
    """L2 norm of d loss / d value of every recorded value that has a gradient, in forward order."""
    found = [(p, g) for p in update.tape.records if (g := update.tape.gradients.get(p)) is not None]
    if not found:
        return ()
    return tuple(zip([p for p, _ in found], torch.stack([g.norm() for _, g in found]).tolist(), strict=True))


def _train_sources(update: Update) -> tuple[tuple[Row, ...], ...] | None:
    vocabulary = words_of(given.task_of(update.scenario))
    if vocabulary is None or update.source is None:
        return None
    width = update.source.values.shape[1]
    rows = [_typed_rows(e.source or (), vocabulary, "known", width) for e in update.examples]
    if update.scenario.training.batch == "mine":
        return tuple(rows)
    return tuple(tuple(replace(r, origin="task") if r.state == "known" else r for r in one) for one in rows)


def unknown_words(scenario: Scenario) -> list[str]:
    """Typed words that the task's vocabularies do not have, once each."""
    task = given.task_of(scenario)
    words = words_of(task)
    found: list[str] = []
    for r in scenario.requests:
        found += words.unknown(given.tokens(r.source or ())) if words else []
        found += task.target.unknown(given.tokens(r.target))
    return list(dict.fromkeys(found))
