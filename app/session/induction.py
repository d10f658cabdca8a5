"""Whether a model finds what follows where the same sign stood before, and which heads do it (`models/tasks/repeats.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from app.session.training import batches
from models import Inputs
from models.parts.tap import Recorder
from models.tasks import Example, Task
from models.tasks.objective import batch, shift


@torch.no_grad()
def induction(model: nn.Module, examples: Sequence[Example], task: Task) -> dict[str, Any]:
    """Of all rows of the second copy whose next sign can be known: how often it is the most probable one, and for each layer the
    best head's mean weight on the row before ("previous") and on the row after the sign's first place ("induction").

    Sign i is given at row i + 1 (row 0: <bos>). Row n + j, given sign j - 1 again, must find row j + 1, which is given sign j.
    """
    right, rows, found = 0, 0, {"previous": torch.zeros(()), "induction": torch.zeros(())}
    for some in batches(examples):
        _, target = batch(task, some)
        recorder = Recorder()
        outputs, _ = model(Inputs(shift(target).inputs), model.initial_state(len(some)), recorder)  # type: ignore[operator]
        best = outputs.values.argmax(-1)
        at = [(b, len(e.target) // 2 + j, j + 1) for b, e in enumerate(some) for j in range(1, len(e.target) // 2)]
        b, row, key = torch.tensor(at).T
        right, rows = right + int((best[b, row] == target.values[b, row + 1]).sum()), rows + len(at)
        maps = [r.value for p, r in recorder.tape.finish().records.items() if p.endswith(".self.weights")]
        for name, keys in (("previous", row - 1), ("induction", key)):
            found[name] = found[name] + torch.stack([m[b, :, row, keys].sum(0) for m in maps])
    return {"right": right / rows, "rows": rows, **{name: (sums / rows).max(-1).values.tolist() for name, sums in found.items()}}
