"""Runs of the real engine as frames, for tests of the page's scripts: `python -m tests.assets.recorded.make` writes them again.

A file holds frames as a saved run does (docs/wire.md), compressed: a schema and what opening said, then after each command what
it said and a `reply`. Everything that reads are drawn from is in them: weights, lengths of value vectors, logits.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from app.server import wire
from app.session.commands import COMMANDS, Open, Selector
from app.session.engine import Engine
from app.session.events import Event, Refused, Reply
from app.session.scenario import defaults

HERE = Path(__file__).parent
SEEN = (
    Selector(path="*.weights", dtype="f32"),
    Selector(path="*.values", dtype="f32", reduce="norm"),
    Selector(path="*logits", dtype="f16"),
)
FEW = (Selector(path="*.layer1.self.weights", index={"h": 0}, dtype="u8"),)  # of a long run
SMALL = {"layers": 2, "heads": 2, "d_model": 16, "d_ff": 32}
STEP, STAGE = {"kind": "step"}, {"kind": "step", "unit": "stage"}
CATS = "the black cat sleeps . my small dog eats and the old bird sings . the white horse runs and the"
TWO = ({"target": ["the", "black", "cat"]}, {"target": ["the", "old", "dog", "sleeps", "and"]})
BOTH = ({"source": ["the", "black", "cat", "sleeps"]}, {"source": ["thank", "you"]})


def mask(relation: str, program: str, parameter: int = 0, cells: Sequence[tuple[int, int, bool]] = ()) -> dict[str, Any]:
    """One relation's mask in every layer."""
    chosen = [{"query": q, "key": k, "visible": v} for q, k, v in cells]
    return {"relation": relation, "layer": None, "program": program, "parameter": parameter, "cells": chosen}


def change(**fields: Any) -> dict[str, Any]:
    return {"kind": "change", "fields": fields}


RUNS: dict[str, tuple[str, dict[str, Any], list[dict[str, Any]]]] = {
    "translation": ("encoder_decoder", {}, [STAGE, STAGE, *[STEP] * 5]),
    "two": ("decoder_only", {"phase": "prefill", "requests": TWO}, [STEP, {"kind": "enter", "phase": "decode"}, STEP, STEP]),
    "both": ("encoder_decoder", {"phase": "prefill", "requests": BOTH}, [STAGE, STAGE]),
    "alone": ("decoder_only", {"masks": [mask("target_self", "causal_block", 1)], "requests": TWO[1:]}, [STEP]),
    "hidden": ("encoder_decoder", {"masks": [mask("cross", "full", 0, [(1, 2, False)])]}, [STEP]),
    "random": ("encoder_decoder", {"weights": "random", "config": SMALL}, [STEP]),
    "training": ("decoder_only", {"phase": "train", "weights": "random", "config": SMALL}, [STAGE] * 7),
    "diverged": (
        "decoder_only",
        {"phase": "train", "config": SMALL, "training": {"learning_rate": 1e7, "optimizer": "sgd", "clip_norm": None}},
        [STEP, STEP, STEP],
    ),
    "not_finite": (
        "encoder_decoder",
        {"edits": [{"path": "decoder.embedding.token", "index": [None, None, 0], "action": "set", "value": 3e38}]},
        [STEP],
    ),
    "refused": ("encoder_decoder", {}, [STEP, change(masks=[mask("cross", "full", 0, [(1, k, False) for k in range(4)])])]),
    "long": ("decoder_only", {"phase": "prefill", "requests": [{"target": (CATS.split() * 6)[:120]}]}, [STEP]),
}


def frames(name: str) -> Iterator[tuple[Event, bytes]]:
    """Every event of a run, and its frame."""
    torch.set_num_threads(1)
    architecture, fields, commands = RUNS[name]
    engine = Engine(torch.device("cpu"))
    scenario = defaults(architecture, **fields).model_dump(mode="json")
    opening = [COMMANDS.validate_python(c, strict=False) for c in commands]
    for to, command in enumerate([Open(scenario=scenario), *opening]):
        for event in (*_done(engine, command, FEW if name == "long" else SEEN, to),):
            yield event, wire.encode(event, "recorded", engine.epoch, to + 1)


def _done(engine: Engine, command: Any, seen: Sequence[Selector], to: int) -> Iterator[Event]:
    try:
        yield from engine.run(command, seen)
    except Refused as refusal:
        yield Reply(to, False, refusal.problems)
    else:
        yield Reply(to, True)


def write(name: str) -> int:
    whole = b"".join(struct.pack("<I", len(frame)) + frame for _, frame in frames(name))
    packed = gzip.compress(whole, mtime=0)
    (HERE / f"{name}.run.gz").write_bytes(packed)
    return len(packed)


if __name__ == "__main__":
    for run in RUNS:
        print(f"{run}: {write(run):,} bytes")
