"""A Dash page with one chart and a button, as the documentation of Dash begins; nothing else to load."""

from __future__ import annotations

import logging
import sys

import plotly.graph_objects as go
from dash import Dash, Input, Output, dcc, html


def figure(steps: int) -> go.Figure:
    return go.Figure(go.Bar(x=["a", "b", "c"], y=[4, 1 + steps, 2]))


def build() -> Dash:
    app = Dash(__name__, update_title=None)
    app.layout = html.Div([html.Button("Step", id="step"), dcc.Graph(id="chart")])

    @app.callback(Output("chart", "figure"), Input("step", "n_clicks"))
    def step(clicks: int | None) -> go.Figure:
        return figure(clicks or 0)

    return app


if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    build().run(port=sys.argv[1])
