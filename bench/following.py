"""A class of forty: from a step of the teacher to the last follower who has it, from a word of his to the last who heard it."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from contextlib import AsyncExitStack
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from app.session.commands import Selector
from bench import browser, servers
from bench.client import Client, client
from bench.load import cpu_seconds
from bench.report import Line, p50_p95, percentile
from bench.runs import scenario

FOLLOWERS, STEPS = 40, 40
FIRST = 12  # rows when it begins


def measure(followers: int = FOLLOWERS, steps: int = STEPS) -> list[Line]:
    with servers.lookback() as process:
        found = asyncio.run(_lesson(process.pid, browser.plain_watch(), followers, steps))
    ratio = percentile(found["last"], 50) / percentile(found["alone"], 50)
    each = f"server CPU a step {found['cpu']:.1f} ms (alone {found['cpu_alone']:.1f}), {found['bytes'] / 1e3:.1f} kB a follower"
    words = f"a word of the teacher to the last {p50_p95(found['words'])}"
    measured = f"{p50_p95(found['last'])}; the teacher alone {p50_p95(found['alone'])}; {each}; {words}"
    what = f"A teacher's step until the last of {followers} followers has it, to the same step without followers"
    return [Line(what, "≤ 4", measured, ratio, 4.0)]


async def _lesson(pid: int, watch: tuple[Selector, ...], followers: int, steps: int) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(client("client=teacher"))
        await teacher.begin(scenario(FIRST), watch)
        cpu = cpu_seconds(pid)
        alone = [await teacher.step() for _ in range(steps)]
        found: dict[str, Any] = {"alone": alone, "cpu_alone": (cpu_seconds(pid) - cpu) / steps * 1e3}
        await teacher.send(kind="reset")
        desk, session, code = await _open(stack, teacher)
        readers = [await _reader(stack, session, watch) for _ in range(followers)]
        students = [await _student(stack, code, n) for n in range(followers)]
        cpu = cpu_seconds(pid)
        both = [await _step(teacher, readers) for _ in range(steps)]
        found |= {"cpu": (cpu_seconds(pid) - cpu) / steps * 1e3, "last": [t for t, _ in both]}
        found["bytes"] = statistics.mean(b for _, b in both)
        return found | {"words": [await _word(desk, students, n) for n in range(1, 1 + steps // 4)]}


async def _open(stack: AsyncExitStack, teacher: Client) -> tuple[ClientConnection, str, str]:
    """The teacher's socket of the class, the name of its session, its code."""
    desk = await stack.enter_async_context(_class_socket())
    await desk.send(json.dumps({"kind": "open", "session": teacher.session}))
    room = json.loads(await desk.recv())
    return desk, room["session"], room["code"]


def _class_socket() -> connect:
    return connect(f"ws://127.0.0.1:{servers.LOOKBACK}/ws/class", compression=None)


async def _reader(stack: AsyncExitStack, session: str, watch: tuple[Selector, ...]) -> Client:
    reader = await stack.enter_async_context(client(f"session={session}&role=reader"))
    await reader.watch(watch)
    return reader


async def _student(stack: AsyncExitStack, code: str, number: int) -> ClientConnection:
    student = await stack.enter_async_context(_class_socket())
    await student.send(json.dumps({"kind": "join", "code": code, "name": f"Student {number}"}))
    return student


async def _step(teacher: Client, readers: list[Client]) -> tuple[float, float]:
    """Milliseconds until the last follower has the values of a step, and bytes that one of them got."""
    began = time.perf_counter()
    _, *counts = await asyncio.gather(teacher.step(), *(reader.follow() for reader in readers))
    return (time.perf_counter() - began) * 1e3, statistics.mean(counts)


async def _word(desk: ClientConnection, students: list[ClientConnection], number: int) -> float:
    """Milliseconds until the last student knows where the teacher says that he is; a class has rested before."""

    async def heard(student: ClientConnection) -> None:
        where: dict[str, Any] = {}
        while where.get("step") != number:
            message = json.loads(await student.recv())
            where = (message["kind"] == "class" and message["teacher"]["where"]) or {}

    await asyncio.sleep(0.5)
    began = time.perf_counter()
    await desk.send(json.dumps({"kind": "where", "phase": "decode", "step": number}))
    await asyncio.gather(*(heard(student) for student in students))
    return (time.perf_counter() - began) * 1e3
