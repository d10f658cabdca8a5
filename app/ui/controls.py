"""Controls: what each field of the set-up is called, may hold and looks like, and the examples of the picker.

The fields themselves are built by the page (assets/lib/setup/fields.mjs) from what is described here, for the architecture
that is shown: all fields of all architectures at once would be hundreds of controls, most of them hidden.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.session.methods import Policy, Training
from app.ui.language import say

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
