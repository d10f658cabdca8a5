"""The gallery of architectures: families, cards, what a row reads in a few words, and the icon that shows who sees whom."""

from __future__ import annotations

import base64
import dataclasses
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from app.ui import ids
from app.ui.language import say
from app.ui.parts import button
from models import Spec
from models.parts.visibility import Visibility

FAMILIES = ("Recurrent", "Recurrent with attention", "Convolutional", "Attention", "State space", "Speech and vision")
MANY = 6  # architectures that are found without a search


def gallery(architectures: Sequence[Mapping[str, Any]], specs: Mapping[str, Spec], chosen: str) -> list[Component]:
    """The architectures by family and year, each with a small picture of who sees whom; a search where there are many."""
    families: dict[str, list[Mapping[str, Any]]] = {name: [] for name in FAMILIES}
    for a in sorted(architectures, key=lambda a: year(specs[a["id"]])):
        families.setdefault(a["family"], []).append(a)
    group = dmc.RadioGroup(
        id=ids.ARCHITECTURE,
        children=[_family(name, members, specs, chosen) for name, members in families.items() if members],
        **{"aria-label": say("Architecture")},
    )
    count = say("All {0}", len(architectures))
    whole = button(count, "architectures", name="link", title=say("All architectures, with their papers (A)"))
    search = html.Div(whole, id=ids.SEARCH, className="search", hidden=len(architectures) <= MANY)
    none = html.P(say("No architecture has these words."), className="note none-found", hidden=True)
    return [search, group, none]


def _family(name: str, members: Sequence[Mapping[str, Any]], specs: Mapping[str, Spec], chosen: str) -> Component:
    icons = html.Span([glyph(specs[m["id"]]) for m in members[:5]], className="gl", **{"aria-hidden": "true"})
    cards = [_card(m, specs[m["id"]]) for m in members]
    return html.Details([html.Summary([say(name), icons]), *cards], className="fam", open=any(m["id"] == chosen for m in members))


YEAR = re.compile(r"\b(19|20)\d\d\b")


def year(spec: Spec) -> str:
    """When its paper came out; of several, the first. Empty where none is named."""
    found = YEAR.search(spec.paper)
    return found[0] if found else ""


def _card(architecture: Mapping[str, Any], spec: Spec) -> Component:
    """`data-words`: what the search looks through; the choices of its settings too, so that "lstm" finds the cell."""
    name, sees, summary = say(architecture["name"]), reads(spec), say(spec.summary)
    words = html.Span([html.B(name), html.I(sees)])
    choices = [str(choice) for field in dataclasses.fields(spec.config) for choice in field.metadata.get("choices", ())]
    searched = " ".join([name, architecture["name"], spec.id, sees, say(spec.family), summary, spec.paper, *choices]).lower()
    card = dmc.RadioCard([glyph(spec), words], name=ids.ARCHITECTURE, value=architecture["id"], className="arch")
    shown = {"data-architecture": spec.id, "data-words": searched, "data-year": year(spec), "data-paper": spec.paper}
    return html.Div(card, className="card", title=summary, **shown)


OWN = {
    "causal": "its own past",
    "past": "earlier rows",
    "full": "every row",
    "prefix": "a prefix, then its past",
    "source_target": "its source, then its past",
    "sliding": "a window around it",
    "causal_sliding": "a window of its past",
    "block": "its own block",
    "causal_block": "its block's past",
}
# Beside a whole source, where the words must be few.
BESIDE = {"causal": "past + whole source", None: "state + whole source"}


def reads(spec: Spec) -> str:
    """What a row reads, in a few words, from the architecture's relations and their own masks."""
    decodes = any(r.query == "t" for r in spec.relations)
    own = next((r for r in spec.relations if r.query == r.key == ("t" if decodes else "s")), None)
    program = own.default.program if own else None
    if any(r.query == "t" and r.key == "s" for r in spec.relations):
        return say(BESIDE[program]) if program in BESIDE else say("{0} + whole source", say(OWN[str(program)]))
    if own and own.default.global_rows:
        return say("window + global rows")
    if own:
        return say(OWN[own.default.program])
    if any(r.query == "r" for r in spec.relations):
        return say("hops weigh every row")
    if spec.capabilities.has_source:
        return say("the source as one vector")
    return say(OWN["causal_sliding"]) if _windowed(spec) else say("its state alone")


def _windowed(spec: Spec) -> bool:
    """Whether a row is made of the newest rows by their place, and no state is carried."""
    return spec.family == "Convolution" or any(field.name == "window" for field in dataclasses.fields(spec.config))


def glyph(spec: Spec) -> Component:
    """An architecture's icon, as a mask over ink."""
    return html.Span(className="glyph", style={"maskImage": glyph_image(spec)})


def glyph_image(spec: Spec) -> str:
    """The icon as a CSS image, 80 x 80. It is the visibility: query rows downwards, key columns to the right, five of each.

    A PNG of 150 bytes: a browser needs a millisecond or two to set up each SVG, and the page shows a dozen."""
    side, gap = 16, 1
    lines = [[round(255 * level) * (gap <= x < side - gap) for level in row for x in range(side)] for row in _pattern(spec)]
    drawn = [bytes(line) if gap <= y < side - gap else bytes(len(line)) for line in lines for y in range(side)]
    return f'url("data:image/png;base64,{base64.b64encode(_png(drawn)).decode()}")'


def _png(lines: list[bytes]) -> bytes:
    """A black picture of these opacities, 0 to 255, line by line (PNG, colour type 4: grey with alpha)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    head = len(lines[0]).to_bytes(4) + len(lines).to_bytes(4) + bytes([8, 4, 0, 0, 0])
    pixels = b"".join(b"\0" + bytes(value for alpha in line for value in (0, alpha)) for line in lines)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b"")


def _small(seen: Visibility) -> Visibility:
    """A window that can be seen as one in five rows."""
    return replace(seen, parameter=min(seen.parameter, 1)) if seen.program == "sliding" else seen


def _pattern(spec: Spec) -> list[list[float]]:
    """How strongly each of 5 x 5 cells is drawn: source keys above, own keys below; a model without reads keeps a state."""
    cross = [r.default.dense(5, 5).tolist() for r in spec.relations if r.query == "t" and r.key == "s"]
    own = [r.default.dense(5, 5, border=3).tolist() for r in spec.relations if r.query == r.key == "t"]
    if not cross and not own:
        own = [_small(r.default).dense(5, 5).tolist() for r in spec.relations if r.query == r.key == "s"]
    if any(r.query == "r" for r in spec.relations):  # a few rows that weigh all of the source
        return [[0.9 if r % 2 == 0 else 0.1 for _ in range(5)] for r in range(5)]
    if not cross and not own and spec.capabilities.has_source:
        return [[1.0 if c == 2 else 0.1 for c in range(5)] for _ in range(5)]  # all that is known of the source is one vector
    if not cross and not own:
        return [[1.0 if c == r else 0.62 if c == r - 1 else 0.1 for c in range(5)] for r in range(5)]
    split = 2 if cross and own else 5 if cross else 0
    source = [[0.9 if seen else 0.1 for seen in row] for row in cross[0][:split]] if cross else []
    return source + [[(0.6 if cross else 0.9) if seen else 0.1 for seen in row] for row in (own[0][split:] if own else [])]
