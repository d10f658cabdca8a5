"""Text, pieces and ids: as a stage, merges one after another, cut again by another tokenizer, characters that stay together."""

from __future__ import annotations

import pytest

from app.session import link
from app.session.scenario import defaults
from models.catalogue import tasks
from tests.browser.conftest import Window
from tests.browser.helpers import paste

pytestmark = pytest.mark.browser

SAME_LINE = """() => [...document.querySelectorAll('.cut-text > li, .chip-together')]
  .every((one) => new Set([...one.querySelectorAll('.cut-piece, .chip')].map((p) => p.offsetTop)).size < 2)"""


def address(task: str, text: str) -> str:
    scenario = defaults("decoder_only", task, phase="prefill", requests=[{"target": tasks()[task].tokenize(text)}])
    return "/#s=" + link.pack({"v": 1, "scenario": scenario.model_dump(mode="json"), "log": [], "view": {}})


def test_pieces_are_a_stage_and_merges_can_be_followed(blank: Window) -> None:
    window = blank.open(address("subwords", "To be, or not"))
    window.page.locator("#view-pieces").wait_for()
    window.page.evaluate("() => lookback.actions.commands.step('stage')")
    window.until("lookback.store.world.moved.stage === 'pieces'")
    window.settled()
    assert window.page.locator(".blk.pieces.now").count() == 1
    assert "13 characters became 5 pieces by 8 merges" in window.said()
    assert window.page.locator(".cut-piece small").all_inner_texts() == [
        str(i) for i in tasks()["subwords"].target.encode(tasks()["subwords"].tokenize("To be, or not"))
    ]
    window.page.get_by_role("button", name="One merge back").click()
    window.until("document.querySelector('.say').innerText.includes('Merge 7 of 8')")
    window.page.get_by_role("slider", name="Merges applied").fill("0")
    window.until("document.querySelectorAll('.cut-piece').length === 13")
    window.step()
    window.page.locator("#view-pieces").wait_for(state="hidden")
    assert window.tokens() == ["<bos>", "To", " be", ",", " or", " not"]


def test_another_tokenizer_cuts_the_text_and_characters_stay_together(blank: Window) -> None:
    window = blank.open(address("words", "O ambassador"))
    window.page.locator("#view-pieces").wait_for()
    assert "ambassador" in window.said() and window.page.locator(".cut-piece.unknown").count() == 1
    window.page.get_by_role("button", name="bytes", exact=True).click()
    window.until("lookback.store.world.opened.scenario.task === 'bytes'")
    window.settled()
    prompt = window.page.get_by_role("group", name="Prompt", exact=True)
    prompt.get_by_role("button", name="Add a token").click()
    paste(window, " naïve 日本👩‍👩‍👧 " * 4)
    window.until("lookback.store.world.moved.requests[0].target.length === 145")
    window.settled()
    assert window.page.locator(".cut-text > .several").count() == window.page.locator(".chip-together").count() == 32
    assert window.page.evaluate(SAME_LINE)
    window.page.set_viewport_size({"width": 390, "height": 844})
    window.until("innerWidth === 390")
    window.settled()
    assert window.page.evaluate(SAME_LINE)
    assert window.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
