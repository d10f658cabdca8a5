"""Mamba against two independent implementations with copied weights, its scan against the recurrence, its fixed kernel."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from mambapy.mamba import Mamba as MambaPy
from mambapy.mamba import MambaConfig as MambaPyConfig
from torch import Tensor
from torch.testing import assert_close
from transformers import MambaConfig, MambaForCausalLM

from models import Inputs, Rows
from models.catalogue import read_config
from models.mamba import SPEC, Config, Mamba
from models.parts.scan import loop, scan
from models.parts.tap import OFF, Recorder, Step
from tests.models.contract import record
from tests.models.world import WORDS, maker

SIZES = Config(d_model=16, state=4, rank=3)
NAMES = {
    "enter": "mixer.in_proj", "leave": "mixer.out_proj", "choose.W": "mixer.x_proj", "choose.step": "mixer.dt_proj",
    "window.b": "mixer.conv1d.bias", "A_log": "mixer.A_log", "D": "mixer.D", "norm": "norm",
}  # fmt: skip


def with_weights_of(layers: dict[str, Tensor]) -> Mamba:
    """Our model with the blocks of a library's: its `layers.*`, in the names that both libraries use."""
    torch.manual_seed(1)
    model = Mamba(SIZES, WORDS)
    ours = model.state_dict()
    for i in range(SIZES.layers):
        ours[f"blocks.{i}.window.W"] = layers[f"layers.{i}.mixer.conv1d.weight"][:, 0]
        for name in [n for n in ours if n.startswith(f"blocks.{i}.") and not n.endswith("window.W")]:
            own = name.removeprefix(f"blocks.{i}.")
            known = next(k for k in NAMES if own == k or own.startswith(f"{k}."))
            ours[name] = layers[f"layers.{i}.{NAMES[known]}{own.removeprefix(known)}"]
    model.load_state_dict(ours)
    return model


def test_logits_of_hugging_face() -> None:
    torch.manual_seed(5)
    sizes = {"hidden_size": 16, "state_size": 4, "num_hidden_layers": 2, "conv_kernel": 4, "expand": 2, "time_step_rank": 3}
    library = MambaForCausalLM(MambaConfig(vocab_size=WORDS, use_mambapy=False, tie_word_embeddings=False, **sizes)).eval()
    theirs = library.state_dict()
    model = with_weights_of({n.removeprefix("backbone."): v for n, v in theirs.items()})
    ends = {"token": "backbone.embeddings", "norm": "backbone.norm_f", "head": "lm_head"}
    model.load_state_dict({**model.state_dict(), **{f"{n}.weight": theirs[f"{path}.weight"] for n, path in ends.items()}})
    ids = torch.randint(0, WORDS, (2, 24))
    with torch.no_grad():
        expected = library(ids).logits
        found, _ = model(Inputs(Rows(ids, torch.tensor([24, 24]))), model.initial_state(2), OFF)
        state, steps = model.initial_state(2), []
        for t in range(24):
            out, state = model(Inputs(Rows(ids[:, t : t + 1], torch.tensor([1, 1]))), state, OFF)
            steps.append(out.values)
    assert_close(found.values, expected, atol=2e-6, rtol=0)
    assert_close(torch.cat(steps, 1), expected, atol=2e-6, rtol=0)


def test_blocks_of_mambapy() -> None:
    torch.manual_seed(6)
    library = MambaPy(MambaPyConfig(d_model=16, n_layers=2, dt_rank=3, d_state=4, expand_factor=2, d_conv=4)).eval()
    model = with_weights_of(library.state_dict())
    ids = torch.randint(0, WORDS, (2, 20))
    _, tape = record(lambda tap: model(Inputs(Rows(ids, torch.tensor([20, 20]))), model.initial_state(2), tap))
    with torch.no_grad():
        expected = library(model.token(ids))
    assert_close(tape.records["layer1.residual"].value, expected, atol=2e-6, rtol=0)


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 13])
def test_scan_and_its_gradients_are_those_of_the_loop(rows: int) -> None:
    given = [torch.randn(2, rows, 3, 4), torch.randn(2, rows, 3, 4), torch.randn(2, 3, 4)]
    found: list[list[Tensor]] = []
    for run in (scan, loop):
        a, w, before = (x.double().requires_grad_() for x in given)
        states = run(a, w, before, OFF, "b t f n")
        (states * torch.arange(states.numel()).view_as(states)).sum().backward()
        found.append([states, a.grad, w.grad, before.grad])  # type: ignore[list-item]
    assert_close(found[0], found[1], atol=1e-10, rtol=1e-12)


def test_an_edited_state_is_carried_on_by_both_schedules() -> None:
    """Row 3 of one request loses half of what it held: later rows change, earlier ones and the other request do not."""

    def edit(value: Tensor, axes: tuple[str, ...], step: Step | None) -> Tensor:
        out = value.clone()
        if step is None:
            out[1, 3] *= 0.5
        elif step[1] == 3:
            out[1] *= 0.5
        return out

    found = []
    for schedule in ("scan", "loop"):
        world = maker(SPEC, schedule=schedule)()
        plain, _ = record(lambda tap, world=world: world.call(world.target, tap=tap))  # type: ignore[misc]
        values, tape = record(lambda tap, world=world: world.call(world.target, tap=tap), {"layer0.state": edit})  # type: ignore[misc]
        found.append((values, tape.records["layer0.state"]))
        moved = (values - plain).abs().amax(-1)
        assert moved[1, 3:].min() > 1e-6 and moved[1, :3].max() == 0 and moved[0].max() == 0
    assert_close(found[0][0], found[1][0], atol=1e-12, rtol=0)
    for scanned, looped in zip(found[0][1], found[1][1], strict=True):
        if isinstance(scanned, Tensor):
            assert_close(scanned, looped, atol=1e-12, rtol=0)


@pytest.mark.parametrize("selection", ["selective", "fixed"])
def test_scan_equals_loop_in_the_model(selection: str) -> None:
    values, states = [], []
    for schedule in ("scan", "loop"):
        world = maker(SPEC, selection=selection, schedule=schedule)()
        out, tape = record(lambda tap, world=world: world.call(world.target, tap=tap))  # type: ignore[misc]
        values.append(out)
        states.append(tape.records["layer1.state"])
    assert states[0].axes == states[1].axes == ("b", "t", "f", "n")
    assert_close(values[0], values[1], atol=1e-12, rtol=0)
    assert_close(states[0].value, states[1].value, atol=1e-12, rtol=0)


def test_without_selection_one_kernel_gives_what_the_state_gives() -> None:
    world = maker(SPEC, selection="fixed")()
    _, tape = record(lambda tap: world.call(world.target, tap=tap))
    content, read = (tape.records[f"layer0.{name}"].value[1] for name in ("content", "read"))
    kernel, D = world.model.kernels(7)["layer0"][0], world.model.blocks[0].D  # type: ignore[operator, index, union-attr]
    by_hand = torch.stack([sum(kernel[:, lag] * content[t - lag] for lag in range(t + 1)) + D * content[t] for t in range(7)])
    assert_close(read, by_hand, atol=1e-12, rtol=0)


def test_with_selection_there_is_no_kernel() -> None:
    """The same row at the same distance weighs differently: a change of the row between them changes what is left of it."""
    world = maker(SPEC)()
    assert world.model.kernels(7) == {}  # type: ignore[operator]
    kept = []
    for word in (4, 9):
        ids = world.target.values.clone()
        ids[1, 3] = word
        recorder = Recorder()
        world.call(Rows(ids, world.target.lengths), tap=recorder)
        kept.append(recorder.tape.finish().records["layer0.kept"].value[1, 3])
    assert (kept[0] - kept[1]).abs().max() > 1e-4


def test_steps_begin_where_the_paper_says() -> None:
    steps = torch.nn.functional.softplus(maker(SPEC)().model.blocks[0].choose.step.bias)  # type: ignore[index, union-attr]
    assert steps.min() >= 1e-3 * 0.999 and steps.max() <= 1e-1 * 1.001


@pytest.mark.parametrize(
    ("given", "allowed"), [({"state": 0}, "from 1 to 32"), ({"kernel": 0}, "from 1 to 8"), ({"rank": 0}, "from 1")]
)
def test_sizes_of_nothing_are_refused(given: dict[str, Any], allowed: str) -> None:
    config, problems = read_config(SPEC, given)
    assert config is None and problems[0][:2] == next(iter(given.items())) and allowed in problems[0][2]
