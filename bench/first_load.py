"""From an address to a page that can be used: first load (empty cache) and later loads, beside a Dash page with one chart.

Usable: the page shows its first values and Step can be clicked; the chart is drawn. Read from the page's own clock at the frame
after. The pages take turns; each turn is a browser with a profile of its own: one load with nothing kept, then loads of which
the last counts as later (by then the browser has kept compiled scripts as well, for both pages). Over this machine's own
network, and over two lines as people have them, which the browser imitates for all pages alike: a good one, and the slow one that
Lighthouse measures on. A page with nothing but a line of text takes its turn too: so much of a load is the browser's own.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext

from bench import browser, servers
from bench.report import Line, percentile

TURNS = 5
LATER = 3  # loads after the first; the last counts
LINES = {
    "this machine": None,
    "20 Mbit/s, 40 ms": {"latency": 40, "downloadThroughput": 2.5e6, "uploadThroughput": 1.25e6},
    "1.6 Mbit/s, 150 ms": {"latency": 150, "downloadThroughput": 2e5, "uploadThroughput": 93750},
}
# Watches from the first moment of a page; `usable` is asked in every frame and may fail while nothing is there yet.
WATCH = """
(() => {
  const usable = () => { try { return !!(USABLE); } catch { return false; } };
  const look = () => requestAnimationFrame(() => {
    if (usable()) requestAnimationFrame(() => { window.usableAfter = performance.now(); });
    else look();
  });
  look();
})();
"""
LOOKBACK = (
    "!document.getElementById('step').disabled && document.querySelector('#view-map canvas').width"
    " && lookback.store.world.moved && lookback.store.inForce.length && !lookback.registry.waiting"
    " && [...lookback.store.blocks.values()].some((known) => known.size)"
)
CHART = "document.querySelector('.js-plotly-plot .bars path')"
TEXT = "document.querySelector('p').textContent"


@dataclass
class Site:
    address: str
    usable: str
    times: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def turn(self, line: str, *, keep: bool) -> None:
        with browser.profile() as context:
            context.add_init_script(WATCH.replace("USABLE", self.usable))
            taken = [_load(context, self.address, LINES[line]) for _ in range(1 + LATER)]
        if keep:
            self.times.setdefault((line, "first"), []).append(taken[0])
            self.times.setdefault((line, "later"), []).append(taken[-1])


def _load(context: BrowserContext, address: str, line: dict[str, float] | None) -> float:
    page = context.new_page()
    if line:
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {"offline": False, **line})
    page.goto(address, wait_until="commit")
    browser.until(page, "window.usableAfter")
    ms: float = page.evaluate("window.usableAfter")
    page.wait_for_timeout(1500)  # what the browser keeps is written
    page.close()
    return ms


def measure(turns: int = TURNS) -> list[Line]:
    with ExitStack() as stack:
        for server in (servers.lookback, servers.one_chart, servers.bare):
            stack.enter_context(server())
        ours, chart = Site(servers.address(servers.LOOKBACK), LOOKBACK), Site(servers.address(servers.DASH), CHART)
        empty = Site(servers.address(servers.BARE, "/empty"), TEXT)
        for turn in range(turns + 1):  # the first warms up
            for line in LINES:
                for site in (ours, chart, empty):
                    site.turn(line, keep=turn > 0)
    return [one for line in LINES for one in _lines(line, ours, chart, empty)]


def _lines(line: str, ours: Site, chart: Site, empty: Site) -> list[Line]:
    def medians(site: Site) -> tuple[float, float]:
        first, later = (percentile(site.times[line, which], 50) for which in ("first", "later"))
        return first, later

    first, later = medians(ours)
    of_chart, of_empty = medians(chart), medians(empty)
    beside = "; ".join(
        f"{name}: {b:.0f} to {a:.0f} ms" for name, (a, b) in (("the Dash page", of_chart), ("a page of one line", of_empty))
    )
    return [
        Line(
            f"First load until usable, {line}: to a Dash page with one chart",
            "≤ 1.5",
            f"{first:.0f} to {of_chart[0]:.0f} ms (median of {len(ours.times[line, 'first'])})",
            first / of_chart[0],
            1.5,
        ),
        Line(
            f"Later load, {line}: to its own first",
            "< 1/2",
            f"{later:.0f} to {first:.0f} ms ({beside})",
            later / first,
            0.5,
        ),
        Line(
            f"Later load, {line}: to half of what a first may take, 1.5 times the Dash page's",
            "< 1",
            f"{later:.0f} to {0.75 * of_chart[0]:.0f} ms",
            later / (0.75 * of_chart[0]),
            1.0,
        ),
    ]
