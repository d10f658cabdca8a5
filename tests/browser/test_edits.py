"""Edits inside the model and the policy, in a browser: what changes, what stands beside it, and back."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser


TAKEN = """() => {
  const view = lookback.store.world.moved.requests[0];
  return view.candidates.find((c) => c.id === view.choice).probability;
}"""
SLIDE = """([name, value]) => {
  const slider = document.querySelector(`[data-policy=${name}]`);
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
}"""


def _probability(window: Window) -> float:
    """Of what Step takes, as the server says it."""
    return float(window.page.evaluate(TAKEN))


def test_a_set_weight_changes_the_distribution_and_switched_off_it_is_back(window: Window) -> None:
    window.step(3)
    before = _probability(window)
    window.press("Change…")
    window.press("Set weight…")
    window.page.get_by_label("Value", exact=True).fill("0")
    window.press("Apply")
    window.until("lookback.store.world.opened.scenario.edits.length === 1")
    window.settled()
    after = _probability(window)
    assert abs(after - before) > 1e-4
    assert window.page.locator(".edit .to").inner_text().startswith("L2 cross weights, H1, row 3 noir, key 3 sleeps = 0")
    beside = window.page.locator(".view-next .beside")
    assert "unedited dort" in beside.inner_text() and "KL" in beside.inner_text()
    assert window.page.locator(".cand.lead .delta").inner_text().startswith("−")
    window.page.locator(".edit input").click()
    window.until("lookback.store.world.opened.scenario.edits[0].enabled === false")
    window.settled()
    assert _probability(window) == before and beside.is_hidden()
    window.page.keyboard.press("Control+z")
    window.until("lookback.store.world.opened.scenario.edits[0].enabled === true")
    window.shared()
    window.reload().until("lookback.store.world.opened.scenario.edits.length === 1")
    assert abs(_probability(window) - after) < 1e-6


def test_a_zeroed_head_and_a_patched_row_stand_in_the_list_and_are_removed(window: Window) -> None:
    window.step(2)
    window.press("Change…")
    window.press("Zero L2 H1")
    window.until("lookback.store.world.opened.scenario.edits.length === 1")
    window.press("Edit tensor…")
    window.press("patch")
    window.page.get_by_label("Whose row is put there").select_option("own")
    window.page.get_by_label("Source of the donor").fill("the dog runs")
    window.page.get_by_label("Row of the donor").fill("9")
    window.press("Apply")
    problem = window.page.locator(".editor .problem")
    problem.wait_for()
    assert "too short" in problem.inner_text()
    window.page.get_by_label("Row of the donor").fill("0")
    window.press("Apply")
    window.until("lookback.store.world.opened.scenario.edits.length === 2")
    window.settled()
    assert "← row 0 of “the dog runs → <bos>”" in window.page.locator(".edit .to").nth(1).inner_text()
    window.page.locator(".edit .to").nth(0).click()
    window.until("lookback.store.world.look.path === 'decoder.layer1.cross.mixed'")
    window.page.locator(".contract-part .may").click()
    assert window.page.locator(".editor .what").inner_text() == "L2 cross mixed"
    window.page.keyboard.press("Escape")
    window.press("Remove all")
    window.until("lookback.store.world.opened.scenario.edits.length === 0")


def test_a_value_that_is_no_number_is_refused_beside_it(window: Window) -> None:
    window.press("Change…")
    window.press("Set weight…")
    for typed in ("NaN", "1e308", "", "one"):
        window.page.get_by_label("Value", exact=True).fill(typed)
        window.press("Apply")
        said = window.page.locator(".editor .problem").inner_text()
        assert said.startswith(f"{typed or 'Nothing'} was given; allowed: a number from")
    window.page.keyboard.press("Escape")
    assert window.page.locator(".editor").is_hidden() and window.world("opened.scenario.edits") == []


def test_another_policy_is_shown_while_it_is_dragged_and_only_then_sent(window: Window) -> None:
    window.step(2)
    at = window.world("moved.at")
    window.page.locator(".view-next .policy").click()
    window.page.locator("#policybar").get_by_role("button", name="sample").click()
    window.until("lookback.store.world.opened.scenario.policy.kind === 'sample'")
    window.settled()
    moment, epoch = window.world("moved.at"), window.page.evaluate("() => lookback.store.epoch")
    assert moment != at
    window.page.evaluate(SLIDE, ["temperature", 20])
    window.page.evaluate(SLIDE, ["top_k", 2])
    assert window.page.locator(".cand.cut").count() == 5
    assert "3 words of" in window.page.locator("#policybar .kept").inner_text()
    assert window.world("moved.at") == moment and window.world("opened.scenario.policy.top_k") is None
    window.page.evaluate("() => document.querySelector('[data-policy=top_k]').dispatchEvent(new Event('change'))")
    window.until("lookback.store.world.opened.scenario.policy.top_k === 3")
    window.settled()
    server = window.page.evaluate(
        "() => lookback.store.world.moved.requests[0].candidates.map((c) => c.policy_probability === 0)"
    )
    assert [("cut" in (b.get_attribute("class") or "")) for b in window.page.locator(".block .cand").all()][:6] == server[:6]
    assert window.page.evaluate("() => lookback.store.epoch") == epoch


def test_any_word_of_the_vocabulary_can_be_taken(window: Window) -> None:
    window.step()
    field = window.page.get_by_label("Search the vocabulary; Enter takes the first")
    field.fill("dorme")
    assert window.page.locator(".block .cand:enabled .w").all_inner_texts()[0] == "dorment"
    field.press("Enter")
    window.until("lookback.store.world.moved.step === 2")
    window.settled()
    assert window.tokens()[-1] == "dorment" and field.input_value() == ""
    assert "dorment" in window.page.locator(".factors").inner_text()
