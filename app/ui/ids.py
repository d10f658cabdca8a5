"""Ids of the elements that scripts and bindings find. Slots are `slot-<name>`, one for each region a view may name."""

from __future__ import annotations

from typing import Final

STAGE: Final = "stage"
PRESET: Final = "preset"
THEME: Final = "theme"
LANGUAGE: Final = "language"
SHARE: Final = "share"
TOP_ACTIONS: Final = "top-actions"

ARCHITECTURE: Final = "architecture"
SEARCH: Final = "search"
VARIANT: Final = "variant"
CHANGED: Final = "changed"
COUNT: Final = "count"
WEIGHTS: Final = "weights"
INPUT_TITLE: Final = "input-title"
EXAMPLE: Final = "example"
BATCH: Final = "batch"
REQUESTS: Final = "requests"
PRESET_NOTE: Final = "preset-note"
TRAINING: Final = "training"
POLICY: Final = "policy"
POLICY_LINE: Final = "policy-line"
SEED: Final = "seed"
UNDO: Final = "undo"
REDO: Final = "redo"
RESET: Final = "reset"
RESET_ASK: Final = "reset-ask"
RESET_WORDS: Final = "reset-words"
KEEP: Final = "keep"
READ_ONLY: Final = "read-only"
HINTS: Final = "hints"
NOTHING: Final = "nothing"
NOTHING_WORDS: Final = "nothing-words"
COLD: Final = "cold"

PHASE: Final = "phase"
BACK: Final = "back"
STEP: Final = "step"
PLAY: Final = "play"
RATE: Final = "rate"
UNIT: Final = "unit"
WHERE: Final = "where"
WHERE_NOTE: Final = "where-note"
BACK_PHONE: Final = "back-phone"
STEP_PHONE: Final = "step-phone"
PLAY_PHONE: Final = "play-phone"

STATUS: Final = "status"
STATUS_DOT: Final = "status-dot"
STATUS_RETRY: Final = "status-retry"
SAID: Final = "said"

SLOTS: Final = ("sentence", "track", "read", "map", "next", "memory", "training", "charts", "inspector", "checks")


def slot(name: str) -> str:
    """The id of the element that a view with this slot goes into."""
    if name not in SLOTS:
        raise ValueError(f"slot {name!r} is unknown; allowed: {', '.join(SLOTS)}")
    return f"slot-{name}"


def by_name() -> dict[str, str]:
    """All plain ids by their names here, for the scripts."""
    return {name: value for name, value in globals().items() if name.isupper() and isinstance(value, str)}
