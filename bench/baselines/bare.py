"""The least that can show it: a raw websocket that carries the new rows as f32, and a page of eight bare canvases.

And a page of one line, `/empty`, whose load is the browser's own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import torch
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from torch import Tensor

from bench.runs import decoding, model

MODEL = model()


async def page(request: Request) -> FileResponse:
    return FileResponse(Path(__file__).with_name("bare.html"))


async def empty(request: Request) -> HTMLResponse:
    return HTMLResponse(
        '<!DOCTYPE html><html lang="en"><head><title>One line</title></head><body><p>One line of text.</p></body></html>'
    )


async def ws(socket: WebSocket) -> None:
    """Text `reset ROWS` begins anew, `step` decodes one row; either is answered with weights of the new rows, `[map, t, t']`."""
    await socket.accept()
    run: Iterator[tuple[list[str], Tensor]] = iter(())
    try:
        while True:
            what, _, rows = (await socket.receive_text()).partition(" ")
            if what == "reset":
                run = decoding(MODEL, int(rows))
            await socket.send_bytes(next(run)[1].numpy().tobytes())
    except WebSocketDisconnect:
        pass


if __name__ == "__main__":
    torch.set_num_threads(1)
    app = Starlette(routes=[Route("/", page), Route("/empty", empty), WebSocketRoute("/ws", ws)])
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", ws="websockets-sansio", ws_per_message_deflate=False)
