"""Controls: what each field of the set-up is called, may hold and looks like, and the gallery of architectures.

The fields themselves are built by the page (assets/lib/setup/fields.mjs) from what is described here, for the architecture
that is shown: all fields of all architectures at once would be hundreds of controls, most of them hidden.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from app.session.methods import Policy, Training
from app.ui import ids
from app.ui.language import say
from app.ui.parts import button
from models import Spec
from models.parts.visibility import Visibility

TITLES = {
    "optimizer": ("Optimizer", "how a gradient becomes a change of the weights"),
    "learning_rate": ("Learning rate", "how far one update goes"),
    "clip_norm": ("Clip norm", "the gradient is scaled down to this length; empty: never"),
    "batch_size": ("Sequences", "so many of the task's in one update"),
    "batch": ("Batch from", "the task's own data, or the rows below"),
    "feeding": ("Inputs from", "the gold tokens, the model's own by a schedule, or the model's own alone"),
    "schedule": ("Gold share ε", "constant, or falling with the updates"),
    "gold_share": ("ε", "with which probability a row is given its gold token"),
    "decay": ("Decay k", "in updates: linear reaches 0 after k; inverse sigmoid is k / (k + exp(i / k))"),
    "mask_rate": ("Hidden words", "the share of words to say again, at least one a sentence"),
    "mask_hidden": ("Of these masked", "the share that becomes <mask>"),
    "mask_replaced": ("Of these replaced", "the share that becomes another word; the rest stays as it is"),
    "kind": ("Decide by", "the largest probability, a seeded draw, or the best of several whole texts"),
    "temperature": ("Temperature", "logits are divided by it"),
    "top_k": ("Top k", "only the k largest can be drawn; empty: all"),
    "top_p": ("Top p", "only the largest that together reach p can be drawn"),
    "width": ("Beam width", "so many hypotheses are kept"),
    "length_penalty": ("Length penalty α", "the score is log P over ((5 + length) / 6)^α; 0 compares log P itself"),
    "limit": ("Limit", "the most tokens that decode writes"),
    "execution": ("Execution", "only the new row, with what is kept; or the whole prefix again"),
    "ended": ("When one ends", "an ended request stays until all have ended, or leaves the batch and frees its rows"),
}
CHOICE_TITLES = {
    "adamw": "AdamW",
    "sgd": "SGD",
    "task": "task data",
    "mine": "my rows",
    "full_prefix": "full prefix",
    "inverse_sigmoid": "inverse sigmoid",
    "s4d": "diagonal (S4D)",
    "nplr": "normal plus low rank",
    "sinusoidal": "sine",
    "bias": "relative bias",
    "rope": "RoPE",
    "half": "i, i + e/2",
    "interleaved": "2i, 2i + 1",
    "ntk": "NTK-aware",
    "dynamic_ntk": "dynamic NTK",
    "yarn": "YaRN",
    "layer": "LayerNorm",
    "rms": "RMSNorm",
    "batch": "BatchNorm",
    "one_matrix": "all one",
    "shared_qk": "K is Q",
    "k_as_v": "V is K",
    "depth": "one, again and again",
    "aliased": "aliased by mistake",
}
SEED = {"type": "integer", "title": "Seed", "why": "of random weights, batches and draws", "default": 7}
SEED_RANGE = {"low": -(2**31), "high": 2**31 - 1}
STEPS = {"temperature": 0.1, "top_p": 0.05, "clip_norm": 0.5}
WHEN = {  # what a field needs beside it to mean anything
    "top_k": {"kind": "sample"},
    "top_p": {"kind": "sample"},
    "width": {"kind": "beam"},
    "length_penalty": {"kind": "beam"},
    "schedule": {"feeding": "scheduled"},
    "decay": {"feeding": "scheduled"},
    "gold_share": {"feeding": "scheduled", "schedule": "constant"},
}
LOGARITHMIC = {"learning_rate"}  # stepped 1, 2, 5, 10, ...
ALWAYS = {"config": 4, "training": 3, "policy": 0}  # fields that are shown; the others wait under "More"
FAMILIES = ("Recurrent", "Recurrent with attention", "Convolutional", "Attention", "State space", "Speech and vision")
MANY = 6  # architectures that are found without a search


def fields(catalogue: Mapping[str, Any]) -> dict[str, Any]:
    """What every field of the set-up is: by group of the scenario, those of the variant by architecture."""
    return {
        "seed": [_field("seed", {**SEED, **SEED_RANGE})],
        "training": _settings("training", Training),
        "policy": _settings("policy", Policy),
        "config": {a["id"]: _some_later("config", _config(a["config_schema"])) for a in catalogue["architectures"]},
    }


def _config(schema: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [_field(f"config.{field['name']}", field) for field in schema]


def _settings(group: str, model: type[Training] | type[Policy]) -> list[dict[str, Any]]:
    """The fields of the scenario's training or decoding settings, with the ranges of their own schema."""
    found = []
    for name, schema in model.model_json_schema()["properties"].items():
        title, why = TITLES[name]
        when = {"when": WHEN[name]} if name in WHEN else {}
        found.append(
            _field(f"{group}.{name}", {"title": title, "why": why, "default": schema["default"], **_kind(schema), **when})
        )
    return _some_later(group, found)


def _some_later(group: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Only the first are always shown, if the rest are two or more."""
    shown = ALWAYS[group]
    return [{**field, "more": i >= shown and len(found) > shown + 1} for i, field in enumerate(found)]


def _kind(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The type and the range of a setting: a few words, or a number (which may be left out)."""
    kinds = schema.get("anyOf", [schema])
    kind = next(s for s in kinds if s.get("type") != "null")
    if "enum" in kind:
        return {"type": "choice", "choices": kind["enum"]}
    low = kind.get("minimum", kind.get("exclusiveMinimum", -math.inf))
    more = {"above": "exclusiveMinimum" in kind, "optional": len(kinds) > 1}
    return {"type": kind["type"], "low": low, "high": kind.get("maximum", math.inf), **more}


def _field(path: str, field: Mapping[str, Any]) -> dict[str, Any]:
    """One field as the page needs it. as: "switch", "choice" (of words), or "number" (of a range, or of a few)."""
    found = {"path": path, "title": say(field["title"]), "why": say(field["why"]), "default": field["default"]}
    found |= {"when": field["when"]} if "when" in field else {}
    if field["type"] == "boolean":
        return {**found, "as": "switch"}
    if field["type"] == "choice" and isinstance(field["choices"][0], str):
        choices = [{"value": c, "label": say(CHOICE_TITLES.get(c, c))} for c in field["choices"]]
        return {**found, "as": "choice", "choices": choices}
    few = sorted(field.get("choices", ()))
    low, high = (few[0], few[-1]) if few else (field["low"], field["high"])
    name = path.split(".")[-1]
    return {
        **found,
        "as": "number",
        "low": None if math.isinf(low) else low,
        "high": None if math.isinf(high) else high,
        "whole": field["type"] == "integer" or (bool(few) and all(isinstance(v, int) for v in few)),
        "above": field.get("above", False),
        "optional": field.get("optional", False),
        "step": STEPS.get(name, _step(low, high) if field["type"] == "number" else 1),
        "logarithmic": name in LOGARITHMIC,
        "few": few or None,
    }


def _step(low: float, high: float) -> float:
    """A tenth of a range or less, as a power of ten."""
    return 10.0 ** math.floor(math.log10((high - low) / 10)) if math.isfinite(high - low) and high > low else 1.0


# --- the gallery -----------------------------------------------------------------------------------------------------------


def gallery(architectures: Sequence[Mapping[str, Any]], specs: Mapping[str, Spec], chosen: str) -> list[Component]:
    """The architectures by family and year, each with a small picture of who sees whom; a search where there are many."""
    families: dict[str, list[Mapping[str, Any]]] = {name: [] for name in FAMILIES}
    for a in sorted(architectures, key=lambda a: year(specs[a["id"]])):
        families.setdefault(a["family"], []).append(a)
    group = dmc.RadioGroup(
        id=ids.ARCHITECTURE,
        children=[_family(name, members, specs, chosen) for name, members in families.items() if members],
        **{"aria-label": say("Architecture")},
    )
    count = say("All {0}", len(architectures))
    whole = button(count, "architectures", name="link", title=say("All architectures, with their papers (A)"))
    search = html.Div(whole, id=ids.SEARCH, className="search", hidden=len(architectures) <= MANY)
    none = html.P(say("No architecture has these words."), className="note none-found", hidden=True)
    return [search, group, none]


def _family(name: str, members: Sequence[Mapping[str, Any]], specs: Mapping[str, Spec], chosen: str) -> Component:
    icons = html.Span([glyph(specs[m["id"]]) for m in members[:5]], className="gl", **{"aria-hidden": "true"})
    cards = [_card(m, specs[m["id"]]) for m in members]
    return html.Details([html.Summary([say(name), icons]), *cards], className="fam", open=any(m["id"] == chosen for m in members))


YEAR = re.compile(r"\b(19|20)\d\d\b")


def year(spec: Spec) -> str:
    """When its paper came out; of several, the first. Empty where none is named."""
    found = YEAR.search(spec.paper)
    return found[0] if found else ""


def _card(architecture: Mapping[str, Any], spec: Spec) -> Component:
    """`data-words`: what the search looks through; the choices of its settings too, so that "lstm" finds the cell."""
    name, sees, summary = say(architecture["name"]), reads(spec), say(spec.summary)
    words = html.Span([html.B(name), html.I(sees)])
    choices = [str(choice) for field in dataclasses.fields(spec.config) for choice in field.metadata.get("choices", ())]
    searched = " ".join([name, architecture["name"], spec.id, sees, say(spec.family), summary, spec.paper, *choices]).lower()
    card = dmc.RadioCard([glyph(spec), words], name=ids.ARCHITECTURE, value=architecture["id"], className="arch")
    shown = {"data-architecture": spec.id, "data-words": searched, "data-year": year(spec), "data-paper": spec.paper}
    return html.Div(card, className="card", title=summary, **shown)


OWN = {
    "causal": "its own past",
    "past": "earlier rows",
    "full": "every row",
    "prefix": "a prefix, then its past",
    "source_target": "its source, then its past",
    "sliding": "a window around it",
    "causal_sliding": "a window of its past",
    "block": "its own block",
    "causal_block": "its block's past",
}
# Beside a whole source, where the words must be few.
BESIDE = {"causal": "past + whole source", None: "state + whole source"}


def reads(spec: Spec) -> str:
    """What a row reads, in a few words, from the architecture's relations and their own masks."""
    decodes = any(r.query == "t" for r in spec.relations)
    own = next((r for r in spec.relations if r.query == r.key == ("t" if decodes else "s")), None)
    program = own.default.program if own else None
    if any(r.query == "t" and r.key == "s" for r in spec.relations):
        return say(BESIDE[program]) if program in BESIDE else say("{0} + whole source", say(OWN[str(program)]))
    if own and own.default.global_rows:
        return say("window + global rows")
    if own:
        return say(OWN[own.default.program])
    if any(r.query == "r" for r in spec.relations):
        return say("hops weigh every row")
    if spec.capabilities.has_source:
        return say("the source as one vector")
    return say(OWN["causal_sliding"]) if _windowed(spec) else say("its state alone")


def _windowed(spec: Spec) -> bool:
    """Whether a row is made of the newest rows by their place, and no state is carried."""
    return spec.family == "Convolution" or any(field.name == "window" for field in dataclasses.fields(spec.config))


def glyph(spec: Spec) -> Component:
    """An architecture's icon, as a mask over ink."""
    return html.Span(className="glyph", style={"maskImage": glyph_image(spec)})


def glyph_image(spec: Spec) -> str:
    """The icon as a CSS image, 80 x 80. It is the visibility: query rows downwards, key columns to the right, five of each.

    A PNG of 150 bytes: a browser needs a millisecond or two to set up each SVG, and the page shows a dozen."""
    side, gap = 16, 1
    lines = [[round(255 * level) * (gap <= x < side - gap) for level in row for x in range(side)] for row in _pattern(spec)]
    drawn = [bytes(line) if gap <= y < side - gap else bytes(len(line)) for line in lines for y in range(side)]
    return f'url("data:image/png;base64,{base64.b64encode(_png(drawn)).decode()}")'


def _png(lines: list[bytes]) -> bytes:
    """A black picture of these opacities, 0 to 255, line by line (PNG, colour type 4: grey with alpha)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    head = len(lines[0]).to_bytes(4) + len(lines).to_bytes(4) + bytes([8, 4, 0, 0, 0])
    pixels = b"".join(b"\0" + bytes(value for alpha in line for value in (0, alpha)) for line in lines)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b"")


def _small(seen: Visibility) -> Visibility:
    """A window that can be seen as one in five rows."""
    return replace(seen, parameter=min(seen.parameter, 1)) if seen.program == "sliding" else seen


def _pattern(spec: Spec) -> list[list[float]]:
    """How strongly each of 5 x 5 cells is drawn: source keys above, own keys below; a model without reads keeps a state."""
    cross = [r.default.dense(5, 5).tolist() for r in spec.relations if r.query == "t" and r.key == "s"]
    own = [r.default.dense(5, 5, border=3).tolist() for r in spec.relations if r.query == r.key == "t"]
    if not cross and not own:
        own = [_small(r.default).dense(5, 5).tolist() for r in spec.relations if r.query == r.key == "s"]
    if any(r.query == "r" for r in spec.relations):  # a few rows that weigh all of the source
        return [[0.9 if r % 2 == 0 else 0.1 for _ in range(5)] for r in range(5)]
    if not cross and not own and spec.capabilities.has_source:
        return [[1.0 if c == 2 else 0.1 for c in range(5)] for _ in range(5)]  # all that is known of the source is one vector
    if not cross and not own:
        return [[1.0 if c == r else 0.62 if c == r - 1 else 0.1 for c in range(5)] for r in range(5)]
    split = 2 if cross and own else 5 if cross else 0
    source = [[0.9 if seen else 0.1 for seen in row] for row in cross[0][:split]] if cross else []
    return source + [[(0.6 if cross else 0.9) if seen else 0.1 for seen in row] for row in (own[0][split:] if own else [])]


# --- the scenario picker ---------------------------------------------------------------------------------------------------


def presets(tasks: Sequence[Mapping[str, Any]], first: str) -> list[dict[str, Any]]:
    """The examples of all tasks, as groups of a Select; a value is "task/number". The page's own Controls
    show the note too. `first`: the task that the page begins with."""
    ordered = sorted(tasks, key=lambda task: task["id"] != first)
    return [{"group": say(task["name"]), "items": list(_examples(task))} for task in ordered]


def _examples(task: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    kind = say(task["name"]).partition(",")[0]
    for i, preset in enumerate(task["presets"]):
        name = say(preset["name"])
        yield {"value": f"{task['id']}/{i}", "label": say("{0}: {1}", kind, name), "name": name, "note": say(preset["note"])}
