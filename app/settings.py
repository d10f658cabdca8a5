"""What the environment says, as one frozen value. Nothing else in the product reads the environment."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


class BadSetting(ValueError):
    """An environment variable holds something that is not allowed. The message is one clear line."""


@dataclass(frozen=True)
class Settings:
    """host, port: where to listen (port 0: any free one). device: auto, cpu, cuda or cuda:N. data: folder of the journal.

    hosts: names under which this server may be reached, on any port; Host and Origin are checked against them.
    sessions: how many may be in memory at once. idle_minutes: one that nobody looks at leaves memory after that.
    expiry_days: one that nobody used is deleted after that. workers: how many sessions may compute at the same time.
    classes: how many may be open at once; classes_address: from one address.
    """

    host: str
    port: int
    device: str
    data: Path
    hosts: tuple[str, ...]
    sessions: int
    idle_minutes: int
    expiry_days: int
    workers: int
    classes: int
    classes_address: int


def read(environment: Mapping[str, str]) -> Settings:
    """The settings that these variables mean; an empty one counts as not set. Raises `BadSetting`."""
    given = {name: value.strip() for name, value in environment.items() if value.strip()}
    host = _name("HOST", given.get("HOST", "127.0.0.1"))
    more = [_name("LOOKBACK_HOSTS", part.strip()) for part in given.get("LOOKBACK_HOSTS", "").split(",") if part.strip()]
    return Settings(
        host=host.strip("[]"),
        port=_number(given, "PORT", 8050, 0, 65535),
        device=_device(given.get("LOOKBACK_DEVICE", "auto")),
        data=Path(given["LOOKBACK_DATA"]).expanduser() if "LOOKBACK_DATA" in given else _state_folder(given),
        hosts=tuple(dict.fromkeys((*LOOPBACK, host, *more))),
        sessions=_number(given, "LOOKBACK_SESSIONS", 200, 1, 10_000),
        idle_minutes=_number(given, "LOOKBACK_IDLE_MINUTES", 30, 1, 10_000),
        expiry_days=_number(given, "LOOKBACK_EXPIRY_DAYS", 7, 1, 3650),
        workers=_number(given, "LOOKBACK_WORKERS", max(2, min(8, os.cpu_count() or 2)), 1, 64),
        classes=_number(given, "LOOKBACK_CLASSES", 20, 1, 1000),
        classes_address=_number(given, "LOOKBACK_CLASSES_ADDRESS", 5, 1, 1000),
    )


def _number(given: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = given.get(name, str(default))
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise _bad(name, text, f"a whole number from {low} to {high}")
    return int(text)


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise _bad("LOOKBACK_DEVICE", text, "auto, cpu, cuda or cuda:N")
    return text


def _name(variable: str, text: str) -> str:
    """A host name or address in lower case, an IPv6 address in brackets."""
    name = text.lower()
    if ":" in name:
        with suppress(ValueError):
            return f"[{ipaddress.IPv6Address(name.strip('[]'))}]"
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise _bad(variable, text, "host names or addresses, without a port")
    return name


def _bad(variable: str, text: str, allowed: str) -> BadSetting:
    given = text if len(text) <= 60 else f"{text[:60]}..."
    return BadSetting(f"{variable} was given {given!r}; allowed: {allowed}")


def _state_folder(given: Mapping[str, str]) -> Path:
    base = given.get("XDG_STATE_HOME")
    return (Path(base) if base else Path(given.get("HOME", ".")) / ".local" / "state") / "lookback"
