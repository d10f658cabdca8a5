"""Bytes: an event as one binary frame (safetensors layout) and back; a browser's text as a message. Pure. See docs/wire.md."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, NoReturn, get_args

from pydantic import TypeAdapter, ValidationError

from app.server.strict import read_json
from app.session.commands import COMMANDS, Command
from app.session.events import Event, Problem, Refused
from app.session.problems import refused, shorten
from app.session.shown import Array, Candidate, Node, Origin, RequestView, Row, RowState, TrainView

LARGEST_MESSAGE = 64 * 1024
LARGEST_NUMBER = 2**53 - 1
ITEM_SIZES = {"F32": 4, "I32": 4, "F16": 2, "U8": 1, "BOOL": 1}
SCALE = (Array.low, Array.high)  # what is not said
CANDIDATE = tuple(f.name for f in fields(Candidate))
EVENTS: dict[str, type[Any]] = {c.__name__.lower(): c for c in get_args(Event)}
COMMAND_KINDS: tuple[str, ...] = tuple(c.model_fields["kind"].default for c in get_args(get_args(Command)[0]))


# --- events to bytes -------------------------------------------------------------------------------------------------------


def encode(event: Event, session: str, epoch: int, seq: int) -> bytes:
    """One frame. Numbers that JSON cannot say become the text "NaN", "Infinity" or "-Infinity"."""
    text, arrays = _event_text(event)
    metadata = {"kind": type(event).__name__.lower(), "session": session, "epoch": str(epoch), "seq": str(seq), "event": text}
    header: dict[str, Any] = {"__metadata__": metadata}
    data, end = [], 0
    for name, array in sorted(enumerate(arrays), key=lambda item: -ITEM_SIZES[item[1].dtype]):
        begin, end = end, end + len(array.data)
        header[str(name)] = {"dtype": array.dtype, "shape": array.shape, "data_offsets": (begin, end)}
        data.append(array.data)
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    head += b" " * (-len(head) % 8)
    return b"".join((struct.pack("<Q", len(head)), head, *data))


def _event_text(event: Event) -> tuple[str, list[Array]]:
    """The event as JSON text, and the arrays that it names by their place in the list."""
    arrays: list[Array] = []

    def plain(value: Any) -> dict[str, Any]:
        if not is_dataclass(value):
            raise TypeError(f"{type(value).__name__} is no plain value, it cannot be told")
        if isinstance(value, Node):
            return {name: inner for name, inner in vars(value).items() if inner is not None or name == "parent"}
        if isinstance(value, RequestView):  # its rows are most of a long run's text
            listed = {"candidates": _listed(value.candidates)}
            return {**vars(value), "source": _columns(value.source), "target": _columns(value.target), **listed}
        if isinstance(value, TrainView):
            return {**vars(value), "sources": value.sources and [_columns(rows) for rows in value.sources]}
        if not isinstance(value, Array):
            return vars(value)
        arrays.append(value)
        scale = {} if (value.low, value.high) == SCALE else {"low": value.low, "high": value.high}
        return {"tensor": str(len(arrays) - 1), **scale}

    encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False, allow_nan=False, default=plain)
    try:
        return encoder.encode(event), arrays
    except ValueError:  # a number that is not finite: rare, so that only such an event pays for the walk
        arrays.clear()
        return encoder.encode(_spell(event, plain)), arrays


def _listed(candidates: tuple[Candidate, ...]) -> dict[str, list[Any]]:
    """Candidates field by field."""
    return {name: [getattr(c, name) for c in candidates] for name in CANDIDATE}


def _columns(rows: tuple[Row, ...] | None) -> dict[str, Any] | None:
    """Rows of a strip, column by column: states and origins by their first letters, words of a person by their row's number."""
    if rows is None:
        return None
    named = {
        name: {i: said for i, row in enumerate(rows) if (said := getattr(row, name)) is not None} for name in ("text", "would")
    }
    letters = {name: "".join(getattr(row, name)[0] for row in rows) for name in ("state", "origin")}
    return {"token": [r.token for r in rows], "id": [r.id for r in rows], **letters, **{k: v for k, v in named.items() if v}}


def _rows(columns: dict[str, Any] | None) -> list[dict[str, Any]] | None:
    """The reverse of `_columns`."""
    if columns is None:
        return None
    whole = [[_LETTERS[name][letter] for letter in columns[name]] for name in ("state", "origin")]
    named = [[columns.get(name, {}).get(str(i)) for i in range(len(columns["id"]))] for name in ("text", "would")]
    names = ("token", "id", "state", "origin", "text", "would")
    each = zip(columns["token"], columns["id"], *whole, *named, strict=True)
    return [dict(zip(names, row, strict=True)) for row in each]


def _candidates(listed: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The reverse of `_listed`."""
    return [dict(zip(CANDIDATE, row, strict=True)) for row in zip(*(listed[name] for name in CANDIDATE), strict=True)]


# No two states begin with the same letter, and no two origins.
_LETTERS = {name: {w[0]: w for w in get_args(words)} for name, words in (("state", RowState), ("origin", Origin))}


def _spell(value: Any, plain: Any) -> Any:
    """The same value with numbers that are not finite as text."""
    match value:
        case float():
            return value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case dict():
            return {key: _spell(inner, plain) for key, inner in value.items()}
        case list() | tuple():
            return [_spell(inner, plain) for inner in value]
        case _:
            return _spell(plain(value), plain) if is_dataclass(value) else value


# --- bytes to events -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """One frame, read."""

    event: Event
    session: str
    epoch: int
    seq: int


def decode(frame: bytes) -> Frame:
    """The reverse of `encode`. Raises ValueError for anything that is not one whole frame."""
    try:
        (length,) = struct.unpack_from("<Q", frame)
        header = json.loads(frame[8 : 8 + length])
        metadata = header.pop("__metadata__")
        arrays = {name: _array(about, frame[8 + length :]) for name, about in header.items()}
        event = _with_arrays(json.loads(metadata["event"]), arrays)
        return Frame(
            _adapter(metadata["kind"]).validate_python(event), metadata["session"], int(metadata["epoch"]), int(metadata["seq"])
        )
    except (struct.error, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is not a frame: {error!r}") from None


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(EVENTS[kind])


def _array(about: dict[str, Any], body: bytes) -> dict[str, Any]:
    begin, end = about["data_offsets"]
    if math.prod(about["shape"]) * ITEM_SIZES[about["dtype"]] != end - begin or end > len(body):
        raise ValueError(f"a tensor of {about['dtype']} {about['shape']} does not fit bytes {begin} to {end} of {len(body)}")
    return {"dtype": about["dtype"], "shape": about["shape"], "data": body[begin:end]}


def _with_arrays(event: dict[str, Any], arrays: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Pieces and requests with their arrays in place of the names, and strips with their rows in place of columns."""
    for request in event.get("requests", ()):
        request.update(
            {side: _rows(request[side]) for side in ("source", "target")}, candidates=_candidates(request["candidates"])
        )
    if (event.get("train") or {}).get("sources"):
        event["train"]["sources"] = [_rows(columns) for columns in event["train"]["sources"]]
    train = event.get("train") or {}
    if train.get("features"):
        train["features"] = [arrays[f["tensor"]] for f in train["features"]]
    beside = [r["unedited"] for r in event.get("requests", ()) if r["unedited"]]
    for holder in (*event.get("pieces", ()), *event.get("requests", ()), *beside):
        for field, named in holder.items():
            if isinstance(named, dict) and "tensor" in named:
                scale = {name: named[name] for name in ("low", "high") if name in named}
                holder[field] = {**arrays[named["tensor"]], **scale}
    return event


# --- a browser's text ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ask:
    """A command, to be answered with `to` = seq."""

    seq: int
    command: Command


@dataclass(frozen=True)
class Ack:
    """Values frames up to this seq were drawn."""

    seq: int


@dataclass(frozen=True)
class Ping:
    """A page asks whether the connection still carries; `n` comes back in a `Pong`."""

    n: int


class Malformed(Refused):
    """A text that is no message. `to`: its seq, or -1 when that cannot be read."""

    def __init__(self, to: int, *problems: Problem) -> None:
        super().__init__(*problems)
        self.to = to


def parse_message(text: str) -> Ask | Ack | Ping:
    """One text of a browser. Raises `Malformed`."""
    match _json(text):
        case {"ack": int(seq), **rest} if not rest and _whole(seq):
            return Ack(seq)
        case {"ping": int(n), **rest} if not rest and _whole(n):
            return Ping(n)
        case {"seq": int(seq), **rest} if _whole(seq):
            return Ask(seq, _command(seq, dict(rest)))
        case {"seq": seq, **_rest}:
            _refuse(-1, "seq", seq, f"a whole number from 0 to {LARGEST_NUMBER}")
        case _:
            _refuse(-1, "message", text, 'an object like {"seq": 1, "command": {"kind": "step"}}, {"ack": 1} or {"ping": 1}')


def _whole(number: int) -> bool:
    return not isinstance(number, bool) and 0 <= number <= LARGEST_NUMBER


def _refuse(to: int, field: str, given: Any, allowed: str) -> NoReturn:
    given = shorten(given)
    raise Malformed(to, Problem(field, given, allowed, f"{field} was given {given!r}; allowed: {allowed}"))


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except Refused as refusal:
        raise Malformed(-1, *refusal.problems) from None
    except (ValueError, RecursionError) as error:
        given = shorten(text)
        raise Malformed(-1, Problem("message", given, "JSON text", f"the message is not JSON ({error}): {given!r}")) from None


def _command(seq: int, rest: dict[Any, Any]) -> Command:
    command = rest.pop("command", None)
    if rest:
        _refuse(seq, next(iter(rest)), next(iter(rest.values())), "no such field beside seq and command")
    if not isinstance(command, dict):
        _refuse(seq, "command", command, 'an object like {"kind": "step"}')
    if command.get("kind") not in COMMAND_KINDS:
        _refuse(seq, "command.kind", command.get("kind"), f"one of {', '.join(COMMAND_KINDS)}")
    try:
        return COMMANDS.validate_json(json.dumps(command))
    except ValidationError as error:
        problems = refused(error, "command").problems
        raise Malformed(seq, *(_without_kind(p, command["kind"]) for p in problems)) from None


def _without_kind(problem: Problem, kind: str) -> Problem:
    """Pydantic puts the kind into the field's name: command.step.unit means command.unit."""
    wrong, right = f"command.{kind}", "command"
    return Problem(
        problem.field.replace(wrong, right, 1), problem.given, problem.allowed, problem.message.replace(wrong, right, 1)
    )
