"""What a further session costs the server, as its own pages say (PSS), averaged over several."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from app.session import weights
from app.session.commands import Selector
from app.session.scenario import Scenario
from bench import browser, servers
from bench.client import Client, client
from bench.report import Line
from bench.runs import scenario

SESSIONS = 12
ROWS, UPDATES = 56, 60  # at more rows the recording of a decoding session is dropped, and made again when it is asked for
MB = 1e6

Drive = Callable[[Client], Awaitable[None]]


def measure(sessions: int = SESSIONS) -> list[Line]:
    trained = scenario(ROWS // 2, weights="trained")
    training = scenario(12, "encoder_decoder", weights="trained", phase="train")
    parameters = sum(p.numel() for p in weights.build(training, "cpu")[0].parameters())
    allowed = 4 * parameters * 4 + 8 * MB
    shared, own, random = (
        _per_session(*it, sessions) for it in ((trained, _decode), (training, _train), (scenario(ROWS // 2), _decode))
    )
    return [
        Line(
            f"A further decoding session, T={ROWS} (PSS)",
            "≤ 2 MB",
            f"{shared / MB:.2f} MB; with random weights of the same seed {random / MB:.2f} MB",
            shared / MB / 2,
            1.0,
        ),
        Line(
            f"A further training session after {UPDATES} updates (PSS)",
            f"≤ 4 × {parameters:,} × 4 B + 8 MB = {allowed / MB:.1f} MB",
            f"{own / MB:.2f} MB",
            own / allowed,
            1.0,
        ),
    ]


def _per_session(scenario: Scenario, drive: Drive, sessions: int) -> float:
    with servers.lookback() as process:
        watch = browser.plain_watch(scenario.architecture)
        return asyncio.run(_grow(process.pid, scenario, watch, drive, sessions))


async def _grow(pid: int, scenario: Scenario, watch: tuple[Selector, ...], drive: Drive, sessions: int) -> float:
    """Bytes a session: as many sessions to warm up, then the growth over as many again. All stay connected."""
    async with AsyncExitStack() as stack:
        before = 0
        for _ in range(2):
            before = _pss(pid)
            for _ in range(sessions):
                one = await stack.enter_async_context(client())
                await one.begin(scenario, watch)
                await drive(one)
        return (_pss(pid) - before) / sessions


async def _decode(one: Client) -> None:
    """Up to `ROWS` rows, by choice, so that trained weights do not end the text."""
    for _ in range(ROWS - ROWS // 2):
        await one.send(kind="choose", request=0, token=7)


async def _train(one: Client) -> None:
    for _ in range(UPDATES):
        await one.step()


def _pss(pid: int) -> int:
    """Proportional set size after a garbage collection, bytes."""
    os.kill(pid, signal.SIGUSR1)
    time.sleep(1.5)
    found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024
