"""What an architecture is.

A model is a textbook page: it takes rows that are known (`Inputs`), what it kept from before (`State`), and a tap through
which anything it computes can be seen or changed; it gives back `Outputs` and the new state. Training, prefill and decode
are the same call with different lengths.

Axis vocabulary (one size per letter in one pass; a prime marks the key side of a read whose two sides have one owner):

    b  request          s  source row        t  target row        h  head
    d  model width      f  feed-forward      e  width of a head   v  vocabulary entry
    g  key-value head   n  state             a  alignment width   y x c  image row, column, channel
    m  both directions of a bidirectional encoder          k  place in a window
    r  hop (a row of weights of its own, not a head)       l  lag
    p  pair of places          i, j  tiles of keys      one  a single number

This package knows no web, no files (except the shipped checkpoints and data), no device choice, and nothing of `app`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from models.parts.carrying import Carry
from models.parts.formulas import Formula
from models.parts.tap import Tap
from models.parts.visibility import Visibility

Phase = Literal["train", "prefill", "decode"]
OutputKind = Literal["next_token", "same_token", "class", "frames"]
OwnerLetter = Literal["s", "t", "r"]

AXES: Mapping[str, str] = {
    "b": "request",
    "s": "source row",
    "t": "target row",
    "h": "head",
    "g": "key-value head",
    "v": "vocabulary entry",
    "n": "state",
    "m": "both directions of an encoder",
    "d": "model width",
    "f": "feed-forward width",
    "e": "head width",
    "a": "alignment width",
    "y": "image row",
    "x": "image column",
    "c": "channel",
    "k": "place in a window",
    "r": "hop",
    "l": "lag",
    "p": "pair of places that turn together",
    "i": "tile of keys",
    "j": "tile of source keys",
    "one": "single number",
}


@dataclass(frozen=True)
class Rows:
    """Rows of one owner, right-padded to a rectangle.

    values: ids `[b, n]` (int64), or features `[b, n, w]` (float, 0..1): an image is its lines, a sound its frames x bands.
    lengths: `[b]` (int64), how many rows of each request are real; 0 is allowed (a finished request in decode).
    """

    values: Tensor
    lengths: Tensor

    def __post_init__(self) -> None:
        if self.lengths.shape != self.values.shape[:1]:
            raise ValueError(f"lengths {tuple(self.lengths.shape)} must be [b] for values {tuple(self.values.shape)}")

    def to(self, device: torch.device) -> Rows:
        """The same rows on a device."""
        return Rows(self.values.to(device), self.lengths.to(device))

    @property
    def valid(self) -> Tensor:
        """Key validity `[b, n]` (bool): True for a real row, False for padding."""
        return torch.arange(self.values.shape[1], device=self.lengths.device)[None, :] < self.lengths[:, None]


@dataclass(frozen=True)
class Inputs:
    """What one call is given. A field that is None is not new in this call (a source already in the state stays there).

    target: the new target rows; in decode one row a request. `[b, 0]` means that there are none (encode only; always so where the
    task's objective is not "next_token").
    source: the rows that the target reads from, or None when the model has none or already keeps them.
    visibility: by relation name ("target_self", ...), who may read whom in each layer; a relation left out follows the
    Spec's default in every layer.
    chances: `[b, t]` in [0, 1), for a model that draws something at each target row; None: it takes what is most probable.
    places: `[b, t]` (int64), what such a model takes at a row whatever the chance; -1, or None for all: it draws.
    """

    target: Rows
    source: Rows | None = None
    visibility: Mapping[str, tuple[Visibility, ...]] = field(default_factory=dict)
    chances: Tensor | None = None
    places: Tensor | None = None

    def may_read(self, relation: Relation, layer: int) -> Visibility:
        """The visibility of one relation in one layer."""
        layers = self.visibility.get(relation.name)
        return relation.default if layers is None else layers[layer]


@dataclass(frozen=True)
class Drawn:
    """What a model drew on its way to its outputs, for a loss that cannot be differentiated through a draw (REINFORCE).

    log_p: log probability of each target row's draw `[b, t]`, with its graph, 0 in padding; baseline: what the reward is compared
    with, a parameter that no gradient reaches; weight: of this term in the loss.
    """

    log_p: Tensor
    baseline: Tensor
    weight: float


@dataclass(frozen=True)
class Outputs:
    """What one call gives. `kind` tags how to read `values`; it follows the task's objective (`models/tasks`).

    next_token  logits `[b, t, v]`: target row t says which token comes after it
    same_token  logits `[b, s, v]`: source row s says which token stood in its own place (masked tokens)
    class       logits `[b, v]`: one distribution a request, over the task's classes
    frames      logits `[b, s, v]`: one for each source row that the model has, read by CTC

    penalties: scalars by name that training adds to the loss, already weighted. lengths: of frames, how many of each request are
    real `[b]`, where a model has other rows than the source that it was given. drawn: of a model that draws (`Inputs.chances`).
    """

    kind: OutputKind
    values: Tensor
    penalties: Mapping[str, Tensor] = field(default_factory=dict)
    lengths: Tensor | None = None
    drawn: Drawn | None = None

    def detached(self) -> Outputs:
        """The same numbers without their graph."""
        penalties = {name: value.detach() for name, value in self.penalties.items()}
        drawn = None if self.drawn is None else replace(self.drawn, log_p=self.drawn.log_p.detach())
        return Outputs(self.kind, self.values.detach(), penalties, self.lengths, drawn)


class State(Protocol):
    """What a model keeps between calls: a value, never written in place.

    `lengths` `[b]` counts the target rows already known per request. `kept()` lists what is retained, as
    {path: (tensor, axes, grows)}: `grows` says whether a further target row makes it larger. What is kept of a source stays
    as it is: its path begins with "encoder." or one of its axes is s. The rest is carried from row to row. The first axis
    of every tensor in it is the request (`parts/select.py` picks and joins requests by that), and rows past a request's length,
    of any owner, mean nothing.
    """

    @property
    def lengths(self) -> Tensor: ...

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]: ...


class SequenceModel(Protocol):
    """An `nn.Module` that obeys the one call. Also callable: `model(inputs, state, tap)`.

    One whose rows weigh by their distance alone has `kernels(lags)` too: by scope (of layer i "layer{i}") a tensor and its axes,
    of which the last is l. The page shows it like a parameter.
    """

    config: Any

    def initial_state(self, batch: int) -> State: ...

    def forward(self, inputs: Inputs, state: State, tap: Tap) -> tuple[Outputs, State]: ...


@dataclass(frozen=True)
class Relation:
    """One kind of read: rows owned by `query` look at rows owned by `key`.

    path: where its weights are tapped, with `{layer}` for the layer number, e.g. "decoder.layer{layer}.cross".
    """

    name: str
    title: str
    query: OwnerLetter
    key: OwnerLetter
    default: Visibility
    path: str


@dataclass(frozen=True)
class Capabilities:
    """What applies to an architecture; what does not is not offered, and the contract test expects just that.

    largest_rows: target rows that it can hold, <bos> included; largest_source: source rows. draws: it draws something at each
    target row (`Inputs.chances`), in some of its configurations.
    """

    trainable: bool = True
    undoable: bool = True
    causal: bool = True
    streams: bool = True
    has_source: bool = False
    largest_rows: int = 128
    largest_source: int = 128
    draws: bool = False


@dataclass(frozen=True)
class Spec:
    """One architecture in the catalogue.

    build: `(config, source, target vocabulary size) -> model`; source is its vocabulary's size, or `Features`, or None; weights
    follow torch's global seed.
    config: a frozen dataclass; every field has a default and `metadata={"title", "why", and "choices" or "low"/"high"}`;
    "when": {other field: value} names what a field needs to mean anything.
    check: `(config) -> list of (field, given, allowed)` for what no single field can say (heads must divide the width).
    gives_up: `(config) -> which promises these parts break, with the reason`: "alone" (a request does not depend on the others),
    "picked" (nor on which others go on with it), "padding" (nor on padding), "cached" (prefill equals decode steps),
    "causal" (earlier rows do not see later ones),
    "live" (whatever is computed can change what is said), "gradient" (backward is the slope of the loss, not an estimate).
    formulas: `(config) -> how its taps are computed`, with that config's numbers; a tap without one shows none.
    phases: those of a next-token task; a task with another objective has no decode (`tasks.phases`).
    source_shape: `(config, rows given, their width) -> rows that the model has of a source`, as `(rows,)` or, for an image's
    places, `(y, x)`.
    rows_of: `(config) -> how many rows an owner has that is neither source nor target` ("r": hops).
    carries: `(config) -> states that are linear in what rows wrote`, so that what is left of each row can be told.
    changed: what its paper did otherwise than those before it, where it is a preset of a page that has several.
    limits: `(config) -> what one should know of weights learned in this variant`, for people: what keeps it from learning its
    task wholly; "": nothing.
    """

    id: str
    name: str
    family: str
    summary: str
    inventory: tuple[str, ...]
    paper: str
    config: type
    build: Callable[[Any, Any, int], nn.Module]
    relations: tuple[Relation, ...]
    phases: tuple[Phase, ...]
    tasks: tuple[str, ...]
    layers: Callable[[Any], int]
    check: Callable[[Any], list[tuple[str, Any, str]]] = lambda config: []
    capabilities: Capabilities = Capabilities()
    gives_up: Callable[[Any], Mapping[str, str]] = lambda config: {}
    formulas: Callable[[Any], tuple[Formula, ...]] = lambda config: ()
    source_shape: Callable[[Any, int, int], tuple[int, ...]] = lambda config, rows, width: (rows,)
    rows_of: Callable[[Any], Mapping[str, int]] = lambda config: {}
    carries: Callable[[Any], tuple[Carry, ...]] = lambda config: ()
    changed: str = ""
    limits: Callable[[Any], str] = lambda config: ""
