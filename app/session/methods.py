"""How a run learns and how it decides: two parts of a scenario (see there)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_TOKENS = 512  # of any architecture; each says how many rows it holds (`Capabilities`)


class Value(BaseModel):
    """Plain data, checked field by field, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Training(Value):
    optimizer: Literal["adamw", "sgd"] = "adamw"
    learning_rate: Annotated[float, Field(gt=0, le=1e7)] = 1e-3
    clip_norm: Annotated[float, Field(gt=0, le=1e6)] | None = 1.0
    batch_size: Annotated[int, Field(ge=1, le=64)] = 3
    batch: Literal["task", "mine"] = "task"
    feeding: Literal["teacher", "scheduled", "free"] = "teacher"  # what rows are given (app/session/feeding.py)
    schedule: Literal["constant", "linear", "inverse_sigmoid"] = "inverse_sigmoid"
    gold_share: Annotated[float, Field(ge=0, le=1)] = 0.5  # epsilon, where it is constant
    decay: Annotated[float, Field(ge=1, le=100_000)] = 100.0  # k, in updates, where it falls
    mask_rate: Annotated[float, Field(gt=0, le=1)] = 0.15  # of masked tokens: the share of words to say again
    mask_hidden: Annotated[float, Field(ge=0, le=1)] = 0.8  # of these: become <mask>
    mask_replaced: Annotated[float, Field(ge=0, le=1)] = 0.1  # become another word; the rest stays


class Policy(Value):
    """How a decision is made from a distribution, when decoding ends, and how the distribution is computed."""

    kind: Literal["greedy", "sample", "beam"] = "greedy"
    temperature: Annotated[float, Field(ge=0.01, le=100)] = 1.0
    top_k: Annotated[int, Field(ge=1, le=100_000)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    width: Annotated[int, Field(ge=1, le=8)] = 4  # of a beam
    length_penalty: Annotated[float, Field(ge=0, le=2)] = 0.6  # alpha (app/session/beam.py); 0: none
    limit: Annotated[int, Field(ge=1, le=MAX_TOKENS)] = 32
    execution: Literal["cached", "full_prefix"] = "cached"
    ended: Literal["stays", "leaves"] = "stays"  # whether an ended request holds its rows until all have ended, or frees them
