"""Scripts, styles and pages compressed with brotli, once: what was compressed before is remembered by its content."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import brotli  # type: ignore[import-untyped]
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.held import Held

QUALITY = 9  # a third of a second for the largest script; 11 would take ten
SMALLEST = 1024
KEPT = 32 << 20  # bytes of compressed content
KINDS = ("text/", "application/javascript", "application/json", "image/svg+xml")


class Compression:
    """Wraps an application. Only whole answers of status 200 to a GET that accepts brotli are compressed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        accepts = scope["type"] == "http" and scope["method"] == "GET" and _accepts(Headers(scope=scope))
        await self._app(scope, receive, _Answer(self, send).take if accepts else send)

    async def compress(self, body: bytes) -> bytes:
        key = hashlib.blake2b(body, digest_size=16).digest()
        if key not in self._kept:
            self._keep(key, await run_in_threadpool(brotli.compress, body, quality=QUALITY))
        return self._kept[key]

    def _keep(self, key: bytes, data: bytes) -> None:
        self._size += len(data) - len(self._kept.get(key, b""))
        self._kept[key] = data
        while self._size > KEPT and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1])


def _accepts(headers: Headers) -> bool:
    return "br" in (part.partition(";")[0].strip() for part in headers.get("accept-encoding", "").split(","))


class _Answer(Held):
    """One answer, held if it is of a kind that is compressed."""

    def __init__(self, compression: Compression, send: Send) -> None:
        self._compression = compression
        super().__init__(send)

    def wanted(self, start: Message) -> bool:
        return _worth(start)

    async def finish(self, start: Message) -> None:
        data = await self._compression.compress(bytes(self._body))
        headers = MutableHeaders(raw=list(start["headers"]))
        headers["content-encoding"] = "br"
        headers["content-length"] = str(len(data))
        headers.add_vary_header("Accept-Encoding")
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": data})


def _worth(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    length = int(headers.get("content-length", SMALLEST))
    kind = headers.get("content-type", "")
    return start["status"] == 200 and length >= SMALLEST and kind.startswith(KINDS) and "content-encoding" not in headers
