"""Draft and verify: a second model proposes some tokens, this one reads them all in one call and keeps what it would have taken.

The one exception to a decision a call (000 0x0B.5, 0x0B.9). With greedy decoding the text is the same, token by token, as without
a draft: a proposal is kept only where it is this model's own choice, and after the first other one this model's choice stands.
Source: Leviathan et al. 2023, Fast Inference from Transformers via Speculative Decoding, arXiv 2211.17192, section 2.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from app.session import given, weights
from app.session.analyses import Result, Run, whole
from app.session.events import Check, Refused
from app.session.scenario import Scenario, defaults
from models import Inputs, Rows
from models.catalogue import architectures
from models.parts.tap import OFF
from models.tasks import EOS

NAME = "draft_verify"
TITLE = "Several tokens a call: one model drafts, this one verifies"
CLAIM = "draft and verify = greedy"
ARGUMENTS = {
    "drafter": "an architecture with shipped weights of the same task; left out, the smallest",
    "ahead": "proposed tokens a round, from 1 to 8",
    "request": "a request, from 0",
}


class Writer:
    """A model that continues a text greedily, from all of its rows each time."""

    def __init__(self, model: nn.Module, scenario: Scenario, request: int, device: torch.device) -> None:
        self._model: Any = model
        self._scenario, source = scenario, given.source_rows(scenario)
        if source is not None:
            n = source.lengths[request : request + 1]
            source = Rows(source.values[request : request + 1, : int(n[0])], n).to(device)
        self._source, self._device, self.most = source, device, given.spec_of(scenario).capabilities.largest_rows

    @torch.no_grad()
    def choices(self, ids: Sequence[int], rows: int) -> list[int]:
        """The likeliest next token of each of the last `rows` rows, in one call."""
        target = Rows(torch.tensor([ids], device=self._device), torch.tensor([len(ids)], device=self._device))
        inputs = Inputs(target, self._source, given.visibility(self._scenario))
        out, _ = self._model(inputs, self._model.initial_state(1), OFF)
        chosen: Tensor = out.values[0, -rows:].argmax(-1)
        return chosen.tolist()


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """rounds: proposed, how many were kept, this model's own token; calls, tokens a call; the same text without a draft."""
    scenario = run.place.scenario
    if run.place.phase == "train" or given.task_of(scenario).objective != "next_token":
        raise Refused.one("phase", run.place.phase, "decode", "A draft is made where a text is written: enter decode.")
    allowed = drafters(scenario)
    drafter = arguments.get("drafter", allowed[0] if allowed else None)
    if drafter not in allowed:
        names = ", ".join(allowed) or "none: no other model ships weights for this task"
        raise Refused.one("arguments.drafter", drafter, names, f"drafter was given {drafter!r}; allowed: {names}")
    ahead = whole(arguments, "ahead", 1, 8, 4)
    b = whole(arguments, "request", 0, len(scenario.requests) - 1, 0)
    own, other = Writer(run.model, scenario, b, run.device), _other(str(drafter), scenario, b, run.device)
    prompt = given.prompts(scenario)[b]
    most = min(own.most, other.most, len(prompt) + scenario.policy.limit) - len(prompt)
    alone = yield from _alone(own, prompt, most)
    written, rounds = yield from _drafted(own, other, prompt, most, ahead, given.task_of(scenario).target.words)
    same = written == alone
    yield Check(NAME, CLAIM, "pass" if same else "fail", f"{len(written)} tokens, {len(rounds)} calls", "measured")
    counted = {"proposed": sum(len(r["proposed"]) for r in rounds), "kept": sum(r["kept"] for r in rounds)}
    yield Result(
        {
            **{"drafter": drafter, "drafters": allowed, "ahead": ahead, "request": b, "rounds": rounds, "same": same, **counted},
            **{"tokens": len(written), "calls": len(rounds), "alone": len(alone)},
        }
    )


def drafters(scenario: Scenario) -> list[str]:
    """Architectures that write for the same task with shipped weights, the smallest first."""
    sizes = {
        name: min(((weights.FOLDER / c["file"]).stat().st_size for c in _shipped(name, scenario.task)), default=0)
        for name, spec in architectures().items()
        if name != scenario.architecture and "decode" in spec.phases and scenario.task in spec.tasks
    }
    return sorted((name for name, size in sizes.items() if size), key=lambda name: (sizes[name], name))


def _shipped(name: str, task: str) -> list[dict[str, Any]]:
    return [c for c in weights.checkpoints(name) if c["task"] == task]


def _other(name: str, scenario: Scenario, request: int, device: torch.device) -> Writer:
    """The drafter reads the same request, by its own masks."""
    asked = scenario.requests[request].model_dump(mode="json")
    config = _shipped(name, scenario.task)[0]["config"]
    own = defaults(name, scenario.task, config=config, requests=[asked], seed=scenario.seed)
    return Writer(weights.build(own, device)[0], own, 0, device)


def _alone(own: Writer, prompt: list[int], most: int) -> Generator[float, None, list[int]]:
    """The text without a draft, a token a call."""
    written: list[int] = []
    while len(written) < most and EOS not in written[-1:]:
        written += own.choices([*prompt, *written], 1)
        yield 0.4 * len(written) / most
    return written


def _drafted(
    own: Writer, other: Writer, prompt: list[int], most: int, ahead: int, words: Sequence[str]
) -> Generator[float, None, tuple[list[int], list[dict[str, Any]]]]:
    """The text with a draft of up to `ahead` tokens a call, and its rounds."""
    written: list[int] = []
    rounds: list[dict[str, Any]] = []
    while len(written) < most and EOS not in written[-1:]:
        proposed: list[int] = []
        while len(proposed) < min(ahead, most - len(written) - 1) and EOS not in proposed[-1:]:
            proposed += other.choices([*prompt, *written, *proposed], 1)
        choices = own.choices([*prompt, *written, *proposed], len(proposed) + 1)
        kept = next((i for i, (p, c) in enumerate(zip(proposed, choices, strict=False)) if p != c), len(proposed))
        taken = [*proposed[:kept], choices[kept]]
        taken = taken[: taken.index(EOS) + 1] if EOS in taken else taken
        written += taken
        own_token = words[choices[kept]] if len(taken) > kept else None
        rounds.append({"proposed": [words[i] for i in proposed], "kept": min(kept, len(taken)), "own": own_token})
        yield 0.4 + 0.6 * len(written) / most
    return written, rounds
