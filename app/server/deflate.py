"""Websocket frames that are text alone are compressed: the taps of a model are 85 kB of words that repeat, and 7 kB compressed.

Numbers stay as they are: they hardly shrink, and the event loop would pay for it at each step.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.extensions.base import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.frames import Frame
from websockets.server import ServerProtocol
from websockets.typing import ExtensionParameter

SMALLEST = 2048  # bytes
LEVEL = 1  # a fifth of a millisecond for the largest
NUMBERS = 8  # bytes before the header, which say how long it is: what follows the header is numbers


class Protocol(WebSocketsSansIOProtocol):
    """A websocket of uvicorn's, which compresses what is worth it."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        log = logging.getLogger("uvicorn.error")
        self.conn = ServerProtocol(extensions=[Words()], max_size=self.config.ws_max_size, logger=log)


class Words(ServerPerMessageDeflateFactory):
    """Agrees on compression with a browser, so that neither side keeps anything of a message for the next one."""

    def __init__(self) -> None:
        super().__init__(server_no_context_takeover=True, client_no_context_takeover=True, compress_settings={"level": LEVEL})

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], PerMessageDeflate]:
        answered, made = super().process_request_params(params, accepted_extensions)
        agreed = (made.remote_no_context_takeover, made.local_no_context_takeover)
        return answered, _Words(*agreed, made.remote_max_window_bits, made.local_max_window_bits, made.compress_settings)


class _Words(PerMessageDeflate):
    def encode(self, frame: Frame) -> Frame:
        return super().encode(frame) if worth(frame.data) else frame


def worth(data: Any) -> bool:
    """Whether these bytes (docs/wire.md) are a header that is large, and nothing after it."""
    return len(data) >= SMALLEST and NUMBERS + int.from_bytes(data[:NUMBERS], "little") == len(data)
