"""A real server on a free port and a real Chromium. Every test's page fails on console errors and on requests to elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


class Server:
    """`lookback serve` as a process. Started again, it has the same port and the same data."""

    def __init__(self, data: Path, port: int = 0, root: Path = ROOT) -> None:
        self.data = data
        self.root = root
        self.port = port
        self.start()

    def start(self) -> None:
        environment = {**os.environ, "HOST": "127.0.0.1", "PORT": str(self.port), "LOOKBACK_DATA": str(self.data)}
        command = [sys.executable, "-m", "app.cli", "serve"]
        self.process = subprocess.Popen(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        ready = next((line for line in self.process.stdout if "http://" in line), "")
        found = re.search(r"http://\S+:(\d+)", ready)
        assert found, "the server ended before it was ready"
        self.port = int(found[1])
        self.address = found[0]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("journal"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        shell = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=shell, args=FLAGS)
        yield browser
        browser.close()


class Window:
    """One page on Lookback, with what went wrong on it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.problems: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", lambda request: self._asked(request.url))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address, self.address.replace("http", "ws", 1), "data:", "blob:")):
            self.problems.append(f"a request to {url}")

    def open(self, where: str = "/") -> Window:
        """Go there and wait until a run is on the page, and Dash's controls are."""
        self.page.goto(self.address + where)
        return self.loaded()

    def reload(self) -> Window:
        self.page.reload()
        return self.loaded()

    def loaded(self) -> Window:
        self.until("document.documentElement.dataset.ready !== undefined")
        self.until("lookback.store.world.moved !== null && !lookback.store.unsettled")
        self.until("!lookback.registry.waiting")
        self.settled()  # with the values that its views asked for
        self.until("!document.getElementById('lookback-dash') || !document.querySelector('.still')")
        return self

    def until(self, condition: str) -> None:
        """Until it holds, and what hangs on it is painted."""
        self.page.wait_for_function(f"() => {condition}", timeout=15_000)
        self.page.evaluate(PAINTED)

    def world(self, what: str) -> Any:
        """A value of the page's world, `moved.step`."""
        return self.page.evaluate(f"() => lookback.store.world.{what}")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def step(self, times: int = 1) -> None:
        """Press Step and wait for each step's moment to be drawn."""
        for _ in range(times):
            at = self.world("moved.at")
            self.page.locator("#step").click()
            self.until(f"lookback.store.world.moved.at !== {at}")
        self.settled()

    def settled(self) -> None:
        """Until every command is answered and all views are painted."""
        self.until("lookback.run.open === 0 && lookback.run.socket.waiting.size === 0")
        self.until("!lookback.registry.waiting")

    def shared(self) -> None:
        """Until the server knows the look, and the address holds the run as it is."""
        self.until("!lookback.run.lookTimer && !lookback.run.bar.timer && lookback.run.socket.waiting.size === 0")

    def tokens(self, request: int = 0) -> list[str]:
        """The target rows that are known."""
        rows = self.world(f"moved.requests[{request}].target")
        return [r["token"] for r in rows if r["state"] in ("known", "new")]

    def said(self) -> str:
        """The live sentence, once all views are painted."""
        self.settled()
        return self.page.locator(".say").inner_text()


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One profile for all tests, so that scripts are fetched and compiled once. What a tab keeps goes with its page."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context
    context.close()


@pytest.fixture
def blank(context: BrowserContext, server: Server) -> Iterator[Window]:
    """A window before its first load."""
    window = Window(context.new_page(), server.address)
    yield window
    window.page.evaluate("() => localStorage.clear()")
    context.clear_cookies()
    for page in context.pages:
        page.close()
    assert window.problems == []


@pytest.fixture
def window(blank: Window) -> Window:
    """A first visit, loaded."""
    return blank.open()
