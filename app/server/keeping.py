"""What a browser keeps: files whose address names their version (`?m=...`) for good, because they never change under it.

And pages, about which it asks each time: it is answered 304 and no page, if the one that it has is still the one that there is.
"""

from __future__ import annotations

import hashlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.held import Held

KEEP = "public, max-age=31536000, immutable"
ASK = "no-cache"  # keep it, and ask before it is shown


class Keeping:
    """Wraps an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def kept(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                MutableHeaders(scope=message).setdefault("cache-control", KEEP)
            await send(message)

        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
        elif scope["query_string"].startswith(b"m=") and "/assets/" in scope["path"]:
            await self._app(scope, receive, kept)
        else:
            await self._app(scope, receive, _Page(Headers(scope=scope).get("if-none-match", ""), send).take)


class _Page(Held):
    """One answer, held if it is a page. known: tags of pages that the browser has."""

    def __init__(self, known: str, send: Send) -> None:
        self._known = [tag.strip() for tag in known.split(",")]
        super().__init__(send)

    def wanted(self, start: Message) -> bool:
        return _is_page(start)

    async def finish(self, start: Message) -> None:
        tag = f'W/"{hashlib.blake2b(self._body, digest_size=12).hexdigest()}"'  # weak: it is compressed on its way, or not
        headers = MutableHeaders(raw=list(start["headers"]))
        headers["etag"], headers["cache-control"] = tag, ASK
        same = tag in self._known
        if same:
            del headers["content-length"], headers["content-type"]
        await self._send({**start, "status": 304 if same else 200, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": b"" if same else bytes(self._body)})


def _is_page(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    own = "cache-control" in headers or "content-disposition" in headers
    return start["status"] == 200 and headers.get("content-type", "").startswith("text/html") and not own
