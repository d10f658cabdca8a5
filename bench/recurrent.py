"""The recurrent and convolutional families: what recording a training step costs, and our cells beside torch.nn's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from app.session import weights
from app.session.fit import loss_of
from app.session.scenario import defaults
from app.session.training import clip, draw, make_optimizer
from bench.recording import cpu_ms
from bench.report import Line
from models.catalogue import architectures, tasks
from models.parts.cells import CellKind, Recurrence
from models.parts.tap import OFF, Recorder, Tap

FAMILIES = ("Recurrent", "Recurrent with attention", "Convolution")
BATCH, ROWS, WIDTH = 32, 32, 64
TIMES = 30


def measure(times: int = TIMES) -> list[Line]:
    torch.set_num_threads(1)
    steps = [_recorded(spec.id, times) for spec in architectures().values() if spec.family in FAMILIES]
    return [*_cells(times), *steps]


def _cells(times: int) -> list[Line]:
    """Rows of one batch through one layer, forward and with the backward pass, gates and states tapped in silence."""
    made = torch.Generator().manual_seed(7)
    x, valid = torch.randn(BATCH, ROWS, WIDTH, generator=made), torch.ones(BATCH, ROWS, dtype=torch.bool)
    lines = []
    for kind in ("lstm", "gru"):
        loop = _plain(nn.LSTMCell(WIDTH, WIDTH) if kind == "lstm" else nn.GRUCell(WIDTH, WIDTH), x)
        ours = _ours(Recurrence(CellKind(kind, "carries", "after"), WIDTH, WIDTH, 1, "t"), x, valid)
        with torch.no_grad():
            theirs, own = cpu_ms([loop, ours], times * 4)
        back, own_back = cpu_ms([partial(_backward, loop), partial(_backward, ours)], times)
        what = f"{kind.upper()} over {ROWS} rows, {BATCH} requests, to a plain loop of torch.nn.{kind.upper()}Cell"
        measured = f"{own:.2f} to {theirs:.2f} ms CPU; with backward {own_back:.2f} to {back:.2f} ms: {own_back / back:.2f}"
        lines.append(Line(what, "≤ 1.3", measured, own / theirs, 1.3))
    return lines


def _backward(form: Callable[[], Tensor]) -> None:
    form().sum().backward()


def _plain(cell: nn.LSTMCell | nn.GRUCell, x: Tensor) -> Callable[[], Tensor]:
    def run() -> Tensor:
        h = c = x.new_zeros(len(x), WIDTH)
        rows = []
        for t in range(x.shape[1]):
            if isinstance(cell, nn.LSTMCell):
                h, c = cell(x[:, t], (h, c))
            else:
                h = cell(x[:, t], h)
            rows.append(h)
        return torch.stack(rows, 1)

    return run


def _ours(recurrence: Recurrence, x: Tensor, valid: Tensor) -> Callable[[], Tensor]:
    return lambda: recurrence(x, valid, recurrence.initial(len(x), x), OFF)[0]


def _recorded(architecture: str, times: int) -> Line:
    """A whole update: forward, loss, backward, clip, optimizer; with every tape and gradient kept, and without."""
    scenario = defaults(architecture, weights="random")
    task = tasks()[scenario.task]
    model, _ = weights.build(scenario, "cpu")
    parameters = list(model.parameters())
    for parameter in parameters:
        parameter.data = parameter.data.clone()
    optimizer, examples = make_optimizer(scenario.training, parameters), draw(task, 7, 0, BATCH)

    def update(tap: Tap) -> None:
        loss = loss_of(model, task, examples, None, tap)
        optimizer.zero_grad()
        loss.backward()
        if isinstance(tap, Recorder):
            len(tap.tape.gradients)  # those of loops are put together when they are asked for
        clip(parameters, scenario.training.clip_norm)
        optimizer.step()

    silent, recorded = cpu_ms([lambda: update(OFF), lambda: update(Recorder(gradients=True))], times)
    what = f"{architecture}: a training step with everything recorded ({scenario.task}, {BATCH} sequences), to a silent one"
    return Line(what, "≤ 1.3", f"{recorded:.1f} to {silent:.1f} ms CPU", recorded / silent, 1.3)
