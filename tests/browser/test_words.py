"""Words of the input: edited, pasted, unknown, too many."""

from __future__ import annotations

import pytest

from models.catalogue import tasks
from models.tasks import words_of
from tests.browser.conftest import Window
from tests.browser.helpers import paste, source_is

pytestmark = pytest.mark.browser


def test_words_are_edited_inserted_removed_and_pasted(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Token 2 of 4: black").click()
    window.page.keyboard.type("small white")
    window.page.keyboard.press("Enter")
    source_is(window, ["the", "small", "white", "cat", "sleeps"])
    window.page.keyboard.press("Delete")
    source_is(window, ["the", "small", "cat", "sleeps"])
    source.get_by_role("button", name="Add a token").click()
    window.page.keyboard.type("and ")
    window.page.keyboard.type("sings.")
    window.page.keyboard.press("Enter")
    source_is(window, ["the", "small", "cat", "sleeps", "and", "sings", "."])
    source.get_by_role("button", name="Token 1 of 7").click()
    window.page.keyboard.press("Control+a")
    paste(window, "Thank  you\nmy")
    source_is(window, ["thank", "you", "my", "small", "cat", "sleeps", "and", "sings", "."])


@pytest.mark.parametrize("delay", [0, 40])
def test_words_that_are_typed_quickly_stay_in_the_field(window: Window, delay: int) -> None:
    target = window.page.get_by_role("group", name="Known target prefix", exact=True)
    target.get_by_role("button", name="Add a token").click()
    window.page.keyboard.type("mon petit dort mon petit dort", delay=delay)
    assert window.page.evaluate("() => document.activeElement.className") == "chip-input"
    window.page.keyboard.press("Enter")
    window.until("lookback.store.world.opened.scenario.requests[0].target.join(' ') === 'mon petit dort mon petit dort'")
    window.settled()
    assert (window.world("moved.phase"), window.world("look.scale"), window.world("look.editing")) == ("decode", "linear", False)


def test_unknown_words_and_special_tokens_are_told_apart(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Token 3 of 4: cat").click()
    window.page.keyboard.type("<eos> 日本")
    window.page.keyboard.press("Enter")
    source_is(window, ["the", "black", "<eos>", "日本", "sleeps"])
    assert source.locator(".chip.unknown").count() == 2
    assert source.locator(".chip.special").count() == 0
    window.until("lookback.store.world.notices.some((n) => n.code === 'unknown_words' && n.message.includes('日本'))")
    source.get_by_role("button", name="Token 3 of 5").click()
    window.page.get_by_role("button", name="<eos>", exact=True).click()
    source_is(window, ["the", "black", {"special": "<eos>"}, "日本", "sleeps"])
    assert source.locator(".chip.special").count() == 1


def test_too_many_and_too_few_tokens_are_refused_beside_the_field(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Add a token").click()
    paste(window, "cat " * 10_000)
    problem = window.page.get_by_role("alert").filter(has_text="10004 tokens given; allowed: at most 128")
    problem.wait_for()
    source_is(window, ["the", "black", "cat", "sleeps"])
    for left in range(4, 1, -1):
        source.get_by_role("button", name=f"Token 1 of {left}").focus()
        window.page.keyboard.press("Delete")
    window.until("lookback.store.world.opened.scenario.requests[0].source.length === 1")
    window.page.keyboard.press("Delete")
    window.page.get_by_role("alert").filter(has_text="0 tokens given").wait_for()
    source_is(window, ["sleeps"])


CUT = (
    "",
    "To be, or not to be\r\nHam.",
    "naïve — 日本 👩‍👩‍👧",
    "\x00\x07\u2028\ufeff",
    "O'er-hasty  'Tis--",
    "x" * 2000,
    "12 years\u202e",
)


def test_the_page_splits_text_as_the_server_does(window: Window) -> None:
    texts = [
        "The black cat sleeps.",
        "N’est  pas «été»",
        "日本、東京。 مرحبا، عالم؟",
        "a\u00a0b\u200bc",
        "don't n'importe n' x",
        "e\u0301te\u0301 <unk>!",
    ]
    split = """async ([texts, words, told]) => {
      const {tokenize, splittingOf} = await import('/assets/lib/setup/tokens.mjs');
      return texts.map((t) => tokenize(t, splittingOf(words, told)));
    }"""
    for task in tasks().values():
        words = (words_of(task) or task.target).words[4:]
        if task.tokenizer is not None:
            told = {"kind": task.tokenizer.kind, "merges": getattr(task.tokenizer, "merges", ())}
            assert window.page.evaluate(split, [[*texts, *CUT], words, told]) == [task.tokenize(t) for t in (*texts, *CUT)], (
                task.id
            )
            continue
        between = "" if all(len(w) == 1 for w in words) else " "
        given = texts if task.id in ("translation", "language_model") else [between.join(words[:20]), " ".join(words[3:9])]
        assert window.page.evaluate(split, [given, words, None]) == [task.tokenize(t) for t in given], task.id
