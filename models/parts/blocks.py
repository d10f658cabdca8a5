"""The parts of a Transformer block that can be exchanged, as fields of a Config, and what each of them makes.

A field picks a small class: of `norms.py`, `places.py`, `rates.py`, `arithmetic.py`, or which matrices are one (`attention.py`).
Fields made by `part` leave the names and sizes of the parameters as they were, so that trained weights stay in place when one of
them is exchanged, and its effect shows at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import nn

from models.parts.arithmetic import ARITHMETIC, Multiply, Tiles, Whole
from models.parts.attention import PROJECTIONS, Wiring
from models.parts.norms import KINDS, MADE, NOW, Norm, norm_of
from models.parts.places import PAIRS, Nowhere, RelativeBias, Rotary
from models.parts.positions import POSITIONS
from models.parts.rates import NTK, SCALINGS
from models.parts.settings import heads_share, setting

part = partial(setting, same_weights=True)
ROPE = {"position": "rope"}
TILES = {"mask_enters": "tiles"}
BATCH = {"norm_kind": "batch"}
STATISTICS = ("running", "batch")
PLACES = (*POSITIONS, "none", "bias", "rope")
SHARING = ("independent", "depth", "aliased")


@dataclass(frozen=True)
class Sizes:
    """Of a stack."""

    layers: int = setting(2, "Layers", "two are enough for one layer to use what the other wrote", low=1, high=6)
    heads: int = setting(4, "Heads", "each head reads with its own weights; they share the width", low=1, high=8)
    d_model: int = setting(64, "Width d", "length of every row's vector", choices=(16, 32, 48, 64, 96, 128))
    d_ff: int = setting(256, "Feed-forward f", "usually four times d", choices=(32, 64, 128, 256, 512))


@dataclass(frozen=True)
class Places:
    """How rows are told where they stand."""

    position: str = part("learned", "Position", "a vector for each row, or something in its scores", choices=PLACES)
    pairs: str = part("half", "RoPE pairs", "which places turn together", choices=tuple(PAIRS), when=ROPE)
    base: int = part(10000, "RoPE base", "a larger one turns slower", low=10, high=1000000, when=ROPE)
    scaling: str = part("none", "RoPE scaling", "for more rows than trained", choices=tuple(SCALINGS), when=ROPE)
    factor: float = part(4.0, "RoPE factor s", "how many times longer than trained", low=1.0, high=64.0, when=ROPE)
    trained_rows: int = part(32, "Trained rows L₀", "dynamic NTK and YaRN ask for them", low=4, high=512, when=ROPE)


@dataclass(frozen=True)
class Norms:
    """What surrounds a sub-layer."""

    norm: str = setting("pre", "Norm", "after the residual sum as in 2017, or before the sub-layer", choices=("post", "pre"))
    norm_kind: str = part("layer", "Norm kind", "what a row is measured by", choices=tuple(KINDS))
    statistics: str = part("running", "BatchNorm uses", "kept ones, or the call’s own", choices=STATISTICS, when=BATCH)
    residual: bool = part(True, "Residual", "a row keeps what it was")


@dataclass(frozen=True)
class Reads:
    """How a read is put together."""

    projections: str = part("separate", "Q, K, V", "three matrices, or fewer", choices=tuple(PROJECTIONS))
    scaled: bool = part(True, "Scores / √e", "else they grow with the width of a head")
    mask_enters: str = part("additive", "Softmax", "mask before or after it; or tile by tile", choices=tuple(ARITHMETIC))
    tile: int = part(4, "Tile", "rows and keys that are scored at once", low=1, high=512, when=TILES)
    sharing: str = part("independent", "Layers are", "objects of their own, or one", choices=SHARING)


@dataclass(frozen=True)
class PartsConfig(Reads, Norms, Places, Sizes):
    """Sizes and all exchangeable parts of a stack."""


@dataclass(frozen=True)
class BlockConfig(PartsConfig):
    """The same with a head that may be a matrix of its own."""

    tied: bool = setting(True, "Tied head", "one matrix reads tokens in and scores them on the way out")


def check(config: PartsConfig) -> list[tuple[str, Any, str]]:
    """What no single field can say."""
    if uneven := heads_share(config):
        return uneven
    width = config.d_model // config.heads
    if config.position != "rope":
        return []
    if width % 2:
        return [("heads", config.heads, f"heads of an even width under RoPE, whose places turn in pairs; {width} is odd")]
    if width < 4 and issubclass(SCALINGS[config.scaling], NTK):
        return [("scaling", config.scaling, f"none, linear or yarn with heads of width {width}: e/(e-2) needs 4 or more")]
    return []


def norm(config: Norms, layer: str = "layer") -> Norm:
    """Of every residual sub-layer. layer: which LayerNorm, a key of `norms.MADE`."""
    return norm_of(config.norm, kind(config, layer), config.residual)


def kind(config: Norms, layer: str = "layer") -> str:
    """What a norm measures, and over which rows: a key of `norms.MADE`."""
    if config.norm_kind == "layer":
        return layer
    return NOW if config.norm_kind == "batch" and config.statistics == "batch" else config.norm_kind


def final(config: Norms, width: int, layer: str = "layer") -> nn.Module:
    """What follows a stack: in pre-norm the stream was never normalised."""
    return MADE[kind(config, layer)](width) if config.norm == "pre" else nn.Identity()


def vectors(config: PartsConfig, rows: int) -> nn.Module | None:
    """What is added to the embedding of each row, where position is a vector."""
    made = POSITIONS.get(config.position)
    return None if made is None else made(rows, config.d_model)


def place(config: PartsConfig, both: bool) -> Nowhere:
    """What the reads of a stack by itself see of position, one object for all its layers; both: later rows are read too."""
    match config.position:
        case "bias":
            return RelativeBias(config.heads, both)
        case "rope":
            rates = SCALINGS[config.scaling](config.d_model // config.heads, config.factor, config.trained_rows, config.base)
            return Rotary(rates, PAIRS[config.pairs])
    return Nowhere()


def wiring(config: Reads, seen: Nowhere | None = None, bias: bool = True) -> Wiring:
    """seen: the place of a stack, for reads of its own rows; a read of another owner's rows has none. bias: maps have shifts."""
    return Wiring(config.projections, config.scaled, bias, arithmetic(config), seen)


def arithmetic(config: Reads) -> Whole | Tiles:
    """From scores and mask to mixed values."""
    kind = ARITHMETIC[config.mask_enters]
    return kind(config.tile) if issubclass(kind, Tiles) else kind()


def gives_up(config: Norms) -> Mapping[str, str]:
    """Promises of an architecture that these parts break, with the reason; see `Spec.gives_up`."""
    broken: dict[str, str] = {}
    if kind(config) == NOW:
        reason = "BatchNorm measures each place over all rows of a call, other requests and padding among them"
        broken |= dict.fromkeys(("alone", "picked", "padding", "cached", "causal"), reason)
    if isinstance(config, Reads) and ARITHMETIC[config.mask_enters] is Multiply:
        reason = "a mask that is multiplied after the softmax leaves hidden keys, later ones and padding, in the normaliser"
        broken |= dict.fromkeys(("alone", "padding", "cached", "causal"), reason)
    return broken
