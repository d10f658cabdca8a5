"""What a model says of rows: a distribution's candidates; and where nothing is written, which rows decide and what they say."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from torch import Tensor

from app.session import given, interventions, policy
from app.session.arrays import array
from app.session.methods import Policy
from app.session.reading import Reading
from app.session.scenario import Scenario
from app.session.shown import Candidate, RequestView, Row, RowState, Unedited
from models.catalogue import read_config
from models.tasks import SPECIALS, Features, Task, Vocabulary, words_of
from models.tasks.objective import collapse

CANDIDATES = 8
PADDING = Row(SPECIALS[0], 0, "padded", "special")
PLAIN = Policy()  # nothing is drawn where nothing is written: the most probable id, at temperature 1


def distribution(
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


def request(scenario: Scenario, reading: Reading, b: int, source: tuple[Row, ...] | None) -> RequestView:
    """A request of which nothing is written: its source, and the rows that decide with what they say."""
    task, asked = given.task_of(scenario), scenario.requests[b]
    words = words_of(task)
    unknown = tuple(words.unknown(given.tokens(asked.source or ()))) if words else ()
    logits, rows = reading.answers(b), reading.deciding[b]
    if logits is None or not len(logits) or not policy.readable(logits):
        nothing = None if logits is None or len(logits) else ()  # read, and no word is masked
        return RequestView(source, (), "", None, None, (), 0.0, 0.0, unknown, output=nothing)
    plain = scenario.model_copy(update={"policy": PLAIN})
    candidates, rest, choice = distribution(plain, logits[0], task.target, 0, b, None)
    ids = logits.argmax(-1).tolist()
    output = tuple(task.target.decode(collapse(ids) if task.objective == "ctc" else ids))
    return RequestView(
        source,
        (),
        "",
        rows[0],
        choice,
        candidates,
        rest,
        0.0,
        unknown,
        array(logits, "f32"),
        unedited=_unedited(scenario, reading, b, logits),
        answers=tuple(zip(rows, ids, strict=True)),
        output=output,
    )


def _unedited(scenario: Scenario, reading: Reading, b: int, logits: Tensor) -> Unedited | None:
    """The same rows without edits and masks of a person, where there are any; its numbers are those of the first."""
    beside = None if reading.unedited is None else reading.unedited.answers(b)
    if beside is None or beside.shape != logits.shape or not policy.readable(beside):
        return None
    choice = int(beside[0].argmax())
    probability = float(policy.tempered(beside[0], PLAIN)[choice])
    kl = policy.divergence(logits[0], beside[0], PLAIN)
    return Unedited(interventions.left_away(scenario), 0.0, choice, probability, kl, array(beside, "f32"))


def places(scenario: Scenario, rows: int, most: int, state: RowState) -> tuple[Row, ...]:
    """The rows that a model has of so many rows of features, named by their number, or of an image's places by "y,x"; as many as
    the longest request has."""
    spec, source = given.spec_of(scenario), given.task_of(scenario).source
    assert isinstance(source, Features)
    config, _ = read_config(spec, scenario.config)
    own, longest = (spec.source_shape(config, n, source.width) for n in (rows, most))
    names = [",".join(map(str, place)) for place in itertools.product(*map(range, own))]
    real = tuple(Row(name, i, state, "person") for i, name in enumerate(names))
    return (*real, *[PADDING] * (math.prod(longest) - len(real)))


def corrupted(ids: Sequence[int], length: int, task: Task) -> tuple[Row, ...]:
    """A sequence of a masked batch as the model is given it."""
    words: Vocabulary | None = words_of(task)
    assert words is not None
    own = ids[:length]
    rows = [Row(words.words[i], i, "known", "special" if i < len(words.specials) else "task") for i in own]
    return (*rows, *[PADDING] * (len(ids) - length))
