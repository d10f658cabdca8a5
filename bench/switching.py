"""From a click on another architecture to the page that shows it running, beside the page's own first load in the same browser.

Running: its run is open with trained weights, Step can be clicked, and the frame after the one that shows the last update begins.
"""

from __future__ import annotations

from contextlib import ExitStack

from playwright.sync_api import Browser

from bench import browser, servers
from bench.first_load import LOOKBACK, WATCH
from bench.report import Line, percentile

ARCHITECTURES = ("bahdanau", "luong", "decoder_only")
TURNS = 5


def measure(turns: int = TURNS) -> list[Line]:
    with ExitStack() as stack:
        stack.enter_context(servers.lookback())
        chromium = stack.enter_context(browser.chromium())
        loads, switches = list[float](), dict[str, list[float]]()
        for turn in range(turns + 1):  # the first warms up
            load, taken = _turn(chromium)
            if turn:
                loads.append(load)
                for architecture, ms in taken.items():
                    switches.setdefault(architecture, []).append(ms)
    first = percentile(loads, 50)
    return [_line(architecture, percentile(own, 50), first) for architecture, own in switches.items()]


def _turn(chromium: Browser) -> tuple[float, dict[str, float]]:
    """One page with nothing kept: its load, then one architecture after another, in ms."""
    context = chromium.new_context(viewport=browser.SIZE)
    page = context.new_page()
    page.add_init_script(browser.STOPWATCH)
    page.add_init_script(WATCH.replace("USABLE", LOOKBACK))
    page.goto(servers.address(servers.LOOKBACK), wait_until="commit")
    browser.until(page, "window.usableAfter")
    load: float = page.evaluate("window.usableAfter")
    page.evaluate(browser.WATCH_LOOKBACK)
    page.wait_for_timeout(1000)
    taken: dict[str, float] = {}
    for architecture in ARCHITECTURES:
        page.get_by_role("searchbox", name="Find an architecture").fill(architecture.replace("_", "-"))
        page.evaluate("() => bench.arm()")
        page.locator(f".card[data-architecture={architecture}]").click()
        browser.until(page, f"lookback.store.world.opened.scenario.architecture === '{architecture}'")
        browser.until(page, "!document.getElementById('step').disabled")
        _, taken[architecture] = page.evaluate("() => bench.result()")
        if page.evaluate("() => lookback.store.world.opened.weights.kind") != "trained":
            raise RuntimeError(f"{architecture} came without trained weights")
    context.close()
    return load, taken


def _line(architecture: str, ms: float, first: float) -> Line:
    what = f"Another architecture picked, {architecture} with trained weights: click to painted, to the page's first load"
    return Line(what, "< 1", f"{ms:.0f} to {first:.0f} ms (medians)", ms / first, 1.0)
