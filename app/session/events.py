"""What the engine and the session say. A closed union: every `match` over it ends in `assert_never`, and a test walks it.

Events are plain values: JSON-able fields, and arrays as bytes. On the wire an event is one binary frame in the safetensors
layout whose `__metadata__` carries {"kind", "session", "epoch", "seq", "event"} (see docs/wire.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from app.session.shown import BeamView, Gold, Node, Piece, RequestView, StageTime, TrainView
from models import OwnerLetter, Phase
from models.parts.carrying import Carry


@dataclass(frozen=True)
class Problem:
    """One refusal: which field, what was given, what is allowed, and a sentence that says what to do."""

    field: str
    given: Any
    allowed: str
    message: str


class Refused(ValueError):
    """A person asked for something that is not allowed. Nothing changed."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("; ".join(p.message for p in problems))

    @classmethod
    def one(cls, field: str, given: Any, allowed: str, message: str) -> Refused:
        """A refusal with a single problem."""
        return cls(Problem(field, given, allowed, message))


@dataclass(frozen=True)
class TapInfo:
    """The contract of one tensor (inventory D2)."""

    path: str
    axes: tuple[str, ...]  # of a parameter by what its module is: out, in, entry, width
    shape: tuple[int, ...]  # of a parameter; an activation's shape follows from its axes and `Moved.sizes`
    dtype: str
    owner: str  # "source row", "target row", "target row x source row", "none (parameter)", ...
    type: str  # a SemanticType, or "parameter"
    lifetime: str  # "this call", "until the run is reset", "until the next update", ...
    editable: bool
    gradient: bool
    formula: int | None = None  # which of `Schema.formulas` says how it is computed
    reached: int = -1  # place in the order of the backward pass (a parameter: of the last tap before it is whole); -1: never


@dataclass(frozen=True)
class FormulaInfo:
    """How a tap is computed, as MathML with its alttext, and how its gradient is (or ""); what it is, in one plain phrase."""

    mathml: str
    gradient: str
    means: str


@dataclass(frozen=True)
class RelationInfo:
    """One kind of read, as the page needs it: who queries, who is read, how many layers and heads, its mask in each layer."""

    name: str
    title: str
    query: OwnerLetter
    key: OwnerLetter
    path: str  # with {layer}
    layers: int
    heads: int
    masks: tuple[
        dict[str, Any], ...
    ]  # per layer: a mask (program, parameter, cells, every, global_rows), and `own`: set for this layer alone
    default: dict[str, Any]


@dataclass(frozen=True)
class Opened:
    """A scenario was opened or changed, or somebody joined: all that is not a recorded value. gold: by request."""

    scenario: dict[str, Any]
    weights: dict[str, Any]  # as they were built: kind trained | random; source: provenance or seed (see Moved.updates)
    parameters: int
    relations: tuple[RelationInfo, ...]
    vocabulary: dict[str, Any]  # source: words or None, target: words, specials: of both by side
    device: str
    view: dict[str, Any]
    gold: tuple[Gold | None, ...] = ()
    left: int = 0  # runs that Undo leads back to, once no change of this one is left to take back
    task: dict[str, Any] = field(default_factory=dict)  # objective, phases, features or None, opening, rows (of further owners)
    again: int = 0  # changes of the model that were taken back, which Redo makes again


@dataclass(frozen=True)
class Schema:
    """The taps of the model that was built. Sent when it is, and to whoever joins.

    same: parameters that are one object (000 0x0A.2): a further name, and the name under which it stands among the taps.
    carries: states of which what is left of each row's write can be told (`models/parts/carrying.py`).
    """

    taps: tuple[TapInfo, ...]
    formulas: tuple[FormulaInfo, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    carries: tuple[Carry, ...] = ()


@dataclass(frozen=True)
class Moved:
    """The run stands at a moment: where, what is known, what was decided. `nodes` are new in the tree."""

    at: int
    phase: Phase
    step: int
    stage: str
    stages: tuple[StageTime, ...]
    ended: bool
    requests: tuple[RequestView, ...]
    train: TrainView | None
    kept: tuple[dict[str, Any], ...]  # path, axes, shape, bytes, grows, bytes_per_row
    sizes: dict[str, int]  # axis letter -> size in the newest call: the shape of every tap of it
    nodes: tuple[Node, ...]
    forward_ms: float
    updates: int  # made to the weights since they were built or loaded
    unreadable: str | None = None  # the first tensor that is not finite, where that leaves nothing to choose from
    beams: BeamView | None = None


@dataclass(frozen=True)
class History:
    """The whole tree (for a page that joins)."""

    nodes: tuple[Node, ...]
    at: int


@dataclass(frozen=True)
class Curve:
    """Scalars over the updates of this path: parallel lists, for the charts.

    `norm` of all gradients before clipping and `clipped` after it. `validation`: (update, mean loss over `held_out` examples that
    are in no batch), measured every `validated_every` updates. `written`: of the same examples, where masks let rows see their
    own labels, (update, mean loss as the model writes, row by row; share of tokens right so; that share with labels in sight).
    """

    updates: tuple[int, ...]
    loss: tuple[float, ...]
    norm: tuple[float, ...]
    validation: tuple[tuple[int, float], ...]
    whole: bool  # True: replace what you have; False: append
    clipped: tuple[float, ...] = ()
    validated_every: int = 0
    held_out: int = 0
    written: tuple[tuple[int, float, float, float], ...] = ()


@dataclass(frozen=True)
class Values:
    """Recorded values at a moment. keyframe: forget what you had for these selectors; else merge by `start`."""

    at: int
    keyframe: bool
    pieces: tuple[Piece, ...]
    fetched: bool = False
    mark: int = 0  # of the watch whose selectors the pieces count in


Status = Literal["pass", "fail", "pending", "does_not_apply"]


@dataclass(frozen=True)
class Check:
    """An invariant that this recording satisfies, or not, or that does not apply (`reason` says why)."""

    id: str
    claim: str
    status: Status
    measured: str
    provenance: Literal["measured", "exact", "formula"]
    reason: str = ""
    place: dict[str, Any] = field(default_factory=dict)  # where it fails: path, row, ...


@dataclass(frozen=True)
class Checked:
    """All checks of the recording at the moment `at`."""

    at: int
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Notice:
    """Something a person should know: an unknown word, a visible label, a text longer than any trained on, a divergence."""

    code: Literal[
        "unknown_words",
        "label_visible",
        "diverged",
        "ended",
        "recovered",
        "stopped",
        "changed_choice",
        "not_saved",
        "longer",
        "left_behind",
    ]
    message: str
    offer: dict[str, Any] | None = None  # a command that mends it


@dataclass(frozen=True)
class Analysis:
    """Progress (0..1) or the result of an analysis."""

    name: str
    progress: float
    result: dict[str, Any] | None
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Playing:
    """stop: the one of `Play.stops` that ended it, as plain data."""

    playing: bool
    unit: str
    rate: float
    stop: dict[str, Any] | None = None


@dataclass(frozen=True)
class Viewed:
    """The writer's view state, for readers and for a reload."""

    view: dict[str, Any]


@dataclass(frozen=True)
class Shared:
    """The run as a link (a fragment, "#s=..."; empty when it would be too long) and as a file's content."""

    link: str
    file: dict[str, Any]


@dataclass(frozen=True)
class Welcome:
    """The first thing a connection hears, and again when its role changes. `opened`: the session has a scenario."""

    role: Literal["writer", "reader"]
    opened: bool
    resumed: bool


@dataclass(frozen=True)
class Reply:
    """The one answer to one command."""

    to: int
    ok: bool
    errors: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Pong:
    """The answer to a `Ping` of the same `n`."""

    n: int


Event = (
    Opened
    | Schema
    | Moved
    | History
    | Curve
    | Values
    | Checked
    | Notice
    | Analysis
    | Playing
    | Viewed
    | Shared
    | Welcome
    | Reply
    | Pong
)
