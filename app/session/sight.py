"""What an encoder is good at beyond its accuracy: agreement at a hidden word, and whether the needle is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from app.session.training import batches
from models import Inputs, Spec
from models.parts.tap import OFF, Recorder
from models.tasks import Example, Special, Task
from models.tasks.agreement import GENDERED, OTHER
from models.tasks.masked_french import MaskedFrench
from models.tasks.needle import NEEDLES, Needle
from models.tasks.objective import opened, pad


def measure(model: nn.Module, task: Task, spec: Spec, examples: Sequence[Example]) -> dict[str, Any]:
    """What applies to this task. Plain data, for a checkpoint's provenance."""
    if isinstance(task, MaskedFrench):
        return agreement(model, task, examples)
    if isinstance(task, Needle) and any(r.default.global_rows for r in spec.relations):
        return {"cls_reads_needle": needle(model, task, spec, examples)}
    return {}


@torch.no_grad()
def agreement(model: nn.Module, task: MaskedFrench, examples: Sequence[Example]) -> dict[str, float]:
    """Of singular determiners whose form tells the gender, each hidden alone: how often the most probable word is one, and of the
    right gender ("agreement")."""
    cases = [(e.source or (), i) for e in examples for i, w in enumerate(e.source or ()) if w in OTHER]
    right, words = 0, task.source
    genders = {w: _gender(w) for w in OTHER}
    for some in batches(cases):
        tokens = [[Special("<mask>") if j == i else w for j, w in enumerate(source)] for source, i in some]
        rows = pad([words.encode(opened(task, one)) for one in tokens])
        logits = model(Inputs(pad([()] * len(some)), rows), model.initial_state(len(some)), OFF)[0].values  # type: ignore[operator]
        said = words.decode(logits.argmax(-1)[torch.arange(len(some)), [i + 1 for _, i in some]].tolist())
        right += sum(genders.get(word) == genders[source[i]] for word, (source, i) in zip(said, some, strict=True))
    return {"agreement": right / len(cases), "hidden_determiners": len(cases)}


def _gender(determiner: str) -> int:
    return next(forms.index(determiner) for forms in GENDERED if determiner in forms)


@torch.no_grad()
def needle(model: nn.Module, task: Needle, spec: Spec, examples: Sequence[Example]) -> float:
    """The best layer and head: how often the largest weight of <cls> lies on the needle."""
    hits = torch.zeros(0)
    for some in batches(examples):
        recorder = Recorder()
        rows = pad([task.source.encode(opened(task, e.source or ())) for e in some])
        model(Inputs(pad([()] * len(some)), rows), model.initial_state(len(some)), recorder)  # type: ignore[operator]
        records, path = recorder.tape.finish().records, spec.relations[0].path
        reads = [r.value[:, :, 0] for p, r in records.items() if p.endswith(".weights") and p.startswith(path.partition("{")[0])]
        places = torch.tensor([1 + next(i for i, w in enumerate(e.source or ()) if w in NEEDLES) for e in some])
        here = torch.stack([(w.argmax(-1) == places[:, None]).sum(0) for w in reads]).float()
        hits = here if not len(hits) else hits + here
    return float(hits.max()) / len(examples)
