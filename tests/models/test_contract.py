"""Every architecture of the catalogue, in every variant, passes the contract. A new file in `models/` needs no change here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from models import Spec
from models.catalogue import architectures
from models.tasks import Objective
from tests.models.contract import PROMISES, Check, checks
from tests.models.encoders import ENCODER_CHECKS, ENCODER_PROMISES, encoder
from tests.models.encoders import Check as EncoderCheck
from tests.models.world import maker, objectives, variants

CASES = [
    pytest.param(
        spec, changes, check, id=f"{spec.id}-{'-'.join(f'{k}={v}' for k, v in changes.items()) or 'default'}-{check.__name__}"
    )
    for spec in architectures().values()
    if "next_token" in objectives(spec)
    for changes in variants(spec)
    for check in checks(spec)
]


@pytest.mark.parametrize(("spec", "changes", "check"), CASES)
def test_contract(spec: Spec, changes: dict[str, Any], check: Check) -> None:
    keeps(spec, changes, PROMISES.get(check), lambda: check(maker(spec, **changes)))


def keeps(spec: Spec, changes: dict[str, Any], promise: str | None, check: Callable[[], None]) -> None:
    """The check passes; where a part is said to break this promise, it breaks it."""
    if promise in spec.gives_up(spec.config(**changes)):
        with pytest.raises(AssertionError):
            check()
    else:
        check()


ENCODERS = [
    pytest.param(
        spec,
        objective,
        changes,
        check,
        id=f"{spec.id}-{objective}-{'-'.join(f'{k}={v}' for k, v in changes.items()) or 'default'}-{check.__name__}",
    )
    for spec in architectures().values()
    for objective in objectives(spec)
    if objective != "next_token"
    for changes in variants(spec)
    for check in ENCODER_CHECKS
]


@pytest.mark.parametrize(("spec", "objective", "changes", "check"), ENCODERS)
def test_contract_of_what_is_said_of_a_whole_source(
    spec: Spec, objective: Objective, changes: dict[str, Any], check: EncoderCheck
) -> None:
    keeps(spec, changes, ENCODER_PROMISES.get(check), lambda: check(encoder(spec, objective, **changes)))
