"""Click on Step to painted, eight maps: the page, a bare page, an ordinary Dash app, in turns in one browser.

Painted: the frame after the one that shows the eight maps with the new row begins. The two others show nothing else. Our page
shows the map that is looked at and the small one of each head, and much beside them; how long all of it takes is told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Page

from bench import browser, servers
from bench.report import Line, p50_p95, percentile
from bench.runs import AROUND, scenario

ROUNDS = 9
ONE_FRAME = 17.0  # ms


@dataclass
class Variant:
    """reset: stand at so many rows. rows: how many the page shows (JavaScript). times: by size, ms, of maps; whole: of all."""

    page: Page
    reset: Callable[[int], None]
    rows: str
    times: dict[int, list[float]] = field(default_factory=dict)
    whole: dict[int, list[float]] = field(default_factory=dict)
    button: str = "#step"
    rest: float = 0.0  # ms between clicks, for a page that goes on working after it has shown a step

    def round(self, size: int, *, keep: bool) -> None:
        """One step after another around `size` rows."""
        self.page.bring_to_front()
        self.reset(size - AROUND - 1)
        box = self.page.locator(self.button).bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.wait_for_timeout(600)
        for rows in range(size - AROUND, size + AROUND + 1):
            self.page.evaluate("bench.arm()")
            self.page.mouse.click(x, y)
            maps, everything = self.page.evaluate("bench.result()")
            shown = self.page.evaluate(self.rows)
            if shown != rows:
                raise RuntimeError(f"{self.page.url} shows {shown} rows after a click, not {rows}")
            if keep:
                self.times.setdefault(size, []).append(maps)
                self.whole.setdefault(size, []).append(everything)
            self.page.wait_for_timeout(self.rest)


def measure(sizes: tuple[int, ...] = (16, 64), rounds: int = ROUNDS) -> list[Line]:
    with ExitStack() as stack:
        for server in (servers.lookback, servers.bare, servers.dash):
            stack.enter_context(server())
        chromium = stack.enter_context(browser.chromium())
        variants = [_lookback(chromium), _bare(chromium), _dash(chromium)]
        for turn in range(rounds + 1):  # the first warms up
            for size in sizes:
                for variant in variants:
                    variant.round(size, keep=turn > 0)
    return [line for size in sizes for line in _lines(size, variants[0].whole[size], *[v.times[size] for v in variants])]


def _lookback(chromium: Browser) -> Variant:
    page = browser.open_lookback(chromium)
    page.evaluate(browser.WATCH_LOOKBACK)

    def reset(rows: int) -> None:
        browser.begin(page, scenario(rows))
        browser.all_heads(page, 8)

    return Variant(page, reset, "lookback.store.world.moved.requests[0].decision_row + 1")


def _bare(chromium: Browser) -> Variant:
    page = browser.open_page(chromium, servers.BARE, "socket.readyState === 1")

    def reset(rows: int) -> None:
        page.evaluate(f"reset({rows})")
        browser.until(page, f"rows === {rows}")

    return Variant(page, reset, "rows")


def _dash(chromium: Browser) -> Variant:
    rows = "document.querySelector('.js-plotly-plot')?._fullData?.[0]?.z?.length"
    page = browser.open_page(chromium, servers.DASH, rows)
    page.evaluate(browser.WATCH_DASH)

    def reset(count: int) -> None:
        page.fill("#rows", str(count))
        page.click("#reset")
        browser.until(page, f"{rows} === {count}")

    return Variant(page, reset, rows)


def _lines(size: int, whole: list[float], ours: list[float], bare: list[float], dash: list[float]) -> list[Line]:
    (our_50, our_95), (bare_50, _), (dash_50, dash_95) = [[percentile(x, p) for p in (50, 95)] for x in (ours, bare, dash)]
    what = f"Click to painted, 8 maps, T={size}"
    all_of_it = f"all that our page shows {p50_p95(whole)}"
    both = f"{p50_p95(ours)}; bare {p50_p95(bare)}; Dash {p50_p95(dash)} (p50/p95, {len(ours)} clicks each); {all_of_it}"
    return [
        Line(f"{what}: p50 over a bare page", "≤ + 17 ms", both, (our_50 - bare_50) / ONE_FRAME, 1.0),
        Line(f"{what}: p50 to a Dash app's", "≤ 1/4", f"{our_50:.1f} to {dash_50:.1f} ms", our_50 / dash_50, 0.25),
        Line(f"{what}: p95 to a Dash app's", "≤ 1/4", f"{our_95:.1f} to {dash_95:.1f} ms", our_95 / dash_95, 0.25),
    ]
