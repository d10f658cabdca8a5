"""Pictures in a real browser: a digit is dragged onto one, its caption is read off its places, and labels stand over frames."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import ctc_loss

from tests.browser.conftest import Window
from tests.browser.test_states import choose, recorded, table

pytestmark = pytest.mark.browser


def test_a_digit_is_dragged_onto_the_picture_and_undone(window: Window) -> None:
    choose(window, "show_attend_tell", "show, attend")
    page, features = window.page, "opened.scenario.requests[0].features"
    before = window.world(features)
    stamp, picture = page.locator(".stamp").nth(5), page.locator("canvas.drawing")
    stamp.scroll_into_view_if_needed()
    stamp.drag_to(picture, target_position={"x": 160, "y": 50})
    window.until(f"JSON.stringify(lookback.store.world.{features}) !== '{str(before).replace(' ', '')}'")
    window.settled()
    after = window.world(features)
    changed = [(y, x) for y in range(24) for x in range(24) if before[y][x] != after[y][x]]
    assert changed and all(y < 12 and x >= 12 for y, x in changed), "the upper right quarter alone"
    window.step(2)
    assert page.locator("#view-picture").is_visible() and not page.locator("#view-read").is_visible()
    window.until("lookback.store.valuesOf('picture', 0).length === 1")
    window.settled()
    rows = table(window, "picture")["rows"]
    assert len(rows) == len(window.tokens()) * 36
    known = [share for row, _, _, share in rows if row == 0]
    assert sum(known) == pytest.approx(1, abs=1e-4)
    assert "place" in page.locator("#view-picture .looks-said").inner_text()
    page.get_by_role("button", name="Undo", exact=True).first.click()
    window.settled()
    assert window.world(features) == before


def test_a_place_is_chosen_on_the_picture_or_in_the_list_and_is_what_hard_attention_reads(window: Window) -> None:
    choose(window, "show_attend_tell", "show, attend")
    page, picture, draws = window.page, window.page.locator("#view-picture canvas.looks"), "opened.scenario.draws"
    page.evaluate("() => lookback.run.commands.change({config: {attention: 'hard'}})")
    window.until("lookback.store.world.opened.scenario.config.attention === 'hard'")
    window.step(2)
    window.until("lookback.store.valuesOf('picture', 1).length === 1")
    window.settled()
    moments = window.world("history.size")
    picture.click(position={"x": 110, "y": 6})  # the first place of the strip
    window.until(f"lookback.store.world.{draws}.length === 1")
    window.settled()
    assert window.world(draws) == [{"request": 0, "row": 2, "place": 0}]
    assert window.world("history.size") == moments + 1, "a moment of its own"
    assert "you set place 0,0" in page.locator("#view-picture .looks-said").inner_text()
    picture.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    window.until(f"lookback.store.world.{draws}[0]?.place === 6")
    page.get_by_role("button", name="Undo", exact=True).first.click()
    window.until(f"lookback.store.world.{draws}[0]?.place === 0")
    window.settled()
    listed = page.locator(".places-list li button")
    marked = page.locator(".places-list li button[aria-pressed=true]").text_content() or ""
    assert marked.startswith("0 0,0") and "set by you" in marked
    names = [b.locator(".w").inner_text().split()[0] for b in listed.all()]
    other = next(i for i, name in enumerate(names) if name != "0")
    listed.nth(other).press("Enter")
    window.until(f"lookback.store.world.{draws}[0]?.place === {names[other]}")
    assert window.world(draws) == [{"request": 0, "row": 2, "place": int(names[other])}], (
        "the same branch as a click on the picture"
    )


def test_labels_stand_over_frames_and_an_empty_strip_is_read(window: Window) -> None:
    choose(window, "conformer", "conformer")
    page = window.page
    assert window.world("opened.scenario.phase") == "prefill"
    window.step()
    window.until("lookback.store.valuesOf('frames', 1).length === 1")
    window.settled()
    shown = table(window, "frames")
    assert len(shown["rows"]) == len(window.world("opened.scenario.requests[0].features"))
    assert all(sum(row[2:]) == pytest.approx(1, abs=1e-4) for row in shown["rows"])
    assert page.locator("#view-frames .looks-said").inner_text().startswith("Frame ")
    window.until("lookback.store.valuesOf('inspector_paths', 0).length === 1")
    spelt = page.locator("#view-inspector_paths h2 b").inner_text()
    total = next(row for row in table(window, "inspector_paths")["rows"] if row[0] == "all paths")
    scores, names = torch.tensor(recorded(window, 1, "logits")), window.world("opened.vocabulary.target")
    wanted = torch.tensor([[names.index(label) for label in spelt]])
    loss = ctc_loss(
        scores.log_softmax(-1)[:, None], wanted, torch.tensor([len(scores)]), torch.tensor([len(spelt)]), reduction="sum"
    )
    assert total[1] == pytest.approx(-float(loss), abs=1e-5), "as torch sums the same paths"
    page.locator(".drawing-tools").get_by_role("button", name="Clear").click()
    window.settled()
    assert not any(map(any, window.world("opened.scenario.requests[0].features"))), "silence, as long as before"
    window.step()
    assert "The best path says" in str(page.locator("#view-frames canvas.looks").get_attribute("aria-label"))
