"""What could harm a class: nonsense, what is somebody else's, floods, guesses, too many, and names that are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from app.server import class_socket
from tests.server.attending import run, school, seat, student, teacher
from tests.server.serving import closing, served


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with served(tmp_path_factory.mktemp("data"), LOOKBACK_CLASSES="40") as found:
        yield found


BAD: list[tuple[str, str]] = [
    ("", "message"),
    ("nonsense", "message"),
    ("[]", "message"),
    ("5", "message"),
    ("[" * 4000, "message"),
    ('{"kind": "join", "code": "A", "name": NaN}', "name"),
    ("{}", "kind"),
    ('{"kind": "stand"}', "kind"),
    ('{"kind": ["join"]}', "kind"),
    ('{"kind": "join"}', "code"),
    ('{"kind": "join", "code": "KQ7-42V", "name": ""}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": " \\u3164\\u200b "}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "\\u202eeve"}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "\\ud800"}', "message"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "' + "x" * 25 + '"}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "Z' + "\\u0301" * 20 + '"}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "Ann", "role": "teacher"}', "role"),
    ('{"kind": "open", "session": "nobody"}', "session"),
    ('{"kind": "open", "session": "nobody", "code": "KQ7-42V"}', "session"),
    ('{"kind": "vote", "option": 0}', "kind"),
    ('{"kind": "end"}', "kind"),
]


async def test_nonsense_is_answered_and_the_socket_goes_on(port: int) -> None:
    async with school(port) as (one, _ann, _ben, _stage), seat(port) as stranger:
        for text, field in BAD:
            await stranger.socket.send(text)
            errors = (await stranger.until("refused"))["errors"]
            assert errors[0]["field"] == field and errors[0]["message"], text
        await stranger.say("ping", n=7)
        assert await stranger.until("pong") == {"kind": "pong", "n": 7}
        await stranger.say("join", code=one.first["code"], name="Cleo")
        await stranger.until("joined")
        await one.until("class", following=3)


async def test_nobody_does_what_is_somebody_elses(port: int) -> None:
    async with school(port) as (one, ann, _ben, _stage):
        theirs: dict[str, dict[str, Any]] = {
            "poll": {"question": "?", "options": ["a", "b"]},
            "show": {"shown": True},
            "call": {},
            "end": {},
            "open": {"session": one.first["session"]},
            "join": {"code": one.first["code"], "name": "Ann"},
        }
        for kind, fields in theirs.items():
            assert (await ann.refused(kind, **fields))["field"] == "kind", kind
        for kind in ("vote", "leave"):
            assert (await one.refused(kind, **({"option": 0} if kind == "vote" else {})))["field"] == "kind"
        assert (await ann.refused("vote", option=0))["field"] == "kind"  # nothing was asked
        assert (await one.refused("close"))["field"] == "kind"
        await one.say("poll", question="?", options=["a", "b"])
        await ann.poll(open=True)
        assert (await ann.refused("vote", option=2))["field"] == "option"
        await one.say("close")
        await ann.poll(open=False)
        assert (await ann.refused("vote", option=0))["field"] == "option"


@pytest.mark.parametrize(
    "message, code",
    [
        (b"{}", 1003),
        ('{"kind": "ping"}' + " " * 4096, 1009),
        ("ü" * 2100, 1009),
        ("x" * 70_000, 1009),
    ],
    ids=["binary", "too long", "too many bytes", "far too long"],
)
async def test_what_is_no_text_or_too_long_is_closed_and_the_class_goes_on(port: int, message: Any, code: int) -> None:
    async with school(port) as (one, ann, _ben, _stage):
        found, _ = await closing(port, path="/ws/class", send=message)
        assert found == code
        await one.say("where", phase="train", step=1)
        assert (await ann.until("class"))["kind"] == "class"


async def test_wrong_codes_are_limited_by_how_many_different_ones(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        async with run(port) as (_, session), teacher(port, session) as one, seat(port) as guesser:
            first, *others = [f"{a}22{b}22" for a in "CDFGHJ" for b in "CDFGHJ"]
            for code in (first, *others[:29]):
                assert "There is no class" in (await guesser.refused("join", code=code, name="Eve"))["message"]
            limited = await guesser.refused("join", code=others[29], name="Eve")
            assert limited["field"] == "code" and "try again in" in limited["message"]
            assert "try again in" in (await guesser.refused("join", code=one.first["code"], name="Eve"))["message"]
            assert "There is no class" in (await guesser.refused("join", code=first, name="Eve"))["message"]


async def test_who_says_nothing_is_closed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_socket, "TIME_TO_SAY", 0.05)
    code, reason = await closing(port, path="/ws/class")
    assert code == 4400 and "neither open nor join" in reason


async def test_a_class_takes_sixty_people_and_a_server_so_many_classes(tmp_path: Path) -> None:
    with served(tmp_path, LOOKBACK_CLASSES="1") as port:
        async with run(port) as (_, session), teacher(port, session) as one, AsyncExitStack() as stack:
            for _ in range(60):
                await stack.enter_async_context(student(port, one.first["code"], "Ann"))
            people = (await one.until("class", following=60))["people"]
            assert [p["name"] for p in people] == ["Ann", *(f"Ann {n}" for n in range(2, 61))]
            async with seat(port) as late:
                assert "full" in (await late.refused("join", code=one.first["code"], name="Late"))["message"]
                async with run(port) as (_, second):
                    assert "LOOKBACK_CLASSES" in (await late.refused("open", session=second))["message"]


async def test_a_flood_is_read_slowly_and_hurts_nobody(port: int) -> None:
    async with school(port) as (one, ann, ben, _stage):
        for n in range(200):
            await ben.say("where", phase="decode", step=n)
        await one.say("where", phase="train", step=7)
        told = await ann.until("class", teacher={"here": True, "where": {"phase": "train", "step": 7, "label": ""}})
        assert told["kind"] == "class"
        people = (await one.until("class"))["people"]
        assert people[1]["where"]["step"] < 199


def test_who_does_not_read_is_sent_away_and_keeps_nothing_waiting() -> None:
    place = class_socket.Place()
    for n in range(class_socket.MOST_UNSENT):
        place.say({"kind": "pong", "n": n})
    assert (place.closing, len(place.waiting)) == (None, 64)
    place.say({"kind": "pong", "n": 64})
    place.close(4409, "replaced")
    assert place.closing and place.closing[0] == 1013 and not place.waiting


async def test_a_class_is_told_at_most_five_times_a_second(port: int) -> None:
    async with school(port) as (one, ann, _ben, _stage):
        before = len(ann.heard)
        for n in range(30):
            await one.say("where", phase="decode", step=n)
            await asyncio.sleep(0.01)
        while ann.heard[-1]["kind"] != "class" or (ann.heard[-1]["teacher"]["where"] or {}).get("step") != 29:
            await ann.hear()
        assert len(ann.heard) - before <= 5


async def test_names_are_written_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    secret = "Zyxwvut Nobody"
    with served(tmp_path) as port:
        async with run(port) as (stage, session), teacher(port, session) as one, student(port, one.first["code"], secret) as ann:
            await one.say("poll", question="Qqwerty?", options=["a", "b"])
            await ann.poll(open=True)
            await ann.say("where", own=True, phase="decode", step=1, label="Asdfgh")
            await ann.refused("vote", option=9)
            await stage.do(kind="step")
            await ann.socket.send(secret * 400)
    said = " ".join(r.getMessage() for r in caplog.records if not r.name.startswith("websockets"))
    kept = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert len(kept) > 1000
    for text in (secret, "Qqwerty", "Asdfgh", one.first["code"], one.first["key"]):
        assert text.encode() not in kept and text not in said
