"""A run without a page, written as safetensors, says the same as the engine."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import torch
from safetensors.torch import load
from torch import Tensor

from app.session import given, headless, weights
from app.session.commands import Open
from app.session.events import Refused
from app.session.scenario import parse
from models import Inputs
from models.parts.tap import Recorder
from models.tasks.objective import pad

BLACK_CAT = {"source": ["the", "black", "cat", "sleeps"]}


def recorded(steps: int, **scenario: Any) -> tuple[dict[str, Tensor], dict[str, dict[str, Any]], dict[str, Any], int]:
    """Tensors, what is said of each, the scenario, and how many steps were done."""
    out = io.BytesIO()
    done, count = headless.run(Open(scenario={"requests": [BLACK_CAT], **scenario}), steps, out)
    content = out.getvalue()
    tensors = load(content)
    text = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    said = json.loads(text["tensors"])
    assert said.keys() == tensors.keys() and len(tensors) == count
    return tensors, said, json.loads(text["scenario"]), done


def test_prefill_holds_what_the_model_computes() -> None:
    tensors, said, scenario, done = recorded(1, phase="prefill")
    assert done == 1 and scenario["phase"] == "prefill"
    model, _ = weights.build(parse(scenario), "cpu")
    recorder = Recorder()
    source = given.source_rows(parse(scenario))
    model(Inputs(pad([[1]]), source), model.initial_state(1), recorder)  # type: ignore[operator]
    path = "decoder.layer1.cross.weights"
    torch.testing.assert_close(tensors[f"prefill.1/{path}"], recorder.tape.records[path].value)
    assert said[f"prefill.1/{path}"] == {
        "path": path,
        "axes": ["b", "h", "t", "s"],
        "owner": "target row × source row",
        "type": "weights",
        "side": "value",
        "phase": "prefill",
        "step": 1,
        "start": {},
    }


def test_decode_adds_new_rows_and_places_them() -> None:
    tensors, said, _, done = recorded(3)
    assert done == 3
    weights_of = {n: s for n, s in said.items() if s["path"] == "decoder.layer0.self.weights"}
    assert [(s["phase"], s["step"], s["start"]) for s in weights_of.values()] == [
        ("decode", 0, {}),
        ("decode", 1, {"t": 1}),
        ("decode", 2, {"t": 2}),
        ("decode", 3, {"t": 3}),
    ]
    assert [tuple(tensors[n].shape) for n in weights_of] == [(1, 4, 1, 1), (1, 4, 1, 2), (1, 4, 1, 3), (1, 4, 1, 4)]


def test_a_run_that_ends_is_not_stepped_further() -> None:
    *_, done = recorded(50)
    assert done == 5  # le chat noir dort <eos>


def test_requests_that_begin_at_different_rows_have_tensors_of_their_own() -> None:
    _, said, _, _ = recorded(1, requests=[BLACK_CAT, {**BLACK_CAT, "target": ["le"]}])
    placed = [s["start"] for n, s in said.items() if s["path"] == "logits" and s["step"] == 1]
    assert placed == [{"t": 1}, {"t": 2, "b": 1}]


def test_training_holds_values_and_gradients() -> None:
    tensors, said, _, done = recorded(2, phase="train", weights="random")
    assert done == 2
    name = "train.2/decoder.layer0.ffn.hidden"
    assert tensors[name].shape == tensors[f"{name}.gradient"].shape
    assert said[f"{name}.gradient"]["side"] == "gradient"
    assert tensors[f"{name}.gradient"].abs().sum() > 0


def test_an_edit_is_kept_beside_the_value_before_it() -> None:
    edit = {"path": "decoder.layer0.ffn.output", "action": "scale", "value": 0.0}
    tensors, *_ = recorded(0, edits=[edit])
    name = "decode.0/decoder.layer0.ffn.output"
    assert tensors[name].abs().sum() == 0 < tensors[f"{name}.unedited"].abs().sum()


def test_no_steps_write_the_moment_at_which_the_run_opened() -> None:
    _, said, _, done = recorded(0)
    assert done == 0 and {(s["phase"], s["step"]) for s in said.values()} == {("decode", 0)}


def test_a_recording_too_large_for_one_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless, "LARGEST_HEADER", 20_000)
    with pytest.raises(Refused, match="ask for fewer steps"):
        recorded(3)


def test_a_wrong_scenario_is_refused() -> None:
    with pytest.raises(Refused, match="architecture"):
        recorded(0, architecture="nonsense")
