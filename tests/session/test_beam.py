"""Beam search: against exhaustive search and greedy decoding, with states that follow their parents, on the timeline."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from app.session import beam
from app.session.commands import Analyse, Back, Change, Choose, Go, Open, Selector, Step
from app.session.engine import Engine
from app.session.events import Checked, Opened, Refused, Values
from app.session.methods import Policy
from app.session.scenario import Scenario, defaults
from app.session.shown import BeamView
from app.session.timeline import Written
from models.catalogue import tasks
from models.tasks import EOS, Vocabulary
from tests.session.driving import Reader, do, moved, of, opened

WIDE = {"kind": "beam", "width": 4, "limit": 8}
FAMILIES = ["encoder_decoder", "bahdanau", "luong", "fixed_context", "recurrent", "decoder_only", "lstmn", "key_value", "nplm"]


def table(seed: int, words: int, length: int) -> dict[tuple[int, ...], Tensor]:
    """A language: of every prefix a distribution over `words` words, <eos> among them."""
    drawn = torch.Generator().manual_seed(seed)
    prefixes = [p for n in range(length) for p in itertools.product(range(words), repeat=n)]
    return {p: torch.randn(words, generator=drawn, dtype=torch.float64) * 2 for p in prefixes}


def searched(logits: dict[tuple[int, ...], Tensor], width: int, limit: int, alpha: float = 0.6) -> beam.Search:
    policy = Policy(kind="beam", width=1, limit=limit, length_penalty=alpha).model_copy(update={"width": width})
    search = beam.Search(Scenario(policy=policy))
    while not search.ended:
        search.advance(torch.stack([logits.get(w.ids, torch.zeros(len(logits[()]))) for w in search.written]))
    return search


def every_hypothesis(logits: dict[tuple[int, ...], Tensor], limit: int) -> dict[tuple[int, ...], float]:
    """log P of each text that ends with <eos> within the limit: every one of them, by its own product."""
    words, found = len(logits[()]), {}
    for n in range(1, limit + 1):
        for ids in itertools.product([w for w in range(words) if w != EOS], repeat=n - 1):
            whole = (*ids, EOS)
            found[whole] = sum(float(torch.log_softmax(logits[whole[:i]], -1)[token]) for i, token in enumerate(whole))
    return found


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_that_holds_everything_is_exhaustive_search(seed: int, alpha: float) -> None:
    logits, limit = table(seed, 4, 4), 4
    search = searched(logits, 4**limit, limit, alpha)
    every = every_hypothesis(logits, limit)
    scores = {ids: log_p / ((5 + len(ids)) / 6) ** alpha for ids, log_p in every.items()}
    best = max(scores, key=lambda ids: scores[ids])
    assert search.winner is not None and search.written[search.winner].ids == best
    branch = search.steps[-1].kept[search.winner]
    assert branch.log_p == pytest.approx(every[best], abs=1e-12) and branch.score == pytest.approx(scores[best], abs=1e-12)
    ended = {w.ids: p for w, p in zip(search.written, search.log_p, strict=True) if w.finished == "eos"}
    assert ended == pytest.approx(every), "every text is found, with its own probability"


def test_a_wider_beam_finds_what_greedy_misses() -> None:
    """Worked by hand: word 3 leads at first (0.6 against 0.4), but all that follows it is improbable."""
    logits = {(): [0, 0, 0, 0.6, 0.4], (3,): [0.3, 0.3, 0.2, 0.1, 0.1], (4,): [0.02, 0.02, 0.9, 0.03, 0.03]}
    rows = {k: torch.tensor(v, dtype=torch.float64).clamp(min=1e-9).log() for k, v in logits.items()}
    for last in range(5):
        for first in (3, 4):
            rows[first, last] = rows[3,]
    greedy, wide = searched(rows, 1, 2, 0.0), searched(rows, 2, 2, 0.0)
    assert greedy.written[0].ids[0] == 3
    assert wide.winner is not None and wide.written[wide.winner].ids == (4, EOS)
    assert wide.log_p[wide.winner] == pytest.approx(math.log(0.4 * 0.9), abs=1e-6)
    assert [b.token for b in wide.steps[0].kept] == [3, 4]


def test_what_ended_keeps_its_place_and_its_score() -> None:
    policy = Policy(kind="beam", width=2, length_penalty=1.0)
    logits = torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]]))
    found = beam.choose(logits, [Written((3,), ("model",)), Written((EOS,), ("model",), "eos")], [-1.0, -0.5], policy)
    assert [(b.parent, b.token) for b in found.kept] == [(1, None), (0, 3)]
    assert found.kept[0].score == -0.5 and found.kept[1].score == pytest.approx((-1 + math.log(0.4)) / (7 / 6))
    assert [(b.parent, b.token) for b in found.pruned] == [(0, 2)]


@pytest.mark.parametrize("architecture", FAMILIES)
def test_width_one_is_greedy_and_cached_is_the_full_prefix(architecture: str) -> None:
    plain, one, wide = (opened(architecture, policy=p) for p in ({"limit": 8}, {**WIDE, "width": 1}, WIDE))
    for _ in range(8):
        for engine in (plain, one, wide):
            if not engine.ended:
                do(engine, Step())
    assert one.timeline.here.place.written == plain.timeline.here.place.written
    found = of(do(wide, Analyse(name="cached_equals_full")), Checked)[-1].checks
    check = next(c for c in found if c.id == "cached_equals_full")
    assert check.status == "pass", check
    assert len({w.ids for w in wide.timeline.here.place.written}) == 4


def view(engine: Engine) -> BeamView:
    found = engine.moved(()).beams
    assert found is not None
    return found


def test_the_page_is_told_the_tree_and_each_hypothesis_is_a_request() -> None:
    engine = opened(policy=WIDE)
    assert view(engine).steps == () and len(view(engine).ahead[0]) == 4
    ahead = view(engine).ahead
    events = do(engine, Step())
    first = view(engine).steps[0]
    assert first.kept == 4 and set(first.tokens[:4]) == set(ahead[0]) and first.parents == (0,) * len(first.tokens)
    assert len(moved(events).requests) == 4
    while not engine.ended:
        events = do(engine, Step())
    told = view(engine)
    for b, request in enumerate(moved(events).requests):
        assert request.log_probability == pytest.approx(told.steps[-1].log_p[b], abs=1e-5)
    assert told.winner is not None and told.ahead == ((),) * 4


def test_rows_that_changed_places_bring_the_past_of_their_own_hypothesis() -> None:
    """What a page put together from frames is what one is told that joins now, or that replays the run."""
    watch = tuple(Selector(path="*cross.weights", index={"b": b}, dtype="f32") for b in range(4))
    engine, told = opened(policy=WIDE, seed=5), Reader()
    told.take([engine.keyframe(watch)])
    orders = []
    for _ in range(6):
        told.take(do(engine, Step(), watch))
        orders.append(view(engine).steps[-1].parents[:4])
    assert any(list(order) != sorted(order) or len(set(order)) < 4 for order in orders[1:]), (
        "no hypothesis was dropped: choose a seed"
    )
    joined, here = Reader(), engine.timeline.at
    joined.take([engine.keyframe(watch)])
    assert told.known.keys() == joined.known.keys()
    for key, values in joined.known.items():
        torch.testing.assert_close(torch.tensor(told.known[key]), torch.tensor(values), rtol=0, atol=0, equal_nan=True)
    digest = engine.digest()
    do(engine, Back())
    do(engine, Go(moment=here))
    assert engine.digest() == digest
    again = Engine.restore(engine.save(), torch.device("cpu"))
    assert again.digest() == digest and again.moved(()).beams == engine.moved(()).beams


def test_stages_of_a_step_are_the_step() -> None:
    whole, parts = opened(policy=WIDE, seed=5), opened(policy=WIDE, seed=5)
    for _ in range(3):
        do(whole, Step())
        do(parts, Step(unit="stage"))
        assert parts.moved(()).stage == "choose"
        do(parts, Step(unit="stage"))
    assert whole.digest() == parts.digest()


def test_a_change_searches_anew_and_a_beam_that_is_left_keeps_its_best() -> None:
    engine = opened(policy=WIDE)
    for _ in range(3):
        do(engine, Step())
    do(engine, Change(fields={"policy": {**WIDE, "width": 2}}))
    place = engine.timeline.here.place
    assert len(place.written) == 2 and place.decided == 3 and len(view(engine).steps) == 3
    best = place.written[0]
    do(engine, Change(fields={"policy": {"limit": 8}}))
    assert engine.timeline.here.place.written == (best,) and engine.moved(()).beams is None
    do(engine, Change(fields={"policy": WIDE}))
    assert len(engine.timeline.here.place.written) == 4


def test_edits_of_the_request_hold_for_every_hypothesis() -> None:
    edit = {"path": "logits", "index": [0, 1, 7], "action": "set", "value": 50.0}
    engine = opened(policy=WIDE, edits=[edit])
    do(engine, Step())
    do(engine, Step())
    assert all(w.ids[1] == 7 for w in engine.timeline.here.place.written)
    assert of(do(engine, Step(), (Selector(path="logits"),)), Values)


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"policy": {"kind": "beam", "width": 0}}, "policy.width", "0"),
        ({"policy": {"kind": "beam", "width": 9}}, "policy.width", "9"),
        ({"policy": {"kind": "beam", "length_penalty": -1}}, "policy.length_penalty", "-1"),
        ({"policy": {"kind": "beam"}, "requests": [{"source": ["the"]}, {"source": ["a"]}]}, "policy.kind", "one request"),
    ],
)
def test_what_a_beam_cannot_be_is_refused(fields: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(Refused) as refusal:
        opened(**fields)
    problem = refusal.value.problems[0]
    assert problem.field == field and said in problem.message


def test_a_beam_wider_than_the_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = defaults(policy={"kind": "beam", "width": 6}).model_dump(mode="json")
    monkeypatch.setattr(tasks()["translation"], "target", Vocabulary(("<pad>", "<bos>", "<eos>", "<unk>", "le")))
    with pytest.raises(Refused, match="the vocabulary has 5 words"):
        do(Engine(torch.device("cpu")), Open(scenario=scenario))


def test_no_token_is_chosen_by_hand_in_a_beam() -> None:
    engine = opened(policy=WIDE)
    with pytest.raises(Refused, match="A beam decides by itself"):
        do(engine, Choose(request=0, token=5))
    assert of([engine.opened()], Opened)
