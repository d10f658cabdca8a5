"""What the controls do: each calls a function of the scripts (assets/start.mjs). Nothing goes through the server here.

Controls of the layout that hold a value go through Dash, which keeps it. Plain buttons hold none: the scripts listen to them
directly (`layout.button`), because a click takes 10 ms through Dash's callbacks, a good part of what Step may take until it is
painted. The set-up's fields are built by the scripts too (controls.py).
"""

from __future__ import annotations

from dash import Dash, Input, State
from dash.dependencies import ClientsideFunction

from app.ui import ids

CHOSEN = {
    ids.PHASE: "phase",
    ids.UNIT: "unit",
    ids.RATE: "rate",
    ids.ARCHITECTURE: "architecture",
    ids.PRESET: "preset",
}


def bind(app: Dash) -> None:
    """Every control that holds a value to its function. None runs when the page loads: what they show then comes from the run."""
    for id, name in CHOSEN.items():
        _call(app, name, id)


def _call(app: Dash, name: str, id: str) -> None:
    """`data-told` is what the page itself told the control to show: a value that equals it was not chosen by a person."""
    function = ClientsideFunction("lookback", name)
    app.clientside_callback(function, Input(id, "value"), State(id, "data-told"), prevent_initial_call=True)
