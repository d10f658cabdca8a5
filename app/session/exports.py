"""Files that are made for somebody to take away: one at a time, in slices, and kept for some minutes to be fetched."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
import time
import weakref
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, cast

import torch

from app.session.events import Problem, Refused

MOST_WAITING = 64
KEPT = 8
KEPT_FOR = 600.0  # seconds
CHUNK = 256 << 10
SLICE = 0.05  # seconds of work between two words on how far it is

Steps = Iterator[tuple[int, int]]
Make = Callable[[IO[bytes]], Steps]  # writes, and yields (done, of)


class File:
    """token: what `fetch` takes; size in bytes. Its content goes when nobody refers to it."""

    def __init__(self, content: IO[bytes]) -> None:
        content.flush()
        self.token, self.size = secrets.token_urlsafe(16), content.tell()
        self.until = time.monotonic() + KEPT_FOR
        self._descriptor = content.fileno()
        weakref.finalize(self, content.close)

    def chunks(self) -> Iterator[bytes]:
        """All of it; any number of readers at once."""
        for begin in range(0, self.size, CHUNK):
            yield os.pread(self._descriptor, CHUNK, begin)


Told = asyncio.Queue[tuple[int, int] | File | Exception]


class Exports:
    """See the module. Its methods are called on the loop's thread. The work has a thread of its own, so that no session waits for
    it, and one alone, so that it takes no more than one core."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "exports", torch.set_num_threads, (1,))
        self._turn = asyncio.Lock()
        self._making: dict[asyncio.Task[None], asyncio.Event] = {}
        self._files: OrderedDict[str, File] = OrderedDict()

    async def make(self, make: Make) -> AsyncGenerator[tuple[int, int] | File]:
        """Progress as (done, of), at last the file. Raises what `make` raises. To close it is to cancel."""
        if len(self._making) >= MOST_WAITING:
            message = f"{MOST_WAITING} files are being made for others; try again in a minute."
            raise Refused(Problem("file", "", f"at most {MOST_WAITING} at once", message))
        told: Told = asyncio.Queue()
        stop = asyncio.Event()
        task = asyncio.create_task(self._work(make, told, stop))
        self._making[task] = stop
        task.add_done_callback(self._making.pop)
        try:
            while not isinstance(found := await told.get(), File):
                if isinstance(found, Exception):
                    raise found
                yield found
            self._keep(found)
            yield found
        finally:
            stop.set()

    async def _work(self, make: Make, told: Told, stop: asyncio.Event) -> None:
        """In a task of its own: whoever waits may go at any time, a thread that writes may not be left."""
        content = tempfile.TemporaryFile()  # noqa: SIM115 (the file that is kept owns it)
        file = None
        try:
            async with self._turn:
                steps = make(content)
                while not stop.is_set() and (found := await self._thread(_slice, steps)) is not None:
                    told.put_nowait(found)
                if stop.is_set():
                    await self._thread(_end, steps)
                else:
                    file = File(content)
                    told.put_nowait(file)
        except Exception as error:
            told.put_nowait(error)
        finally:
            if file is None:
                content.close()

    async def _thread(self, work: Callable[[Steps], tuple[int, int] | None], steps: Steps) -> tuple[int, int] | None:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, steps)

    def _keep(self, file: File) -> None:
        self._tidy()
        while len(self._files) >= KEPT:
            self._files.popitem(last=False)
        self._files[file.token] = file

    def fetch(self, token: str) -> File | None:
        """The file of that token, while it is kept."""
        self._tidy()
        return self._files.get(token)

    def _tidy(self) -> None:
        for token in [t for t, file in self._files.items() if file.until < time.monotonic()]:
            del self._files[token]

    async def close(self) -> None:
        """What is being made ends at its next slice; nothing is kept."""
        for stop in self._making.values():
            stop.set()
        await asyncio.gather(*self._making)
        self._files.clear()
        self._pool.shutdown()


def _slice(steps: Steps) -> tuple[int, int] | None:
    """The newest progress after a slice of work; None at the end."""
    begun, newest = time.monotonic(), None
    for found in steps:
        newest = found
        if time.monotonic() - begun > SLICE:
            break
    return newest


def _end(steps: Steps) -> None:
    cast(Generator[tuple[int, int]], steps).close()
