"""Click on Step to painted with three models side by side, beside the stage with one of them, in turns in one browser.

On the comparison painted means all of it; on the stage the maps, as `click_to_painted` measures them.
"""

from __future__ import annotations

import base64
import json
from contextlib import ExitStack

from playwright.sync_api import Browser

from app.session.scenario import Scenario, defaults
from bench import browser, servers
from bench.click_to_painted import ROUNDS, Variant
from bench.report import Line, p50_p95, percentile
from bench.runs import AROUND

MODELS = ("cho_2014", "bahdanau", "encoder_decoder")
ALONE = "encoder_decoder"
SENTENCE = "the black cat does not see the small dog and the red car does not see the white house"  # all write 17 words or more
ROWS = AROUND + 3  # the first click is the second step: prefill is another kind of step
RESTING = 700.0  # ms in which the comparison measures the reach of every choice


def measure(rounds: int = ROUNDS) -> list[Line]:
    with ExitStack() as stack:
        stack.enter_context(servers.lookback())
        chromium = stack.enter_context(browser.chromium())
        variants = [_together(chromium), _alone(chromium)]
        for turn in range(rounds + 1):  # the first warms up
            for variant in variants:
                variant.round(ROWS, keep=turn > 0)
    together, alone, whole = variants[0].whole[ROWS], variants[1].times[ROWS], variants[1].whole[ROWS]
    what = f"Click to painted, {len(MODELS)} models side by side, to the stage with one of them"
    measured = (
        f"{p50_p95(together)} to {p50_p95(alone)} (p50/p95, {len(alone)} clicks each); all that the stage shows {p50_p95(whole)}"
    )
    return [Line(what, "≤ 2", measured, percentile(together, 50) / percentile(alone, 50), 2.0)]


def _together(chromium: Browser) -> Variant:
    what = {
        "v": 1,
        "task": "translation",
        "models": MODELS,
        "source": SENTENCE.split(),
        "target": [],
        "seed": 7,
        "lead": "own",
        "phase": "decode",
    }
    link = base64.urlsafe_b64encode(json.dumps(what).encode()).decode().rstrip("=")
    steps = "lookbackCompare.columns.map((c) => c.world.moved?.step ?? -1)"
    page = browser.open_page(
        chromium, servers.LOOKBACK, f"window.lookbackCompare && Math.min(...{steps}) >= 0", f"/compare#c={link}"
    )
    page.evaluate(browser.WATCH_COMPARE)

    def reset(rows: int) -> None:
        page.locator("#compare-track button").nth(1).click()  # the first is where nothing is read yet
        browser.until(page, f"{steps}.every((step) => step === 0) && !lookbackCompare.busy")
        for row in range(2, rows + 1):
            page.click("#compare-step")
            browser.until(page, f"{steps}.every((step) => step === {row - 1}) && !lookbackCompare.busy")
        page.wait_for_timeout(RESTING)

    return Variant(page, reset, f"1 + Math.min(...{steps})", button="#compare-step", rest=RESTING)


def _alone(chromium: Browser) -> Variant:
    page = browser.open_lookback(chromium)
    page.evaluate(browser.WATCH_LOOKBACK)

    def reset(rows: int) -> None:
        browser.begin(page, _scenario())
        for row in range(2, rows + 1):
            page.click("#step")
            browser.until(page, f"lookback.store.world.moved.step === {row - 1}")
        page.wait_for_timeout(RESTING)

    return Variant(page, reset, "1 + lookback.store.world.moved.step", rest=RESTING)


def _scenario() -> Scenario:
    fields = {"phase": "decode", "seed": 7, "policy": {"limit": 24}, "requests": [{"source": SENTENCE.split(), "target": []}]}
    return defaults(ALONE, "translation", **fields)
