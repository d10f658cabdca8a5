"""Who may read whom: a mask is a program plus single cells in absolute row coordinates.

Rows that appear later follow the program. Three different masks keep three names everywhere: the read mask (this file),
key validity (which rows are not padding), and loss rows (which rows count in the loss).

Sources: 000 0x04B, 0x08A, 0x09B-0x09D (full, causal, prefix); 000 0x0C.2 (sliding window).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

PROGRAMS: dict[str, str] = {
    "full": "every row reads every row",
    "causal": "a row reads itself and earlier rows",
    "prefix": "rows before P read each other freely, later rows are causal",
    "sliding": "a row reads rows at most r away, on both sides",
    "causal_sliding": "a row reads itself and at most r rows before it",
}
PARAMETER: dict[str, str] = {"prefix": "P", "sliding": "r", "causal_sliding": "r"}


class NoVisibleKey(ValueError):
    """An active query row may read no key. Carries relation, request and row, so that the message can name them."""

    def __init__(self, relation: str, request: int, row: int) -> None:
        self.relation, self.request, self.row = relation, request, row
        super().__init__(
            f"row {row} of request {request} may read no key in relation {relation!r}; allow at least one cell in row {row}"
        )


@dataclass(frozen=True)
class Cell:
    """One overridden place: query row, key row (absolute, from 0), and whether the read is allowed."""

    query: int
    key: int
    visible: bool


@dataclass(frozen=True)
class Visibility:
    """A mask program with its parameter, and cells that overrule it."""

    program: str = "full"
    parameter: int = 0
    cells: tuple[Cell, ...] = ()

    def __post_init__(self) -> None:
        if self.program not in PROGRAMS:
            raise ValueError(f"mask program {self.program!r} is unknown; allowed: {', '.join(PROGRAMS)}")
        if self.parameter < 0:
            raise ValueError(f"mask program {self.program!r} was given {self.parameter}; allowed: 0 or more")

    def with_cells(self, cells: Iterable[Cell]) -> Visibility:
        """The same program with these cells overruled too (a later one overrules an earlier one at the same place)."""
        merged = {(c.query, c.key): c for c in (*self.cells, *cells)}
        return replace(self, cells=tuple(merged.values()))

    def program_allows(self, query: Tensor, key: Tensor) -> Tensor:
        """The program alone, for absolute row numbers that broadcast against each other. Bool, True = may read."""
        match self.program:
            case "full":
                return torch.ones(torch.broadcast_shapes(query.shape, key.shape), dtype=torch.bool, device=query.device)
            case "causal":
                return key <= query
            case "prefix":
                return (key <= query) | (key < self.parameter)  # a later row reads the prefix anyway
            case "sliding":
                return (query - key).abs() <= self.parameter
            case "causal_sliding":
                return (key <= query) & (query - key <= self.parameter)
        raise AssertionError(self.program)

    def allows(self, query: Tensor, key: Tensor) -> Tensor:
        """Program and cells together, for absolute row numbers that broadcast against each other."""
        mask = self.program_allows(query, key)
        if not self.cells:
            return mask
        table = self._overruled.to(query.device)
        cell = table[query.clamp(max=table.shape[0] - 1), key.clamp(max=table.shape[1] - 1)]
        return (mask | (cell > 0)) & (cell >= 0)

    @cached_property
    def _overruled(self) -> Tensor:
        """1 where a cell is shown, -1 where it is hidden, 0 where the program decides; the last row and column stand for all
        later ones. One look-up, because a person may paint thousands of cells."""
        rows, columns = max(c.query for c in self.cells) + 2, max(c.key for c in self.cells) + 2
        table = [[0] * columns for _ in range(rows)]
        for cell in self.cells:
            table[cell.query][cell.key] = 1 if cell.visible else -1
        return torch.tensor(table, dtype=torch.int8)

    def dense(self, queries: int, keys: int) -> Tensor:
        """The structural mask `[queries, keys]` of rows counted from 0. Bool, True = may read."""
        return self.allows(torch.arange(queries)[:, None], torch.arange(keys)[None, :])

    def sees_later(self, queries: int, keys: int) -> bool:
        """Whether any row reads a later one: then cached execution need not equal the full prefix."""
        return bool(torch.triu(self.dense(queries, keys), diagonal=1).any())


def read_mask(relation: str, visibility: Visibility, query_rows: Tensor, query_valid: Tensor, key_valid: Tensor) -> Tensor:
    """Structural visibility AND key validity, refused where it leaves an active query without a key.

    query_rows: absolute row numbers `[b, q]`; query_valid: `[b, q]`, False for a padded query (computed, thrown away);
    key_valid: `[b, k]`. Returns `[b, q, k]` bool, True = may read. Raises `NoVisibleKey`.
    """
    key_rows = torch.arange(key_valid.shape[1], device=query_rows.device)
    mask = visibility.allows(query_rows[:, :, None], key_rows[None, None, :]) & key_valid[:, None, :]
    blind = query_valid & ~mask.any(-1)
    if bool(blind.any()):
        request, at = blind.nonzero()[0].tolist()
        raise NoVisibleKey(relation, request, int(query_rows[request, at]))
    return mask
