"""Where a model's parameters come from: a shipped checkpoint, or a seeded draw.

A checkpoint is `models/checkpoints/<architecture>.<task>.safetensors`: parameters in fp16, and as `provenance` in the file's
metadata how it was made (JSON: command, architecture, config, task, seed, steps, seconds of CPU, loss, metrics, longest: the most
words of a sentence, note: what limits it). It is read once a process and device; all models built from it share its tensors, and
so do models of the same draw: whoever trains copies them first. Several of an architecture and task have a name more:
`....<name>.safetensors`.
"""

from __future__ import annotations

import json
import threading
import weakref
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from app.session.events import Refused
from app.session.keyed import number
from app.session.scenario import Scenario, defaults
from models.catalogue import architectures, config_schema, deciding, idle, read_config, tasks
from models.parts import norms
from models.tasks import source_size

FOLDER = Path(__file__).parents[2] / "models" / "checkpoints"
ONE_AT_A_TIME = threading.Lock()  # a build draws from torch's global generator


class _Draw(dict[str, Tensor]):
    """The parameters of one seeded draw, kept while a model holds them."""


_DRAWS: weakref.WeakValueDictionary[str, _Draw] = weakref.WeakValueDictionary()


def build(scenario: Scenario, device: torch.device | str) -> tuple[nn.Module, dict[str, Any]]:
    """The model of a scenario, and what `Opened.weights` says of its parameters.

    Trained parameters are those of a checkpoint made with this architecture, config and task, exchanged parts aside; where there
    is none, or where the scenario asks for it, they are random: drawn on the CPU from its seed, the same on every device.
    """
    model = _drawn(scenario).to(device)
    provenance = matching(scenario) if scenario.weights == "trained" else None
    if provenance is None:
        source: dict[str, Any] = {"seed": scenario.seed}
        if scenario.weights == "trained":
            source["reason"] = "no trained weights are shipped for this architecture, config and task"
        return _share_draw(model, scenario, device), {"kind": "random", "source": source}
    _share(model, _fitting(FOLDER / provenance["file"], str(device)))
    return model, {"kind": "trained", "source": provenance}


def _share(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    for name, parameter in model.named_parameters():
        parameter.data = tensors[name]
    norms.restore(model, tensors)


def _share_draw(model: nn.Module, scenario: Scenario, device: torch.device | str) -> nn.Module:
    """Runs that begin with the same draw hold it once: a class that opens the same link, a page with its default seed."""
    key = json.dumps([scenario.architecture, scenario.config, scenario.task, scenario.seed, str(device)], sort_keys=True)
    with ONE_AT_A_TIME:
        draw = _DRAWS.setdefault(key, _Draw((name, p.data) for name, p in model.named_parameters()))
    _share(model, draw)
    model.draw = draw  # type: ignore[assignment]
    return model


def checkpoints(architecture: str) -> list[dict[str, Any]]:
    """The provenance of every checkpoint shipped for an architecture."""
    return [p for p in _provenances(FOLDER) if p["architecture"] == architecture]


def begin_with(model: nn.Module, name: str) -> None:
    """Give a model the parameters of a shipped checkpoint, named ARCHITECTURE.TASK; what it lacks stays as it was drawn."""
    known = {path.stem for path in FOLDER.glob("*.safetensors")}
    if name not in known:
        allowed = ", ".join(sorted(known))
        raise Refused.one("begin", name, allowed, f"begin was given {name!r}; allowed: {allowed}")
    tensors, parameters = _tensors(FOLDER / f"{name}.safetensors", "cpu"), dict(model.named_parameters())
    held = {**parameters, **norms.statistics(model)}
    wrong = [n for n, tensor in tensors.items() if n not in held or held[n].shape != tensor.shape]
    if wrong:
        allowed = "a checkpoint whose parameters this model has, in their sizes"
        raise Refused.one("begin", name, allowed, f"begin was given {name!r}, whose {wrong[0]} does not fit; allowed: {allowed}")
    for n in tensors.keys() & parameters.keys():
        parameters[n].data = tensors[n].clone()
    norms.restore(model, tensors)


def as_checkpoint(model: nn.Module, provenance: dict[str, Any]) -> bytes:
    """A checkpoint file's content: parameters as fp16, provenance as JSON."""
    held = {**dict(model.named_parameters()), **norms.statistics(model)}
    parameters = {name: p.detach().cpu().half().contiguous() for name, p in held.items()}
    return save(parameters, {"provenance": json.dumps(provenance, ensure_ascii=False)})


def round_parameters(model: nn.Module) -> None:
    """Round parameters to what a checkpoint keeps, so that what is measured is what is shipped."""
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()
    norms.restore(model, {name: value.half().float() for name, value in norms.statistics(model).items()})


def _drawn(scenario: Scenario) -> nn.Module:
    spec, task = architectures()[scenario.architecture], tasks()[scenario.task]
    config, _ = read_config(spec, scenario.config)
    with ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(number(scenario.seed, "init"))
        model = spec.build(config, source_size(task), len(task.target))
    return model.eval()


def matching(scenario: Scenario) -> dict[str, Any] | None:
    """The checkpoint that was made with this architecture, config and task, if one is shipped, or else the one in which the
    fewest parts are exchanged here: `exchanged` names them, {field: [as trained, here]}. It has every parameter of the model."""
    found = [{**p, "exchanged": e} for p in checkpoints(scenario.architecture) if (e := _exchanged(p, scenario)) is not None]
    return min(found, key=lambda p: len(p["exchanged"]), default=None)


def _exchanged(provenance: dict[str, Any], scenario: Scenario) -> dict[str, list[Any]] | None:
    """Parts that are others than those of this checkpoint; None where it does not fit. Another schedule computes the same."""
    made, here = provenance["config"], scenario.config
    spec = architectures()[scenario.architecture]
    left = {"schedule"} | idle(spec, here)
    differs = {n: [made[n], value] for n, value in here.items() if made[n] != value and n not in left}
    if provenance["task"] != scenario.task or deciding(spec, made) != deciding(spec, here):
        return None
    fits = not differs or _names(scenario, here) <= _names(scenario, made)
    return differs if fits else None


def _names(scenario: Scenario, config: dict[str, Any]) -> frozenset[str]:
    return frozenset(shapes(scenario.architecture, json.dumps(config, sort_keys=True), scenario.task))


@lru_cache(maxsize=1024)
def shapes(architecture: str, config: str, task: str) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the parameters of a variant, `config` as JSON, found on a model without memory (torch's meta device);
    one that cannot be built there is built in earnest."""
    spec, words = architectures()[architecture], tasks()[task]
    held, _ = read_config(spec, json.loads(config))
    sizes = source_size(words), len(words.target)
    try:
        with torch.device("meta"):
            model = spec.build(held, *sizes)
    except (NotImplementedError, RuntimeError):
        with ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):
            model = spec.build(held, *sizes)
    return {name: tuple(p.shape) for name, p in model.named_parameters()}


@cache
def _provenances(folder: Path) -> tuple[dict[str, Any], ...]:
    """Read the headers of a folder's checkpoints, each with the name of its file."""
    found = []
    for path in sorted(folder.glob("*.safetensors"), key=lambda p: p.stem):  # a longer name after the one that it extends
        with safe_open(path, "pt") as file:
            made = {"file": path.name, **json.loads(file.metadata()["provenance"])}
        spec = architectures()[made["architecture"]]  # a field that is newer than the file had its default
        found.append({**made, "config": {f["name"]: f["default"] for f in config_schema(spec.config)} | made["config"]})
    return tuple(found)


@cache
def _tensors(path: Path, device: str) -> dict[str, Tensor]:
    with safe_open(path, "pt") as file:
        return {name: file.get_tensor(name).float().to(device) for name in file.keys()}  # noqa: SIM118 (not a dict)


@cache
def _fitting(path: Path, device: str) -> dict[str, Tensor]:
    """A checkpoint's tensors for a model that may hold more rows now than when it was trained: a table of rows that ends early
    goes on with the draw that its training began with, as do those of its rows that no sentence of the task ever reached."""
    with safe_open(path, "pt") as file:
        made = json.loads(file.metadata()["provenance"])
    begun = defaults(made["architecture"], made["task"], config=made["config"], seed=made["seed"])
    tensors = dict(_tensors(path, device))
    for name, drawn in _drawn(begun).named_parameters():
        known = tensors[name]
        if known.shape != drawn.shape:
            tensors[name] = torch.cat((known, drawn.detach()[len(known) :].to(known.device)))
    return tensors
