"""Bytes: every event goes out and comes back, and any safetensors reader opens a frame."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load

from app.server.wire import EVENTS, decode, encode
from app.session.commands import Selector, Step
from app.session.events import (
    Analysis,
    Check,
    Checked,
    Curve,
    Event,
    History,
    Moved,
    Notice,
    Opened,
    Playing,
    Pong,
    Problem,
    Reply,
    Schema,
    Shared,
    TapInfo,
    Values,
    Viewed,
    Welcome,
)
from app.session.shown import Array, Node, Piece, RequestView, Row
from models.parts.carrying import Carry, Factor
from tests.session.driving import do, opened

WORDS = 'le chat "noir" \\ <b>&amp;</b>\n\u0007 ‮עברית 🐈 黒猫 \u2028 NaN'
AXES = ("b", "h", "t", "t'")


def piece(number: int, dtype: Any, shape: tuple[int, ...] = (1, 2, 1, 3)) -> Piece:
    data = np.arange(math.prod(shape)).reshape(shape)
    numpy = {"U8": "u1", "F16": "<f2", "F32": "<f4", "I32": "<i4", "BOOL": "?"}[dtype]
    return Piece(
        number,
        f"decoder.layer{number}.self.weights",
        "value",
        AXES,
        {"t": 5},
        Array(dtype, shape, data.astype(numpy).tobytes(), -0.5, 2.5),
    )


CARRY = Carry("layer*", "cell", Factor("forget"), (Factor("input"),), pairs=True, shown=("hidden", "output"))
PIECES = tuple(piece(i, dtype) for i, dtype in enumerate(("U8", "F32", "BOOL", "F16", "I32")))
SAID: tuple[Event, ...] = (
    Opened({"seed": 7}, {"kind": "random"}, 12, (), {"target": [WORDS]}, "cpu", {"layer": 1}),
    Schema((TapInfo("a.b", ("b", "t"), (), "float32", "target row", "hidden", "this call", True, True),), carries=(CARRY,)),
    Moved(3, "decode", 2, "choose", (), False, (), None, ({"path": "k", "bytes": 4},), {"t": 5}, (), 0.5, 2),
    History((Node(0, None, "decode", 0, "", WORDS, "open"), Node(1, 0, "train", 1, "loss", "", "step")), 1),
    Curve((1, 2), (0.5, math.inf), (1.5, -math.inf), ((1, 0.25),), True),
    Values(3, False, PIECES, mark=4),
    Checked(3, (Check("sum", "rows sum to 1", "fail", "0.9", "measured", WORDS, {"row": 3}),)),
    Notice("diverged", WORDS, {"kind": "go", "moment": 2}),
    Analysis("reach", 1.0, {"worst": 1.25}, PIECES),
    Playing(True, "step", 2.5),
    Viewed({"note": WORDS}),
    Shared("#s=abc", {"v": 1}),
    Welcome("reader", True, False),
    Reply(12, False, (Problem("field", WORDS, "allowed", "message"), Problem("b", None, "", ""))),
    Pong(99),
)


def test_every_kind_of_event_is_here() -> None:
    assert {type(e) for e in SAID} == set(get_args(Event))
    assert set(EVENTS.values()) == set(get_args(Event))


@pytest.mark.parametrize("event", SAID, ids=lambda e: type(e).__name__)
def test_an_event_goes_out_and_comes_back_the_same(event: Event) -> None:
    frame = decode(encode(event, "session", 5, 2**40))
    assert (frame.event, frame.session, frame.epoch, frame.seq) == (event, "session", 5, 2**40)


@pytest.mark.parametrize("event", SAID, ids=lambda e: type(e).__name__)
def test_any_safetensors_reader_opens_a_frame(event: Event, tmp_path: Path) -> None:
    data = encode(event, "session", 5, 17)
    path = tmp_path / "frame.safetensors"
    path.write_bytes(data)
    with safe_open(path, "pt") as opened_frame:
        metadata, names = opened_frame.metadata(), list(opened_frame.keys())
        tensors = {name: opened_frame.get_tensor(name) for name in names}
    assert {k: metadata[k] for k in ("kind", "session", "epoch", "seq")} == {
        "kind": type(event).__name__.lower(),
        "session": "session",
        "epoch": "5",
        "seq": "17",
    }
    for said, sent in zip(json.loads(metadata["event"]).get("pieces", ()), getattr(event, "pieces", ()), strict=True):
        tensor = tensors[said["array"]["tensor"]]
        assert tuple(tensor.shape) == sent.array.shape
        assert tensor.numpy().tobytes() == sent.array.data
        assert (said["array"]["low"], said["array"]["high"], said["start"]) == (-0.5, 2.5, {"t": 5})
    assert len(tensors) == len(getattr(event, "pieces", ()))


def test_the_header_is_a_multiple_of_eight_and_every_tensor_is_aligned_without_gaps() -> None:
    for length in range(20):
        data = encode(replace(SAID[5], at=10**length), "s", 0, 0)
        (size,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + size])
        assert size % 8 == 0
        offsets = [(v["data_offsets"], v["dtype"]) for k, v in header.items() if k != "__metadata__"]
        assert [begin % {"F32": 4, "I32": 4, "F16": 2, "U8": 1, "BOOL": 1}[dtype] for (begin, _), dtype in offsets] == [0] * 5
        assert [o[0][0] for o in offsets[1:]] == [o[0][1] for o in offsets[:-1]]
        assert load(data).keys() == {"0", "1", "2", "3", "4"}


def test_scalars_and_empty_arrays_travel() -> None:
    event = Values(0, True, (piece(0, "F32", ()), piece(1, "U8", (1, 0, 2, 2))))
    assert decode(encode(event, "s", 0, 0)).event == event
    assert {k: v.shape for k, v in load(encode(event, "s", 0, 0)).items()} == {"0": (), "1": (1, 0, 2, 2)}


def test_numbers_that_json_cannot_say_travel_as_text_and_in_tensors_as_they_are() -> None:
    curve = Curve((1, 2, 3), (math.nan, math.inf, -math.inf), (1.0, 2.0, 3.0), ((1, math.nan),), False)
    data = encode(curve, "s", 0, 0)
    event = json.loads(load_metadata(data)["event"])
    assert (event["loss"], event["validation"]) == (["NaN", "Infinity", "-Infinity"], [[1, "NaN"]])
    back = decode(data).event
    assert isinstance(back, Curve) and repr(back) == repr(curve)
    odd = np.array([math.nan, math.inf, -math.inf, 1], "<f2")
    values = Values(0, True, (Piece(0, "p", "value", ("t",), {}, Array("F16", (4,), odd.tobytes(), math.nan, math.inf)),))
    data = encode(values, "s", 0, 0)
    np.testing.assert_array_equal(load(data)["0"], odd)
    assert json.loads(load_metadata(data)["event"])["pieces"][0]["array"] == {"tensor": "0", "low": "NaN", "high": "Infinity"}


def load_metadata(data: bytes) -> dict[str, str]:
    (size,) = struct.unpack_from("<Q", data)
    found: dict[str, str] = json.loads(data[8 : 8 + size])["__metadata__"]
    return found


def test_what_the_real_engine_says_goes_out_and_comes_back() -> None:
    engine = opened(training={"batch_size": 2})
    watch = (Selector(path="*", dtype="u8"), Selector(path="*.self.weights", dtype="f32", side="gradient"))
    said = [*do(engine, Step(), watch), *engine.describe(), engine.keyframe(watch)]
    for event in said:
        frame = encode(event, "s", engine.epoch, 1)
        assert repr(decode(frame).event) == repr(event)
        load(frame)


def test_an_event_with_something_that_is_no_plain_value_is_an_error_and_not_half_a_frame() -> None:
    with pytest.raises(TypeError):
        encode(Viewed({"layer": torch.zeros(1)}), "s", 0, 0)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: b"",
        lambda d: d[:7],
        lambda d: d[:40],
        lambda d: d[:-1],
        lambda d: struct.pack("<Q", 2**60) + d[8:],
        lambda d: struct.pack("<Q", 2) + b"{}",
        lambda d: d.replace(b'"kind":"values"', b'"kind":"valuez"'),
        lambda d: d.replace(b'"dtype":"F32"', b'"dtype":"F64"'),
        lambda d: d.replace(b'\\"at\\":3', b'\\"at\\":[]'),
    ],
)
def test_what_is_no_whole_frame_is_refused(spoil: Any) -> None:
    with pytest.raises(ValueError):
        decode(spoil(encode(SAID[5], "s", 0, 0)))


def test_rows_of_a_strip_travel_as_columns_and_come_back() -> None:
    rows = (
        Row("<bos>", 1, "known", "special"),
        Row("<unk>", 3, "new", "person", text="zebra"),
        Row("chat", 65, "padded", "model", would="chien"),
        Row("", 0, "unknown", "chosen"),
        Row("le", 11, "known", "task"),
    )
    view = RequestView(rows[:2], rows, "", 1, None, (), 0.0, 0.0, ())
    moved = Moved(0, "decode", 0, "", (), False, (view,), None, (), {}, (), 0.0, 0)
    frame = encode(moved, "s", 0, 1)
    assert decode(frame).event == moved
    assert b'"state\\":\\"knpuk\\"' in frame and b'"origin\\":\\"spmct\\"' in frame
