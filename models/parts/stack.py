"""What Transformer pages share around their reads: an embedding, the feed-forward sub-layer, a stack of named blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, nn

from models.parts.norms import PostNorm, PreNorm
from models.parts.tap import Tap


class Embedding(nn.Module):
    """Ids and absolute row numbers `[b, n]` -> rows `[b, n, d]`: token vector (times `scale`) plus position."""

    def __init__(self, vocabulary: int, width: int, position: nn.Module, owner: str, scale: float) -> None:
        super().__init__()
        self.token, self.position, self.scale = nn.Embedding(vocabulary, width), position, scale
        self.id_axes, self.row_axes = f"b {owner}", f"b {owner} d"

    def forward(self, ids: Tensor, rows: Tensor, tap: Tap) -> Tensor:
        token = self.token(tap("ids", ids, self.id_axes, "ids"))
        token = tap("token", token if self.scale == 1.0 else token * self.scale, self.row_axes)
        return tap("sum", token + tap("position", self.position(rows), self.row_axes), self.row_axes)


class FeedForward(nn.Module):
    """Two linear maps with an activation between, on each row alone (2017, section 3.3)."""

    def __init__(
        self, width: int, hidden: int, norm: type[PreNorm] | type[PostNorm], owner: str, activation: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.norm, self.activation = norm(width), activation
        self.W_1, self.W_2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.row_axes, self.hidden_axes = f"b {owner} d", f"b {owner} f"

    def forward(self, x: Tensor, tap: Tap) -> Tensor:
        before = tap("before_activation", self.W_1(self.norm.enter(x, self.row_axes, tap)), self.hidden_axes)
        output = tap("output", self.W_2(tap("hidden", self.activation(before), self.hidden_axes)), self.row_axes)
        return self.norm.leave(x, output, self.row_axes, tap)


class Stack(nn.Module):
    """An embedding, blocks named layer0, layer1, ..., and what follows them (pre-norm needs a last norm, post-norm nothing)."""

    def __init__(self, embedding: Embedding, blocks: Iterable[nn.Module], final: nn.Module) -> None:
        super().__init__()
        self.embedding = embedding
        self.names: list[str] = []
        for i, block in enumerate(blocks):
            self.names.append(f"layer{i}")
            self.add_module(f"layer{i}", block)
        self.final = final

    def blocks(self) -> list[tuple[str, Any]]:
        """Their names, which are their scopes, and themselves, from the first to the last."""
        return [(name, self._modules[name]) for name in self.names]
