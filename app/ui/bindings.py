"""What Dash's controls do: each calls a function of the scripts (assets/start.mjs). Nothing goes through the server here.

Dash's controls keep their values themselves. Plain buttons hold none: the scripts listen to them directly (`parts.button`),
because a click takes 10 ms through Dash's callbacks, a good part of what Step may take until it is painted. The gallery is
the browser's own radio buttons, and the set-up's fields are built by the scripts too (controls.py).
"""

from __future__ import annotations

from dash import Dash, Input, State
from dash.dependencies import ClientsideFunction

from app.ui import ids

CHOSEN = (ids.PHASE, ids.UNIT, ids.RATE, ids.PRESET)


def bind(app: Dash) -> None:
    """Every control of Dash's to the function of its id. None runs when the page loads: what they show then comes from the run.

    `data-told` is what the page itself told the control to show: a value that equals it was not chosen by a person.
    """
    for id in CHOSEN:
        function = ClientsideFunction("lookback", id)
        app.clientside_callback(function, Input(id, "value"), State(id, "data-told"), prevent_initial_call=True)
