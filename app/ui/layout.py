"""The page as Dash sees it: a fixed layout of regions and controls, no server callbacks. Scripts put views into its slots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, html
from dash.development.base_component import Component
from fastapi import FastAPI

from app.session.scenario import defaults
from app.ui import bindings, controls, ids
from app.ui.parts import able, button, slot
from app.ui.sections import setup

ASSETS = Path(__file__).parents[2] / "assets"
PLOTLY = "_dash-component-suites/plotly/package_data/plotly.min.js"
FIRST = "encoder_decoder"
# The scheme is set before anything is painted; theme.mjs follows it later.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>{%metas%}<title>{%title%}</title><link rel="icon" href="ICON">{%css%}
<script>
  const chosen = localStorage.getItem("lookback-theme"), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = chosen === "light" || chosen === "dark" ? chosen : dark ? "dark" : "light";
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
</script>
</head>
<body>{%app_entry%}
<script type="application/json" id="lookback-data">DATA</script>
<div>{%config%}{%scripts%}{%renderer%}</div></body>
</html>"""


def build_dash(api: FastAPI, catalogue: Mapping[str, Any]) -> Dash:
    """The page, served by `api`. `catalogue` is what `GET /api/catalogue` answers."""
    app = Dash(
        __name__,
        server=False,
        backend="fastapi",
        assets_folder=str(ASSETS),
        assets_ignore=r".*\.d\.ts",
        assets_path_ignore=["^lib$", "^views$", "^fonts$"],
        title="Lookback",
        update_title=None,
        meta_tags=[{"name": "viewport", "content": "width=device-width,initial-scale=1"}],
    )
    app.backend.websocket_capability = False  # Dash's own socket; ours is in app/server
    app.init_app(api)
    app.index_string = PAGE.replace("ICON", app.get_asset_url("icon.svg")).replace("DATA", _embedded(page_data(app, catalogue)))
    app.layout = layout(catalogue)
    bindings.bind(app)
    return app


def page_data(app: Dash, catalogue: Mapping[str, Any]) -> dict[str, Any]:
    """What the scripts begin with: the views, the first scenario, ids, and the parts of the catalogue that the controls use."""
    views = sorted(path.name for path in (ASSETS / "views").glob("*.mjs"))
    return {
        "views": [app.get_asset_url(f"views/{name}") for name in views],
        "plotly": app.get_relative_path(f"/{PLOTLY}"),
        "scenario": defaults(FIRST).model_dump(mode="json"),
        "ids": ids.by_name(),
        "fields": controls.fields(catalogue),
        "catalogue": {
            "architectures": [
                {k: a[k] for k in ("id", "name", "family", "config_schema", "phases", "tasks", "checkpoints", "capabilities")}
                for a in catalogue["architectures"]
            ],
            "tasks": [{k: t[k] for k in ("id", "name", "presets")} for t in catalogue["tasks"]],
        },
    }


def _embedded(data: Any) -> str:
    """JSON that neither ends its script element nor means anything to Dash's index template."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("%", "\\u0025")


def layout(catalogue: Mapping[str, Any]) -> Component:
    """Top bar, set-up, stage, inspector, status bar; on a phone a bar of buttons and tabs."""
    main = html.Main([setup(catalogue, FIRST), _stage(), _inspector()], className="main")
    app = html.Div([_top(catalogue), main, _status()], className="app")
    said = html.Div(id=ids.SAID, className="sr", role="status", **{"aria-live": "polite"})
    theme = {
        "fontFamily": "var(--font-ui)",
        "fontFamilyMonospace": "var(--font-mono)",
        "primaryColor": "dark",
        "defaultRadius": "sm",
    }
    return dmc.MantineProvider([app, _phone(), said], id=ids.PROVIDER, theme=theme)


def _top(catalogue: Mapping[str, Any]) -> Component:
    picker = dmc.Select(
        id=ids.PRESET,
        data=controls.presets(catalogue["tasks"], defaults(FIRST).task),
        placeholder="Your own input",
        searchable=True,
        selectFirstOptionOnChange=True,
        nothingFoundMessage="No example has these words",
        renderOption={"function": "example"},
        maxDropdownHeight=520,
        leftSection=html.Span("Scenario", className="dim"),
        leftSectionWidth=74,
        className="picker",
        **{"aria-label": "Scenario: an example to begin from"},
    )
    return html.Header(
        [
            html.H1([html.I(className="brand-mark", **{"aria-hidden": "true"}), html.Span("Lookback")], className="brand"),
            able(picker),
            html.Div(id=ids.HINTS, className="hints", hidden=True),
            html.P(id=ids.READ_ONLY, className="read-only", role="status", hidden=True),
            html.Span(className="sp"),
            html.Nav(html.Span("Stage", className="link here", **{"aria-current": "page"}), className="pages hide-phone"),
            html.Div(
                [button("Share", "share", ids.SHARE, name="link", **{"aria-haspopup": "dialog"})],
                id=ids.TOP_ACTIONS,
                className="top-actions",
            ),
            button("Theme", "nextTheme", ids.THEME, name="link", **{"aria-label": "Theme: automatic"}),
        ],
        className="top",
    )


def _stage() -> Component:
    cold = html.P(id=ids.COLD, className="cold", role="status")
    read = html.Section([cold, slot("sentence"), slot("read")], className="read", **{"aria-label": "Read"})
    work = html.Div([slot("training"), slot("map"), slot("charts"), slot("next")], className="work")
    nothing = html.Div(
        [html.P(id=ids.NOTHING_WORDS), button("Start a new run", "startNew", name="btn step")],
        id=ids.NOTHING,
        className="nothing",
        role="alert",
        hidden=True,
    )
    content = [_deck(), read, work, slot("memory"), nothing]
    return html.Section(content, id=ids.STAGE, className="stage", **{"aria-label": "Stage"})


def _deck() -> Component:
    phases = [{"value": v, "label": v.capitalize()} for v in ("train", "prefill", "decode")]
    bar = [
        dmc.SegmentedControl(id=ids.PHASE, data=phases, value="decode", className="seg phase", **{"aria-label": "Phase"}),
        html.Div(
            [
                button("Back", "back", ids.BACK, icon="back", key="←"),
                button("Step", "step", ids.STEP, icon="step", key="→", name="btn step"),
                button("Play", "play", ids.PLAY, icon="play", name="btn play"),
                dmc.Select(
                    id=ids.RATE,
                    data=[{"value": r, "label": f"{r}/s"} for r in ("0.5", "1", "2", "5", "10", "30")],
                    value="2",
                    allowDeselect=False,
                    size="xs",
                    w=64,
                    **{"aria-label": "Play: steps a second"},
                ),
            ],
            className="row transport",
        ),
        dmc.SegmentedControl(
            id=ids.UNIT, data=["step", "stage", "op"], value="step", size="xs", className="gran", **{"aria-label": "Step size"}
        ),
    ]
    where = html.P([html.B(id=ids.WHERE), html.Span(id=ids.WHERE_NOTE)], className="where")
    content = [html.Div([able(*bar), where], className="deck-bar"), slot("track")]
    return html.Section(content, className="deck", **{"aria-label": "When"})


def _inspector() -> Component:
    return html.Aside([slot("inspector"), slot("checks")], className="inspect", **{"aria-label": "Inspector"})


def _status() -> Component:
    roles = [
        ("q", "Q", "query"),
        ("k", "K", "key"),
        ("v", "V", "value"),
        ("p", "θ", "parameter"),
        ("g", "∇", "gradient"),
        ("d", "→", "decision"),
    ]
    legend = html.Div(
        [html.Span([html.I(letter, className=f"tag {role}"), name]) for role, letter, name in roles], className="grp"
    )
    marks = [("m", "measured"), ("e", "exact"), ("f", "formula")]
    provenance = html.Div([html.Span([html.I(className=f"pv {mark}"), name]) for mark, name in marks], className="grp dim")
    state = html.Span([html.I(id=ids.STATUS_DOT, className="live"), html.Span("Connecting", id=ids.STATUS)], className="grp")
    retry = button("Try now", "retry", ids.STATUS_RETRY, name="link small", hidden=True)
    return html.Footer(
        [legend, provenance, html.Span(className="sp"), state, retry, button("All keys", "help", key="?", name="link small")],
        className="status",
    )


def _phone() -> Component:
    transport = [
        button("", "back", ids.BACK_PHONE, icon="back", **{"aria-label": "Back"}),
        button("Step", "step", ids.STEP_PHONE, icon="step", name="btn step"),
        button("", "play", ids.PLAY_PHONE, icon="play", name="btn play", **{"aria-label": "Play"}),
    ]
    tabs = [
        html.Button(title, type="button", **{"data-tab-to": name, **({"aria-current": "page"} if name == "stage" else {})})
        for name, title in (("setup", "Set-up"), ("stage", "Stage"), ("inspect", "Inspect"), ("memory", "Memory"))
    ]
    return html.Nav(
        [html.Div(transport, className="tr"), html.Div(tabs, className="tabs")], className="phone-nav", **{"aria-label": "Run"}
    )
