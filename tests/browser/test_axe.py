"""axe finds nothing serious on the page: in each phase, theme and size, with whatever can be opened open."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

AXE = Path(sys.prefix) / "node_modules" / "axe-core" / "axe.min.js"
# What a combobox lists scrolls with its active option, as its pattern says: the list itself takes no focus.
# In the dark only the colours are others.
FOUND = """async () => (await axe.run({exclude: ['.mantine-ScrollArea-viewport']}, {
    resultTypes: ['violations'],
    ...(matchMedia('(prefers-color-scheme: dark)').matches ? {runOnly: {type: 'rule', values: ['color-contrast']}} : {}),
  })).violations
  .filter((v) => ['serious', 'critical'].includes(v.impact))
  .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')} ${n.failureSummary.split('\\n')[1] ?? ''}`))"""


def _clean(page: Page, when: str) -> None:
    page.evaluate("() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
    found = page.evaluate(FOUND)
    assert not found, f"{when}:\n" + "\n".join(found)


def _opened(window: Window, scheme: str) -> Window:
    window.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    window.open()
    window.page.evaluate(AXE.read_text())
    return window


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_phase_on_a_desk_and_on_a_phone(blank: Window, scheme: str) -> None:
    _opened(blank, scheme)
    for key, phase in (("d", "decode"), ("p", "prefill"), ("t", "train")):
        blank.page.keyboard.press(key)
        blank.until(f"lookback.store.world.moved.phase === '{phase}'")
        blank.step(2)
        _clean(blank.page, f"{phase}, {scheme}")
    blank.page.set_viewport_size({"width": 390, "height": 844})
    for tab in ("Set-up", "Inspect", "Memory", "Stage"):
        blank.press(tab)
        _clean(blank.page, f"{tab} on a phone, {scheme}")


@pytest.mark.parametrize("where", ["/bench", "/compare"])
def test_the_pages_beside_the_stage(blank: Window, where: str) -> None:
    page = blank.page
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(blank.address + where)
    blank.until("document.documentElement.dataset.ready !== undefined && !globalThis.lookbackCompare?.busy")
    page.evaluate(AXE.read_text())
    _clean(page, where)
    page.emulate_media(color_scheme="dark")
    _clean(page, f"{where}, dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_lesson_asked_answered_and_written(blank: Window, scheme: str) -> None:
    page = blank.page
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    blank.open("/lesson?n=adjective")
    page.evaluate(AXE.read_text())
    _clean(page, f"a lesson, {scheme}")
    page.evaluate("() => lookback.run.look({ lock: { row: 0, key: 0 } })")
    blank.press("Next")
    blank.step()
    blank.press("Next")
    _clean(page, f"its question, {scheme}")
    page.get_by_role("radio", name="cat", exact=True).check()
    blank.press("Reveal")
    blank.until("lookback.store.world.moved.step === 2")
    blank.settled()
    _clean(page, f"its answer, {scheme}")
    page.set_viewport_size({"width": 390, "height": 844})
    _clean(page, f"on a phone, {scheme}")
    page.evaluate("() => lookbackLesson.keep({ ...lookbackLesson.progress, done: 5, step: 5 })")
    page.evaluate("() => lookbackLesson.draw()")
    _clean(page, f"its last step, {scheme}")
    page.goto(f"{blank.address}/lesson?n=none")
    blank.loaded()
    page.evaluate(AXE.read_text())
    _clean(page, f"no such lesson, {scheme}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_whatever_can_be_opened(blank: Window, scheme: str) -> None:
    page = _opened(blank, scheme).page
    blank.step()
    sheets: list[tuple[str, Callable[[], None]]] = [
        ("keys", lambda: page.keyboard.press("?")),
        ("share", lambda: page.locator("#share").click()),
        ("stops", lambda: page.locator("[aria-controls=sheet-stops]").click()),
        ("lines", lambda: page.locator("[aria-controls=sheet-lines]").click()),
        ("an example to begin from", lambda: page.get_by_role("textbox", name="Scenario: an example to begin from").click()),
    ]
    for name, show in sheets:
        show()
        _clean(page, f"{name}, {scheme}")
        page.keyboard.press("Escape")
    page.locator(".all-taps").click()
    page.locator(".view-next .policy").click()
    page.keyboard.press("m")
    page.locator("[aria-controls=mask-more]").click()
    _clean(page, f"tree, policy and mask, {scheme}")
    page.locator(".contract-part .may").click()
    page.locator(".editor").wait_for()
    page.evaluate("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    _clean(page, f"form of an edit, and all details, {scheme}")
    page.locator("#slot-map .take:not([hidden])").first.click()
    page.get_by_role("menuitem").last.wait_for()
    _clean(page, f"what can be taken away, {scheme}")
