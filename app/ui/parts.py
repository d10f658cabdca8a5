"""Pieces that the regions of the layout are made of: the places of views, buttons, groups of controls."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from app.ui import ids


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
    return html.Button(parts, className=name, type="button", disable_n_clicks=True, **named, **more, **{"data-act": act})


def able(*controls: Component) -> Component:
    """Controls of the writer: a page that reads along disables them together."""
    return html.Fieldset(list(controls), className="able")
