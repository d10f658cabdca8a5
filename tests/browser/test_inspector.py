"""The inspector in a browser: any tensor can be found, read by the keys and left again; measurements come by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

FIXED = (
    ".lock, .contract-part, .formula, .read-part .hh, table.arith thead, .mixture .vec, .mixture .scale, "
    "#view-checks .ph, .check summary"
)
BOXES = "(fixed) => [...document.querySelectorAll(fixed)].map((e) => [e.className, JSON.stringify(e.getBoundingClientRect())])"


def boxes(window: Window) -> Any:
    found = window.page.evaluate(BOXES, FIXED)
    assert len(found) > 15
    return found


def test_a_tensor_is_found_by_the_keys_read_cell_by_cell_and_left(window: Window) -> None:
    window.step(2)
    page = window.page
    page.locator(".all-taps").click()
    page.keyboard.type("decoder.layer1 self weights")
    page.keyboard.press("Enter")
    window.until("lookback.store.world.look.path === 'decoder.layer1.self.weights'")
    page.wait_for_selector(".pictures figure:nth-child(4)")
    window.until("document.querySelector('.lock').textContent.startsWith('Locked on weights')")
    page.locator(".pictures").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    window.until("document.querySelector('.asked').textContent.startsWith('head 1, t 1')")
    place, value = page.locator(".asked").inner_text().split(": ")
    shown = window.page.evaluate("() => lookback.store.world.values('inspector_values', 0)[0].at(0, 0, 1, 0)")
    assert place == "head 1, t 1 le, t' 0 <bos>"
    assert float(value.split()[0]) == pytest.approx(shown, abs=1e-4)
    assert window.world("moved.step") == 2, "the arrows walk over cells, they do not step"
    page.keyboard.press("Escape")
    window.until("lookback.store.world.look.path === null")
    page.wait_for_selector("table.arith")
    page.wait_for_selector(".pictures", state="hidden")


def test_the_tree_is_walked_by_the_keys(window: Window) -> None:
    page = window.page
    page.locator(".all-taps").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.dataset.key") == "parameter.encoder."
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator("[data-key='parameter.']").get_attribute("aria-expanded") == "false"


def test_nothing_in_the_inspector_moves_while_stepping(window: Window) -> None:
    window.page.evaluate("() => lookback.run.look({relation: 'target_self'})")
    window.step(1)
    before = boxes(window)
    window.step(3)
    assert boxes(window) == before


def test_checks_that_need_more_calls_measure_themselves_when_the_run_rests(window: Window) -> None:
    window.step(1)
    window.until("lookback.store.world.checked.checks.every((c) => c.status !== 'pending')")
    window.settled()
    assert "hold" in window.page.locator(".view-checks .ph").inner_text()
    row = window.page.locator(".checks > li", has_text="no future leak")
    row.locator("summary").click()
    assert "replaced in turn" in row.locator(".note").inner_text()


def test_a_parameter_shows_its_values_its_gradient_and_the_rows_that_pushed_it(window: Window) -> None:
    window.page.keyboard.press("t")
    window.until("lookback.store.world.moved.phase === 'train'")
    window.page.keyboard.press(".")
    window.until("lookback.store.world.moved.train?.parameter_norms")
    name = "decoder.layer0.cross.W_K.weight"
    window.page.evaluate(f"() => lookback.run.look({{path: 'parameter.{name}'}})")
    window.until("lookback.store.world.values('inspector_values', 0)[0]?.side === 'value'")
    window.page.get_by_role("button", name="gradient", exact=True).click()
    window.until("lookback.store.world.values('inspector_values', 0)[0]?.side === 'gradient'")
    window.until("lookback.store.world.analysis.row_contributions?.result")
    window.settled()
    result = window.world("analysis.row_contributions.result")
    assert result["parameter"] == name and result["whole"] == pytest.approx(result["recorded"], rel=1e-3)
    assert window.page.locator(".push tbody tr").count() == min(7, len(result["rows"]))
    assert "add up" in window.page.locator(".pushed > .note").inner_text()


def test_of_several_requests_the_last_valid_row_of_each_decides(window: Window) -> None:
    window.page.evaluate(
        "() => lookback.actions.requests([{source: ['the', 'cat'], target: []}, {source: ['the', 'cat'], target: ['le']}])"
    )
    window.until("lookback.store.world.opened.scenario.requests.length === 2")
    window.page.keyboard.press("p")
    window.until("lookback.store.world.moved.phase === 'prefill'")
    window.page.keyboard.press(".")
    window.until("lookback.store.world.moved.step === 1")
    window.settled()
    rows = [r.split() for r in window.page.locator(".which tbody tr").all_inner_texts()]
    assert rows == [["A", "1", "0", "<bos>", "1", "<pad>"], ["B", "2", "1", "le", "1", "le"]]


def test_what_is_cut_says_itself_whole_under_the_pointer(window: Window) -> None:
    window.step()
    note = window.page.locator(".read-part .hh .note")
    said = note.inner_text()
    note.evaluate("(e) => (e.style.maxWidth = '40px')")
    note.hover()
    assert note.get_attribute("title") == said.strip()
    note.evaluate("(e) => (e.style.maxWidth = '')")
    window.page.mouse.move(0, 0)
    note.hover()
    assert not note.get_attribute("title")
