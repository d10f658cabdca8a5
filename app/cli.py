"""The console command: `lookback serve | list | run | train`.

Bad input ends in one line on stderr and exit code 2. What a command needs is imported when it runs, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from app.session.scenario import Scenario

LARGEST_INPUT = 4 << 20  # bytes; the largest scenario that is allowed is smaller
PROGRESS_EVERY = 250


class BadInput(Exception):
    """The message is one clear line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help says more)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        given.command(given)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if not _is_bad_input(error):
            raise
        print(f"lookback: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _is_bad_input(error: Exception) -> bool:
    if isinstance(error, BadInput):
        return True
    from app.session.events import Refused
    from app.settings import BadSetting

    return isinstance(error, Refused | BadSetting)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="lookback", description="See how sequence models read their past.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="start the server and print its address")
    serve.add_argument("--host", help="where to listen (default: HOST, or 127.0.0.1)")
    serve.add_argument("--port", help="port to listen on (default: PORT, or 8050)")
    serve.set_defaults(command=_serve)

    lists = commands.add_parser("list", help="what architectures, tasks and trained weights there are")
    lists.add_argument("--json", action="store_true", help="the whole catalogue, as GET /api/catalogue answers it")
    lists.set_defaults(command=_list)

    run = commands.add_parser("run", help="run a scenario without a page and write all that it computed")
    run.add_argument("scenario", metavar="SCENARIO.json", help="a scenario or a saved run's link file; - reads standard input")
    run.add_argument("--steps", type=_whole(0, 100_000), required=True, metavar="N", help="steps to do; a run may end earlier")
    run.add_argument("--out", type=Path, required=True, metavar="FILE", help="a safetensors file")
    run.set_defaults(command=_run)

    _add_training(commands.add_parser("train", help="train a model and write a checkpoint that says how it was made"))
    return parser


def _add_training(train: argparse.ArgumentParser) -> None:
    train.add_argument("--architecture", required=True, metavar="ID")
    train.add_argument("--task", required=True, metavar="ID")
    train.add_argument("--steps", type=_whole(1, 1_000_000), default=2000, metavar="N", help="updates (default: 2000)")
    train.add_argument("--seed", type=_whole(-(2**31), 2**31 - 1), default=7, metavar="N", help="default: 7")
    train.add_argument("--learning-rate", type=float, default=2e-3, metavar="X", help="at its highest (default: 0.002)")
    train.add_argument("--batch-size", type=_whole(1, 64), default=64, metavar="N", help="default: 64")
    train.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="a field of the architecture's config")
    train.add_argument(
        "--short", type=_whole(0, 1_000_000), default=0, metavar="N",
        help="a curriculum: the shortest examples alone for N updates, then in every other one (default: 0, none)",
    )  # fmt: skip
    train.add_argument("--begin", metavar="NAME", help="a shipped checkpoint whose parameters it begins with: bahdanau.dates")
    for side in ("least", "most"):
        says = f"write the checkpoint only if a metric is at {side} X: exact=0.97, exact_by_clauses.3=0.5"
        train.add_argument(f"--at-{side}", action="append", default=[], metavar="METRIC=X", help=says)
    train.add_argument("--out", type=Path, required=True, metavar="FILE", help="a safetensors file")
    train.set_defaults(command=_train)


def _whole(low: int, high: int) -> Any:
    """An argument type: a whole number in a range."""

    def read(text: str) -> int:
        allowed = f"was given {text!r}; allowed: a whole number from {low} to {high}"
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(allowed) from None
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(allowed)
        return value

    return read


def _serve(given: argparse.Namespace) -> None:
    from app import settings

    own = {"HOST": given.host, "PORT": given.port}
    read = settings.read({**os.environ, **{name: value for name, value in own.items() if value is not None}})
    from app.main import serve  # only now: a bad setting is said at once

    serve(read)


def _list(given: argparse.Namespace) -> None:
    from app.session.catalogue_view import catalogue

    found = catalogue()
    if given.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for one in found["architectures"]:
        trained = ", ".join(c["task"] for c in one["checkpoints"]) or "none"
        print(f"{one['id']}: {one['name']}. Tasks: {', '.join(one['tasks'])}. Trained weights: {trained}.")
    for one in found["tasks"]:
        print(f"{one['id']}: {one['name']}. {one['summary']}")


def _run(given: argparse.Namespace) -> None:
    import torch

    from app.session import headless

    torch.set_num_threads(1)
    opening = _opening(_read_json(given.scenario))
    with _writing(given.out) as out:
        done, tensors = headless.run(opening, given.steps, out)
    ended = "" if done == given.steps else " (the run ended there)"
    print(f"{given.out}: {tensors} tensors of {done} steps{ended}")


def _opening(data: Any) -> Any:
    """An `Open` command from a scenario, or from a file that holds a scenario with its log of commands."""
    from pydantic import ValidationError

    from app.session.commands import Open
    from app.session.problems import refused

    if not isinstance(data, dict):
        raise BadInput(f"The scenario is {type(data).__name__}; allowed: a JSON object with its fields, for example {{}}")
    saved = isinstance(data.get("scenario"), dict)
    fields = {"scenario": data["scenario"], "log": data.get("log", [])} if saved else {"scenario": data}
    try:
        return Open.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        raise refused(error) from None


def _read_json(name: str) -> Any:
    """JSON from a file, or from standard input for "-"."""
    try:
        raw = sys.stdin.buffer.read(LARGEST_INPUT + 1) if name == "-" else _read_file(Path(name))
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST_INPUT:
        raise BadInput(f"{name} is too large; allowed: up to {LARGEST_INPUT >> 20} MiB")
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name} does not hold JSON: {error}") from None


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_INPUT + 1)


@contextmanager
def _writing(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears whole or not at all; one that cannot be written is refused before any work is done."""
    if path.exists() and not path.is_file():
        raise BadInput(f"--out {path} cannot be written: it exists and is no ordinary file")
    partial = path.with_name(f".{path.name}.partial")
    try:
        out = partial.open("wb")
    except (OSError, ValueError) as error:
        raise BadInput(f"--out {path} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    try:
        with out:
            yield out
        partial.replace(path)
    except OSError as error:
        raise BadInput(f"--out {path} cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)


def _train(given: argparse.Namespace) -> None:
    import torch

    from app.session import fit, measures, required, weights
    from models.catalogue import architectures, read_config, tasks

    torch.set_num_threads(1)
    _known("--architecture", given.architecture, architectures())
    _known("--task", given.task, architectures()[given.architecture].tasks)
    scenario = to_train(given)
    wanted = required.read(given.at_least, given.at_most)
    with _writing(given.out) as out:
        began = time.process_time()
        model, loss = fit.fit(scenario, given.steps, _progress(given.steps), given.short, given.begin)
        seconds = round(time.process_time() - began, 1)
        weights.round_parameters(model)
        spec = architectures()[given.architecture]
        found = measures.measure(model, spec, tasks()[given.task])
        made = {"command": _command(given), "architecture": given.architecture, "config": scenario.config, "task": given.task}
        made |= {"seed": given.seed, "steps": given.steps, "seconds": seconds, "loss": loss, "metrics": found, "required": wanted}
        made |= {"note": note} if (note := spec.limits(read_config(spec, scenario.config)[0])) else {}
        made["longest"] = measures.longest(tasks()[given.task], given.seed, given.steps, given.batch_size)
        if short := required.missed(found, wanted):
            raise BadInput(f"{given.out} is not written: {'; '.join(short)}")
        out.write(weights.as_checkpoint(model, made))
    print(f"{given.out}: loss {loss:.4f}, {json.dumps(found)}")


def to_train(given: argparse.Namespace) -> Scenario:
    """The run that `train` trains."""
    from app.session.scenario import defaults

    training = {"learning_rate": given.learning_rate, "batch_size": given.batch_size}
    config = dict(_setting(text) for text in given.set)
    return defaults(given.architecture, given.task, weights="random", seed=given.seed, config=config, training=training)


def read_recipe(line: str) -> argparse.Namespace:
    """The arguments of `train` in a line of `models/checkpoints/recipes`."""
    name, *given = shlex.split(line)
    return _parser().parse_args(["train", *given, "--out", name])


def _known(name: str, given: str, allowed: Collection[str]) -> None:
    if given not in allowed:
        raise BadInput(f"{name} was given {given!r}; allowed: {', '.join(allowed)}")


def _setting(text: str) -> tuple[str, Any]:
    """FIELD=VALUE; the value is read as JSON where it is JSON (2, 0.5, true), else as text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"--set was given {text!r}; allowed: FIELD=VALUE, for example layers=2")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _command(given: argparse.Namespace) -> str:
    """The command that makes this checkpoint again, all its settings written out."""
    options = ("architecture", "task", "steps", "seed", "learning_rate", "batch_size")
    words = [w for name in options for w in (f"--{name.replace('_', '-')}", str(getattr(given, name)))]
    words += ["--short", str(given.short)] if given.short else []
    words += ["--begin", given.begin] if given.begin else []
    words += [
        w
        for name in ("set", "at_least", "at_most")
        for text in getattr(given, name)
        for w in (f"--{name.replace('_', '-')}", text)
    ]
    return shlex.join(["lookback", "train", *words])


def _progress(steps: int) -> Any:
    def report(step: int, loss: float) -> None:
        if step % PROGRESS_EVERY == 0 or step == steps:
            print(f"update {step} of {steps}: loss {loss:.4f}", file=sys.stderr, flush=True)

    return report


if __name__ == "__main__":
    sys.exit(main())
