"""Induction is counted as by hand."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from app.session import weights
from app.session.induction import induction
from app.session.scenario import defaults
from models import Inputs, Outputs
from models.parts.tap import Tap
from models.tasks import Example
from models.tasks.repeats import Repeats

TASK = Repeats((3, 6))


class Finds(nn.Module):
    """Reads the row before in its first layer, and in its second the row after the first place of its own sign; or only looks."""

    def __init__(self, says: bool) -> None:
        super().__init__()
        self.says = says

    def initial_state(self, batch: int) -> None:
        return None

    def forward(self, inputs: Inputs, state: None, tap: Tap) -> tuple[Outputs, None]:
        ids = inputs.target.values
        rows = torch.arange(ids.shape[1])
        before = F.one_hot((rows - 1).clamp(min=0), len(rows)).float().expand(len(ids), 1, -1, -1)
        after = (ids[:, :, None] == ids[:, None, :]).float().argmax(-1) + 1  # argmax: the first of the largest
        found = F.one_hot(after.clamp(max=len(rows) - 1), len(rows)).float()[:, None]
        (tap / "layer0" / "self")("weights", before, "b h t t'", "weights")
        (tap / "layer1" / "self")("weights", 0.75 * found, "b h t t'", "weights")
        chosen = ids.gather(1, after.clamp(max=len(rows) - 1)) if self.says else torch.zeros_like(ids)
        return Outputs("next_token", F.one_hot(chosen, len(TASK.target)).float()), None


@pytest.mark.parametrize(("says", "right"), [(True, 1.0), (False, 0.0)])
def test_induction_is_counted_as_by_hand(says: bool, right: float) -> None:
    examples = [TASK.example(1, "held_out", i) for i in range(70)]
    found = induction(Finds(says), examples, TASK)
    assert found["right"] == right and found["rows"] == sum(len(e.target) // 2 - 1 for e in examples)
    assert found["previous"] == [1.0, 0.0] and found["induction"][1] == pytest.approx(0.75)


def test_segments_are_written_twice_and_splits_share_none() -> None:
    drawn = {split: [TASK.example(3, split, i) for i in range(200)] for split in ("train", "held_out")}
    for example in (*drawn["train"], *drawn["held_out"]):
        half = len(example.target) // 2
        assert example.target[:half] == example.target[half:] and len(set(example.target)) == half and 3 <= half <= 6
    assert not {e.target for e in drawn["train"]} & {e.target for e in drawn["held_out"]}
    assert TASK.tokenize("a B 3") == ["a", "B", "3"] and Example(None, ("a",)).source is None


def test_two_layers_find_what_one_cannot() -> None:
    """The shipped weights: the first layer reads the row before, the second the row after the sign's first place."""
    made = {
        c["config"]["layers"]: c["metrics"]["induction"] for c in weights.checkpoints("decoder_only") if c["task"] == "repeats"
    }
    assert made[2]["right"] >= 0.98 and made[2]["previous"][0] > 0.5 and made[2]["induction"][1] > 0.9
    assert made[1]["right"] < 0.3
    examples = [Repeats().example(5, "held_out", i) for i in range(32)]
    for layers, low, high in ((2, 0.95, 1.0), (1, 0.0, 0.4)):
        given = defaults("decoder_only", "repeats", config={"position": "rope", "d_ff": 64, "layers": layers})
        model, loaded = weights.build(given, "cpu")
        assert loaded["kind"] == "trained" and loaded["source"]["exchanged"] == {}
        assert low <= induction(model, examples, Repeats())["right"] <= high
