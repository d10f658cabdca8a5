"""What one connection has still to hear: order, credit, merging, bounds."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from app.session.events import Event, Reply, Values
from app.session.line import LARGEST_KEPT, Line
from app.session.outbox import LARGEST_HELD, LARGEST_QUEUE, MOST_HELD, Outbox, merge
from app.session.shown import Array, Piece
from tests.session.pages import known


def outbox() -> tuple[Outbox, list[Any]]:
    """An outbox whose frames are the place of their event in the list."""
    said: list[Any] = []

    def frame(event: Event, epoch: int, seq: int) -> bytes:
        said.append(event)
        return f"{len(said) - 1} {epoch} {seq}".encode()

    return Outbox(frame), said


def row(number: int, start: int, rows: int = 1, selector: int = 0, path: str = "a", width: int = 1) -> Piece:
    array = Array("U8", (rows, width), bytes([number % 256]) * rows * width, 0.0, 255.0)
    return Piece(selector, path, "value", ("t", "d"), {"t": start} if start else {}, array)


def values(*pieces: Piece, at: int = 0, keyframe: bool = False) -> Values:
    return Values(at, keyframe, pieces)


async def waiting(box: Outbox) -> list[bytes]:
    """All frames that can be taken now."""
    found: list[bytes] = []
    while True:
        try:
            frame = await asyncio.wait_for(box.next(), 0.01)
        except TimeoutError:
            return found
        if frame is None:
            return [*found, b"closed"]
        found.append(frame)


async def test_frames_come_in_order_and_own_ones_carry_the_last_reliable_number() -> None:
    box, _ = outbox()
    box.say(Reply(1, True), 3)
    box.put(b"reliable", 7)
    box.offer(values(row(1, 0)), 3)
    box.say(Reply(2, True), 3)
    assert await waiting(box) == [b"0 3 0", b"reliable", b"1 3 7", b"2 3 7"]


async def test_two_values_frames_are_on_their_way_and_an_ack_frees_all_up_to_it() -> None:
    box, said = outbox()
    for seq in range(1, 6):
        box.put(b"", seq)
        box.offer(values(row(seq, seq)), 0)
    assert len(said) == 2
    assert not box.ack(1)
    assert len(said) == 3 and [p.start["t"] for p in said[2].pieces] == [3, 4, 5]
    box.ack(10)
    box.offer(values(row(6, 6)), 0)
    assert len(said) == 4


async def test_a_keyframe_replaces_what_is_held() -> None:
    box, said = outbox()
    for number in range(4):
        box.offer(values(row(number, number)), 0)
    box.offer(values(row(9, 0, 5), keyframe=True), 0)
    box.ack(0)
    assert said[-1] == values(row(9, 0, 5), keyframe=True)


async def test_values_of_two_epochs_are_never_merged() -> None:
    box, said = outbox()
    for number in range(3):
        box.offer(values(row(number, number)), 0)
    box.offer(values(row(3, 3)), 1)
    assert box.ack(0), "a keyframe is owed"
    assert not box.ack(0), "and is asked for once"
    assert len(said) == 2
    box.offer(values(row(4, 4)), 1)
    assert len(said) == 2, "no delta before the keyframe"
    box.offer(values(row(9, 0, 5), keyframe=True), 1)
    assert len(said) == 3 and not box.ack(0)


async def test_a_reader_that_takes_nothing_is_closed_at_a_bound_and_wakes_up_with_the_reason() -> None:
    box, _ = outbox()
    closed = asyncio.create_task(box.closed())
    for seq in range(1, 2000):
        box.put(bytes(1 << 16), seq)
    await asyncio.wait_for(closed, 1)
    assert box.closing is not None and box.closing[0] == 1013
    assert await waiting(box) == [b"closed"]
    assert LARGEST_QUEUE < 2000 << 16


def test_merged_values_say_what_the_single_ones_say() -> None:
    dice = random.Random(3)
    for _ in range(50):
        frames = [values(row(0, 0, dice.randint(0, 3)), keyframe=dice.random() < 0.5)]
        for number in range(1, dice.randint(2, 12)):
            pieces = [
                row(number, dice.randint(0, 6), dice.randint(1, 3), selector=dice.randint(0, 1))
                for _ in range(dice.randint(0, 3))
            ]
            frames.append(values(*pieces, at=number))
        before = [values(row(99, 0, 9), row(98, 0, 9, selector=1), keyframe=True)]
        merged = frames[0]
        for frame in frames[1:]:
            merged = merge(merged, frame) or merged
        assert merged.at == frames[-1].at
        assert known([*before, merged]) == known([*before, *frames])


def test_what_a_newer_piece_covers_is_left_out() -> None:
    merged = merge(values(row(1, 3), row(2, 4)), values(row(3, 3, 2)))
    assert merged is not None and [p.array.data for p in merged.pieces] == [bytes([3, 3])]


def test_merging_ends_at_a_bound() -> None:
    large = values(row(1, 0, width=LARGEST_HELD))
    assert merge(large, values(row(2, 1))) is None
    many = values(*(row(i, i) for i in range(MOST_HELD)))
    assert merge(many, values(row(1, MOST_HELD))) is None


def test_the_line_gives_what_came_after_or_says_that_it_cannot() -> None:
    line = Line(first=100)
    assert line.after(100) == [] and Line().after(0) is None
    for i in range(3):
        line.add(bytes([i]))
    assert line.after(101) == [(102, b"\1"), (103, b"\2")]
    assert line.after(103) == []
    assert line.after(104) is None and line.after(99) is None
    line.add(bytes(LARGEST_KEPT))
    assert line.after(102) is None and line.after(103) == [(104, bytes(LARGEST_KEPT))]
