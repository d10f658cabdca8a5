"""S4D against scipy's discretisation and simulation, its two schedules against each other, and its start against HiPPO-LegS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy import signal
from torch import Tensor
from torch.testing import assert_close

from models import Rows
from models.catalogue import read_config
from models.parts import low_rank as low_rank_module
from models.parts.hippo import legs
from models.parts.linear_system import System, convolution, powers, recurrence, whole
from models.parts.low_rank import LowRank
from models.parts.tap import OFF
from models.s4 import SPEC
from tests.models.world import maker

Runs = tuple[Tensor, Tensor]


def system(**changes: Any) -> System:
    torch.manual_seed(2)
    steps = (changes.get("step_low", 1e-3), changes.get("step_high", 1e-1))
    return System(3, 8, changes.get("start", "legs"), steps, changes.get("speed", 1.0)).double()


def real_matrices(one: System, channel: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and C of one channel as a real system: each complex number is a block that turns and fades two real ones."""
    re, im = -one.A_log.exp()[channel].detach().numpy(), one.A_imag[channel].detach().numpy()
    B, C = (whole(v)[channel].detach().numpy() for v in (one.B, one.C))
    size = 2 * len(re)
    A = np.zeros((size, size))
    for j, (r, i) in enumerate(zip(re, im, strict=True)):
        A[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [[r, -i], [i, r]]
    column = np.stack((B.real, B.imag), 1).reshape(size, 1)
    row = 2 * np.stack((C.real, -C.imag), 1).reshape(1, size)  # 2 Re(C x)
    return A, column, row


@pytest.mark.parametrize("speed", [1.0, 2.5])
def test_discretisation_is_scipys(speed: float) -> None:
    one = system(speed=speed)
    kept, written = one.discrete(OFF)
    for channel in range(3):
        A, B, C = real_matrices(one, channel)
        step = speed * one.step_log[channel].exp().item()
        discrete = signal.cont2discrete(
            (A, B, C, 0.0), step, "bilinear"
        )  # its A and B; it changes C and D too, which S4 does not
        for j in range(4):
            block = discrete[0][2 * j : 2 * j + 2, 2 * j : 2 * j + 2]
            z = kept[channel, j].item()
            assert np.abs(block - [[z.real, -z.imag], [z.imag, z.real]]).max() < 1e-15
            w = written[channel, j].item()
            assert np.abs(discrete[1][2 * j : 2 * j + 2, 0] - [w.real, w.imag]).max() < 1e-15


@pytest.mark.parametrize("run", [recurrence, convolution])
def test_outputs_are_scipys(run: Any) -> None:
    """dlsim reads the state before a row's own update, so that it is given C A and C B in the places of C and D."""
    one, u = system(), torch.randn(1, 40, 3, dtype=torch.float64)
    found, _ = run(one, u, Rows(u[..., 0], torch.tensor([40])), u.new_zeros(1, 3, 8), OFF, "t")
    for channel in range(3):
        A, B, C = real_matrices(one, channel)
        A, B = signal.cont2discrete((A, B, C, 0.0), one.step_log[channel].exp().item(), "bilinear")[:2]
        _, expected, _ = signal.dlsim((A, B, C @ A, C @ B, 1.0), u[0, :, channel].numpy())
        assert np.abs(found[0, :, channel].detach().numpy() - expected[:, 0]).max() < 1e-12


@pytest.mark.parametrize("changes", [{}, {"start": "lin"}, {"step_low": 1.0, "step_high": 1.0}, {"speed": 20.0}])
def test_convolution_equals_recurrence(changes: dict[str, Any]) -> None:
    one, u = system(**changes), torch.randn(3, 30, 3, dtype=torch.float64)
    rows, before = Rows(u[..., 0], torch.tensor([30, 7, 0])), torch.randn(3, 3, 8, dtype=torch.float64)
    (read, state), (same, last) = (run(one, u, rows, before, OFF, "t") for run in (recurrence, convolution))
    valid = rows.valid[..., None]
    assert_close(torch.where(valid, read, 0.0), torch.where(valid, same, 0.0), atol=1e-10, rtol=0)
    assert_close(state, last, atol=1e-10, rtol=0)
    assert torch.equal(last[2], before[2])


def low_rank(**changes: Any) -> LowRank:
    torch.manual_seed(2)
    return LowRank(3, 8, (1e-3, 1e-1), changes.get("speed", 1.0)).double()


def legs_matrix(n: int) -> np.ndarray:
    """HiPPO-LegS entry by entry (arXiv 2111.00396, equation 2)."""
    row = range(n)
    return np.array([[-np.sqrt((2 * i + 1) * (2 * j + 1)) if i > j else -(i + 1.0) if i == j else 0.0 for j in row] for i in row])


def test_with_its_low_rank_part_it_is_hippo_legs_in_another_basis() -> None:
    """The same eigenvalues, and the same answer of B: C is free, so that A^k B must agree as lengths in LegS's own basis."""
    one = low_rank()
    A, B = one.matrix()[0].detach().numpy(), one.B[0].detach().numpy()
    legs, start = legs_matrix(8), np.sqrt(2 * np.arange(8) + 1.0)
    assert np.abs(np.poly(A) / np.poly(legs) - 1).max() < 1e-5  # parameters begin in single precision
    for power in range(4):
        ours, theirs = np.linalg.matrix_power(A, power) @ B, np.linalg.matrix_power(legs, power) @ start
        assert abs(2 * ours @ ours / (theirs @ theirs) - 1) < 1e-5, "V is unitary; half of each pair is kept"


@pytest.mark.parametrize("speed", [1.0, 2.5])
def test_the_low_rank_form_is_discretised_as_scipy_does(speed: float) -> None:
    one = low_rank(speed=speed)
    kept, written = one.discrete(OFF)
    for channel in range(3):
        A, B = one.matrix()[channel].detach().numpy(), one.B[channel].detach().numpy()[:, None]
        step = speed * one.step_log[channel].exp().item()
        discrete = signal.cont2discrete((A, B, B.T, 0.0), step, "bilinear")  # its A and B alone
        assert np.abs(kept[channel].detach().numpy() - discrete[0]).max() < 1e-12
        assert np.abs(written[channel].detach().numpy() - discrete[1][:, 0]).max() < 1e-12


def test_both_schedules_of_the_low_rank_form_agree_and_its_kernel_is_that_of_the_generating_function() -> None:
    """K by the paper's algorithm 1: its truncated generating function at the roots of unity, by Woodbury's identity, inverted."""
    one, u = low_rank(), torch.randn(3, 30, 3, dtype=torch.float64)
    rows, before = Rows(u[..., 0], torch.tensor([30, 7, 0])), torch.randn(3, 3, 8, dtype=torch.float64)
    runs = (recurrence, low_rank_module.convolution)
    (read, state), (same, last) = (run(one, u, rows, before, OFF, "t") for run in runs)
    valid = rows.valid[..., None]
    assert_close(torch.where(valid, read, 0.0), torch.where(valid, same, 0.0), atol=1e-10, rtol=0)
    assert_close(state, last, atol=1e-10, rtol=0)
    kept, written = one.discrete(OFF)
    found = one.kernel(kept, written, 16).detach().numpy()
    for channel in range(3):
        assert np.abs(found[channel] - generated(one, kept, channel, 16)).max() < 1e-10


def generated(one: LowRank, kept: Tensor, channel: int, lags: int) -> np.ndarray:
    """In complex numbers, each pair with its conjugate: both sides of A = Λ - P P*."""
    half = [whole(x)[channel].detach().numpy() for x in (one.P, one.B, one.C)]
    P, B, C = (np.concatenate((x, x.conj())) for x in half)
    pairs = -one.A_log.exp()[channel].detach().numpy() + 1j * one.A_imag[channel].detach().numpy()
    values, step = np.concatenate((pairs, pairs.conj())), one.step_log[channel].exp().item()
    A = np.diag(values) - P[:, None] * P.conj()[None, :]
    eye = np.eye(len(A))
    bar = np.linalg.solve(eye - step / 2 * A, eye + step / 2 * A)
    C = C @ (eye - np.linalg.matrix_power(bar, lags))  # truncated
    at = np.exp(-2j * np.pi * np.arange(lags) / lags)
    R = 1 / (2 / step * (1 - at)[:, None] - (1 + at)[:, None] * values)
    inner = [(R * left * right).sum(1) for left, right in ((C, B), (C, P), (P.conj(), P), (P.conj(), B))]
    spectrum = 2 * (inner[0] - (1 + at) * inner[1] * inner[3] / (1 + (1 + at) * inner[2]))
    return np.fft.ifft(spectrum).real


@pytest.mark.parametrize("form", ["s4d", "nplr"])
def test_both_schedules_give_the_model_the_same_logits(form: str) -> None:
    logits = [maker(SPEC, form=form, schedule=schedule)().logits()[1] for schedule in ("recurrence", "convolution")]
    assert_close(logits[0], logits[1], atol=1e-10, rtol=0)


def test_kernels_are_the_answer_to_one_row() -> None:
    """K_l = C Ā^l B̄ is what a system says l rows after a 1 that only zeros follow."""
    world = maker(SPEC)()
    one = torch.zeros(1, 12, 64, dtype=torch.float64)
    one[:, 0] = 1.0
    for i, (kernel, axes) in enumerate(world.model.kernels(12).values()):  # type: ignore[operator]
        system = world.model.blocks.layers[i].system  # type: ignore[index, union-attr]
        read, _ = recurrence(system, one, Rows(one[..., 0], torch.tensor([12])), one.new_zeros(1, 64, 16), OFF, "t")
        assert axes == "d l"
        assert_close(read[0].T, kernel, atol=1e-12, rtol=0)


def test_it_begins_as_hippo_legs_without_its_low_rank_part() -> None:
    """The matrix entry by entry (arXiv 2111.00396, equation 2), its eigenvalues by numpy."""
    n = 12
    A = legs_matrix(n)
    P, B = np.sqrt(np.arange(n) + 0.5), np.sqrt(2 * np.arange(n) + 1.0)
    values, vectors = np.linalg.eig(A + P[:, None] * P[None, :])
    order = np.argsort(values.imag)[n // 2 :]
    found, ours = legs(n // 2)
    assert np.abs(found.numpy() - values[order]).max() < 1e-12
    assert np.abs(values.real + 0.5).max() < 1e-12
    assert np.abs(ours.numpy() - np.abs(vectors.conj().T @ B / 2)[order]).max() < 1e-10


def test_powers_of_zero_and_of_one() -> None:
    assert powers(torch.tensor([0.0, 1.0, 2.0]), 5).tolist() == [[1, 0, 0, 0, 0], [1, 1, 1, 1, 1], [1, 2, 4, 8, 16]]


def test_a_faster_clock_is_a_larger_step() -> None:
    slow, fast = system(), system(speed=2.0)
    with torch.no_grad():
        fast.step_log.sub_(np.log(2.0))
    for ours, theirs in zip(slow.discrete(OFF), fast.discrete(OFF), strict=True):
        assert_close(ours, theirs)


@pytest.mark.parametrize(
    ("given", "field", "allowed"),
    [
        ({"step_low": 0.0}, "step_low", "a number from 1e-05 to 1.0"),
        ({"step_high": -0.1}, "step_high", "a number from 1e-05 to 1.0"),
        ({"speed": 0}, "speed", "a number from 0.05 to 20.0"),
        ({"state": 0}, "state", "a whole number from 2 to 64"),
        ({"state": 7}, "state", "an even number: two for each complex one"),
        ({"step_low": 0.5}, "step_low", "at most the largest first Δ, 0.1"),
    ],
)
def test_steps_and_states_of_nothing_are_refused(given: dict[str, Any], field: str, allowed: str) -> None:
    config, problems = read_config(SPEC, given)
    assert config is None and problems == [(field, given[field], allowed)]
