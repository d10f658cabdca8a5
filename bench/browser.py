"""A headless Chromium, and in each page a stopwatch from a real click to the frame that shows its last update."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from app.session.commands import Selector
from app.session.scenario import Scenario
from bench import runs, servers

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
SIZE: ViewportSize = {"width": 1440, "height": 900}
# `updated` is called after every change of what is shown, `updated(true)` after one that shows the new maps. It counts as painted
# when the frame after the one that shows it begins: the next frame for a change that was made in a frame callback, the second for
# one that was made before the frame. `maps` and `all` are when the last change of each kind was painted; the step is over when
# nothing more was updated for QUIET ms.
STOPWATCH = """
const QUIET = 150;
const nextFrame = window.requestAnimationFrame.bind(window);
window.bench = {
  clicked: 0, maps: 0, all: 0, pending: 0, inFrame: false,
  updated(maps = false) {
    const stamp = () => {
      this.all = performance.now();
      if (maps) this.maps = this.all;
      this.pending--;
    };
    this.pending++;
    nextFrame(this.inFrame ? stamp : () => nextFrame(stamp));
  },
  arm() { this.clicked = this.maps = this.all = 0; },
  async result() {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const painted = this.clicked && this.maps > this.clicked && !this.pending;
      if (painted && performance.now() - this.all > QUIET) return [this.maps - this.clicked, this.all - this.clicked];
    }
  },
};
window.requestAnimationFrame = (act) => nextFrame((time) => {
  bench.inFrame = true;
  queueMicrotask(() => queueMicrotask(() => { bench.inFrame = false; }));
  act(time);
});
addEventListener("click", (event) => { bench.clicked = event.timeStamp; }, true);
"""
# The page's views draw in one place; everything else that it shows is DOM. Writing what is there already changes nothing.
WATCH_LOOKBACK = """() => {
  const { registry } = lookback;
  const draw = registry.draw;
  registry.draw = (placed) => {
    const paint = draw.call(registry, placed);
    bench.updated(placed.view.id === "map");
    return paint;
  };
  const real = (m) => m.type !== "attributes" || m.target.getAttribute(m.attributeName) !== m.oldValue;
  const observer = new MutationObserver((records) => records.some(real) && bench.updated());
  const all = { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true };
  observer.observe(document.body, all);
}"""
# The comparison shows everything in one drawing, in a frame that it asked for.
WATCH_COMPARE = """() => {
  const ask = window.requestAnimationFrame;
  window.requestAnimationFrame = (act) => ask((time) => { act(time); bench.updated(true); });
}"""
WATCH_DASH = """() => document.querySelector(".js-plotly-plot").on("plotly_afterplot", () => bench.updated(true))"""


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def profile() -> Iterator[BrowserContext]:
    """A browser whose profile lies on disk and is empty: only there does it keep scripts as it compiled them."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(folder, executable_path=CHROMIUM, args=list(FLAGS), viewport=SIZE)
        try:
            context.pages[0].wait_for_timeout(1000)  # it has just started
            yield context
        finally:
            context.close()


def open_page(browser: Browser, port: int, ready: str, path: str = "/") -> Page:
    """A page in a profile of its own, once the script `ready` says true."""
    page = browser.new_context(viewport=SIZE).new_page()
    page.add_init_script(STOPWATCH)
    page.goto(servers.address(port, path))
    until(page, ready)
    return page


def until(page: Page, condition: str, patience: float = 60.0) -> None:
    """Wait for a JavaScript expression to hold (the page's policy forbids what Playwright does for that)."""
    end = time.monotonic() + patience
    while not page.evaluate(f"() => !!({condition})"):
        if time.monotonic() > end:
            raise RuntimeError(f"within {patience:.0f} s the page never came to: {condition}")
        time.sleep(0.02)


def open_lookback(browser: Browser) -> Page:
    return open_page(browser, servers.LOOKBACK, "window.lookback && lookback.store.world.moved && lookback.store.inForce.length")


def begin(page: Page, scenario: Scenario) -> None:
    """Open a scenario in the page and wait until its views have what they want."""
    reply = page.evaluate("(scenario) => lookback.run.commands.open(scenario)", scenario.model_dump(mode="json"))
    if not reply["ok"]:
        raise RuntimeError(f"the scenario was refused: {reply['errors']}")
    page.wait_for_timeout(300)
    until(page, "lookback.registry.watched === lookback.store.inForce.join()")


def all_heads(page: Page, count: int) -> None:
    """Show a map for each head, which a run that may become long shows when asked."""
    page.locator("#view-map [data-part=side] button").last.click()
    until(page, f"[...document.querySelectorAll('.mini canvas')].filter((c) => c.checkVisibility()).length === {count}")


@cache
def plain_watch(architecture: str = "decoder_only") -> tuple[Selector, ...]:
    """What the page watches in decode with all its views open, as it says itself. Needs the server."""
    with chromium() as browser:
        page = open_lookback(browser)
        begin(page, runs.scenario(12, architecture))
        wants: list[dict[str, Any]] = page.evaluate("() => lookback.store.inForce.map((text) => JSON.parse(text))")
    return tuple(Selector(**w) for w in wants)
