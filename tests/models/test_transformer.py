"""What is particular to the Transformer page: its limits, its state, its settings, its names."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import Rows, Spec
from models.catalogue import architectures, config_schema, read_config
from models.parts.rows import joining
from models.parts.tap import Editor, Recorder, Step
from models.parts.visibility import Cell, NoVisibleKey, Visibility
from models.transformer import SPECS, TARGET_ROWS
from tests.models.world import World, ids, maker

DECODER_ONLY, ENCODER_DECODER = SPECS
both = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)


@both
def test_more_rows_than_there_are_positions_are_refused(spec: Spec) -> None:
    world, most = maker(spec)(), spec.capabilities.largest_rows
    with pytest.raises(ValueError, match=f"target rows: {most + 1} given, at most {most} allowed; use a shorter text"):
        world.call(ids((most + 1, 2, 2), 19, 1))
    state = world.call(ids((most, 2, 2), 19, 1))[1]
    with pytest.raises(ValueError, match=f"target rows: {most + 1} given"):
        world.call(ids((1, 1, 1), 19, 1), state)
    out, _ = world.call(Rows(ids((40, 40, 40), 19, 1).values, torch.tensor([0, 40, 1])), state)
    assert out.values.isfinite().all(), "padding past the last position is no row"


def test_a_longer_source_is_refused() -> None:
    world = replace(maker(ENCODER_DECODER)(), source=ids((129, 1, 1), 17, 1))
    with pytest.raises(ValueError, match="source rows: 129 given, at most 128 allowed"):
        world.start()


def test_a_source_is_needed() -> None:
    with pytest.raises(ValueError, match="source: none given and none kept"):
        maker(ENCODER_DECODER)().call(ids((1, 1, 1), 19, 1), source=False)
    with pytest.raises(ValueError, match="source vocabulary: none given"):
        ENCODER_DECODER.build(ENCODER_DECODER.config(), None, 19)
    empty = replace(maker(ENCODER_DECODER)(), source=Rows(torch.zeros(3, 2, dtype=torch.int64), torch.tensor([2, 0, 1])))
    with pytest.raises(NoVisibleKey, match="row 0 of request 1 may read no key in relation 'cross'"):
        empty.call(ids((1, 1, 1), 19, 1))


@both
def test_heads_must_share_the_width(spec: Spec) -> None:
    config, problems = read_config(spec, {"heads": 3})
    assert config is None and problems == [("heads", 3, "a divisor of the model width 64, which the heads share evenly")]
    config, problems = read_config(spec, {"heads": 3, "d_model": 96})
    assert problems == [] and config is not None and config.heads == 3


@both
def test_every_setting_explains_itself(spec: Spec) -> None:
    schema = config_schema(spec.config)
    assert [f["name"] for f in schema] == [f.name for f in fields(spec.config)]
    assert all(f["title"] and f["why"] and ("choices" in f or "high" in f or f["type"] == "boolean") for f in schema)


@both
def test_a_checkpoint_stays_below_a_megabyte_and_says_what_each_parameter_is(spec: Spec) -> None:
    model = spec.build(spec.config(), 150, 150)
    assert sum(value.numel() * 2 for value in model.state_dict().values()) < 1_000_000
    assert "decoder.layer0.self.W_Q.weight" in model.state_dict()
    assert {name for name, _ in model.named_parameters()} == set(model.state_dict()), "nothing is stored that a formula gives"


def test_both_are_in_the_catalogue() -> None:
    assert [architectures()[spec.id] for spec in SPECS] == list(SPECS)


def test_the_paths_of_parameters_and_taps_share_their_scopes() -> None:
    world, recorder = maker(ENCODER_DECODER)(), Recorder()
    world.call(world.target, tap=recorder)
    scopes = {path.rpartition(".")[0] for path in recorder.tape.records} - {"", "encoder", "decoder"}
    assert scopes == {scope for name, _ in world.model.named_parameters() if (scope := name.rsplit(".", 2)[0]).count(".")}


@pytest.mark.parametrize("changes", [{"norm": "post"}, {"norm": "pre"}])
def test_only_pre_norm_has_a_last_norm(changes: dict[str, str]) -> None:
    names = {name for name, _ in maker(ENCODER_DECODER, **changes)().model.named_parameters()}
    assert ("decoder.final.weight" in names) == ("encoder.final.weight" in names) == (changes["norm"] == "pre")


def test_a_tied_head_is_the_embedding() -> None:
    tied, untied = (maker(DECODER_ONLY, tied=tied)().model for tied in (True, False))
    assert "head.weight" not in tied.state_dict() and "head.weight" in untied.state_dict()


def test_encoding_alone_computes_no_target_row() -> None:
    world, recorder = maker(ENCODER_DECODER)(), Recorder()
    none = Rows(world.target.values[:, :0], torch.zeros(3, dtype=torch.int64))
    out, state = world.call(none, tap=recorder)
    assert out.values.shape == (3, 0, 19) and state.lengths.tolist() == [0, 0, 0]
    paths = recorder.tape.records
    assert "t" not in recorder.tape.sizes and {p for p in paths if p.startswith("decoder")} == {
        f"decoder.layer{layer}.cross.{name}" for layer in (0, 1) for name in "kv"
    }


def test_each_layer_has_its_own_mask() -> None:
    world, recorder = maker(DECODER_ONLY)(), Recorder()
    world.call(world.target, tap=recorder, visible={"target_self": (Visibility("causal"), Visibility("causal_sliding", 1))})
    first, second = (recorder.tape.records[f"decoder.layer{i}.self.mask"].value[1] for i in (0, 1))
    assert torch.equal(first, torch.ones(7, 7).tril().bool())
    assert torch.equal(second, first & torch.ones(7, 7).triu(-1).bool())


def test_equal_masks_are_made_once_a_call() -> None:
    world, recorder = maker(DECODER_ONLY)(), Recorder()
    world.call(world.target, tap=recorder)
    assert recorder.tape.records["decoder.layer0.self.mask"].value is recorder.tape.records["decoder.layer1.self.mask"].value


def test_a_cell_counts_in_absolute_rows_in_decode() -> None:
    world = maker(DECODER_ONLY)()
    visible = {"target_self": (Visibility("causal").with_cells([Cell(5, 2, False)]),) * 2}
    state = world.call(world.part(0, 5), visible=visible)[1]
    recorder = Recorder()
    world.call(world.part(5, 6), state, recorder, visible=visible)
    mask = recorder.tape.records["decoder.layer0.self.mask"].value
    assert mask[1, 0].tolist() == [True, True, False, True, True, True]


def test_scores_of_hidden_places_are_recorded_before_the_mask() -> None:
    world, recorder = maker(DECODER_ONLY)(), Recorder()
    world.call(world.target, tap=recorder)
    records = recorder.tape.records
    scores, q, keys = (records[f"decoder.layer0.self.{name}"].value for name in ("scores", "q", "keys"))
    assert scores.isfinite().all()
    assert_close(scores, torch.einsum("bhte,bhke->bhtk", q, keys) / 4.0)


def scaled(value: Tensor, axes: tuple[str, ...], step: Step | None) -> Tensor:
    return value * 1.5


@pytest.mark.parametrize("path", ["decoder.layer0.self.keys", "decoder.layer1.self.v", "decoder.layer0.cross.values"])
def test_an_edit_counts_once_in_cached_decode_as_in_the_full_prefix(path: str) -> None:
    world = maker(ENCODER_DECODER)()
    tap = Editor({path: scaled})
    whole, _ = world.call(world.target, tap=tap)
    state, outputs = world.call(world.part(0, 2), tap=tap)[1], []
    for t in range(2, 7):
        out, state = world.call(world.part(t, t + 1), state, tap, source=False)
        outputs.append(out.values)
    valid = world.target.valid[:, 2:]
    assert_close(torch.cat(outputs, 1)[valid], whole.values[:, 2:][valid], atol=1e-12, rtol=0)
    assert not torch.allclose(whole.values, world.logits())


def test_new_rows_follow_the_known_rows_of_their_own_request() -> None:
    kept = torch.tensor([[1.0, 2, 3], [4, 0, 0]]).view(2, 1, 3, 1)
    new = torch.tensor([[5.0, 0], [6, 7]]).view(2, 1, 2, 1)
    join = joining(torch.tensor([3, 1]), 3, Rows(torch.zeros(2, 2), torch.tensor([1, 2])), TARGET_ROWS)
    joined = join.join(kept, new).view(2, -1)
    assert joined[join.known].tolist() == [1, 2, 3, 5, 4, 6, 7] and join.known.sum(-1).tolist() == [4, 3]
    assert join.rows.tolist() == [[3, 4], [1, 2]] and join.valid.tolist() == [[True, False], [True, True]]
    assert kept.flatten().tolist() == [1, 2, 3, 4, 0, 0]


def test_requests_of_equal_length_need_no_reordering() -> None:
    lengths = torch.tensor([2, 2])
    assert joining(lengths, 2, Rows(torch.zeros(2, 1), torch.tensor([1, 1])), TARGET_ROWS).order is None
    assert joining(lengths, 3, Rows(torch.zeros(2, 1), torch.tensor([1, 1])), TARGET_ROWS).order is not None


def reordered(world: World) -> Tensor:
    """The same rows through a cache that is wider than any request, so that every request is reordered."""
    state = world.call(world.part(0, 4))[1]
    wide = replace(state, layers=tuple(replace(k, keys=_wider(k.keys), values=_wider(k.values)) for k in state.layers))  # type: ignore
    return world.call(world.part(4, 7), wide, source=False)[0].values


def _wider(kept: Tensor) -> Tensor:
    return torch.cat((kept, torch.full_like(kept[:, :, :2], 9.0)), 2)


@both
def test_a_wider_cache_changes_nothing(spec: Spec) -> None:
    world = maker(spec)()
    plain = world.call(world.part(4, 7), world.call(world.part(0, 4))[1], source=False)[0].values
    valid = world.target.valid[:, 4:]
    assert_close(reordered(world)[valid], plain[valid], atol=1e-12, rtol=0)
