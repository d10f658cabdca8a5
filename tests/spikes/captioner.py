"""An image as the source: a small convolution makes annotations, target rows read them (after Xu et al. 2015).

Small on purpose: it shows that the contract holds for a source that is no text, in which lines of an image are padded as
words are, and that weights over places of an image are ordinary weights over source rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Relation, Rows, Spec
from models.parts.attention import CrossAttention, KeysValues, read_masks
from models.parts.norms import PreNorm
from models.parts.tap import Tap
from models.parts.visibility import Visibility

CROSS = Relation("cross", "words read places", "t", "s", Visibility("full"), "decoder.cross")


@dataclass(frozen=True)
class CaptionerConfig:
    width: int = field(default=16, metadata={"title": "Width d", "why": "of an annotation", "choices": (16, 32)})


@dataclass(frozen=True)
class CaptionerState:
    """Rows known `[b]`; what the image became, once: keys and values `[b, h, s, e]` and which places are real `[b, s]`."""

    lengths: Tensor
    image: KeysValues | None = None
    places: Tensor | None = None

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        if self.image is None:
            return {}
        return {"image.keys": (self.image.keys, "b h s e", False), "image.values": (self.image.values, "b h s e", False)}


class Captioner(nn.Module):
    def __init__(self, config: CaptionerConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.see = nn.Conv2d(1, config.width, 2, stride=2)
        self.token = nn.Embedding(vocabulary, config.width)
        self.cross = CrossAttention(config.width, 2, PreNorm)
        self.head = nn.Linear(config.width, vocabulary)

    def initial_state(self, batch: int) -> CaptionerState:
        return CaptionerState(torch.zeros(batch, dtype=torch.int64))

    def encode(self, source: Rows, tap: Tap) -> tuple[KeysValues, Tensor]:
        """Image `[b, y, x, c]`, lines right-padded -> keys and values of its places `[b, s]`, s = (y / 2) (x / 2)."""
        image = tap("pixels", source.values, "b y x c")
        seen = F.relu(self.see(image.permute(0, 3, 1, 2)))  # b d y/2 x/2
        annotations = tap("annotations", seen.flatten(2).transpose(1, 2), "b s d")
        places = source.valid[:, 1::2].repeat_interleave(seen.shape[3], 1)
        return self.cross.project(annotations, tap), places

    def forward(self, inputs: Inputs, state: CaptionerState, tap: Tap) -> tuple[Outputs, CaptionerState]:
        image, places = state.image, state.places
        if inputs.source is not None:
            image, places = self.encode(inputs.source, tap / "image")
        if image is None or places is None:
            raise ValueError("source: no image given and none kept")
        target = inputs.target
        known = state.lengths[:, None] + torch.arange(target.values.shape[1])
        here = tap / "decoder"
        x = here("token", self.token(here("ids", target.values, "b t", "ids")), "b t d")
        (mask,) = read_masks(inputs, CROSS, 1, known, target.valid, places, x.dtype)
        x = self.cross(x, image, mask, here / "cross")
        logits = tap("logits", self.head(x), "b t v", "logits")
        return Outputs("next_token", logits), CaptionerState(state.lengths + target.lengths, image, places)


def _build(config: Any, source: int | None, target: int) -> nn.Module:
    return Captioner(config, target)


SPEC = Spec(
    id="captioner",
    name="Captioner",
    family="Attention",
    summary="Words read the places of an image.",
    inventory=("A20",),
    paper="Xu et al. 2015, arXiv 1502.03044",
    config=CaptionerConfig,
    build=_build,
    relations=(CROSS,),
    phases=("train", "prefill", "decode"),
    tasks=(),
    layers=lambda config: 1,
    capabilities=Capabilities(has_source=True),
)
