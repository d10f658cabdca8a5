"""The page of the read bench: one read by hand, computed in the page. Its elements are made here; assets/bench/ fills them."""

from __future__ import annotations

from collections.abc import Callable

from dash import html
from dash.development.base_component import Component
from fastapi import FastAPI

from app.session.worked import printed
from app.ui.gathered import Gathered
from app.ui.language import say
from app.ui.parts import brand, button, deck, other_language, pages, share
from app.ui.plain import add_page


def add_bench(api: FastAPI, gathered: Callable[[], Gathered]) -> None:
    """`GET /bench`."""
    add_page(api, gathered, "bench", lambda: say("Lookback: read bench"), _content)


def _content() -> Component:
    return html.Div(
        [_top(), html.Main([_deck(), _read(), _written_out(), _derived()], className="stage"), _inspector(), _status()],
        className="app beside bench",
    )


def _top() -> Component:
    about = {"aria-label": say("Example: a read to begin from"), "data-worked": " ".join(printed())}
    picker = html.Select(id="bench-examples", className="bench-examples", **about)
    numbers = button(say("Worked numbers"), "worked", name="link", **{"aria-haspopup": "dialog"})
    return html.Header(
        [
            brand(),
            picker,
            numbers,
            html.Span(id="bench-note", className="note"),
            html.Span(className="sp"),
            pages("bench"),
            *share("bench"),
            button(say("Theme"), "theme", name="link"),
            other_language(),
        ],
        className="top",
    )


def _choice(name: str, label: str, choices: tuple[tuple[str, str], ...]) -> Component:
    buttons = [
        html.Button(words, type="button", **{"data-act": name, f"data-{name}": value, "aria-pressed": "false"})
        for value, words in choices
    ]
    return html.Div(buttons, className="seg phase" if name == "kind" else "seg", role="group", **{"aria-label": label})


def _size(name: str, words: str) -> Component:
    def by(act: str, sign: str, label: str) -> Component:
        return button(sign, act, name="btn xs", **{"data-size": name, "aria-label": label})

    return html.Span(
        [
            words,
            by("fewer", "−", say("fewer {0}", words)),
            html.B(id=f"bench-{name}", className="mono"),
            by("more", "+", say("more {0}", words)),
        ],
        className="row bench-size",
    )


def _deck() -> Component:
    bar = [
        _choice("kind", say("What is read"), (("h", "H"), ("kv", "K, V"))),
        html.Div(
            [
                button(say("Back"), "back", "bench-back", icon="back", key="←"),
                button(say("Step"), "step", "bench-step", icon="step", key="→", name="btn step"),
                button(say("Play"), "play", "bench-play", icon="play", name="btn play"),
            ],
            className="row transport",
        ),
        _choice("mode", say("Score"), (("dot", "q·k"), ("scaled_dot", "q·k / √d"), ("supplied", say("typed")))),
        html.Div([_size("rows", say("rows")), _size("keys", "d_k"), _size("values", "d_v")], className="row bench-sizes"),
    ]
    return deck("bench", bar, say("of one read"))


def _read() -> Component:
    enters = _choice("enters", say("Mask"), (("additive", "+ M"), ("multiply", "× M"), ("renormalise", "× M ÷ Σ")))
    return html.Section([html.P(id="bench-say", className="say", role="status"), enters], className="bench-said")


def _written_out() -> Component:
    return html.Section(
        html.Table(id="bench-table", className="bench-table"),
        className="bench-grid",
        **{"aria-label": say("The read, written out")},
    )


def _derived() -> Component:
    g = html.Span("g", className="c-g")
    jacobian = [
        _head(
            [html.Span("∂", className="c-g"), say("weight"), " / ", html.Span("∂", className="c-g"), say("score")],
            html.Span(id="bench-jrule"),
        ),
        html.Canvas(id="bench-jacobian", role="img", **{"aria-label": say("Derivative of each weight by each score")}),
        html.Div([html.Span(id="bench-low"), html.I(), html.Span(id="bench-high")], className="scale div"),
    ]
    scores = [
        _head(
            [html.Span("∂", className="c-g"), say("loss"), " / ", html.Span("∂", className="c-g"), say("score")],
            html.Span(id="bench-srule"),
        ),
        html.Canvas(id="bench-scores", role="img", **{"aria-label": say("Derivative of the loss by each score")}),
        html.Div(
            [
                html.I("∇", className="tag g"),
                html.Span([g, " ="], className="mono"),
                html.Span(id="bench-g", className="line gi"),
                html.Span(className="sp"),
                html.Span(
                    [say("sums to"), " ", html.Span(id="bench-gsum", className="mono"), html.I(className="pv m")],
                    className="note",
                ),
            ],
            className="row bench-gradient",
        ),
    ]
    sweep = [
        _head([say("What if a score moves")], html.Span(id="bench-swept")),
        html.Canvas(id="bench-sweep", role="img", **{"aria-label": say("The weights while one score moves")}),
    ]
    return html.Div([html.Section(part) for part in (jacobian, scores, sweep)], className="bench-derived")


def _head(title: list[Component | str], under: Component | str) -> Component:
    return html.Div([html.H2(title, className="h nowrap"), html.Span(under, className="sub")], className="ph")


def _inspector() -> Component:
    checks = [html.H2(say("Checks"), className="h"), html.Ul(id="bench-checks", className="bench-checks")]
    parts = [html.Section(part) for part in (_contract(), _formula(), _spelled(), _derivatives(), checks)]
    return html.Aside(parts, className="inspect", **{"aria-label": say("Inspector")})


def _contract() -> list[Component]:
    contract = [
        (say("Axes"), [html.Span(say("query: 1"), className="c-q"), " × ", html.Span(say("value"), className="c-v")]),
        (say("Shape"), html.Span(id="bench-shape", className="mono")),
        (say("Row owner"), [html.B(say("the query"), className="c-q"), " ", say("that you typed")]),
        (say("Meaning"), say("weighted mean of the values")),
        (say("Lifetime"), say("until you type")),
    ]
    name = [html.B("z", className="mono"), " ", html.Span(say("one read, by hand"), className="note")]
    rows = [part for name, value in contract for part in (html.Dt(name), html.Dd(value))]
    return [html.H2(name, className="h"), html.Dl(rows, className="contract"), html.P(id="bench-came", className="note")]


def _formula() -> Component:
    q, k, v = (html.Span(letter, className=f"c-{letter.lower()}") for letter in "qKV")
    return html.Div(["z = softmax(", q, k, "ᵀ", html.Span(id="bench-scale"), v], className="formula mono")


def _spelled() -> list[Component]:
    row = html.H2([say("Row"), " ", html.Span(id="bench-row"), say(", spelled out")], className="h")
    head = html.Div([row, html.B(id="bench-row-name", className="mono c-k")], className="hh")
    return [head, html.Table(id="bench-spelled", className="arith bench-arith")]


def _derivatives() -> list[Component]:
    g = html.Span([html.B("g", className="c-g mono"), " = ∂", say("loss"), "/∂z"], className="note")
    head = html.Div([html.H2(say("Derivatives"), className="h"), g], className="hh")
    return [head, html.Table(id="bench-derived", className="arith bench-arith")]


def _status() -> Component:
    marks = [("m", say("measured")), ("e", say("exact"))]
    provenance = html.Div([html.Span([html.I(className=f"pv {mark}"), name]) for mark, name in marks], className="grp dim")
    paste = html.Span(say("Paste a matrix into any field: lines of numbers, a Python list, a sheet."), className="dim")
    return html.Footer(
        [
            paste,
            provenance,
            html.Span(className="sp"),
            html.Span(
                [html.I(className="live", **{"data-state": "open"}), html.Span(say("computed in this page, fp64"))],
                className="grp",
            ),
        ],
        className="status",
    )
