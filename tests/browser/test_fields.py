"""Fields of the set-up in a real browser."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Server, Window
from tests.browser.helpers import source_is

pytestmark = pytest.mark.browser


def test_the_set_up_changes_the_model_and_can_be_reset(window: Window) -> None:
    layers = window.page.get_by_role("textbox", name="Layers")
    layers.fill("3")
    layers.press("Enter")
    window.until("lookback.store.world.opened.scenario.config.layers === 3")
    window.until("document.querySelector('#weights-line').textContent.startsWith('Random')")
    window.press("Reset Layers to 2")
    window.until("document.querySelector('#weights-line').textContent.startsWith('Trained')")
    assert layers.input_value() == "2"
    assert not window.page.get_by_role("button", name="Reset Layers to 2").is_visible()
    window.page.get_by_role("radio", name="Decoder-only").click()
    window.until("lookback.store.world.opened.scenario.architecture === 'decoder_only'")
    window.until("lookback.store.world.moved.requests[0].source === null")
    window.page.get_by_role("group", name="Prompt", exact=True).wait_for()


def test_a_value_that_the_server_refuses_is_refused_beside_its_field(window: Window) -> None:
    heads = window.page.get_by_role("textbox", name="Heads")
    heads.fill("5")
    window.page.get_by_role("alert").filter(has_text="5 was given; allowed: a divisor of the model width 64").wait_for()
    heads.press("Enter")
    assert (heads.get_attribute("aria-invalid"), heads.input_value()) == ("true", "5")
    assert window.world("opened.scenario.config.heads") == 4
    heads.press("Escape")
    assert (heads.get_attribute("aria-invalid"), heads.input_value()) == (None, "4")


def test_numbers_are_read_as_typed_or_refused_beside_the_field(window: Window) -> None:
    window.page.keyboard.press("t")
    window.until("lookback.store.world.moved.phase === 'train'")
    rate = window.page.get_by_role("textbox", name="Learning rate")
    for typed, value in (("1e-4", 1e-4), ("1e6", 1e6), (".00001", 1e-5)):
        rate.fill(typed)
        rate.press("Enter")
        window.until(f"lookback.store.world.opened.scenario.training.learning_rate === {value}")
    rate.fill("1e999")
    rate.press("Enter")
    problem = window.page.get_by_role("alert").filter(has_text="1e999 was given; allowed: a number above 0")
    problem.wait_for()
    assert rate.get_attribute("aria-invalid") == "true"
    assert window.world("opened.scenario.training.learning_rate") == 1e-5
    rate.fill("0.01")
    window.page.get_by_role("textbox", name="Sequences").fill("2.5")
    window.until("lookback.store.world.opened.scenario.training.learning_rate === 0.01")
    assert not problem.is_visible()
    rate.focus()
    window.page.get_by_role("alert").filter(has_text="2.5 was given; allowed: a whole number from 1 to 64").wait_for()
    window.settled()
    assert window.world("opened.scenario.training.batch_size") == 3


def test_a_field_set_while_the_server_is_busy_is_not_lost(browser: Browser, tmp_path: Path) -> None:
    server = Server(tmp_path)
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        window = Window(context.new_page(), server.address).open()
        server.process.send_signal(signal.SIGSTOP)
        window.page.get_by_text("Train", exact=True).first.click()
        window.page.locator("[data-more=policy] summary").click()
        for name, value in (("Temperature", "3"), ("Limit", "9")):
            window.page.get_by_role("textbox", name=name).fill(value)
            window.page.keyboard.press("Enter")
        server.process.send_signal(signal.SIGCONT)
        window.until("lookback.store.world.moved.phase === 'train'")
        window.settled()
        assert (window.world("opened.scenario.policy.temperature"), window.world("opened.scenario.policy.limit")) == (3, 9)
        assert window.problems == []
    finally:
        server.process.send_signal(signal.SIGCONT)
        context.close()
        server.stop()


def test_changes_and_undos_in_quick_succession_end_where_they_should(window: Window) -> None:
    window.page.locator("[data-more=policy] summary").click()
    temperature = window.page.get_by_role("textbox", name="Temperature")
    for value in ("0.5", "1.5"):
        temperature.fill(value)
        temperature.press("Enter")
        window.until(f"lookback.store.world.opened.scenario.policy.temperature === {value}")
    window.page.locator("#where").click()
    window.page.keyboard.press("Control+z")
    window.page.keyboard.press("Control+z")
    window.until("lookback.store.world.opened.scenario.policy.temperature === 1")
    window.shared()
    window.settled()
    assert window.world("opened.scenario.policy.temperature") == 1
    assert temperature.input_value() == "1"


def test_an_example_of_another_task_brings_its_architecture(window: Window) -> None:
    window.page.get_by_role("textbox", name="Scenario: an example to begin from").click()
    window.page.get_by_role("option", name="A bad report").click()
    window.until("lookback.store.world.opened.scenario.task === 'language_model'")
    window.until("lookback.store.world.moved.requests[0].target[1]?.token === 'the'")
    assert window.tokens()[:4] == ["<bos>", "the", "report", "was"]


def test_on_a_small_screen_the_set_up_opens_from_its_rail(blank: Window) -> None:
    blank.page.set_viewport_size({"width": 1280, "height": 720})
    blank.open()
    source = blank.page.get_by_role("group", name="Source", exact=True)
    assert not source.is_visible()
    blank.press("Input")
    source.get_by_role("button", name="Token 2 of 4: black").click()
    blank.page.keyboard.type("white")
    blank.page.keyboard.press("Enter")
    source_is(blank, ["the", "white", "cat", "sleeps"])
    blank.page.keyboard.press("Escape")
    assert not source.is_visible()
