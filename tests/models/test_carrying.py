"""What is left of each row's write, for every way in which a state is carried: against the state itself, and by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from models import Spec
from models.mamba import SPEC as MAMBA
from models.parts.carrying import left
from models.parts.linear_system import parts, whole
from models.parts.tap import Recorder
from models.recurrent import SPEC as RECURRENT
from models.s4 import CLASSIFIER
from models.s4 import SPEC as S4
from tests.models.world import maker

WAYS = [
    (MAMBA, {"schedule": "scan"}),
    (MAMBA, {"schedule": "loop", "selection": "fixed"}),
    (S4, {"form": "s4d", "schedule": "recurrence"}),
    (S4, {"form": "s4d", "schedule": "convolution"}),
    (S4, {"form": "nplr", "schedule": "recurrence"}),
    (S4, {"form": "nplr", "schedule": "convolution"}),
    (RECURRENT, {"cell": "lstm"}),
    (RECURRENT, {"cell": "lstm_1997"}),
    (RECURRENT, {"cell": "gru", "update": "carries"}),
    (RECURRENT, {"cell": "gru", "update": "writes", "reset": "after"}),
]


def longest(spec: Spec, **changes: Any) -> tuple[Any, Any, Any]:
    """One request whose rows are all real, in double precision: the model's config, its state afterwards, its tape."""
    world = maker(spec, **changes)()
    world.model.double()
    alone = type(world.target)(world.target.values[1:2], world.target.lengths[1:2])
    recorder = Recorder()
    with torch.no_grad():
        _, state = world.call(alone, tap=recorder)
    return world, state, recorder.tape.finish()


@pytest.mark.parametrize(("spec", "changes"), WAYS, ids=lambda x: x.id if isinstance(x, Spec) else "-".join(x.values()))
def test_what_is_left_of_all_rows_is_the_state(spec: Spec, changes: dict[str, str]) -> None:
    world, state, tape = longest(spec, layers=2, **changes)
    (carry,) = spec.carries(world.config)
    for path, (kept, _, _) in state.kept().items():
        scope, _, name = path.rpartition(".")
        if name != carry.state:
            continue
        there = left(carry, tape.records, scope)
        assert there.shape[:2] == (1, 7) and there.shape[2:] == kept.shape[1:]
        assert_close(there.sum(1), kept, rtol=1e-10, atol=1e-12)
        assert float(there[:, 0].abs().max()) < float(there.sum(1).abs().max()), "no one row is all of it"


def test_by_hand_as_powers_of_the_discretised_matrix() -> None:
    world, _, tape = longest(S4, form="s4d")
    (carry,) = S4.carries(world.config)
    kept, written, u = (tape.records[f"layer0.{name}"].value for name in ("kept", "written", "input"))
    wanted = [parts(whole(kept) ** (6 - r) * whole(written) * u[0, r, :, None]) for r in range(7)]
    assert_close(left(carry, tape.records, "layer0")[0], torch.stack(wanted))


def test_a_forget_gate_multiplies_on_from_row_to_row() -> None:
    world, _, tape = longest(RECURRENT, cell="lstm")
    (carry,) = RECURRENT.carries(world.config)
    f, i, g = (tape.records[f"recurrence.layer0.{name}"].value[0] for name in ("forget", "input", "candidate"))
    assert_close(left(carry, tape.records, "recurrence.layer0")[0, 2], f[3] * f[4] * f[5] * f[6] * i[2] * g[2])


def test_a_state_made_anew_names_no_rows_and_a_classifier_says_as_its_language_model() -> None:
    assert RECURRENT.carries(RECURRENT.config(cell="tanh")) == ()
    assert CLASSIFIER.carries(CLASSIFIER.config()) == S4.carries(S4.config())
