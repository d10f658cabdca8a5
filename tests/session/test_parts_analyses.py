"""Analyses of exchanged parts: tiles against the model's own reads, and the loss beyond the trained rows."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch

from app.session.analyses import Run, known, registry
from app.session.commands import Analyse, Change, Step
from app.session.engine import Engine
from app.session.events import Analysis, Moved, Refused
from models.parts.rates import SCALINGS
from tests.session.driving import SMALL, do, of, opened


def result(engine: Engine, name: str, **arguments: Any) -> dict[str, Any]:
    found = of(do(engine, Analyse(name=name, arguments=arguments)), Analysis)[-1].result
    assert found is not None
    return dict(found)


@pytest.fixture(scope="module")
def engine() -> Engine:
    made = opened(requests=[{"source": ["the", "black", "cat", "sleeps"], "target": []}, {"source": ["the"], "target": []}])
    do(made, Step())
    return made


@pytest.mark.parametrize("path", ["encoder.layer0.self", "decoder.layer0.self", "decoder.layer0.cross"])
@pytest.mark.parametrize("tile", [1, 3, 512])
def test_tiles_are_the_reads_of_the_model(engine: Engine, path: str, tile: int) -> None:
    found = result(engine, "tiles", path=path, tile=tile)
    assert found["largest"] <= 1e-5 and len(found["tiles"]) == -(-found["keys"] // tile)
    assert found["tiled"] <= found["dense"] == found["rows"] * found["keys"]
    tape = known(Run(engine.learner.model, engine.timeline.here.place, engine.device)).records
    last = found["tiles"][-1]
    mixed = torch.tensor(last["output"]) / last["sum"]
    torch.testing.assert_close(mixed, tape[f"{path}.mixed"].value[0, 0, 0], atol=1e-5, rtol=0)


def test_a_model_in_tiles_is_measured_against_its_dense_form() -> None:
    words = ["the", "black", "cat", "sleeps"]
    made = opened("decoder_only", config={**SMALL, "mask_enters": "tiles", "tile": 2}, requests=[{"target": words}])
    events = do(made, Step())
    ops = next(s.ops for s in of(events, Moved)[-1].stages if s.name == "read")
    read = [f"decoder.layer0.self{tile}" for tile in (".tile.0", ".tile.1", ".tile.2", "")]
    assert list(ops)[1:5] == read, "the op cursor walks the tiles, then the read that they make"
    found = result(made, "tiles", path="decoder.layer0.self", tile=64, row=4)
    assert found["own"] and found["tile"] == 2 and len(found["tiles"]) == 3 and (found["tiled"], found["dense"]) == (4, 36)
    assert 0 <= found["largest"] <= 1e-5 and 0 <= found["logits"] <= 1e-5
    cells = result(made, "cost")["cells"]
    assert (cells["held"], cells["square"]) == (4, 36)
    edit = {"path": "decoder.layer0.self.tile.sum", "index": [0, None, 1, 4], "action": "scale", "value": 3.0}
    do(made, Change(fields={"edits": [edit]}))
    assert result(made, "tiles", path="decoder.layer0.self", row=4)["largest"] > 1e-3, "the dense form has no such sum"
    with pytest.raises(Refused):
        do(made, Change(fields={"edits": [{**edit, "path": "decoder.layer0.self.weights"}]}))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"path": "decoder.layer0.self", "tile": 0}, "tile was given 0; allowed: a whole number from 1 to 512"),
        ({"path": "decoder.layer7.self"}, "allowed: encoder.layer0.self, decoder.layer0.self, decoder.layer0.cross"),
        ({"path": "decoder.layer0.self", "head": 9}, "head was given 9; allowed: a whole number from 0 to 1"),
    ],
)
def test_what_is_no_tile_is_refused_by_name(engine: Engine, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused) as refused:
        result(engine, "tiles", **wrong)
    assert said in str(refused.value)


def test_the_loss_beyond_the_trained_rows_is_told_for_each_scaling() -> None:
    config = {**SMALL, "position": "rope", "trained_rows": 8}
    made = opened("decoder_only", task="repeats", config=config, requests=[{"target": ["a", "b"]}])
    found = result(made, "extrapolation", times=4, factor=4)
    assert found["rows"] == 32 and set(found["curves"]) == set(SCALINGS)
    assert all([p[0] for p in curve] == [0, 8, 16, 24] for curve in found["curves"].values())
    at_once = {name: curve[-1][1] for name, curve in found["curves"].items()}
    assert len(set(at_once.values())) == len(SCALINGS), "each turns otherwise"
    same = result(made, "extrapolation", times=4, factor=1)["curves"]
    assert same["linear"] == same["ntk"] == same["none"] == found["curves"]["none"], "a factor of 1 scales nothing"


def test_only_rope_goes_beyond() -> None:
    with pytest.raises(Refused) as refused:
        result(opened("decoder_only", task="repeats", requests=[{"target": ["a", "b"]}]), "extrapolation")
    assert "set Position to RoPE" in str(refused.value)


def test_one_that_fails_is_refused_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(run: Run, arguments: dict[str, Any]) -> Iterator[float]:
        yield 0.5
        raise RuntimeError("vmap: this is not for readers")

    fails = ModuleType("fails")
    fails.__dict__.update(NAME="fails", ARGUMENTS={}, run=run)
    monkeypatch.setitem(registry(), "fails", fails)
    before = engine.digest()
    with pytest.raises(Refused, match="could not be measured here") as refused:
        do(engine, Analyse(name="fails"))
    assert refused.value.problems[0].field == "measure" and "vmap" not in str(refused.value)
    assert engine.digest() == before
    do(engine, Step())
