"""What the controls do: each calls a function of the scripts (assets/start.mjs). Nothing goes through the server here."""

from __future__ import annotations

from dash import ALL, Dash, Input
from dash.dependencies import ClientsideFunction

from app.ui import ids

PRESSED = {
    ids.STEP: "step",
    ids.BACK: "back",
    ids.PLAY: "play",
    ids.STEP_PHONE: "step",
    ids.BACK_PHONE: "back",
    ids.PLAY_PHONE: "play",
    ids.RESET: "reset",
    ids.UNDO: "undo",
    ids.DEFAULTS: "defaults",
    ids.COPY_LINK: "copyLink",
    ids.THEME: "nextTheme",
    ids.HELP: "help",
}
CHOSEN = {
    ids.PHASE: "phase",
    ids.UNIT: "unit",
    ids.RATE: "rate",
    ids.ARCHITECTURE: "architecture",
    ids.PRESET: "preset",
}


def bind(app: Dash) -> None:
    """Every control to its function. None runs when the page loads: what they show then comes from the run."""
    for id, name in PRESSED.items():
        _call(app, name, Input(id, "n_clicks"))
    for id, name in CHOSEN.items():
        _call(app, name, Input(id, "value"))
    _call(app, "field", Input({"type": "field", "path": ALL}, "value"))
    _call(app, "field", Input({"type": "switch", "path": ALL}, "checked"))


def _call(app: Dash, name: str, given: Input) -> None:
    app.clientside_callback(ClientsideFunction("lookback", name), given, prevent_initial_call=True)
