"""The console command: what it writes, and that bad input is one clear line and exit code 2."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from app.cli import main
from app.session import weights
from app.session.catalogue_view import catalogue

SCENARIO: dict[str, Any] = {"requests": [{"source": ["thank", "you"]}]}
TINY = ["--set", "layers=1", "--set", "d_model=16", "--set", "d_ff=32", "--set", "heads=2"]


@pytest.fixture(autouse=True)
def threads() -> Any:
    """The command sets torch to one thread; other tests keep what they had."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(SCENARIO))
    return path


def run(*arguments: str | Path) -> int:
    try:
        return main([str(a) for a in arguments])
    except SystemExit as end:  # argparse ends so
        assert isinstance(end.code, int)
        return end.code


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one line on stderr of a command that must be refused."""
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and err.startswith("lookback")
    return err


def read(checkpoint: Path) -> Any:
    """The provenance in a checkpoint's metadata."""
    with safe_open(checkpoint, "pt") as file:
        return json.loads(file.metadata()["provenance"])


# ---- list


def test_list_json_is_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(catalogue()))


def test_list_names_architectures_tasks_and_weights(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    out = capsys.readouterr().out
    assert "encoder_decoder: " in out and "Trained weights: translation." in out and "language_model: " in out


# ---- run


def test_run_writes_what_was_recorded(scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run.safetensors"
    assert run("run", scenario, "--steps", "1", "--out", out) == 0
    assert "tensors of 1 steps" in capsys.readouterr().out
    with safe_open(out, "pt") as file:
        said = json.loads(file.metadata()["tensors"])
        assert set(file.keys()) == said.keys()
    assert {"path", "axes", "owner", "type", "phase", "step"} <= said["decode.1/logits"].keys()
    assert list(tmp_path.glob(".*")) == []


def test_run_reads_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SCENARIO).encode())))
    assert run("run", "-", "--steps", "99", "--out", tmp_path / "o") == 0
    assert "of 2 steps (the run ended there)" in capsys.readouterr().out


def test_run_takes_a_saved_link_file_with_its_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = [{"command": {"kind": "step", "unit": "step"}, "times": 1}]
    (tmp_path / "saved.json").write_text(json.dumps({"scenario": SCENARIO, "log": log, "view": {}}))
    assert run("run", tmp_path / "saved.json", "--steps", "9", "--out", tmp_path / "o") == 0
    assert "of 1 steps (the run ended there)" in capsys.readouterr().out


def test_two_runs_write_the_same_bytes(scenario: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert run("run", scenario, "--steps", "2", "--out", tmp_path / name) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "does not hold JSON"),
        (b"{", "does not hold JSON"),
        (b"\xff\xfe\x00", "does not hold JSON"),
        (b"[" * 100_000, "does not hold JSON"),
        (b"[1]", "The scenario is list"),
        (b'{"nonsense": 1}', "nonsense is not a field"),
        (b'{"seed": "x"}', "seed was given 'x'"),
        (b'{"seed": NaN}', "seed"),
        (b'{"version": 2}', "version was given 2"),
        (b'{"architecture": "x"}', "architecture 'x' is unknown; allowed: bahdanau,"),
        (b'{"requests": []}', "requests"),
        (b'{"requests": [{"source": ["' + b"a" * 501 + b'"]}]}', "requests.0.source.0"),
        (b'{"scenario": {}, "log": 5}', "log was given 5"),
        (b'{"scenario": {"requests": [{"source": ["cat"]}]}, "log": [{"command": {"kind": "x"}}]}', "log"),
        (b'{"requests": [{"source": ["cat"]}], "config": {"heads": 3}}', "a divisor of the model width"),
    ],
)
def test_a_bad_scenario_is_one_clear_line(content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    assert says in refused(capsys, "run", tmp_path / "bad.json", "--steps", "1", "--out", tmp_path / "o")
    assert [p.name for p in tmp_path.iterdir()] == ["bad.json"]


def test_a_scenario_that_is_too_large_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "large.json").write_bytes(b" " * ((4 << 20) + 1))
    assert "allowed: up to 4 MiB" in refused(capsys, "run", tmp_path / "large.json", "--steps", "1", "--out", tmp_path / "o")


def test_files_that_cannot_be_read_or_written_are_named(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No such file" in refused(capsys, "run", tmp_path / "absent.json", "--steps", "1", "--out", tmp_path / "o")
    assert "directory" in refused(capsys, "run", tmp_path, "--steps", "1", "--out", tmp_path / "o")
    assert "No such file" in refused(capsys, "run", scenario, "--steps", "1", "--out", tmp_path / "absent" / "o")
    assert "no ordinary file" in refused(capsys, "run", scenario, "--steps", "1", "--out", tmp_path)
    assert "no ordinary file" in refused(capsys, "run", scenario, "--steps", "1", "--out", "/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("steps", ["-1", "1.5", "x", "", "100001", "1e3"])
def test_steps_are_a_whole_number_in_range(
    steps: str, scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, "run", scenario, f"--steps={steps}", "--out", tmp_path / "o")
    assert f"was given {steps!r}; allowed: a whole number from 0 to 100000" in line


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["run"], ["list", "--xml"], ["train", "--steps", "3"]])
def test_an_incomplete_or_unknown_command_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "--help says more" in refused(capsys, *arguments)


# ---- train


def test_train_writes_a_checkpoint_that_says_how_it_was_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--architecture",
        "decoder_only",
        "--task",
        "language_model",
        "--steps",
        "2",
        "--seed",
        "-3",
        "--batch-size",
        "2",
    ]
    for name in ("a", "b"):
        assert run("train", *arguments, *TINY, "--set", "position=sinusoidal", "--out", tmp_path / name) == 0
    assert "update 2 of 2" in capsys.readouterr().err
    made, again = (read(tmp_path / name) for name in ("a", "b"))
    assert made.pop("seconds") >= 0 and again.pop("seconds") >= 0
    assert made == again
    one, other = (load_file(tmp_path / name) for name in ("a", "b"))
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
    assert made.keys() == {"command", "architecture", "config", "task", "seed", "steps", "loss", "metrics", "longest", "required"}
    assert (made["seed"], made["steps"], made["config"]["d_model"], made["config"]["position"]) == (-3, 2, 16, "sinusoidal")
    assert made["command"] == (
        "lookback train --architecture decoder_only --task language_model --steps 2 --seed -3 --learning-rate 0.002"
        " --batch-size 2 --set layers=1 --set d_model=16 --set d_ff=32 --set heads=2 --set position=sinusoidal"
    )


def test_train_writes_nothing_that_misses_what_is_required(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--architecture", "decoder_only", "--task", "language_model", "--steps", "1", "--batch-size", "2", *TINY]
    out = tmp_path / "a"
    assert run("train", *arguments, "--short", "1", "--at-most", "validation_loss=0.5", "--out", out) == 2
    assert not out.exists() and "at most 0.5 is allowed" in capsys.readouterr().err
    assert run("train", *arguments, "--short", "1", "--at-most", "validation_loss=50", "--out", out) == 0
    made = read(out)
    assert made["required"] == {"validation_loss": {"at_most": 50.0}}
    assert made["command"].endswith(
        "--short 1 --set layers=1 --set d_model=16 --set d_ff=32 --set heads=2 --at-most validation_loss=50"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--architecture", "x", "--task", "translation"],
            "--architecture was given 'x'; allowed: bahdanau,",
        ),
        (["--architecture", "decoder_only", "--task", "translation"], "--task was given 'translation'; allowed: language_model"),
        (["--architecture", "decoder_only", "--task", "language_model", "--set", "layers"], "FIELD=VALUE"),
        (["--architecture", "decoder_only", "--task", "language_model", "--set", "layers=99"], "config.layers was given 99"),
        (["--architecture", "decoder_only", "--task", "language_model", "--set", "x=1"], "config.x was given 1"),
        (["--architecture", "decoder_only", "--task", "language_model", "--learning-rate", "nan"], "learning_rate"),
        (["--architecture", "decoder_only", "--task", "language_model", "--learning-rate", "-1"], "learning_rate"),
        (["--architecture", "decoder_only", "--task", "language_model", "--steps", "0"], "a whole number from 1 to 1000000"),
        (
            ["--architecture", "decoder_only", "--task", "language_model", "--seed", "3000000000"],
            "a whole number from -2147483648",
        ),
        (["--architecture", "decoder_only", "--task", "language_model", "--batch-size", "65"], "a whole number from 1 to 64"),
    ],
)
def test_a_bad_training_is_one_clear_line(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in refused(capsys, "train", *arguments, "--out", tmp_path / "o")
    assert list(tmp_path.iterdir()) == []


# ---- serve, and the module itself


def test_serve_refuses_a_port_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "PORT was given '99999'" in refused(capsys, "serve", "--port", "99999")


@pytest.mark.slow
def test_the_module_runs_as_a_command_and_survives_a_reader_that_leaves(tmp_path: Path) -> None:
    command = f"{sys.executable} -m app.cli list --json | head -c 1"
    root = Path(__file__).parents[1]
    done = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("{", "")


def test_train_begins_with_what_is_shipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One update of a tiny size from shipped weights leaves them nearly as they were; another architecture's do not fit."""
    out = tmp_path / "more.safetensors"
    short = ["--steps", "1", "--batch-size", "1", "--learning-rate", "1e-6", "--out", str(out)]
    assert main(["train", "--architecture", "lstmn", "--task", "dyck", "--begin", "lstmn.dyck", *short]) == 0
    shipped, made = (load_file(path) for path in (weights.FOLDER / "lstmn.dyck.safetensors", out))
    assert all(float((shipped[n] - made[n]).abs().max()) < 1e-3 for n in shipped)
    assert main(["train", "--architecture", "lstmn", "--task", "dyck", "--begin", "key_value.dyck", *short]) == 2
    assert "does not fit" in capsys.readouterr().err
    assert main(["train", "--architecture", "lstmn", "--task", "dyck", "--begin", "nobody.dyck", *short]) == 2
    assert "begin was given 'nobody.dyck'; allowed: bahdanau.dates" in capsys.readouterr().err
