"""Another language: chosen in the top bar, whole at once, and the run goes on."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser


def _speak(window: Window, to: str) -> None:
    window.page.locator("#language").click()
    window.until(f"document.documentElement.lang === '{to}' && document.documentElement.dataset.ready !== undefined")
    window.loaded()


def test_a_switch_keeps_the_run_the_look_and_the_focus(window: Window) -> None:
    page = window.page
    window.step(2)
    page.evaluate("() => lookback.run.look({ lock: { row: 1, key: 2 }, scale: 'log' })")
    window.shared()
    english, tokens, session = window.said(), window.tokens(), page.evaluate("() => lookback.run.session")
    _speak(window, "fr")
    assert (window.tokens(), page.evaluate("() => lookback.run.session")) == (tokens, session)
    assert window.world("look.lock") == {"row": 1, "key": 2} and window.world("look.scale") == "log"
    assert page.evaluate("() => document.activeElement.id") == "language"
    assert page.locator("#step").inner_text().strip() == "Pas" and "prend" in window.said()
    page.keyboard.press("Escape")
    window.step()
    assert "ligne cible" in window.said() and len(window.tokens()) == len(tokens) + 1
    page.locator("#back").click()
    window.settled()
    page.evaluate("() => lookback.run.look({ lock: { row: 1, key: 2 } })")
    window.shared()
    _speak(window, "en")
    assert (window.said(), window.tokens()) == (english, tokens)


def test_what_the_server_says_comes_in_the_language_of_the_page(blank: Window) -> None:
    window = blank.open("/?lang=fr")
    change = "() => lookback.run.commands.change({ policy: { ...lookback.store.world.opened.scenario.policy, limit: 10 ** 6 } })"
    window.page.evaluate(change)
    window.settled()
    assert "policy.limit a reçu 1000000\u202f; permis\u202f: au moins 1 et au plus 512" in window.said()
    claims = [c["claim"] for c in window.world("checked")["checks"]]
    assert "lignes de somme 1" in claims and "all finite" not in claims
    means = window.page.evaluate("() => lookback.store.world.schema.formulas.map((f) => f.means + f.mathml).join()")
    assert "ce que cherche une ligne" in means and "si\u00a0la\u00a0ligne" in means and "what a row" not in means
    window.page.locator("#language").click()
    window.until("document.documentElement.lang === 'en' && document.documentElement.dataset.ready !== undefined")
    assert "lang=" not in window.page.url
