"""Rows and numbers of a moment for the page: the requests with their distributions, and the update in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from app.session import given, interventions, policy, said
from app.session.arrays import array
from app.session.checks import logits_path
from app.session.events import Notice
from app.session.feeding import gold_share
from app.session.reading import Call, Reading
from app.session.said import PADDING, distribution
from app.session.scenario import Scenario
from app.session.shown import Array, Candidate, RequestView, Row, RowState, TrainRow, TrainView, Unedited
from app.session.timeline import Place, Written
from app.session.updating import Update
from models.tasks import SPECIALS, UNK, Features, Special, Token, Vocabulary, words_of
from models.tasks.objective import FATES, opened


def requests(place: Place, reading: Reading, newest: Call | None, would: dict[tuple[int, int], int]) -> tuple[RequestView, ...]:
    """Every request: its rows, and the distribution of its decision row where there is one."""
    return tuple(_request(place, reading, newest, b, w, would) for b, w in enumerate(_written(place, reading)))


def _written(place: Place, reading: Reading) -> tuple[Written, ...]:
    return place.written or tuple(Written() for _ in reading.requests)


def _request(
    place: Place, reading: Reading, newest: Call | None, b: int, written: Written, would: dict[tuple[int, int], int]
) -> RequestView:
    scenario, task = place.scenario, given.task_of(place.scenario)
    request = scenario.requests[b]
    if not reading.writes:
        return said.request(scenario, reading, b, _source_rows(scenario, reading, b))
    words, at = words_of(task), reading.place(b)
    source = _source_rows(scenario, reading, b)
    read = _known(place, b, written) if at is None else int(reading.state.lengths[at])
    target = _target_rows(place, reading, newest, b, written, read, would)
    logits = None if at is None or reading.logits is None else reading.logits[at]
    candidates, rest, choice = _offered(place, b, written, logits)
    unknown = words.unknown(given.tokens(request.source or ())) if words else []
    unknown += task.target.unknown(given.tokens(request.target))
    log_p = reading.gone[b] if at is None else reading.log_p[at]
    return RequestView(
        source=source,
        target=target,
        finished=written.finished,
        decision_row=None if choice is None else read - 1,
        choice=choice,
        candidates=candidates,
        rest=rest,
        log_probability=sum(log_p),
        unknown=tuple(unknown),
        logits=None if choice is None or logits is None else array(logits, "f32"),
        log_p=array(torch.tensor(log_p, dtype=torch.float32), "f32") if log_p else None,
        unedited=_unedited(scenario, reading, b, at, None if choice is None else len(written.ids) - (place.stage == "choose")),
        unused=_unused(scenario, reading, b, task.target),
        joined=_turn(place, b, True),
        left=_turn(place, b, False),
    )


def _offered(place: Place, b: int, written: Written, logits: Tensor | None) -> tuple[tuple[Candidate, ...], float, int | None]:
    """What the deciding row's logits `[v]` offer: candidates, what the others have together, the id that Step takes. Nothing
    where no row decides."""
    if logits is None or written.finished or not policy.readable(logits):
        return (), 0.0, None
    taken = written.ids[-1] if place.stage == "choose" else None
    target = given.task_of(place.scenario).target
    return distribution(place.scenario, logits, target, len(written.ids), b, taken)


def _known(place: Place, b: int, written: Written) -> int:
    """How many rows a request had when it left."""
    return len(given.prompts(place.scenario)[b]) + len(written.read(place.decided))


def _turn(place: Place, b: int, joins: bool) -> int | None:
    """After how many decode steps this request joined, or left; None: it did not."""
    return next((t.after for t in place.turns if t.request == b and t.joins == joins), None)


def _source_rows(scenario: Scenario, reading: Reading, b: int) -> tuple[Row, ...] | None:
    """A request's source: the words that were typed, or rows of numbers by their places."""
    if reading.source is None:
        return None
    task, request = given.task_of(scenario), scenario.requests[b]
    whole = reading.writes or reading.said is not None  # one call that reads all has read nothing before
    state: RowState = "known" if reading.encoded and whole else "unknown"
    if isinstance(task.source, Features):
        most = max(len(r.features or ()) for r in scenario.requests)
        return said.places(scenario, len(request.features or ()), most, state)
    words = words_of(task)
    assert words is not None
    here = reading.place(b) is not None
    return _typed_rows(
        opened(task, given.tokens(request.source or ())), words, state, reading.source.values.shape[1] if here else 0
    )


def _unedited(scenario: Scenario, reading: Reading, b: int, at: int | None, step: int | None) -> Unedited | None:
    """The same request without edits and masks of a person, where there are any. step: that of its decision, if it has one."""
    beside = reading.unedited
    if at is None or beside is None or beside.logits is None or reading.logits is None or not policy.readable(beside.logits[at]):
        return None
    without, log_probability, logits = interventions.left_away(scenario), sum(beside.log_p[at]), beside.logits[at]
    if step is None:
        return Unedited(without, log_probability)
    choice = policy.choose(logits, scenario.policy, scenario.seed, step, b)
    probability = float(policy.tempered(logits, scenario.policy)[choice])
    kl = policy.divergence(reading.logits[at], logits, scenario.policy)
    return Unedited(without, log_probability, choice, probability, kl, array(logits, "f32"))


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
    fresh = newest is not None and newest.stage == "read" and b in newest.requests
    first_new = newest.starts[newest.requests.index(b)] if newest is not None and fresh else read
    bos = Row(SPECIALS[1], 1, "known", "special")
    typed = [bos, *_typed_rows(given.tokens(place.scenario.requests[b].target), vocabulary, "known")]
    own = [Row(vocabulary.words[i], i, "known", o) for i, o in zip(written.ids, written.origins, strict=True)]
    rows = []
    for i, row in enumerate([*typed, *own]):
        other = would.get((b, i))
        state: RowState = "unknown" if i >= read else "new" if i >= first_new else "known"
        same = state == row.state and other is None  # nearly all of a long run: a copy of each would cost more than the row
        rows.append(row if same else replace(row, state=state, would=None if other is None else vocabulary.words[other]))
    if not own and b in place.first:  # a right-padded prompt shows its padding; decode rows take those places
        prompts = given.prompts(place.scenario)
        rows += [PADDING] * (max(len(prompts[i]) for i in place.first) - len(rows))
    return tuple(rows)


def train(update: Update) -> TrainView:
    """The update in progress, as far as its stages are done."""
    loss = None if update.loss is None else float(update.loss.detach())
    norms = None if update.norms is None else tuple(update.norms)
    activations = None if update.norms is None else _activation_norms(update)
    rows, sources = _train_rows(update), _train_sources(update)
    moves = None if update.moves is None else tuple(update.moves)
    factor, beside, gold = update.clip_factor, update.unedited_loss, tuple(e.alignment for e in update.examples)
    added = () if update.outputs is None or update.loss is None else update.outputs.penalties.items()
    penalties = tuple((name, float(value.detach())) for name, value in added)
    share = None if update.lesson is None else gold_share(update.scenario.training, update.number)
    more = (moves, gold, penalties, share, _train_features(update), beside)
    return TrainView(update.number, sources, rows, loss, norms, activations, update.norm, factor, *more)


def _train_rows(update: Update) -> tuple[tuple[TrainRow, ...], ...]:
    s, task = update.lesson, given.task_of(update.scenario)
    if s is None:
        return ()
    counts = s.loss_rows
    nothing = [[None] * counts.shape[1]] * counts.shape[0]
    gradient = update.tape.gradients.get(logits_path(update.tape) or "")
    if task.objective in ("class", "ctc"):  # one row stands for the sequence
        inputs, valid = [[""]] * len(counts), counts.tolist()
        labels = [[" ".join(map(str, e.target))] for e in update.examples]
    else:
        words = task.target.words
        inputs, labels = ([[words[i] for i in row] for row in ids.tolist()] for ids in (s.rows.values, s.labels))
        valid = s.rows.valid.tolist()
    fates = [[""] * counts.shape[1]] * len(counts) if s.became is None else [[FATES[i] for i in r] for r in s.became.tolist()]
    columns = (
        inputs,
        labels,
        valid,
        counts.tolist(),
        nothing if update.losses is None else update.losses.detach().tolist(),
        nothing if gradient is None else gradient.reshape(*counts.shape, -1).norm(dim=-1).tolist(),
        fates,
        _replaced(update, task.target, nothing),
    )
    requests = zip(*columns, strict=True)
    return tuple(tuple(TrainRow(*row) for row in zip(*request, strict=True)) for request in requests)


def _replaced(update: Update, vocabulary: Vocabulary, nothing: list[list[None]]) -> Sequence[Sequence[str | None]]:
    """The gold tokens of rows that are given the model's own."""
    if update.own is None or update.gold is None:
        return nothing
    both = zip(update.gold.tolist(), update.own.tolist(), strict=True)
    return [[vocabulary.words[i] if own else None for i, own in zip(*row, strict=True)] for row in both]


def _activation_norms(update: Update) -> tuple[tuple[str, float], ...]:
    """L2 norm of d loss / d value of every recorded value that has a gradient, in forward order."""
    found = [(p, g) for p in update.tape.records if (g := update.tape.gradients.get(p)) is not None]
    if not found:
        return ()
    return tuple(zip([p for p, _ in found], torch.stack([g.norm() for _, g in found]).tolist(), strict=True))


def _train_sources(update: Update) -> tuple[tuple[Row, ...], ...] | None:
    task, lesson = given.task_of(update.scenario), update.lesson
    if lesson is None or lesson.source is None:
        return None
    width, lengths = lesson.source.values.shape[1], lesson.source.lengths.tolist()
    if isinstance(task.source, Features):
        rows = [said.places(update.scenario, n, width, "known") for n in lengths]
    elif lesson.became is not None:  # what became of the words is what the model is given
        rows = [said.corrupted(ids, n, task) for ids, n in zip(lesson.source.values.tolist(), lengths, strict=True)]
    else:
        words = words_of(task)
        assert words is not None
        rows = [_typed_rows(opened(task, e.source or ()), words, "known", width) for e in update.examples]
    if update.scenario.training.batch == "mine":
        return tuple(rows)
    return tuple(tuple(replace(r, origin="task") if r.state == "known" else r for r in one) for one in rows)


def _train_features(update: Update) -> tuple[Array, ...] | None:
    source = None if update.lesson is None else update.lesson.source
    if source is None or not source.values.is_floating_point():
        return None
    return tuple(array(v[:n], "f32") for v, n in zip(source.values, source.lengths.tolist(), strict=True))


def unknown_notice(unknown: Sequence[str]) -> Notice:
    """That these words became <unk>."""
    words = ", ".join(f"“{w}”" for w in unknown)
    one = f"{words} is not in the vocabulary and became <unk>."
    return Notice("unknown_words", one if len(unknown) == 1 else f"{words} are not in the vocabulary and each became <unk>.")


def unknown_words(scenario: Scenario) -> list[str]:
    """Typed words that the task's vocabularies do not have, once each."""
    task = given.task_of(scenario)
    words = words_of(task)
    found: list[str] = []
    for r in scenario.requests:
        found += words.unknown(given.tokens(r.source or ())) if words else []
        found += task.target.unknown(given.tokens(r.target))
    return list(dict.fromkeys(found))
