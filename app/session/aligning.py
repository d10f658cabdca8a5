"""How well what target rows read lies on the gold alignment of a sentence, by layer and head."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from app.session.training import batches
from models import Inputs, Relation
from models.parts.tap import Recorder
from models.tasks import Example, Task
from models.tasks.objective import batch, shift
from models.tasks.translation import Translation


def aligned(model: nn.Module, task: Translation, relation: Relation, examples: Sequence[Example]) -> tuple[Tensor, int]:
    """For every layer and head of a relation: how often the row that predicts a moved adjective reads that adjective most.

    Row t of the target is given word t - 1 (row 0: <bos>) and predicts word t. Returns shares `[layer, h]`, and of how many rows.
    """
    return _hits(model, task, relation, examples, lambda e: {t: {s} for s, t in task.moved(e)})


def alignment(model: nn.Module, task: Translation, relation: Relation, examples: Sequence[Example]) -> tuple[Tensor, int]:
    """The same for every target word that has a gold link: how often its row reads a linked source word most."""

    def gold(example: Example) -> dict[int, set[int]]:
        links: dict[int, set[int]] = {}
        for s, t in example.alignment:
            links.setdefault(t, set()).add(s)
        return links

    return _hits(model, task, relation, examples, gold)


@torch.no_grad()
def _hits(
    model: nn.Module, task: Task, relation: Relation, examples: Sequence[Example], right: Callable[[Example], dict[int, set[int]]]
) -> tuple[Tensor, int]:
    """Shares `[layer, h]` of the rows that `right` names, whose largest weight lies on a source row that it allows."""
    hits, rows = torch.zeros(0), 0
    for some in batches(examples):
        source, target = batch(task, some)
        recorder = Recorder()
        model(Inputs(shift(target).inputs, source), model.initial_state(len(some)), recorder)  # type: ignore[operator]
        recorder.tape.finish()
        places = [(b, t, allowed) for b, e in enumerate(some) for t, allowed in right(e).items()]
        if not places:
            continue
        b, t = torch.tensor([p[:2] for p in places]).T
        layers = [recorder.tape.records[path].value for path in _weights_paths(recorder, relation)]
        read = torch.stack([w[b, :, t].argmax(-1) for w in layers])  # layer, place, head
        hit = torch.stack([torch.isin(read[:, i], torch.tensor(sorted(p[2]))) for i, p in enumerate(places)]).sum(0).float()
        hits, rows = hit + hits if len(hits) else hit, rows + len(places)
    return hits / rows, rows


def _weights_paths(recorder: Recorder, relation: Relation) -> list[str]:
    paths: list[str] = []
    while (path := f"{relation.path.format(layer=len(paths))}.weights") in recorder.tape.records and path not in paths:
        paths.append(path)
    return paths


def best_head(model: nn.Module, task: Translation, relation: Relation, examples: Sequence[Example]) -> tuple[int, int]:
    """(layer, head) with the largest share in `aligned`."""
    shares, _ = aligned(model, task, relation, examples)
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return layer, head
