"""Who may read whom: a mask is a program plus cells in absolute row coordinates.

Rows that appear later follow the program. Three different masks keep three names everywhere: the read mask (this file),
key validity (which rows are not padding), and loss rows (which rows count in the loss).

Sources: 000 0x04B, 0x08A, 0x09B-0x09D (full, causal, prefix); 000 0x0C.2 (sliding window);
Dong et al. 2019, UniLM, arXiv 1905.03197, figure 1 (source and target in one stream);
Beltagy et al. 2020, Longformer, arXiv 2004.05150 (dilation, global rows in both directions).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

PROGRAMS: dict[str, str] = {
    "full": "every row reads every row",
    "causal": "a row reads itself and earlier rows",
    "past": "a row reads earlier rows, not itself; the first reads nothing",
    "prefix": "rows before P read each other freely, later rows are causal",
    "source_target": "rows of the source, up to each request’s own →, read each other freely; later rows are causal",
    "sliding": "a row reads rows at most r away, on both sides",
    "causal_sliding": "a row reads itself and at most r rows before it",
    "block": "rows are cut into blocks of n; a row reads its own block",
    "causal_block": "rows are cut into blocks of n; a row reads itself and earlier rows of its own block",
}
CAUSAL = frozenset({"causal", "past", "causal_sliding", "causal_block"})


class NoVisibleKey(ValueError):
    """An active query row may read no key. Carries relation, request and row, so that the message can name them."""

    def __init__(self, relation: str, request: int, row: int) -> None:
        self.relation, self.request, self.row = relation, request, row
        super().__init__(
            f"row {row} of request {request} may read no key in relation {relation!r}; allow at least one cell in row {row}"
        )


@dataclass(frozen=True)
class Cell:
    """One overruled place: query row, key row (absolute, from 0), and whether the read is allowed; or a rectangle of
    `queries` x `keys` places that begins there."""

    query: int
    key: int
    visible: bool
    queries: int = 1
    keys: int = 1


@dataclass(frozen=True)
class Visibility:
    """A mask program with its parameter, and cells that overrule it.

    every: of the rows that the program allows, only those at a distance that it divides; a window then reaches r of them, so
    `r * every` rows away (dilation). global_rows: as a query they read every row, as a key every row reads them; a causal program
    stays causal.
    """

    program: str = "full"
    parameter: int = 0
    cells: tuple[Cell, ...] = ()
    every: int = 1
    global_rows: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.program not in PROGRAMS:
            raise ValueError(f"mask program {self.program!r} is unknown; allowed: {', '.join(PROGRAMS)}")
        least = 1 if self.program in ("block", "causal_block") else 0
        if self.parameter < least:
            raise ValueError(f"mask program {self.program!r} was given {self.parameter}; allowed: {least} or more")
        if self.every < 1:
            raise ValueError(f"mask program {self.program!r} was given every {self.every}; allowed: 1 or more")

    def with_cells(self, cells: Iterable[Cell]) -> Visibility:
        """The same program with these cells overruled too (a later one overrules an earlier one at the same place)."""
        merged = {(c.query, c.key, c.queries, c.keys): c for c in self.cells}
        for cell in cells:
            place = (cell.query, cell.key, cell.queries, cell.keys)
            merged.pop(place, None)
            merged[place] = cell
        return replace(self, cells=tuple(merged.values()))

    def program_allows(self, query: Tensor, key: Tensor, border: Tensor | None = None) -> Tensor:
        """The program alone, for absolute row numbers that broadcast against each other. Bool, True = may read.

        border: the first row after the source, for the program that has one ("source_target"); None: no source ended yet."""
        allowed, distance = self._band(query, key, border), query - key
        if self.every > 1:
            allowed = allowed & (distance % self.every == 0)
        if self.global_rows:
            rows = torch.tensor(self.global_rows, device=query.device)
            reached = torch.isin(query, rows) | torch.isin(key, rows)
            least = 1 if self.program == "past" else 0
            allowed = allowed | (reached & (distance >= least) if self.program in CAUSAL else reached)
        return allowed

    def _band(self, query: Tensor, key: Tensor, border: Tensor | None) -> Tensor:
        """The program before dilation and global rows."""
        n, reach = self.parameter, self.parameter * self.every
        match self.program:
            case "full":
                return torch.ones(torch.broadcast_shapes(query.shape, key.shape), dtype=torch.bool, device=query.device)
            case "causal":
                return key <= query
            case "past":
                return key < query
            case "prefix":
                return (key <= query) | (key < n)  # a later row reads the prefix anyway
            case "source_target":
                return key <= query if border is None else (key <= query) | (key < border)
            case "sliding":
                return (query - key).abs() <= reach
            case "causal_sliding":
                return (key <= query) & (query - key <= reach)
            case "block":
                return query // n == key // n
            case "causal_block":
                return (key <= query) & (query // n == key // n)
        raise AssertionError(self.program)

    def allows(self, query: Tensor, key: Tensor, border: Tensor | None = None) -> Tensor:
        """Program and cells together, for absolute row numbers that broadcast against each other."""
        mask = self.program_allows(query, key, border)
        if not self.cells:
            return mask
        table = self._overruled.to(query.device)
        cell = table[query.clamp(max=table.shape[0] - 1), key.clamp(max=table.shape[1] - 1)]
        return (mask | (cell > 0)) & (cell >= 0)

    @cached_property
    def _overruled(self) -> Tensor:
        """1 where a cell is shown, -1 where it is hidden, 0 where the program decides; the last row and column stand for all
        later ones. One look-up, because a person may paint thousands of cells."""
        rows, columns = max(c.query + c.queries for c in self.cells) + 1, max(c.key + c.keys for c in self.cells) + 1
        table = np.zeros((rows, columns), dtype=np.int8)  # thousands of small writes: a tensor's cost a microsecond each
        for c in self.cells:
            table[c.query : c.query + c.queries, c.key : c.key + c.keys] = 1 if c.visible else -1
        return torch.from_numpy(table)

    def dense(self, queries: int, keys: int, border: int = 0) -> Tensor:
        """The structural mask `[queries, keys]` of rows counted from 0. Bool, True = may read."""
        return self.allows(torch.arange(queries)[:, None], torch.arange(keys)[None, :], torch.tensor(border))

    def sees_later(self, queries: int, keys: int) -> bool:
        """Whether any row reads a later one: then cached execution need not equal the full prefix."""
        return bool(torch.triu(self.dense(queries, keys), diagonal=1).any())


def read_mask(
    relation: str,
    visibility: Visibility,
    query_rows: Tensor,
    query_valid: Tensor,
    key_valid: Tensor,
    limit: Tensor | None = None,
    border: Tensor | None = None,
) -> Tensor:
    """Structural visibility AND key validity, refused where it leaves an active query without a key.

    query_rows: absolute row numbers `[b, q]`; query_valid: `[b, q]`, False for a padded query (computed, thrown away);
    key_valid: `[b, k]`; limit: `[b, q, k]` or None, what the architecture can read at all; border: `[b]` or None, the first row
    after each request's source. Returns `[b, q, k]` bool, True = may read. Raises `NoVisibleKey`.
    """
    key_rows = torch.arange(key_valid.shape[1], device=query_rows.device)
    at = None if border is None else border[:, None, None]
    mask = visibility.allows(query_rows[:, :, None], key_rows[None, None, :], at) & key_valid[:, None, :]
    mask = mask if limit is None else mask & limit
    blind = query_valid & ~mask.any(-1)
    if bool(blind.any()):
        request, at = blind.nonzero()[0].tolist()
        raise NoVisibleKey(relation, request, int(query_rows[request, at]))
    return mask
