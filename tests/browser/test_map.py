"""The map in a real browser: painting, locking, panning and zooming, long inputs, two requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from app.session import link
from tests.browser.conftest import Server, Window

pytestmark = pytest.mark.browser

MAP = ".map-pan canvas"
# Where cells lie on the screen, from the same place that the page paints from: the labels' room and the size of a cell.
CELL = """async ([row, column]) => {
  const { viewport } = await import('/assets/lib/draw/camera.mjs');
  const pan = document.querySelector('.map-pan');
  const box = pan.getBoundingClientRect();
  const canvas = pan.querySelector('canvas');
  const found = [];
  for (let y = 2; y < box.height; y += 3) for (let x = 2; x < box.width; x += 3) {
    canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + x, clientY: box.top + y}));
    const at = lookback.store.world.hover;
    if (at?.row === row && at?.key === column) found.push([x, y]);
  }
  const middle = found[found.length >> 1];
  return middle ? [box.left + middle[0], box.top + middle[1]] : null;
}"""


def cell(window: Window, row: int, column: int) -> tuple[float, float]:
    """The middle of a cell on the screen."""
    at = window.page.evaluate(CELL, [row, column])
    assert at is not None, f"cell {row}, {column} is not in sight"
    return at[0], at[1]


def masks(window: Window) -> list[dict[str, Any]]:
    return window.world("opened.scenario.masks")


def hidden(window: Window) -> set[tuple[int, int]]:
    """The cells of the first mask that a person hid."""
    found = masks(window)
    rectangles = found[0]["cells"] if found else []
    assert not any(c["visible"] for c in rectangles)
    sides = [(range(c["query"], c["query"] + c["queries"]), range(c["key"], c["key"] + c["keys"])) for c in rectangles]
    return {(q, k) for rows, keys in sides for q in rows for k in keys}


def test_a_fast_drag_paints_without_a_gap_and_the_right_button_erases(window: Window) -> None:
    window.step(3)
    start, end = cell(window, 0, 0), cell(window, 3, 2)
    window.page.keyboard.press("m")
    mouse = window.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(*end)  # in one leap
    mouse.up()
    window.until("lookback.store.world.opened.scenario.masks.length === 1")
    window.settled()
    assert hidden(window) == {(0, 0), (1, 1), (2, 1), (3, 2)}
    mouse.move(*start)
    mouse.down(button="right")
    mouse.move(*start)
    mouse.up(button="right")
    window.until("lookback.store.world.opened.scenario.masks[0].cells[0].query !== 0")
    window.settled()
    assert hidden(window) == {(1, 1), (2, 1), (3, 2)}


def test_a_stroke_keeps_what_the_one_before_asked_for_and_was_not_answered_yet(window: Window) -> None:
    window.step(3)
    places = [cell(window, 2, 0), cell(window, 3, 1)]
    window.page.keyboard.press("m")
    window.page.evaluate("""() => {
      const { socket } = lookback.run;
      const send = socket.send.bind(socket);
      const free = new Promise((resolve) => (window.free = resolve));
      socket.send = async (...given) => (await free, send(...given));
    }""")
    for place in places:
        window.page.mouse.click(*place)
    window.until("lookback.run.ahead.length === 2")
    window.page.evaluate("() => window.free()")
    window.until("lookback.run.ahead.length === 0")
    window.settled()
    assert hidden(window) == {(2, 0), (3, 1)}


def test_a_lock_stays_while_stepping_and_goes_with_its_row_with_a_word(window: Window) -> None:
    window.step(3)
    window.page.mouse.click(*cell(window, 3, 1))
    window.until("lookback.store.world.look.lock?.row === 3")
    window.step()
    assert window.world("look.lock") == {"row": 3, "key": 1}
    assert window.page.locator("#map-readout").inner_text().startswith("query: target row 3 noir")
    for _ in range(2):
        window.press("Back")
        window.settled()
    window.until("lookback.store.world.look.lock === null")
    window.page.mouse.move(5, 5)
    window.until("document.querySelector('#map-readout').textContent.includes('Row 3 is not there any more: unlocked.')")


LONG = ("the black cat sleeps . " * 70).split()[:320]


def test_a_long_input_has_an_overview_and_a_lens_that_pans_and_zooms(window: Window) -> None:
    scenario = {"architecture": "decoder_only", "task": "language_model", "requests": [{"target": LONG}], "policy": {"limit": 40}}
    assert window.page.evaluate("(s) => lookback.run.commands.open(s)", scenario)["ok"]
    window.until("lookback.store.world.moved.requests[0].target.length === 321 && !!lookback.store.world.values('map', 0)[0]")
    window.settled()
    assert "longer than it was trained on" in window.world("notices")[0]["message"]
    overview = window.page.locator(".overview canvas")
    window.until("document.querySelector('.overview .pane-said').textContent.includes('8 × 8 cells a square: the darkest')")
    lens = window.page.locator(".pane-said").nth(1)
    assert "–321 ×" in (lens.text_content() or ""), "the lens stands at the newest row"
    box = overview.bounding_box()
    assert box is not None
    overview.click(position={"x": 31, "y": 17})  # the first cells
    window.until("document.querySelector('.map-pan').scrollTop === 0")
    window.until("document.querySelectorAll('.pane-said')[1].textContent.includes(', 0–')")
    x, y = cell(window, 3, 2)
    exact = window.page.evaluate("() => lookback.store.world.values('map', 0)[0].at(0, 0, 3, 2)")
    window.page.mouse.move(x, y)
    assert f"{exact:.3f}" in window.page.locator("#map-readout").inner_text()
    before = lens.text_content()
    window.page.mouse.wheel(0, 300)
    window.until(f"document.querySelectorAll('.pane-said')[1].textContent !== {before!r}")
    window.page.locator(MAP).focus()
    for key in ("-", "-", "-"):
        window.page.keyboard.press(key)
    wide = _seen(window)
    window.page.keyboard.press("0")
    window.settled()
    assert wide > 1.5 * _seen(window)
    window.step()
    assert window.world("moved.step") == 1


def _seen(window: Window) -> int:
    """How many rows the lens shows."""
    window.settled()
    said = window.page.locator(".pane-said").nth(1).text_content()
    assert said is not None
    first, last = said.split(", ")[1].split(" × ")[0].split("–")
    return int(last) - int(first)


def test_masks_by_pattern_and_by_typed_ranges(window: Window) -> None:
    scenario = {"architecture": "decoder_only", "task": "language_model", "requests": [{"target": LONG[:100]}]}
    assert window.page.evaluate("(s) => lookback.run.commands.open(s)", scenario)["ok"]
    window.page.keyboard.press("m")
    page = window.page
    page.get_by_label("Mask program", exact=True).select_option("causal_sliding")
    window.until("lookback.store.world.opened.scenario.masks[0]?.program === 'causal_sliding'")
    rows = page.get_by_label("Global rows: all read them, they read all")
    rows.fill("0, x")
    page.get_by_label("Parameter of the mask program").focus()
    assert "“x” is no row; allowed: numbers from 0 to 512. Nothing was changed." in window.said()
    assert (rows.input_value(), rows.get_attribute("aria-invalid")) == ("0, x", "true")
    rows.fill("0, 40")
    rows.press("Enter")
    window.until("lookback.store.world.opened.scenario.masks[0].global_rows.length === 2")
    page.locator(".mask-controls").get_by_role("button", name="More").click()
    page.get_by_label("Query rows of the block").fill("90-120")
    page.get_by_label("Key rows of the block").fill("40")
    page.get_by_role("button", name="Hide", exact=True).click()
    assert "rows 90 to 120 are not there; allowed: from 0 to 100" in page.locator(".mask-panel").inner_text()
    page.get_by_label("Query rows of the block").fill("90–99")
    page.get_by_role("button", name="Hide", exact=True).click()
    window.until("lookback.store.world.opened.scenario.masks[0].cells.length === 1")
    assert hidden(window) == {(q, 40) for q in range(90, 100)}
    window.settled()
    weights = page.evaluate("() => [0, 40, 85, 93, 95].map((k) => lookback.store.world.values('map', 0)[0].at(0, 0, 95, k))")
    assert weights[1] == weights[2] == 0 and weights[0] > 0 and weights[3] > 0
    page.get_by_role("button", name="The architecture’s own mask").click()
    window.until("lookback.store.world.opened.scenario.masks.length === 0")


def test_two_requests_of_a_prefill_stand_side_by_side(window: Window) -> None:
    requests = [{"target": ["the", "black", "cat"]}, {"target": ["the", "dog", "sleeps", "now", "."]}]
    scenario = {"architecture": "decoder_only", "task": "language_model", "phase": "prefill", "requests": requests}
    assert window.page.evaluate("(s) => lookback.run.commands.open(s)", scenario)["ok"]
    window.step()
    other = window.page.locator(".other-pan canvas")
    assert other.is_visible()
    assert window.page.locator(".panes figcaption").all_text_contents() == ["Request A, 4 valid rows", "Request B, 6 valid rows"]
    box = other.bounding_box()
    assert box is not None
    other.click(position={"x": box["width"] / 2, "y": box["height"] - 12})
    window.until("lookback.store.world.look.request === 1 && lookback.store.world.look.lock?.row === 5")
    window.until("document.querySelector('#map-readout').innerText.startsWith('query: target row 5 .')")


def test_on_a_phone_one_finger_paints_in_edit_mode_and_two_zoom(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    window = Window(context.new_page(), server.address).open()
    window.page.evaluate("() => lookback.actions.step()")
    window.until("lookback.store.world.moved.step === 1")
    window.page.evaluate("() => lookback.run.look({ editing: true })")
    window.page.locator(".panes").evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    window.settled()
    (x0, y0), (x1, y1) = cell(window, 0, 1), cell(window, 1, 2)
    touch = _fingers(context, window)
    touch([(x0, y0)], [(x1, y1)])
    window.until("lookback.store.world.opened.scenario.masks.length === 1")
    assert hidden(window) == {(0, 1), (1, 2)}
    width = "() => document.querySelector('.map-pan .pan-space').style.minWidth"
    assert window.page.evaluate(width) == "0px"
    touch([(x0, y0), (x0 + 20, y0)], [(x0 - 60, y0), (x0 + 80, y0)])
    window.settled()
    assert float(window.page.evaluate(width).removesuffix("px")) > 390, "two fingers that spread make the map larger"
    assert hidden(window) == {(0, 1), (1, 2)}, "and paint nothing"
    assert window.problems == []
    context.close()


def _fingers(context: BrowserContext, window: Window) -> Callable[[list[tuple[float, float]], list[tuple[float, float]]], None]:
    """Fingers that go down somewhere, move somewhere in a few steps, and leave."""
    devtools = context.new_cdp_session(window.page)

    def send(kind: str, points: list[tuple[float, float]]) -> None:
        places = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    def touch(start: list[tuple[float, float]], end: list[tuple[float, float]]) -> None:
        send("touchStart", start)
        for part in (0.5, 1.0):
            pairs = zip(start, end, strict=True)
            send("touchMove", [(a + (c - a) * part, b + (d - b) * part) for (a, b), (c, d) in pairs])
        send("touchEnd", [])

    return touch


def test_what_a_window_or_a_prefix_cannot_be_is_said_and_stays_in_its_field(blank: Window) -> None:
    scenario = {"architecture": "unified", "task": "one_stream", "weights": "random", "phase": "prefill"}
    window = blank.open(f"/#s={link.pack({'v': 1, 'scenario': scenario, 'log': [], 'view': {}})}")
    window.step(1)
    page = window.page
    page.keyboard.press("m")
    field, program = page.get_by_label("Parameter of the mask program"), page.get_by_label("Mask program", exact=True)
    for name, wrong, right, said in (("prefix", "40", "3", "prefix P"), ("sliding", "0", "2", "radius r")):
        program.select_option(name)
        window.until(f"lookback.store.world.opened.scenario.masks[0]?.program === '{name}'")
        kept = masks(window)
        field.fill(wrong)
        field.press("Enter")
        window.until("lookback.store.world.refused?.length")
        assert f"{said} (masks.0.parameter) was given {wrong}; allowed: a whole number from" in window.said()
        assert field.input_value() == wrong and field.get_attribute("aria-invalid") == "true" and masks(window) == kept
        field.fill(right)
        field.press("Enter")
        window.until(f"lookback.store.world.opened.scenario.masks[0].parameter === {right}")
        window.settled()
        assert field.get_attribute("aria-invalid") is None


def test_the_edge_of_the_source_is_dragged_and_makes_a_prefix(blank: Window) -> None:
    sentence = ["the", "black", "cat", "sleeps", "→"]
    scenario = {"architecture": "unified", "task": "one_stream", "weights": "random", "requests": [{"target": sentence}]}
    run = {"v": 1, "scenario": scenario, "log": [], "view": {}}
    window = blank.open(f"/#s={link.pack(run)}")
    window.step(1)
    window.page.keyboard.press("m")
    edge = window.page.locator(".prefix-edge:visible")
    assert edge.get_attribute("aria-valuenow") == "6", "the row after the arrow"
    edge.press("ArrowLeft")
    window.until("lookback.store.world.opened.scenario.masks.length === 1")
    window.settled()
    assert [(m["program"], m["parameter"]) for m in masks(window)] == [("prefix", 5)]
    box = edge.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    window.page.mouse.move(x, y)
    window.page.mouse.down()
    window.page.mouse.move(x - 300, y, steps=3)  # past the first column
    window.page.mouse.up()
    window.until("lookback.store.world.opened.scenario.masks[0].parameter === 0")
