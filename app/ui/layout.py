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

from app.session.scenario import Policy, Training, defaults
from app.ui import bindings, controls, ids
from models.catalogue import architectures

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
                {k: a[k] for k in ("id", "name", "config_schema", "phases", "tasks")} for a in catalogue["architectures"]
            ],
            "tasks": [{k: t[k] for k in ("id", "name", "presets")} for t in catalogue["tasks"]],
        },
    }


def _embedded(data: Any) -> str:
    """JSON that neither ends its script element nor means anything to Dash's index template."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("%", "\\u0025")


def layout(catalogue: Mapping[str, Any]) -> Component:
    """Top bar, set-up, stage, inspector, status bar; on a phone a bar of buttons and tabs."""
    main = html.Main([_setup(catalogue), _stage(), _inspector()], className="main")
    app = html.Div([_top(catalogue), main, _status()], className="app")
    said = html.Div(id=ids.SAID, className="sr", role="status", **{"aria-live": "polite"})
    theme = {
        "fontFamily": "var(--font-ui)",
        "fontFamilyMonospace": "var(--font-mono)",
        "primaryColor": "dark",
        "defaultRadius": "sm",
    }
    return dmc.MantineProvider([app, _phone(), said], id=ids.PROVIDER, theme=theme)


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


def _top(catalogue: Mapping[str, Any]) -> Component:
    picker = dmc.Select(
        id=ids.PRESET,
        data=controls.presets(catalogue["tasks"]),
        placeholder="Your own input",
        maxDropdownHeight=420,
        leftSection=html.Span("Scenario", className="dim hide-phone"),
        leftSectionWidth=74,
        className="picker",
        **{"aria-label": "Scenario: an example to begin from"},
    )
    return html.Header(
        [
            html.H1([html.I(className="brand-mark", **{"aria-hidden": "true"}), html.Span("Lookback")], className="brand"),
            able(picker),
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


def _setup(catalogue: Mapping[str, Any]) -> Component:
    rail = [("model", "Model"), ("variant", "Variant"), ("input", "Input"), ("run", "Run"), ("detail", "Inspect")]
    buttons = [
        html.Button(
            [html.I(className=f"icon {name}", **{"aria-hidden": "true"}), title],
            type="button",
            **{"data-rail": name, "aria-expanded": "false"},
        )
        for name, title in rail
    ]
    sections = [_model(catalogue), _variant(catalogue), _input(), _run()]
    content = [html.Div(buttons, className="mini-rail"), html.P(id=ids.READ_ONLY, className="note", hidden=True), able(*sections)]
    return html.Aside(content, className="setup", **{"aria-label": "Set-up"})


def able(*controls: Component) -> Component:
    """Controls of the writer: a page that reads along disables them together."""
    return html.Fieldset(list(controls), className="able")


def _section(name: str, title: list[Component | str] | str, aside: Component | None, *content: Any) -> Component:
    head = html.Div([html.H2(title, className="h"), *([aside] if aside else [])], className="hh")
    return html.Section([head, *content], **{"data-section": name})


def _model(catalogue: Mapping[str, Any]) -> Component:
    note = html.Span("icon = who sees whom", className="note")
    return _section("model", "Architecture", note, controls.gallery(catalogue["architectures"], architectures(), FIRST))


def _variant(catalogue: Mapping[str, Any]) -> Component:
    panels = [
        html.Dl(
            list(controls.config(a["id"], a["config_schema"])), className="kv", hidden=a["id"] != FIRST, **{"data-for": a["id"]}
        )
        for a in catalogue["architectures"]
    ]
    weights = {"title": "Weights", "why": "shipped and trained, or drawn from the seed", "default": "trained"}
    rows = [*controls.row("weights", {**weights, "type": "choice", "choices": ["trained", "random"]})]
    return _section(
        "variant",
        "Variant",
        button("Defaults", "defaults", ids.DEFAULTS, name="link small", **{"aria-label": "Reset the variant to its defaults"}),
        *panels,
        html.Dl(rows, className="kv"),
        html.P(id=ids.WEIGHTS_LINE, className="note"),
    )


def _input() -> Component:
    return _section(
        "input",
        ["Input: ", html.Span(id=ids.INPUT_TITLE)],
        None,
        html.Div(id=ids.REQUESTS),
        html.P(id=ids.PRESET_NOTE, className="note"),
    )


def _run() -> Component:
    row = html.Div(
        [
            button("Undo", "undo", name="btn sm", title="Take back the last change of the set-up (Ctrl+Z)"),
            button("Reset run", "reset", ids.RESET, name="btn sm"),
        ],
        className="row actions",
    )
    sure = html.Div(
        [
            html.P(id=ids.RESET_WORDS, className="note"),
            html.Div(
                [button("Reset", "resetNow", name="btn sm"), button("Cancel", "keep", ids.KEEP, name="btn sm")], className="row"
            ),
        ],
        id=ids.RESET_ASK,
        role="alertdialog",
        hidden=True,
        **{"aria-labelledby": ids.RESET_WORDS},
    )
    seed = controls.row("seed", {**controls.SEED, "why": "of random weights, batches and draws"})
    training, policy = controls.settings("training", Training), controls.settings("policy", Policy)
    title = [html.Span("Training", className="in-train"), html.Span("Decoding", className="in-decode")]
    settings = [html.Dl(list(training), className="kv in-train"), html.Dl(list(policy), className="kv in-decode")]
    return _section("run", title, None, *settings, html.Dl(list(seed), className="kv"), row, sure)


def _stage() -> Component:
    read = html.Section([slot("sentence"), slot("read")], className="read", **{"aria-label": "Read"})
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
