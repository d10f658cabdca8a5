"""The layout: every id, slot and binding that the scripts count on, and controls that fit what they set."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import dash_mantine_components as dmc
import pytest
from dash import html
from dash.development.base_component import Component
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.session.catalogue_view import catalogue
from app.session.scenario import defaults, parse
from app.ui import controls, gallery, ids, layout
from app.ui.index import ASSETS, Page, build_dash
from models import Relation, Spec
from models.catalogue import architectures
from models.parts.visibility import PROGRAMS, Visibility

START = (ASSETS / "start.mjs").read_text()


@pytest.fixture(scope="module")
def page() -> Page:
    return build_dash(FastAPI(), catalogue())


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


def test_no_two_elements_share_an_id(page: Page) -> None:
    names = Counter(str(c.id) for c in _all(layout.page(catalogue())) if getattr(c, "id", None) is not None)
    assert [name for name, count in names.items() if count > 1] == []


def test_every_id_that_the_scripts_are_told_is_on_the_page(page: Page) -> None:
    there = {str(c.id) for c in _all(layout.page(catalogue())) if getattr(c, "id", None) is not None}
    data = _data(page.index())
    assert set(data["ids"].values()) <= there


def test_there_is_a_place_for_each_slot_that_a_view_may_name(page: Page) -> None:
    contract = re.search(r"slot: (.*?);", (ASSETS / "lib" / "types.d.ts").read_text())
    assert contract
    assert set(re.findall(r'"(\w+)"', contract[1])) == set(ids.SLOTS)
    there = {str(c.id) for c in _all(layout.page(catalogue())) if getattr(c, "id", None) is not None}
    assert {ids.slot(name) for name in ids.SLOTS} <= there
    with pytest.raises(ValueError, match="slot 'attic' is unknown"):
        ids.slot("attic")


def test_every_button_and_every_binding_has_its_script(page: Page) -> None:
    acts = {getattr(c, "data-act", None) for c in _all(layout.page(catalogue()))} - {None}
    table = START[START.index("const acts") : START.index('addEventListener("click"')]
    assert acts
    assert {a for a in acts if not re.search(rf"\b{a}\b", table)} == set()
    bound = {c["clientside_function"]["function_name"] for c in page.callback_map.values() if "clientside_function" in c}
    bound |= {c["clientside_function"]["function_name"] for c in page._callback_list if c.get("clientside_function")}
    assert bound == {"unit", "rate", "phase", "preset"}
    assert {name for name in bound if f"[data.ids.{name.upper()}]:" not in START} == set()


def test_dash_makes_the_controls_that_have_places_in_the_page_and_nothing_else(page: Page) -> None:
    made = page.layout().children
    assert [place.to for place in made] == [place.children.id for place in made] == ["preset", "phase", "rate", "unit"]
    index = page.index()
    body, inert = index.split('<template id="lookback-dash">')
    assert re.findall(r'data-place="(\w+)"', body) == [place.to for place in made]
    assert "<script src=" not in body and "dash_renderer" in inert


def test_the_page_asks_nobody_else_for_anything(page: Page) -> None:
    assert re.findall(r"https?://", page.index()) == []


@pytest.mark.parametrize("here", layout.GUIDED)
def test_a_guided_page_is_the_stage_with_one_script_more(here: str) -> None:
    api = FastAPI()
    index = build_dash(api, catalogue()).index()
    guided = TestClient(api).get(f"/{here}").text
    gate = ' data-class="gate"' if here == "class" else ""  # what the script finds out is not shown before as something else
    assert f'<html lang="en" data-cold data-page="{here}"{gate}>' in guided
    assert f"/{here}.mjs" in guided and f"/{here}/{here}.css" in guided and "/lookback.mjs" not in guided
    assert [f'href="{here}"' in a for a in re.findall("<a [^>]*>", guided) if "aria-current" in a] == [True, True]
    assert _data(guided) == _data(index)
    assert f'id="{here}' in guided and f'id="{here}' not in index


def test_words_in_the_catalogue_cannot_break_out_of_the_page() -> None:
    given = json.loads(json.dumps(catalogue()))
    given["tasks"][0]["presets"][0]["name"] = "</script><script>alert(1)</script> {%scripts%}"
    index = build_dash(FastAPI(), given).index()
    assert "alert(1)</script>" not in index
    assert index.count("{%scripts%}") == 2, "in the list of examples, and in what the scripts know"
    assert _data(index)["catalogue"]["tasks"][0]["presets"][0]["name"] == given["tasks"][0]["presets"][0]["name"]


def test_the_first_scenario_is_a_valid_one(page: Page) -> None:
    scenario = _data(page.index())["scenario"]
    assert parse(scenario) == defaults("encoder_decoder")


FIELDS = controls.fields(catalogue())


def test_a_field_of_each_type_says_which_control_fits() -> None:
    of = {"title": "x", "why": "y"}
    described = controls._field("config.tied", {**of, "type": "boolean", "default": True})
    assert described == {"path": "config.tied", **of, "default": True, "as": "switch"}
    words = controls._field(
        "config.position", {**of, "type": "choice", "default": "learned", "choices": ["learned", "sinusoidal"]}
    )
    assert words["as"] == "choice"
    assert words["choices"] == [{"value": "learned", "label": "learned"}, {"value": "sinusoidal", "label": "sine"}]
    few = controls._field("config.d", {**of, "type": "choice", "default": 64, "choices": [64, 16, 32]})
    assert (few["as"], few["few"], few["low"], few["high"], few["whole"]) == ("number", [16, 32, 64], 16, 64, True)
    whole = controls._field("config.layers", {**of, "type": "integer", "default": 2, "low": 1, "high": 6})
    assert (whole["as"], whole["few"], whole["step"], whole["low"], whole["high"]) == ("number", None, 1, 1, 6)
    share = controls._field("config.dropout", {**of, "type": "number", "default": 0.1, "low": 0.0, "high": 0.9})
    assert (share["whole"], share["step"]) == (False, 0.01)


def test_fields_beyond_the_first_wait_where_there_are_two_or_more_of_them() -> None:
    schema = [{"name": str(i), "title": "", "why": "", "type": "boolean", "default": True} for i in range(7)]
    later = [[f["more"] for f in controls._some_later("config", controls._config(schema[:n]))] for n in (4, 5, 7)]
    assert later == [[False] * 4, [False] * 5, [False] * 4 + [True] * 3]


def test_every_field_of_a_scenario_has_a_description(page: Page) -> None:
    assert _data(page.index())["fields"] == json.loads(json.dumps(FIELDS))
    scenario = defaults("encoder_decoder").model_dump(mode="json")
    for group in ("training", "policy"):
        assert {f["path"] for f in FIELDS[group]} == {f"{group}.{name}" for name in scenario[group]}
        assert all(f["default"] == scenario[group][f["path"].split(".")[1]] for f in FIELDS[group])
    for name, described in FIELDS["config"].items():
        config = defaults(name).config
        assert {f["path"]: f["default"] for f in described} == {f"config.{k}": v for k, v in config.items()}
        assert all(f["title"] and f["why"] for f in described)


@pytest.mark.parametrize("group", ["training", "policy"])
def test_settings_have_the_ranges_that_the_scenario_accepts(group: str) -> None:
    scenario = defaults("encoder_decoder").model_dump(mode="json")
    scenario["training"] |= {"mask_hidden": 0.0, "mask_replaced": 0.0}  # shares of one whole: the largest of one leaves no other
    numbers = [f for f in FIELDS[group] if f["as"] == "number"]
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


def _many() -> tuple[list[dict[str, Any]], dict[str, Spec]]:
    """Twenty-five architectures in five families, of every kind of visibility."""
    t, s, cross = (r for r in (_relation("t", "t", "causal"), _relation("s", "s", "full"), _relation("t", "s", "full")))
    kinds = [(), (t,), (s,), (cross,), (t, cross), (_relation("t", "t", "causal_sliding", 2),)]
    families = (*gallery.FAMILIES[::-1], "Something else")[:5]
    specs = {}
    for i in range(25):
        base = architectures()["decoder_only"]
        specs[f"a{i}"] = replace(base, id=f"a{i}", name=f"Model {i}", family=families[i % 5], relations=kinds[i % len(kinds)])
    return [{"id": x.id, "name": x.name, "family": x.family} for x in specs.values()], specs


def _relation(query: Any, key: Any, program: str, parameter: int = 0) -> Relation:
    return Relation("r", "r", query, key, Visibility(program, parameter), "r")


def test_a_gallery_of_many_is_in_order_of_families_with_one_open_and_a_search() -> None:
    found, specs = _many()
    search, group, _ = gallery.gallery(found, specs, "a7")
    families = [c for c in _all(group) if isinstance(c, html.Details)]
    titles = [f.children[0].children[0] for f in families]
    assert titles == [name for name in gallery.FAMILIES if name in titles]
    assert [f.open for f in families].count(True) == 1
    assert not search.hidden
    assert len([c for c in _all(group) if isinstance(c, dmc.RadioCard)]) == 25
    assert gallery.gallery(found[:3], specs, "a1")[0].hidden


def test_what_a_row_reads_is_said_in_a_few_words() -> None:
    _, specs = _many()
    assert [gallery.reads(specs[f"a{i}"]) for i in range(6)] == [
        "its state alone",
        "its own past",
        "every row",
        "state + whole source",
        "past + whole source",
        "a window of its past",
    ]
    assert set(gallery.OWN) == set(PROGRAMS)
    one = replace(specs["a0"], capabilities=replace(specs["a0"].capabilities, has_source=True))
    assert gallery.reads(one) == "the source as one vector"
    assert [row[2] for row in gallery._pattern(one)] == [1.0] * 5
    named = [gallery.reads(architectures()[name]) for name in ("nplm", "convolution", "mamba", "recurrent")]
    assert named == ["a window of its past", "a window of its past", "its state alone", "its state alone"]
    window = gallery._pattern(specs["a5"])
    assert all((window[r][c] > 0.5) == (0 <= r - c <= 2) for r in range(5) for c in range(5))
    assert min(min(row) for row in gallery._pattern(specs["a2"])) > 0.5


def test_examples_are_grouped_by_task_with_what_to_look_at() -> None:
    groups = controls.presets(catalogue()["tasks"], "translation")
    assert {g["group"] for g in groups} == {t["name"] for t in catalogue()["tasks"]}
    assert groups[0]["items"][0]["label"] == "Translation: The black cat"
    assert all(item["note"] for g in groups for item in g["items"])


def test_an_icon_is_what_the_architecture_may_read() -> None:
    causal = gallery._pattern(architectures()["decoder_only"])
    assert all((causal[r][c] > 0.5) == (c <= r) for r in range(5) for c in range(5))
    both = gallery._pattern(architectures()["encoder_decoder"])
    assert min(both[0]) > 0.5, "source keys are open to every row"
    assert both[2][3] < 0.5 < both[2][2], "own keys are causal"
