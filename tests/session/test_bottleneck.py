"""Exact match against the number of clauses: the numbers of the measurement that the checkpoints carry, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from app.session.analyses import bottleneck
from app.session.commands import Analyse
from app.session.events import Analysis, Refused
from app.session.measures import CLAUSES, REPORT_SEED, draw_held_out, greedy_decode
from models.catalogue import architectures
from models.tasks import BOS
from models.tasks.objective import batch
from models.tasks.translation import Translation
from tests.session.driving import do, of, opened


def test_each_family_is_measured_on_the_same_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a count by hand: each answer beside its target. One family is shipped, so that the test stays short."""
    every = architectures()
    monkeypatch.setattr(bottleneck, "architectures", lambda: {"luong": every["luong"]})
    engine = opened("bahdanau")
    events = of(do(engine, Analyse(name="bottleneck", arguments={"n": 4})), Analysis)
    progress = [e.progress for e in events]
    assert progress == sorted(progress) and len(progress) == 2 + 2 * len(CLAUSES)
    result = events[-1].result
    assert result is not None and (result["n"], result["clauses"]) == (4, [1, 2, 3, 4, 5])
    own, shipped = result["families"]
    assert own["own"] and own["exact"] == [0.0] * 5, "random weights translate nothing"
    model = bottleneck._families(torch.device("cpu"))[0][2]
    for clauses, share in zip(CLAUSES, shipped["exact"], strict=True):
        task = Translation((clauses, clauses))
        examples = draw_held_out(task, REPORT_SEED, 4)
        source, _ = batch(task, examples)
        answers = greedy_decode(model, source, [[BOS]] * 4, 64)
        right = [a == task.target.encode(e.target) for a, e in zip(answers, examples, strict=True)]
        assert share == pytest.approx(sum(right) / 4)
    assert shipped["exact"][0] > 0.5, "shipped weights translate one clause"


@pytest.mark.parametrize(
    ("architecture", "arguments", "field"),
    [
        ("bahdanau", {"n": 3}, "arguments.n"),
        ("bahdanau", {"n": "all"}, "arguments.n"),
        ("recurrent", {}, "name"),
    ],
)
def test_what_cannot_be_measured_is_refused(architecture: str, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refusal:
        do(opened(architecture), Analyse(name="bottleneck", arguments=arguments))
    assert refusal.value.problems[0].field == field


def test_it_can_be_cancelled() -> None:
    engine = opened("bahdanau")
    digest = engine.digest()
    running: Any = engine.run(Analyse(name="bottleneck", arguments={"n": 4}))
    assert isinstance(next(running), Analysis) and isinstance(next(running), Analysis)
    running.close()
    assert engine.digest() == digest
