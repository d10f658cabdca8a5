"""An update in a browser, stage by stage: what stands on the screen is what was computed, and stays in its place."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

REGIONS = (
    ".batch-pan",
    ".batch-line",
    ".norms",
    ".clip-set",
    '[data-part="score"] canvas',
    '[data-part="position"] canvas',
    ".view-charts .plot",
    ".legend",
)


def training(window: Window, unit: str = "update") -> None:
    window.page.keyboard.press("t")
    window.until("lookback.store.world.moved.phase === 'train'")
    if unit == "stage":
        window.page.keyboard.press("2")
    window.settled()


def text(window: Window, selector: str) -> str:
    return window.page.locator(selector).first.inner_text().replace("\n", "")


def listed(window: Window) -> dict[str, list[str]]:
    """The lines of the list by parameter: its norm, what it moved."""
    found = window.page.evaluate(
        """() => [...document.querySelectorAll('.norms li:not(.group) button')]
             .map((b) => [b.title.split(":")[0], [b.children[2].textContent, b.children[3].textContent]])"""
    )
    return dict(found)


def read(number: str) -> float:
    return float(number.replace("−", "-"))


def near(shown: str, value: float) -> bool:
    """Whether a number on the screen is this one, as far as it is written out."""
    return math.isclose(read(shown), value, rel_tol=0.06, abs_tol=6e-4 if abs(value) >= 0.01 else 0)


def test_an_update_fills_the_screen_stage_by_stage(window: Window) -> None:
    training(window, "stage")
    for stage in ("batch", "forward"):
        window.step()
        assert window.world("moved.stage") == stage
        every = [r for rows in window.world("moved.train.rows") for r in rows]
        assert text(window, ".batch-sum") == f"{sum(r['counts'] for r in every)} of {len(every)} rows count"
        assert {v for line in listed(window).values() for v in line} == {"–"}
        assert text(window, '[data-part="position"] .panel-said') == "after backward"
    window.step()
    counted = [r for rows in window.world("moved.train.rows") for r in rows if r["counts"]]
    total, count, mean = sum(r["loss"] for r in counted), len(counted), window.world("moved.train.loss")
    assert math.isclose(total / count, mean, rel_tol=1e-5)
    left, right = text(window, ".batch-sum").split(" = ")
    assert f"/ {count} rows" in left and near(right, mean)
    assert {v for line in listed(window).values() for v in line} == {"–"}

    window.step()
    norms: dict[str, float] = dict(window.world("moved.train.parameter_norms"))
    assert listed(window).keys() == norms.keys()
    shown = {name: line[0] for name, line in listed(window).items()}
    nothing = {name for name, norm in norms.items() if name.endswith("W_K.bias") and norm < 1e-8}  # softmax does not see it
    assert nothing and {name for name, norm in shown.items() if norm == "≈ 0"} == nothing
    assert all(near(shown[name], norm) for name, norm in norms.items() if name not in nothing)
    norm = math.sqrt(sum(n * n for n in norms.values()))
    assert near(text(window, ".clip dd"), norm) and ", next" in text(window, ".clip")
    positions = text(window, '[data-part="position"] .panel-said')
    assert positions.startswith("largest ") and "smallest " in positions

    window.step()
    assert math.isclose(window.world("moved.train.norm"), norm, rel_tol=1e-5)
    assert near(text(window, ".clip dd:nth-of-type(2)"), min(1.0, 1 / norm)) and ", next" not in text(window, ".clip")
    assert {line[1] for line in listed(window).values()} == {"–"}

    window.step()
    moves = {name: added / size for name, added, size in window.world("moved.train.parameter_moves") if size}
    assert all(
        math.isclose(read(listed(window)[name][1].rstrip("%")), 100 * m, abs_tol=0.0051, rel_tol=0.06)
        for name, m in moves.items()
    )
    window.until("document.querySelector('.curve-said').textContent.startsWith('update 1')")
    assert near(text(window, ".curve-said").split(": ")[1], mean)
    assert "learning rate 0.001, clip norm 1" in text(window, ".clip-set")


def test_the_op_cursor_fills_the_gradients_from_the_output_back(window: Window) -> None:
    training(window)
    window.step()
    ops = next(s["ops"] for s in window.world("moved.stages") if s["name"] == "backward")
    known = []
    for op in (ops[1], ops[len(ops) // 2], ops[-1]):
        window.page.evaluate("(op) => lookback.run.look({op})", op)
        window.settled()
        known.append(sum(line[0] != "–" for line in listed(window).values()))
        assert text(window, ".clip dt").startswith("norm of all" if op == ops[-1] else "norm so far")
    assert 0 < known[0] < known[1] < known[2] == len(listed(window))


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720)])
def test_nothing_is_clipped_and_nothing_moves_while_stepping(window: Window, size: tuple[int, int]) -> None:
    window.page.set_viewport_size({"width": size[0], "height": size[1]})
    training(window, "stage")
    window.step()
    boxes = _boxes(window)
    for _ in range(12):
        window.step()
        assert _boxes(window) == boxes
    beyond, bottom = window.page.evaluate(
        """() => {
          const stage = document.getElementById('stage');
          return [stage.scrollHeight - stage.clientHeight, stage.getBoundingClientRect().bottom];
        }"""
    )
    assert beyond <= 0
    assert all(w > 100 and h > 10 and y + h <= bottom for _, y, w, h in boxes)


def _boxes(window: Window) -> list[list[float]]:
    script = """(all) => all.map((selector) => {
      const box = document.querySelector(selector).getBoundingClientRect();
      return [box.x, box.y, box.width, box.height];
    })"""
    found: Any = window.page.evaluate(script, list(REGIONS))
    return found


def test_the_list_gives_its_place_to_the_map_of_who_may_read(window: Window) -> None:
    training(window)
    window.step()
    assert not window.page.locator(".map-pan").is_visible() and window.page.locator(".view-charts .plot").is_visible()
    window.press("Who may read")
    window.until("document.querySelector('.view-training').dataset.pane === 'map'")
    assert window.page.locator(".map-pan").is_visible() and not window.page.locator(".norms").is_visible()
    box = window.page.locator(".map-pan").bounding_box()
    assert box is not None and box["width"] > 240 and box["height"] > 240
    window.press("By parameter")
    window.until("document.querySelector('.view-training').dataset.pane === 'gradient'")
    window.page.keyboard.press("m")
    window.until("document.querySelector('.view-training').dataset.pane === 'map'")


def test_a_parameter_and_a_row_are_chosen_by_a_click(window: Window) -> None:
    training(window)
    window.step()
    window.page.locator(".norms li:not(.group) button").first.click()
    name = window.page.locator(".norms li:not(.group) button").first.get_attribute("title")
    window.until(f"lookback.store.world.look.path === 'parameter.{name}'")
    window.page.locator(".batch-pan canvas").click(position={"x": 200, "y": 12})
    window.until("lookback.store.world.look.lock !== null")
    window.page.locator(".seq").nth(1).click()
    window.until("lookback.store.world.look.request === 1 && lookback.store.world.look.lock === null")


def test_training_that_diverges_names_the_tensor_and_offers_the_way_back(window: Window) -> None:
    training(window)
    settings = "{...lookback.store.world.opened.scenario.training, learning_rate: 1e6, optimizer: 'sgd', clip_norm: null}"
    window.page.evaluate(f"() => lookback.run.send({{kind: 'change', fields: {{training: {settings}}}}})")
    window.settled()
    while not window.world("moved.ended"):
        window.step()
    bad = window.page.evaluate("() => lookback.store.world.notices.at(-1).message.match(/not finite is ([\\w.]+\\w)/)[1]")
    assert bad in window.page.locator(".view-sentence").inner_text()
    assert "NaN" in text(window, ".batch-sum") or "∞" in text(window, ".batch-sum")
    assert text(window, ".curve-said") == f"update {window.world('moved.train.update')}: diverged"
    note = window.page.locator(".clip .note")
    assert note.inner_text() == "" or note.evaluate("(e) => e.scrollWidth <= e.clientWidth"), "the reason is read whole"
    before = window.world("moved.updates")
    window.page.locator(".view-sentence button:visible").first.click()
    window.until("!lookback.store.world.moved.ended")
    assert window.world("moved.updates") == before
    window.until("!document.querySelector('.curve-said').textContent.includes('diverged')")


def test_the_theme_changes_while_it_plays_and_the_curve_goes_on(window: Window) -> None:
    training(window)
    window.page.evaluate("() => lookback.run.send({kind: 'play', unit: 'step', rate: 30})")
    window.until("lookback.store.world.curve.updates.length >= 3 && document.querySelector('.plot .scatterlayer .js-line')")
    color = "getComputedStyle(document.querySelector('.plot .scatterlayer .js-line')).stroke"
    first = window.page.evaluate(f"() => {color}")
    window.page.evaluate("() => lookback.actions.theme('dark')")
    window.until(f"{color} !== '{first}'")
    count = len(window.world("curve.updates"))
    window.until(f"lookback.store.world.curve.updates.length > {count}")
    window.page.evaluate("() => lookback.actions.theme('light')")
    window.until(f"{color} === '{first}'")
    window.page.evaluate("() => lookback.run.send({kind: 'pause'})")
    window.until("!lookback.store.world.playing.playing")
    window.press("Gradient norm")
    assert "→" in text(window, ".curve-said")


def test_a_step_behind_a_measurement_says_that_it_waits_and_the_measurement_can_be_cancelled(window: Window) -> None:
    training(window)
    at = window.world("moved.at")
    window.press("By clauses…")
    window.press("measure")
    window.page.locator("#step").click()
    window.page.locator(".say").filter(has_text="A measurement is running").wait_for()
    window.press("Cancel the measurement")
    window.until(f"lookback.store.world.moved.at !== {at}")
    assert "measurement" not in window.said() and window.world("behind") == ""
