"""Forty people step once a second for twenty seconds: one server process, beside an ordinary Dash app under the same load."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from app.session.commands import Selector
from bench import browser, servers
from bench.client import client
from bench.report import Line, p50_p95, percentile
from bench.runs import scenario

CLIENTS, SECONDS = 40, 20
FIRST = 12  # rows when the load begins

Step = Callable[[], Awaitable[float]]


def measure(clients: int = CLIENTS, seconds: int = SECONDS) -> list[Line]:
    with servers.lookback() as process:
        watch = browser.plain_watch()
        ours, cpu = asyncio.run(_lookback(process.pid, watch, clients, seconds))
    with servers.dash() as process:
        dash, dash_cpu = asyncio.run(_dash(process.pid, clients, seconds))
    wanted = clients * seconds
    our_95, dash_95 = percentile(ours, 95), percentile(dash, 95)
    load = f"{clients} clients, a step a second for {seconds} s"
    both = f"{p50_p95(ours)}; Dash {p50_p95(dash)}; server CPU a step {cpu:.1f} and {dash_cpu:.1f} ms"
    return [
        Line(f"{load}: steps not served", "0", f"{len(ours)} of {wanted} served (Dash {len(dash)})", wanted - len(ours), 0.0),
        Line(f"{load}: p95 to a Dash app's", "≤ 1/10", both, our_95 / dash_95, 0.1),
    ]


async def _drive(pid: int, steps: list[Step], seconds: int) -> tuple[list[float], float]:
    """Each client steps at its own moment of every second, or once the step before is done. Times, and server CPU a step; ms."""
    begin, cpu = time.perf_counter(), cpu_seconds(pid)

    async def one(number: int, step: Step) -> list[float]:
        times = []
        for second in range(seconds):
            await asyncio.sleep(max(0.0, begin + second + number / len(steps) - time.perf_counter()))
            due = min(time.perf_counter(), begin + second + number / len(steps))
            await step()
            times.append((time.perf_counter() - due) * 1e3)
        return times

    times = [t for own in await asyncio.gather(*(one(i, s) for i, s in enumerate(steps))) for t in own]
    return times, (cpu_seconds(pid) - cpu) / len(times) * 1e3


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _lookback(pid: int, watch: tuple[Selector, ...], clients: int, seconds: int) -> tuple[list[float], float]:
    async with AsyncExitStack() as stack:
        all_clients = [await stack.enter_async_context(client()) for _ in range(clients)]
        for one in all_clients:
            await one.begin(scenario(FIRST), watch)
        return await _drive(pid, [one.step for one in all_clients], seconds)


async def _dash(pid: int, clients: int, seconds: int) -> tuple[list[float], float]:
    visitors = [Visitor() for _ in range(clients)]
    for visitor in visitors:
        await visitor.post("reset")
    return await _drive(pid, [visitor.step for visitor in visitors], seconds)


class Visitor:
    """A browser's part of the Dash app: it posts what a click on Step posts, over one connection."""

    def __init__(self) -> None:
        self._clicks = 0
        self._run: str | None = None
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def step(self) -> float:
        began = time.perf_counter()
        await self.post("step")
        return (time.perf_counter() - began) * 1e3

    async def post(self, button: str) -> None:
        self._clicks += 1
        body = self._body(button)
        head = "POST /_dash-update-component HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        answer = json.loads(await self._exchange(head.encode() + body))
        self._run = answer["response"]["run"]["data"]
        assert len(answer["response"]["maps"]["figure"]["data"]) == 8

    def _body(self, button: str) -> bytes:
        outputs = [{"id": "maps", "property": "figure"}, {"id": "run", "property": "data"}]
        inputs = [{"id": b, "property": "n_clicks", "value": self._clicks if b == button else None} for b in ("step", "reset")]
        state = [{"id": "rows", "property": "value", "value": FIRST}, {"id": "run", "property": "data", "value": self._run}]
        body: dict[str, Any] = {"output": "..maps.figure...run.data..", "outputs": outputs, "inputs": inputs, "state": state}
        return json.dumps({**body, "changedPropIds": [f"{button}.n_clicks"]}).encode()

    async def _exchange(self, request: bytes) -> bytes:
        """One HTTP exchange; the server closes the connection after it, or keeps it."""
        if self._connection is None:
            self._connection = await asyncio.open_connection("127.0.0.1", servers.DASH)
        reader, writer = self._connection
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if not head.startswith("http/1.1 200"):
            raise RuntimeError(f"the Dash app answered {head.splitlines()[0]}")
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        answer = await reader.readexactly(int(fields["content-length"]))
        if fields.get("connection") == "close":
            writer.close()
            self._connection = None
        return answer
