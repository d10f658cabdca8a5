"""The key of a class: whose it is, when it was given, and the secret that makes it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.session.class_keys import FORM, Keys, secret_in

ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"


def test_a_key_says_when_it_was_given_to_this_code_on_this_run() -> None:
    keys = Keys(b"secret", lambda: 1234.5)
    key = keys.make("KQ742V", "run")
    assert FORM.fullmatch(key)
    assert Keys(b"secret").given_at(key, "KQ742V", "run") == 1_234_500
    assert keys.given_at(key, "KQ742W", "run") is None
    assert keys.given_at(key, "KQ742V", "ruN") is None
    assert Keys(b"other").given_at(key, "KQ742V", "run") is None
    assert keys.given_at(None, "KQ742V", "run") is None


@given(st.integers(0, 21), st.sampled_from(ALPHABET))
def test_no_sign_of_a_key_can_be_another(at: int, sign: str) -> None:
    keys = Keys(b"secret", lambda: 1234.5)
    key = keys.make("KQ742V", "run")
    changed = key[:at] + sign + key[at + 1 :]
    if at < 21 and changed != key:  # the last sign has four bits that say nothing
        assert keys.given_at(changed, "KQ742V", "run") is None


def test_the_secret_lasts_and_is_its_owners_alone(tmp_path: Path) -> None:
    kept = secret_in(tmp_path / "data")
    path = tmp_path / "data" / "class.secret"
    assert len(kept) == 32 and secret_in(tmp_path / "data") == kept
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and os.listdir(path.parent) == [path.name]
    path.write_bytes(b"cut")
    assert len(secret_in(tmp_path / "data")) == 32 and path.read_bytes() == b"cut"


def test_where_nothing_can_be_written_it_lasts_as_long_as_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    assert len(secret_in(tmp_path / "file")) == 32
    assert "do not come back after a restart" in caplog.text
