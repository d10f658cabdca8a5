"""Puts everything together: settings -> FastAPI with the API, the socket and the page -> a server. Alone knows all parts."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import re
import socket
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import torch
import uvicorn
from dash import Dash
from dash.exceptions import DashException
from fastapi import FastAPI, WebSocket

from app.server import wire
from app.server.admission import Gate
from app.server.class_socket import Sockets
from app.server.compression import Compression
from app.server.deflate import Protocol
from app.server.http import Readiness, add_last_route, add_routes, unknown
from app.server.keeping import Keeping
from app.server.socket import serve as serve_socket
from app.server.taking import Taking, add_taking_routes
from app.session import journal
from app.session.catalogue_view import catalogue
from app.session.class_keys import Keys, secret_in
from app.session.classes import Classes
from app.session.commands import Enter, Open, Step
from app.session.engine import Engine
from app.session.exports import Exports
from app.session.lobby import Lobby
from app.session.scenario import defaults
from app.session.services import EngineClass, Services
from app.settings import BadSetting, Settings
from app.ui.index import build_dash
from app.ui.language import Languages
from app.ui.replay import replay_pages

log = logging.getLogger("lookback")

DESCRIPTION = (
    "See how sequence models read their past. Sizes, letters and names are those of the page. "
    'Every refusal is a 4xx with {"errors": [{"field", "given", "allowed", "message"}]}.'
)


def create_app(settings: Settings, engine: EngineClass = Engine) -> FastAPI:
    """Everything but the listening. Raises `BadSetting` for a device that is not there."""
    device = _device(settings.device)
    torch.set_num_threads(1)
    readiness = Readiness()
    found = catalogue()
    lifespan = partial(_lifespan, settings=settings, engine=engine, device=device, readiness=readiness)
    api = FastAPI(
        title="Lookback",
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    api.state.readiness = readiness
    add_routes(api, readiness)
    add_taking_routes(api)

    @api.websocket("/ws")
    async def ws(websocket: WebSocket) -> None:
        await serve_socket(websocket, api.state.lobby)

    @api.websocket("/ws/class")
    async def ws_class(websocket: WebSocket) -> None:
        await api.state.sockets.serve(websocket)

    # No callback of the page runs here; and what Dash raises names a file that it does not have.
    api.add_route("/_dash-update-component", unknown, ["POST"], include_in_schema=False)
    api.add_exception_handler(DashException, unknown)
    dash = build_dash(api, found)
    api.state.pages = replay_pages(dash, found)
    add_last_route(api)
    api.add_middleware(Languages)
    api.add_middleware(Keeping)
    api.add_middleware(Compression)
    api.add_middleware(Gate, hosts=settings.hosts, policy=_policy(dash))
    return api


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    count = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= count:
        raise BadSetting(f"LOOKBACK_DEVICE was given {name!r}; this machine has {count} CUDA devices; allowed: auto, cpu")
    return device


@asynccontextmanager
async def _lifespan(
    api: FastAPI, settings: Settings, engine: EngineClass, device: torch.device, readiness: Readiness
) -> AsyncIterator[None]:
    kept = journal.open_in(settings.data)
    pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="engine", initializer=torch.set_num_threads, initargs=(1,))
    services = Services(engine, wire.encode, kept, pool, device)
    api.state.lobby = Lobby(services, settings.sessions, settings.idle_minutes * 60, settings.expiry_days)
    exports = Exports()
    api.state.taking = Taking(api.state.lobby, exports, services, api.state.pages)
    classes = Classes(settings.classes, settings.classes_address, Keys(secret_in(settings.data)))
    api.state.sockets = Sockets(api.state.lobby, classes)
    tasks = [asyncio.create_task(tending) for tending in (api.state.lobby.tend(), classes.tend())]
    tasks.append(asyncio.create_task(_warm(api, services, readiness)))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await exports.close()
        await api.state.lobby.close()
        pool.shutdown()
        kept.close()


async def _warm(api: FastAPI, services: Services, readiness: Readiness) -> None:
    """A model steps, and the page is asked for once: Dash registers its callbacks only then."""
    try:
        await asyncio.get_running_loop().run_in_executor(services.pool, _first_steps, services)
        readiness.waiting = "the page"
        status = await _ask(api, "/")
        readiness.waiting = "" if status == 200 else f"nothing; the page failed with {status}"
    except Exception as error:
        log.exception("The server cannot serve.")
        readiness.waiting = f"nothing; it failed: {type(error).__name__}: {error}"


def _first_steps(services: Services) -> None:
    """In decode and in training: torch loads its optimizers, which takes a second or two, at the first update."""
    engine = services.engine(services.device)
    for command in (Open(scenario=defaults().model_dump(mode="json")), Step(), Enter(phase="train"), Step()):
        for _ in engine.run(command):
            pass


async def _ask(api: FastAPI, path: str) -> int:
    """The status of a GET, without a network."""
    status = 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "root_path": "",
    }
    scope |= {"path": path, "raw_path": path.encode(), "query_string": b"", "headers": [(b"host", b"localhost")]}
    await api(scope, receive, send)
    return status


def _policy(dash: Dash) -> str:
    """The Content-Security-Policy: only what this server serves, and the page's own inline scripts by their hash."""
    own = re.findall(r"<script>(.*?)</script>", dash.index_string, re.DOTALL)
    hashes = {*dash.csp_hashes(), *(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in own)}
    rules = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", *sorted(hashes)]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def serve(settings: Settings) -> None:
    """Listen until told to stop; print the address when all is ready. Raises `BadSetting` where that is not possible."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    listening = listen(settings)
    api = create_app(settings)
    asyncio.run(_serve(uvicorn.Server(configuration(api)), listening, api.state.readiness, settings.host))


def configuration(api: FastAPI) -> uvicorn.Config:
    """How this application wants to be served."""
    return uvicorn.Config(
        api,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws=Protocol,
        ws_max_size=wire.LARGEST_MESSAGE,
        timeout_graceful_shutdown=5,
    )


def listen(settings: Settings) -> socket.socket:
    """The socket to listen on. It says that it speaks TCP, because asyncio turns Nagle's algorithm off only then: without that
    every answer of several frames would wait 40 ms for the browser's delayed acknowledgement."""
    try:
        family, _, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        message = f"cannot listen on {settings.host} port {settings.port} ({error.strerror}); set HOST or PORT to another"
        raise BadSetting(message) from None
    return listening


async def _serve(server: uvicorn.Server, listening: socket.socket, readiness: Readiness, host: str) -> None:
    serving = asyncio.create_task(server.serve([listening]))
    while readiness.waiting and not serving.done():
        await asyncio.sleep(0.05)
    if not serving.done():
        name = f"[{host}]" if ":" in host else host
        print(f"Lookback is ready: http://{name}:{listening.getsockname()[1]}", flush=True)
    await serving
