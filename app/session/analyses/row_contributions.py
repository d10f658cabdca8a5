"""Which rows pushed a parameter: what each row adds to its gradient, at the place where the parameter is applied to rows.

A product y_t = x_t W^T gives dL/dW = sum over rows of (dL/dy_t)^T x_t: each row adds an outer product, and its Frobenius norm is
how hard that row pushed. The same holds for whatever is applied to rows one by one (a bias, a norm's scale, an embedding): the
calls that take the parameter are caught while the model runs, and each is differentiated alone with the gradient of one row.
Where a parameter is not applied to rows (a recurrence in one fused call), the rows are those of the loss: the gradient of one
row's loss. Either way the rows' parts must add up to the whole gradient, which is measured too. Source: 000 0x0B.2-3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from app.session import given
from app.session.analyses import Result, Run
from app.session.events import Check, Refused
from app.session.reading import listening
from app.session.scenario import Scenario
from models import Inputs, Rows
from models.parts import norms
from models.tasks.objective import Lesson, differentiated, total_loss

NAME = "row_contributions"
TITLE = "Which rows pushed a parameter"
ARGUMENTS = {"parameter": "a parameter's name", "request": "a sequence of the batch, from 0"}
CLOSE = 1e-3  # relative: parts that add up to less well than this are not the parts of this gradient


@dataclass(frozen=True)
class Use:
    """One call that took the parameter: how to make it again, and what it gave."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    output: Tensor

    def again(self, parameter: Tensor, instead: Tensor) -> Tensor:
        """The same call on its own: its other arguments are numbers now."""

        def alone(value: Any) -> Any:
            return instead if value is parameter else value.detach() if isinstance(value, Tensor) else value

        return self.function(*map(alone, self.arguments), **{k: alone(v) for k, v in self.named.items()})

    def row_axis(self, sizes: dict[str, int]) -> tuple[str, int] | None:
        """Which owner's rows its output holds, and along which axis; requests come first."""
        shape = self.output.shape
        if not shape or shape[0] != sizes["b"]:
            return None
        return next(((owner, i) for i, n in enumerate(shape) if i for owner in ("t", "s") if n == sizes.get(owner)), None)


@dataclass(frozen=True)
class Extent:
    """How large a batch is: sizes by axis letter, lengths of each request by owner."""

    sizes: dict[str, int]
    lengths: dict[str, Tensor]

    @classmethod
    def of(cls, target: Rows, source: Rows | None) -> Extent:
        both = ({"t": target} if target.values.shape[1] else {}) | ({} if source is None else {"s": source})
        sizes = {"b": len(target.values)} | {owner: rows.values.shape[1] for owner, rows in both.items()}
        return cls(sizes, {owner: rows.lengths for owner, rows in both.items()})


class Catching(TorchFunctionMode):
    """Keeps every call that takes the parameter itself and gives something that depends on it."""

    def __init__(self, parameter: Tensor) -> None:
        super().__init__()
        self.parameter = parameter
        self.uses: list[Use] = []

    def __torch_function__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None) -> Any:
        named = kwargs or {}
        output = func(*args, **named)
        taken = any(a is self.parameter for a in (*args, *named.values()))
        if taken and isinstance(output, Tensor) and output.requires_grad and output is not self.parameter:
            self.uses.append(Use(func, tuple(args), named, output))
        return output


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Norms by row of one sequence, what the other sequences add together, and the whole beside what the update recorded."""
    update = run.update
    if update is None or update.norms is None or update.lesson is None or run.before is None:
        message = "Rows push a parameter in training, after backward. Step there first."
        raise Refused.one("name", NAME, "an update after backward", message)
    model = run.before()
    parameter, request = _asked(model, arguments, len(update.examples))
    yield 0.05
    widths = {n for axis, n in update.tape.sizes.items() if axis.rstrip("'") not in ("t", "s")}
    lesson = _told_apart(update.lesson, widths)
    with Catching(parameter) as caught:
        losses, loss = _losses(model, update.scenario, lesson, update.number)
    whole, extent = _gradient(loss, parameter), Extent.of(lesson.inputs, lesson.source)
    parts, by = list(_by_application(caught.uses, parameter, loss, extent, request, whole)), "application"
    if not parts:
        owner = "t" if lesson.inputs.values.shape[1] else "s"
        parts, by = [(owner, _by_loss(losses, lesson, parameter, request))], "loss"
    rows, own = list[dict[str, Any]](), torch.zeros_like(whole)
    for owner, contributions in parts:
        count = int(extent.lengths[owner][request])
        for row, part in enumerate(contributions):
            own += part
            rows.append({"owner": owner, "row": row, "norm": float(part.norm())})
            yield 0.1 + 0.9 * len(rows) / (len(parts) * count)
    name = arguments["parameter"]
    told = {"parameter": name, "request": request, "update": update.number, "by": by, "rows": rows}
    norms = {"others": float((whole - own).norm()), "whole": float(whole.norm()), "recorded": dict(update.norms).get(name)}
    yield Result(told | norms)


def _asked(model: nn.Module, arguments: dict[str, Any], requests: int) -> tuple[Tensor, int]:
    parameters = dict(model.named_parameters())
    name, request = arguments.get("parameter"), arguments.get("request", 0)
    if not isinstance(name, str) or name not in parameters:
        allowed = f"the name of a parameter, such as {next(iter(parameters), 'none')}"
        raise Refused.one("arguments.parameter", name, allowed, f"parameter {name!r} is unknown; allowed: {allowed}")
    if not isinstance(request, int) or isinstance(request, bool) or not 0 <= request < requests:
        allowed = f"a whole number from 0 to {requests - 1}"
        raise Refused.one("arguments.request", request, allowed, f"request was given {request!r}; allowed: {allowed}")
    return parameters[name], request


def _told_apart(lesson: Lesson, widths: set[int]) -> Lesson:
    """The batch, its row axes padded to sizes that no other axis has: a shape says whose rows it holds. It changes nothing."""
    while lesson.inputs.values.shape[1] in widths:
        longer = _longer(lesson.inputs), F.pad(lesson.labels, (0, 1)), F.pad(lesson.loss_rows, (0, 1))
        lesson = replace(lesson, inputs=longer[0], labels=longer[1], loss_rows=longer[2])
    while lesson.source is not None and lesson.source.values.shape[1] in {*widths, lesson.inputs.values.shape[1]}:
        lesson = replace(lesson, source=_longer(lesson.source))
        if lesson.became is not None:  # labels and loss rows are those of the source
            lesson = replace(lesson, labels=F.pad(lesson.labels, (0, 1)), loss_rows=F.pad(lesson.loss_rows, (0, 1)))
    return lesson


def _longer(rows: Rows) -> Rows:
    """One more row of padding."""
    values = torch.cat((rows.values, rows.values.new_zeros(rows.values[:, :1].shape)), 1) if rows.values.shape[1] else rows.values
    return Rows(values, rows.lengths)


def _losses(model: nn.Module, scenario: Scenario, lesson: Lesson, update: int) -> tuple[Tensor, Tensor]:
    """Loss per row (as `Lesson.loss_rows`) and what is differentiated, with the graph."""
    size = len(lesson.labels)
    with torch.enable_grad(), norms.teaching(model):
        state = model.initial_state(size)  # type: ignore[operator]
        chances = given.training_chances(scenario, update, lesson.inputs.values.shape)
        inputs = Inputs(lesson.inputs, lesson.source, given.visibility(scenario), chances)
        outputs, _ = model(inputs, state, listening(model, scenario, [0] * size, None))
        each, loss = total_loss(outputs, lesson)
        return each, differentiated(outputs, lesson, each, loss)


def _gradient(of: Tensor, by: Tensor) -> Tensor:
    found = torch.autograd.grad(of, by, retain_graph=True, allow_unused=True)[0]
    return torch.zeros_like(by) if found is None else found


def _by_application(
    uses: Sequence[Use], parameter: Tensor, loss: Tensor, extent: Extent, request: int, whole: Tensor
) -> Iterator[tuple[str, Iterator[Tensor]]]:
    """For each owner, the parts of the rows of one request; nothing where the caught calls do not make up the gradient."""
    places = [use.row_axis(extent.sizes) for use in uses]
    if not uses or None in places:
        return
    arrived = torch.autograd.grad(loss, [u.output for u in uses], retain_graph=True, allow_unused=True)
    leaf = parameter.detach().requires_grad_()
    with torch.enable_grad():
        calls = [
            (place, use.again(parameter, leaf), gradient)
            for use, place, gradient in zip(uses, places, arrived, strict=True)
            if gradient is not None and place is not None
        ]
    total = sum((torch.autograd.grad(y, leaf, g, retain_graph=True)[0] for _, y, g in calls), torch.zeros_like(whole))
    if not bool((total - whole).norm() <= CLOSE * whole.norm()):
        return
    for owner in dict.fromkeys(place[0] for place, _, _ in calls):
        mine = [(place[1], y, g) for place, y, g in calls if place[0] == owner]
        yield owner, _parts(mine, leaf, request, int(extent.lengths[owner][request]))


def _parts(calls: Sequence[tuple[int, Tensor, Tensor]], leaf: Tensor, request: int, rows: int) -> Iterator[Tensor]:
    return (_part(calls, leaf, request, row) for row in range(rows))


def _part(calls: Sequence[tuple[int, Tensor, Tensor]], leaf: Tensor, request: int, row: int) -> Tensor:
    """What one row adds: each call differentiated with that row's gradient alone."""
    part = torch.zeros_like(leaf)
    for axis, y, gradient in calls:
        alone = torch.zeros_like(gradient)
        alone[request].select(axis - 1, row).copy_(gradient[request].select(axis - 1, row))
        part += torch.autograd.grad(y, leaf, alone, retain_graph=True)[0]
    return part


def _by_loss(losses: Tensor, lesson: Lesson, parameter: Tensor, request: int) -> Iterator[Tensor]:
    """The gradient of each row's own share of the mean loss."""
    count = lesson.loss_rows.sum().clamp(min=1)
    rows = int(lesson.rows.lengths[request]) if lesson.loss_rows.shape[1] > 1 else 1
    for row in range(rows):
        share = torch.where(lesson.loss_rows[request, row], losses[request, row], 0.0) / count
        yield _gradient(share, parameter)
