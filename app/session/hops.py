"""How different the hops of a read are (Lin et al. 2017): measured on held-out examples."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from models import Inputs, Spec
from models.parts.tap import Recorder
from models.tasks import Example, Task
from models.tasks.objective import lesson


@torch.no_grad()
def hops(model: nn.Module, task: Task, spec: Spec, batches: Sequence[list[Example]]) -> dict[str, float]:
    """Where an architecture has hops: the mean cosine of two of a request's rows of weights, over all pairs ("hop_cosine")."""
    relation = next((r for r in spec.relations if r.query == "r"), None)
    if relation is None:
        return {}
    found = []
    for some in batches:
        recorder, taught = Recorder(), lesson(task, some)
        model(Inputs(taught.inputs, taught.source), model.initial_state(len(some)), recorder)  # type: ignore[operator]
        rows = recorder.tape.finish().records[f"{relation.path.format(layer=0)}.weights"].value[:, 0]
        rows = rows / rows.norm(dim=-1, keepdim=True)
        pairs = torch.triu(torch.ones(rows.shape[1], rows.shape[1], dtype=torch.bool), 1)
        found.append((rows @ rows.transpose(1, 2))[:, pairs].flatten())
    return {"hop_cosine": float(torch.cat(found).mean())} if found[0].numel() else {}
