"""Pieces that the regions of the layout are made of: the places of views, buttons, groups of controls."""

from __future__ import annotations

from typing import Any, ClassVar

from dash import html
from dash.development.base_component import Component

from app.ui import ids
from app.ui.language import LANGUAGES, chosen, say

STAGE = "./"  # the address of the stage, seen from the other pages
# Sets the scheme, and whether the page is shown large (assets/css/projector.css), before anything is painted.
SCHEME = """<script>
  let chosen = "";
  try { chosen = localStorage.getItem("lookback-theme"); } catch { /* a browser may be told to keep nothing */ }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = chosen === "light" || chosen === "dark" ? chosen : dark ? "dark" : "light";
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
  if (new URLSearchParams(location.search).get("mode") === "class") document.documentElement.dataset.mode = "class";
</script>"""
# A visit that begins as the last one did asks for its run at once, while the browser reads the page (assets/lib/run/early.mjs).
# What it shows first is the whole page, which is laid out once; if that takes longer than a moment, the page without its values.
# These lines stand before the style sheets: a script waits for those that are named before it.
EARLY = """<script>
  try {
    const sent = !document.documentElement.dataset.page && JSON.parse(localStorage.getItem("lookback-opening"));
    if (sent && !location.search && !location.hash && !history.state?.session && !sessionStorage.getItem("lookback-session")) {
      const client = crypto.getRandomValues(new Uint32Array(3)).join("-"), heard = [];
      const socket = new WebSocket(`${document.baseURI.replace(/^http/, "ws")}ws?client=${client}`);
      socket.binaryType = "arraybuffer";
      socket.onopen = () => sent.forEach((text) => socket.send(text));
      socket.onmessage = (message) => heard.push(message);
      window.lookbackEarly = { client, socket, sent, heard };
      document.documentElement.dataset.early = "";
      setTimeout(() => delete document.documentElement.dataset.early, 700);
    }
  } catch { /* a browser may be told to keep nothing */ }
</script>"""


def slot(name: str, **more: Any) -> Component:
    """The empty place that a view goes into."""
    return html.Div(id=ids.slot(name), className=f"slot slot-{name}", **more)


def button(
    words: str, act: str, id: str | None = None, *, icon: str = "", key: str = "", name: str = "btn", **more: Any
) -> Component:
    """A button with a sign before and its key after its words. `act`: what it does, a name in assets/start.mjs."""
    parts = [html.I(className=f"icon {icon}", **{"aria-hidden": "true"})] if icon else []
    parts += [html.Span(words, className="words")] if words else []
    parts += [html.Kbd(key, **{"aria-hidden": "true"})] if key else []
    named = {} if id is None else {"id": id}
    return html.Button(parts, className=name, type="button", **named, **more, **{"data-act": act})


class Place(Component):
    """Where a control of Dash's stands: until it is made (assets/lib/page/controls.mjs) the page has the browser's own there.

    control: with an id, by which scripts know both. className: of the place.
    """

    _namespace, _type = "lookback_components", "Place"
    _base_nodes: ClassVar = ["children"]
    _children_props: ClassVar[list[str]] = []

    def __init__(self, control: Component, className: str) -> None:
        self._prop_names = self.available_properties = ["children", "className", "to"]
        self._valid_wildcard_attributes: list[str] = []
        self.available_wildcard_properties: list[str] = []
        super().__init__(children=control, className=className, to=control.id)


def able(*controls: Component) -> Component:
    """Controls of the writer: a page that reads along disables them together."""
    return html.Fieldset(list(controls), className="able")


def deck(page: str, bar: list[Component], note: str) -> Component:
    """Of a page beside the stage: its controls, where it stands, its steps. note: stands beside where."""
    where = html.P([html.B(id=f"{page}-where"), html.Span(note)], className="where")
    track = html.Ol(id=f"{page}-track", className=f"{page}-track")
    return html.Section([html.Div([*bar, where], className="deck-bar"), track], className="deck", **{"aria-label": say("When")})


def brand() -> Component:
    """The product's mark and name."""
    return html.H1([html.I(className="brand-mark", **{"aria-hidden": "true"}), html.Span("Lookback")], className="brand")


def pages(here: str, name: str = "pages hide-phone") -> Component:
    """The way to the other pages. `here`: the address of this one; `name`: the class, which says where there is room for it."""
    names = (
        (STAGE, say("Stage")),
        ("compare", say("Compare")),
        ("bench", say("Bench")),
        ("lesson", say("Lesson")),
        ("class", say("Class")),
    )
    links = [
        html.A(
            title, href=to, className="link here" if to == here else "link", **({"aria-current": "page"} if to == here else {})
        )
        for to, title in names
    ]
    return html.Nav(links, className=name, **{"aria-label": say("Pages")})


def share(page: str) -> list[Component]:
    """Of a page beside the stage: its link, its picture and its table; and where it says that the link is copied."""
    more = {"aria-haspopup": "menu", "aria-expanded": "false", "title": say("Link, picture and table")}
    said = html.Span(id=f"{page}-copied", className="note", role="status")
    return [said, button(say("Share"), "take", f"{page}-take", name="link", **more)]


def other_language() -> Component:
    """Named in its own words, for who does not read these."""
    languages = list(LANGUAGES)
    other = languages[(languages.index(chosen()) + 1) % len(languages)]
    name = f"{other.upper()}: {LANGUAGES[other]}"
    more = {"lang": other, "title": LANGUAGES[other], "aria-label": name, "data-language": other}
    return button(other.upper(), "speak", ids.LANGUAGE, name="link", **more)
