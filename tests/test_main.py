"""The server as a person starts it: it says when it is ready, serves, and ends when told."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from app import settings
from app.main import create_app, listen
from app.session.events import Checked, Moved, Values
from app.session.scenario import defaults
from tests.server.serving import page


@contextmanager
def started(data: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`lookback serve` on a free port, with the line that it printed."""
    command = [sys.executable, "-c", "from app.cli import main; raise SystemExit(main(['serve']))"]
    own = {**os.environ, "PORT": "0", "LOOKBACK_DATA": str(data), **environment}
    root = Path(__file__).parents[1]
    with subprocess.Popen(command, env=own, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline()
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.slow
async def test_it_prints_its_address_when_ready_steps_a_real_model_and_ends_when_told(tmp_path: Path) -> None:
    with started(tmp_path) as (process, line):
        assert line.startswith("Lookback is ready: http://127.0.0.1:")
        port = int(line.rpartition(":")[2])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            assert json.load(answer) == {"ready": True, "waiting": ""}
        async with page(port) as one:
            assert (await one.do(kind="open", scenario=defaults().model_dump(mode="json"))).ok
            assert (await one.do(kind="watch", selectors=[{"path": "*.cross.weights"}])).ok
            assert (await one.do(kind="step")).ok
            assert one.heard(Moved)[-1].step == 1 and one.heard(Values)[-1].pieces
            assert {c.status for c in one.heard(Checked)[-1].checks} <= {"pass", "pending", "does_not_apply"}
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
        assert "Traceback" not in err and "ERROR" not in err
        assert process.returncode in (0, -signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("name, value", [("LOOKBACK_DEVICE", "cuda:99"), ("LOOKBACK_DEVICE", "gpu"), ("PORT", "x")])
def test_what_cannot_be_set_up_is_one_line_and_exit_code_2(tmp_path: Path, name: str, value: str) -> None:
    with started(tmp_path, **{name: value}) as (process, line):
        _, err = process.communicate(timeout=30)
        lines = [text for text in err.splitlines() if text.startswith("lookback:")]
        assert (line, process.returncode, len(lines)) == ("", 2, 1)
        assert name in lines[0] and value in lines[0] and "Traceback" not in err


@pytest.mark.slow
def test_a_port_that_is_taken_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with started(tmp_path, PORT=port) as (process, line):
            _, err = process.communicate(timeout=30)
            assert (line, process.returncode) == ("", 2)
            assert port in err and "in use" in err and "Traceback" not in err


def test_frames_are_not_held_back_until_the_browser_acknowledged_the_one_before() -> None:
    with listen(settings.read({"PORT": "0"})) as listening:
        assert listening.proto == socket.IPPROTO_TCP, "asyncio sets TCP_NODELAY on what it accepts only then"


def test_cuda_is_taken_only_where_it_is() -> None:
    if not torch.cuda.is_available():
        with pytest.raises(settings.BadSetting, match="0 CUDA devices"):
            create_app(settings.read({"LOOKBACK_DEVICE": "cuda"}))
    assert create_app(settings.read({"LOOKBACK_DEVICE": "auto"}))
