"""Routes by which a run is taken away, and by which one comes back that is too long for a message.

A file is made while its maker waits: the answer is one line of JSON after another, {"done", "of"}, and at the end
{"file", "bytes"} or {"errors"}. Closing the connection cancels. The file is fetched after that, for some minutes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from app.server.http import LARGEST_SCENARIO, Unacceptable, apart, json_of, problem
from app.server.refusal import refuse
from app.session import exporting
from app.session.commands import Open
from app.session.events import Problem, Refused
from app.session.exports import Exports, Make
from app.session.lobby import Full, Lobby, Missing
from app.session.problems import refused
from app.session.services import Services
from app.session.session import Session

log = logging.getLogger("lookback")

NAMES = ("moment", "path", "replay")
KIND = "application/octet-stream"  # so that no browser opens a file of ours as a page of this server
LINES = "application/x-ndjson"


@dataclass(frozen=True)
class Taking:
    """What these routes are given. pages: what stands before and after the run in a replay, in the language of who asks."""

    lobby: Lobby
    exports: Exports
    services: Services
    pages: Callable[[], exporting.Pages]


def add_taking_routes(api: FastAPI) -> None:
    """Needs `api.state.taking` when it serves."""

    @api.post("/api/sessions/{session}/files/{what}", tags=["api"], summary=f"Make a file of a run: {', '.join(NAMES)}")
    async def make_file(request: Request, session: str, what: str) -> Response:
        if what not in NAMES:
            raise Unacceptable(404, problem("what", what, ", ".join(NAMES)))
        taking: Taking = request.app.state.taking
        found = await _find(taking.lobby, session)
        make = _maker(taking, found, what, await _saved(found))
        return StreamingResponse(_lines(taking.exports, make), media_type=LINES)

    @api.get("/api/files/{token}", tags=["api"], summary="A file that was made")
    async def get_file(request: Request, token: str) -> Response:
        file = request.app.state.taking.exports.fetch(token)
        if file is None:
            return refuse(
                404, Problem("file", token[:40], "a file made lately", "This file is not kept any more; save it again.")
            )
        headers = {"content-disposition": "attachment", "content-length": str(file.size), "cache-control": "no-store"}
        return StreamingResponse(file.chunks(), media_type=KIND, headers=headers)

    @api.post("/api/sessions/{session}/open", tags=["api"], summary="Open a scenario file, as the writing page `client`")
    async def open_file(request: Request, session: str, client: str = "") -> Response:
        if not client:
            raise Unacceptable(422, problem("client", client, "the name of the page, as in its socket's address"))
        found = await _find(request.app.state.taking.lobby, session)
        data = await json_of(request, LARGEST_SCENARIO)
        problems = await found.open(client, await apart(_opening, data))
        return refuse(422, *problems) if problems else Response(json.dumps({"ok": True}), media_type="application/json")


def _opening(data: Any) -> Open:
    try:
        return Open.model_validate_json(json.dumps(data))
    except (ValidationError, ValueError) as error:
        raise Unacceptable(422, *refused(error).problems) from None


async def _find(lobby: Lobby, id: str) -> Session:
    try:
        return await lobby.find(id)
    except Missing as missing:
        raise Unacceptable(404, Problem("session", id[:40], "a session of this server", str(missing))) from None
    except Full as full:
        raise Unacceptable(429, Problem("session", id[:40], "a session in memory", str(full))) from None


async def _saved(session: Session) -> bytes:
    try:
        return await session.saved()
    except Refused as refusal:
        raise Unacceptable(409, *refusal.problems) from None


def _maker(taking: Taking, session: Session, what: str, data: bytes) -> Make:
    services = taking.services
    if what == "replay":
        return partial(_replay, data, services, taking.pages(), session.view)
    return partial(exporting.recording, data, services.device, what == "path")


def _replay(data: bytes, services: Services, pages: exporting.Pages, view: dict[str, Any], out: Any) -> exporting.Steps:
    return exporting.replay(data, services.device, services.encode, pages, view, out)


async def _lines(exports: Exports, make: Make) -> AsyncIterator[bytes]:
    try:
        async with aclosing(exports.make(make)) as found:
            async for one in found:
                yield _line({"done": one[0], "of": one[1]} if isinstance(one, tuple) else {"file": one.token, "bytes": one.size})
    except Refused as refusal:
        yield _line({"errors": [asdict(p) for p in refusal.problems]})
    except Exception as error:
        message = f"The server failed here ({type(error).__name__}: {error}); nothing was saved. The run goes on."
        log.exception("A file could not be made.")
        yield _line({"errors": [asdict(Problem("file", "", "", message))]})


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode() + b"\n"
