"""A Spec's formulas as MathML, made here so that the page needs nothing for it, with a line of text for who hears them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from html import unescape
from xml.etree import ElementTree

from latex2mathml.converter import convert_to_element

from app.session import given
from app.session.events import FormulaInfo
from app.session.scenario import Scenario
from models.catalogue import read_config
from models.parts.formulas import Formula

SIGNS = {"mfrac": "({}) / ({})", "msub": "{}_{} ", "msup": "{}^{} ", "msubsup": "{}_{}^{} "}


def declared(scenario: Scenario) -> tuple[Formula, ...]:
    """The formulas of this scenario's architecture, with its numbers."""
    spec = given.spec_of(scenario)
    config, _ = read_config(spec, scenario.config)
    return spec.formulas(config)


class Formulas:
    """What a page is told of them: `infos`, each once, and which of them is a path's."""

    def __init__(self, declared: Sequence[Formula]) -> None:
        self.declared = declared
        self.infos = tuple(dict.fromkeys(_info(f) for f in declared))

    def index(self, path: str) -> int | None:
        """Of the first formula whose glob this path fits."""
        found = next((f for f in self.declared if fnmatchcase(path, f.path)), None)
        return None if found is None else self.infos.index(_info(found))


def _info(formula: Formula) -> FormulaInfo:
    return FormulaInfo(mathml(formula.latex), mathml(formula.gradient) if formula.gradient else "", formula.means)


@lru_cache(maxsize=1024)
def mathml(latex: str) -> str:
    """One formula as a `math` element. Raises ValueError where it is not LaTeX that can be converted."""
    try:
        math = convert_to_element(latex)
        for element in math.iter():
            element.text = unescape(element.text or "")  # the converter leaves character references in it
        alttext = " ".join(said(math).split()).replace(" ^", "^").replace(" ]", "]").replace(" )", ")")
    except Exception as error:
        raise ValueError(f"the formula {latex!r} cannot be converted: {type(error).__name__} {error}") from error
    unknown = [e.text for e in math.iter() if e.text and e.text.startswith("\\")]
    if unknown:
        raise ValueError(f"the formula {latex!r} has commands that are not known: {', '.join(map(str, unknown))}")
    math.attrib.pop("display")
    math.set("alttext", alttext)
    return ElementTree.tostring(math, encoding="unicode")


def said(element: ElementTree.Element) -> str:
    """A formula as a line of text: "A = softmax(Q K^⊤ / √16 + M)"."""
    parts = [said(child) for child in element]
    match element.tag.rpartition("}")[2]:
        case "mo":
            text = element.text or ""
            return f" {text} " if text in "=+−/⊙" else text
        case "msqrt":
            return f"√{''.join(parts)}"
        case "mspace":
            return " "
        case "mfrac" | "msub" | "msup" | "msubsup" as tag if parts:
            return SIGNS[tag].format(*parts)
    return "".join([element.text or "", *parts])
