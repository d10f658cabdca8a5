"""Dash's controls take the places of the browser's own: nothing moves, what was chosen holds; without them the page works."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

BOX = "((r) => [r.x, r.y, r.width, r.height].map((n) => Math.round(n * 2) / 2))(e.getBoundingClientRect())"
PARTS = ".place :is(.seg > button, .mantine-SegmentedControl-label, .still select, .mantine-Input-input)"
BOXES = f"""() => [((e) => !e.closest('.place > *'))].flatMap((outside) => [
  [...document.querySelectorAll('.top, .top *, .deck, .deck *, .stage :is(.slot, .view)')].filter(outside),
  [...document.querySelectorAll('{PARTS}')],
]).map((all, inside) => all.map((e) => (inside ? {BOX} : [{BOX}, e.tagName, e.className])))"""


@pytest.fixture
def dash(blank: Window) -> Callable[[], None]:
    """The page before Dash's controls are there. Called: they come."""
    held: list[Route] = []
    blank.page.route("**/dash_mantine_components.v*.js", lambda route: held.append(route))
    blank.page.goto(blank.address)
    blank.until("document.documentElement.dataset.ready !== undefined && lookback.store.world.moved !== null")
    blank.settled()

    def come() -> None:
        while not held:
            blank.page.wait_for_timeout(20)
        held.pop().continue_()

    return come


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844)])
def test_nothing_moves_when_they_come(blank: Window, dash: Callable[[], None], width: int, height: int) -> None:
    blank.page.set_viewport_size({"width": width, "height": height})
    blank.page.evaluate("() => document.fonts.ready")
    blank.settled()
    before = blank.page.evaluate(BOXES)
    dash()
    blank.loaded()
    assert blank.page.evaluate(BOXES) == before
    assert len(before[0]) > 50 and len(before[1]) == 8


def test_what_was_chosen_before_holds_and_a_person_is_not_interrupted(blank: Window, dash: Callable[[], None]) -> None:
    page = blank.page
    page.get_by_label("Step size").get_by_role("button", name="stage").click()
    page.get_by_label("Play: steps a second").select_option("5")
    blank.until("lookback.actions.rate === 5 && lookback.actions.unit === 'stage'")
    scenario = page.locator("[data-place=preset] select")
    scenario.focus()
    dash()
    blank.until("document.querySelectorAll('.still').length === 1")
    assert page.evaluate("() => document.activeElement.id") == "preset"
    scenario.select_option("translation/1")
    blank.until("lookback.actions.presetNow() === 'translation/1'")
    page.locator("#step").focus()
    blank.loaded()
    expect(page.locator("#rate")).to_have_value("5/s")
    expect(page.get_by_role("radio", name="stage")).to_be_checked()
    assert page.locator("#preset").input_value() == page.evaluate(
        "() => 'Translation: ' + lookback.actions.task().presets[1].name"
    )
    page.get_by_role("radio", name="Prefill").locator("..").click()
    blank.until("lookback.store.world.moved.phase === 'prefill'")


def test_the_page_works_without_dash(blank: Window) -> None:
    page = blank.page
    page.route("**/_dash-component-suites/**", lambda route: route.abort())
    page.goto(blank.address)
    blank.until("document.documentElement.dataset.ready !== undefined && lookback.store.world.moved !== null")
    page.get_by_label("Phase").get_by_role("button", name="Prefill").click()
    blank.until("lookback.store.world.moved.phase === 'prefill'")
    assert page.locator("#phase [aria-pressed=true]").inner_text() == "Prefill"
    page.get_by_role("radio", name="Decoder-only").click()
    blank.until("lookback.store.world.opened.scenario.architecture === 'decoder_only'")
    blank.settled()
    blank.step()
    page.get_by_label("Scenario: an example").select_option("language_model/1")
    blank.until("lookback.actions.presetNow() === 'language_model/1'")
    assert len(blank.problems) == 1 and "ERR_FAILED" in blank.problems.pop()


def test_a_later_visit_is_one_run_on_one_connection(blank: Window) -> None:
    blank.open()
    first = blank.page.evaluate("() => lookback.run.session")
    blank.until("localStorage.getItem('lookback-opening') !== null")
    later = blank.page.context.new_page()
    sent: list[str] = []
    later.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    later.goto(blank.address)
    visit = Window(later, blank.address).loaded()
    assert [sum(f'"kind":"{kind}"' in text for text in sent) for kind in ("watch", "open")] == [1, 1]
    assert later.evaluate("() => lookback.run.session") != first
    visit.step()
    later.close()


# What is laid out when the page first is. The clock by which it stops waiting for its values stands, or has run out.
SEEN = """
  window.seen = [];
  const later = window.setTimeout;
  window.setTimeout = (act, ms, ...more) => (ms === 700 ? window.patience === 0 && later(act, 0) : later(act, ms, ...more));
  const what = () => (document.querySelector("#view-map canvas")?.width ? "whole" : "bare");
  const laid = new ResizeObserver(([{ contentRect }]) => contentRect.width && seen.push(what()));
  const look = () => document.querySelector(".app") ? laid.observe(document.querySelector(".app")) : requestAnimationFrame(look);
  requestAnimationFrame(look);
"""


def visited(blank: Window, script: str) -> Window:
    """A later visit, which begins as the one before did."""
    blank.open()
    blank.until("localStorage.getItem('lookback-opening') !== null")
    later = blank.page.context.new_page()
    later.add_init_script(SEEN + script)
    later.goto(blank.address)
    return Window(later, blank.address)


def test_a_later_visit_is_shown_when_all_of_it_is_there(blank: Window) -> None:
    visit = visited(blank, "").loaded()
    visit.until("seen.length > 0")
    assert visit.page.evaluate("() => seen[0]") == "whole"
    expect(visit.page.locator("[data-architecture=encoder_decoder]")).to_be_in_viewport()
    visit.page.close()


def test_a_later_visit_does_not_wait_long_for_a_silent_server(blank: Window) -> None:
    visit = visited(blank, "window.patience = 0; WebSocket.prototype.send = () => {};")
    visit.until("seen.length > 0 && document.querySelector('#cold').textContent.length > 0")
    assert visit.page.evaluate("() => seen[0]") == "bare"
    visit.page.close()
