"""The layout: every id, slot and binding that the scripts count on, and controls that fit what they set."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import dash_mantine_components as dmc
import pytest
from dash import Dash
from dash.development.base_component import Component
from fastapi import FastAPI

from app.session.catalogue_view import catalogue
from app.session.scenario import defaults, parse
from app.ui import controls, ids, layout
from models.catalogue import architectures

START = (layout.ASSETS / "start.mjs").read_text()


@pytest.fixture(scope="module")
def page() -> Dash:
    return layout.build_dash(FastAPI(), catalogue())


def _all(component: Any) -> Iterator[Component]:
    if isinstance(component, list | tuple):
        for child in component:
            yield from _all(child)
    elif isinstance(component, Component):
        yield component
        yield from _all(getattr(component, "children", None))


def _data(index: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="lookback-data">(.*?)</script>', index, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_no_two_elements_share_an_id(page: Dash) -> None:
    names = Counter(str(c.id) for c in _all(page.layout) if getattr(c, "id", None) is not None)
    assert [name for name, count in names.items() if count > 1] == []


def test_every_id_that_the_scripts_are_told_is_on_the_page(page: Dash) -> None:
    there = {str(c.id) for c in _all(page.layout) if getattr(c, "id", None) is not None}
    data = _data(page.index_string)
    assert set(data["ids"].values()) <= there
    assert {str(f["id"]) for f in data["fields"]} <= there


def test_there_is_a_place_for_each_slot_that_a_view_may_name(page: Dash) -> None:
    contract = re.search(r"slot: (.*?);", (layout.ASSETS / "lib" / "types.d.ts").read_text())
    assert contract
    assert set(re.findall(r'"(\w+)"', contract[1])) == set(ids.SLOTS)
    there = {str(c.id) for c in _all(page.layout) if getattr(c, "id", None) is not None}
    assert {ids.slot(name) for name in ids.SLOTS} <= there
    with pytest.raises(ValueError, match="slot 'attic' is unknown"):
        ids.slot("attic")


def test_every_button_and_every_binding_has_its_script(page: Dash) -> None:
    acts = {getattr(c, "data-act", None) for c in _all(page.layout)} - {None}
    table = START[START.index("const acts") : START.index('addEventListener("click"')]
    assert acts
    assert {a for a in acts if not re.search(rf"\b{a}\b", table)} == set()
    bound = {c["clientside_function"]["function_name"] for c in page.callback_map.values() if "clientside_function" in c}
    bound |= {c["clientside_function"]["function_name"] for c in page._callback_list if c.get("clientside_function")}
    assert bound == {"unit", "rate", "phase", "architecture", "preset", "field"}
    assert {name for name in bound if not re.search(rf"^    {name}[:,]", START, re.MULTILINE)} == set()


def test_the_page_asks_nobody_else_for_anything(page: Dash) -> None:
    assert re.findall(r"https?://", page.index_string) == []


def test_words_in_the_catalogue_cannot_break_out_of_the_page() -> None:
    given = json.loads(json.dumps(catalogue()))
    given["tasks"][0]["presets"][0]["name"] = "</script><script>alert(1)</script> {%scripts%}"
    index = layout.build_dash(FastAPI(), given).index_string
    assert "alert(1)</script>" not in index
    assert index.count("{%scripts%}") == 1
    assert _data(index)["catalogue"]["tasks"][0]["presets"][0]["name"] == given["tasks"][0]["presets"][0]["name"]


def test_the_first_scenario_is_a_valid_one(page: Dash) -> None:
    scenario = _data(page.index_string)["scenario"]
    assert parse(scenario) == defaults("encoder_decoder")


def test_a_field_of_each_type_gets_the_control_that_fits() -> None:
    assert isinstance(controls.control("config.tied.x", {"type": "boolean", "title": "Tied", "default": True}), dmc.Switch)
    few = controls.control("config.norm.x", {"type": "choice", "title": "Norm", "default": "post", "choices": ["post", "pre"]})
    many = controls.control("config.d.x", {"type": "choice", "title": "d", "default": 64, "choices": [16, 32, 64, 128]})
    assert isinstance(few, dmc.SegmentedControl)
    assert isinstance(many, dmc.Select)
    assert many.value == "64"
    number = controls.control("config.layers.x", {"type": "integer", "title": "Layers", "default": 2, "low": 1, "high": 6})
    assert number.id == "number-config.layers.x"


def test_every_field_has_a_place_for_its_problem(page: Dash) -> None:
    places = {getattr(c, "data-problem", None) for c in _all(page.layout)} - {None}
    assert places == {f["path"] for f in _data(page.index_string)["fields"]}


@pytest.mark.parametrize("group", ["training", "policy"])
def test_settings_have_the_ranges_that_the_scenario_accepts(group: str) -> None:
    scenario = defaults("encoder_decoder").model_dump(mode="json")
    numbers = [f for f in controls.fields(catalogue()) if f["path"].startswith(group) and f["as"] == "number"]
    assert numbers
    for field in numbers:
        ends = {"low": (field["low"], field["low"] - 1), "high": (field["high"], field["high"] and field["high"] * 10)}
        for end, (edge, beyond) in ends.items():
            name = field["path"].split(".")[1]
            if edge is None:
                continue
            if not (end == "low" and field["above"]):
                assert parse({**scenario, group: {**scenario[group], name: edge}})
            with pytest.raises(ValueError, match=name):
                parse({**scenario, group: {**scenario[group], name: beyond}})
        if field["optional"]:
            assert parse({**scenario, group: {**scenario[group], name: None}})


def test_an_icon_is_what_the_architecture_may_read() -> None:
    causal = controls._pattern(architectures()["decoder_only"])
    assert all((causal[r][c] > 0.5) == (c <= r) for r in range(5) for c in range(5))
    both = controls._pattern(architectures()["encoder_decoder"])
    assert min(both[0]) > 0.5, "source keys are open to every row"
    assert both[2][3] < 0.5 < both[2][2], "own keys are causal"
