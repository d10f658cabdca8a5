"""The page of the comparison: two to four models on one input and one seed, stepped together. assets/compare/ fills it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component
from fastapi import FastAPI

from app.ui.controls import fields
from app.ui.gallery import glyph_image
from app.ui.gathered import Gathered
from app.ui.language import say
from app.ui.parts import brand, button, deck, other_language, pages, share
from app.ui.plain import add_page
from models.catalogue import architectures


def add_compare(api: FastAPI, gathered: Callable[[], Gathered], catalogue: Mapping[str, Any]) -> None:
    """`GET /compare`. catalogue: what `GET /api/catalogue` answers."""
    add_page(api, gathered, "compare", lambda: say("Lookback: compare"), _content, lambda: _data(catalogue))


def _data(catalogue: Mapping[str, Any]) -> dict[str, Any]:
    """The architectures that can be chosen, and tasks with their examples."""
    kept = ("id", "phases", "tasks", "paper")
    specs = architectures()
    models = [
        {**{k: a[k] for k in kept}, "name": say(a["name"]), "family": say(a["family"]), "glyph": glyph_image(specs[a["id"]])}
        for a in catalogue["architectures"]
    ]
    tasks = [
        {
            "id": t["id"],
            "name": say(t["name"]),
            "source": t["vocabulary"]["source"] is not None,
            "restates": t["restates"],
            "presets": [{**p, "name": say(p["name"]), "note": say(p["note"])} for p in t["presets"]],
        }
        for t in catalogue["tasks"]
    ]
    return {"architectures": models, "tasks": tasks, "fields": fields(catalogue)["config"]}


def _content() -> Component:
    main = html.Main([_deck(), _said(), _table()], className="stage")
    return html.Div([_top(), main, _status()], className="app beside compare")


def _top() -> Component:
    picker = html.Select(
        id="compare-presets", className="compare-presets", **{"aria-label": say("Scenario: an example to begin from")}
    )
    return html.Header(
        [
            brand(),
            picker,
            html.Span(className="sp"),
            pages("compare"),
            *share("compare"),
            button(say("Theme"), "theme", name="link"),
            other_language(),
        ],
        className="top",
    )


def _choice(act: str, label: str, choices: tuple[tuple[str, str, str], ...]) -> Component:
    buttons = [
        html.Button(words, type="button", title=why, **{"data-act": act, "data-value": value, "aria-pressed": "false"})
        for value, words, why in choices
    ]
    return html.Div(buttons, className=f"seg {act}", role="group", **{"aria-label": label})


def _deck() -> Component:
    bar = [
        _choice(
            "phase", say("Phase"), (("train", say("Train"), ""), ("prefill", say("Prefill"), ""), ("decode", say("Decode"), ""))
        ),
        html.Div(
            [
                button(say("Back"), "back", "compare-back", icon="back", key="←"),
                button(say("Step"), "step", "compare-step", icon="step", key="→", name="btn step"),
                button(say("Play all"), "play", "compare-play", icon="play", name="btn play"),
            ],
            className="row transport",
        ),
        _choice(
            "lead",
            say("Whose token is taken"),
            (
                ("own", say("each its own"), say("Every model goes on with the token that it chooses itself")),
                ("first", say("all take A's"), say("The first model leads: the others go on with its token")),
            ),
        ),
        _choice(
            "weights",
            say("Training begins with"),
            (
                ("trained", say("trained weights"), say("Go on from the shipped weights, where there are some")),
                ("random", say("from scratch"), say("All begin with random weights")),
            ),
        ),
        html.Label(
            [
                html.Span(id="compare-side", className="dim"),
                html.Span(id="compare-input", className="row"),
            ],
            className="row compare-input",
        ),
    ]
    return deck("compare", bar, say("same input, same seed"))


def _said() -> Component:
    return html.Section(html.P(id="compare-say", className="say", role="status"), className="compare-said")


def _table() -> Component:
    return html.Section(id="compare-grid", className="compare-grid", **{"aria-label": say("Models side by side")})


def _status() -> Component:
    marks = [("m", say("measured")), ("e", say("exact"))]
    provenance = html.Div([html.Span([html.I(className=f"pv {mark}"), name]) for mark, name in marks], className="grp dim")
    state = html.Span([html.I(id="compare-live", className="live"), html.Span(id="compare-status")], className="grp")
    return html.Footer([provenance, html.Span(className="sp"), state], className="status")
