"""How the values of a model come about, as formulas in LaTeX that the page prints beside them.

A Spec declares them for its taps and parameters (`Spec.formulas`), with its Config's own numbers filled in. Letters carry their
role, so that a formula speaks of Q, K and V in the colours of the page: `q("Q")`, `k("K")`, ...
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """Of all taps (and parameters: "parameter.NAME") that the glob `path` fits; of several that fit, the first.

    latex: how it is computed, rows as row vectors, matrices as they are stored (`x W^T` for an nn.Linear).
    means: what it is, in one plain phrase. gradient: the same for d loss / d value, where it says more than the chain rule.
    """

    path: str
    latex: str
    means: str = ""
    gradient: str = ""


def role(name: str, latex: str) -> str:
    """A part of a formula in the role of a query, key, value, parameter or gradient."""
    return rf"\class{{{name}}}{{{latex}}}"


def q(latex: str) -> str:
    """In the role of a query."""
    return role("query", latex)


def k(latex: str) -> str:
    """In the role of a key."""
    return role("key", latex)


def v(latex: str) -> str:
    """In the role of a value."""
    return role("value", latex)


def p(latex: str) -> str:
    """In the role of a parameter."""
    return role("parameter", latex)


def d(latex: str) -> str:
    """The derivative of the loss by this."""
    return role("gradient", rf"\partial L / \partial {latex}")


def linear(path: str, y: str, x: str, weight: str = "W", bias: str = "b", of: str = "row", row: str = "t") -> tuple[Formula, ...]:
    """The weight and the bias of an nn.Linear that gives rows y from rows x; `row` numbers them."""
    latex = rf"{y} = {x} {p(weight)}^{{\top}} + {p(bias)}"
    total = rf"\sum_{{{row}}}"
    return (
        Formula(f"{path}.weight", latex, f"learned matrix that makes {of}", rf"{d(weight)} = {total} ({d(y)})^{{\top}} {x}"),
        Formula(f"{path}.bias", latex, f"learned shift of {of}", rf"{d(bias)} = {total} {d(y)}"),
    )


def layer_norm(path: str, y: str, x: str) -> tuple[Formula, ...]:
    """Scale and shift of an nn.LayerNorm, which gives y from rows x."""
    latex = rf"{y} = {p('g')} \odot \frac{{{x} - \mu}}{{\sigma}} + {p('b')}"
    return (
        Formula(f"{path}.weight", latex, "learned scale of each place of a normalised row"),
        Formula(f"{path}.bias", latex, "learned shift of each place of a normalised row"),
    )
