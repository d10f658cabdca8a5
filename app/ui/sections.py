"""The sections of the set-up. Their fields are built by the page (assets/lib/setup/setup.mjs) in the places named here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from app.ui import gallery, ids
from app.ui.language import say
from app.ui.parts import able, button
from models.catalogue import architectures


def setup(catalogue: Mapping[str, Any], chosen: str) -> Component:
    """The set-up: gallery, variant, input, run. `chosen`: the architecture that the page begins with."""
    rail = [
        ("model", say("Model")),
        ("variant", say("Variant")),
        ("input", say("Input")),
        ("run", say("Run")),
        ("detail", say("Inspect")),
    ]
    buttons = [
        html.Button(
            [html.I(className=f"icon {name}", **{"aria-hidden": "true"}), title],
            type="button",
            **{"data-rail": name, "aria-expanded": "false"},
        )
        for name, title in rail
    ]
    sections = [_model(catalogue, chosen), _variant(), _input(), _run()]
    content = [html.Div(buttons, className="mini-rail"), able(*sections)]
    return html.Aside(content, className="setup", **{"aria-label": say("Set-up")})


def _section(name: str, title: list[Component | str] | str, aside: Component, *content: Any) -> Component:
    return html.Section([_head(title, aside), *content], **{"data-section": name})


def _model(catalogue: Mapping[str, Any], chosen: str) -> Component:
    note = html.Span(say("icon = who sees whom"), className="note")
    return _section("model", say("Architecture"), note, *gallery.gallery(catalogue["architectures"], architectures(), chosen))


def more(group: str) -> Component:
    """Shows and hides the fields of a group that are not always shown; the page names it, and says how many are changed. (A
    summary, because those who read along may open it too: a button in a disabled group could not be pressed.)"""
    return html.Details(html.Summary(say("More"), className="link small"), **{"data-more": group})


def _variant() -> Component:
    places = [
        html.P(id=ids.CHANGED, className="note"),
        html.Dl(id=ids.VARIANT, className="kv"),
        html.P(id=ids.COUNT, className="note count"),
        html.Div(id=ids.WEIGHTS),
    ]
    return _section("variant", say("Variant"), more("config"), *places)


def _input() -> Component:
    return _section(
        "input",
        [html.Span(id=ids.INPUT_TITLE)],
        html.Span(id=ids.EXAMPLE),
        html.Dl(id=ids.BATCH, className="kv in-train"),
        html.Div(id=ids.REQUESTS),
        html.P(id=ids.PRESET_NOTE, className="note"),
    )


def _run() -> Component:
    answers = [button(say("Reset"), "resetNow", name="btn sm"), button(say("Cancel"), "keep", ids.KEEP, name="btn sm")]
    sure = html.Div(
        [html.P(id=ids.RESET_WORDS, className="note"), html.Div(answers, className="row")],
        id=ids.RESET_ASK,
        role="alertdialog",
        hidden=True,
        **{"aria-labelledby": ids.RESET_WORDS},
    )
    undo = button(say("Undo"), "undo", ids.UNDO, name="btn sm", title=say("Take back the last change of the set-up (Ctrl+Z)"))
    redo = button(say("Redo"), "redo", ids.REDO, name="btn sm", title=say("Make the change again that was taken back (Ctrl+Y)"))
    return html.Div(
        [
            html.Section(
                [_head(say("Training"), more("training")), html.Dl(id=ids.TRAINING, className="kv")], className="in-train"
            ),
            html.Section(
                [
                    _head([say("Decoding"), " ", html.Span(id=ids.POLICY_LINE, className="sub")], more("policy")),
                    html.Dl(id=ids.POLICY, className="kv"),
                ],
                className="in-decode",
            ),
            html.Section(
                [
                    html.Dl(id=ids.SEED, className="kv seed"),
                    html.Div([undo, redo, button(say("Reset run"), "reset", ids.RESET, name="btn sm")], className="row actions"),
                    sure,
                ]
            ),
        ],
        className="run",
        **{"data-section": "run"},
    )


def _head(title: list[Component | str] | str, aside: Component) -> Component:
    return html.Div([html.H2(title, className="h"), aside], className="hh")
