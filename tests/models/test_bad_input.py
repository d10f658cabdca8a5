"""What the recurrent and convolutional families make of hardly any input, or too much: a clear message or a right result."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import Inputs, Rows, Spec
from models.catalogue import architectures, read_config
from models.luong import SPEC as LUONG
from models.parts.tap import OFF
from models.parts.visibility import NoVisibleKey
from models.recurrent import SPEC as RECURRENT

WORDS = 19
SUMMARISING = ("fixed_context", "cho_2014", "sutskever_2014", "rctm")
READING = ("bahdanau", "luong", "convs2s")


def rows(*lengths: int) -> Rows:
    generator = torch.Generator().manual_seed(3)
    return Rows(torch.randint(4, WORDS, (len(lengths), max(lengths)), generator=generator), torch.tensor(lengths))


def logits(spec: Spec, source: Rows | None, target: Rows, **config: Any) -> Tensor:
    torch.manual_seed(5)
    one: Any = spec.build(spec.config(**config), WORDS, WORDS).double()
    with torch.no_grad():
        out, _ = one(Inputs(target, source), one.initial_state(len(target.lengths)), OFF)
    return out.values


@pytest.mark.parametrize("architecture", SUMMARISING)
def test_an_empty_source_is_summarised_as_nothing(architecture: str) -> None:
    """Finite, and what stands beside it in the batch does not matter."""
    spec = architectures()[architecture]
    alone = logits(spec, rows(0), rows(3))
    beside = logits(spec, Rows(rows(0, 5).values, torch.tensor([0, 5])), rows(3, 3))
    assert alone.isfinite().all()
    assert_close(beside[0], alone[0], atol=1e-12, rtol=0)


@pytest.mark.parametrize("architecture", READING)
def test_a_source_that_cannot_be_read_is_refused_by_row(architecture: str) -> None:
    with pytest.raises(NoVisibleKey, match="row 0 of request 0 may read no key in relation 'cross'"):
        logits(architectures()[architecture], rows(0), rows(2))


@pytest.mark.parametrize("architecture", (*SUMMARISING, *READING))
@pytest.mark.parametrize("count", [1, 64, 128])
def test_one_token_and_far_more_than_trained_give_finite_scores(architecture: str, count: int) -> None:
    found = logits(architectures()[architecture], rows(count), rows(4))
    assert found.shape == (1, 4, WORDS) and found.isfinite().all()


@pytest.mark.parametrize(
    "architecture", (*SUMMARISING, *READING, "recurrent", "nplm", "lstmn", "key_value", "convolution", "residual")
)
def test_a_request_of_padding_alone_changes_no_other(architecture: str) -> None:
    spec = architectures()[architecture]
    sourced = spec.capabilities.has_source
    source, target = rows(4, 4), rows(5, 5)
    together = logits(spec, source if sourced else None, Rows(target.values, torch.tensor([5, 0])))
    alone = logits(
        spec, Rows(source.values[:1], torch.tensor([4])) if sourced else None, Rows(target.values[:1], torch.tensor([5]))
    )
    assert together.isfinite().all()
    assert_close(together[0], alone[0], atol=1e-12, rtol=0)


@pytest.mark.parametrize("score", ["dot", "general", "concat_tanh"])
def test_a_window_wider_than_the_sentence_is_the_whole_sentence(score: str) -> None:
    wide = logits(LUONG, rows(3), rows(3), alignment="local_m", D=20, score=score)
    assert_close(wide, logits(LUONG, rows(3), rows(3), alignment="global", score=score), atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("spec", "given", "says"),
    [
        (LUONG, {"D": 0}, "a whole number from 1 to 20"),
        (LUONG, {"score": "cosine"}, "concat_row"),
        (RECURRENT, {"truncate": -1}, "a whole number from 0"),
    ],
)
def test_what_cannot_be_set_is_refused_with_its_range(spec: Spec, given: dict[str, Any], says: str) -> None:
    config, problems = read_config(spec, given)
    assert config is None and says in problems[0][2]


def test_a_truncation_length_of_0_cuts_nothing() -> None:
    """0 is allowed and means: the gradient crosses all rows; 1 lets it cross none."""
    crossed = []
    for truncate in (0, 1):
        torch.manual_seed(5)
        one: Any = RECURRENT.build(RECURRENT.config(truncate=truncate), None, WORDS).double()
        out, _ = one(Inputs(rows(4)), one.initial_state(1), OFF)
        out.values[0, -1].sum().backward()
        token = next(p for n, p in one.named_parameters() if n.endswith("token.weight"))
        assert token.grad is not None
        crossed.append(bool(token.grad[rows(4).values[0, 0]].abs().sum() > 0))
    assert crossed == [True, False]
