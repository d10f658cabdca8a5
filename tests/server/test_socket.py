"""The socket as a browser meets it: admission, bad messages, closing codes, credit, resuming, cuts."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from app.server.deflate import Words, worth
from app.server.socket import _read
from app.session import outbox
from app.session.events import Moved, Playing, Pong, Reply, Values, Viewed, Welcome
from tests.server.serving import Page, closing, page, served
from tests.server.test_messages import BAD
from tests.server.test_wire import WORDS
from tests.session.pages import known, session


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with served(tmp_path_factory.mktemp("data"), LOOKBACK_SESSIONS="40") as found:
        yield found


class Burst:
    """A websocket whose messages are all there already, so that to receive one never waits."""

    def __init__(self, *texts: str) -> None:
        self.left = list(texts)

    async def receive(self) -> dict[str, str]:
        return {"type": "websocket.receive", "text": self.left.pop()} if self.left else {"type": "websocket.disconnect"}


async def test_messages_that_came_together_leave_others_their_turn() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with session() as (made, one):
        task = asyncio.create_task(other())
        await _read(Burst(*['{"ping": 1}'] * 50), made, one.connection)  # type: ignore[arg-type]
        task.cancel()
    assert turns >= 50


# --- coming in


async def test_frames_of_text_alone_are_compressed_for_those_who_can_read_them(port: int) -> None:
    async with page(port, compression="deflate") as one, page(port, compression=None) as other:
        assert (len(one.socket.protocol.extensions), len(other.socket.protocol.extensions)) == (1, 0)
        assert (await one.hear()).event == (await other.hear()).event


def test_what_is_mostly_numbers_is_sent_as_it_is() -> None:
    """A frame is a length, a header, numbers."""
    words, numbers = b'{"a": 1}' * 1000, b"\0" * 8000
    size = struct.pack("<Q", len(words))
    assert worth(size + words) and not worth(size + words + numbers) and not worth(struct.pack("<Q", 8) + b'{"a": 1}')
    made = Words().process_request_params([], [])[1]
    frame = Frame(Opcode.BINARY, size + words)
    packed = made.encode(frame)
    assert packed.rsv1 and len(packed.data) < len(frame.data) / 20
    assert made.decode(packed) == frame
    assert made.encode(Frame(Opcode.BINARY, size + words + numbers)).rsv1 is False


@pytest.mark.parametrize(
    "query, code, words",
    [
        ("session=nobody", 4404, "no such session"),
        ("session=" + "x" * 22, 4404, "no such session"),
        ("session=", 4404, "no such session"),
        ("role=teacher", 4400, "writer, reader"),
        ("after=x", 4400, "after was given 'x'"),
        ("after=1e5", 4400, "whole number"),
        ("after=99999999999999999", 4400, "whole number"),
        ("epoch=-", 4400, "epoch"),
        ("client=", 4400, "client"),
        ("client=" + "a" * 65, 4400, "1 to 64"),
        ("client=%22%3E", 4400, "client"),
        ("sesion=1", 4400, "'sesion' is unknown"),
        ("role=" + "%C3%BC" * 300, 4400, "role"),
    ],
)
async def test_a_wrong_address_is_closed_with_the_reason(port: int, query: str, code: int, words: str) -> None:
    found, reason = await closing(port, query)
    assert found == code and words in reason


async def test_when_the_server_is_full_the_reason_says_when_to_come_back(tmp_path: Path) -> None:
    with served(tmp_path, LOOKBACK_SESSIONS="1") as port:
        async with page(port) as one:
            await one.until(Welcome)
            code, reason = await closing(port)
            assert (code, reason) == (4429, "all 1 sessions of this server are in use; try again in a few minutes")
        async with page(port) as one:
            await one.until(Welcome)


# --- what is said


async def opened(one: Page, **scenario: Any) -> None:
    assert (await one.do(kind="open", scenario=scenario)).ok


async def test_a_page_opens_watches_and_steps(port: int) -> None:
    async with page(port) as one:
        await opened(one)
        assert one.heard(Welcome) == [Welcome("writer", False, False)]
        await one.do(kind="watch", selectors=[{"path": "a", "dtype": "u8"}], mark=3)
        for _ in range(3):
            assert (await one.do(kind="step")).ok
        assert known(one.heard(Values)) == {(0, "a"): {0: 0, 1: 1, 2: 2}}
        assert {f.session for f in one.frames} == {one.frames[0].session}
        await one.socket.send('{"ping": 12}')
        assert await one.until(Pong) == Pong(12)


async def test_words_of_a_person_come_back_as_they_were(port: int) -> None:
    async with page(port) as one:
        await opened(one)
        await one.do(kind="look", view={"note": WORDS})
        assert one.heard(Viewed)[-1].view == {"note": WORDS}


async def test_a_bad_message_is_answered_and_the_session_goes_on(port: int) -> None:
    async with page(port) as one:
        await opened(one)
        for number, (text, to, field) in enumerate(BAD):
            await one.socket.send(text.replace('{"seq": 7', f'{{"seq": {100 + number}'))
            reply = await one.until(Reply)
            assert (reply.to, reply.ok) == (-1 if to < 0 else 100 + number, False), text
            assert reply.errors[0].field == field
        one._seq = 1000
        assert (await one.do(kind="step")).ok
        assert one.heard(Moved)[-1].at == 1


@pytest.mark.parametrize(
    "message, code, words",
    [(b"step", 1003, "JSON text"), ("x" * 65_537, 1009, ""), ("ü" * 40_000, 1009, ""), ([b"binary", b" in parts"], 1003, "")],
    ids=["binary", "too long", "too many bytes", "fragments"],
)
async def test_what_is_no_text_or_too_long_is_closed_and_the_session_goes_on(
    port: int, message: Any, code: int, words: str
) -> None:
    async with page(port) as one:
        await opened(one)
        name = one.frames[0].session
        await one.do(kind="step")
        found, reason = await closing(port, f"session={name}&role=reader", send=message)
        assert found == code and words in reason
        await one.do(kind="step")
        assert one.heard(Moved)[-1].at == 2


async def test_a_message_of_just_64_kib_is_read(port: int) -> None:
    async with page(port) as one:
        text = json.dumps({"seq": 1, "command": {"kind": "look", "view": {"note": ""}}})
        await one.socket.send(text.replace('""', json.dumps("x" * (65_536 - len(text)))))
        reply = await one.until(Reply)
        assert (reply.to, reply.errors[0].field) == (1, "view")


async def test_text_that_is_no_utf8_is_closed(port: int) -> None:
    async with connect(f"ws://127.0.0.1:{port}/ws", max_size=None) as connection:
        await connection.send([b'{"ping": ', b"\xff}"], text=True)
        with pytest.raises(ConnectionClosed):
            while True:
                await connection.recv()
        assert connection.close_code == 1007


# --- coming back


async def test_a_socket_that_is_cut_in_the_middle_of_a_frame_leaves_the_session_alive(port: int) -> None:
    async with page(port, "client=cut") as one:
        await opened(one)
        await one.do(kind="step")
        last = one.frames[-1]
        one.socket.transport.write(bytes([0x81, 0xFE, 0x10, 0x00, 1, 2, 3, 4]) + b"only the beginning of 4096 bytes")
        await asyncio.sleep(0.02)
        one.socket.transport.abort()
    async with page(port, f"client=cut&session={last.session}&after={last.seq}&epoch={last.epoch}") as again:
        again._seq = 10
        assert (await again.do(kind="step")).ok
        assert again.heard(Welcome) == [Welcome("writer", True, True)]
        assert [m.at for m in again.heard(Moved)] == [2]


async def test_a_page_that_is_loaded_again_while_it_plays_finds_everything(port: int) -> None:
    async with page(port) as one:
        await opened(one)
        await one.do(kind="play", rate=60)
        await one.until(Moved)
        name = one.frames[0].session
    async with page(port, f"session={name}") as again:
        assert (await again.until(Playing)).playing
        reply = await again.do(kind="pause")
        assert reply.ok and not again.heard(Playing)[-1].playing


async def test_two_pages_of_one_session_and_a_third_of_another(port: int) -> None:
    async with page(port) as first, page(port) as stranger:
        await opened(first)
        await opened(stranger)
        async with page(port, f"session={first.frames[0].session}&role=reader") as reader:
            await reader.until(Viewed)
            refused = await reader.do(kind="step")
            assert not refused.ok and "reading along" in refused.errors[0].message
            await first.do(kind="step")
            assert (await reader.until(Moved)).at == 1
        await stranger.do(kind="step")
        assert [m.at for m in stranger.heard(Moved)] == [0, 1]


async def test_a_newer_socket_of_the_same_page_closes_the_older(port: int) -> None:
    async with page(port, "client=same") as one:
        await opened(one)
        async with page(port, f"client=same&session={one.frames[0].session}") as again:
            await again.until(Welcome)
            with pytest.raises(ConnectionClosed):
                while True:
                    await one.hear()
            assert one.socket.close_code == 4409


def silent(port: int, name: str) -> socket.socket:
    """A page that takes part and then takes no more bytes."""
    taken = socket.create_connection(("127.0.0.1", port))
    taken.sendall(
        f"GET /ws?session={name}&role=reader HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    watch = json.dumps({"seq": 1, "command": {"kind": "watch", "selectors": [{"path": "a"}]}}).encode()
    taken.sendall(bytes([0x81, 0xFE]) + len(watch).to_bytes(2, "big") + bytes(4) + watch)
    return taken


async def test_a_page_that_stops_reading_does_not_stop_the_others(port: int) -> None:
    async with page(port) as one:
        await opened(one, width=1 << 16)
        with silent(port, one.frames[0].session):
            for _ in range(40):
                assert (await one.do(kind="step")).ok
            assert one.heard(Moved)[-1].at == 40
        assert (await one.do(kind="step")).ok


@pytest.mark.slow
async def test_a_page_that_never_reads_again_is_closed_when_too_much_waits(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "LARGEST_QUEUE", 6 << 20)
    async with page(port) as one:
        await opened(one)
        with silent(port, one.frames[0].session) as taken:
            much = {"ticks": 400, "size": 1 << 16}  # 25 MiB, more than the queue and the kernel's own buffers hold together
            assert (await one.do(kind="analyse", name="much", arguments=much)).ok
            taken.settimeout(60)  # the transport gives up only after its keepalive, 20 s and 20 s
            while await asyncio.to_thread(taken.recv, 1 << 20):
                pass
        assert (await one.do(kind="step")).ok


async def test_forty_pages_step_at_the_same_time(port: int) -> None:
    async def steps(number: int) -> list[int]:
        async with page(port) as one:
            await opened(one)
            for _ in range(5):
                assert (await one.do(kind="step")).ok
            return [m.at for m in one.heard(Moved)]

    assert await asyncio.gather(*(steps(i) for i in range(40))) == [[0, 1, 2, 3, 4, 5]] * 40


async def test_a_session_lives_through_a_restart_of_the_server(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        async with page(port, "client=before") as one:
            await opened(one)
            await one.do(kind="step")
            last = one.frames[-1]
    with served(tmp_path) as port:
        async with page(port, f"client=before&session={last.session}&after={last.seq}&epoch={last.epoch}") as again:
            assert (await again.until(Moved)).at == 1
            assert not again.heard(Welcome)[0].resumed


async def test_a_reader_who_floods_is_read_slowly_and_the_writer_does_not_wait_for_him(port: int) -> None:
    async with page(port) as writer:
        assert (await writer.do(kind="open", scenario={})).ok
        async with page(port, f"session={writer.frames[0].session}&role=reader") as reader:
            for n in range(2000):
                await reader.socket.send(json.dumps({"ping": n}))
            assert (await writer.do(kind="step")).ok
            await reader.until(Pong)
            heard = 0
            with suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    while True:
                        await reader.hear()
                        heard += 1
            assert heard < 1500
