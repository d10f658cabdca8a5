"""Sizes, zoom, a phone, and a name for everything."""

from __future__ import annotations

import pytest

from app.session import link
from app.session.scenario import defaults
from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

NAMELESS = """() => {
  const named = (e) => e.ariaLabel || e.labels?.length || e.textContent.trim() || e.querySelector('[role=img][aria-label]');
  const seen = (e) => e.checkVisibility() && !e.closest('[aria-hidden=true]') && e.getBoundingClientRect().width > 1;
  const all = 'button, input, select, summary, a[href], canvas, [role=radio], [role=img], [tabindex="0"]';
  return [...document.querySelectorAll(all)].filter((e) => seen(e) && !named(e)).map((e) => e.outerHTML.slice(0, 160));
}"""


@pytest.mark.parametrize("phase", ["decode", "prefill", "train"])
def test_every_control_and_picture_has_a_name(window: Window, phase: str) -> None:
    window.page.evaluate(f"() => lookback.actions.phase('{phase}')")
    window.until(f"lookback.store.world.moved.phase === '{phase}'")
    window.step()
    window.settled()
    assert window.page.evaluate(NAMELESS) == []


def test_on_a_phone_nothing_scrolls_sideways_and_tabs_reach_everything(blank: Window) -> None:
    blank.page.set_viewport_size({"width": 390, "height": 844})
    blank.open()
    sideways = "() => document.documentElement.scrollWidth - innerWidth"
    for name, region in (("Set-up", ".setup"), ("Inspect", ".inspect"), ("Memory", "#slot-memory"), ("Stage", "#slot-next")):
        blank.press(name)
        assert blank.page.locator(region).is_visible()
        assert blank.page.evaluate(sideways) <= 0, name
    blank.page.locator("#step-phone").click()
    blank.until("lookback.store.world.moved.step === 1")


def test_on_a_phone_the_decision_is_in_sight_with_what_is_read(blank: Window) -> None:
    blank.page.set_viewport_size({"width": 390, "height": 844})
    blank.open()
    bar = blank.page.locator(".phone-nav").bounding_box()
    fourth, switch = blank.page.locator(".view-next .cand").nth(3), blank.page.get_by_role("button", name="× value")
    box = fourth.bounding_box()
    assert bar and box and box["y"] + box["height"] <= bar["y"], "though the first hint stands above"
    assert not blank.page.locator("#rate").is_visible()
    more = blank.page.get_by_role("button", name="Speed, step size and timeline")
    more.click()
    assert blank.page.locator("#rate").is_visible() and blank.page.get_by_role("slider", name="The whole line").is_visible()
    more.click()
    assert not blank.page.locator("#rate").is_visible()
    place = switch.bounding_box()
    assert place
    blank.page.mouse.click(place["x"] + 20, place["y"] - 7)  # a finger is wider than the words
    blank.until("lookback.store.world.look.ribbon === 'value'")


# What stands outside the bar at the top: it is cut there.
CUT = """() => {
  const bar = document.querySelector('header.top').getBoundingClientRect();
  const out = (r) => r.width > 2 && (r.top < bar.top - 1 || r.bottom > bar.bottom + 1 || r.right > innerWidth);
  const parts = [...document.querySelectorAll('header.top *')].filter((e) => e.offsetParent);
  return parts.filter((e) => out(e.getBoundingClientRect())).map((e) => e.className);
}"""
SIZES = [(1152, 720), (1029, 643), (1024, 768), (960, 600), (823, 514), (820, 1180), (740, 900), (480, 300)]


@pytest.mark.parametrize("size", SIZES)
def test_at_every_size_and_zoom_all_can_be_reached(blank: Window, size: tuple[int, int]) -> None:
    blank.page.set_viewport_size({"width": size[0], "height": size[1]})
    blank.open()
    assert blank.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert blank.page.evaluate(CUT) == []
    phone = size[0] <= 720
    if phone:
        blank.press("Speed, step size and timeline")
    names = ["Decode", "op"]
    controls = [blank.page.locator("#step-phone" if phone else "#step"), blank.page.locator("#play-phone" if phone else "#play")]
    controls += [blank.page.get_by_text(n, exact=True).first for n in names] + [blank.page.locator("#rate")]
    for control in controls:
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= size[0]
    canvas = blank.page.locator(".map-pan canvas")
    canvas.scroll_into_view_if_needed()
    shown = canvas.bounding_box()
    assert shown and shown["height"] >= 60
    blank.page.locator(".phone-nav" if phone else ".mini-rail").get_by_role("button", name="Inspect").click()
    assert blank.page.locator("#slot-inspector").is_visible()


def _bottom(window: Window, selector: str) -> float:
    box = window.page.locator(selector).last.bounding_box()
    assert box
    return box["y"] + box["height"]


FIRST: list[tuple[str, str]] = [(a, defaults(a).phase) for a in ("encoder_decoder", "mamba", "conformer", "longformer")]
TRAINED: list[tuple[str, str]] = [(a, "train") for a in ("encoder_decoder", "mamba", "nplm", "rctm")]


@pytest.mark.parametrize("architecture, phase", FIRST + TRAINED)
def test_in_a_low_window_every_check_is_in_sight(blank: Window, architecture: str, phase: str) -> None:
    scenario = {**defaults(architecture).model_dump(mode="json"), "phase": phase}
    blank.page.set_viewport_size({"width": 1280, "height": 720})
    blank.open("/#s=" + link.pack({"v": 1, "scenario": scenario, "log": [], "view": {}}))
    blank.step()
    assert _bottom(blank, ".checks > li") < _bottom(blank, ".inspect") + 1, "lengths of lines are parts of a pixel"


def test_in_a_low_window_cells_have_room_for_their_number(blank: Window) -> None:
    blank.page.set_viewport_size({"width": 1280, "height": 720})
    blank.open()
    canvas = blank.page.locator(".map-pan canvas").bounding_box()
    assert canvas and canvas["height"] >= 27 + 6 * 26  # six places, under names
