"""Every architecture of the catalogue, in every variant, passes the contract. A new file in `models/` needs no change here."""

from __future__ import annotations

from typing import Any

import pytest

from models import Spec
from models.catalogue import architectures
from tests.models.contract import PROMISES, Check, checks
from tests.models.world import maker, variants

CASES = [
    pytest.param(
        spec, changes, check, id=f"{spec.id}-{'-'.join(f'{k}={v}' for k, v in changes.items()) or 'default'}-{check.__name__}"
    )
    for spec in architectures().values()
    for changes in variants(spec)
    for check in checks(spec)
]


@pytest.mark.parametrize(("spec", "changes", "check"), CASES)
def test_contract(spec: Spec, changes: dict[str, Any], check: Check) -> None:
    if PROMISES.get(check) in spec.gives_up(spec.config(**changes)):
        with pytest.raises(AssertionError):  # what a part is said to break, it breaks
            check(maker(spec, **changes))
    else:
        check(maker(spec, **changes))
