"""One server for the tests that ask it over HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx2
import pytest

from tests.server.serving import served


@pytest.fixture(scope="package")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    with served(tmp_path_factory.mktemp("data")) as port, httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as found:
        deadline = time.monotonic() + 30
        while found.get("/readyz").status_code != 200 and time.monotonic() < deadline:
            time.sleep(0.01)
        yield found
