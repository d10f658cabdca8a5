"""What survives: durable before it is answered, snapshots, a disk that fails, a process that is killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from app.session import journal, record
from app.session.commands import Back, Change, Choose, Command, Enter, Open, Play, Selector, Step, Watch
from app.session.engine import Engine
from app.session.events import Moved, Notice, Playing, Welcome
from app.session.journal import NOTHING, Journal, Saved
from app.session.lobby import Lobby
from app.session.runner import rebuild
from app.session.session import Session
from tests.session.driving import scenario
from tests.session.pages import Page, services


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    """What another process would see now."""
    with sqlite3.connect(path) as db:
        found = db.execute(query).fetchall()
    db.close()
    return found


async def test_a_command_is_on_disk_when_its_answer_comes(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    async with services(path) as given:
        page = Page(made := Session("s" * 22, given))
        some: list[Command] = [Open(scenario={}), Step(), Back(), Change(fields={"seed": 2})]
        for n, command in enumerate(some, 1):
            await page.done(command)
            assert rows(path, "SELECT n, seq, command FROM commands ORDER BY n DESC LIMIT 1") == [
                (n, n, command.model_dump_json())
            ]
        await page.done(Watch(selectors=(Selector(path="*"),)))
        assert rows(path, "SELECT count(*) FROM commands") == [(4,)]
        await made.close()


async def test_an_open_begins_anew_and_a_refused_command_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    async with services(path) as given:
        page = Page(made := Session("s" * 22, given))
        some: list[Command] = [Open(scenario={}), Step(), Step(), Open(scenario={"ends_at": 1}), Step()]
        for command in some:
            await page.done(command)
        assert not (await page.ask(Step())).ok
        assert rows(path, "SELECT n FROM commands ORDER BY n") == [(4,), (5,)]
        await made.close()


async def test_steps_of_playing_are_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    async with services(path) as given:
        page = Page(made := Session("s" * 22, given))
        await page.done(Open(scenario={"ends_at": 4}))
        await page.done(Play(rate=60))
        while (await page.until(Playing)).playing:
            pass
        assert rows(path, "SELECT count(*) FROM commands") == [(5,)]
        await made.close()


async def test_snapshots_take_the_place_of_commands_but_not_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    async with services(path) as given:
        page = Page(made := Session("s" * 22, given))
        await page.done(Open(scenario={}))
        for _ in range(5):
            await page.done(Step())
        assert rows(path, "SELECT upto FROM sessions") == [(0,)], "not yet 10 seconds"
        monkeypatch.setattr(record, "SAVE_EVERY", 0.0)
        await page.done(Step())
        await page.done(Watch(selectors=()))
        assert rows(path, "SELECT upto, (SELECT count(*) FROM commands) FROM sessions") == [(7, 0)]
        monkeypatch.undo()
        await page.done(Step())
        assert rows(path, "SELECT upto, (SELECT count(*) FROM commands) FROM sessions") == [(7, 1)]
        await made.close()
        assert rows(path, "SELECT upto, (SELECT count(*) FROM commands) FROM sessions") == [(8, 0)]
        saved = await given.journal.load("s" * 22)
        assert saved is not None and (saved.n, saved.commands, saved.life, saved.answered) == (8, (), 1, {"page": 9})


async def test_a_disk_that_takes_nothing_is_told_once_and_caught_up_with_a_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    async with services(path) as given:
        page = Page(made := Session("s" * 22, given))
        await page.done(Open(scenario={}))
        with sqlite3.connect(path) as db:
            db.execute("CREATE TRIGGER full BEFORE INSERT ON commands BEGIN SELECT RAISE(ABORT, 'no space left'); END")
            db.execute("CREATE TRIGGER full2 BEFORE UPDATE ON sessions BEGIN SELECT RAISE(ABORT, 'no space left'); END")
        for _ in range(3):
            await page.done(Step())
        assert [(n.code, "no space left" in n.message) for n in page.heard(Notice)] == [("not_saved", True)]
        with sqlite3.connect(path) as db:
            db.execute("DROP TRIGGER full")
            db.execute("DROP TRIGGER full2")
        db.close()
        await page.done(Step())
        await page.done(Step())
        saved = await given.journal.load("s" * 22)
        assert saved is not None and (saved.n, len(saved.commands)) == (6, 1)
        engine = rebuild(given, saved)
        assert engine is not None and engine.digest() == made._worker.runner.engine.digest()  # type: ignore[union-attr]
        await made.close()


async def test_a_run_that_fails_and_cannot_be_made_anew_is_lost_but_its_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    loads: list[str] = []
    load = Journal.load

    async def counted(self: Journal, session: str) -> Saved | None:
        loads.append(session)
        return await load(self, session)

    monkeypatch.setattr(Journal, "load", counted)
    async with services(path) as given:
        page = Page(made := Session("s" * 22, given))
        await page.done(Open(scenario={"crashes_at": 2}))
        await page.done(Step())
        with sqlite3.connect(path) as db:
            db.execute("UPDATE commands SET command = '{}'")
        db.close()
        reply = await page.ask(Step())
        assert not reply.ok and "The run is lost" in reply.errors[0].message
        assert page.heard(Welcome)[-1] == Welcome("writer", False, True)
        monkeypatch.setattr(record, "SAVE_EVERY", 0.0)
        for _ in range(3):
            assert "open" in (await page.ask(Step())).errors[0].allowed
        assert len(loads) == 1, "it is made anew once, not again after each command"
        assert len(page.heard(Notice)) == 1, "and said once"
        await page.done(Open(scenario={}))
        await page.done(Step())
        assert page.heard(Moved)[-1].at == 1
        await made.close()


async def test_many_sessions_share_one_flush_and_a_wrong_one_fails_alone() -> None:
    kept = Journal(None)
    good = [kept.append(f"{i:022}", 1, "c", 1, Open(scenario={})) for i in range(20)]
    twice = [kept.append("x" * 22, 1, "c", 1, Step()) for _ in range(2)]
    results = await asyncio.gather(*good, *twice, return_exceptions=True)
    assert [r is None for r in results] == [True] * 21 + [False]
    assert isinstance(results[-1], sqlite3.IntegrityError)
    kept.close()
    with pytest.raises(sqlite3.ProgrammingError):
        await kept.load("x" * 22)


async def test_expiry_keeps_the_newest(tmp_path: Path) -> None:
    kept = Journal(tmp_path / "journal")
    for i in range(5):
        await kept.append(f"{i:022}", 1, "c", 1, Open(scenario={}))
        await asyncio.sleep(0.002)
    await kept.expire(days=1, keep=2)
    assert [(await kept.load(f"{i:022}")) is not None for i in range(5)] == [False, False, False, True, True]
    assert rows(tmp_path / "journal", "SELECT count(*) FROM commands") == [(2,)]
    kept.close()


def test_a_folder_that_cannot_be_written_is_replaced_with_a_line_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    assert journal.place(blocked / "data") == tmp_path / "temporary" / "lookback" / "journal.sqlite3"
    monkeypatch.setattr("tempfile.tempdir", str(blocked))
    assert journal.place(blocked / "data") is None
    assert [r.levelname for r in caplog.records] == ["WARNING"] * 4


async def test_a_journal_that_cannot_be_read_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite3").write_bytes(b"this is no database, but long enough to be looked at" * 100)
    kept = journal.open_in(tmp_path)
    await kept.append("x" * 22, 1, "c", 1, Step())
    kept.close()
    assert len(list(tmp_path.glob("journal.broken-*"))) == 1


# --- the real engine, and a process that is killed


def commands() -> list[Command]:
    """A run through all phases, with edits, a branch and a way back; many of them, so that the kill comes in between."""
    more: list[Command] = [
        Open(scenario=scenario(training={"batch_size": 2})),
        Step(),
        Step(),
        Choose(request=0, token=6),
        Back(),
        Back(),
        Step(),
    ]
    for number in range(12):
        more += [Enter(phase="train"), Step(), Step(unit="stage"), Step(unit="stage"), Enter(phase="decode"), Step(unit="stage")]
        more += [Change(fields={"policy": {"kind": "sample", "top_k": 3 + number % 3}}), Step(), Back()]
    return more


def digest(n: int) -> str:
    """After the first n of these commands, in one process that nobody disturbs."""
    engine = Engine(torch.device("cpu"))
    for command in commands()[:n]:
        for _ in engine.run(command):
            pass
    return engine.digest()


async def run(path: Path) -> None:
    """What the killed process does: says its session's name, then after each answer how far it is. Snapshots come often."""
    record.SAVE_EVERY = 0.2
    async with services(path, Engine) as given:
        lobby = Lobby(given, 5, 1000, 7)
        page = Page(found := await lobby.find(None))
        print(json.dumps(found.id), flush=True)
        for n, command in enumerate(commands(), 1):
            await page.done(command)
            print(json.dumps(n), flush=True)


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 20, 60])
async def test_a_killed_process_lost_nothing_that_it_answered(tmp_path: Path, after: int) -> None:
    path = tmp_path / "journal"
    code = f"import asyncio, pathlib; from tests.session.test_journal import run; asyncio.run(run(pathlib.Path({str(path)!r})))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as process:
        assert process.stdout is not None
        name = json.loads(process.stdout.readline())
        answered = [json.loads(process.stdout.readline()) for _ in range(after)]
        time.sleep(0.003)
        os.kill(process.pid, signal.SIGKILL)
        answered += [json.loads(line) for line in process.stdout if line.endswith("\n")]
    async with services(path, Engine) as given:
        saved = await given.journal.load(name)
        assert saved is not None and saved.n >= answered[-1]
        engine = rebuild(given, saved)
        assert engine is not None and engine.digest() == digest(saved.n)
        lobby = Lobby(given, 5, 1000, 7)
        page = Page(await lobby.find(name), "again")
        assert (await page.until(Notice)).code == "recovered"
        for command in commands()[saved.n :][:5]:
            await page.done(command)
        await lobby.close()


async def test_nothing_that_was_saved_is_nothing() -> None:
    async with services() as given:
        assert rebuild(given, NOTHING) is None
        with pytest.raises(ValueError, match="before the first open"):
            rebuild(given, Saved(1, {}, None, (Step(),), 1, {}))
