"""When: going through the whole line, branches, where Play stops, operations, and the browser's own back and forward."""

from __future__ import annotations

import pytest

from app.session import link
from app.session.scenario import defaults
from tests.browser.conftest import Window

pytestmark = pytest.mark.browser


def _play_to(window: Window, condition: str) -> None:
    window.page.evaluate("() => lookback.actions.speed(60)")
    window.page.locator("#play").click()
    window.until(f"!lookback.store.world.playing.playing && {condition}")
    window.settled()


def test_dragging_along_the_bar_goes_through_the_moments_and_the_keys_too(window: Window) -> None:
    _play_to(window, "lookback.store.world.moved.ended")
    last = window.world("moved.at")
    sent = """() => {
      window.gone = [];
      const send = lookback.run.socket.send;
      lookback.run.socket.send = function (command, how) {
        if (command.kind === 'go') window.gone.push(command.moment);
        return send.call(this, command, how);
      };
    }"""
    window.page.evaluate(sent)
    bar = window.page.get_by_role("slider", name="The whole line")
    box = bar.bounding_box()
    assert box
    window.page.mouse.move(box["x"] + box["width"] - 4, box["y"] + 6)
    window.page.mouse.down()
    for i in range(40):
        window.page.mouse.move(box["x"] + box["width"] * (1 - i / 40), box["y"] + 6)
    window.page.mouse.move(box["x"] + 2, box["y"] + 6)
    window.page.mouse.up()
    window.until("lookback.store.world.moved.at === 0")
    window.settled()
    assert 1 <= len(window.page.evaluate("() => window.gone")) <= last + 1, "each place at most once"
    assert bar.get_attribute("aria-valuetext") == f"Decode 0, 1 of {last + 1}"
    bar.focus()
    window.page.keyboard.press("ArrowRight")
    window.page.keyboard.press("ArrowRight")
    window.until("lookback.store.world.moved.at === 2")
    window.page.keyboard.press("End")
    window.until(f"lookback.store.world.moved.at === {last}")
    assert window.world("history.size") == last + 1, "nothing new was made"


def test_dragging_along_the_blocks_goes_there_too(window: Window) -> None:
    window.step(3)
    blocks = window.page.locator(".blk.decode .blk-go")
    start, end = blocks.nth(2).bounding_box(), blocks.nth(0).bounding_box()
    assert start and end
    window.page.mouse.move(start["x"] + 20, start["y"] + 15)
    window.page.mouse.down()
    window.page.mouse.move(end["x"] + 20, end["y"] + 15, steps=6)
    window.page.mouse.up()
    window.until("lookback.store.world.moved.step === 1")
    assert window.tokens() == ["<bos>", "le"]


def test_a_branch_stands_under_its_block_and_in_the_tree(window: Window) -> None:
    window.step(3)
    window.press("Back")
    window.until("lookback.store.world.moved.step === 2")
    window.settled()
    window.page.locator(".cand").nth(1).click()
    window.until("lookback.store.world.moved.step === 3")
    word = window.tokens()[3]
    fork = window.page.get_by_role("button", name=f"Go to the branch noir, instead of {word}")
    assert fork.inner_text() == "noir"
    fork.click()
    window.until("lookback.store.world.moved.requests[0].target[3].token === 'noir'")
    window.page.get_by_role("button", name="This run has 2 lines").click()
    other = window.page.locator("#sheet-lines li").nth(1)
    assert word in other.inner_text() and "at decode 3, instead of noir" in other.inner_text()
    other.get_by_role("button").click()
    window.until(f"lookback.store.world.moved.requests[0].target[3].token === '{word}'")
    window.page.keyboard.press("Escape")
    assert not window.page.locator("#sheet-lines").is_visible()


def test_a_phase_entered_anew_keeps_the_line_before_it(window: Window) -> None:
    window.step(2)
    window.page.keyboard.press("p")
    window.until("lookback.store.world.moved.phase === 'prefill'")
    window.page.get_by_role("button", name="Go back to what was read before this").click()
    window.until("lookback.store.world.moved.phase === 'decode' && lookback.store.world.moved.step === 2")
    assert window.tokens() == ["<bos>", "le", "chat"]


def test_play_stops_at_a_block_an_operation_and_a_token(window: Window) -> None:
    window.page.locator(".blk.decode").nth(1).hover()
    window.page.keyboard.press("b")
    window.until("lookback.store.world.look.stops.length === 1")
    _play_to(window, "lookback.store.world.moved.step === 2")
    assert "Stopped where you asked: Decode 2 has ended" in window.page.locator(".say-note").inner_text()
    window.page.keyboard.press("b")
    window.until("lookback.store.world.look.stops.length === 0")
    chip = window.page.locator(".op").filter(has_text="L1 ffn")
    chip.locator(".op-stop").click()
    _play_to(window, "lookback.store.world.look.op === 'decoder.layer0.ffn'")
    assert window.world("moved.step") == 3
    chip.locator(".op-stop").click()
    window.page.get_by_role("button", name="Play stops at 0 places of yours").click()
    window.page.get_by_role("combobox", name="What Play stops at").select_option("token")
    field = window.page.get_by_role("textbox", name="Which")
    field.fill("zebra")
    field.press("Enter")
    window.page.get_by_role("alert").filter(has_text="“zebra” is not in the target vocabulary").wait_for()
    field.fill("dort")
    field.press("Enter")
    window.page.keyboard.press("Escape")
    _play_to(window, "lookback.store.world.moved.step === 4")
    assert not window.world("moved.ended")
    window.shared()
    window.reload()
    window.until("lookback.store.world.look.stops.length === 1")
    window.page.get_by_role("button", name="Play stops at 1 place of yours").click()
    window.page.get_by_role("button", name="Remove the stop where dort is chosen").click()
    window.until("lookback.store.world.look.stops.length === 0")


def test_training_stops_inside_an_update_at_a_stage(window: Window) -> None:
    window.page.keyboard.press("t")
    window.until("lookback.store.world.moved.phase === 'train'")
    window.page.get_by_role("button", name="Stop Train: after Backward").click(force=True)
    _play_to(window, "lookback.store.world.moved.stage === 'backward'")
    assert window.world("moved.updates") == 0
    _play_to(window, "lookback.store.world.moved.stage === 'backward' && lookback.store.world.moved.updates === 1")


def test_the_operation_cursor_moves_what_is_looked_at_without_a_message(window: Window) -> None:
    window.step()
    at = window.world("moved.at")
    window.page.evaluate("""() => {
      const { send } = lookback.run;
      window.asked = [];
      lookback.run.send = (command) => { asked.push(command.kind); return send.call(lookback.run, command); };
    }""")
    window.page.locator(".op-go").filter(has_text="L1 cross").click()
    assert (window.world("look.layer"), window.world("look.relation")) == (0, "cross")
    assert window.page.locator(".op.on.seen").inner_text() == "L1 cross"
    window.page.locator(".op-go").filter(has_text="logits").click()
    assert window.world("look.path") == "logits"
    asked = set(window.page.evaluate("() => asked"))
    assert asked <= {"look", "watch", "share", "analyse"}, "nothing was asked of the run; checks are measured by themselves"
    assert window.world("moved.at") == at


def test_many_steps_pan_and_the_current_block_stays_in_sight(window: Window) -> None:
    window.page.get_by_role("radio", name="Decoder-only").click()
    window.until("lookback.store.world.opened.scenario.architecture === 'decoder_only'")
    policy = "{...lookback.actions.scenario.policy, limit: 60}"
    window.page.evaluate(f"() => lookback.run.commands.change({{policy: {policy}}})")
    window.settled()
    for _ in range(30):
        if window.world("moved.ended"):
            break
        window.page.evaluate("() => lookback.run.commands.choose(0, 20)")
    window.settled()
    inside = """() => {
      const [block, track] = ['.blk.now', '.track'].map((name) => document.querySelector(name).getBoundingClientRect());
      return block.left >= track.left - 1 && block.right <= track.right + 1;
    }"""
    assert window.world("moved.step") == 30 and window.page.evaluate(inside)
    assert window.page.locator(".blk").count() < 45
    window.page.get_by_role("slider", name="The whole line").focus()
    window.page.keyboard.press("Home")
    window.until("lookback.store.world.moved.step === 0")
    window.settled()
    assert window.page.evaluate(inside)


def test_disabled_buttons_say_why(window: Window) -> None:
    back = window.page.locator("#back")
    assert back.is_disabled() and back.get_attribute("title") == "The run begins here"
    _play_to(window, "lookback.store.world.moved.ended")
    assert "has ended. Go back to choose another token" in (window.page.locator("#step").get_attribute("title") or "")


def test_back_in_the_browser_finds_the_run_with_its_lines(window: Window) -> None:
    window.step(2)
    window.page.keyboard.press(",")
    window.until("lookback.store.world.moved.step === 1")
    window.settled()
    window.page.locator(".cand").nth(1).click()
    window.until("lookback.store.world.moved.step === 2")
    window.shared()
    moments = window.world("history.size")
    other = {"v": 1, "scenario": defaults("decoder_only").model_dump(mode="json"), "log": [], "view": {}}
    window.page.evaluate(f"() => {{ location.hash = '#s={link.pack(other)}'; }}")
    window.until("window.lookback?.store.world.opened?.scenario.architecture === 'decoder_only'")
    window.page.go_back()
    window.until("window.lookback?.store.world.opened?.scenario.architecture === 'encoder_decoder'")
    window.loaded()
    assert (window.world("history.size"), window.world("moved.step")) == (moments, 2)
    window.shared()  # a browser drops a way forward that the page's own writing of the address meets
    window.page.go_forward()
    window.until("window.lookback?.store.world.opened?.scenario.architecture === 'decoder_only'")


def test_a_link_from_a_newer_version_says_so_and_the_run_stays(window: Window) -> None:
    window.step()
    window.shared()
    newer = {"v": 2, "scenario": {"shape": "unknown"}}
    window.page.evaluate(f"() => {{ location.hash = '#s={link.pack(newer)}'; }}")
    window.until("document.querySelector('.say').textContent.includes('comes from a newer Lookback')")
    window.step()
    assert window.tokens() == ["<bos>", "le", "chat"]


def test_a_link_that_the_server_refuses_says_so_and_back_finds_the_run(window: Window) -> None:
    window.step()
    window.shared()
    refused = {"v": 1, "scenario": {"architecture": "perpetuum_mobile"}}
    window.page.evaluate(f"() => {{ location.hash = '#s={link.pack(refused)}'; }}")
    window.until("document.querySelector('.say')?.textContent.includes('perpetuum_mobile')")
    window.page.go_back()
    window.until("window.lookback?.store.world.moved?.step === 1")
    assert window.tokens() == ["<bos>", "le"]


def test_the_op_cursor_walks_the_tiles_of_a_read(window: Window) -> None:
    """Maximum, sum and output after each tile; the map shows what was scored so far, and both forms are compared."""
    own = defaults("decoder_only", config={"mask_enters": "tiles", "tile": 2}, phase="prefill").model_dump(mode="json")
    window.page.evaluate(f"() => {{ location.hash = '#s={link.pack({'v': 1, 'scenario': own, 'log': [], 'view': {}})}'; }}")
    window.until("window.lookback?.store.world.opened?.scenario.config.mask_enters === 'tiles'")
    window.loaded()
    window.step()
    tiles = window.page.locator(".op-go[title*='layer0.self.tile.']")
    assert tiles.count() >= 2 and tiles.nth(1).text_content() == "L1 self tile 1"
    tiles.nth(0).click()
    lines = window.page.locator("#view-inspector_tiles tbody tr")
    window.until("document.querySelectorAll('#view-inspector_tiles tbody tr').length === 1")
    tiles.nth(1).click()
    window.until("document.querySelectorAll('#view-inspector_tiles tbody tr').length === 2")
    assert lines.nth(1).get_attribute("aria-current") == "step" and lines.nth(0).get_attribute("aria-current") is None
    sums = [float(lines.nth(i).locator("td").nth(2).text_content() or "nan") for i in (0, 1)]
    assert all(s >= 1 for s in sums), "the largest score of a row counts 1 in its sum"
    window.until("document.querySelector('#view-inspector_tiles > details > p').textContent.includes('in one matrix')")
