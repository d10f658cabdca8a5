"""What recording costs, and what a silent tap costs: CPU time of one forward, and of one decode step of the server."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import torch
from torch import nn

from app.server import wire
from app.session import weights
from app.session.commands import Open, Selector, Step
from app.session.engine import Engine
from bench import browser, servers, untapped
from bench.report import Line
from bench.runs import AROUND, model, prompt, scenario, silent
from models import Inputs
from models.parts.tap import OFF, Recorder, Tap
from models.tasks.objective import pad

ROWS = 64
TIMES = 400


def measure(times: int = TIMES) -> list[Line]:
    torch.set_num_threads(1)
    with servers.lookback():
        watch = browser.plain_watch()
    return [*_forward(times), *[_step(size, watch, times // 40) for size in (16, 64)]]


def cpu_ms(variants: Sequence[Callable[[], object]], times: int) -> list[float]:
    """Median CPU time of each, taken in turns; each turn begins with another, because one leaves its garbage to the next."""
    taken: list[list[float]] = [[] for _ in variants]
    for turn in range(times + 5):
        for place in range(len(variants)):
            which = (turn + place) % len(variants)
            began = time.process_time_ns()
            variants[which]()
            if turn >= 5:
                taken[which].append((time.process_time_ns() - began) / 1e6)
    return [statistics.median(own) for own in taken]


def _forward(times: int) -> list[Line]:
    """2 layers, d 64, 64 rows, one request."""
    tapped, inputs = model(), Inputs(pad([prompt(ROWS)]))
    bare = _untapped(tapped)
    state, empty = tapped.initial_state(1), bare.initial_state(1)  # type: ignore[operator]
    with torch.no_grad():
        same = torch.equal(tapped(inputs, state, OFF)[0].values, bare(inputs, empty)[0].values)
    if not same:
        raise RuntimeError("the copy without taps does not compute the same")

    def train(tap: Tap) -> None:
        tapped(inputs, state, tap)[0].values.square().mean().backward()

    with torch.no_grad():
        none, off, on = cpu_ms(
            [lambda: bare(inputs, empty), lambda: tapped(inputs, state, OFF), lambda: tapped(inputs, state, Recorder())], times
        )
    train_off, train_on = cpu_ms([lambda: train(OFF), lambda: train(Recorder(gradients=True))], times)
    trained = f"with backward and all gradients kept {train_on:.2f} to {train_off:.2f} ms: {train_on / train_off:.2f}"
    return [
        Line(
            "Forward, everything recorded, to silent (2L d64 T64)",
            "≤ 1.25",
            f"{on:.2f} to {off:.2f} ms CPU; {trained}",
            on / off,
            1.25,
        ),
        Line("Forward, silent, to a copy without taps", "≤ 1.05", f"{off:.3f} to {none:.3f} ms CPU", off / none, 1.05),
    ]


def _untapped(tapped: nn.Module) -> nn.Module:
    """The same model on the very same parameters (another copy would lie cold in the caches), without taps."""
    source = untapped.transformer()
    vocabulary = tapped.decoder.embedding.token.num_embeddings  # type: ignore[union-attr]
    bare: nn.Module = source.DecoderOnly(source.DecoderOnlyConfig(), vocabulary)
    for name, parameter in bare.named_parameters():
        parameter.data = tapped.get_parameter(name).data
    return bare.eval()


def _step(size: int, watch: tuple[Selector, ...], rounds: int) -> Line:
    """Engine and encoding of decode steps around `size` rows, beside the model's own forward on the same rows."""
    whole: list[float] = []
    own: list[float] = []
    own_model = weights.build(scenario(2), "cpu")[0]
    for turn in range(rounds + 1):
        engine = Engine(torch.device("cpu"))
        list(engine.run(Open(scenario=scenario(size - AROUND - 1).model_dump(mode="json")), watch))
        for _ in range(2 * AROUND + 1):
            reading = engine.standing.reading
            assert reading is not None and reading.logits is not None
            inputs, state = Inputs(pad([[int(reading.logits[0].argmax())]])), reading.state
            began = time.process_time_ns()
            frames = [wire.encode(event, "session", 1, 1) for event in engine.run(Step(), watch)]
            between = time.process_time_ns()
            silent(own_model, inputs, state)
            if turn:
                whole.append((between - began) / 1e6)
                own.append((time.process_time_ns() - between) / 1e6)
            assert len(frames) >= 3  # moved, values, checked, and a notice where the text ends
    step, forward = statistics.median(whole), statistics.median(own)
    what = f"Server CPU of a decode step beyond the model's forward, to that forward, T={size}"
    return Line(what, "≤ 4", f"{step:.2f} ms in all, forward {forward:.2f} ms", (step - forward) / forward, 4.0)
