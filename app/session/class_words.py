"""What is said in a class: a closed union of what teacher and students say, and texts that many people read.

A message arrives as JSON `{"kind": "vote", "option": 2}`. See docs/wire.md, "A class".
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from app.session.events import Problem, Refused
from app.session.problems import refused, shorten
from models import Phase

LONGEST_NAME = 24
_JOINERS = "\u200c\u200d"  # Persian and Indian words and many emoji are written with them
_BLANKS = dict.fromkeys(map(ord, "\u115f\u1160\u2800\u3164\uffa0"), " ")  # letters and signs that show nothing
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_MARKS = ("Mn", "Me", "Cf")  # what stands on another sign
_STACK = re.compile(
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4}"
)  # climbs over other lines


def tidied(text: str) -> str:
    """A text with single spaces and without any around it."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_BLANKS).split()).strip(_JOINERS)


def visible(text: str) -> int:
    """How many signs a person sees, about; -1 where there are some that reorder, hide or climb over other text."""
    kinds = [unicodedata.category(c) for c in text if c not in _JOINERS]
    if any(kind in _UNSEEN for kind in kinds) or _STACK.search(text):
        return -1
    return sum(kind not in _MARKS for kind in kinds)


def _readable(most: int, least: int = 1) -> AfterValidator:
    def read(text: str) -> str:
        found = tidied(text)
        if not least <= visible(found) <= most or len(found) > 3 * most:
            raise ValueError(f"{least} to {most} visible characters")
        return found

    return AfterValidator(read)


class _Words(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


_Key = Annotated[str, Field(max_length=64)]
_Code = Annotated[str, Field(max_length=32)]
_Label = Annotated[str, _readable(80, least=0)]
_Step = Annotated[int, Field(ge=0, le=10**9)]
_Index = Annotated[int, Field(ge=0, le=11)]


def _fact(value: Any) -> Any:
    if not (value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 200)):
        raise ValueError("a text of at most 200 characters, a number, true, false or null")
    return value


def _option(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


_About = dict[Annotated[str, Field(max_length=40)], Annotated[Any, AfterValidator(_fact)]]


class OpenClass(_Words):
    """A teacher opens a class on this run; with code and key it is the class that he had."""

    kind: Literal["open"] = "open"
    session: Annotated[str, Field(max_length=64)]
    code: _Code | None = None
    key: _Key | None = None


class JoinClass(_Words):
    """A student comes in; with the token that he was given he is the one that he was."""

    kind: Literal["join"] = "join"
    code: _Code
    name: Annotated[str, _readable(LONGEST_NAME)]
    token: _Key | None = None


class Where(_Words):
    """Where a run stands. own, edits: of a student who is on his own; a teacher has neither."""

    kind: Literal["where"] = "where"
    phase: Phase
    step: _Step
    label: _Label = ""
    own: bool = False
    edits: Annotated[int, Field(ge=0, le=10_000)] = 0


class Option(_Words):
    """One answer of a poll. key: the page's own name for it."""

    text: Annotated[str, _readable(60)]
    key: Annotated[str, Field(max_length=60)] | None = None


class Ask(_Words):
    """A new poll."""

    kind: Literal["poll"] = "poll"
    question: Annotated[str, _readable(200)]
    options: Annotated[tuple[Annotated[Option, BeforeValidator(_option)], ...], Field(min_length=2, max_length=12)]
    about: Annotated[_About, Field(max_length=16)] | None = None


class Answer(_Words):
    """Which option was right, as far as one was, and what was measured."""

    kind: Literal["answer"] = "answer"
    option: _Index | None
    measured: _Label = ""


class Show(_Words):
    """Counts and answer for everybody, or for the teacher alone again."""

    kind: Literal["show"] = "show"
    shown: bool


class Close(_Words):
    """No more votes."""

    kind: Literal["close"] = "close"


class Again(_Words):
    """The same question anew."""

    kind: Literal["again"] = "again"


class Clear(_Words):
    """No poll."""

    kind: Literal["clear"] = "clear"


class Call(_Words):
    """Everybody back to the teacher."""

    kind: Literal["call"] = "call"


class Remove(_Words):
    """This person is taken out; names of a class differ."""

    kind: Literal["remove"] = "remove"
    name: Annotated[str, Field(max_length=4 * LONGEST_NAME)]


class End(_Words):
    """The class is over."""

    kind: Literal["end"] = "end"


class Vote(_Words):
    kind: Literal["vote"] = "vote"
    option: _Index


class LeaveClass(_Words):
    """A student goes, and does not want to be waited for."""

    kind: Literal["leave"] = "leave"


class Sign(_Words):
    """A page asks whether the connection still carries."""

    kind: Literal["ping"] = "ping"
    n: Annotated[int, Field(ge=0, le=2**53 - 1)] = 0


First = OpenClass | JoinClass
OfTeacher = Where | Ask | Answer | Show | Close | Again | Clear | Call | Remove | End
OfStudent = Where | Vote | LeaveClass
Said = Annotated[First | OfTeacher | OfStudent | Sign, Field(discriminator="kind")]
_SAID: TypeAdapter[Said] = TypeAdapter(Said)


def read(data: Any) -> Said:
    """One message as its sender meant it. Raises `Refused`."""
    if not isinstance(data, dict):
        raise _no_message(data, "an object with a kind")
    try:
        return _SAID.validate_json(json.dumps(data))
    except ValidationError as error:
        if any(e["type"] == "json_invalid" for e in error.errors()):
            raise _no_message(data, "text of whole characters") from None
        raise Refused(*(_named(p, data.get("kind")) for p in refused(error).problems)) from None


def _no_message(data: Any, allowed: str) -> Refused:
    given = shorten(data)
    return Refused.one("message", given, allowed, f"message was given {given!r}; allowed: {allowed}")


def _named(problem: Problem, kind: Any) -> Problem:
    """Pydantic puts the kind into the field's name, and has none for the kind itself."""
    old = problem.field
    new = "kind" if old == "scenario" else old.removeprefix(f"{kind}.")
    return Problem(new, problem.given, problem.allowed, problem.message.replace(old, new, 1))
