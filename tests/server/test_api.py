"""The API for scripts: the catalogue, scenarios, reads."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
import torch

from app.session import link
from app.session.catalogue_view import catalogue
from app.session.scenario import defaults, parse
from tests.server.serving import errors


def test_the_catalogue_is_what_the_command_line_lists(client: httpx2.Client) -> None:
    found = client.get("/api/catalogue")
    assert found.json() == json.loads(json.dumps(catalogue()))
    needed = {"id", "name", "family", "inventory", "config_schema", "capabilities", "phases", "taps", "checkpoints", "paper"}
    assert found.json()["architectures"] and all(needed <= a.keys() for a in found.json()["architectures"])


def test_a_scenario_comes_back_normalised_with_a_link_that_brings_it_again(client: httpx2.Client) -> None:
    given = defaults(seed=3).model_dump(mode="json")
    del given["config"], given["policy"]
    answer = client.post("/api/scenario/validate", json=given).json()
    assert answer["ok"] is True
    assert answer["scenario"] == parse(given).model_dump(mode="json")
    assert client.post("/api/scenario/validate", json=answer["scenario"]).json() == answer
    assert (answer["parameters"], answer["weights"], answer["allowed"]["heads"]["values"]) == (246_976, "trained", [1, 2, 4, 8])
    assert answer["link"].startswith("#s=")
    assert link.unpack(answer["link"].removeprefix("#s=")) == {"v": 1, "scenario": answer["scenario"]}


@pytest.mark.parametrize(
    "change, field",
    [
        ({"seed": "x"}, "seed"),
        ({"seed": 2**31}, "seed"),
        ({"architecture": "perceptron"}, "architecture"),
        ({"more": 1}, "more"),
        ({"version": 2}, "version"),
        ({"policy": {"temperature": -1}}, "policy.temperature"),
        ({"requests": []}, "requests"),
        ({"training": {"learning_rate": 0}}, "training.learning_rate"),
    ],
    ids=str,
)
def test_a_wrong_scenario_is_refused_by_field(client: httpx2.Client, change: dict[str, Any], field: str) -> None:
    given = {**defaults().model_dump(mode="json"), **change}
    assert errors(client.post("/api/scenario/validate", json=given), 422)[0]["field"] == field


def test_a_read_gives_scores_weights_context_and_its_derivative(client: httpx2.Client) -> None:
    given = {
        "keys": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
        "values": [[1.0], [2.0], [4.0]],
        "query": [0.5, -1.0],
        "score": "scaled_dot",
    }
    found = client.post("/api/read", json={**given, "visible": [True, False, True]}).json()
    scores = torch.tensor(found["scores"], dtype=torch.float64, requires_grad=True)
    values = torch.tensor(given["values"], dtype=torch.float64)
    torch.testing.assert_close(scores, torch.tensor([0.5, -1.0, -0.5], dtype=torch.float64) / 2**0.5)
    weights = torch.softmax(scores.masked_fill(torch.tensor([False, True, False]), -torch.inf), 0)
    context = weights @ values
    torch.testing.assert_close(torch.tensor(found["weights"], dtype=torch.float64), weights)
    torch.testing.assert_close(torch.tensor(found["context"], dtype=torch.float64), context)
    assert found["weights"][1] == 0.0
    (gradient,) = torch.autograd.grad(context[0], scores)
    torch.testing.assert_close(torch.tensor(found["context_grad_scores"], dtype=torch.float64)[:, 0], gradient)


def test_supplied_scores_need_no_keys(client: httpx2.Client) -> None:
    found = client.post("/api/read", json={"scores": [0, 0], "values": [[1], [3]], "score": "supplied"}).json()
    assert (found["weights"], found["context"]) == ([0.5, 0.5], [2.0])
    late = {"scores": [0, 0], "values": [[1], [3]], "score": "supplied", "visible": [True, False], "mask": "multiply"}
    assert client.post("/api/read", json=late).json()["weights"] == [0.5, 0.0]


READ: dict[str, Any] = {"keys": [[1, 0], [0, 1]], "query": [1, 2], "score": "dot"}


@pytest.mark.parametrize(
    "change, field",
    [
        ({"score": None}, "score"),
        ({"score": "cosine"}, "score"),
        ({"mask": "late"}, "mask"),
        ({"more": 1}, "more"),
        ({"keys": None}, "keys"),
        ({"keys": []}, "keys"),
        ({"keys": [[]]}, "keys.0"),
        ({"keys": [1, 2]}, "keys.0"),
        ({"keys": [[1, 0], [1]]}, "keys.1"),
        ({"keys": [[1, "0"], [0, 1]]}, "keys.0.1"),
        ({"keys": [[1, True], [0, 1]]}, "keys.0.1"),
        ({"keys": [[1, None], [0, 1]]}, "keys.0.1"),
        ({"keys": {"0": [1]}}, "keys"),
        ({"keys": [[0.0] * 257]}, "keys.0"),
        ({"keys": [[0.0, 0.0]] * 513}, "keys"),
        ({"query": [1]}, "query"),
        ({"query": None}, "query"),
        ({"query": "ab"}, "query"),
        ({"query": [1e308, 1e308]}, "query.0"),
        ({"query": [1e200, 0], "keys": [[1e200, 0], [0, 0]]}, "query"),
        ({"values": [[1]]}, "keys"),
        ({"visible": [True]}, "visible"),
        ({"visible": [1, 0]}, "visible.0"),
        ({"visible": [False, False]}, "visible"),
        ({"score": "supplied"}, "scores"),
        ({"score": "supplied", "scores": [1]}, "scores"),
        ({"score": "supplied", "scores": [1, "2"]}, "scores.1"),
    ],
    ids=lambda v: str(v)[:50],
)
def test_a_wrong_read_is_refused_by_field(client: httpx2.Client, change: dict[str, Any], field: str) -> None:
    assert errors(client.post("/api/read", json={**READ, **change}), 422)[0]["field"] == field


def test_the_largest_read_is_answered(client: httpx2.Client) -> None:
    rows = torch.randn(512, 256, generator=torch.Generator().manual_seed(0), dtype=torch.float64).tolist()
    answer = client.post("/api/read", json={"keys": rows, "values": rows, "query": rows[0], "score": "scaled_dot"})
    assert answer.status_code == 200 and len(answer.json()["context"]) == 256
