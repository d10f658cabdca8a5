"""The main job in a browser: step, go back, play, choose, hide, train."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser


def test_a_first_visit_finds_a_run_that_is_alive(window: Window) -> None:
    assert window.tokens() == ["<bos>"]
    window.until("document.querySelector('.say').textContent.includes('takes')")
    assert window.page.locator(".cand.lead").inner_text().startswith("le")
    assert window.page.locator("#weights-line").inner_text().startswith("Trained")
    assert "PyTorch" in window.page.locator("#status").inner_text()
    window.until("location.hash.startsWith('#s=')")


def test_step_back_and_the_keys_move_through_decode(window: Window) -> None:
    window.step(2)
    assert window.tokens() == ["<bos>", "le", "chat"]
    assert window.page.locator("#where").inner_text() == "Decode 2"
    window.press("Back")
    window.until("lookback.store.world.moved.step === 1")
    window.page.keyboard.press(".")
    window.until("lookback.store.world.moved.step === 2")
    window.page.keyboard.press(",")
    window.until("lookback.store.world.moved.step === 1")
    assert window.tokens() == ["<bos>", "le"]
    window.page.get_by_text("Prefill", exact=True).first.click()
    window.until("lookback.store.world.moved.phase === 'prefill'")
    window.page.keyboard.press("ArrowRight")
    window.until("lookback.store.world.moved.step === 1 && lookback.store.world.moved.phase === 'prefill'")


def test_play_goes_on_to_the_end_and_step_rests_there(window: Window) -> None:
    window.page.evaluate("() => lookback.actions.speed(30)")
    window.page.keyboard.press(" ")
    window.until("lookback.store.world.moved.ended && !lookback.store.world.playing.playing")
    assert window.tokens() == ["<bos>", "le", "chat", "noir", "dort"]
    assert window.world("moved.requests[0].finished") == "eos"
    assert window.page.locator("#step").is_disabled()


def test_pause_stops_between_steps(window: Window) -> None:
    window.press("Play")
    window.until("lookback.store.world.moved.step >= 1")
    window.press("Pause")
    window.until("!lookback.store.world.playing.playing")
    assert window.page.locator("#play").inner_text().startswith("Play")


def test_by_stage_and_by_op_the_parts_of_a_step_are_walked(window: Window) -> None:
    window.page.keyboard.press("2")
    window.step()
    assert window.world("moved.stage") == "choose"
    window.page.keyboard.press("3")
    window.page.locator("#step").click()
    window.until("lookback.store.world.moved.stage === ''")
    window.until("lookback.store.world.look.op !== null")
    first = window.world("look.op")
    at = window.world("moved.at")
    window.page.locator("#step").click()
    window.until(f"lookback.store.world.look.op !== '{first}'")
    assert window.world("moved.at") == at, "an op is looked at, nothing is computed"


def test_another_word_makes_a_branch_and_the_old_path_stays(window: Window) -> None:
    window.step(2)
    window.press("Back")
    window.until("lookback.store.world.moved.step === 1")
    window.settled()
    other = window.page.locator(".cand").nth(1)
    word = other.locator(".w").inner_text()
    other.click()
    window.until("lookback.store.world.moved.step === 2")
    assert window.tokens() == ["<bos>", "le", word]
    assert window.world("moved.requests[0].target[2].origin") == "chosen"
    window.page.locator(".blk-forks .fork:visible").click()
    window.until("lookback.store.world.moved.requests[0].target[2].token === 'chat'")


def test_a_hidden_key_weighs_nothing_and_undo_brings_it_back(window: Window) -> None:
    window.step()
    before = _weights(window, 1)
    assert before[1] > 0
    window.page.keyboard.press("m")
    _toggle(window, 1, 1)
    window.until("lookback.store.world.opened.scenario.masks.length === 1")
    window.settled()
    after = _weights(window, 1)
    assert after[1] == 0
    assert sum(after) == pytest.approx(1, abs=1e-5)
    window.page.keyboard.press("Control+z")
    window.until("lookback.store.world.opened.scenario.masks.length === 0")
    window.settled()
    assert _weights(window, 1) == pytest.approx(before, abs=1e-6)


def test_a_row_left_without_keys_is_refused_by_name_and_nothing_changes(window: Window) -> None:
    window.step()
    window.page.keyboard.press("m")
    for key in range(4):
        _toggle(window, 1, key)
        window.settled()
    window.until("lookback.store.world.refused !== null")
    window.until("document.querySelector('.say').textContent.includes('row 1')")
    assert [c["keys"] for c in window.world("opened.scenario.masks")[0]["cells"]] == [3], (
        "cells beside each other are one rectangle"
    )
    weights = _weights(window, 1)
    assert weights[:3] == [0, 0, 0]
    assert weights[3] == pytest.approx(1)
    window.page.keyboard.press("Control+z")
    window.until("lookback.store.world.opened.scenario.masks[0].cells[0].keys === 2 && lookback.store.world.refused === null")


def test_training_moves_the_loss_and_draws_it(window: Window) -> None:
    window.page.keyboard.press("t")
    window.until("lookback.store.world.moved.phase === 'train'")
    window.step(3)
    window.until("lookback.store.world.curve.updates.length === 3")
    losses = window.world("curve.loss")
    assert len(set(losses)) == 3
    window.until("document.querySelectorAll('.plot .scatterlayer .trace').length >= 2")
    assert "Changed here by 3 updates" in window.page.locator("#weights-line").inner_text()
    window.press("Back")
    window.until("lookback.store.world.curve.updates.length === 2")
    assert window.world("curve.loss") == losses[:2]


def test_prefill_of_two_requests_decides_by_each_last_row(window: Window) -> None:
    window.page.get_by_role("button", name="Add a request").click()
    window.until("lookback.store.world.moved.requests.length === 2")
    window.page.keyboard.press("p")
    window.until("lookback.store.world.moved.phase === 'prefill'")
    window.step()
    assert [r["decision_row"] for r in window.world("moved.requests")] == [0, 0]
    assert "B takes le from its row 0" in window.said()
    window.press("Remove request B")
    window.until("lookback.store.world.moved.requests.length === 1")


def _toggle(window: Window, row: int, key: int) -> None:
    """Click a cell of the map while its mask is edited."""
    canvas = window.page.locator(".map-pan canvas")
    canvas.scroll_into_view_if_needed()
    at = window.page.evaluate(
        """([row, key]) => {
          const canvas = document.querySelector('.map-pan canvas');
          const event = (x, y) => canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: y, bubbles: true}));
          const box = canvas.getBoundingClientRect();
          const out = document.querySelector('.readout');
          for (let y = box.top + 2; y < box.bottom; y += 6) for (let x = box.left + 2; x < box.right; x += 6) {
            event(x, y);
            if (new RegExp(`row ${row} .*row ${key} .*preview`).test(out.textContent)) return [x - box.left + 8, y - box.top + 8];
          }
          return null;
        }""",
        [row, key],
    )
    assert at is not None, f"cell {row}, {key} is not on the map"
    canvas.click(position={"x": at[0], "y": at[1]})


def _weights(window: Window, row: int) -> list[float]:
    window.settled()
    return window.page.evaluate(
        f"() => {{ const k = lookback.store.world.values('map', 0)[0]; return [0, 1, 2, 3].map((s) => k.at(0, 0, {row}, s)); }}"
    )
