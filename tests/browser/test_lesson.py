"""The lesson page in a real browser: the first lesson as a person walks it, what a question holds back, what a reload keeps."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Window
from tests.browser.test_map import cell

pytestmark = pytest.mark.browser

FIRST = "/lesson?n=adjective"


def _checks(window: Window) -> list[tuple[str, bool]]:
    """Each condition's live value, and whether it is done."""
    window.settled()
    found = window.page.locator(".lcheck").evaluate_all(
        "(all) => all.map((e) => [e.children[2].textContent, 'done' in e.dataset])"
    )
    return [(value, done) for value, done in found]


def _shown(window: Window) -> str:
    """The name of the open step."""
    return window.page.locator("[aria-current=step] h3").inner_text()


def _next(window: Window) -> None:
    window.press("Next")
    window.settled()


def _answer(window: Window, option: str, button: str) -> None:
    window.page.get_by_role("radio", name=option, exact=True).check()
    window.page.locator(".pred").get_by_role("button", name=button).click()
    window.settled()


def _hide(window: Window, row: int, key: int) -> None:
    """With Edit mask, as a person does it."""
    at = window.world("moved.at")
    if not window.world("look.editing"):
        window.page.get_by_role("button", name="Edit mask").click()
    window.page.mouse.click(*cell(window, row, key))
    window.until(f"lookback.store.world.moved.at !== {at}")
    window.settled()


def _bars(window: Window) -> list[str]:
    return window.page.locator(".opt .n").all_inner_texts()


def _to_the_question(window: Window) -> None:
    window.page.mouse.click(*cell(window, 0, 0))
    window.settled()
    _next(window)
    window.step()
    _next(window)


def test_the_first_lesson_as_a_person_walks_it(blank: Window) -> None:
    window = blank.open(FIRST)
    page = window.page
    assert page.locator("#lesson-title").inner_text() == "Why the adjective moves" and _shown(window) == "One row per word"
    assert _checks(window) == [("waiting", False)] and page.get_by_role("button", name="Next", exact=True).is_disabled()
    assert page.locator("#slot-map").get_attribute("data-ring") == ""
    page.mouse.click(*cell(window, 0, 0))
    assert _checks(window) == [("the 99%", True)]
    _next(window)
    assert window.world("look.lock") is None and page.evaluate("() => document.activeElement.textContent") == "Step to le"
    assert [done for _, done in _checks(window)] == [False, False, False]
    assert page.locator("#step").get_attribute("data-ring") == ""
    window.step()
    assert _checks(window) == [("yes", True), ("cat 90%", True), ("chat >0.99", True)]
    said = page.locator(".lend .ruling").inner_text()
    assert "Row 1 holds le and reads cat" in said
    page.locator("#back").click()
    window.until("lookback.store.world.moved.step === 0")
    window.settled()
    assert page.locator(".lend .ruling").inner_text() == said, "a run that has left says nothing else of it"
    window.step()

    _next(window)
    assert _shown(window) == "Which word will be read?" and _bars(window) == ["", "", "", ""]
    before = page.locator(".pred").bounding_box(), page.locator(".task").bounding_box()
    _answer(window, "cat", "Reveal")
    assert window.tokens() == ["<bos>", "le", "chat"]
    assert "You said cat. Row 2 holds chat but decides the next word, noir." in page.locator(".pred .ruling").inner_text()
    shown = [float(n) for n in _bars(window)]
    recorded = page.evaluate("() => lookbackLesson.see().weights({ relation: 'cross', layer: 1, head: 0 }, 2)")
    assert shown == [round(w, 2) for w in recorded] and max(shown) == shown[1] > 0.9
    assert (page.locator(".pred").bounding_box(), page.locator(".task").bounding_box()) == before, (
        "nothing moves when the bars fill"
    )
    assert _checks(window) == [("cat", True), ("black 96%", True)]

    _next(window)
    _answer(window, "noir", "That is my answer")
    assert _bars(window) == ["", "", ""]
    _hide(window, 2, 1)
    assert [done for _, done in _checks(window)] == [True, True, True]
    assert "You said noir. Without the cell dort leads" in page.locator(".pred .ruling").inner_text()

    assert page.locator(".lesson-foot").get_by_role("status").inner_text() == "Next opens decode 1"
    _next(window)
    assert _shown(window) == "Try it yourself" and not page.locator(".lbegin").is_visible(), "it goes there by itself"
    assert window.tokens() == ["<bos>", "le"] and window.world("opened.scenario.masks") == []
    assert [done for _, done in _checks(window)] == [False, False, True]
    _hide(window, 1, 0)
    assert [done for _, done in _checks(window)] == [False, True, True], "chat still leads"
    _hide(window, 1, 2)
    assert _checks(window)[1] == ("2 cells hidden", False)
    window.page.keyboard.press("Control+z")
    window.page.keyboard.press("Control+z")
    window.settled()
    _hide(window, 1, 2)
    assert [done for _, done in _checks(window)] == [True, True, True]

    _next(window)
    text = page.get_by_role("textbox", name="Why does row chat read black?")
    text.fill("Because it decides the next word")
    at = window.world("moved.at")
    text.press("ArrowLeft")
    text.press("Space")
    assert window.world("moved.at") == at, "keys in a text are its own"
    window.press("Compare with ours")
    assert _checks(window) == [("done", True)] and "A row holds the newest word" in page.locator(".lours").inner_text()
    assert page.locator(".prog").get_attribute("aria-valuenow") == "6"
    assert page.locator(".lesson-foot").get_by_role("button").last.is_enabled()


def test_a_question_holds_what_computes_on_and_lets_one_go_back(blank: Window) -> None:
    window = blank.open(FIRST)
    page = window.page
    _to_the_question(window)
    why = "Answer first: which source word will row 2 read most?"
    for button in ("#step", "#play", ".view-map [data-part=edit]"):
        assert page.locator(button).is_disabled() and page.locator(button).get_attribute("title") == why
    phases = page.locator(".place", has=page.get_by_role("radiogroup", name="Phase"))
    assert phases.get_attribute("title") == why and phases.locator("input:enabled").count() == 0
    at, say = window.world("moved.at"), page.locator(".say")
    assert window.said() == why and say.get_attribute("data-tone") is None, "the stage asks it too"
    for key in ("m", "ArrowRight", "t"):
        page.locator("body").press(key)
        assert window.said() == why and say.get_attribute("data-tone") == "bad"
        page.locator(".say-line .btn").click()
        assert window.said() == why and say.get_attribute("data-tone") is None
    assert not window.world("look.editing") and window.world("moved.at") == at
    assert "once the question is answered" in page.locator(".view-next .outcome").inner_text()
    word = page.locator(".view-next .cand").nth(1)
    assert word.is_disabled() and word.get_attribute("title") == why
    page.locator("#back").click()
    window.until("lookback.store.world.moved.step === 0")
    assert "This step begins at decode 1." in page.locator("#lesson").inner_text() and page.locator("#step").is_enabled()
    assert page.get_by_role("radio", name="black", exact=True).is_disabled()
    window.press("Go there")
    window.settled()
    _answer(window, "black", "Reveal")
    assert "Yes. Row 2 holds chat" in page.locator(".pred .ruling").inner_text()
    assert page.evaluate("() => document.activeElement.className") == "ruling"


def test_a_step_does_not_begin_in_a_run_that_was_trained_on_the_way(blank: Window) -> None:
    """A question about the shipped weights is not asked of others."""
    window = blank.open(FIRST)
    page = window.page
    page.mouse.click(*cell(window, 0, 0))
    window.settled()
    page.locator("body").press("t")
    window.until("lookback.store.world.moved.phase === 'train'")
    window.step()
    page.get_by_text("Decode", exact=True).first.click()
    window.until("lookback.store.world.moved.phase === 'decode'")
    assert window.world("moved.updates") == 1
    assert page.locator(".lesson-foot").get_by_role("status").inner_text() == "Next opens decode 0"
    page.evaluate("() => lookback.store.set({ connection: 'offline' })")
    window.press("Next")
    page.evaluate("() => lookback.store.set({ connection: 'open' })")
    window.settled()
    assert "This step begins at decode 0, with no mask, setting or weight changed." in page.locator("#lesson").inner_text()
    window.step()
    assert [done for _, done in _checks(window)] == [False, False, False], "what was done there does not count"
    window.press("Go there")
    window.settled()
    assert window.world("moved.updates") == 0
    window.step()
    assert [done for _, done in _checks(window)] == [True, True, True]


def test_a_reload_finds_the_step_the_answer_and_the_run(blank: Window) -> None:
    window = blank.open(FIRST)
    _to_the_question(window)
    window.page.get_by_role("radio", name="cat", exact=True).check()
    session = window.page.evaluate("() => lookback.run.session")
    window.shared()
    window.reload()
    assert _shown(window) == "Which word will be read?" and window.tokens() == ["<bos>", "le"]
    assert window.page.evaluate("() => lookback.run.session") == session
    assert window.page.get_by_role("radio", name="cat", exact=True).is_checked() and window.page.locator("#step").is_disabled()
    _answer(window, "cat", "Reveal")
    window.shared()
    window.reload()
    assert (
        _checks(window) == [("cat", True), ("black 96%", True)]
        and "You said cat." in window.page.locator(".pred .ruling").inner_text()
    )
    other = Window(window.page.context.new_page(), window.address)
    other.open("/")
    assert other.page.evaluate("() => lookback.run.session") != session, "the stage has its own run"
    other.open("/lesson")
    assert _shown(other) == "Which word will be read?" and other.tokens() == ["<bos>", "le"], (
        "another tab begins where the step does"
    )
    assert (
        other.page.get_by_role("radio", name="cat", exact=True).is_enabled() and not other.page.locator(".opt :checked").count()
    ), "what was answered belongs to the run of the other tab"
    _answer(other, "black", "Reveal")
    _next(other)
    assert other.problems == []
    window.shared()
    window.reload()
    assert _shown(window) == "Which word will be read?" and "You said cat." in window.page.locator(".pred .ruling").inner_text()


def test_a_step_can_be_named_and_an_unknown_lesson_says_which_there_are(blank: Window) -> None:
    window = blank.open(FIRST)
    _to_the_question(window)
    assert window.page.url.split("#")[0].endswith("/lesson?n=adjective&step=3")
    window.open("/lesson?n=adjective&step=2")
    assert _shown(window) == "Step to le"
    window.open("/lesson?n=adjective&step=6")
    assert _shown(window) == "Which word will be read?", "what was not reached is not opened"
    assert window.page.url.split("#")[0].endswith("/lesson?n=adjective&step=3"), "the address says which is shown"
    window.open("/lesson?n=verbs")
    said = window.page.locator("#lesson").inner_text()
    assert "There is no lesson “verbs”." in said and "Why the adjective moves" in said
    window.page.locator("#lesson").get_by_role("link").first.click()
    window.loaded()
    assert window.page.locator("#lesson-title").is_visible()


def test_in_french(blank: Window) -> None:
    window = blank.open("/lesson?n=adjective&lang=fr")
    assert window.page.locator("#lesson-title").inner_text() == "Pourquoi l’adjectif se déplace"
    window.page.mouse.click(*cell(window, 0, 0))
    window.settled()
    window.press("Suivant")
    window.step()
    window.press("Suivant")
    assert "Prédisez\u202f: quel mot source" in window.page.locator(".pred").inner_text()
    assert window.page.locator("#step").get_attribute("title").startswith("Répondez d’abord")  # type: ignore[union-attr]


def test_without_a_connection_the_checks_wait(blank: Window) -> None:
    window = blank.open(FIRST)
    window.page.evaluate("() => lookback.store.set({ connection: 'offline', reason: '' })")
    window.page.evaluate("() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
    assert window.page.locator(".lesson-foot").get_by_role("status").inner_text() == "not connected: the checks wait"
    window.page.evaluate("() => lookback.run.look({ lock: { row: 0, key: 0 } })")
    window.page.evaluate("() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
    assert window.page.get_by_role("button", name="Next", exact=True).is_disabled()


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (1024, 768), (390, 844)])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_at_every_size_nothing_overflows_and_every_page_can_be_reached(
    blank: Window, size: tuple[int, int], language: str
) -> None:
    page = blank.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    blank.open(f"{FIRST}&lang={language}")
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    phone = size[0] <= 720
    if phone:
        page.locator("[data-tab-to=setup]").click()
    nav = page.locator(".pages.on-phone" if phone else ".pages.hide-phone")
    boxes = [link.bounding_box() for link in nav.get_by_role("link").all()]
    assert len(boxes) == 5 and all(b and b["x"] >= 0 and b["x"] + b["width"] <= size[0] for b in boxes)


def test_on_a_phone_the_map_and_what_is_said_of_it_are_both_in_sight(blank: Window) -> None:
    page = blank.page
    page.set_viewport_size({"width": 390, "height": 844})
    window = blank.open("/lesson?n=adjective&lang=fr")

    def top(selector: str) -> float:
        return float(page.locator(selector).evaluate("(e) => e.getBoundingClientRect().top"))

    bar = page.locator(".top").bounding_box()
    assert bar and bar["height"] <= top("#slot-map") + 1 and top(".map-pan") < top("#lesson") < top(".phone-nav")
    assert page.locator(".lesson-short").inner_text() == "Leçon 1" and page.locator("#lesson-title").is_visible()
    assert page.locator(".lesson-short").evaluate("(e) => e.scrollWidth <= e.clientWidth")
    page.locator(".lesson-fold").click()
    window.settled()
    assert page.locator(".lcheck").first.is_visible() and not page.locator(".ltexts").is_visible(), "its checks stay"
    window.page.evaluate("() => lookback.run.look({ lock: { row: 0, key: 0 } })")
    assert _checks(window) == [("the 99%", True)] and page.locator(".lesson-foot button").last.is_enabled()


def test_on_a_phone_on_its_side_all_columns_of_the_map_are_in_sight_where_one_is_told_to_click(blank: Window) -> None:
    page = blank.page
    page.set_viewport_size({"width": 844, "height": 390})
    window = blank.open(FIRST)
    for key in range(4):
        x, y = cell(window, 0, key)
        assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).matches('.map-pan canvas')", [x, y])
    page.mouse.click(*cell(window, 0, 0))
    assert _checks(window) == [("the 99%", True)]
    _next(window)
    window.settled()
    step = page.locator("#step").bounding_box()
    assert step and 40 <= step["y"] <= 300, "in sight where one is told to press it"
    window.step()
    _next(window)
    say = page.locator(".say")
    assert say.inner_text().startswith("Answer first") and say.evaluate("(e) => e.scrollWidth <= e.clientWidth"), "whole"
    strips, switch = page.locator(".read-pan").bounding_box(), page.locator(".ribbon-switch").bounding_box()
    assert strips and switch and strips["height"] > 160 and switch["x"] > strips["x"] + 200, "no token lies under it"


def test_paper_shows_the_open_step_with_its_checks_beside_the_stage(blank: Window) -> None:
    window = blank.open(FIRST)
    sentence = window.said()
    window.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    window.page.emulate_media(media="print")
    words = window.page.locator(".paper").inner_text()
    assert sentence in words and "One row per word" in words and "you looked at a cell of row 0" in words and "waiting" in words
    assert not {"Next", "Fold", "Step to le"} & set(words.splitlines())
    lesson, stage = [window.page.locator(f".paper > {name}").bounding_box() for name in ("aside", "section")]
    assert lesson and stage and lesson["x"] + lesson["width"] <= stage["x"] + 1
    assert stage["x"] + stage["width"] - lesson["x"] <= 977 and max(lesson["height"], stage["height"]) <= 715
    window.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert window.page.locator(".paper").count() == 0
