"""What a person can ask. A closed union: every `match` over it ends in `assert_never`, and a test walks it.

A command arrives as JSON `{"seq": 12, "command": {"kind": "step", ...}}` and is answered exactly once by a `Reply`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from models import Phase

Unit = Literal["step", "stage"]
MAX_LOG = 2000  # entries of a shared log
MAX_REPLAY = 20_000  # commands that they may stand for
LARGEST_OPEN = 60_000  # characters of JSON: an Open must fit into one message


class _Command(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


# by request; null: the policy decides
Taken = Annotated[tuple[Annotated[int, Field(ge=0)] | None, ...], Field(max_length=26, fail_fast=True)]


class Open(_Command):
    """Begin anew with this scenario: builds the model, starts a new history, then does what the log says (a shared link)."""

    kind: Literal["open"] = "open"
    scenario: dict[str, Any]
    log: Annotated[tuple[dict[str, Any], ...], Field(max_length=MAX_LOG, fail_fast=True)] = ()


class Step(_Command):
    """One step forward (a training update, the prefill, one decode iteration), or one stage inside it.

    written: in decode, what was written there before a part of the model was exchanged; it is read in place of a decision.
    """

    kind: Literal["step"] = "step"
    unit: Unit = "step"
    written: Taken = Field(default=(), exclude_if=lambda w: not w)


class Back(_Command):
    """One moment back; what was forward stays reachable as a branch."""

    kind: Literal["back"] = "back"


class Go(_Command):
    """To any moment of the history."""

    kind: Literal["go"] = "go"
    moment: Annotated[int, Field(ge=0)]


class Choose(_Command):
    """In decode: this request takes this token instead of the policy's choice. One decode step; a branch if there was one.

    written: as in `Step`, for the other requests.
    """

    kind: Literal["choose"] = "choose"
    request: Annotated[int, Field(ge=0)]
    token: Annotated[int, Field(ge=0)]
    written: Taken = Field(default=(), exclude_if=lambda w: not w)


class Join(_Command):
    """In decode, between two steps: a further request (as in `Scenario.requests`) comes. It is read on its own at once, and its
    rows of the state are put beside the others'."""

    kind: Literal["join"] = "join"
    request: dict[str, Any]


class Leave(_Command):
    """In decode, between two steps: this request's rows of the state are freed, and the others go on without it."""

    kind: Literal["leave"] = "leave"
    request: Annotated[int, Field(ge=0)]


class Enter(_Command):
    """Go to the start of a phase, with the weights as they are now."""

    kind: Literal["enter"] = "enter"
    phase: Phase


class Change(_Command):
    """Replace these fields of the scenario (whole values) and run the current step again at once.

    Changing architecture, config, task, weights or seed builds the model anew, as `Open` does. Where it reads the same, the run
    then stands where it stood (`app/session/exchanging.py`).
    """

    kind: Literal["change"] = "change"
    fields: Annotated[dict[str, Any], Field(min_length=1)]


class Undo(_Command):
    """Take back the last change of the scenario (Back moves time; this does not)."""

    kind: Literal["undo"] = "undo"


class Redo(_Command):
    """Make the change again that `Undo` took back last."""

    kind: Literal["redo"] = "redo"


class Reset(_Command):
    """The same scenario from its start: a new history."""

    kind: Literal["reset"] = "reset"


class StopAtStep(_Command):
    """Where this step (in training: this update) has ended."""

    kind: Literal["step"] = "step"
    phase: Phase
    step: Annotated[int, Field(ge=1, le=1_000_000)]


class StopAtStage(_Command):
    """Where this stage of a step has ended, also inside a step."""

    kind: Literal["stage"] = "stage"
    phase: Phase
    stage: Annotated[str, Field(min_length=1, max_length=32)]


class StopAtOp(_Command):
    """Where the stage has ended that ran the operations of this tap scope ("decoder.layer1.cross")."""

    kind: Literal["op"] = "op"
    phase: Phase
    scope: Annotated[str, Field(min_length=1, max_length=200)]


class StopAtToken(_Command):
    """Where a request was just given this token, an id of the target vocabulary."""

    kind: Literal["token"] = "token"
    token: Annotated[int, Field(ge=0)]


class StopAtLoss(_Command):
    """Where an update's loss passes this value (nats): the loss of the update before was not on that side of it."""

    kind: Literal["loss"] = "loss"
    side: Literal["below", "above"]
    value: float


Stop = Annotated[StopAtStep | StopAtStage | StopAtOp | StopAtToken | StopAtLoss, Field(discriminator="kind")]
MAX_STOPS = 32


class Play(_Command):
    """Step again and again, at most `rate` times a second, until the end, one of `stops`, a check that begins to fail (so a value
    that is not finite), `Pause`, or a command that moves the run."""

    kind: Literal["play"] = "play"
    unit: Unit = "step"
    rate: Annotated[float, Field(ge=0.1, le=60)] = 2.0
    stops: Annotated[tuple[Stop, ...], Field(max_length=MAX_STOPS, fail_fast=True)] = ()


class Pause(_Command):
    """End playing after the step that is under way. Acts at once."""

    kind: Literal["pause"] = "pause"


class Selector(_Command):
    """Which recorded values a connection wants: paths by glob, one owner letter or index fixed, how to encode.

    path: glob over dotted tap paths ("*.weights"). side: the value, the value before an edit, or its gradient.
    index: {axis letter: number} picks one, rows counted from the first known; the axis stays with size 1. What is not there is
    left out. span: {axis letter: (first, end)} picks those in between, as far as they are there. reduce: "norm" takes the L2 norm
    over axes that are not row owners (b s t h), so a map of rows remains. bin: of each square of so many rows (and keys) only the
    largest value; a piece's `start` then counts squares.
    """

    path: Annotated[str, Field(min_length=1, max_length=200)]
    side: Literal["value", "unedited", "gradient"] = "value"
    index: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    span: dict[str, tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]] = Field(default_factory=dict)
    dtype: Literal["u8", "f16", "f32"] = "f16"
    reduce: Literal["none", "norm"] = "none"
    bin: Annotated[int, Field(ge=1, le=256)] = 1


class Watch(_Command):
    """Replace what this connection watches. Anyone may; it changes nobody else's. The answer brings a keyframe.

    mark: any number; it comes back in every values frame whose pieces count in these selectors.
    """

    kind: Literal["watch"] = "watch"
    selectors: Annotated[tuple[Selector, ...], Field(max_length=64, fail_fast=True)]
    mark: Annotated[int, Field(ge=0, lt=2**53)] = 0


class Fetch(_Command):
    """Once: values of the current moment that are not watched, from the kept recording. Anyone may."""

    kind: Literal["fetch"] = "fetch"
    selector: Selector


class Analyse(_Command):
    """Run one analysis of the current moment (see `app/session/analyses`), with progress; `Cancel` ends it."""

    kind: Literal["analyse"] = "analyse"
    name: Annotated[str, Field(min_length=1, max_length=64)]
    arguments: dict[str, Any] = Field(default_factory=dict)


class Cancel(_Command):
    """End the analysis or the long replay that runs now."""

    kind: Literal["cancel"] = "cancel"


class Look(_Command):
    """What the writer's page looks at (selected layer, head, lock, ...): mirrored to readers, restored on reload."""

    kind: Literal["look"] = "look"
    view: dict[str, Any]


class Share(_Command):
    """Ask for the link of the run as it stands: scenario, commands up to here, and this view. Anyone may; brings `Shared`."""

    kind: Literal["share"] = "share"
    view: dict[str, Any] = Field(default_factory=dict)


Command = Annotated[
    Open
    | Step
    | Back
    | Go
    | Choose
    | Join
    | Leave
    | Enter
    | Change
    | Undo
    | Redo
    | Reset
    | Play
    | Pause
    | Watch
    | Fetch
    | Analyse
    | Cancel
    | Look
    | Share,
    Field(discriminator="kind"),
]
COMMANDS: TypeAdapter[Command] = TypeAdapter(Command)
ANYONE: tuple[type[_Command], ...] = (Watch, Fetch, Share)
DURABLE: tuple[type[_Command], ...] = (Open, Step, Back, Go, Choose, Join, Leave, Enter, Change, Undo, Redo, Reset, Look)
