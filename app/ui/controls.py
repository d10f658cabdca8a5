"""Controls: built from a Config's fields, from the scenario's own settings, and from the catalogue."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from app.session.scenario import Policy, Training
from app.ui import ids
from models import Spec

TITLES = {
    "optimizer": ("Optimizer", "how a gradient becomes a change of the weights"),
    "learning_rate": ("Learning rate", "how far one update goes"),
    "clip_norm": ("Clip norm", "the gradient is scaled down to this length; empty: never"),
    "batch_size": ("Batch size", "sequences in one update"),
    "batch": ("Batch from", "the task's own data, or the requests below"),
    "kind": ("Decide by", "the largest probability, or a seeded draw"),
    "temperature": ("Temperature", "logits are divided by it"),
    "top_k": ("Top k", "only the k largest can be drawn; empty: all"),
    "top_p": ("Top p", "only the largest that together reach p can be drawn"),
    "limit": ("Limit", "the most tokens that decode writes"),
    "execution": ("Execution", "only the new row, with what is kept; or the whole prefix again"),
}
CHOICE_TITLES = {"adamw": "AdamW", "sgd": "SGD", "mine": "my requests", "full_prefix": "full prefix"}
SEED = {"type": "integer", "title": "Seed", "low": -(2**31), "high": 2**31 - 1}
STEPS = {"learning_rate": 0.0005, "temperature": 0.1, "top_p": 0.05, "clip_norm": 0.5}


def config(architecture: str, schema: Sequence[Mapping[str, Any]]) -> Iterator[Component]:
    """One row for each field of an architecture's Config."""
    for field in schema:
        yield from row(f"config.{field['name']}.{architecture}", field)


def settings(group: str, model: type[Training] | type[Policy]) -> Iterator[Component]:
    """One row for each field of the scenario's training or decoding settings, with the ranges of their own schema."""
    for name, schema in model.model_json_schema()["properties"].items():
        title, why = TITLES[name]
        yield from row(f"{group}.{name}", {"title": title, "why": why, "default": schema["default"], **_kind(schema)})


def _kind(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The type and the range of a setting: a few words, or a number (which may be left out)."""
    kinds = schema.get("anyOf", [schema])
    kind = next(s for s in kinds if s.get("type") != "null")
    if "enum" in kind:
        return {"type": "choice", "choices": kind["enum"]}
    low = kind.get("minimum", kind.get("exclusiveMinimum", -math.inf))
    more = {"above": "exclusiveMinimum" in kind, "optional": len(kinds) > 1}
    return {"type": kind["type"], "low": low, "high": kind.get("maximum", math.inf), **more}


def row(path: str, field: Mapping[str, Any]) -> Iterator[Component]:
    """A field's name and its control, as two cells of a grid."""
    yield html.Dt(field["title"], title=field["why"])
    yield html.Dd([control(path, field), problem(path)])


def problem(path: str) -> Component:
    """The place beside a field for why its value is refused."""
    return html.P(className="problem", role="alert", hidden=True, **{"data-problem": path})


def control(path: str, field: Mapping[str, Any]) -> Component:
    """The control that fits a field: on or off, a few choices side by side, a list of choices, or a number."""
    named = {"aria-label": field["title"]}
    if field["type"] == "boolean":
        return dmc.Switch(id=ids.field(path, checked=True), checked=field["default"], size="sm", **named)
    if field["type"] == "choice":
        return _choice(path, field, named)
    return number(path)


def _choice(path: str, field: Mapping[str, Any], named: dict[str, str]) -> Component:
    data = [{"value": str(c), "label": CHOICE_TITLES.get(str(c), str(c))} for c in field["choices"]]
    value = str(field["default"])
    if len(data) <= 3 and sum(len(d["label"]) for d in data) <= 13:
        return dmc.SegmentedControl(id=ids.field(path), data=data, value=value, size="xs", **named)
    return dmc.Select(id=ids.field(path), data=data, value=value, size="xs", allowDeselect=False, w=118, **named)


def number(path: str) -> Component:
    """The place of a number: scripts put a text field there (assets/lib/numbers.mjs), because Mantine's own drops the characters
    that it does not know and reads 1e6 as 16."""
    return html.Span(id=ids.number(path))


def fields(catalogue: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All fields that have a control: its id, the path in the scenario, and how the control holds the value.

    as: "checked" (on or off), "text" (a choice, whose values a control keeps as text), "number" (with what it may be).
    """
    found = [_entry("seed", SEED), _entry("weights", {"type": "choice"})]
    for group, model in (("training", Training), ("policy", Policy)):
        for name, schema in model.model_json_schema()["properties"].items():
            found.append(_entry(f"{group}.{name}", {"title": TITLES[name][0], **_kind(schema)}))
    for a in catalogue["architectures"]:
        found += [_entry(f"config.{f['name']}.{a['id']}", f) for f in a["config_schema"]]
    return found


def _entry(path: str, field: Mapping[str, Any]) -> dict[str, Any]:
    held = {"boolean": "checked", "choice": "text"}.get(field["type"], "number")
    if held != "number":
        return {"id": ids.field(path, held == "checked"), "path": path, "as": held}
    low, high = (None if math.isinf(field[end]) else field[end] for end in ("low", "high"))
    name = path.split(".")[1] if "." in path else path
    more = {"above": field.get("above", False), "optional": field.get("optional", False), "step": STEPS.get(name, 1)}
    whole = field["type"] == "integer"
    return {
        "id": ids.number(path),
        "path": path,
        "as": held,
        "title": field["title"],
        "low": low,
        "high": high,
        "whole": whole,
        **more,
    }


def gallery(architectures: Sequence[Mapping[str, Any]], specs: Mapping[str, Spec], chosen: str) -> Component:
    """The architectures by family, each with a small picture of who sees whom."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for a in architectures:
        families.setdefault(a["family"], []).append(a)
    return dmc.RadioGroup(
        id=ids.ARCHITECTURE,
        value=chosen,
        children=[_family(name, members, specs, chosen) for name, members in families.items()],
        **{"aria-label": "Architecture"},
    )


def _family(name: str, members: Sequence[Mapping[str, Any]], specs: Mapping[str, Spec], chosen: str) -> Component:
    icons = html.Span([glyph(specs[m["id"]]) for m in members], className="gl")
    cards = [_card(m, specs[m["id"]]) for m in members]
    return html.Details([html.Summary([name, icons]), *cards], className="fam", open=any(m["id"] == chosen for m in members))


def _card(architecture: Mapping[str, Any], spec: Spec) -> Component:
    words = html.Span([html.B(architecture["name"]), html.I(_reads(spec))])
    return dmc.RadioCard([glyph(spec), words], value=architecture["id"], className="arch", withBorder=False)


def _reads(spec: Spec) -> str:
    """What a row reads, in a few words, from the architecture's relations."""
    own = any(r.query == r.key == "t" for r in spec.relations)
    source = any(r.query == "t" and r.key == "s" for r in spec.relations)
    return "past + whole source" if own and source else "its own past" if own else "the source" if source else "its state alone"


def glyph(spec: Spec) -> Component:
    """An architecture's icon is its visibility: query rows downwards, key columns to the right, five of each."""
    levels = _pattern(spec)
    squares = "".join(
        f"<rect x='{c * 4 + 0.3}' y='{r * 4 + 0.3}' width='3.4' height='3.4' opacity='{levels[r][c]:.2f}'/>"
        for r in range(5)
        for c in range(5)
    )
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'>{squares}</svg>"
    image = f'url("data:image/svg+xml,{quote(svg)}")'
    return html.Span(className="glyph", style={"maskImage": image, "WebkitMaskImage": image})


def _pattern(spec: Spec) -> list[list[float]]:
    """How strongly each of 5 x 5 cells is drawn: source keys above, own keys below; a model without reads keeps a state."""
    cross = [r.default.dense(5, 5).tolist() for r in spec.relations if r.query == "t" and r.key == "s"]
    own = [r.default.dense(5, 5).tolist() for r in spec.relations if r.query == r.key == "t"]
    if not cross and not own:
        return [[1.0 if c == r else 0.62 if c == r - 1 else 0.1 for c in range(5)] for r in range(5)]
    split = 2 if cross and own else 5 if cross else 0
    source = [[0.9 if seen else 0.1 for seen in row] for row in cross[0][:split]] if cross else []
    return source + [[(0.6 if cross else 0.9) if seen else 0.1 for seen in row] for row in (own[0][split:] if own else [])]


def presets(tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The examples of all tasks, as groups of a Select; a value is "task/number"."""
    return [
        {"group": t["name"], "items": [{"value": f"{t['id']}/{i}", "label": p["name"]} for i, p in enumerate(t["presets"])]}
        for t in tasks
    ]
