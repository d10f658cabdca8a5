"""The smallest of models that read a whole source, and tasks for them: masked tokens, classes, CTC; words and features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Relation, Spec
from models.parts.settings import setting
from models.parts.tap import Tap
from models.parts.visibility import Visibility
from models.tasks import BLANK, WITH_MASK, Example, Features, Objective, Preset, Split, Task, Vocabulary

WORDS = Vocabulary((*WITH_MASK, "a", "b", "c", "d"), WITH_MASK)


@dataclass(frozen=True)
class Config:
    layers: int = setting(1, "Layers", "", low=1, high=2)


@dataclass(frozen=True)
class Nothing:
    lengths: Tensor

    def kept(self) -> dict[str, Any]:
        return {}


class Tiny(nn.Module):
    """Every row reads all rows alike; a linear map says what the task asks."""

    def __init__(self, config: Config, source: int | Features, target: int, objective: Objective) -> None:
        super().__init__()
        self.config, self.objective = config, objective
        words = isinstance(source, int)
        self.token = nn.Embedding(source, 8) if isinstance(source, int) else nn.Linear(source.width, 8)
        self.words, self.head = words, nn.Linear(8, target)

    def initial_state(self, batch: int) -> Nothing:
        return Nothing(torch.zeros(batch, dtype=torch.int64))

    def forward(self, inputs: Inputs, state: Nothing, tap: Tap) -> tuple[Outputs, Nothing]:
        assert inputs.source is not None
        rows, valid = tap("rows", self.token(inputs.source.values), "b s d"), inputs.source.valid
        mask = valid[:, None, :].expand(-1, valid.shape[1], -1)
        tap("read.mask", mask, "b s s'", "mask")
        weights = tap("read.weights", (mask / mask.sum(-1, keepdim=True))[:, None], "b h s s'", "weights")
        rows = torch.tanh(rows + tap("mixed", (weights @ rows[:, None])[:, 0], "b s d"))
        if self.objective == "class":
            mean = torch.where(valid[..., None], rows, 0.0).sum(1) / valid.sum(1, keepdim=True)
            return Outputs("class", tap("logits", self.head(mean), "b v", "logits"), {"size": 0.1 * mean.square().mean()}), state
        kind = "same_token" if self.objective == "masked" else "frames"
        return Outputs(kind, tap("logits", self.head(rows), "b s v", "logits")), state  # type: ignore[arg-type]


class Hidden(Task):
    id, name, summary = "hidden", "Hidden", ""
    source, target, opening = WORDS, WORDS, "<cls>"
    objective: Objective = "masked"
    presets = (Preset("one", ("a", "b", "c", "d"), (), ""),)

    def example(self, seed: int, split: Split, index: int) -> Example:
        return Example(("a", "b", "c", "d", "a", "b")[: 4 + index % 3], ())

    def tokenize(self, text: str) -> list[str]:
        return text.split()


class Strip(Task):
    """A string of 1 and 2: each is two frames bright in its own band."""

    id, name, summary = "strip", "Strip", ""
    source: Features = Features(2, 12, "frames")
    target: Vocabulary = Vocabulary((BLANK, "1", "2"), (BLANK,))
    objective: Objective = "ctc"

    @property
    def presets(self) -> tuple[Preset, ...]:  # type: ignore[override]
        one = self.example(0, "held_out", 1)
        return (Preset("one", None, one.target, "", one.features),)

    def example(self, seed: int, split: Split, index: int) -> Example:
        text = ("1", "2", "2", "1")[index % 3 : index % 3 + 2]
        lines = [line for t in text for line in ([0.0, 0.0], [t == "1", t == "2"], [t == "1", t == "2"])]
        return Example(None, text, (), tuple(tuple(map(float, line)) for line in lines))

    def tokenize(self, text: str) -> list[str]:
        return list(text)


class Bright(Strip):
    id, name = "bright", "Bright"
    source = Features(1, 9, "sequence")
    target: Vocabulary = Vocabulary(("dark", "light"), ())
    objective: Objective = "class"

    def example(self, seed: int, split: Split, index: int) -> Example:
        return Example(None, (("dark", "light")[index % 2],), (), ((0.2 + 0.6 * (index % 2),),) * (3 + index % 4))


def spec(task: Task) -> Spec:
    relation = Relation("own", "row reads row", "s", "s", Visibility("full"), "read")
    made: dict[str, Any] = {"family": "Attention", "summary": "", "inventory": (), "paper": "", "layers": lambda config: 1}
    return Spec(
        id=f"tiny_{task.id}",
        name="Tiny",
        config=Config,
        build=lambda config, source, target: Tiny(config, source, target, task.objective),
        relations=(relation,),
        phases=("train", "prefill", "decode"),
        tasks=(task.id,),
        capabilities=Capabilities(has_source=True, causal=False, largest_source=12),
        **made,
    )
