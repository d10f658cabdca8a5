"""Real server processes, each on a port of its own, ready when the block begins and gone when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

LOOKBACK, BARE, DASH = 8070, 8071, 8072
PATIENCE = 90.0  # seconds


def address(port: int, path: str = "/") -> str:
    return f"http://127.0.0.1:{port}{path}"


@contextmanager
def lookback() -> Iterator[subprocess.Popen[bytes]]:
    """The product as it is shipped, with a journal of its own on disk; SIGUSR1 makes it collect garbage."""
    with tempfile.TemporaryDirectory() as folder, _process("bench.collecting", LOOKBACK, "/readyz", LOOKBACK_DATA=folder) as it:
        yield it


@contextmanager
def bare() -> Iterator[subprocess.Popen[bytes]]:
    with _process("bench.baselines.bare", BARE, "/") as it:
        yield it


@contextmanager
def dash() -> Iterator[subprocess.Popen[bytes]]:
    with _process("bench.baselines.dash_app", DASH, "/_dash-layout") as it:
        yield it


@contextmanager
def one_chart() -> Iterator[subprocess.Popen[bytes]]:
    with _process("bench.baselines.one_chart", DASH, "/_dash-layout") as it:
        yield it


@contextmanager
def _process(module: str, port: int, ready: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(port)], env={**os.environ, **environment}, stdout=subprocess.DEVNULL
    )
    try:
        _wait(process, address(port, ready))
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:  # not listening yet, or answering 503
            time.sleep(0.1)
    raise RuntimeError(f"{url} did not answer within {PATIENCE:.0f} s (exit code {process.poll()})")
