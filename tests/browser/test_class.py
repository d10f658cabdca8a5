"""A class in a real browser: a teacher, two students, each with a profile of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Server, Window
from tests.browser.test_axe import AXE, FOUND

pytestmark = pytest.mark.browser

Person = Callable[..., Window]

# Where a cell is drawn, in pixels of the window: the map paints in its own, which are larger.
DRAWN = """async ([row, key]) => {
  const { viewport } = await import('/assets/lib/draw/camera.mjs');
  const { reserve } = await import('/assets/lib/map/maps.mjs');
  const pan = document.querySelector('#view-map .map-pan');
  const box = pan.getBoundingClientRect();
  const zoom = box.width / pan.clientWidth;
  const { left, top, cell, cellWidth } = viewport(pan.clientWidth, pan.clientHeight, reserve(4), 4, 0, 0);
  return [left + key * cellWidth, top + row * cell, cellWidth, cell].map((own, i) => own * zoom + [box.left, box.top, 0, 0][i]);
}"""


@pytest.fixture
def person(browser: Browser, server: Server) -> Iterator[Person]:
    """Opens a window with a profile of its own."""
    windows: list[Window] = []

    def opened(width: int = 1440, height: int = 900, scheme: str = "light") -> Window:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
        )
        windows.append(Window(context.new_page(), server.address))
        return windows[-1]

    yield opened
    for window in windows:
        window.page.context.close()
    assert [w.problems for w in windows] == [[] for _ in windows]


def _gate(window: Window, where: str = "/class") -> Window:
    window.page.goto(window.address + where)
    window.until("document.documentElement.dataset.ready !== undefined")
    return window


def _teach(window: Window) -> str:
    _gate(window).press("Start a class")
    window.until("document.querySelector('.pbar .big2')")
    return window.loaded().page.locator(".pbar .code").inner_text()


def _join(window: Window, code: str, name: str, where: str = "/class") -> Window:
    _gate(window, where)
    window.page.fill("#class-code", code)
    window.page.fill("#class-name", name)
    window.press("Join the class")
    return window.loaded()


def _is(window: Window, mode: str) -> None:
    window.until(f"document.documentElement.dataset.class === '{mode}'")


def _stands(window: Window, step: int) -> None:
    window.until(f"lookback.store.world.moved?.step === {step} && !lookback.store.unsettled")
    window.settled()


def _text(window: Window, selector: str, words: str) -> None:
    window.page.wait_for_function(
        "([selector, words]) => document.querySelector(selector)?.textContent.includes(words)", arg=[selector, words]
    )


def _counts(teacher: Window, following: int, own: int, lost: int) -> None:
    want = f"{following},{own},{lost}"
    teacher.until(f"[...document.querySelectorAll('.pbar .big2')].map((b) => b.textContent).join() === '{want}'")


def test_a_class_from_its_code_to_its_end(person: Person) -> None:
    teacher, ada, bao = person(), person(), person(390, 844, "dark")
    code = _teach(teacher)
    _join(ada, code.lower().replace("-", " "), "Ada")
    _join(bao, code, "Bao", f"/class?code={code}")
    _counts(teacher, 2, 0, 0)

    for step in range(1, 4):  # they follow, and see what is locked
        teacher.page.keyboard.press("ArrowRight")
        for window in (teacher, ada, bao):
            _stands(window, step)
        if step == 2:
            break
    teacher.page.evaluate("() => lookback.run.look({lock: {row: 1, key: 2}})")
    ada.until("lookback.store.world.look.lock?.key === 2")
    assert ada.page.locator("#step").is_disabled()
    assert "teacher steps" in (ada.page.locator("#step").get_attribute("title") or "")
    assert ada.said() == teacher.said() != "", "the same sentence"
    ada.page.keyboard.press("ArrowRight")
    _text(ada, ".say", "The teacher steps and sets.")
    teacher.page.evaluate("() => lookback.run.look({lock: null})")

    teacher.press("Poll")
    _text(teacher, ".class-ask .poll-question", "Which source word will row 3 noir read most?")
    teacher.press("Ask the class")
    _text(ada, "#said", "Poll from the teacher: Which source word will row 3 noir read most?")
    for window, word in ((ada, "black"), (bao, "cat"), (bao, "sleeps")):  # it may be changed
        window.page.locator(".pollrow", has_text=word).click()
        _text(window, ".poll-told", f"You said {word}.")
    _text(teacher, ".poll .hh .note", "2 of 2 answered")
    assert ada.page.locator(".pollrow .n").all_inner_texts() == ["–"] * 4

    teacher.page.keyboard.press("ArrowRight")
    _text(teacher, ".poll-told", "Measured: sleeps 0.9")
    teacher.press("Show the answer")
    _text(ada, ".poll-told", "You said black. Measured: sleeps 0.9")
    assert ada.page.locator(".pollrow .n").all_inner_texts() == ["0", "1", "0", "1"]
    assert ada.page.locator(".pollrow").first.is_disabled()

    ada.press("Explore on my own")
    _is(ada, "own")
    ada.until("lookback.store.world.role === 'writer'")
    _stands(ada, 3)
    assert ada.page.evaluate("() => lookback.run.session") != teacher.page.evaluate("() => lookback.run.session")
    ada.page.locator("#back").click()
    _stands(ada, 2)
    _text(ada, ".pbar-say", "On your own at decode 2. The teacher is at decode 3.")
    assert ada.page.locator(".pin").inner_text() == "teacher"
    mask = "lookback.store.world.opened.scenario.masks"
    ada.page.evaluate(
        """() => lookback.run.commands.change({masks: [{relation: 'cross', layer: 1, program: 'full',
           cells: [{query: 1, key: 2, visible: false}]}]}).then((r) => { if (!r.ok) console.error(JSON.stringify(r.errors)); })"""
    )
    ada.until(f"{mask}.length === 1")
    _text(teacher, ".own .pp", "Ada decode 2 chat, 1 edit")
    _counts(teacher, 1, 1, 0)
    assert teacher.world("opened.scenario.masks") == []

    for window in (teacher, ada, bao):  # a reload of each finds the class again
        window.page.reload()
        window.loaded()
    _counts(teacher, 1, 1, 0)
    assert teacher.world("role") == "writer"
    assert ada.world("role") == "writer"
    assert ada.world("moved.step") == 2
    assert bao.world("role") == "reader"
    _text(bao, ".poll-told", "You said sleeps.")

    teacher.press("Call all back")
    _is(ada, "follower")
    _text(ada, ".pbar-say", "The teacher called everyone back.")
    _stands(ada, 3)
    assert ada.world("opened.scenario.masks") == []
    ada.press("Share")
    assert ada.page.locator(".take-row a").inner_text() == "decode 2"
    ada.press("Close")

    teacher.press("End class")
    _text(teacher, ".pbar-say", "End the class for 2 students?")
    teacher.press("End class")
    for window in (ada, bao):
        _is(window, "ended")
    assert ada.world("moved.step") == 3
    ada.press("Keep this run")
    ada.page.wait_for_url("**/#s=*")
    ada.loaded()
    assert (ada.world("role"), ada.world("moved.step")) == ("writer", 3)


def test_a_code_or_a_name_that_is_wrong_is_told_at_its_field(person: Person) -> None:
    teacher, student = person(), person(390, 844)
    code = _teach(teacher)
    _gate(student).page.fill("#class-code", "ZZZ-ZZZ")
    student.page.fill("#class-name", "Eve")
    student.press("Join the class")
    _text(student, "#class-code-wrong", "There is no class")
    student.page.fill("#class-code", code)
    student.page.fill("#class-name", "x" * 25)
    student.press("Join the class")
    _text(student, "#class-name-wrong", "1 to 24 visible characters")
    student.page.fill("#class-name", "<b>عمر</b>")
    student.press("Join the class")
    student.loaded()
    _text(teacher, ".names", "<b>عمر</b>")


def test_the_class_comes_back_with_the_server(person: Person, tmp_path: Path) -> None:
    server = Server(tmp_path)
    try:
        teacher, student = person(), person()
        for window in (teacher, student):
            window.address = server.address
        code = _teach(teacher)
        _join(student, code, "Ada")
        server.stop()
        _text(student, ".pbar-say", "Not connected to the class, trying again")
        server.start()
        _text(student, ".pbar-say", "Following the teacher.")
        _counts(teacher, 1, 0, 0)
        for window in (teacher, student):
            window.until("lookback.store.world.connection === 'open'")
        teacher.step()
        _stands(student, 1)
        for window in (teacher, student):
            window.page.close()
            # the browser writes that it could not connect
            window.problems[:] = [p for p in window.problems if "ERR_CONNECTION_REFUSED" not in p]
    finally:
        server.stop()


def test_the_stage_of_a_class_is_larger_and_as_sharp_and_found_where_it_is_seen(person: Person) -> None:
    for where, width, height, zoom in (("/class", 1440, 900, 1.1), ("/?mode=class", 1280, 720, 1.22)):
        window = person(width, height)
        if where == "/class":
            _teach(window)
        else:
            window.open(where)
        window.step(3)
        canvas = window.page.locator("#view-map .pan-canvas").first
        assert canvas.evaluate("(c) => c.width / c.clientWidth") == pytest.approx(zoom, abs=0.01)
        for row, key in ((0, 0), (3, 3), (1, 2)):
            x, y, width, height = window.page.evaluate(DRAWN, [row, key])
            for right, down in ((0.1, 0.1), (0.9, 0.9)):
                window.page.mouse.move(x + right * width, y + down * height)
                assert window.world("hover") == {"row": row, "key": key}
            window.page.mouse.click(x + width / 2, y + height / 2)
            assert window.world("look.lock") == {"row": row, "key": key}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_class(person: Person, scheme: str) -> None:
    teacher, student = person(scheme=scheme), person(390, 844, scheme)
    code = _teach(teacher)
    _join(student, code, "Ada")
    teacher.step()
    teacher.press("Poll")
    teacher.page.evaluate(AXE.read_text())
    assert teacher.page.evaluate(FOUND) == [], "the sheet of a poll"
    teacher.press("Ask the class")
    student.until("document.querySelector('.poll:not([hidden])')")
    student.page.evaluate(AXE.read_text())
    for window, who in ((teacher, "teacher"), (student, "student")):
        window.settled()
        assert window.page.evaluate(FOUND) == [], who
    student.press("Explore on my own")
    _is(student, "own")
    student.until("lookback.store.world.role === 'writer'")
    student.settled()
    assert student.page.evaluate(FOUND) == [], "on one's own"
    gate = _gate(person(scheme=scheme))
    gate.page.evaluate(AXE.read_text())
    assert gate.page.evaluate(FOUND) == [], "before the class"
