"""Whether a caption's words read where their digits stand: measured on held-out pictures."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from models import Inputs, Spec
from models.parts.tap import Recorder
from models.tasks import Example, Task
from models.tasks.captions import Captions
from models.tasks.objective import lesson


@torch.no_grad()
def mass(model: nn.Module, spec: Spec, task: Task, batches: Sequence[list[Example]]) -> dict[str, float]:
    """How much of what the rows that name a digit read lies in that digit's quarter of the picture, on average.

    {} for another task than captions."""
    if not isinstance(task, Captions):
        return {}
    relation, found = next(r for r in spec.relations if r.key == "s"), []
    for some in batches:
        recorder, taught = Recorder(), lesson(task, some)
        model(Inputs(taught.inputs, taught.source), model.initial_state(len(some)), recorder)  # type: ignore[operator]
        weights = recorder.tape.finish().records[f"{relation.path.format(layer=0)}.weights"].value.mean(1)
        for b, e in enumerate(some):
            found += [weights[b, word, places].sum() for word, places in task.quarters(e)]
    return {"mass": float(torch.stack(found).mean())}
