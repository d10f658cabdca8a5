"""Selective copying: what an example holds, what is held out, and how a copy is counted."""

from __future__ import annotations

import pytest
import torch

from app.session.copying import copied
from models import Inputs, Outputs
from models.parts.tap import Tap
from models.tasks.selective_copy import COPY, DOT, LETTERS, TASK


def test_an_example_repeats_its_letters_and_none_of_its_dots() -> None:
    sizes = set()
    for split in ("train", "held_out"):
        for i in range(200):
            words = TASK.example(7, split, i).target
            at = words.index(COPY)
            assert words[at + 1 :] == tuple(w for w in words[:at] if w != DOT)
            assert set(words[:at]) <= {DOT, *LETTERS} and 2 <= len(words) - at - 1 <= 4 <= at <= 32
            sizes.add(at)
    assert {6, 20, 32} <= sizes


def test_what_is_held_out_is_never_trained_on() -> None:
    train = {TASK.example(7, "train", i).target for i in range(3000)}
    assert not train & {TASK.example(s, "held_out", i).target for s in (1, 7) for i in range(500)}
    assert TASK.example(7, "train", 5) == TASK.example(7, "train", 5) != TASK.example(8, "train", 5)


def test_presets_are_prompts_that_the_task_knows() -> None:
    for preset in TASK.presets:
        assert preset.target[-1] == COPY and TASK.target.unknown(preset.target) == []


def test_text_as_it_is_typed() -> None:
    assert TASK.tokenize("..G ·C copy") == [DOT, DOT, "G", DOT, "C", COPY]


class _Copies(torch.nn.Module):
    """Says each example's letters in order, or in the other order; a stand-in for a model."""

    def __init__(self, right: bool) -> None:
        super().__init__()
        self.right = right

    def initial_state(self, batch: int) -> None:
        return None

    def forward(self, inputs: Inputs, state: None, tap: Tap) -> tuple[Outputs, None]:
        logits = torch.zeros(*inputs.target.values.shape, len(TASK.target))
        for b, row in enumerate(inputs.target.values.tolist()):
            words = TASK.target.decode(row)
            at = words.index(COPY)
            letters = [w for w in words[1:at] if w != DOT]
            for i, letter in enumerate(letters if self.right else letters[::-1]):
                logits[b, at + i, TASK.target.ids[letter]] = 1.0
        return Outputs("next_token", logits), None


@pytest.mark.parametrize("right", [True, False])
def test_copies_are_counted(right: bool) -> None:
    # four different letters: in the other order none of them stands in its place
    some = [TASK.example(2, "held_out", i) for i in range(60)]
    examples = [e for e in some if len({*e.target[e.target.index(COPY) + 1 :]}) == 4]
    found = copied(_Copies(right), TASK, examples)
    assert found == {"letters": float(right), "whole": float(right)}
