"""The ordinary way: a Dash app whose HTTP callback decodes one row and returns a figure with eight heat maps."""

from __future__ import annotations

import logging
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from dash import Dash, Input, Output, State, callback_context, dcc, html
from plotly.subplots import make_subplots
from torch import Tensor

from bench.runs import decoding, model

FIRST = 12
MODEL = model()


@dataclass
class Run:
    """One visitor's run: the words and the maps so far, `[8, T, T]`."""

    calls: Iterator[tuple[list[str], Tensor]]
    words: list[str] = field(default_factory=list)
    maps: np.ndarray = field(default_factory=lambda: np.zeros((8, 0, 0), np.float32))

    def step(self) -> None:
        words, new = next(self.calls)
        before, after = len(self.words), len(self.words) + len(words)
        grown = np.zeros((8, after, after), np.float32)
        grown[:, :before, :before] = self.maps
        grown[:, before:] = new.numpy()
        self.words, self.maps = [*self.words, *words], grown


RUNS: dict[str, Run] = {}


def figure(words: list[str], maps: np.ndarray) -> go.Figure:
    names = [f"{i} {word}" for i, word in enumerate(words)]
    titles = [f"layer {layer + 1} head {head + 1}" for layer in range(2) for head in range(4)]
    fig = make_subplots(2, 4, subplot_titles=titles, horizontal_spacing=0.03, vertical_spacing=0.1)
    for i, weights in enumerate(maps):
        fig.add_trace(go.Heatmap(z=weights, x=names, y=names, coloraxis="coloraxis"), 1 + i // 4, 1 + i % 4)
    fig.update_layout(coloraxis={"cmin": 0, "cmax": 1, "colorscale": "Viridis"}, height=560, width=1050)
    fig.update_yaxes(autorange="reversed")
    return fig


def build() -> Dash:
    app = Dash(__name__, update_title=None)
    app.layout = html.Div(
        [
            html.Button("Step", id="step"),
            html.Button("Reset", id="reset"),
            dcc.Input(id="rows", type="number", value=FIRST),
            dcc.Store(id="run"),
            dcc.Graph(id="maps"),
        ]
    )

    @app.callback(
        Output("maps", "figure"),
        Output("run", "data"),
        Input("step", "n_clicks"),
        Input("reset", "n_clicks"),
        State("rows", "value"),
        State("run", "data"),
    )
    def move(steps: int | None, resets: int | None, rows: int, run: str | None) -> tuple[go.Figure, Any]:
        if run is None or callback_context.triggered_id != "step":
            run = run or uuid.uuid4().hex
            RUNS[run] = Run(decoding(MODEL, rows))
        RUNS[run].step()
        return figure(RUNS[run].words, RUNS[run].maps), run

    return app


if __name__ == "__main__":
    torch.set_num_threads(1)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    build().run(port=sys.argv[1])
