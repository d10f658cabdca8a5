"""Files are made in slices, a few at a time, can be cancelled, and go after a while."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from typing import IO, Any

import pytest

from app.session import exports as module
from app.session.events import Problem, Refused
from app.session.exports import Exports, File


@pytest.fixture
async def exports() -> AsyncIterator[Exports]:
    made = Exports()
    yield made
    await made.close()


def counting(to: int, fails_at: int = -1, ended: list[str] | None = None) -> Any:
    def make(out: IO[bytes]) -> Iterator[tuple[int, int]]:
        try:
            for i in range(to):
                if i == fails_at:
                    raise Refused(Problem("file", i, "", "too large"))
                out.write(bytes([i]))
                yield i + 1, to
                time.sleep(0.03)
        finally:
            if ended is not None:
                ended.append("ended")

    return make


async def test_progress_comes_and_then_the_file(exports: Exports) -> None:
    found = [one async for one in exports.make(counting(5))]
    *progress, file = found
    assert progress and progress[-1] == (5, 5)
    assert isinstance(file, File) and exports.fetch(file.token) is file
    assert b"".join(file.chunks()) == b"".join(file.chunks()) == bytes(range(5))
    assert exports.fetch("another") is None


async def test_a_refusal_is_passed_on_and_leaves_nothing(exports: Exports) -> None:
    with pytest.raises(Refused, match="too large"):
        async for _ in exports.make(counting(5, fails_at=2)):
            pass


async def test_to_close_it_is_to_cancel(exports: Exports) -> None:
    ended: list[str] = []
    making = exports.make(counting(1000, ended=ended))
    assert await anext(making)
    await making.aclose()
    while not ended:
        await asyncio.sleep(0.01)
    assert len([one async for one in exports.make(counting(1))]) == 2


async def test_only_so_many_wait(exports: Exports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    making = exports.make(counting(1000))
    await anext(making)
    with pytest.raises(Refused, match="made for others"):
        await anext(exports.make(counting(1)))
    await making.aclose()


async def test_files_go_when_there_are_many_or_after_a_while(exports: Exports, monkeypatch: pytest.MonkeyPatch) -> None:
    async def made() -> str:
        *_, file = [one async for one in exports.make(counting(1))]
        assert isinstance(file, File)
        return file.token

    monkeypatch.setattr(module, "KEPT", 2)
    tokens = [await made() for _ in range(3)]
    assert [exports.fetch(t) is None for t in tokens] == [True, False, False]
    monkeypatch.setattr(module, "KEPT_FOR", -1.0)
    late = await made()
    gc.collect()
    assert exports.fetch(late) is None
