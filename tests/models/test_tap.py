"""The tap: silent, recording, editing; loops; gradients; axes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models.parts.tap import OFF, Editor, Recorder, Step, Tap
from models.parts.tape import FIXED_TYPES, AxisError, Tape


def test_off_gives_the_value_straight_back() -> None:
    value = torch.ones(2)
    scope = (OFF / "a").at("t", 3)
    assert OFF("x", value, "b") is value and scope("x", value, "no such axes", "weights") is value
    assert scope is OFF, "one shared object, no allocation"


def test_a_recorder_keeps_by_dotted_path_and_by_reference() -> None:
    recorder, value = Recorder(), torch.ones(2, 3)
    scope = recorder / "decoder" / "layer0"
    assert scope("q", value, "b d") is value
    record = recorder.tape.records["decoder.layer0.q"]
    assert record.value is value and record.axes == ("b", "d") and record.type == "hidden" and record.unedited is None
    assert recorder / "decoder" is recorder / "decoder", "a scope is made once"
    assert recorder.tape.sizes == {"b": 2, "d": 3}


def test_a_recorded_value_is_not_part_of_the_graph() -> None:
    recorder, x = Recorder(), torch.ones(2, requires_grad=True)
    assert recorder("y", x * 2, "d").requires_grad
    assert not recorder.tape.records["y"].value.requires_grad


@pytest.mark.parametrize("view", [lambda p: p, lambda p: p[0], lambda p: p.T, lambda p: p.expand(2, 2, 2)[0]])
def test_a_parameter_or_a_view_of_one_is_copied(view: object) -> None:
    parameter = torch.nn.Parameter(torch.ones(2, 2))
    recorder = Recorder()
    value = view(parameter)  # type: ignore[operator]
    for tap in (recorder / "plain", Editor({"edited.w": double}, recorder) / "edited"):
        tap("w", value, "d f" if value.dim() == 2 else "d")
    with torch.no_grad():
        parameter.fill_(5.0)  # as an optimizer does
    plain, edited = (recorder.tape.records[f"{scope}.w"] for scope in ("plain", "edited"))
    assert (plain.value == 1).all() and (edited.value == 2).all()
    assert edited.unedited is not None and (edited.unedited == 1).all()


def test_axes_must_fit_the_value() -> None:
    with pytest.raises(AxisError, match=r"layer\.q: axes 'b t d' name 3 axes, the value has shape \[2, 3\]"):
        (Recorder() / "layer")("q", torch.ones(2, 3), "b t d")


def test_a_letter_has_one_size_a_pass() -> None:
    recorder = Recorder()
    recorder("a", torch.ones(2, 3), "b t")
    recorder("wide", torch.ones(2, 3, 5), "b t t'")
    with pytest.raises(AxisError, match="c: axis 't' has size 4 here and 3 earlier in this pass"):
        recorder("c", torch.ones(2, 4), "b t")
    recorder("again", torch.ones(2, 3), "b t")


def test_gradients_are_kept_when_asked_for() -> None:
    for asked in (True, False):
        recorder, x = Recorder(gradients=asked), torch.tensor([1.0, 2.0], requires_grad=True)
        y = recorder("y", x * x, "d")
        (3 * y).sum().backward()
        assert ("y" in recorder.tape.gradients) == asked
    assert_close(x.grad, torch.tensor([6.0, 12.0]))


def loop(tap: Tap, x: Tensor, steps: int = 3) -> Tensor:
    for t in range(steps):
        x = tap.at("t", t)("x", x * 2, "b h s")
    return x


def test_a_loop_is_stacked_after_request_and_head() -> None:
    recorder = Recorder()
    loop(recorder / "cell", torch.ones(2, 4, 5))
    record = recorder.tape.finish().records["cell.x"]
    assert record.axes == ("b", "h", "t", "s") and record.value.shape == (2, 4, 3, 5)
    assert record.value[0, 0, :, 0].tolist() == [2.0, 4.0, 8.0]


def test_a_loop_that_runs_backwards_is_stacked_forwards() -> None:
    recorder = Recorder()
    for s in (2, 1, 0):
        recorder.at("s", s)("x", torch.full((1, 1), float(s)), "b n")
    assert recorder.tape.finish().records["x"].value.flatten().tolist() == [0.0, 1.0, 2.0]


def test_gradients_of_a_loop_are_stacked_as_its_values() -> None:
    recorder, x = Recorder(gradients=True), torch.ones(1, 1, 1, requires_grad=True)
    y = loop(recorder, x)
    tape = recorder.tape.finish()
    y.sum().backward()
    assert tape.gradients["x"].shape == tape.records["x"].value.shape == (1, 1, 3, 1)
    assert tape.gradients["x"].flatten().tolist() == [4.0, 2.0, 1.0]


def test_a_tape_with_a_loop_must_be_finished_before_backward() -> None:
    recorder, x = Recorder(gradients=True), torch.ones(1, 1, 1, requires_grad=True)
    loop(recorder, x).sum().backward()
    with pytest.raises(RuntimeError, match="x was tapped in a loop; finish the tape before the backward pass"):
        len(recorder.tape.gradients)


def test_gradients_stand_in_the_order_of_the_backward_pass() -> None:
    recorder, x = Recorder(gradients=True), torch.ones(1, 1, 1, requires_grad=True)
    early = recorder("early", x * 2, "b h s")
    late = recorder("late", loop(recorder, early) + early, "b h s")
    unused = recorder("unused", late * 2, "b h s")
    tape, seen = recorder.tape.finish(), list[str]()
    for name, value in (("early", early), ("late", late), ("unused", unused)):
        value.register_hook(lambda _, name=name: seen.append(name))
    assert not tape.gradients
    (late * 3).sum().backward()
    assert seen == ["late", "early"] and tape.reached() == [*tape.gradients] == ["late", "x", "early"]
    assert tape.gradients["early"].item() == 27 and not tape.reached()


def test_a_recorded_parameter_keeps_the_gradient_of_this_pass_and_nothing_listens_to_it_afterwards() -> None:
    x = torch.ones(2, requires_grad=True)
    tapes = []
    for factor in (2.0, 3.0):
        recorder = Recorder(gradients=True)
        (recorder("x", x, "d") * factor + x).sum().backward()
        tapes.append(recorder.tape)
    assert x.grad is not None and x.grad.tolist() == [7.0, 7.0] and not x._backward_hooks
    assert [t.gradients["x"].tolist() for t in tapes] == [[2.0, 2.0], [3.0, 3.0]]


def test_missing_steps_and_another_length_are_refused() -> None:
    recorder = Recorder()
    recorder.at("t", 0)("x", torch.ones(2), "b")
    recorder.at("t", 2)("x", torch.ones(2), "b")
    with pytest.raises(AxisError, match=r"x: steps \[0, 2\] of axis 't' were tapped, they must be 0 to n - 1"):
        recorder.tape.finish()
    recorder = Recorder()
    recorder("ids", torch.ones(2, 5), "b t")
    loop(recorder, torch.ones(2, 1, 1))
    with pytest.raises(AxisError, match="x: axis 't' has size 3 here and 5 earlier"):
        recorder.tape.finish()


def test_a_loop_in_a_loop_is_refused() -> None:
    with pytest.raises(AxisError, match="a loop over 's' inside a loop over 't'"):
        Recorder().at("t", 0).at("s", 0)


def double(value: Tensor, axes: tuple[str, ...], step: Step | None) -> Tensor:
    return value * 2


def test_an_editor_hands_back_the_edit_and_the_recorder_keeps_both() -> None:
    recorder = Recorder()
    editor = Editor({"layer0.q": double}, recorder)
    value = torch.ones(2, 3)
    assert ((editor / "layer0")("q", value, "b d") == 2).all() and (value == 1).all()
    assert (editor / "layer1")("q", value, "b d") is value
    edited, other = (recorder.tape.records[f"layer{i}.q"] for i in (0, 1))
    assert (edited.value == 2).all() and edited.unedited is not None and (edited.unedited == 1).all()
    assert other.unedited is None


def test_an_editor_needs_no_recorder() -> None:
    assert ((Editor({"a.q": double}) / "a")("q", torch.ones(1), "d") == 2).all()


def test_an_edit_learns_axes_and_step_and_keeps_both_tapes() -> None:
    seen: list[tuple[tuple[str, ...], Step | None]] = []

    def at_one(value: Tensor, axes: tuple[str, ...], step: Step | None) -> Tensor:
        seen.append((axes, step))
        return value * 10 if step == ("t", 1) else value.clone()

    recorder = Recorder()
    last = loop(Editor({"cell.x": at_one}, recorder) / "cell", torch.ones(1, 1, 1))
    record = recorder.tape.finish().records["cell.x"]
    assert seen == [(("b", "h", "s"), ("t", t)) for t in range(3)]
    assert last.item() == 80 and record.value.flatten().tolist() == [2.0, 40.0, 80.0]
    assert record.unedited is not None and record.unedited.flatten().tolist() == [2.0, 4.0, 80.0]


def test_gradients_flow_through_an_edit() -> None:
    recorder, x = Recorder(gradients=True), torch.ones(2, requires_grad=True)
    Editor({"y": double}, recorder)("y", x * 3, "d").sum().backward()
    assert recorder.tape.gradients["y"].tolist() == [1.0, 1.0]
    assert x.grad is not None and x.grad.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("type", sorted(FIXED_TYPES))
def test_what_has_its_own_command_cannot_be_edited(type: str) -> None:
    with pytest.raises(ValueError, match=f"a.x holds {type}, which cannot be edited at a tap; it has its own command"):
        (Editor({"a.x": double}) / "a")("x", torch.ones(1), "d", type)  # type: ignore[arg-type]


def test_an_edit_must_keep_shape_and_type() -> None:
    def wrong(value: Tensor, axes: tuple[str, ...], step: Step | None) -> Tensor:
        return value[:1].double()

    with pytest.raises(ValueError, match=r"an edit of x gave \[1\] torch.float64, it must stay \[2\] torch.float32"):
        Editor({"x": wrong})("x", torch.ones(2), "d")


def test_a_tape_of_a_loop_stands_where_its_first_step_was_tapped() -> None:
    tape = Tape()
    tap: Tap = Recorder(tape)
    tap("first", torch.zeros(1), "b")
    for step in range(2):
        (tap / "cell").at("t", step)("gate", torch.zeros(1, 3), "b n")
        (tap / "cell").at("t", step)("state", torch.zeros(1, 3), "b n", "state")
    tap("last", torch.zeros(1), "b")
    assert list(tape.finish().records) == ["first", "cell.gate", "cell.state", "last"]


def test_a_value_that_is_tapped_twice_keeps_its_gradient_under_both_names() -> None:
    recorder, x = Recorder(gradients=True), torch.ones(2, requires_grad=True)
    y = recorder("b", recorder("a", x * 3, "d"), "d")
    seen = list[float]()
    y.register_hook(lambda gradient: seen.append(float(gradient.sum())))
    (y * 2).sum().backward()
    assert [g.tolist() for g in recorder.tape.gradients.values()] == [[2.0, 2.0], [2.0, 2.0]]
    assert seen == [4.0]  # whoever else listens still does


def test_a_step_that_nothing_depends_on_has_a_gradient_of_zero() -> None:
    recorder, x = Recorder(gradients=True), torch.ones(1, 1, requires_grad=True)
    steps = [recorder.at("t", t)("x", x * (t + 1), "b n") for t in range(3)]
    tape = recorder.tape.finish()
    (steps[0] + steps[2]).sum().backward()
    assert tape.gradients["x"].flatten().tolist() == [1.0, 0.0, 1.0]
