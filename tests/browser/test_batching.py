"""Who is in the batch: a request joins and another leaves, on the timeline, in the sheet and in the sentence."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser


def test_a_request_joins_and_another_leaves(window: Window) -> None:
    page = window.page
    window.step(2)
    page.get_by_role("button", name="1 request in the batch").click()
    page.get_by_role("button", name="Join: read this request").click()
    window.until("lookback.store.world.moved.requests.length === 2 && lookback.store.world.look.request === 1")
    window.settled()
    assert window.said().startswith("B joins after step 2: prefill of ")
    lanes = page.locator(".lanes tbody tr")
    assert [lanes.nth(i).locator(".lane").nth(2).get_attribute("class") for i in (0, 1)] == ["lane token", "lane reads"]
    window.step()  # the sheet stays open
    page.get_by_role("button", name="the same as alone?").click()
    window.until("lookback.store.world.checked.checks.some((c) => c.id === 'batch_equals_alone' && c.status === 'pass')")
    page.get_by_role("button", name="Let request A leave").click()
    window.until("lookback.store.world.moved.requests[0].left === 3")
    window.settled()
    assert window.said() == "A leaves after step 3: its rows are freed; nothing changes for 1 other."
    assert page.get_by_role("button", name="Let request B leave").is_disabled(), "somebody stays"
    assert [page.locator(f".blk.{kind} .blk-go").get_attribute("title") for kind in ("join", "leave")] == [
        "B joins: prefill of 1 row",
        "A leaves: its rows are freed",
    ]
    window.press("Back")
    window.until("lookback.store.world.moved.requests[0].left === null")
