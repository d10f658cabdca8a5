"""Taking a run away and bringing it back: files, links, a replay without a server, tables and pictures."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Download, Page

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"


def saved(window: Window, button: str) -> Download:
    """Press a button of the panel and take its file."""
    if not window.page.locator(".take-panel").is_visible():
        window.press("Share")
    with window.page.expect_download() as download:
        window.press(button)
    return download.value


def opened(window: Window, name: str, content: bytes) -> None:
    """Give the page a file."""
    window.page.locator(".take-panel input[type=file]").set_input_files({"name": name, "mimeType": "", "buffer": content})


NUMBERS = """() => ({
  tokens: lookback.store.world.moved.requests[0].target.map((r) => r.token),
  weights: ['map', 'read'].flatMap((view) => lookback.store.world.values(view, 0))
    .flatMap((k) => [0, 1, 2, 3].map((s) => k.at(0, 0, 1, s))),
  sentence: document.querySelector('.say').textContent,
  checks: lookback.store.world.checked.checks.map((c) => c.status),
  candidates: lookback.store.world.moved.requests[0].candidates.map((c) => c.probability),
})"""


def test_a_replay_plays_from_a_file_without_a_network(window: Window, browser: Browser, tmp_path: Path) -> None:
    live: dict[int, Any] = {}
    window.until("document.querySelector('.say').textContent.includes('takes')")  # the first values are there
    for step in range(4):
        if step:
            window.step()
        live[step] = window.page.evaluate(NUMBERS)
    path = tmp_path / "replay.html"
    saved(window, "Save replay").save_as(path)
    assert path.stat().st_size < 10_000_000
    offline = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    try:
        page = Window(offline.new_page(), path.as_uri())
        page.open("")
        assert page.world("moved.step") == 3 and page.world("recording")
        for step, key in ((3, ","), (2, ","), (1, ","), (0, "."), (1, "."), (2, ".")):
            page.until(f"lookback.store.world.moved.step === {step}")
            page.settled()
            _alike(page.page.evaluate(NUMBERS), live[step])
            page.page.keyboard.press(key)
        page.page.keyboard.press("}")
        page.until("lookback.store.world.look.head === 1 && lookback.store.world.values('map', 0)[0].at(0, 1, 0, 0) >= 0")
        assert page.page.locator(".setup fieldset.able").evaluate_all("(all) => all.every((f) => f.disabled)")
        page.page.evaluate("() => lookback.run.commands.change({ seed: 3 })")
        page.until("document.querySelector('.say').textContent.includes('This is a recording')")
        page.press("Recording")
        assert "16-bit floats" in page.page.locator(".take-panel").inner_text()
        assert page.problems == []
        cut = tmp_path / "cut.html"
        for left in (path.stat().st_size // 2, -60, -40):
            cut.write_bytes(path.read_bytes()[:left])
            _says_that_it_is_cut(offline.new_page(), cut)
    finally:
        offline.close()


def _alike(found: dict[str, Any], live: dict[str, Any]) -> None:
    assert found["tokens"] == live["tokens"]
    assert all(here == there or there == "pending" for here, there in zip(found["checks"], live["checks"], strict=True))
    assert found["candidates"] == live["candidates"]
    assert found["weights"] == pytest.approx(live["weights"], abs=1e-3, nan_ok=True)
    assert found["sentence"] == live["sentence"]


def _says_that_it_is_cut(page: Page, path: Path) -> None:
    window = Window(page, path.as_uri())
    page.goto(window.address, wait_until="load")
    page.get_by_role("alert").filter(has_text="ends too early").wait_for()
    assert page.evaluate("() => window.lookback") is None
    assert window.problems == []


def test_files_hold_the_run_and_bring_it_back(window: Window, tmp_path: Path) -> None:
    window.step(2)
    tokens = window.tokens()
    path = tmp_path / "run.json"
    scenario = saved(window, "Save scenario file")
    assert scenario.suggested_filename == "lookback-decode-2.json"
    scenario.save_as(path)
    assert json.loads(path.read_text())["log"] == [{"command": {"kind": "step", "unit": "step"}, "times": 2}]
    recording = saved(window, "Save recording of the whole path")
    content = Path(recording.path()).read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    assert any(name.startswith("decode.2/") for name in json.loads(content[8 : 8 + length]))
    window.page.keyboard.press("Escape")
    window.page.keyboard.press("p")
    window.until("lookback.store.world.moved.phase === 'prefill'")
    at = window.world("moved.at")
    opened(window, "run.json", path.read_bytes())
    window.until("lookback.store.world.moved.phase === 'decode' && lookback.store.world.moved.step === 2")
    assert window.tokens() == tokens
    window.page.keyboard.press("Control+z")
    window.until(f"lookback.store.world.moved.phase === 'prefill' && lookback.store.world.moved.at === {at}")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("cut.json", b'{"v": 1, "scenario": {"archi', "ends too early"),
        ("other.json", b'{"name": "something"}', "no scenario"),
        ("new.json", b'{"v": 9, "scenario": {}}', "a newer one made it"),
        ("wrong.json", b'{"v": 1, "scenario": {"seed": 1.5}}', "seed"),
        ("layers.json", b'{"v": 1, "scenario": {"config": {"layers": "many"}}}', "layers"),
        ("rec.safetensors", b"\x10\0\0\0\0\0\0\0" + b'{"a":1}' + b" " * 9, "is a recording"),
    ],
)
def test_a_file_that_is_none_is_refused_where_the_page_speaks(window: Window, name: str, content: bytes, said: str) -> None:
    before = window.world("moved.at")
    opened(window, name, content)
    window.until(f"document.querySelector('.say').textContent.includes({json.dumps(said)})")
    sentence = window.said()
    assert name in sentence and "Nothing was changed" in sentence
    assert window.world("moved.at") == before and window.tokens() == ["<bos>"]
    assert not window.page.locator(".setup [aria-invalid=true]").count()  # no field holds what the file holds


def test_a_file_can_be_dropped(window: Window) -> None:
    window.page.evaluate(
        """() => {
          const transfer = new DataTransfer();
          transfer.items.add(new File(['{"v":1,"scenario":{"seed":12}}'], 'dropped.json'));
          const more = {dataTransfer: transfer, bubbles: true, cancelable: true};
          for (const type of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type, more));
        }"""
    )
    window.until("lookback.store.world.opened.scenario.seed === 12")


def test_a_table_opens_from_the_keys_and_gives_the_focus_back(window: Window) -> None:
    window.step()
    button = window.page.get_by_role("button", name="Take away: Next token")
    button.focus()
    window.page.keyboard.press("Enter")
    window.page.get_by_role("menuitem", name="Show the table").click()
    table = window.page.locator("dialog.take-table table")
    columns, first = ([cell.inner_text() for cell in table.locator(cells).all()] for cells in ("th", "tbody tr:first-child td"))
    found = dict(zip(columns, first, strict=True))
    candidate = window.world("moved.requests[0].candidates[0]")
    assert (found["token"], found["id"]) == (candidate["token"], str(candidate["id"]))
    assert float(found["probability"]) == pytest.approx(candidate["probability"], rel=1e-5)
    with window.page.expect_download() as download:
        window.page.get_by_role("button", name="CSV", exact=True).click()
    rows = Path(download.value.path()).read_bytes().decode().split("\r\n")
    assert float(rows[1].split(",")[columns.index("probability")]) == pytest.approx(candidate["probability"], rel=1e-12)
    window.page.keyboard.press("Escape")
    window.until("document.activeElement.getAttribute('aria-label') === 'Take away: Next token'")


def test_pictures_are_twice_as_large_and_not_empty(window: Window) -> None:
    window.step()
    box = window.page.locator("#view-map").bounding_box()
    assert box
    window.page.get_by_role("button", name="Take away: Who may read, how much is read").focus()
    window.page.keyboard.press("Enter")
    with window.page.expect_download() as download:
        window.page.get_by_role("menuitem", name="PNG").click()
    content = Path(download.value.path()).read_bytes()
    width, height = struct.unpack_from(">II", content, 16)
    assert width >= 2 * box["width"] and height >= 2 * box["height"]
    colours = window.page.evaluate(
        """async (bytes) => {
          const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
          const canvas = new OffscreenCanvas(image.width, image.height), g = canvas.getContext('2d');
          g.drawImage(image, 0, 0);
          const data = new Uint32Array(g.getImageData(0, 0, image.width, image.height).data.buffer);
          return new Set(data).size;
        }""",
        list(content),
    )
    assert colours > 50


def test_a_picture_of_shapes_has_its_words_as_words(window: Window) -> None:
    window.step()
    window.page.get_by_role("button", name="Take away: Who may read, how much is read").focus()
    window.page.keyboard.press("Enter")
    with window.page.expect_download() as download:
        window.page.get_by_role("menuitem", name="SVG").click()
    assert Path(download.value.path()).stat().st_size < 300_000, "what elements have alike is written once"
    picture = ElementTree.parse(download.value.path()).getroot()
    drawn = [element.text or "" for svg in picture.iter(f"{SVG}svg") if svg is not picture for element in svg.iter(f"{SVG}text")]
    weight = window.page.evaluate("() => lookback.store.world.values('map', 0)[0].at(0, lookback.store.world.look.head, 1, 2)")
    assert {"black", "<bos>", f"{weight:.2f}".removeprefix("0")} <= set(drawn)
    assert not [c for svg in picture.iter(f"{SVG}svg") for c in svg.iter(f"{SVG}path") if "NaN" in c.attrib["d"]]
    shown = "new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"
    assert window.page.locator("#view-map .map-pan canvas").evaluate(f"(c) => {shown}") > 20, "the page shows it as before"


# The lines of the paper that the screen shows whole and that are cut there.
CUT = """() => {
  const whole = new Set([...document.querySelectorAll('#stage :is(.say, .say-note p, h2, .ph .sub)')]
    .filter((e) => e.offsetParent && e.scrollWidth <= e.clientWidth).map((e) => e.textContent));
  dispatchEvent(new Event('beforeprint'));
  return [...whole];
}"""


def test_on_paper_nothing_is_cut_that_is_whole_on_the_screen(window: Window) -> None:
    window.step(2)
    whole = window.page.evaluate(CUT)
    assert len(whole) >= 3
    window.page.emulate_media(media="print")
    cut = """(whole) => [...document.querySelectorAll('.paper *')]
      .filter((e) => whole.includes(e.textContent) && e.scrollWidth > e.clientWidth)
      .filter((e) => getComputedStyle(e).overflowX !== 'visible')
      .map((e) => e.textContent)"""
    assert window.page.evaluate(cut, whole) == []
    window.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    window.page.emulate_media(media="screen")
