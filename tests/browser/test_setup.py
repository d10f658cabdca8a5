"""The set-up as a person uses it: fields, what a change would be, weights, tokens, hints, paper."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import BrowserContext, Locator

from app.session.scenario import defaults
from app.session.variant import variant
from tests.browser.conftest import Server, Window
from tests.browser.helpers import paste, source_is

pytestmark = pytest.mark.browser


def _parameters(**config: object) -> str:
    return f"{variant(defaults(config=config))['parameters']:,} parameters"


def test_every_field_can_be_changed_and_reset_by_itself(window: Window) -> None:
    for more in ("config", "policy"):
        window.page.locator(f"[data-more={more}] summary").click()
    page = window.page
    page.get_by_role("button", name="Heads: more").click()
    page.get_by_role("radio", name="pre", exact=True).click()
    page.get_by_role("switch", name="Tied head").click()
    page.get_by_role("button", name="Temperature: more").click()
    config = "lookback.store.world.opened.scenario.config"
    window.until(f"{config}.heads === 8 && {config}.norm === 'pre' && {config}.tied === false")
    window.until("lookback.store.world.opened.scenario.policy.temperature === 1.1")
    window.settled()
    assert page.get_by_role("button", name="Heads: more").is_disabled(), "8 is the last divisor of 64 in the range"
    for name, value in (("Heads to 4", "heads === 4"), ("Norm to post", "norm === 'post'"), ("Tied head to on", "tied === true")):
        window.press(f"Reset {name}")
        window.until(f"{config}.{value}")
        assert not page.get_by_role("button", name=f"Reset {name}").is_visible()
    window.press("Reset Temperature to 1")
    window.until("lookback.store.world.opened.scenario.policy.temperature === 1")


def test_a_name_may_mean_another_thing_in_the_next_architecture(window: Window) -> None:
    for architecture in ("show_attend_tell", "structured"):  # attention: a word, then a number
        window.page.evaluate(f"() => lookback.actions.choose('{architecture}')")
        window.until(f"lookback.store.world.opened.scenario.architecture === '{architecture}'")
    assert window.page.locator("[data-path='config.attention'] input").input_value().isdigit()


def test_the_count_of_parameters_is_known_before_the_model_is_built(window: Window) -> None:
    count = window.page.locator("#count")
    now = variant(defaults())["parameters"]
    assert count.inner_text() == _parameters()
    layers = window.page.get_by_role("textbox", name="Layers")
    layers.fill("3")
    more = f"{variant(defaults(config={'layers': 3}))['parameters'] - now:,}"
    window.until(f"document.querySelector('#count').textContent === '{_parameters(layers=3)} (+{more})'")
    window.until("document.querySelector('.weights').textContent.includes('no trained weights')")
    assert window.world("opened.scenario.config.layers") == 2
    layers.press("Escape")
    assert count.inner_text() == _parameters()
    layers.fill("1")
    layers.press("Enter")
    window.until("lookback.store.world.opened.scenario.config.layers === 1")
    window.until(f"document.querySelector('#count').textContent.startsWith('{_parameters(layers=1)} (−')")
    window.press("Back to the variant that is trained")
    window.until("lookback.store.world.opened.weights.kind === 'trained'")


def test_weights_that_were_changed_here_lead_back_and_nothing_is_lost(window: Window) -> None:
    window.page.keyboard.press("t")
    window.until("lookback.store.world.moved.phase === 'train'")
    window.step(2)
    window.until("document.querySelector('#weights-line').textContent === 'Changed here by 2 updates.'")
    moments = window.page.evaluate("() => lookback.store.world.history.size")
    window.press("Back to the trained weights")
    window.until("lookback.store.world.moved.updates === 0 && lookback.store.world.moved.phase === 'train'")
    assert window.page.evaluate("() => lookback.store.world.history.size") >= moments


def test_words_are_suggested_and_taken_with_keys_or_the_pointer(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Token 3 of 4: cat").click()
    window.page.keyboard.type("hor")
    box = window.page.get_by_role("combobox", name="Source.")
    assert box.get_attribute("aria-expanded") == "true"
    window.page.keyboard.press("ArrowDown")
    assert window.page.locator(".suggest [aria-selected=true]").inner_text() == "horse"
    window.page.keyboard.press("Enter")
    source_is(window, ["the", "black", "horse", "sleeps"])
    source.get_by_role("button", name="Token 2 of 4: black").click()
    window.page.keyboard.type("whi")
    window.page.get_by_role("option", name="white").click()
    source_is(window, ["the", "white", "horse", "sleeps"])
    window.until("document.querySelector('#preset-note').textContent.startsWith('Next token: ')")


def test_tokens_are_moved_with_keys_and_by_dragging(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Token 1 of 4: the").focus()
    window.page.keyboard.press("Shift+ArrowRight")
    source_is(window, ["black", "the", "cat", "sleeps"])
    assert window.page.evaluate("() => document.activeElement.ariaLabel") == "Token 2 of 4: the"
    start, end = (
        _middle(source.get_by_role("button", name="Token 4 of 4")),
        _middle(source.get_by_role("button", name="Token 1 of 4")),
    )
    window.page.mouse.move(*start)
    window.page.mouse.down()
    window.page.mouse.move(end[0] - 5, end[1], steps=4)
    window.page.mouse.up()
    source_is(window, ["sleeps", "black", "the", "cat"])


def _middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


NASTY = ["a" * 500, "👨‍👩‍👧", "مرحبا", "日本語", "<eos>", "<b>bold</b>", "a&amp"]


BEYOND = """(field) => {
  const right = (e) => e.getBoundingClientRect().right;
  return Math.max(...[...field.querySelectorAll('.chip')].map(right)) - right(field);
}"""


def test_strange_words_stay_in_their_chips_and_are_named_with_the_nearest_known(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Token 4 of 4").click()
    paste(window, " ".join([*NASTY, "slepes"]))
    source_is(window, ["the", "black", "cat", *NASTY, "slepes"])
    assert window.page.locator(".chips-field").first.evaluate(BEYOND) <= 0
    assert window.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    for _ in NASTY:
        source.get_by_role("button", name="Token 4 of").focus()
        window.page.keyboard.press("Delete")
    window.page.get_by_role("button", name="Use sleeps instead of slepes").click()
    source_is(window, ["the", "black", "cat", "sleeps"])


def test_two_hundred_lines_are_refused_with_a_way_to_keep_what_fits(window: Window) -> None:
    window.page.get_by_role("button", name="Add a token: Source").click()
    paste(window, "the black cat sleeps .\n" * 200)
    alert = window.page.get_by_role("alert").filter(has_text="1004 tokens given; allowed: at most 128")
    alert.wait_for()
    below = "(alert) => alert.getBoundingClientRect().bottom - alert.closest('.setup').getBoundingClientRect().bottom"
    assert alert.evaluate(f"(e) => new Promise((seen) => setTimeout(() => seen(({below})(e)), 100))") <= 0
    window.press("Keep the first 128")
    window.until("lookback.store.world.opened.scenario.requests[0].source.length === 128")
    window.page.get_by_role("button", name="Add a token: Source").click()
    paste(window, "a" * 501)
    window.page.get_by_role("alert").filter(has_text="allowed: at most").wait_for()


def test_requests_are_added_duplicated_and_removed(window: Window) -> None:
    window.press("+ Add a request")
    window.until("lookback.store.world.opened.scenario.requests.length === 2")
    second = window.page.get_by_role("group", name="Source, B")
    second.get_by_role("button", name="Token 1 of 4").focus()
    window.page.keyboard.press("Delete")
    window.until("lookback.store.world.opened.scenario.requests[1].source.length === 3")
    window.page.get_by_role("button", name="Duplicate").first.click()
    window.until("lookback.store.world.opened.scenario.requests.length === 3")
    window.press("Remove request A")
    window.until("JSON.stringify(lookback.store.world.opened.scenario.requests.map((r) => r.source.length)) === '[4,3]'")
    window.page.keyboard.press("t")
    window.page.get_by_role("combobox", name="Batch from").select_option("mine")
    window.until("lookback.store.world.opened.scenario.training.batch === 'mine'")
    assert window.page.locator("#input-title").inner_text() == "Batch: 2 sequences"
    window.page.get_by_role("group", name="Target (to be learned), B").wait_for()


def test_the_next_example_and_another_seed_are_one_click_away(window: Window) -> None:
    window.press("The next example")
    source_is(window, ["thank", "you"])
    assert window.page.get_by_role("textbox", name="Scenario").input_value() == "Translation: Thank you"
    window.press("New seed")
    window.until("lookback.store.world.opened.scenario.seed !== 7")
    window.press("Reset Seed to 7")
    window.until("lookback.store.world.opened.scenario.seed === 7")


def test_hints_come_one_after_the_other_are_dismissed_for_good_and_found_again_in_the_sheet_of_keys(blank: Window) -> None:
    blank.open()
    hints = blank.page.get_by_role("list", name="First hints")
    hints.wait_for()
    assert [blank.page.locator(f"[data-hint='{n}']:visible").count() for n in (1, 2, 3)] == [1, 0, 0]
    blank.step()
    assert [blank.page.locator(f"[data-hint='{n}']:visible").count() for n in (1, 2, 3)] == [0, 1, 0]
    blank.press("Next")
    assert hints.inner_text().endswith("Edit mask: hide a cell.")
    assert not blank.page.get_by_role("button", name="Next", exact=True).is_visible()
    blank.press("Got it")
    assert not hints.is_visible()
    blank.reload()
    blank.settled()
    assert not hints.is_visible()
    blank.page.keyboard.press("?")
    blank.press("Show the first hints again")
    assert hints.is_visible()


HOLD = """
  window.held = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (m) { window.held ? held.push(() => send.call(this, m)) : send.call(this, m); };
"""  # nothing reaches the server until the test lets it


def test_what_is_set_before_a_run_is_there_is_set_in_it(context: BrowserContext, server: Server) -> None:
    window = Window(context.new_page(), server.address)
    window.page.add_init_script(HOLD)
    window.page.goto(window.address)
    window.until("document.documentElement.dataset.ready !== undefined")
    assert window.page.locator("html[data-cold]").count() == 1
    assert "Starting the model" in window.page.locator("#cold").inner_text()
    seed = window.page.get_by_role("textbox", name="Seed")
    seed.fill("11")
    seed.press("Enter")
    window.page.evaluate("() => { const all = held; held = null; all.forEach((f) => f()); }")
    window.until("lookback.store.world.opened?.scenario.seed === 11")
    assert window.page.locator("html[data-cold]").count() == 0
    assert window.problems == []


def test_paper_shows_the_stage_alone_and_light(window: Window) -> None:
    window.page.emulate_media(color_scheme="dark")
    window.until("document.documentElement.dataset.mantineColorScheme === 'dark'")
    sentence = window.said()
    window.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    window.page.emulate_media(media="print", color_scheme="dark")
    assert window.page.evaluate("() => document.documentElement.dataset.mantineColorScheme") == "light"
    assert not window.page.locator(".app").is_visible()
    paper = window.page.locator(".paper")
    words = paper.inner_text()
    assert sentence in words and "What it keeps" in words
    assert not {"Back", "Step", "Play"} & set(words.splitlines())
    box = paper.locator("> div, > main, > section").bounding_box()
    assert box and box["width"] <= 976 and box["height"] <= 714
    window.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert window.page.evaluate("() => document.documentElement.dataset.mantineColorScheme") == "dark"


@pytest.mark.parametrize("address", ["/", "/compare", "/bench"])
def test_a_page_is_one_page_of_paper_held_either_way(blank: Window, address: str) -> None:
    blank.page.goto(blank.address + address)
    blank.until("document.documentElement.dataset.ready !== undefined")
    for landscape in (True, False):
        blank.page.add_style_tag(content=f"@page {{ size: {'landscape' if landscape else 'portrait'} }}")
        paper = blank.page.pdf(
            format="A4", landscape=landscape, margin={"top": "10mm", "right": "10mm", "bottom": "10mm", "left": "10mm"}
        )
        assert len(re.findall(rb"/Type /Page\b", paper)) == 1
    assert blank.page.locator(".app").is_visible() and blank.page.locator(".paper").count() == 0


def test_a_reader_on_a_narrow_page_is_told_why_nothing_can_be_set(window: Window, context: BrowserContext) -> None:
    session = window.page.evaluate("() => lookback.run.session")
    reader = Window(context.new_page(), window.address)
    for width in (1280, 800, 390):
        reader.page.set_viewport_size({"width": width, "height": 800})
        reader.open(f"/?session={session}&role=reader")
        assert "Read only" in reader.page.locator("#read-only").inner_text()
        assert reader.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert reader.problems == []


def test_many_architectures_are_found_by_a_search(window: Window) -> None:
    find = window.page.get_by_role("searchbox", name="Find an architecture")
    find.fill("vaswani")
    shown = window.page.locator(".card:visible").evaluate_all("(cards) => cards.map((c) => c.dataset.architecture)")
    assert shown == ["encoder_decoder"], json.dumps(shown)
    find.fill("decoder-only")
    find.press("Enter")
    window.until("lookback.store.world.opened.scenario.architecture === 'decoder_only'")
    find.fill("nothing like this")
    assert window.page.get_by_text("No architecture has these words.").is_visible()
