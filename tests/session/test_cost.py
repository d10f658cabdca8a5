"""Costs, counted from the run, against torch's own counter, closed forms and brute force."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from app.session import counting, given
from app.session.commands import Analyse, Enter, Open, Step
from app.session.engine import Engine
from app.session.events import Analysis, Refused
from app.session.scenario import defaults
from models import Inputs
from models.catalogue import architectures
from models.parts.tap import OFF
from models.tasks.objective import pad

CPU = torch.device("cpu")


def opened(name: str, **fields: Any) -> Engine:
    engine = Engine(CPU)
    list(engine.run(Open(scenario=defaults(name, **fields).model_dump(mode="json"))))
    return engine


def cost(engine: Engine, **arguments: Any) -> dict[str, Any]:
    said = [e for e in engine.run(Analyse(name="cost", arguments=arguments)) if isinstance(e, Analysis)]
    assert said[-1].result is not None
    return said[-1].result


@pytest.mark.parametrize("name", sorted(n for n, s in architectures().items() if "prefill" in s.phases))
def test_every_architecture_can_be_counted(name: str) -> None:
    phase = "decode" if "decode" in architectures()[name].phases else "prefill"
    found = cost(opened(name, phase=phase))
    assert found["macs"] == sum(n for _, n in found["by_op"]) > 0
    assert found["sequential"] >= 1 and found["ms"] > 0 and found["bytes"] >= 0


def test_the_work_is_what_torch_counts_on_the_same_forward() -> None:
    engine = opened("decoder_only")
    model: Any = engine.learner.model
    inputs = Inputs(pad(given.prompts(engine.scenario)), None, given.visibility(engine.scenario))
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(inputs, model.initial_state(1), OFF)
    assert 2 * cost(engine)["macs"] == counter.get_total_flops()


def test_the_work_of_a_decoder_is_its_closed_form() -> None:
    """A layer of n rows: 4 n d^2 for q, k, v and the output, 2 n^2 d for scores and mixing, 2 n d f after them; head v n d."""
    engine = opened("decoder_only")
    c: Any = engine.learner.model.config
    n, v = len(given.prompts(engine.scenario)[0]), len(given.task_of(engine.scenario).target)
    layer = 4 * n * c.d_model**2 + 2 * n * n * c.d_model + 2 * n * c.d_model * c.d_ff
    assert cost(engine)["macs"] == c.layers * layer + n * c.d_model * v


def test_a_further_row_with_a_cache_costs_less_than_all_rows_again() -> None:
    engine = opened("decoder_only")
    for _ in range(4):
        list(engine.run(Step()))
    found = cost(engine)
    assert found["next"]["macs"] < found["macs"] / 2 and found["bytes_per_row"] > 0


def test_a_loop_waits_for_every_row_and_layers_of_attention_for_layers_alone() -> None:
    loop, read = cost(opened("recurrent")), cost(opened("decoder_only"))
    layers = opened("decoder_only").learner.model.config.layers  # type: ignore[union-attr]
    assert loop["sequential"] >= loop["rows"] and read["sequential"] == layers
    assert loop["longest"] == loop["rows"] - 1 and read["longest"] == 1


def test_a_window_lengthens_the_way_and_is_counted_cell_by_cell() -> None:
    mask = [{"relation": "self", "program": "causal_sliding", "parameter": 1}]
    names = [r.name for r in architectures()["decoder_only"].relations]
    mask[0]["relation"] = names[0]
    wide, narrow = cost(opened("decoder_only")), cost(opened("decoder_only", masks=mask))
    n = wide["rows"]
    assert wide["cells"]["visible"] % (n * (n + 1) // 2) == 0 and narrow["cells"]["visible"] % (2 * n - 1) == 0
    assert narrow["longest"] == min(n - 1, 2) and narrow["macs"] == wide["macs"], "a dense product computes what the mask hides"


def test_the_sweep_grows_as_its_terms_say() -> None:
    found = cost(opened("recurrent"), sweep=True)["sweep"]
    assert [s["n"] for s in found] == sorted(s["n"] for s in found) and len(found) >= 4
    first, last = found[0], found[-1]
    assert last["macs"] * first["n"] == first["macs"] * last["n"], "a recurrent model's work grows with n alone"
    assert last["bytes"] == first["bytes"], "and what it keeps does not grow"


def test_in_training_it_says_what_to_do() -> None:
    engine = opened("decoder_only")
    list(engine.run(Enter(phase="train")))
    with pytest.raises(Refused, match="enter prefill or decode"):
        cost(engine)


def test_work_after_the_last_tap_is_not_lost() -> None:
    a = torch.ones(3, 4)
    counted = counting.count(lambda tap: (tap("x", a @ a.T, "b t", "hidden"), a.T @ a))
    assert counted.macs == {"x": 36, "rest": 48}
