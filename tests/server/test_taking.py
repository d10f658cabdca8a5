"""Routes by which a run leaves and comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from safetensors.torch import load

from app.session.engine import Engine
from app.session.events import Moved, Opened, Welcome
from tests.server.serving import Page, page, served
from tests.session.driving import scenario


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with served(tmp_path_factory.mktemp("journal"), Engine) as port:
        yield port


@asynccontextmanager
async def run(port: int, client: str = "me", steps: int = 2) -> AsyncIterator[tuple[Page, str, httpx2.AsyncClient]]:
    """A page whose run stands at a step, its session, and a client for the routes."""
    base = f"http://127.0.0.1:{port}"
    async with page(port, f"client={client}") as p, httpx2.AsyncClient(base_url=base, timeout=30) as http:
        await p.until(Welcome)
        await p.do(kind="open", scenario=scenario())
        for _ in range(steps):
            await p.do(kind="step")
        yield p, p.frames[0].session, http


async def made(http: httpx2.AsyncClient, session: str, what: str) -> list[dict[str, Any]]:
    answer = await http.post(f"/api/sessions/{session}/files/{what}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_a_recording_is_made_with_progress_and_fetched(port: int) -> None:
    async with run(port) as (_, session, http):
        *progress, last = await made(http, session, "path")
        assert progress[-1] == {"done": 3, "of": 3} and last.keys() == {"file", "bytes"}
        file = await http.get(f"/api/files/{last['file']}")
        assert file.headers["content-disposition"] == "attachment" and len(file.content) == last["bytes"]
        assert file.headers["content-type"] == "application/octet-stream"
        assert any(name.startswith("decode.2/") for name in load(file.content))
        assert (await http.get(f"/api/files/{last['file']}")).content == file.content


async def test_a_replay_is_a_page_that_names_no_session(port: int) -> None:
    async with run(port) as (_, session, http):
        *_, last = await made(http, session, "replay")
        content = (await http.get(f"/api/files/{last['file']}")).content
        assert content.startswith(b"<!DOCTYPE html>") and content.rstrip().endswith(b"</html>")
        assert session.encode() not in content and len(content) < 4 << 20


async def test_the_run_goes_on_while_a_file_is_made(port: int) -> None:
    async with run(port) as (p, session, http):
        making = asyncio.create_task(made(http, session, "replay"))
        assert (await p.do(kind="step")).ok
        assert p.heard(Moved)[-1].step == 3
        assert (await making)[-1].keys() == {"file", "bytes"}


async def test_what_is_not_there_is_refused_in_words(port: int) -> None:
    async with run(port) as (_, session, http):
        for path, status, said in (
            (f"/api/sessions/{session}/files/song", 404, "moment, path, replay"),
            ("/api/sessions/nobody/files/path", 404, "no such session"),
            (f"/api/sessions/{session}/open", 422, "client"),
        ):
            answer = await http.post(path, json={})
            assert answer.status_code == status and said in answer.text
        gone = await http.get("/api/files/nothing")
        assert gone.status_code == 404 and "save it again" in gone.text
    async with page(port) as p, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
        await p.until(Welcome)
        answer = await http.post(f"/api/sessions/{p.frames[0].session}/files/path")
        assert answer.status_code == 409 and "no run yet" in answer.text


async def test_a_scenario_file_gives_the_same_run(port: int) -> None:
    async with run(port) as (p, session, http):
        await p.do(kind="choose", request=0, token=7)
        await p.do(kind="share", view={})
        file = next(f.event.file for f in p.frames if type(f.event).__name__ == "Shared")  # type: ignore[union-attr]
        here = p.heard(Moved)[-1]
        await p.do(kind="open", scenario=scenario("decoder_only"))
        big = {"scenario": file["scenario"], "log": file["log"]}
        answer = await http.post(f"/api/sessions/{session}/open", params={"client": "me"}, json=big)
        assert answer.json() == {"ok": True}
        while (back := p.heard(Moved)[-1]).requests[0].target != here.requests[0].target:
            await p.hear()
        assert back.requests == here.requests
        assert (await p.do(kind="undo")).ok
        assert p.heard(Moved)[-1].requests[0].source is None


async def test_only_the_writing_page_opens(port: int) -> None:
    async with run(port) as (_, session, http), page(port, f"session={session}&client=other&role=reader") as reader:
        await reader.until(Welcome)
        for client, said in (("other", "reading along"), ("nobody", "not connected")):
            answer = await http.post(f"/api/sessions/{session}/open", params={"client": client}, json={"scenario": scenario()})
            assert answer.status_code == 422 and said in answer.text
        wrong = await http.post(f"/api/sessions/{session}/open", params={"client": "me"}, json={"scenario": {"seed": "x"}})
        assert wrong.status_code == 422 and wrong.json()["errors"][0]["field"] == "seed"


def test_the_journal_keeps_what_was_opened_by_a_file(tmp_path: Path) -> None:
    async def opened(port: int) -> str:
        async with run(port) as (_, session, http):
            answer = await http.post(
                f"/api/sessions/{session}/open", params={"client": "me"}, json={"scenario": scenario(seed=11)}
            )
            assert answer.status_code == 200
            return session

    async def seed(port: int, session: str) -> Any:
        async with page(port, f"session={session}") as p:
            return (await p.until(Opened)).scenario["seed"]

    with served(tmp_path, Engine) as port:
        session = asyncio.run(opened(port))
    with served(tmp_path, Engine) as port:
        assert asyncio.run(seed(port, session)) == 11
