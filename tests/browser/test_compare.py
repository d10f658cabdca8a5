"""Models side by side in a real browser: one clock, one input, each its own numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import log2

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server

pytestmark = pytest.mark.browser
READY = "() => document.documentElement.dataset.ready !== undefined"
MODELS = ("cho_2014", "bahdanau", "encoder_decoder")
TOGETHER = "() => lookbackCompare.columns.map((c) => c.world.moved?.step).join()"


@pytest.fixture
def compare(browser: Browser, server: Server) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(f"{server.address}/compare")
    page.wait_for_function(READY)
    yield page
    page.close()
    assert errors == []


def steps(page: Page, expected: str) -> None:
    page.wait_for_function(f"() => ({TOGETHER})() === '{expected}' && !lookbackCompare.busy")


def test_three_models_step_together_and_go_back_together(compare: Page) -> None:
    compare.locator("#compare-step").click()
    steps(compare, "1,1,1")
    compare.keyboard.press(".")
    steps(compare, "2,2,2")
    expect(compare.locator("#compare-say")).to_contain_text("After 2 tokens")
    compare.wait_for_function("() => lookbackCompare.columns.every((c) => c.reach()?.rows.s.length === 4)")
    weights = "() => lookbackCompare.columns.slice(1).map((c) => [0, 1, 2, 3].reduce((sum, k) => sum + c.weights()(2, k), 0))"
    assert all(abs(total - 1) < 1e-5 for total in compare.evaluate(weights))
    compare.get_by_role("button", name="step 1 le").click()
    steps(compare, "1,1,1")
    compare.locator("#compare-back").click()
    steps(compare, "0,0,0")


def test_before_a_model_has_answered_nothing_is_said_of_how_it_reads(browser: Browser, server: Server) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.route_web_socket("**/*", lambda socket: None)  # it opens, and nothing comes
    page.goto(f"{server.address}/compare")
    expect(page.locator("#compare-say")).to_have_text("The models are being set up.")
    expect(page.locator("#compare-status")).to_have_text("Connecting")
    assert set(page.locator(".evenness").all_inner_texts()) == {""}
    assert page.locator(".reads canvas").first.get_attribute("aria-label") == "…"
    wide = page.locator(".compare-track .wide").bounding_box()
    page.close()
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{server.address}/compare")
    page.wait_for_function(READY)
    expect(page.locator("#compare-status")).to_have_text("PyTorch, CPU")  # nothing ran in this step: no time is told
    assert page.locator(".compare-track .wide").bounding_box() == wide, "the track does not move when they answer"
    page.close()


PHASES = "lookbackCompare.columns.map((c) => c.world.moved?.phase).join()"
ROWS = "lookbackCompare.columns.map((c) => c.world.moved.stages.reduce((sum, s) => sum + s.rows, 0)).join()"


def stand(page: Page, phase: str, step: int) -> None:
    steps(page, ",".join([str(step)] * 3))
    page.wait_for_function(f"() => {PHASES} === '{','.join([phase] * 3)}' && !lookbackCompare.busy")
    expect(page.get_by_role("group", name="Phase").locator("[aria-pressed=true]")).to_have_text(phase.title())


def test_all_are_prefilled_together_and_then_decode(compare: Page) -> None:
    """Before the prefill nothing is read; it reads what is known in one step; the first token leads on into decode."""
    say, back = compare.locator("#compare-say"), compare.locator("#compare-back")
    compare.get_by_label("Phase").get_by_role("button", name="Prefill").click()
    stand(compare, "prefill", 0)
    expect(say).to_have_text("Nothing is read yet. The prefill reads all that is known: A, B row by row, C at once.")
    expect(back).to_be_disabled()
    compare.wait_for_function("() => lookbackCompare.columns.every((c) => c.reach() === null) && !lookbackCompare.painting")
    expect(compare.locator(".reach .cell").first).to_have_attribute("data-empty", "nothing is read yet")
    compare.keyboard.press(".")
    stand(compare, "prefill", 1)
    assert compare.evaluate(f"() => {ROWS}") == "5,5,5", "four source rows and the first target row"
    expect(say).to_contain_text("After the prefill every model chooses le")
    compare.keyboard.press(".")
    stand(compare, "decode", 1)
    assert compare.evaluate(f"() => {ROWS}") == "1,1,1"
    back.click()
    stand(compare, "prefill", 1)
    back.click()
    stand(compare, "prefill", 0)
    compare.get_by_role("button", name="Decode", exact=True).click()
    stand(compare, "decode", 0)
    back.click()
    stand(compare, "prefill", 0)
    compare.get_by_role("button", name="step 2").click()
    stand(compare, "decode", 2)
    compare.get_by_role("button", name="Start", exact=True).click()
    stand(compare, "prefill", 0)
    compare.wait_for_function("() => location.hash.startsWith('#c=') && atob(location.hash.slice(3)).includes('prefill')")


def test_who_reads_most_evenly_is_measured_on_the_rows_that_may_be_read(compare: Page) -> None:
    lines = compare.locator(".evenness")
    expect(lines.nth(0)).to_have_text("H does not apply: no row is read by weights")
    compare.keyboard.press(".")
    steps(compare, "1,1,1")
    compare.wait_for_function("() => !lookbackCompare.painting && !lookbackCompare.owed")
    weights = compare.evaluate("() => lookbackCompare.columns.slice(1).map((c) => [0, 1, 2, 3].map((k) => c.weights()(1, k)))")
    bits = [-sum(w * log2(w) for w in row if w > 0) for row in weights]
    for line, h in zip((lines.nth(1), lines.nth(2)), bits, strict=True):
        expect(line).to_contain_text(f"H {h:.2f} bits ◉ · 2^H = {2**h:.2f} of 4 rows")
    expect(lines.filter(has_text="most even")).to_have_count(1)
    expect(lines.nth(1 + bits.index(max(bits)))).to_contain_text("most even")


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (390, 844)])
def test_nothing_moves_while_stepping_and_all_rows_are_in_sight(compare: Page, size: tuple[int, int]) -> None:
    compare.set_viewport_size({"width": size[0], "height": size[1]})
    compare.get_by_label("Phase").get_by_role("button", name="Prefill").click()
    stand(compare, "prefill", 0)
    fixed = ".compare-row, .compare-row .cell, .deck-bar > *, .compare-track, .compare-said"
    boxes = """(fixed) => [...document.querySelectorAll(fixed)].map((e) => {
      const { x, y, width, height } = e.getBoundingClientRect();
      return [e.className, x, y, width, height].join(" ");
    })"""
    before = compare.evaluate(boxes, fixed)
    for phase, step in (("prefill", 1), ("decode", 1), ("decode", 2)):
        compare.keyboard.press(".")
        stand(compare, phase, step)
        assert compare.evaluate(boxes, fixed) == before
    if size[0] > 390:
        assert (
            compare.evaluate(
                "() => { const e = document.querySelector('#compare-grid'); return e.scrollHeight - e.clientHeight; }"
            )
            == 0
        )


def test_a_step_is_one_picture_and_what_comes_later_draws_what_shows_it(compare: Page) -> None:
    compare.wait_for_function("() => lookbackCompare.columns.every((c) => c.reach()) && !lookbackCompare.painting")
    compare.evaluate("""() => {
      const clear = CanvasRenderingContext2D.prototype.clearRect;
      CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        const row = this.canvas.closest(".compare-row");
        window.drawn.push(row.classList[1] + " " + [...row.querySelectorAll("canvas")].indexOf(this.canvas));
        clear.apply(this, box);
      };
      window.tell = async (column, part) => {
        window.drawn = [];
        lookbackCompare.columns[column].changed(lookbackCompare.columns[column], [part]);
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return window.drawn.sort().join();
      };
    }""")
    assert compare.evaluate("() => tell(1, 'analysis')") == "reach 1"
    compare.evaluate("() => { lookbackCompare.columns[0].awaited = true; }")
    assert compare.evaluate("() => tell(1, 'values')") == ""
    compare.evaluate("() => { lookbackCompare.columns[0].awaited = false; }")
    assert compare.evaluate("() => tell(0, 'values')") == "reads 0,reads 1,sofar 0,sofar 1"


def test_a_model_is_exchanged_added_and_removed_and_a_link_brings_it_back(compare: Page) -> None:
    compare.get_by_label("Model B").select_option("luong")
    steps(compare, "0,0,0")
    compare.get_by_role("button", name="Add a model").click()
    steps(compare, "0,0,0,0")
    compare.get_by_role("button", name="Remove").first.click()
    steps(compare, "0,0,0")
    held = "JSON.parse(atob(location.hash.slice(3).replaceAll('-', '+').replaceAll('_', '/'))).models.join()"
    compare.wait_for_function(f"() => location.hash.startsWith('#c=') && {held} === lookbackCompare.now.models.join()")
    models = compare.evaluate("() => lookbackCompare.now.models")
    compare.reload()
    compare.wait_for_function(READY)
    assert compare.evaluate("() => lookbackCompare.now.models") == models and models[0] == "luong"


def test_variants_of_one_model_are_compared_from_scratch(compare: Page) -> None:
    """Plain and residual stacks: each column has its own fields, and the gradient at each of its layers is shown."""
    compare.get_by_label("Scenario").select_option(label="Depth with and without shortcuts")
    every = "lookbackCompare.columns.every((c) => c.world.opened?.scenario.architecture === 'residual')"
    compare.wait_for_function(f"() => lookbackCompare.columns.length === 4 && {every} && !lookbackCompare.busy")
    steps(compare, "0,0,0,0")
    compare.locator("#compare-step").click()
    known = "lookbackCompare.columns.map((c) => c.gradients().filter((v) => v > 0).length).join()"
    compare.wait_for_function(f"() => {known} === '6,6,18,18'")
    second = compare.locator(".model .cell").nth(1)
    second.locator("summary").click()
    second.get_by_label("Shortcut", exact=True).select_option("projections")
    compare.wait_for_function("() => lookbackCompare.columns[1].world.opened?.scenario.config.shortcut === 'projections'")
    held = "atob(location.hash.slice(3).replaceAll('-', '+').replaceAll('_', '/'))"
    compare.wait_for_function(f"() => location.hash.startsWith('#c=') && {held}.includes('projections')")
    expect(second.locator(".varied")).to_have_text("Blocks 6 · Shortcut projections")


def test_the_first_leads_where_it_is_told_to(compare: Page) -> None:
    compare.get_by_role("button", name="all take A's").click()
    compare.get_by_label("The input that all models read").fill("the report was not convincing .")
    compare.keyboard.press("Enter")
    compare.wait_for_function("() => lookbackCompare.columns.every((c) => c.request()?.source.length === 6)")
    for step in (1, 2, 3):
        compare.locator("#compare-step").click()
        steps(compare, f"{step},{step},{step}")
    known = "c.request().target.filter((r) => r.state !== 'unknown').map((r) => r.token).join(' ')"
    assert len(set(compare.evaluate(f"() => lookbackCompare.columns.map((c) => {known})"))) == 1


def test_training_goes_on_the_same_batches_and_an_empty_source_is_refused(compare: Page) -> None:
    compare.get_by_role("button", name="Train").click()
    steps(compare, "0,0,0")
    compare.locator("#compare-step").click()
    compare.wait_for_function("() => lookbackCompare.columns.every((c) => c.world.curve.loss.length === 1)")
    expect(compare.locator("#compare-say")).to_have_text(re.compile("After 1 update "))
    compare.get_by_label("The input that all models read").fill(" ")
    compare.keyboard.press("Enter")
    expect(compare.locator("#compare-say")).to_contain_text("The source is empty; allowed: 1 token or more.")


def test_one_sentence_is_asked_of_two_owners_of_rows(compare: Page) -> None:
    """The encoder-decoder and the prefix LM: the same words, in two forms; what one chooses the other takes by its word."""
    compare.get_by_label("Scenario").select_option(
        label="The same conditioning, other owners and state: encoder–decoder and prefix LM"
    )
    steps(compare, "0,0")
    compare.get_by_role("button", name="all take A's").click()
    for step in (1, 2, 3):
        compare.locator("#compare-step").click()
        steps(compare, ",".join([str(step)] * 2))
    known = "c.request().target.filter((r) => r.state !== 'unknown').map((r) => r.token).join(' ')"
    assert compare.evaluate(f"() => lookbackCompare.columns.map((c) => {known})") == [
        "<bos> le chat noir",
        "<bos> the black cat sleeps → le chat noir",
    ]
    expect(compare.get_by_role("button", name="step 3")).to_have_text("noir")


def test_a_picture_and_a_table_are_taken_away(compare: Page) -> None:
    compare.locator("#compare-step").click()
    steps(compare, "1,1,1")
    take = compare.get_by_role("button", name="Share")
    take.click()
    with compare.expect_download() as taken:
        compare.get_by_role("menuitem", name="Table CSV").click()
    lines = taken.value.path().read_text().splitlines()
    assert lines[0].startswith("model,architecture,step,token,probability,")
    assert [line.split(",")[:4] for line in lines[1:]] == [[m, a, "1", "le"] for m, a in zip("ABC", MODELS, strict=True)]
    assert lines[1].endswith(","), "the first reads no row by weights"
    weights = compare.evaluate("() => lookbackCompare.columns.slice(1).map((c) => [0, 1, 2, 3].map((k) => c.weights()(0, k)))")
    bits = [-sum(w * log2(w) for w in row if w > 0) for row in weights]
    assert [float(line.split(",")[-1]) for line in lines[2:]] == pytest.approx(bits)
    take.click()
    with compare.expect_download() as taken:
        compare.get_by_role("menuitem", name="Picture PNG").click()
    assert taken.value.suggested_filename == "lookback-compare-decode-1.png"
    picture = taken.value.path().read_bytes()
    assert int.from_bytes(picture[16:20], "big") > 2000, "twice as large as on the page"
