"""The page: a fixed layout of regions and controls; index.py writes it into the index, scripts put views into its slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from app.session.scenario import defaults
from app.ui import controls, ids
from app.ui.language import say
from app.ui.parts import STAGE, Place, able, brand, button, other_language, pages, slot
from app.ui.sections import setup
from app.ui.still import places

FIRST = "encoder_decoder"


def _lesson() -> tuple[Component | None, Component]:
    return None, html.Aside(id="lesson", className="lesson", **{"aria-label": say("Lesson")})


def _class() -> tuple[Component | None, Component]:
    bar = html.Section(id="class-bar", className="class-bar", **{"aria-label": say("Class")})
    return bar, html.Aside(id="class-side", className="class-side", **{"aria-label": say("Class")})


# Pages that are the stage with something beside it: what stands under the top bar, and beside the stage. assets/NAME/ fills both.
GUIDED: dict[str, Callable[[], tuple[Component | None, Component]]] = {"lesson": _lesson, "class": _class}


def page(catalogue: Mapping[str, Any], here: str | None = STAGE) -> list[Component]:
    """Top bar, set-up, stage, inspector, status bar; on a phone a bar of buttons and tabs.

    here: which page this is, among those that it shows the way to; None: a replay, which has no other pages.
    """
    others = pages(here, "pages on-phone") if here else None  # in the set-up there, since the top bar has no room
    bar, beside = GUIDED[here]() if here and here in GUIDED else (None, None)
    main = html.Main([others, setup(catalogue, FIRST), _stage(), _inspector(), beside], className="main")
    app = html.Div([_top(catalogue, here), bar, main, _status()], className="app")
    said = html.Div(id=ids.SAID, className="sr", role="status", **{"aria-live": "polite"})
    return [app, _phone(here), said]


def controls_of(content: Any) -> Component:
    """What Dash makes of a page: the controls that stand in its places."""
    theme = {
        "fontFamily": "var(--font-ui)",
        "fontFamilyMonospace": "var(--font-mono)",
        "primaryColor": "dark",
        "defaultRadius": "sm",
    }
    return dmc.MantineProvider(list(places(content)), theme=theme)


def _top(catalogue: Mapping[str, Any], here: str | None) -> Component:
    picker = dmc.Select(
        id=ids.PRESET,
        data=controls.presets(catalogue["tasks"], defaults(FIRST).task),
        placeholder=say("Your own input"),
        searchable=True,
        selectFirstOptionOnChange=True,
        nothingFoundMessage=say("No example has these words"),
        renderOption={"function": "example"},
        maxDropdownHeight=520,
        leftSection=say("Scenario"),
        leftSectionWidth=74,
        **{"aria-label": say("Scenario: an example to begin from")},
    )
    return html.Header(
        [
            brand(),
            _lessons() if here == "lesson" else None,
            able(Place(picker, "picker")),
            html.Div(id=ids.HINTS, className="hints", hidden=True),
            html.P(id=ids.READ_ONLY, className="read-only", role="status", hidden=True),
            html.Span(className="sp"),
            pages(here) if here else None,
            html.Div(
                [button(say("Share"), "share", ids.SHARE, name="link", **{"aria-haspopup": "dialog"})],
                id=ids.TOP_ACTIONS,
                className="top-actions",
            ),
            button(say("Theme"), "nextTheme", ids.THEME, name="link", **{"aria-label": say("Theme: automatic")}),
            other_language(),
        ],
        className="top",
    )


def _lessons() -> Component:
    """In the place of the examples: assets/lesson/start.mjs fills it."""
    choice = html.Select(id="lesson-pick", **{"aria-label": say("Lesson")})
    return html.Label([html.Span(say("Lesson"), className="dim"), choice], className="lesson-pick")


def _stage() -> Component:
    cold = html.P(say("Loading. The first visit takes longest."), id=ids.COLD, className="cold", role="status")
    read = html.Section([cold, slot("sentence"), slot("read")], className="read", **{"aria-label": say("Read")})
    work = html.Div([slot("training"), slot("map"), slot("charts"), slot("next")], className="work")
    nothing = html.Div(
        [html.P(id=ids.NOTHING_WORDS), button(say("Start a new run"), "startNew", name="btn step")],
        id=ids.NOTHING,
        className="nothing",
        role="alert",
        hidden=True,
    )
    content = [_deck(), read, work, slot("memory"), nothing]
    return html.Section(content, id=ids.STAGE, className="stage", **{"aria-label": say("Stage")})


def _deck() -> Component:
    names = (("train", say("Train")), ("prefill", say("Prefill")), ("decode", say("Decode")))
    phases = [{"value": v, "label": name} for v, name in names]
    units = [{"value": v, "label": name} for v, name in (("step", say("step")), ("stage", say("stage")), ("op", say("op")))]
    rates = [{"value": r, "label": f"{r}/s"} for r in ("0.5", "1", "2", "5", "10", "30")]
    name = {"aria-label": say("Play: steps a second")}
    rate = dmc.Select(id=ids.RATE, data=rates, value="2", allowDeselect=False, size="xs", **name)
    bar = [
        Place(dmc.SegmentedControl(id=ids.PHASE, data=phases, value="decode", **{"aria-label": say("Phase")}), "phase"),
        html.Div(
            [
                button(say("Back"), "back", ids.BACK, icon="back", key="←", disabled=True),
                button(say("Step"), "step", ids.STEP, icon="step", key="→", name="btn step", disabled=True),
                button(say("Play"), "play", ids.PLAY, icon="play", name="btn play", disabled=True),
                Place(rate, "rate"),
            ],
            className="row transport",
        ),
        Place(dmc.SegmentedControl(id=ids.UNIT, data=units, value="step", size="xs", **{"aria-label": say("Step size")}), "gran"),
    ]
    where = html.P([html.B(id=ids.WHERE), html.Span(id=ids.WHERE_NOTE)], className="where")
    more = button(
        "",
        "deckMore",
        icon="variant",
        name="deck-more",
        **{"aria-label": say("Speed, step size and timeline"), "aria-expanded": "false"},
    )
    content = [html.Div([able(*bar), more, where], className="deck-bar"), slot("track")]
    return html.Section(content, className="deck", **{"aria-label": say("When")})


def _inspector() -> Component:
    return html.Aside([slot("inspector"), slot("checks")], className="inspect", **{"aria-label": say("Inspector")})


def _status() -> Component:
    roles = [
        ("q", "Q", say("query")),
        ("k", "K", say("key")),
        ("v", "V", say("value")),
        ("p", "θ", say("parameter")),
        ("g", "∇", say("gradient")),
        ("d", "→", say("decision")),
    ]
    legend = html.Div(
        [html.Span([html.I(letter, className=f"tag {role}"), name]) for role, letter, name in roles], className="grp"
    )
    marks = [("m", say("measured")), ("e", say("exact")), ("f", say("formula"))]
    provenance = html.Div([html.Span([html.I(className=f"pv {mark}"), name]) for mark, name in marks], className="grp dim")
    state = html.Span([html.I(id=ids.STATUS_DOT, className="live"), html.Span(say("Connecting"), id=ids.STATUS)], className="grp")
    retry = button(say("Try now"), "retry", ids.STATUS_RETRY, name="link small", hidden=True)
    keys = button(say("All keys"), "help", key="?", name="link small")
    return html.Footer([legend, provenance, html.Span(className="sp"), state, retry, keys], className="status")


def _phone(here: str | None) -> Component:
    transport = [
        button("", "back", ids.BACK_PHONE, icon="back", disabled=True, **{"aria-label": say("Back")}),
        button(say("Step"), "step", ids.STEP_PHONE, icon="step", name="btn step", disabled=True),
        button("", "play", ids.PLAY_PHONE, icon="play", name="btn play", disabled=True, **{"aria-label": say("Play")}),
    ]
    titles = [("setup", say("Set-up")), ("stage", say("Stage")), ("inspect", say("Inspect")), ("memory", say("Memory"))]
    if here in GUIDED:  # without set-up and inspector, whose place is the way to the other pages
        own = say("Lesson") if here == "lesson" else say("Class")
        titles = [("stage", own), ("memory", say("Memory")), ("setup", say("Other pages"))]
    tabs = [
        html.Button(title, type="button", **{"data-tab-to": name, **({"aria-current": "page"} if name == "stage" else {})})
        for name, title in titles
    ]
    content = [html.Div(transport, className="tr"), html.Div(tabs, className="tabs")]
    return html.Nav(content, className="phone-nav", **{"aria-label": say("Run")})
