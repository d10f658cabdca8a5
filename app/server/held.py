"""An answer on its way out that is looked at as a whole before it goes."""

from __future__ import annotations

from starlette.types import Message, Send


class Held:
    """Held back until it is whole, if it is `wanted`; else passed on as it comes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self.wanted(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self.finish(self._start)

    def wanted(self, start: Message) -> bool:
        raise NotImplementedError

    async def finish(self, start: Message) -> None:
        """Send what becomes of it."""
        raise NotImplementedError
