"""In which order the jobs of a session are done."""

from __future__ import annotations

from app.session.turns import Job, Turns


def job() -> Job:
    async def done() -> None: ...

    return done


def order(turns: Turns) -> list[Job]:
    found = []
    while turns:
        found.append(turns.next())
    return found


def test_readers_take_turns_and_the_writer_comes_before_them() -> None:
    turns = Turns()
    a, b, c, d, e, f = (job() for _ in range(6))
    for one, reader in ((a, "greedy"), (b, "greedy"), (c, "greedy"), (d, "other"), (e, None), (f, None)):
        turns.add(one, reader)
    assert turns.pressing and order(turns) == [e, f, a, d, b, c]
    assert not turns.pressing


def test_what_one_reader_asks_keeps_its_order_and_he_is_known_as_long_as_he_waits() -> None:
    turns = Turns()
    a, b, c = (job() for _ in range(3))
    turns.add(a, "reader")
    turns.add(b, "reader")
    assert turns.next() is a and turns.waits("reader")
    turns.add(c, "reader")
    assert order(turns) == [b, c] and not turns.waits("reader")
