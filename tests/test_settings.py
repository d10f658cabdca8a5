"""The environment: what it means, and that a wrong value is one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import BadSetting, read


def test_without_anything_set_it_listens_to_this_machine_alone() -> None:
    found = read({"HOME": "/somebody"})
    assert (found.host, found.port, found.device) == ("127.0.0.1", 8050, "auto")
    assert found.hosts == ("localhost", "127.0.0.1", "[::1]")
    assert found.data == Path("/somebody/.local/state/lookback")
    assert found == read({"HOME": "/somebody", "HOST": "", "PORT": " ", "LOOKBACK_DEVICE": ""})


def test_everything_can_be_set() -> None:
    found = read(
        {
            "HOST": "::",
            "PORT": "0",
            "LOOKBACK_DEVICE": "cuda:1",
            "LOOKBACK_DATA": "/data",
            "LOOKBACK_HOSTS": "Play.Example, 192.168.0.7,,fe80::1",
            "LOOKBACK_SESSIONS": "5",
            "LOOKBACK_IDLE_MINUTES": "1",
            "LOOKBACK_EXPIRY_DAYS": "30",
            "LOOKBACK_WORKERS": "3",
            "LOOKBACK_CLASSES": "4",
            "LOOKBACK_CLASSES_ADDRESS": "2",
        }
    )
    assert (found.host, found.port, found.device, found.data) == ("::", 0, "cuda:1", Path("/data"))
    assert found.hosts == ("localhost", "127.0.0.1", "[::1]", "[::]", "play.example", "192.168.0.7", "[fe80::1]")
    assert (found.sessions, found.idle_minutes, found.expiry_days, found.workers) == (5, 1, 30, 3)
    assert (found.classes, read({}).classes, found.classes_address, read({}).classes_address) == (4, 20, 2, 5)
    assert read({"XDG_STATE_HOME": "/state"}).data == Path("/state/lookback")


@pytest.mark.parametrize(
    "name, value, allowed",
    [
        ("PORT", "http", "a whole number from 0 to 65535"),
        ("PORT", "-1", "a whole number from 0 to 65535"),
        ("PORT", "65536", "a whole number from 0 to 65535"),
        ("PORT", "8050.5", "a whole number"),
        ("PORT", "٨٠٥٠", "a whole number"),
        ("PORT", "1" * 5000, "a whole number"),
        ("HOST", "http://localhost", "host names or addresses"),
        ("HOST", "a b", "host names or addresses"),
        ("HOST", "ä.example", "host names or addresses"),
        ("HOST", "-x", "host names or addresses"),
        ("LOOKBACK_HOSTS", "good.example, bad/path", "host names or addresses, without a port"),
        ("LOOKBACK_HOSTS", "play.example:8050", "without a port"),
        ("LOOKBACK_HOSTS", "127.0.0.1:8050", "without a port"),
        ("LOOKBACK_HOSTS", "*", "host names or addresses"),
        ("LOOKBACK_DEVICE", "gpu", "auto, cpu, cuda or cuda:N"),
        ("LOOKBACK_DEVICE", "cuda:", "auto, cpu, cuda or cuda:N"),
        ("LOOKBACK_SESSIONS", "0", "a whole number from 1"),
        ("LOOKBACK_WORKERS", "many", "a whole number from 1 to 64"),
        ("LOOKBACK_EXPIRY_DAYS", "1e3", "a whole number"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line_that_says_what_is_allowed(name: str, value: str, allowed: str) -> None:
    with pytest.raises(BadSetting) as caught:
        read({name: value})
    message = str(caught.value)
    assert name in message and allowed in message and "\n" not in message and len(message) < 200
