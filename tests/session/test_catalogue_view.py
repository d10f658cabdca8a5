"""The catalogue as plain data."""

from __future__ import annotations

import json

from app.session.catalogue_view import catalogue
from models.catalogue import architectures, config_schema, tasks

FIELDS = {"id", "name", "family", "inventory", "config_schema", "capabilities", "phases", "taps", "checkpoints", "paper"}


def test_it_is_json_and_lists_everything() -> None:
    found = json.loads(json.dumps(catalogue(), allow_nan=False))
    assert found.keys() == {"architectures", "tasks"}
    assert [a["id"] for a in found["architectures"]] == list(architectures())
    assert [t["id"] for t in found["tasks"]] == list(tasks())


def test_an_architecture_says_what_can_be_set_and_seen() -> None:
    for one in catalogue()["architectures"]:
        assert one.keys() >= FIELDS
        assert one["inventory"] and one["phases"] and one["paper"]
        assert one["config_schema"] and all(f["title"] and f["why"] for f in one["config_schema"])
        assert set(one["tasks"]) <= tasks().keys()
        assert {c["task"] for c in one["checkpoints"]} <= set(one["tasks"])


def test_taps_are_those_of_the_model() -> None:
    (found,) = (a for a in catalogue()["architectures"] if a["id"] == "encoder_decoder")
    taps = {tap["path"]: tap for tap in found["taps"]}
    path = "decoder.layer1.cross.weights"
    assert taps[path] == {"path": path, "axes": ["b", "h", "t", "s"], "type": "weights", "editable": True}
    assert not taps["encoder.embedding.ids"]["editable"]
    assert not any(tap["type"] == "parameter" for tap in taps.values())


def test_a_task_brings_its_words_and_presets() -> None:
    (translation,) = (t for t in catalogue()["tasks"] if t["id"] == "translation")
    assert "cat" in translation["vocabulary"]["source"] and "chat" in translation["vocabulary"]["target"]
    assert translation["presets"][0]["source"] == ["the", "black", "cat", "sleeps"]


def test_a_field_says_beside_which_values_it_means_something() -> None:
    fields = {f["name"]: f for f in config_schema(architectures()["cho_2014"].config)}
    assert fields["reset"]["when"] == {"cell": "gru"} and "when" not in fields["width"]
    for spec in architectures().values():
        schema = {f["name"]: f for f in config_schema(spec.config)}
        for needed in (f.get("when", {}) for f in schema.values()):
            several = {name: value if isinstance(value, tuple) else (value,) for name, value in needed.items()}
            assert all(set(values) <= set(schema[name]["choices"]) for name, values in several.items())
