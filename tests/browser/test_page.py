"""The page lives: reload, tabs, links, a server that goes and comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from app.session import link
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


def test_the_way_back_to_a_kept_page_tells_of_no_cut(window: Window) -> None:
    window.step()
    shown = window.page.evaluate(
        """async () => {
          const turn = (kind) => dispatchEvent(new PageTransitionEvent(kind, {persisted: true}));
          const seen = [];
          lookback.store.listen(() => seen.push(lookback.store.world.connection));
          turn('pagehide');
          const hidden = lookback.run.socket.line.carries;
          await new Promise((done) => setTimeout(done, 300));
          turn('pageshow');
          const reply = await lookback.run.commands.step();
          return [hidden, reply.ok, seen.includes('offline')];
        }"""
    )
    assert shown == [False, True, False]
    window.settled()
    assert window.tokens() == ["<bos>", "le", "chat"]


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


NEWER = link.pack({"v": 1, "scenario": {"hologram": 3}, "log": [], "view": {}})


@pytest.mark.parametrize(
    ("held", "said"), [("notalink", "cannot be read"), (NEWER, "This link was not opened: hologram is not a field")]
)
def test_a_link_that_cannot_be_read_says_so_and_the_page_is_alive(blank: Window, held: str, said: str) -> None:
    blank.open("/#s=" + held)
    blank.until(f"document.querySelector('.say')?.textContent.includes('{said}')")
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
        window.page.evaluate("() => document.getElementById('status-retry').click()")  # it may have come back by itself
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
