"""A class in a browser: somebody is taken out, a tab is duplicated, a phone goes to other pages; the stage is whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Server, Window

pytestmark = pytest.mark.browser

Person = Callable[..., Window]
READY = "document.documentElement.dataset.ready !== undefined"
# what the stage, or the place of its small maps, does not show without being scrolled
CUT = """() => ['.main > .stage', '.minis', '.pbar'].filter((name) => [...document.querySelectorAll(name)].some(
  (e) => e.clientHeight && (e.scrollHeight > e.clientHeight + 1 || (name === '.pbar' && e.scrollWidth > e.clientWidth + 1))))"""


@pytest.fixture
def person(browser: Browser, server: Server) -> Iterator[Person]:
    """Opens a window with a profile of its own."""
    windows: list[Window] = []

    def opened(width: int = 1440, height: int = 900) -> Window:
        windows.append(Window(browser.new_context(viewport={"width": width, "height": height}).new_page(), server.address))
        return windows[-1]

    yield opened
    for window in windows:
        window.page.context.close()
    assert [w.problems for w in windows] == [[] for _ in windows]


def _teach(window: Window) -> str:
    window.page.goto(window.address + "/class")
    window.until(READY)
    window.press("Start a class")
    window.until("document.querySelector('.pbar .big2')")
    return window.loaded().page.locator(".pbar .code").inner_text()


def _join(window: Window, code: str, name: str) -> None:
    window.page.goto(f"{window.address}/class?code={code}")
    window.until(READY)
    window.page.fill("#class-name", name)
    window.press("Join the class")
    window.loaded()


def _says(window: Window, words: str) -> None:
    window.page.wait_for_function("(words) => document.querySelector('#class-bar').textContent.includes(words)", arg=words)


def test_who_is_taken_out_keeps_what_he_sees_and_is_not_let_in_as_the_same(person: Person) -> None:
    teacher, ada = person(), person(1280, 720)
    _join(ada, _teach(teacher), "Ada")
    teacher.step()
    ada.until("lookback.store.world.moved.step === 1")
    teacher.page.get_by_role("button", name="Ada").click()
    _says(teacher, "Take Ada out of the class?")
    teacher.press("Go on")
    assert teacher.page.locator(".name").count() == 1
    token = ada.page.evaluate("() => sessionStorage.getItem('lookback-class')")
    teacher.page.get_by_role("button", name="Ada").click()
    teacher.press("Take out")
    _says(ada, "The teacher has taken you out of this class.")
    teacher.until("!document.querySelector('.name')")
    ada.until("lookback.store.world.role === 'writer' && lookback.store.world.moved?.step === 1 && !lookback.store.unsettled")
    assert ada.world("opened") and ada.page.evaluate("() => lookback.run.session") != teacher.page.evaluate(
        "() => lookback.run.session"
    )
    ada.page.evaluate("(known) => sessionStorage.setItem('lookback-class', known)", token)
    ada.page.goto(ada.address + "/class")
    ada.page.wait_for_function("() => document.querySelector('.gate-part > .gate-wrong')?.textContent.includes('taken you out')")
    assert ada.page.evaluate("() => sessionStorage.getItem('lookback-class')") is None


def test_a_duplicated_tab_says_that_the_class_is_taught_elsewhere_and_may_teach(person: Person) -> None:
    teacher = person()
    _teach(teacher)
    kept = teacher.page.evaluate("() => Object.entries(sessionStorage)")
    copy = Window(teacher.page.context.new_page(), teacher.address)
    copy.page.goto(teacher.address + "/bench")
    copy.page.evaluate("(kept) => kept.forEach(([key, value]) => sessionStorage.setItem(key, value))", kept)
    copy.page.goto(teacher.address + "/class")
    copy.loaded()
    _says(copy, "This class is taught in another tab.")
    copy.press("Teach here")
    _says(teacher, "Another page took this place.")
    copy.until("document.querySelector('.pbar .big2') && lookback.store.world.role === 'writer'")
    copy.step()
    teacher.until("lookback.store.world.moved.step === 1")
    teacher.page.evaluate("""() => {
      const bar = document.querySelector("#class-bar");
      window.taken = [];
      const look = () => window.taken.push(!bar.textContent.includes("Another page took this place."));
      new MutationObserver(look).observe(bar, { childList: true, subtree: true, characterData: true });
    }""")
    copy.reload()
    copy.until("document.querySelector('.pbar .big2') && lookback.store.world.role === 'writer'")
    assert not any(teacher.page.evaluate("() => taken")), "while the other tab loads, this one does not take the class by itself"
    teacher.press("Teach here")
    teacher.until("document.querySelector('.pbar .big2') && lookback.store.world.role === 'writer'")
    _says(copy, "Another page took this place.")
    assert copy.problems == []


def test_a_student_on_a_phone_goes_to_another_page_and_comes_back_to_the_class(person: Person) -> None:
    teacher, bao = person(), person(390, 844)
    _join(bao, _teach(teacher), "Bao")
    bao.page.locator("[data-tab-to=setup]").click()
    bao.page.locator(".pages.on-phone a", has_text="Bench").click()
    bao.page.wait_for_url("**/bench")
    counts = "[...document.querySelectorAll('.pbar .big2')].map((b) => b.textContent).join()"
    teacher.until(f"{counts} === '0,0,1'")
    bao.page.goto(bao.address + "/class")
    bao.loaded()
    _says(bao, "Following the teacher.")
    teacher.until(f"{counts} === '1,0,0'")


@pytest.mark.parametrize("width, height", [(1440, 900), (1280, 720)])
def test_nothing_of_the_stage_is_cut_in_a_class(person: Person, width: int, height: int) -> None:
    teacher = person(width, height)
    _teach(teacher)
    for large in (False, True):
        if large:
            teacher.press("Large")
        for key, phase in (("d", "decode"), ("p", "prefill"), ("t", "train")):
            teacher.page.keyboard.press(key)
            teacher.until(f"lookback.store.world.moved.phase === '{phase}' && !lookback.store.unsettled")
            teacher.settled()
            teacher.until(f"({CUT})().length === 0")  # charts are measured when their library is there


def test_nothing_of_the_large_stage_without_a_class_is_cut_in_a_low_window(person: Person) -> None:
    window = person(1280, 720).open("/?mode=class")
    assert window.page.locator(".stage").evaluate("(e) => e.currentCSSZoom") == pytest.approx(1.22)
    window.step(3)
    window.until(f"({CUT})().length === 0")
    for selector in (".top", "#deck, .deck", "#view-read", "#view-map", "#view-next", ".status"):
        box = window.page.locator(selector).first.bounding_box()
        assert box and box["height"] > 20 and box["y"] + box["height"] <= 720 and box["x"] + box["width"] <= 1280, selector
