"""Formulas: each that an architecture declares belongs to a tap, can be shown, and speaks of roles that the page knows."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

import pytest
import torch

from app.session import weights
from app.session.formulas import declared, mathml
from app.session.probe import probe
from app.session.scenario import defaults
from models import Spec
from models.catalogue import architectures
from tests.models.world import objectives, variants

ROLES = {"query", "key", "value", "parameter", "gradient", "decision"}
CASES = [pytest.param(s, c, id=f"{s.id}-{c}") for s in architectures().values() for c in variants(s)]


@pytest.mark.parametrize(("spec", "changes"), CASES)
def test_every_formula_belongs_to_a_tap_and_can_be_shown(spec: Spec, changes: dict[str, Any]) -> None:
    paths = set[str]()
    for task in objectives(spec).values():
        scenario = defaults(spec.id, task.id, weights="random", config=changes)
        model, _ = weights.build(scenario, torch.device("cpu"))
        schema, _, _ = probe(model, scenario, torch.device("cpu"))
        paths |= {t.path for t in schema.taps}
        assert all("alttext" in i.mathml and i.mathml.startswith("<math ") for i in schema.formulas)
        assert {t.formula for t in schema.taps} - {None} == set(range(len(schema.formulas)))
    formulas = declared(scenario)
    idle = [f.path for f in formulas if not any(fnmatchcase(path, f.path) for path in paths)]
    assert idle == [], "no tap has this path"
    assert all(set(re.findall(r"\\class\{(\w+)\}", f.latex + f.gradient)) <= ROLES for f in formulas)


def test_numbers_of_the_config_stand_in_the_formulas() -> None:
    found = [f.latex for f in declared(defaults("decoder_only")) if f.path.endswith("self.scores")]
    assert len(found) == 1 and r"\sqrt{16}" in found[0]


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"\class{value}{A} = \operatorname{softmax}(Q K^{\top} / \sqrt{16} + M)", "A = softmax(QK^⊤ / √16 + M)"),
        (r"n_t = \frac{x_t - \mu}{\sigma}", "n_t = (x_t − μ) / (σ)"),
    ],
)
def test_a_formula_is_also_a_line_of_text(latex: str, said: str) -> None:
    assert re.findall('alttext="([^"]*)"', mathml(latex)) == [said]


@pytest.mark.parametrize("latex", [r"\frac{a", r"\nosuchcommand{a}"])
def test_what_is_no_formula_is_refused(latex: str) -> None:
    with pytest.raises(ValueError, match="the formula"):
        mathml(latex)
