"""A run that is taken away holds what the engine says, moment by moment."""

from __future__ import annotations

import gzip
import io
import json
import struct
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load

from app.server.wire import decode, encode
from app.session import exporting
from app.session.commands import Back, Change, Choose, Command, Enter, Go, Open, Selector, Step, Undo
from app.session.engine import Engine
from app.session.events import Checked, Curve, Event, History, Moved, Notice, Opened, Refused, Schema, Shared, Values
from app.session.headless import EVERYTHING
from tests.session.driving import Reader, do, numbers, of, opened

CPU = torch.device("cpu")


def recording(engine: Engine, whole: bool) -> tuple[dict[str, torch.Tensor], dict[str, dict[str, Any]]]:
    out = io.BytesIO()
    steps = list(exporting.recording(engine.save(), CPU, whole, out))
    assert steps[-1][0] == steps[-1][1]
    content = out.getvalue()
    text = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    assert json.loads(text["scenario"]) == engine.scenario.model_dump(mode="json")
    return load(content), json.loads(text["tensors"])


def replay(engine: Engine, charts: list[bool] | None = None) -> list[Event]:
    """The events of a replay, its packing checked on the way."""
    out = io.BytesIO()

    def pages(with_charts: bool) -> tuple[bytes, bytes]:
        if charts is not None:
            charts.append(with_charts)
        return b"<<", b">>"

    list(exporting.replay(engine.save(), CPU, encode, pages, {"layer": 1}, out))
    content = out.getvalue()
    assert content.startswith(b"<<") and content.endswith(b">>")
    raw, events = gzip.decompress(b64decode(content[2:-2], validate=True)), []
    while raw:
        (length,) = struct.unpack_from("<I", raw)
        frame = decode(raw[4 : 4 + length])
        assert frame.session == exporting.NAME
        events.append(frame.event)
        raw = raw[4 + length :]
    return events


def walked(*commands: Command, **fields: Any) -> Engine:
    engine = opened(**fields)
    for command in commands:
        do(engine, command)
    return engine


def test_a_recording_of_the_moment_holds_all_that_is_known_there() -> None:
    engine = walked(Step(), Step())
    tensors, said = recording(engine, whole=False)
    assert {d["step"] for d in said.values()} == {2}
    for piece in engine.keyframe(EVERYTHING).pieces:
        name = next(n for n, d in said.items() if (d["path"], d["side"]) == (piece.path, piece.side))
        np.testing.assert_array_equal(tensors[name].numpy(), numbers(piece.array))
        assert said[name]["axes"] == list(piece.axes)


def test_a_recording_of_the_path_holds_every_step_of_it_and_no_other_branch() -> None:
    engine = walked(Step(), Step(), Back(), Choose(request=0, token=5))
    tensors, said = recording(engine, whole=True)
    expected = opened()
    for command in (Step(), Choose(request=0, token=5)):
        events = do(expected, command, EVERYTHING)
        at = of(events, Moved)[-1]
        for piece in of(events, Values)[-1].pieces:
            name = next(n for n, d in said.items() if (d["path"], d["step"], d["side"]) == (piece.path, at.step, piece.side))
            np.testing.assert_array_equal(tensors[name].numpy(), numbers(piece.array))
    assert {d["step"] for d in said.values()} == {0, 1, 2}


def test_a_replay_says_what_the_engine_said_at_every_moment_of_the_path() -> None:
    commands = (Step(), Step(unit="stage"), Step(unit="stage"), Enter(phase="prefill"), Step(), Step(), Back())
    engine = walked(*commands)
    events = replay(engine)
    assert [type(e) for e in events[:5]] == [Shared, Opened, Schema, History, Curve]
    tree = of(events, History)[0]
    assert [n.id for n in tree.nodes] == list(range(7)) and tree.at == engine.timeline.at == 5
    moved = of(events, Moved)
    assert [m.at for m in moved] == [n.id for n in tree.nodes]
    assert all(o.view == {"layer": 1} for o in of(events, Opened))
    for at, told in zip(moved, _known(events), strict=True):
        do(engine, Go(moment=at.at))
        fresh = Reader()
        fresh.take([engine.keyframe((Selector(path="*"),))])
        ours = {path: value for (_, path), value in told.items() if not path.startswith("parameter.")}
        assert ours.keys() == {path for _, path in fresh.known}
        for (_, path), value in fresh.known.items():
            mine = np.where(np.isnan(ours[path]), 0.0, ours[path])  # a key that a row could not know: a keyframe says 0
            np.testing.assert_allclose(mine, value, atol=2e-3, rtol=2e-3, err_msg=f"{path} at {at.at}")
        assert "pending" not in [c.status for c in [c for c in of(events, Checked) if c.at == at.at][-1].checks]
        assert [c.status for c in engine.checked().checks] == [c.status for c in _checked(events, at.at).checks]


def _checked(events: list[Event], at: int) -> Checked:
    return next(c for c in of(events, Checked) if c.at == at)


def _known(events: list[Event]) -> list[dict[tuple[int, str], np.ndarray]]:
    """What a page knows at each moment."""
    reader, found = Reader(), []
    ends = [i for i, e in enumerate(events) if isinstance(e, Moved)]
    for begin, end in zip(ends, [*ends[1:], len(events)], strict=True):
        reader.take(events[begin:end])
        found.append(dict(reader.known))
    return found


def test_a_replay_goes_over_changes_and_warnings() -> None:
    engine = walked(Step(), requests=[{"source": ["the", "blorp"]}])
    policy = {**engine.scenario.policy.model_dump(), "temperature": 2.0}
    for command in (Change(fields={"policy": policy}), Step(), Undo()):
        do(engine, command)
    events = replay(engine)
    assert [o.scenario["policy"]["temperature"] for o in of(events, Opened)] == [1.0, 2.0, 1.0]
    assert of(events, Notice)[0].code == "unknown_words"


def test_a_replay_of_training_has_gradients_as_norms_and_brings_the_charts() -> None:
    charts: list[bool] = []
    engine = walked(Step(), Step(), phase="train")
    events = replay(engine, charts)
    assert charts == [True]
    pieces = [p for v in of(events, Values) for p in v.pieces]
    assert not any(p.path.startswith("parameter.") for p in pieces)
    whole = {p.path for p in pieces if p.side == "gradient" and p.selector == 3}
    assert whole and all(path.endswith(".scores") for path in whole)
    assert [m.updates for m in of(events, Moved)] == [0, 1, 2]
    replay(walked(Step()), charts)
    assert charts == [True, False]


def test_a_run_that_is_too_long_keeps_the_values_of_its_newest_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, out = walked(*[Step()] * 8, phase="train"), io.BytesIO()
    list(exporting.replay(engine.save(), CPU, encode, lambda charts: (b"", b""), {}, out))
    monkeypatch.setattr(exporting, "LARGEST_REPLAY", int(0.7 * 0.75 * len(out.getvalue())) + (64 << 10))
    events = replay(engine)
    moved = of(events, Moved)
    assert len(moved) == 9
    holes = sorted({v.at for v in of(events, Values) if v.keyframe and not v.pieces and v.at > 0})
    assert holes and 8 not in holes and holes == list(range(holes[0], holes[-1] + 1))


def test_a_run_that_fits_no_file_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "LARGEST_REPLAY", 1000)
    with pytest.raises(Refused, match="too large for one file: 1 of 2 moments"):
        replay(walked(Step()))
    monkeypatch.setattr(exporting, "LARGEST_RECORDING", 1000)
    with pytest.raises(Refused, match="Save this moment alone instead"):
        recording(walked(Step()), whole=True)


def test_undo_after_opening_another_run_brings_the_first_one_back() -> None:
    before, after = walked(Step(), Step()), opened("decoder_only")
    after.follow(before)
    do(after, Undo())
    assert after.digest() == before.digest() and after.scenario == before.scenario
    assert after.timeline is before.timeline


def test_an_open_command_leaves_nothing_of_what_it_replaces_behind() -> None:
    engine = opened()
    do(engine, Open(scenario=engine.scenario.model_dump(mode="json")))
    with pytest.raises(Refused, match="no change to take back"):
        do(engine, Undo())
