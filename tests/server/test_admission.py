"""Who may come in: Host and Origin of every request and every socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx2
import pytest

from app.session.events import Welcome
from tests.server.serving import closing, page, served


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with served(tmp_path_factory.mktemp("data"), LOOKBACK_HOSTS="play.example") as found:
        yield found


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://evil.example/http://localhost"},
        {"Origin": "http://localhost@evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "file://"},
        {"Origin": "ftp://localhost"},
        {"Origin": "http://127.0.0.1.nip.example:8050"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"Host": "evil.example"},
        {"Host": "localhost.evil.example:8050"},
        {"Host": "localhost:8050:1"},
        {"Host": "[::2]"},
    ],
    ids=str,
)
async def test_a_foreign_origin_or_host_is_closed_with_the_reason(port: int, headers: dict[str, str]) -> None:
    code, reason = await raw_closing(port, headers)
    assert (code, reason) == await raw_closing(port, headers, "/ws/class")
    name = "Host" if "Host" in headers else "Origin"
    assert code == 1008 and reason.startswith(f"{name} was given") and "localhost" in reason


async def raw_closing(port: int, headers: dict[str, str], path: str = "/ws") -> tuple[int, str]:
    """A handshake with exactly these headers; websocket clients insist on a Host of their own."""
    lines = {"Host": f"localhost:{port}", **headers}
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    request = f"GET {path} HTTP/1.1\r\n{text}Upgrade: websocket\r\nConnection: Upgrade\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{request}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
    first, length = await reader.readexactly(2)
    assert first == 0x88, "a closing frame and nothing before it"
    body = await reader.readexactly(length)
    writer.close()
    return int.from_bytes(body[:2], "big"), body[2:].decode()


@pytest.mark.parametrize(
    "origin", [None, "http://localhost:3000", "http://127.0.0.1", "https://play.example", "http://[::1]:8050"]
)
async def test_known_origins_come_in(port: int, origin: str | None) -> None:
    async with page(port, origin=origin) as one:
        assert (await one.until(Welcome)).role == "writer"


@pytest.mark.parametrize("path", ["/", "/other", "/_dash-ws-callback", "/ws/more", "/ws/class/more", "/ws/class/"])
async def test_there_are_no_other_sockets(port: int, path: str) -> None:
    code, reason = await closing(port, path=path)
    assert (code, "/ws" in reason) == (1008, True)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": ""},
        {"Host": "localhost:x"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/", "/healthz", "/api/catalogue", "/assets/app.css", "/docs"])
def test_a_foreign_host_or_origin_gets_nothing(port: int, headers: dict[str, str], path: str) -> None:
    answer = httpx2.get(f"http://127.0.0.1:{port}{path}", headers=headers)
    (problem,) = answer.json()["errors"]
    assert answer.status_code == 403 and problem["field"] in headers and "play.example" in problem["allowed"]


def test_the_loopback_names_are_known_on_any_port(port: int) -> None:
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:8050", "localhost.", "play.example"):
        assert httpx2.get(f"http://127.0.0.1:{port}/healthz", headers={"Host": host}).status_code == 200
