"""Models without reads in a real browser: the chain and the strips stand where ribbons and map stood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from app.session.commands import Open, Selector, Step
from app.session.engine import Engine
from tests.browser.conftest import Window
from tests.session.driving import do, numbers

pytestmark = pytest.mark.browser


def choose(window: Window, architecture: str, name: str) -> None:
    window.page.get_by_role("searchbox", name="Find an architecture").fill(name)
    window.page.locator(f".card[data-architecture={architecture}]").click()
    window.until(f"lookback.store.world.opened.scenario.architecture === '{architecture}'")
    window.settled()


def table(window: Window, view: str) -> dict[str, Any]:
    return window.page.evaluate(
        "async (view) => (await import(`/assets/views/${view}.mjs`)).default.table(lookback.store.world)", view
    )


def recorded(window: Window, steps: int, path: str) -> np.ndarray:
    """One tape of the same scenario, by an engine in this process `[rows, units]`."""
    engine = Engine(torch.device("cpu"))
    do(engine, Open(scenario=window.world("opened.scenario")))
    for _ in range(steps):
        do(engine, Step())
    (piece,) = engine.keyframe((Selector(path=path, index={"b": 0}, dtype="f32"),)).pieces
    return numbers(piece.array)[0]


def test_the_states_stand_where_the_map_stood_with_the_recorded_numbers(window: Window) -> None:
    choose(window, "recurrent", "recurrent cell")
    window.step(2)
    assert window.page.locator("#view-states").is_visible() and window.page.locator("#view-chain").is_visible()
    assert not window.page.locator("#view-map").is_visible() and not window.page.locator("#view-read").is_visible()
    window.until("lookback.store.valuesOf('states', 0).length === 1")
    window.settled()
    shown = table(window, "states")
    hidden = recorded(window, 2, "recurrence.layer0.hidden")
    column = shown["columns"].index("recurrence.layer0.hidden")
    np.testing.assert_allclose(np.array([r[column] for r in shown["rows"]]).reshape(hidden.shape), hidden, atol=1e-4)
    forget = recorded(window, 2, "recurrence.layer0.forget").mean(1)
    np.testing.assert_allclose([r[4] for r in table(window, "chain")["rows"]], forget, atol=1e-4)
    assert "reads only the state" in window.said()
    choose(window, "encoder_decoder", "encoder–decoder")
    window.step()
    assert window.page.locator("#view-map").is_visible() and window.page.locator("#view-read").is_visible()
    assert not window.page.locator("#view-states").is_visible()


def test_a_number_is_locked_and_the_norms_since_its_row_are_measured(window: Window) -> None:
    choose(window, "recurrent", "recurrent cell")
    window.step(1)
    window.page.locator(".states-pan canvas").focus()
    window.page.keyboard.press("ArrowLeft")
    window.page.keyboard.press("ArrowDown")
    window.page.keyboard.press("Enter")
    window.until("lookback.store.world.look.lock?.key === 1 && lookback.store.world.look.path === 'recurrence.layer0.cell'")
    row = window.world("look.lock.row")
    assert window.page.locator(".tname").inner_text() == "cell"
    window.until(f"lookback.store.world.analysis.state_jacobian?.result?.since === {row}")
    (scope,) = window.world("analysis.state_jacobian.result.scopes")
    window.until("document.querySelector('.states-read').textContent.includes('‖J‖')")
    assert f"‖J‖ {scope['norms'][row]:.2f}" in window.page.locator(".states-read").inner_text()
    assert scope["products"][row] is None and scope["products"][row + 1] == pytest.approx(scope["norms"][row + 1])
    window.page.keyboard.press("Escape")
    window.until("lookback.store.world.look.lock === null && lookback.store.world.look.path === null")


def test_one_channel_of_a_state_with_channels_and_a_kernel_in_its_place(window: Window) -> None:
    choose(window, "s4", "s4")
    window.step(2)
    window.until("lookback.store.valuesOf('states', 0).length === 1")
    window.page.get_by_role("group", name="Channel").locator("visible=true").get_by_role("button", name="Channel after").click()
    window.until("lookback.store.world.look.head === 1 && lookback.store.valuesOf('states', 0).length === 1")
    window.settled()
    shown = table(window, "states")
    state = recorded(window, 2, "layer1.state")[:, 1]
    column = shown["columns"].index("layer1.state")
    np.testing.assert_allclose(np.array([r[column] for r in shown["rows"]]).reshape(state.shape), state, atol=1e-4)
    window.page.locator("#view-states").get_by_role("button", name="kernel", exact=True).click()
    window.until("lookback.store.valuesOf('kernel', 0).length === 1")
    assert window.page.locator("#view-kernel").is_visible() and not window.page.locator("#view-states").is_visible()
    rows = table(window, "kernel")["rows"]
    engine = Engine(torch.device("cpu"))
    do(engine, Open(scenario=window.world("opened.scenario")))
    kernel = engine.learner.model.kernels(len(rows))["layer1"][0][1].detach()  # type: ignore[operator]
    np.testing.assert_allclose([r[2] for r in rows], kernel, atol=1e-5)
