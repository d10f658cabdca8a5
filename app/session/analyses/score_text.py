"""The probability of a text that a person gives: log p of each of its tokens and of <eos> after them, and their sum.

    log p(y | x, prompt) = sum over j of log p(y_j | x, prompt, y_<j) + log p(<eos> | x, prompt, y)

Cho et al. 2014, arXiv 1406.1078, section 3.1, score phrase pairs so. One call, teacher-forced: every token is given, whatever the
model would have chosen. At temperature 1, by the weights and edits in force. A word that the vocabulary does not have is scored
as <unk>, and said. Source: 000 0x01B.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from app.session import given
from app.session.analyses import Result, Run
from app.session.events import Check, Refused
from app.session.problems import shorten
from app.session.reading import listening
from models import Rows
from models.tasks import EOS
from models.tasks.objective import pad

NAME = "score_text"
TITLE = "How probable a given text is"
ARGUMENTS = {"request": "a request, from 0", "text": "the text to score; it may be empty"}
LONGEST = 4000  # characters


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """By token: what was given, its id, log p (nats), its rank, and the word that was more probable than all others."""
    scenario = run.place.scenario
    task, spec = given.task_of(scenario), given.spec_of(scenario)
    if task.objective != "next_token":
        raise Refused.one(
            "name", NAME, "a task that writes a text", f"{task.name} writes no text, so that there is none to score."
        )
    prompts, source = given.prompts(scenario), given.source_rows(scenario)
    request, words = _request(arguments, len(prompts)), task.tokenize(_text(arguments))
    prompt, ids = prompts[request], [*task.target.encode(words), EOS]
    most = spec.capabilities.largest_rows - len(prompt)
    if len(words) > most:
        message = f"The text has {len(words)} tokens; allowed: at most {most} after the known target. Score a shorter text."
        raise Refused.one("arguments.text", len(words), f"at most {most} tokens", message)
    log_p = torch.log_softmax(_logits(run, [*prompt, *ids[:-1]], source, request)[len(prompt) - 1 :].double(), -1).cpu()
    own = log_p[torch.arange(len(ids)), torch.tensor(ids)]
    ranks = (log_p > own[:, None]).sum(-1) + 1
    best = log_p.argmax(-1)
    told = {"request": request, "tokens": [*words, "<eos>"], "ids": ids, "known": task.target.decode(prompt)}
    numbers = {
        "log_p": own.tolist(),
        "total": float(own.sum()),
        "rank": ranks.tolist(),
        "best": best.tolist(),
        "best_log_p": log_p.amax(-1).tolist(),
    }
    yield Result({**told, **numbers, "unknown": task.target.unknown(words)})


def _logits(run: Run, row: list[int], source: Rows | None, request: int) -> Tensor:
    """Of every row of one request `[t, v]`: it stands alone, at its place in the batch, so that edits of it find it."""
    scenario, size = run.place.scenario, len(run.place.scenario.requests)
    target, read = pad([row] * size).to(run.device), None
    if source is not None:
        length = source.lengths[request : request + 1]
        read = Rows(source.values[request : request + 1, : int(length)].expand(size, -1), length.expand(size)).to(run.device)
    with torch.no_grad():
        inputs = given.inputs(scenario, target, read, [0] * size)
        tap = listening(run.model, scenario, [0] * size, None)
        outputs, _ = run.model(inputs, run.model.initial_state(size), tap)  # type: ignore[operator]
    return outputs.values[request]


def _request(arguments: dict[str, Any], count: int) -> int:
    value = arguments.get("request", 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < count:
        allowed = f"a whole number from 0 to {count - 1}"
        raise Refused.one("arguments.request", value, allowed, f"request was given {shorten(value)!r}; allowed: {allowed}")
    return value


def _text(arguments: dict[str, Any]) -> str:
    text = arguments.get("text")
    if not isinstance(text, str) or len(text) > LONGEST:
        allowed = f"a text of at most {LONGEST} characters"
        raise Refused.one("arguments.text", shorten(text), allowed, f"text was given {shorten(text)!r}; allowed: {allowed}")
    return text
