"""`POST /api/visibility`: a mask by name or cell by cell -> its reads, its matrix, and how many layers lie between two rows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from app.session.events import Refused
from app.session.problems import refused, shorten
from models.parts import reach
from models.parts.visibility import Visibility

LARGEST = 512  # rows
MOST_LAYERS = 64

_Row = Annotated[int, Field(ge=0, lt=LARGEST)]
_Count = Annotated[int, Field(ge=1, le=LARGEST)]
_Line = Annotated[list[bool], Field(min_length=1, max_length=LARGEST, fail_fast=True)]


class VisibilityRequest(BaseModel):
    """A preset with its sizes, or `matrix`. A preset looks at its own fields alone; null is the same as left out."""

    model_config = ConfigDict(extra="forbid", strict=True)

    preset: Annotated[Literal["full", "causal", "prefix", "sliding", "documents"] | None, Field(description="or `matrix`")] = None
    n: Annotated[_Count | None, Field(description="rows; documents: may be left out, it is the sum of `lengths`")] = None
    radius: Annotated[
        int | None, Field(ge=0, le=LARGEST, description="sliding: how many steps of `dilation` a window reaches to each side")
    ] = None
    dilation: Annotated[
        int | None, Field(ge=0, le=LARGEST, description="sliding: the distance between two rows of a window; 1 if left out")
    ] = None
    global_rows: Annotated[
        list[_Row] | None,
        Field(max_length=LARGEST, fail_fast=True, description="sliding: rows that read all and are read by all"),
    ] = None
    causal: Annotated[bool, Field(description="then removes every read of a later row")] = False
    prefix: Annotated[
        int | None, Field(ge=0, le=LARGEST, description="prefix: rows before it read each other freely, later ones are causal")
    ] = None
    lengths: Annotated[
        list[_Count] | None, Field(min_length=1, max_length=LARGEST, fail_fast=True, description="documents: rows of each")
    ] = None
    matrix: Annotated[
        list[_Line] | None, Field(min_length=1, max_length=LARGEST, fail_fast=True, description="[n][n]: row i reads row j")
    ] = None
    layers: Annotated[int, Field(ge=1, le=MOST_LAYERS, description="how many layers have this mask")] = 1


def answer(data: Any) -> dict[str, Any]:
    """What the route answers: edges, matrix and path `[n][n]` (None: not within `layers`), longest_path. Raises `Refused`."""
    if not isinstance(data, dict):
        raise _wrong("body", data, "an object with preset and n, or matrix; and layers")
    try:
        given = VisibilityRequest.model_validate(data)
    except ValidationError as error:
        raise refused(error) from None
    mask = _mask(given)
    if given.causal:
        mask = mask.tril()
    blind = (~mask.any(1)).nonzero()
    if len(blind):
        row = int(blind[0])
        raise _wrong("matrix", f"row {row} without a visible cell", f"at least one visible cell in each row, row {row} too")
    path = reach.paths(mask, given.layers)
    return {
        "edges": reach.edges(mask),
        "matrix": mask.tolist(),
        "path": [[None if p < 0 else p for p in row] for row in path.tolist()],
        "longest_path": reach.longest(path),
    }


def _mask(given: VisibilityRequest) -> Tensor:
    """The mask `[n, n]` before `causal`."""
    if (given.preset is None) == (given.matrix is None):
        both = "nothing" if given.preset is None else "preset and matrix"
        raise _wrong("preset", both, "one of full, causal, prefix, sliding, documents; or matrix in its place")
    if given.matrix is not None:
        return _square(given.matrix, given.n)
    if given.preset == "documents":
        return _documents(given)
    n = given.n
    if n is None:
        raise _wrong("n", None, f"a whole number from 1 to {LARGEST}: how many rows there are")
    match given.preset:
        case "sliding":
            return _sliding(given, n)
        case "prefix":
            if given.prefix is None or given.prefix > n:
                raise _wrong("prefix", given.prefix, f"a whole number from 0 to {n}, the number of rows")
            return Visibility("prefix", given.prefix).dense(n, n)
        case program:
            return Visibility(str(program)).dense(n, n)


def _sliding(given: VisibilityRequest, n: int) -> Tensor:
    if not given.radius:
        raise _wrong("radius", given.radius, f"a whole number from 1 to {LARGEST}; a window of 0 would be the row alone")
    dilation = 1 if given.dilation is None else given.dilation
    if not 1 <= dilation <= max(1, n - 1):
        raise _wrong("dilation", dilation, f"a whole number from 1 to {max(1, n - 1)}: {n} rows lie at most {n - 1} apart")
    rows = given.global_rows or []
    for i, row in enumerate(rows):
        if row >= n:
            raise _wrong(f"global_rows.{i}", row, f"a row from 0 to {n - 1}")
    return reach.sliding(n, given.radius, dilation, rows)


def _documents(given: VisibilityRequest) -> Tensor:
    if given.lengths is None:
        raise _wrong("lengths", None, "the rows of each document")
    total = sum(given.lengths)
    if total > LARGEST or (given.n is not None and given.n != total):
        raise _wrong(
            "lengths", f"{total} rows together", f"{given.n} rows, as in n" if given.n else f"at most {LARGEST} rows together"
        )
    return reach.documents(given.lengths)


def _square(rows: list[list[bool]], n: int | None) -> Tensor:
    if n is not None and n != len(rows):
        raise _wrong("n", n, f"{len(rows)}, the rows of matrix, or left out")
    for i, row in enumerate(rows):
        if len(row) != len(rows):
            raise _wrong(f"matrix.{i}", f"{len(row)} cells", f"{len(rows)} cells, as many as there are rows")
    return torch.tensor(rows, dtype=torch.bool)


def _wrong(field: str, given: Any, allowed: str) -> Refused:
    given = shorten(given)
    return Refused.one(field, given, allowed, f"{field} was given {given!r}; allowed: {allowed}")
