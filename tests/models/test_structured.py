"""Structured self-attention against torch.nn.LSTM and equations 5-8 of Lin et al. 2017 (arXiv 1703.03130) worked row by row."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from app.session import measures, weights
from app.session.scenario import defaults
from models import Inputs, Rows
from models.parts.cells import Recurrence
from models.parts.tap import Recorder
from models.structured import SPEC, Config, Structured, penalty
from models.tasks.languages import LANGUAGES, TASK, names
from models.tasks.objective import pad

LENGTHS = (5, 3)


def model(**changes: float) -> Structured:
    torch.manual_seed(3)
    return Structured(Config(hops=3, width=4, d_token=5, attention=6, hidden=7, **changes), 11, 4).double()


def source() -> Rows:
    return Rows(torch.randint(4, 11, (2, 5), generator=torch.Generator().manual_seed(1)), torch.tensor(LENGTHS))


def told(it: Structured) -> tuple[torch.Tensor, Recorder, dict[str, torch.Tensor]]:
    recorder = Recorder()
    outputs, _ = it(Inputs(pad([(), ()]), source()), it.initial_state(2), recorder)
    recorder.tape.finish()
    return outputs.values, recorder, dict(outputs.penalties)


def lstm(recurrence: Recurrence, x: torch.Tensor) -> torch.Tensor:
    """The same cell by torch.nn, over one sequence `[s, d]`."""
    cell = recurrence.layers[0]
    other = nn.LSTM(x.shape[-1], 4).double()
    W, U = cell.W, cell.U
    with torch.no_grad():
        for name, value in (("weight_ih_l0", W.weight), ("weight_hh_l0", U.weight), ("bias_ih_l0", W.bias)):  # type: ignore[union-attr]
            getattr(other, name).copy_(value)
        other.bias_hh_l0.zero_()  # type: ignore[operator]
        rows: torch.Tensor = other(x[:, None])[0][:, 0]
    return rows


@torch.no_grad()
def test_states_weights_embedding_and_scores_are_those_of_the_equations() -> None:
    it = model()
    logits, recorder, penalties = told(it)
    alike = []
    for b, n in enumerate(LENGTHS):
        x = it.token(source().values[b, :n])
        H = torch.cat((lstm(it.forwards, x), lstm(it.backwards, x.flip(0)).flip(0)), -1)  # equations 1-4
        W1, W2 = it.hops.W1.weight, it.hops.W2.weight
        A = torch.zeros(3, n, dtype=torch.float64)
        for r in range(3):  # equation 6, a hop and a row at a time
            e = [sum(W2[r, a] * math.tanh(float(W1[a] @ H[s])) for a in range(6)) for s in range(n)]
            total = sum(math.exp(float(v)) for v in e)
            A[r] = torch.tensor([math.exp(float(v)) / total for v in e], dtype=torch.float64)
        M = A @ H  # equation 7
        weights = recorder.tape.records["hops.weights"].value[b, 0]
        assert_close(weights[:, :n], A, atol=1e-12, rtol=0)
        assert (weights[:, n:] == 0).all()
        assert_close(recorder.tape.records["hops.embedding"].value[b], M, atol=1e-12, rtol=0)
        z = torch.relu(it.mix.weight @ M.flatten() + it.mix.bias)
        assert_close(logits[b], it.head.weight @ z + it.head.bias, atol=1e-12, rtol=0)
        P = sum((float(A[i] @ A[j]) - (i == j)) ** 2 for i in range(3) for j in range(3))  # equation 8
        assert_close(recorder.tape.records["hops.penalty"].value[b].item(), P)
        alike.append(P)
    assert_close(penalties["penalty"].item(), Config().penalty * sum(alike) / 2)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], 0.0),  # each hop at a place of its own
        ([[0.5, 0.5], [0.5, 0.5]], 1.0),  # A A^T - I = [[-.5, .5], [.5, -.5]]
        ([[1.0, 0.0], [1.0, 0.0]], 2.0),  # A A^T - I = [[0, 1], [1, 0]]
    ],
)
def test_the_penalty_is_that_of_the_paper(rows: list[list[float]], expected: float) -> None:
    assert penalty(torch.tensor([rows])).item() == expected


def test_without_penalty_nothing_is_added() -> None:
    assert told(model(penalty=0.0))[2] == {} and SPEC.rows_of(Config(hops=5)) == {"r": 5}


def test_names_are_told_apart_by_split_and_belong_to_one_language() -> None:
    both = [names("train"), names("held_out")]
    assert [len(one) for one in both] == [3545, 887] and not set(both[0]) & set(both[1])
    assert {language for language, _ in both[0]} == set(LANGUAGES.values())
    texts = sorted(name for one in both for _, name in one)
    assert all(a != b for a, b in pairwise(texts))
    drawn = [TASK.example(1, "train", i) for i in range(200)]
    assert all(not TASK.source.unknown(e.source or ()) and e.target[0] in TASK.target.ids for e in drawn)
    assert TASK.tokenize("La Réunion") == list("la réunion")


def test_the_shipped_weights_tell_languages_apart_with_hops_that_differ() -> None:
    it, made = weights.build(defaults("structured"), "cpu")
    assert made["kind"] == "trained"
    found = measures.measure(it, SPEC, TASK, 512)
    assert found["accuracy"] > 0.68 and found["hop_cosine"] < 0.1
    assert abs(found["accuracy"] - made["source"]["metrics"]["accuracy"]) < 0.04
