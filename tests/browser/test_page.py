"""The page around the run: reload, tabs, links, being cut off, input, set-up, theme, names, sizes."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from models.catalogue import tasks
from models.tasks import words_of
from tests.browser.conftest import Server, Window

pytestmark = pytest.mark.browser


def test_a_reload_finds_the_same_moment_and_the_same_look(window: Window) -> None:
    window.step(2)
    window.page.keyboard.press("}")
    window.until("lookback.store.world.look.head === 1")
    window.shared()
    session, at = window.page.evaluate("() => [lookback.run.session, lookback.store.world.moved.at]")
    window.reload()
    assert window.page.evaluate("() => [lookback.run.session, lookback.store.world.moved.at]") == [session, at]
    assert window.tokens() == ["<bos>", "le", "chat"]
    window.until("lookback.store.world.look.head === 1")
    window.step()
    assert window.tokens()[-1] == "noir"


def test_a_second_tab_has_its_own_run_even_when_it_was_duplicated(window: Window, context: BrowserContext) -> None:
    first = window.page.evaluate("() => lookback.run.session")
    fresh = Window(context.new_page(), window.address).open()
    with context.expect_page() as opened:
        window.page.evaluate("() => { window.open(location.href); }")  # shares the storage, as a duplicated tab does
    copy = Window(opened.value, window.address)
    copy.until("window.lookback?.store.world.moved")
    assert len({first, fresh.page.evaluate("() => lookback.run.session"), copy.page.evaluate("() => lookback.run.session")}) == 3
    fresh.step()
    assert window.tokens() == ["<bos>"]
    assert fresh.problems + copy.problems == []


def test_a_reader_follows_and_cannot_step(window: Window, context: BrowserContext) -> None:
    session = window.page.evaluate("() => lookback.run.session")
    reader = Window(context.new_page(), window.address).open(f"/?session={session}&role=reader")
    window.page.bring_to_front()
    window.step()
    window.page.keyboard.press("}")
    reader.until("lookback.store.world.moved.step === 1 && lookback.store.world.look.head === 1")
    assert reader.page.locator("#step").is_disabled()
    assert "Read only" in reader.page.locator("#status").inner_text()
    assert "Open it without that to take over" in reader.page.locator("#read-only").inner_text()
    reader.page.locator("[data-more=policy] summary").click()
    for name in ("Layers", "Temperature", "Scenario: an example to begin from"):
        assert reader.page.get_by_role("textbox", name=name).is_disabled(), name
    assert reader.problems == []


def test_the_address_brings_the_run_to_another_person(window: Window, browser: Browser) -> None:
    window.step(2)
    window.page.locator(".cand").nth(1).click()
    window.until("lookback.store.world.moved.step === 3")
    window.page.keyboard.press("l")
    window.until("lookback.store.world.look.scale === 'log'")
    window.shared()
    with browser.new_context() as elsewhere:
        other = Window(elsewhere.new_page(), window.address).open("/" + window.page.url.partition("/#")[2].join(["#", ""]))
        other.until("lookback.store.world.moved.step === 3")
        assert other.tokens() == window.tokens()
        other.until("lookback.store.world.look.scale === 'log'")
        assert other.problems == []


def test_a_link_that_cannot_be_read_says_so_and_the_page_is_alive(blank: Window) -> None:
    blank.open("/#s=notalink")
    blank.until("document.querySelector('.say')?.textContent.includes('cannot be read')")
    blank.step()
    assert blank.tokens() == ["<bos>", "le"]


def test_a_bad_link_in_a_page_with_a_run_leaves_its_address(window: Window) -> None:
    window.step()
    window.shared()
    address = window.page.url
    window.page.evaluate("() => { location.hash = '#s=abc'; }")
    window.until("document.querySelector('.say').textContent.includes('cannot be read')")
    assert window.page.url == address
    assert window.tokens() == ["<bos>", "le"]


def test_a_run_that_does_not_exist_says_so_and_offers_a_new_one(blank: Window) -> None:
    blank.page.goto(blank.address + "/?session=nonsense")
    blank.page.get_by_role("alert").filter(has_text="The run nonsense does not exist").wait_for()
    blank.press("Start a new run")
    blank.loaded()
    assert blank.tokens() == ["<bos>"]


def test_reset_asks_once_before_a_run_goes(window: Window) -> None:
    window.step(2)
    window.press("Reset run")
    ask = window.page.get_by_role("alertdialog")
    assert "2 moments go" in ask.inner_text()
    window.press("Cancel")
    assert not ask.is_visible()
    assert window.world("moved.step") == 2
    window.press("Reset run")
    window.press("Reset")
    window.until("lookback.store.world.moved.step === 0 && lookback.store.world.history.size === 1")


def test_the_rate_is_remembered(window: Window) -> None:
    rate = window.page.get_by_role("textbox", name="Play: steps a second")
    rate.click()
    window.page.get_by_role("option", name="10/s").click()
    window.until("lookback.actions.rate === 10")
    window.reload()
    assert (rate.input_value(), window.page.evaluate("() => lookback.actions.rate")) == ("10/s", 10)


def test_a_server_that_stops_and_comes_back_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    server = Server(tmp_path)
    context = browser.new_context()
    try:
        window = Window(context.new_page(), server.address).open()
        window.step(2)
        window.shared()
        server.stop()
        window.until("lookback.store.world.connection === 'offline'")
        window.until("document.querySelector('.say').textContent.startsWith('Connection lost')")
        assert window.page.locator("#step").is_disabled()
        server.start()
        window.page.locator("#status-retry").click() if window.page.locator("#status-retry").is_visible() else None
        window.until("lookback.store.world.connection === 'open'")
        window.step()
        assert window.tokens() == ["<bos>", "le", "chat", "noir"]
        assert [p for p in window.problems if "WebSocket connection" not in p] == []
    finally:
        context.close()
        server.stop()


def test_a_forgotten_session_begins_again_from_the_address(window: Window) -> None:
    window.step(2)
    window.shared()
    window.page.evaluate("() => sessionStorage.setItem('lookback-session', 'goneGONEgone')")
    window.reload()
    window.until("lookback.store.world.moved.step === 2")
    assert window.tokens() == ["<bos>", "le", "chat"]


def test_words_are_edited_inserted_removed_and_pasted(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Token 2 of 4: black").click()
    window.page.keyboard.type("small white")
    window.page.keyboard.press("Enter")
    _source(window, ["the", "small", "white", "cat", "sleeps"])
    window.page.keyboard.press("Delete")
    _source(window, ["the", "small", "cat", "sleeps"])
    source.get_by_role("button", name="Add a token").click()
    window.page.keyboard.type("and ")
    window.page.keyboard.type("sings.")
    window.page.keyboard.press("Enter")
    _source(window, ["the", "small", "cat", "sleeps", "and", "sings", "."])
    source.get_by_role("button", name="Token 1 of 7").click()
    window.page.keyboard.press("Control+a")
    _paste(window, "Thank  you\nmy")
    _source(window, ["thank", "you", "my", "small", "cat", "sleeps", "and", "sings", "."])


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
    _source(window, ["the", "black", "<eos>", "日本", "sleeps"])
    assert source.locator(".chip.unknown").count() == 2
    assert source.locator(".chip.special").count() == 0
    window.until("lookback.store.world.notices.some((n) => n.code === 'unknown_words' && n.message.includes('日本'))")
    source.get_by_role("button", name="Token 3 of 5").click()
    window.page.get_by_role("button", name="<eos>", exact=True).click()
    _source(window, ["the", "black", {"special": "<eos>"}, "日本", "sleeps"])
    assert source.locator(".chip.special").count() == 1


def test_too_many_and_too_few_tokens_are_refused_beside_the_field(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Add a token").click()
    _paste(window, "cat " * 10_000)
    problem = window.page.get_by_role("alert").filter(has_text="10004 tokens given; allowed: at most 128")
    problem.wait_for()
    _source(window, ["the", "black", "cat", "sleeps"])
    for left in range(4, 1, -1):
        source.get_by_role("button", name=f"Token 1 of {left}").focus()
        window.page.keyboard.press("Delete")
    window.until("lookback.store.world.opened.scenario.requests[0].source.length === 1")
    window.page.keyboard.press("Delete")
    window.page.get_by_role("alert").filter(has_text="0 tokens given").wait_for()
    _source(window, ["sleeps"])


def test_the_page_splits_text_as_the_server_does(window: Window) -> None:
    texts = [
        "The black cat sleeps.",
        "N’est  pas «été»",
        "日本、東京。 مرحبا، عالم؟",
        "a\u00a0b\u200bc",
        "don't n'importe n' x",
        "e\u0301te\u0301 <unk>!",
    ]
    split = """async ([texts, words]) => {
      const {tokenize, splittingOf} = await import('/assets/lib/setup/tokens.mjs');
      return texts.map((t) => tokenize(t, splittingOf(words)));
    }"""
    for task in tasks().values():
        words = (words_of(task) or task.target).words[4:]
        given = texts if task.id in ("translation", "language_model") else ["".join(words[:20]), " ".join(words[3:9])]
        assert window.page.evaluate(split, [given, words]) == [task.tokenize(t) for t in given], task.id


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
    assert window.tokens()[:4] == ["<bos>", "the", "report", "was"]


def test_the_theme_is_automatic_light_or_dark_and_is_remembered(window: Window) -> None:
    scheme = "() => document.documentElement.dataset.mantineColorScheme"
    window.page.emulate_media(color_scheme="dark")
    window.page.wait_for_function(f"{scheme} === 'dark'")
    window.press("Theme: automatic")
    window.page.wait_for_function(f"{scheme} === 'light'")
    window.open()
    assert window.page.evaluate(scheme) == "light"
    window.press("Theme: light")
    window.page.wait_for_function(f"{scheme} === 'dark'")
    assert window.page.evaluate("() => getComputedStyle(document.querySelector('.stage')).backgroundColor") == "rgb(19, 24, 30)"


def test_the_keys_have_a_sheet_and_stay_out_of_fields(window: Window) -> None:
    window.page.keyboard.press("?")
    window.page.get_by_role("dialog", name="Keys").wait_for()
    window.page.keyboard.press("Escape")
    window.page.get_by_role("dialog", name="Keys").wait_for(state="hidden")
    window.page.get_by_role("textbox", name="Layers").focus()
    window.page.keyboard.press("t")
    window.page.keyboard.press(".")
    window.settled()
    assert (window.world("moved.phase"), window.world("moved.step")) == ("decode", 0)


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


@pytest.mark.parametrize("size", [(1152, 720), (1029, 643), (1024, 768), (960, 600), (823, 514), (820, 1180), (480, 300)])
def test_at_every_size_and_zoom_all_can_be_reached(blank: Window, size: tuple[int, int]) -> None:
    blank.page.set_viewport_size({"width": size[0], "height": size[1]})
    blank.open()
    assert blank.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    phone = size[0] <= 720
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


def test_on_a_small_screen_the_set_up_opens_from_its_rail(blank: Window) -> None:
    blank.page.set_viewport_size({"width": 1280, "height": 720})
    blank.open()
    source = blank.page.get_by_role("group", name="Source", exact=True)
    assert not source.is_visible()
    blank.press("Input")
    source.get_by_role("button", name="Token 2 of 4: black").click()
    blank.page.keyboard.type("white")
    blank.page.keyboard.press("Enter")
    _source(blank, ["the", "white", "cat", "sleeps"])
    blank.page.keyboard.press("Escape")
    assert not source.is_visible()


def _source(window: Window, tokens: list[object]) -> None:
    window.page.wait_for_function(
        "(want) => JSON.stringify(lookback.store.world.opened.scenario.requests[0].source) === want",
        arg=json.dumps(tokens, separators=(",", ":"), ensure_ascii=False),
    )


def _paste(window: Window, text: str) -> None:
    window.page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.setData('text', text);
          const paste = new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true});
          document.activeElement.dispatchEvent(paste);
        }""",
        text,
    )
