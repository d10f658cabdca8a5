"""What a person is shown of a moment: rows, requests and what they decide, the update in progress, beams, recorded values.

Plain values, as events are: JSON-able fields, and arrays as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from models import Phase

DType = Literal["U8", "F16", "F32", "I32", "BOOL"]


@dataclass(frozen=True)
class Array:
    """One array on its way out: little-endian bytes. For U8, value = low + (high - low) * byte / 255, and 0 stays exactly 0."""

    dtype: DType
    shape: tuple[int, ...]
    data: bytes
    low: float = 0.0
    high: float = 1.0


RowState = Literal["known", "new", "padded", "unknown"]
Origin = Literal["person", "task", "special", "model", "chosen"]


@dataclass(frozen=True)
class Row:
    """One row of a strip. state: known, new (computed in this call), padded, or unknown (a reserved place)."""

    token: str
    id: int
    state: RowState
    origin: Origin
    text: str | None = None  # what was typed when it became <unk>
    would: str | None = None  # what the policy would decide here now, where that differs (after an edit)


@dataclass(frozen=True)
class Candidate:
    """One entry of the vocabulary that the deciding row may take, with its logit."""

    id: int
    token: str
    logit: float
    probability: float  # under the policy's temperature, before top-k and top-p
    policy_probability: float  # after them; 0 where cut off


@dataclass(frozen=True)
class Unedited:
    """What stands beside a changed distribution: the same rows and weights without the edits at taps and, where a person set
    masks, under the architecture's own.

    kl: sum p log(p / q) in nats, p edited, q unedited, both under the policy's temperature and before top-k and top-p.
    """

    without: tuple[Literal["edits", "masks"], ...]  # what is left away
    log_probability: float  # of the same chosen tokens, unedited
    choice: int | None = None  # what the policy would take, by the same draw; None, like what follows: nothing is decided here
    probability: float | None = None  # of that choice, unedited
    kl: float | None = None
    logits: Array | None = None  # [v]


@dataclass(frozen=True)
class RequestView:
    """One request at this moment. `decision_row` owns the distribution in `candidates` (largest first, then `rest`).

    logits: of that row, all of them, so that a page can show another policy without asking. log_p: log p of each chosen token
    under the model as it is now, <eos> included (nats, at temperature 1).

    Where nothing is written (a class, masked tokens, CTC): `answers` are (source row, or None for the whole request; the most
    probable id) of each row that decides, `logits` theirs `[answers, v]`, `candidates` and `choice` those of the first, and
    `output` what they say together: the class, the words at the masks, what is left of the frames without repetitions and blanks.
    """

    source: tuple[Row, ...] | None
    target: tuple[Row, ...]
    finished: Literal["", "eos", "limit", "left"]  # left: while it went on
    decision_row: int | None
    choice: int | None  # the id that Step takes
    candidates: tuple[Candidate, ...]
    rest: float
    log_probability: float  # of all tokens chosen so far in decode: the sum of log_p
    unknown: tuple[str, ...]
    logits: Array | None = None  # [v]
    log_p: Array | None = None  # [chosen]
    unedited: Unedited | None = None  # None: nothing is edited
    unused: Candidate | None = None  # what the last row of a padded prompt would say, which is padding and never decides
    answers: tuple[tuple[int | None, int], ...] = ()
    output: tuple[str, ...] | None = None
    joined: int | None = None  # after how many decode steps it came; None: it is here from the start
    left: int | None = None  # after how many it left, and its rows were freed; None: it is in the batch


@dataclass(frozen=True)
class TrainRow:
    """One training row: what it is given, what it must predict, whether it counts, its loss, and d loss / d logits of it.

    became: of masked tokens what was done to it: mask, random, kept; "" nothing. For a class or CTC one row stands for the
    sequence: it is given nothing, and its label is the class, or all labels in order. gold: the token that it would have been
    given, where it is given the model's own instead.
    """

    input: str
    label: str
    key_valid: bool
    counts: bool
    loss: float | None
    gradient: float | None
    became: Literal["", "mask", "random", "kept"] = ""
    gold: str | None = None


@dataclass(frozen=True)
class TrainView:
    """The update in progress. Fields fill stage by stage; None = not computed yet."""

    update: int
    sources: tuple[tuple[Row, ...], ...] | None
    rows: tuple[tuple[TrainRow, ...], ...]
    loss: float | None
    parameter_norms: tuple[tuple[str, float], ...] | None  # (name, L2 norm of the gradient), in model order
    activation_norms: tuple[tuple[str, float], ...] | None  # (tap path, L2 norm of d loss / d value), in forward order
    norm: float | None  # over all parameters
    clip_factor: float | None  # 1.0 = not clipped
    parameter_moves: tuple[tuple[str, float, float], ...] | None = None  # (name, L2 norm of its change, L2 norm before)
    gold: tuple[tuple[tuple[int, int], ...], ...] = ()  # by sequence: gold links (source row, target row), none where not known
    penalties: tuple[tuple[str, float], ...] = ()  # what the model adds to the loss, by name; part of `loss`
    gold_share: float | None = None  # with which probability a row is given its gold token
    features: tuple[Array, ...] | None = None  # by sequence [rows, width], in place of source words
    unedited_loss: float | None = None  # of the same batch and weights without edits and masks of a person; None: there are none


@dataclass(frozen=True)
class StageTime:
    """One stage of this step and how long it took (measured, ms); None = not run yet. `rows`: rows computed in that call."""

    name: str
    ms: float | None
    rows: int
    ops: tuple[str, ...] = ()  # tap scopes inside it, in the order in which it reached them: "decoder.layer0.self", ...


@dataclass(frozen=True)
class Gold:
    """The one right answer to a request, where the task knows it: its words, and which (source row, target word) belong together.
    The row that predicts target word j is target row j."""

    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Node:
    """A moment in the tree of the run."""

    id: int
    parent: int | None
    phase: Phase
    step: int
    stage: str  # "" at a step's end
    label: str  # short: the tokens that were just chosen, a loss, the number of the request that joined or left
    command: str  # kind of the command that made it
    changed: str | None = None  # what of the scenario became other here: "learning rate 0.01", "masks"


@dataclass(frozen=True)
class BeamStep:
    """What one step of a beam kept (the first `kept`, in the order of their rows), then the most probable of what it dropped.

    tokens: -1 where a hypothesis had ended and stays. parents: rows of the step before. log_p of all tokens so far, in nats;
    scores: after the length penalty.
    """

    kept: int
    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    log_p: tuple[float, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class BeamView:
    """A beam search: each hypothesis is one of `Moved.requests`. winner: its row, once nothing goes on. ahead: by row the tokens
    with which the next step keeps it."""

    width: int
    steps: tuple[BeamStep, ...]
    winner: int | None
    ahead: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Piece:
    """Values of one tap for one selector. `start` places it: {axis letter: first index} for a delta along row axes.

    bin: what a place stands for: the largest value of a square of so many rows. `start` then counts squares, and where pieces
    meet in one (a row came to it), the larger value holds.
    """

    selector: int  # index into the connection's watched selectors; -1 for a fetch
    path: str
    side: str
    axes: tuple[str, ...]
    start: dict[str, int]
    array: Array
    bin: int = 1
