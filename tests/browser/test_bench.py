"""The read bench in a real browser: numbers are typed, masked, pasted, refused, linked, and come from a run."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, Window

pytestmark = pytest.mark.browser


@pytest.fixture
def bench(browser: Browser, server: Server) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server.address}/bench")
    page.wait_for_function("() => document.documentElement.dataset.ready !== undefined")
    yield page
    page.close()
    assert errors == []


def test_it_reads_what_is_typed_and_the_server_agrees(bench: Page) -> None:
    say = bench.locator("#bench-say")
    expect(say).to_have_text("The query takes 46% from row 2 cat; row 3 is masked and weighs exactly 0.")
    bench.get_by_label("mask row 3").click()
    expect(say).to_contain_text("from row 2 cat.")
    bench.get_by_label("key 3, number 0").fill("5")
    expect(say).to_contain_text("from row 3 sleeps.")
    expect(bench.locator("#bench-checks li").last).to_have_attribute("data-status", "pass")
    for _ in range(6):
        bench.locator("#bench-back").click()
    assert bench.locator(".bench-table tr[data-row='0'] td").nth(4).inner_text().strip() == "·"
    for row in range(4):
        bench.get_by_label(f"mask row {row}").click()
    expect(say).to_contain_text("Every row is masked")


def test_the_whole_read_is_shown_first_and_step_begins_it_from_what_is_typed(bench: Page) -> None:
    now = bench.locator("#bench-track .now")
    expect(now).to_have_text("Σ read")
    bench.locator("#bench-step").click()
    expect(now).to_have_text("type")
    bench.locator("#bench-play").click()
    expect(now).to_have_text("Σ read", timeout=15_000)
    expect(bench.locator("#bench-play")).to_have_attribute("aria-pressed", "false")


def test_what_is_no_number_is_said_and_the_number_before_stays(bench: Page) -> None:
    field = bench.get_by_label("key 0, number 1")
    field.fill("1e308")
    field.blur()
    expect(bench.locator("#bench-say")).to_contain_text("key 0, number 1 was given 1e308; allowed: a number from −1,000,000")
    expect(field).to_have_value("−0.4")


def test_a_pasted_matrix_makes_its_rows_and_the_link_holds_it(bench: Page) -> None:
    bench.get_by_label("key 0, number 0").focus()
    bench.evaluate("""() => {
        const data = new DataTransfer();
        data.setData("text", "[[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [2, 2, 2]]");
        const pasted = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(pasted);
    }""")
    expect(bench.locator(".bench-table tr[data-row]")).to_have_count(5)
    held = "JSON.parse(atob(location.hash.slice(3).replaceAll('-', '+').replaceAll('_', '/')))"
    bench.wait_for_function(f"() => location.hash.startsWith('#b=') && {held}.names.length === 5")
    bench.reload()
    expect(bench.get_by_label("key 4, number 2")).to_have_value("2")


def test_what_the_texts_print_is_computed_and_opens(bench: Page) -> None:
    bench.get_by_role("button", name="Worked numbers").click()
    sections = bench.locator("dialog.worked section")
    expect(sections).to_have_count(20, timeout=20_000)
    assert all(text.startswith("✓") for text in sections.locator("h3").all_inner_texts())
    sections.filter(has_text="dot read").get_by_role("button", name="Open on the bench").click()
    expect(bench.locator(".bench-table tr[data-row] b.mono").first).to_have_text("0.258")
    picker = bench.get_by_label("Example: a read to begin from")
    assert picker.locator("optgroup option").count() == 20
    picker.select_option("worked:masks")
    bench.locator("dialog.worked").get_by_role("button", name="prefix_P3_T5").click(timeout=20_000)
    expect(bench.locator(".bench-table tr[data-row]")).to_have_count(5)
    weights = bench.locator(".bench-table tr[data-row] b.mono").all_inner_texts()
    assert [float(w) for w in weights] == [0.333, 0.333, 0.333, 0, 0]


def test_a_printed_alignment_is_drawn_and_opens_as_the_read_of_the_shipped_model(bench: Page) -> None:
    bench.get_by_role("button", name="Worked numbers").click()
    section = bench.locator("dialog.worked section").filter(has_text="alignment example")
    expect(section.get_by_role("img")).to_have_attribute("aria-label", re.compile("black → noir 87"), timeout=20_000)
    section.get_by_role("button", name="Open on the bench").click()
    expect(bench.locator("#bench-say")).to_contain_text("from row 1 black.")
    expect(bench.locator("#bench-checks li").last).to_have_attribute("data-status", "pass")


def test_a_read_of_a_run_opens_on_the_bench_with_its_weights(window: Window) -> None:
    window.step()
    link = window.page.locator("#view-inspector_read .bench-link")
    with window.page.context.expect_page() as opened:
        link.click()
    page = opened.value
    page.wait_for_function("() => document.documentElement.dataset.ready !== undefined")
    lines = window.page.locator("#view-inspector_read .arith tbody tr:not([hidden])")
    largest = max(float(t) for t in lines.locator("td:last-child").all_inner_texts() if t.strip() and t[0].isdigit())
    weights = [float(t) for t in page.locator(".bench-table tr[data-row] b.mono").all_inner_texts()]
    assert abs(max(weights) - largest) < 2e-3
    expect(page.locator("#bench-checks li").last).to_have_attribute("data-status", "pass")
    page.close()


def test_a_table_and_a_picture_of_shapes_are_taken_away(bench: Page) -> None:
    take = bench.get_by_role("button", name="Share")
    take.click()
    with bench.expect_download() as taken:
        bench.get_by_role("menuitem", name="Table CSV").click()
    rows = list(csv.DictReader(taken.value.path().read_text().splitlines()))
    weights = [float(row["weight"]) for row in rows[:4]]
    assert weights == pytest.approx([0.183, 0.362, 0.455, 0], abs=5e-4) and sum(weights) == pytest.approx(1)
    assert [float(row[f"∂w/∂s {row['row']}"]) for row in rows[:4]] == pytest.approx([w * (1 - w) for w in weights])
    assert sum(float(row["w × V 1"]) for row in rows[:4]) == pytest.approx(float(next(r for r in rows if r["row"] == "z")["V 1"]))
    take.click()
    with bench.expect_download() as taken:
        bench.get_by_role("menuitem", name="Picture SVG").click()
    shapes = taken.value.path().read_text()
    assert ">.25</text>" in shapes and "<canvas" not in shapes and "data:image/png" not in shapes


def test_a_read_whose_mask_is_multiplied_opens_with_that_arithmetic_and_the_run_s_weights(window: Window) -> None:
    window.page.evaluate("() => lookback.actions.choose('decoder_only')")
    window.until("lookback.store.world.opened.scenario.architecture === 'decoder_only'")
    window.page.evaluate("() => lookback.actions.field('config.mask_enters', 'multiply')")
    window.page.keyboard.press("p")
    window.until("lookback.store.world.moved.phase === 'prefill'")
    window.step()
    window.page.evaluate("() => lookback.run.look({ lock: { row: 1, key: 0 } })")  # most of its keys are masked
    window.settled()
    with window.page.context.expect_page() as opened:
        window.page.locator("#view-inspector_read .bench-link").click()
    page = opened.value
    page.wait_for_function("() => document.documentElement.dataset.ready !== undefined")
    expect(page.get_by_role("button", name="× M", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#bench-say")).to_contain_text("of the sum, and nobody gets it")
    checks = page.locator("#bench-checks li")
    for name in ("the run’s weights", "the run’s output", "the server reads the same"):
        expect(checks.filter(has_text=name)).to_have_attribute("data-status", "pass")
    assert (
        float(page.get_by_label("mask row 2").inner_text()) == 0
        and page.locator("#bench-came").inner_text() == "A read of a run."
    )
    page.get_by_label("mask row 2").click()
    expect(page.locator("#bench-came")).to_have_text("")  # it is a person's now
    page.close()
