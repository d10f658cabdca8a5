"""Each further lesson in a real browser, from its first question to its last sentence: every condition is seen open, then met."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Window
from tests.browser.test_map import cell

pytestmark = pytest.mark.browser

Act = tuple[Any, ...]
WRITE: list[Act] = [("write",)]
ENDED = "lookback.store.world.moved.ended"
LOSS = "lookback.store.world.moved.train?.loss"
COLUMN, GUTTER = 58, 64  # of Back through time, px (assets/views/backwards.mjs)

# What a person does in each step: an answer, with how the verdict on it begins; steps; clicks.
WALKS: dict[str, list[list[Act]]] = {
    "mask": [
        [("say", "noir", ""), ("hide", 1, 2)],
        [("say", "less", ""), ("hide", 1, 2), ("back",)],
        [("say", "dort", ""), ("hide", 2, 2)],
        [("hide", 1, 0), ("hide", 1, 1), ("hide", 1, 3)],
        [("say", "12", ""), ("hide", 7, 8), ("seen", "You said 12: all. 1. Row 7 may copy")],
        WRITE,
    ],
    "prefill": [
        [("say", "36", "You said 36. All 8 rows ran in one call")],
        [("cell", 3, 0), ("cell", 7, 3)],
        [("say", "1", "Yes. 1 row, in")],
        [("choose", "my")],
        [("say", "1", "You said 1. 9 rows: the new row needs")],
        WRITE,
    ],
    "loss": [
        [("say", "→", "You said →. le: the label of a row")],
        [("click", ".batch-line .seq >> nth=1")],
        [("say", "dort", "You said dort. At blanc:")],
        [("say", "A 0", "You said A 0. The row that must say blanc:")],
        [("say", "same", ""), ("step", 2), ("until", f"{LOSS} < 0.0174")],
        WRITE,
    ],
    "memory": [
        [("say", "none", "You said none. 100%")],
        [("say", "whole", ""), ("step", 7)],
        [("say", "never", ""), ("step", 3)],
        WRITE,
        WRITE,
    ],
    "bottleneck": [
        [("say", "1", ""), ("until", ENDED)],
        [("say", "480", "Yes. 480 B, for 4 rows as for 17.")],
        [("say", "2", "You said cat."), ("until", ENDED)],
        [("choose", "dort"), ("step", 9), ("choose", "livre"), ("choose", "rouge"), ("until", ENDED)],
        WRITE,
    ],
    "gradient": [
        [("say", "0", "You said s0. A tenth comes as far back as state")],
        [("column", 6)],
        [("say", "13", "You said s13. A tenth comes as far back as state 0;")],
        [("until", f"{LOSS} < 0.5"), ("measured",)],
        WRITE,
    ],
}


class Walker:
    """What a person does on the page, and what the open step says of it."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.page = window.page

    def checks(self) -> dict[str, bool]:
        self.window.settled()
        script = "(all) => all.map((e) => [e.children[1].textContent, 'done' in e.dataset])"
        return dict(self.page.locator(".lcheck").evaluate_all(script))

    def does(self, act: Act) -> None:
        getattr(self, f"_{act[0]}")(*act[1:])
        self.window.settled()

    def _say(self, key: str, begins: str) -> None:
        """An answer; the bars are empty before it, and the verdict says what came."""
        assert set(self.page.locator(".opt .n").all_inner_texts()) == {""}
        assert self.page.locator("#step").is_disabled(), "nothing computes on while a question is open"
        self.page.locator(f".opt input[value='{key}']").check()
        self.page.locator(".pred button[type=submit]").click()
        if not begins:
            return
        self.window.until("document.querySelector('.pred .ruling').textContent !== ''")
        said = self.page.locator(".pred .ruling").inner_text()
        assert said.startswith(begins), said
        assert any(self.page.locator(".opt .n").all_inner_texts())

    def _step(self, times: int = 1) -> None:
        self.window.step(times)

    def _until(self, condition: str) -> None:
        for _ in range(90):
            if self.page.evaluate(f"() => !!({condition})"):
                return
            self.window.step()
        raise AssertionError(f"never {condition}")

    def _choose(self, word: str) -> None:
        at = self.window.world("moved.at")
        self.page.locator("#slot-next").get_by_role("button", name=word).first.click()
        self.window.until(f"lookback.store.world.moved.at !== {at}")

    def _hide(self, row: int, key: int) -> None:
        """A cell, hidden or shown with Edit mask."""
        at = self.window.world("moved.at")
        if not self.window.world("look.editing"):
            self.page.get_by_role("button", name="Edit mask").click()
            self.window.settled()
        self.page.mouse.click(*cell(self.window, row, key))
        self.window.until(f"lookback.store.world.moved.at !== {at}")

    def _back(self) -> None:
        self.page.locator("#back").click()
        self.window.until("!lookback.store.world.opened.scenario.masks.length")

    def _seen(self, begins: str) -> None:
        assert self.page.locator(".pred .ruling").inner_text().startswith(begins)

    def _cell(self, row: int, key: int) -> None:
        self.page.mouse.click(*cell(self.window, row, key))

    def _click(self, selector: str) -> None:
        self.page.locator(selector).click()

    def _column(self, row: int) -> None:
        self.page.locator(".backwards-pan canvas").click(position={"x": GUTTER + (row + 0.5) * COLUMN, "y": 40})
        self.window.until(f"lookback.store.world.analysis.gradient_through_time?.result?.row === {row}")

    def _measured(self) -> None:
        result = "lookback.store.world.analysis.gradient_through_time?.result"
        self.window.until(f"{result}?.moment === lookback.store.world.moved.at")

    def _write(self) -> None:
        self.page.locator("#lesson textarea").fill("In my own words.")
        self.window.press("Compare with ours")
        self.window.until("document.querySelector('.lours .ruling').textContent.length > 80")  # painted in the frame after


@pytest.mark.parametrize("name", WALKS)
def test_a_lesson_from_its_first_question_to_its_last_sentence(blank: Window, name: str) -> None:
    window = blank.open(f"/lesson?n={name}")
    walker, forward = Walker(window), window.page.locator(".lesson-foot button").last
    for number, acts in enumerate(WALKS[name], start=1):
        assert window.page.locator("#lesson .lesson-head .mono").inner_text() == f"{number} of {len(WALKS[name])}"
        before = walker.checks()
        open_once = {says for says, done in before.items() if not done}
        for act in acts:
            walker.does(act)
            open_once |= {says for says, done in walker.checks().items() if not done}
        after = walker.checks()
        assert open_once >= after.keys(), f"step {number}: met without being seen open"
        assert all(after.values()), f"step {number}: {after}"
        if number < len(WALKS[name]):
            forward.click()
            window.settled()
            assert not window.page.locator(".lbegin").is_visible(), "who goes on is where the step begins"
    assert window.world("refused") is None


def test_a_lesson_goes_on_after_a_reload_with_what_it_noted(blank: Window) -> None:
    window = blank.open("/lesson?n=memory")
    walker = Walker(window)
    walker.does(("say", "none", "You said none."))
    window.press("Next")
    window.shared()
    window.reload()
    assert window.page.locator("[aria-current=step] h3").inner_text() == "What stays of an old row"
    assert window.page.evaluate("() => lookbackLesson.see().note('state')") == sum(k["bytes"] for k in window.world("moved.kept"))
    assert window.page.locator("#step").is_disabled(), "its question is still open"


@pytest.mark.parametrize("name", WALKS)
def test_a_lesson_speaks_french_and_fits_a_phone(blank: Window, name: str) -> None:
    page = blank.page
    page.set_viewport_size({"width": 390, "height": 844})
    window = blank.open(f"/lesson?n={name}&lang=fr")
    assert page.locator("#lesson .qq").first.inner_text().startswith("Prédisez")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1440, "height": 900})
    window.settled()
