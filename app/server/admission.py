"""Who may talk to this server at all: one check of Host and Origin for every request and every socket.

A page of another site may make a browser send requests here, and a name that an attacker rebinds to this address looks to the
browser like that attacker's own site. Both are seen here: the first by its Origin, the second by its Host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from app.server.refusal import refuse
from app.session.events import Problem
from app.session.problems import shorten

LARGEST_BODY = 8 << 20  # bytes of any request
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:/@\[\]]+)(:\d{1,5})?")
_SOCKETS = ("/ws", "/ws/class")
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Gate:
    """Wraps the whole application. hosts: names under which it may be reached, on any port.

    policy: the Content-Security-Policy of every answer.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], policy: str) -> None:
        self._app = app
        self._hosts = tuple(hosts)
        self._headers = [*_HEADERS, (b"content-security-policy", policy.encode())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        if problem := self.objection(scope):
            await refuse(403, problem)(scope, receive, guarded)
        elif refused := _body_objection(scope):
            await refuse(*refused)(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self.objection(scope)
        if problem is None and scope["path"] in _SOCKETS:
            await self._app(scope, receive, send)
            return
        websocket = WebSocket(scope, receive, send)
        await websocket.accept()  # a browser reads the reason only of a socket that was open
        await websocket.close(
            1008, close_reason(problem.message if problem else f"there is no socket here; use {' or '.join(_SOCKETS)}")
        )

    def objection(self, scope: Scope) -> Problem | None:
        """Why this request is not let in, or None. A request without Origin comes from no page of another site."""
        headers = _all(scope)
        hosts, origins = headers.get(b"host", []), headers.get(b"origin", [])
        if len(hosts) != 1 or not self._knows(hosts[0]):
            return self._problem("Host", hosts[0] if hosts else "")
        if len(origins) > 1 or any(not self._trusts(origin) for origin in origins):
            return self._problem("Origin", origins[-1])
        return None

    def _knows(self, host: str) -> bool:
        match = _HOST.fullmatch(host.lower())
        return match is not None and match[1].removesuffix(".") in self._hosts

    def _trusts(self, origin: str) -> bool:
        scheme, _, host = origin.partition("://")
        return scheme in ("http", "https") and self._knows(host)

    def _problem(self, header: str, given: str) -> Problem:
        allowed = ", ".join(self._hosts)
        given = shorten(given, 40)
        return Problem(header, given, allowed, f"{header} was given {given!r}; allowed: {allowed} (LOOKBACK_HOSTS adds names)")


def _all(scope: Scope) -> dict[bytes, list[str]]:
    headers: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name, []).append(value.decode("latin-1"))
    return headers


def _body_objection(scope: Scope) -> tuple[int, Problem] | None:
    """A body comes with its length, so that its size is known before it is read."""
    headers = _all(scope)
    if b"transfer-encoding" in headers:
        message = "A body must come with Content-Length, not in chunks."
        return 411, Problem("Transfer-Encoding", headers[b"transfer-encoding"][0], "Content-Length", message)
    length = headers.get(b"content-length", ["0"])[0]
    if not length.isdecimal() or int(length) > LARGEST_BODY:
        allowed = f"at most {LARGEST_BODY} bytes"
        return 413, Problem(
            "body", shorten(f"{length} bytes"), allowed, f"The body has {shorten(length)} bytes; allowed: {allowed}"
        )
    return None


def close_reason(text: str) -> str:
    """A closing frame holds at most 123 bytes of reason."""
    return text if len(text.encode()) <= 123 else text.encode()[:120].decode("utf-8", "ignore") + "..."
