"""What a class asks and hands on, in a real browser: over http, in words of one's own, about a run that goes."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

OPEN = "lookback.run.commands.open({architecture: 'decoder_only', task: 'language_model'})"


def _teach(window: Window) -> None:
    window.page.goto(window.address + "/class")
    window.until("document.documentElement.dataset.ready !== undefined")
    assert window.page.locator("#status").is_hidden(), "before the class there is nothing to connect to"
    window.press("Start a class")
    window.until("document.querySelector('.pbar .big2')")
    window.loaded()


def _ask(window: Window, question: str, *answers: str) -> None:
    window.press("Poll")
    window.page.get_by_text("A question of your own").click()
    window.page.fill("#ask-question", question)
    window.page.fill("#ask-answers", "\n".join(answers))
    window.press("Ask the class")
    window.until("document.querySelectorAll('.pollrow').length === 2")


def test_the_link_of_a_class_is_copied_where_the_page_has_no_clipboard(window: Window) -> None:
    window.page.add_init_script("Object.defineProperty(Navigator.prototype, 'clipboard', {get: () => undefined})")
    _teach(window)
    window.page.evaluate("() => document.addEventListener('copy', () => (window.copiedText = getSelection().toString()))")
    window.press("Copy link")
    window.until("[...document.querySelectorAll('.pbar button')].some((b) => b.textContent === 'Copied')")
    code = window.page.locator(".pbar .code").inner_text()
    assert window.page.locator("textarea.sr").count() == 0
    window.page.evaluate("() => document.body.append(Object.assign(document.createElement('textarea'), {id: 'pasted'}))")
    window.page.focus("#pasted")
    window.page.keyboard.press("Control+v")
    assert window.page.input_value("#pasted") == f"{window.address}/class?code={code}"


def test_answers_of_ones_own_are_told_as_they_were_typed(window: Window) -> None:
    _teach(window)
    _ask(window, "Why does noir move?", "Because the adjective stands after the noun", "It does not")
    window.page.locator(".pollrow").first.click()
    window.until("document.querySelector('.poll-told').textContent.includes('The teacher’s answer')")
    told = window.page.locator(".poll-told").inner_text().strip()
    assert told == "The teacher’s answer: Because the adjective stands after the noun.", "nobody has answered: nothing is counted"
    lefts = "[...document.querySelectorAll('.pollrow .bar')].map((bar) => bar.getBoundingClientRect().left)"
    assert len(set(window.page.evaluate(f"() => {lefts}"))) == 1


def test_a_question_about_a_run_that_is_gone_is_not_measured(window: Window) -> None:
    _teach(window)
    window.press("Poll")
    window.press("Ask the class")
    window.until("document.querySelector('.poll-told').textContent === 'Measured when the step is made.'")
    window.page.evaluate(f"() => {OPEN}")
    window.until("document.querySelector('.poll-told').textContent.startsWith('This question is about another run')")


def test_a_question_is_seen_on_the_large_stage_too(window: Window) -> None:
    window.page.set_viewport_size({"width": 1280, "height": 720})
    _teach(window)
    window.press("Large")
    assert window.page.locator(".class-side").is_hidden() and window.page.locator(".top").is_hidden()
    assert window.page.locator(".stage").evaluate("(e) => e.currentCSSZoom") == pytest.approx(1.22)
    before = window.page.locator("#view-map").bounding_box()
    _ask(window, "Is it so?", "yes", "no")
    assert window.page.locator(".pollrow").first.is_visible()
    assert window.page.get_by_role("button", name="Show the answer").is_visible()
    assert window.page.locator(".names").is_hidden()
    assert window.page.locator("#view-map").bounding_box() == before
    window.press("Remove")
    window.until("document.querySelector('.class-side .poll').hidden")
    assert window.page.locator(".class-side").is_hidden()
