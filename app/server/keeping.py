"""Files whose address names their version (`?m=...`) never change under it: a browser may keep them for good."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

KEEP = "public, max-age=31536000, immutable"


class Keeping:
    """Wraps an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def kept(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                MutableHeaders(scope=message).setdefault("cache-control", KEEP)
            await send(message)

        named = scope["type"] == "http" and scope["query_string"].startswith(b"m=") and "/assets/" in scope["path"]
        await self._app(scope, receive, kept if named else send)
