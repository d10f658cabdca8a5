"""A model with inputs for it, made from what its Spec declares: what the contract is checked on.

Requests have unequal lengths, so every check also sees padding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from models import Inputs, Outputs, Rows, Spec, State
from models.catalogue import config_schema, tasks
from models.parts import blocks
from models.parts.tap import OFF, Tap
from models.parts.visibility import Visibility
from models.tasks import Features, Objective, Task
from models.tasks.one_stream import SEPARATOR

WORDS, SOURCE_WORDS = 19, 17
LENGTHS, SOURCE_LENGTHS = (5, 7, 3), (4, 6, 3)

BORDER = 2  # the first row after the source, of a stream that holds source and target

Visible = Mapping[str, tuple[Visibility, ...]]


@dataclass(frozen=True)
class World:
    """A model and what it reads. `target` are whole right-padded rows, `source` is None where the model has none."""

    spec: Spec
    config: Any
    model: nn.Module
    target: Rows
    source: Rows | None

    @property
    def border(self) -> Tensor | None:
        """The first row after the source `[b, 1, 1]`, where source and target are one stream."""
        return torch.full((len(self.target.lengths), 1, 1), BORDER) if one_stream(self.spec) else None

    @property
    def cuts(self) -> tuple[tuple[int, ...], ...]:
        """How whole requests are cut into calls: row by row and in pieces; rows that read later ones come in one call."""
        return ((BORDER, 1, 1, 1, 1, 1), (2, 5), (4, 1, 2)) if one_stream(self.spec) else ((1,) * 7, (2, 5), (4, 1, 2))

    def call(
        self, target: Rows, state: State | None = None, tap: Tap = OFF, *, source: bool = True, visible: Visible | None = None
    ) -> tuple[Outputs, State]:
        begin = self.model.initial_state(len(target.lengths)) if state is None else state  # type: ignore[operator]
        return self.model(Inputs(target, self.source if source else None, visible or {}), begin, tap)

    def start(self, state: State | None = None) -> State:
        """The state before the first target row: empty, or with the source encoded."""
        none = Rows(self.target.values[:, :0], torch.zeros_like(self.target.lengths))
        return self.call(none)[1] if self.source is not None else self.model.initial_state(len(LENGTHS))  # type: ignore

    def places(self) -> Rows | None:
        """The rows that the model has of its source: of a picture its places."""
        if self.source is None or self.source.values.dim() == 2:
            return self.source
        width = self.source.values.shape[-1]
        counts = [math.prod(self.spec.source_shape(self.config, n, width)) for n in self.source.lengths.tolist()]
        return Rows(torch.zeros(len(counts), max(counts)), torch.tensor(counts))

    def part(self, begin: int, end: int) -> Rows:
        """Target rows begin..end of every request; a request that is shorter gives fewer or none."""
        return Rows(self.target.values[:, begin:end], (self.target.lengths - begin).clamp(0, end - begin))

    def logits(self) -> Tensor:
        return self.call(self.target)[0].values.detach()

    def real(self, values: Tensor) -> Tensor:
        """Only rows that are not padding."""
        return values[self.target.valid]


Make = Callable[..., World]


def ids(lengths: tuple[int, ...], words: int, seed: int) -> Rows:
    """Random ids; the padding holds random ids too, because nothing may depend on it."""
    values = torch.randint(4, words, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(seed))
    return Rows(values, torch.tensor(lengths))


def one_stream(spec: Spec) -> bool:
    """Whether source and target are rows of one stream: then each request's separator is its row BORDER - 1."""
    return any(r.default.program == "source_target" for r in spec.relations)


def stream(rows: Rows) -> Rows:
    """The same rows with their separator, and no other."""
    values = torch.where(rows.values == SEPARATOR, SEPARATOR + 1, rows.values)
    values[:, BORDER - 1] = SEPARATOR
    return Rows(values, rows.lengths)


def objectives(spec: Spec) -> dict[Objective, Task]:
    """What an architecture can learn, each with the first task that it is learned on."""
    found: dict[Objective, Task] = {}
    for task in (tasks()[name] for name in spec.tasks):
        found.setdefault(task.objective, task)
    return found


def source(spec: Spec, task: Task, seed: int) -> tuple[Any, Rows | None]:
    """What a model is built for, and rows of it: ids, or features (pictures have one size)."""
    kind = task.source if spec.capabilities.has_source else None
    if isinstance(kind, Features):
        lengths = (kind.most,) * 3 if kind.what == "picture" else tuple(min(n * 4, kind.most) for n in SOURCE_LENGTHS)
        values = torch.rand(3, max(lengths), kind.width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        return kind, Rows(values, torch.tensor(lengths))
    return (None, None) if kind is None else (SOURCE_WORDS, ids(SOURCE_LENGTHS, SOURCE_WORDS, seed))


def maker(spec: Spec, **changes: Any) -> Make:
    """Worlds of one architecture in the catalogue, with the default Config but for `changes`."""

    def make(dtype: torch.dtype = torch.float64, seed: int = 3) -> World:
        config = spec.config(**changes)
        kind, rows = source(spec, objectives(spec)["next_token"], 2)
        torch.manual_seed(seed)
        model = spec.build(config, kind, WORDS).to(dtype)
        target = ids(LENGTHS, WORDS, 1)
        target = stream(target) if one_stream(spec) else target
        return World(spec, config, model, target, typed(rows, dtype))

    return make


def typed(rows: Rows | None, dtype: torch.dtype) -> Rows | None:
    """Features in the dtype of the model; ids stay."""
    return Rows(rows.values.to(dtype), rows.lengths) if rows is not None and rows.values.is_floating_point() else rows


# Parts of a block, several at once: what each does alone is checked on the two models that they were made for.
TOGETHER: tuple[dict[str, Any], ...] = (
    {"norm_kind": "rms", "norm": "pre", "position": "rope", "projections": "shared_qk"},
    {"norm_kind": "batch", "statistics": "batch", "scaled": True, "sharing": "aliased"},
    {"norm_kind": "batch", "mask_enters": "tiles", "position": "bias", "sharing": "depth"},
    {"norm_kind": "none", "mask_enters": "multiply", "position": "none"},
    {"residual": False, "norm": "post", "mask_enters": "renormalise", "position": "sinusoidal", "projections": "one_matrix"},
)
ALONE = ("decoder_only", "encoder_decoder")


def variants(spec: Spec) -> Iterator[dict[str, Any]]:
    """The default Config, and each other choice of a named or yes-or-no field alone, with what gives it meaning; of exchangeable
    parts that another model shares with the first ones some together."""
    yield {}
    shared = {
        f.name for kind in (blocks.Norms, blocks.Reads, blocks.Places) if issubclass(spec.config, kind) for f in fields(kind)
    }
    shared = set() if spec.id in ALONE else shared
    if shared:
        yield from ({name: choice for name, choice in some.items() if name in shared} for some in TOGETHER)
    for f in config_schema(spec.config):
        if f["name"] in shared:
            continue
        named = f["choices"] if isinstance(f["default"], str) else [False, True] if f["type"] == "boolean" else []
        needed = {n: v[-1] if isinstance(v, tuple) else v for n, v in f.get("when", {}).items()}
        yield from ({**needed, f["name"]: choice} for choice in named if choice != f["default"])


def padded(rows: Rows, extra: int, seed: int) -> Rows:
    """The same rows in a wider rectangle whose padding holds other values."""
    generator = torch.Generator().manual_seed(seed)
    wide = torch.cat((rows.values, rows.values[:, :1].repeat_interleave(extra, 1)), 1)
    shuffled = wide[torch.randperm(len(wide), generator=generator)].roll(1, 1)
    valid = torch.arange(wide.shape[1]) < rows.lengths[:, None]
    return Rows(torch.where(valid.view(*valid.shape, *[1] * (wide.dim() - 2)), wide, shuffled), rows.lengths)


def kept(state: State) -> dict[str, Tensor]:
    return {path: value.detach().clone() for path, (value, _, _) in state.kept().items()} | {"lengths": state.lengths.clone()}


def owned(axes: str, value: Tensor, letter: str, lengths: Tensor) -> Tensor:
    """A kept value with the rows past each request's length set to 0, because they hold nothing of meaning."""
    if letter not in axes.split():
        return value
    at = axes.split().index(letter)
    valid = torch.arange(value.shape[at]) < lengths[:, None]
    return torch.where(valid.view([len(lengths)] + [-1 if i == at else 1 for i in range(1, value.dim())]), value, 0.0)
