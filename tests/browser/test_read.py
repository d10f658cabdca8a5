"""The strips, the sentence and what is kept, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Server, Window

pytestmark = pytest.mark.browser
SENTENCE = ["the", "black", "cat", "sleeps", ".", "my", "small", "dog", "eats", "and", "the", "white", "horse", "runs", "."]
PARTS = (".say-line", ".say-note", "#view-read .read-pan", ".ribbon-switch", "#view-memory", "#view-memory .banks", ".kept-cost")
FIXED = """(parts) => parts.map((part) => {
  const box = document.querySelector(part).getBoundingClientRect();
  return [part, Math.round(box.top), Math.round(box.right), Math.round(box.height)];
})"""


def place(window: Window, row: int, *, keys: bool) -> dict[str, float]:
    """Where a row of a strip lies on the page: keys above, queries below."""
    return window.page.evaluate(
        """async ([row, keys]) => {
          const { layout } = await import('/assets/lib/read/strips.mjs');
          const { places, reserved } = await import('/assets/lib/read/ribbons.mjs');
          const read = await import('/assets/lib/reads.mjs');
          const { world } = lookback.store;
          const { info } = read.relation(world);
          const pan = document.querySelector('#view-read .read-pan');
          const count = Math.max(read.rows(world, info.key).length, places(world, info.query).length);
          const geo = layout(pan.clientWidth, pan.clientHeight, count, reserved(world, info));
          const box = pan.getBoundingClientRect();
          return { x: box.left + geo.middle(row) - pan.scrollLeft, y: box.top + (keys ? geo.top : geo.bottom) + 8 };
        }""",
        [row, keys],
    )


def point(window: Window, row: int, *, keys: bool, click: bool = False) -> None:
    at = place(window, row, keys=keys)
    (window.page.mouse.click if click else window.page.mouse.move)(at["x"], at["y"])


def opened(window: Window, **scenario: Any) -> None:
    window.page.evaluate("(s) => lookback.run.send({ kind: 'open', scenario: s })", scenario)
    window.settled()


def test_what_is_pointed_at_lights_everywhere_and_a_click_locks_it(window: Window) -> None:
    window.step(3)
    point(window, 2, keys=False)
    window.until("lookback.store.world.hover?.row === 2 && lookback.store.world.hover.key === 1")
    window.until("document.querySelector('#view-read canvas').ariaLabel.includes('row 2 chat reads 96% black')")
    window.until("document.querySelector('.readout').textContent.includes('preview')")
    point(window, 0, keys=True, click=True)
    window.until("lookback.store.world.look.lock?.row === 3 && lookback.store.world.look.lock.key === 0")
    assert "takes <1% from the" in window.said()
    point(window, 0, keys=True, click=True)
    window.until("lookback.store.world.look.lock === null")
    assert window.page.evaluate("() => document.activeElement.tagName") != "CANVAS", "the arrow keys still step"


def test_the_strips_are_reached_with_the_keys(window: Window) -> None:
    window.step(2)
    window.page.locator("#view-read canvas").focus()
    window.page.keyboard.press("ArrowUp")
    window.until("lookback.store.world.hover?.row === 1")
    window.until("document.querySelector('#said').textContent.startsWith('row 1 le, key 2 cat: 90%')")
    window.page.keyboard.press("ArrowLeft")
    window.page.keyboard.press("Enter")
    window.until('JSON.stringify(lookback.store.world.look.lock) === \'{"row":1,"key":1}\'')
    assert window.world("moved.step") == 2


def test_a_ribbon_is_as_wide_as_the_weight_or_as_weight_times_value(window: Window) -> None:
    window.step(2)
    window.press("× value")
    window.until("lookback.store.valuesOf('read', 1).length === 1")
    table = window.page.evaluate(
        "() => lookback.registry.placed.find((p) => p.view.id === 'read').view.table(lookback.store.world)"
    )
    assert table["columns"][-1] == "weight × value"
    lengths = [row[-1] / row[-2] for row in table["rows"]]
    assert len(lengths) == 4 and all(length > 0 and length != 1 for length in lengths)


def test_nothing_moves_while_stepping(window: Window) -> None:
    boxes = window.page.evaluate(FIXED, PARTS)
    for _ in range(5):
        window.step()
        assert window.page.evaluate(FIXED, PARTS) == boxes
        assert window.page.locator(".say").evaluate("(e) => e.scrollWidth - e.clientWidth") <= 0


def test_a_long_input_is_followed_and_its_overview_pans(window: Window) -> None:
    opened(window, architecture="decoder_only", task="language_model", requests=[{"target": SENTENCE * 6}], phase="prefill")
    window.step()
    pan = window.page.locator("#view-read .read-pan")
    window.until("document.querySelector('#view-read .read-pan').scrollLeft > 1000")
    box = pan.bounding_box()
    assert box
    window.page.mouse.click(box["x"] + 132, box["y"] + 8)
    window.until("document.querySelector('#view-read .read-pan').scrollLeft === 0")
    point(window, 2, keys=False)
    window.until("lookback.store.world.hover?.row === 2")


def test_prefill_of_two_prompts_shows_a_strip_each(window: Window) -> None:
    two = [{"target": ["the", "cat"]}, {"target": ["the", "small", "dog", "sleeps"]}]
    opened(window, architecture="decoder_only", task="language_model", requests=two, phase="prefill")
    window.step()
    said = "Request A: 3 of 5 valid; row 2 cat decides"
    window.until(f"document.querySelector('#view-read canvas').ariaLabel.startsWith('{said}')")
    assert window.said().startswith("A takes ") and "from its row 2, B takes " in window.said()
    assert window.page.locator("#view-memory .bank").count() == 3
    assert window.page.locator("#view-memory .bank b").all_inner_texts() == ["Request A", "Request B", "Work in this pass"]


def test_what_one_more_token_costs_is_what_it_then_costs(window: Window) -> None:
    def kept() -> int:
        return int(window.page.evaluate("() => lookback.store.world.moved.kept.reduce((n, k) => n + k.bytes, 0)"))

    window.step()
    before = kept()
    assert "+1.0 KiB" in window.page.locator(".kept-cost").inner_text()
    window.step()
    assert kept() - before == 1024


def test_a_refusal_can_be_closed_and_a_lost_connection_says_when_it_is_back(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        window = Window(context.new_page(), server.address).open()
        window.step()
        cells = [{"query": 0, "key": k, "visible": False} for k in range(4)]
        mask = {"relation": "cross", "layer": None, "program": "full", "parameter": 0, "cells": cells}
        window.page.evaluate("(m) => lookback.run.send({ kind: 'change', fields: { masks: [m] } })", mask)
        window.until("document.querySelector('.say').textContent.startsWith('Nothing was changed')")
        window.press("Close")
        window.until("document.querySelector('.say').textContent.includes('takes')")
        window.page.evaluate("() => lookback.run.state('offline', String(Date.now() - 12000))")
        window.until(r"/Showing decode 1, measured 1\d s ago/.test(document.querySelector('.say').textContent)")
        window.page.evaluate("() => lookback.run.refuse([{field: 'connection', message: 'Not connected'}])")
        window.page.evaluate("() => lookback.run.state('open', '')")
        window.until(
            "document.querySelector('.say-note').textContent.startsWith('Connected again after 12 s. This is decode 1.')"
        )
    finally:
        context.close()


def test_a_text_is_scored_and_then_stepped_through_with_the_same_numbers(window: Window) -> None:
    page = window.page
    window.step(1)
    page.get_by_role("button", name="Score…").click()
    page.get_by_label("Text to score").fill("le chat zèbre dort")
    page.keyboard.press("Enter")
    page.get_by_text("scored as <unk>: zèbre").wait_for()
    scored = page.evaluate("lookback.store.world.analysis.score_text.result.log_p")
    assert page.locator(".factors-list li").count() == len(scored) == 5
    page.get_by_role("button", name="Step through it").click()
    window.until("lookback.store.world.moved.requests[0].finished === 'eos'")
    taken = page.evaluate("Array.from(lookback.store.world.moved.requests[0].log_p)")
    assert taken == pytest.approx(scored, abs=1e-4)


def test_a_beam_shows_its_tree_and_any_hypothesis_of_it(window: Window) -> None:
    page = window.page
    opened(window, requests=[{"source": ["the", "small", "cat", "does", "not", "sleep"]}], policy={"kind": "beam", "width": 3})
    window.step(2)
    page.locator("#view-beams").wait_for()
    assert "width 3, 2 steps" in page.locator("#view-beams").inner_text()
    window.until("document.querySelector('#view-beams canvas').ariaLabel.startsWith('A: le petit')")
    box = page.locator(".beams-pan").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 200, box["y"] + 20 + 1.5 * (min(38, max(21, (box["height"] - 22) / 6))))
    window.until("lookback.store.world.look.request === 1")
    while not page.evaluate("lookback.store.world.moved.ended"):
        window.step()
    assert "the answer is A" in page.locator("#view-beams").inner_text()
    page.get_by_role("button", name="Show the map").click()
    page.locator("#view-map").wait_for()
    page.get_by_role("button", name="Tree").click()
    page.locator("#view-beams").wait_for()
