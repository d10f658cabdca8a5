"""Every key of the sheet of keys, pressed one by one: each does what the sheet says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser


def _press(window: Window, *keys: str) -> None:
    for key in keys:
        window.page.keyboard.press(key)
    window.settled()


def _becomes(window: Window, what: str, value: str) -> None:
    window.until(f"JSON.stringify(lookback.store.world.{what}) === '{value}'")


def _step_and_back(window: Window) -> None:
    for step, back in ((".", ","), ("ArrowRight", "ArrowLeft")):
        _press(window, step)
        _becomes(window, "moved.step", "1")
        _press(window, back)
        _becomes(window, "moved.step", "0")


def _play(window: Window) -> None:
    _press(window, "Space")
    _becomes(window, "playing.playing", "true")
    _press(window, "Space")
    _becomes(window, "playing.playing", "false")


def _units(window: Window) -> None:
    for key, unit in (("2", "stage"), ("3", "op"), ("1", "step")):
        _press(window, key)
        window.until(f"lookback.actions.unit === '{unit}'")


def _phases(window: Window) -> None:
    for key, phase in (("t", "train"), ("p", "prefill"), ("d", "decode")):
        _press(window, key)
        _becomes(window, "moved.phase", f'"{phase}"')


def _architectures(window: Window) -> None:
    sheet = window.page.get_by_role("dialog", name="Architectures")
    _press(window, "a")
    sheet.wait_for()
    window.page.keyboard.type("state")
    _press(window, "ArrowDown")
    assert window.page.evaluate("() => document.activeElement.className") == "entry"
    first = window.page.evaluate("() => document.activeElement.dataset.id")
    _press(window, "Enter")
    _becomes(window, "opened.scenario.architecture", f'"{first}"')
    sheet.wait_for(state="hidden")
    _press(window, "Control+z")
    _becomes(window, "opened.scenario.architecture", '"encoder_decoder"')


def _stop(window: Window) -> None:
    _press(window, "b")
    _becomes(window, "look.stops.length", "1")
    _press(window, "b")
    _becomes(window, "look.stops.length", "0")


def _toggles(name: str, key: str, there: str, back: str) -> Callable[[Window], None]:
    def does(window: Window) -> None:
        _press(window, key)
        _becomes(window, f"look.{name}", there)
        _press(window, key)
        _becomes(window, f"look.{name}", back)

    return does


def _turns(name: str, less: str, more: str) -> Callable[[Window], None]:
    def does(window: Window) -> None:
        at = window.world(f"look.{name}")
        for key in (more, less) if at == 0 else (less, more):
            _press(window, key)
        _becomes(window, f"look.{name}", str(at))
        _press(window, more if at == 0 else less)
        window.until(f"lookback.store.world.look.{name} !== {at}")

    return does


CELLS = "opened.relations.find((r) => r.name === 'cross').masks[1].cells"


def _map(window: Window) -> None:
    window.step(2)
    window.page.locator(".map-pan canvas").focus()
    before = window.world("look.lock")
    _press(window, "ArrowUp", "ArrowLeft", "ArrowRight", "Enter")
    assert before is None and window.world("look.lock") is not None
    _press(window, "m", "x")
    _becomes(window, f"{CELLS}.length", "1")
    _press(window, "x")
    _becomes(window, f"{CELLS}.length", "0")
    _press(window, "c")  # its column: every row that is there, and every later one
    window.until(f"lookback.store.world.{CELLS}.length > 0")
    _press(window, "c")
    _becomes(window, f"{CELLS}.length", "0")
    _press(window, "r")  # its row: a row that reads nothing is refused by name
    window.until("(lookback.store.world.refused ?? []).some((e) => e.given.startsWith('row 1'))")


def _token(window: Window) -> None:
    source = window.page.get_by_role("group", name="Source", exact=True)
    source.get_by_role("button", name="Token 1 of 4").focus()
    _press(window, "ArrowRight")
    focused = "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.className"
    assert "Token 2 of 4" in window.page.evaluate(focused)
    _press(window, "Shift+ArrowRight")
    _becomes(window, "opened.scenario.requests[0].source", '["the","cat","black","sleeps"]')
    _press(window, "Enter")
    assert window.page.evaluate("() => document.activeElement.className") == "chip-input"
    _press(window, "Escape")


def _unlock(window: Window) -> None:
    window.page.evaluate("() => lookback.run.look({ lock: { row: 0, key: 0 } })")
    _press(window, "Escape")
    _becomes(window, "look.lock", "null")


def _undo_and_redo(window: Window) -> None:
    undo, redo = window.page.locator("#undo"), window.page.locator("#redo")
    assert undo.is_disabled() and redo.is_disabled()  # nothing was changed yet
    window.page.evaluate("() => lookback.run.send({ kind: 'change', fields: { policy: { limit: 5 } } })")
    for key, limit in (("Control+z", 32), ("Control+y", 5), ("Control+z", 32), ("Control+Shift+z", 5)):
        _becomes(window, "opened.scenario.policy.limit", str(37 - limit))
        assert redo.is_disabled() == (limit == 32)
        _press(window, key)
        _becomes(window, "opened.scenario.policy.limit", str(limit))


def _sheet(window: Window) -> None:
    sheet = window.page.get_by_role("dialog", name="Keys")
    _press(window, "?")
    sheet.wait_for()
    _press(window, "Escape")
    sheet.wait_for(state="hidden")


DOES: dict[str, Callable[[Window], None]] = {
    "→ or .": _step_and_back,
    "← or ,": _step_and_back,
    "Space": _play,
    "1 2 3": _units,
    "T P D": _phases,
    "A": _architectures,
    "B": _stop,
    "M": _toggles("editing", "m", "true", "false"),
    "L": _toggles("scale", "l", '"log"', '"linear"'),
    "[ ]": _turns("layer", "[", "]"),
    "{ }": _turns("head", "{", "}"),
    "Arrows in the map": _map,
    "Arrows on a token": _token,
    "Esc": _unlock,
    "Ctrl+Z": _undo_and_redo,
    "Ctrl+Y": _undo_and_redo,
    "?": _sheet,
}


def test_the_sheet_lists_what_is_tried_here(window: Window) -> None:
    _press(window, "?")
    assert window.page.locator(".keylist kbd").all_inner_texts() == list(DOES)


@pytest.mark.parametrize("key", [k for k in DOES if k not in ("← or ,", "Ctrl+Y")])
def test_a_key_does_what_the_sheet_says(window: Window, key: str) -> None:
    DOES[key](window)
