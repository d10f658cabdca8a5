"""The log of a link or a scenario file: commands that lead from its start to where it stood."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from app.session.commands import (
    COMMANDS,
    MAX_REPLAY,
    Analyse,
    Back,
    Cancel,
    Command,
    Fetch,
    Go,
    Look,
    Open,
    Pause,
    Play,
    Reset,
    Share,
    Watch,
)
from app.session.events import Refused
from app.session.problems import refused


def commands_of(log: Sequence[dict[str, Any]]) -> list[Command]:
    """Every command of a log, as often as it is done. Raises `Refused`."""
    entries = [(_logged(entry, i), _times(entry, i)) for i, entry in enumerate(log)]
    total = sum(times for _, times in entries)
    if total > MAX_REPLAY:
        message = f"The log holds {total} commands, allowed are {MAX_REPLAY}."
        raise Refused.one("log", total, f"at most {MAX_REPLAY} commands", message)
    return [one for one, times in entries for _ in range(times)]


def _logged(entry: dict[str, Any], i: int) -> Command:
    try:
        command = COMMANDS.validate_json(json.dumps(entry.get("command")))
    except ValueError as error:
        raise refused(error, f"log.{i}.command") from None
    if isinstance(command, Open | Reset | Fetch | Analyse | Share | Watch | Play | Pause | Cancel | Look | Back | Go):
        allowed = "step, choose, join, leave, enter, change, undo, redo"
        raise Refused.one(f"log.{i}.command", command.kind, allowed, f"A log holds no {command.kind}; allowed: {allowed}")
    return command


def _times(entry: dict[str, Any], i: int) -> int:
    times = entry.get("times", 1)
    if not isinstance(times, int) or isinstance(times, bool) or not 1 <= times <= MAX_REPLAY:
        allowed = f"a whole number from 1 to {MAX_REPLAY}"
        raise Refused.one(f"log.{i}.times", times, allowed, f"log.{i}.times was given {times!r}; allowed: {allowed}")
    return times
