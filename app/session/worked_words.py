"""Those printed examples that are words rather than numbers: hidden words, the shift, an alignment. Each with its picture.

A picture is two lines of words and what leads from one to the other:
`{"top", "bottom", "links": [[i, j, weight]]}`; "" is no word. An alignment's also holds one of its reads, as the bench takes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from app.session import weights
from app.session.scenario import parse
from models import Inputs
from models.parts.tap import Recorder
from models.parts.visibility import Visibility
from models.tasks import MASK, WITH_MASK, Example, Objective, Split, Task, Vocabulary
from models.tasks.objective import Corruption, Lesson, batch, masked, pad, shift
from models.tasks.translation import TASK

ROW, HEAD = 2, 0  # of the printed alignment, the read that opens on the bench: the row that writes the third word, the first head


class _Words(Task):
    """One sentence of its own words."""

    id, name, summary, presets = "words", "words", "", ()
    objective: Objective = "masked"

    def __init__(self, words: Sequence[str]) -> None:
        self.source = self.target = Vocabulary((*WITH_MASK, *dict.fromkeys(words)), WITH_MASK)
        self.words = tuple(words)

    def example(self, seed: int, split: Split, index: int) -> Example:
        return Example(self.words, ())

    def tokenize(self, text: str) -> list[str]:
        return text.split()


@cache
def _hidden(words: tuple[str, ...], rows: tuple[int, ...]) -> tuple[_Words, Lesson]:
    """The corruption stage on these words: of the draws "0", "1", ... the first that hides these rows."""
    task = _Words(words)
    share = len(rows) / len(words)
    drawn = (
        masked(task, [task.example(0, "train", 0)], Corruption(str(key), share, hidden=1.0, replaced=0.0))
        for key in itertools.count()
    )
    return task, next(d for d in drawn if _counted(d) == list(rows))


def _counted(lesson: Lesson) -> list[int]:
    return lesson.loss_rows[0].nonzero().flatten().tolist()


def _mlm_lesson(w: dict[str, Any]) -> tuple[_Words, Lesson]:
    words = tuple(w["targets"].get(str(i), word) for i, word in enumerate(w["input"]))
    return _hidden(words, tuple(int(i) for i in w["targets"]))


def mlm(w: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    task, found = _mlm_lesson(w)
    assert found.source is not None
    rows, given = _counted(found), task.source.decode(found.source.values[0].tolist())
    yield "what the model is given", [MASK if word == "[MASK]" else word for word in w["input"]], given
    yield "loss rows", [int(i) for i in w["targets"]], rows
    yield "labels", list(w["targets"].values()), task.source.decode(found.labels[0, rows].tolist())
    sentence = tuple(f"w{i}" for i in range(20))  # long enough for the share to come out whole
    hidden = masked(_Words(sentence), [Example(sentence, ())], Corruption(rate=w["rate"])).loss_rows
    yield f"share that counts, of {len(sentence)} words", w["rate"], hidden.double().mean().item()


def mlm_picture(w: dict[str, Any]) -> dict[str, Any]:
    task, found = _mlm_lesson(w)
    assert found.source is not None
    labels, rows = task.source.decode(found.labels[0].tolist()), _counted(found)
    top = task.source.decode(found.source.values[0].tolist())
    return {"top": top, "bottom": [x if i in rows else "" for i, x in enumerate(labels)], "links": [[i, i, 1] for i in rows]}


def _shifted(w: dict[str, Any]) -> tuple[Vocabulary, Lesson]:
    words = _Words(w["tokens"]).source
    return words, shift(pad([words.encode(w["tokens"])]))


def predictions(w: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    words, found = _shifted(w)
    yield "decoder input", w["tokens"][:-1], words.decode(found.inputs.values[0].tolist())
    yield "labels", w["predicts"], words.decode(found.labels[0].tolist())
    yield "rows that count", len(w["predicts"]), int(found.loss_rows.sum())
    reads = Visibility("causal").dense(len(w["predicts"]), len(w["predicts"]))
    yield "words that each row may read", [i + 1 for i in range(len(w["predicts"]))], reads.sum(1).tolist()


def predictions_picture(w: dict[str, Any]) -> dict[str, Any]:
    words, found = _shifted(w)
    top, bottom = (words.decode(ids[0].tolist()) for ids in (found.inputs.values, found.labels))
    return {"top": top, "bottom": bottom, "links": [[i, i, 1] for i in _counted(found)]}


@cache
def _read_of_the_shipped(source: tuple[str, ...]) -> tuple[Example, dict[str, Tensor]]:
    """The gold translation, and the shipped encoder-decoder's last cross-attention as it is given that: by name `[h, t, .]`."""
    example = TASK.gold(source)
    assert example is not None
    scenario = parse({"architecture": "encoder_decoder", "task": TASK.id, "requests": [{"source": list(source)}]})
    model, _ = weights.build(scenario, "cpu")
    read, full = batch(TASK, [example])
    recorder = Recorder()
    with torch.no_grad():
        model(Inputs(shift(full).inputs, read), model.initial_state(1), recorder)  # type: ignore[operator]
    records = recorder.tape.finish().records
    last = max(path for path in records if path.endswith("cross.weights")).removesuffix("weights")
    return example, {name: records[last + name].value[0] for name in ("weights", "q", "keys", "values")}


def _lower(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


def alignment(w: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    example, read = _read_of_the_shipped(_lower(w["source_tokens"]))
    places = len(w["target_tokens"])
    printed = sorted(w["links"], key=lambda link: link[1])
    yield "target", list(_lower(w["target_tokens"])), list(example.target)
    yield "links of the grammar", printed, sorted(([s, t] for s, t in example.alignment), key=lambda link: link[1])
    most = read["weights"].mean(0)[:places].argmax(-1)
    yield "links of the largest weight, shipped encoder-decoder", printed, [[s, t] for t, s in enumerate(most.tolist())]


def alignment_picture(w: dict[str, Any]) -> dict[str, Any]:
    """The weights themselves as links, heads averaged; and one row's read in one head, as the bench takes it."""
    example, read = _read_of_the_shipped(_lower(w["source_tokens"]))
    mean = read["weights"].mean(0)[: len(example.target)].double()
    links = [[s, t, mean[t, s].item()] for t in range(mean.shape[0]) for s in range(mean.shape[1])]
    q, k, v = (read[name][HEAD].double().tolist() for name in ("q", "keys", "values"))
    first = [1.0] + [0.0] * (len(v[0]) - 1)
    names, rows = list(example.source or ()), len(k)
    bench = {"kind": "kv", "mode": "scaled_dot", "names": names, "q": q[ROW], "K": k, "V": v, "g": first}
    bench |= {"typed": [0.0] * rows, "hidden": [False] * rows}
    return {"top": names, "bottom": list(example.target), "links": links, "bench": bench, "row": example.target[ROW]}
