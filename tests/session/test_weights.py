"""Where parameters come from: seeded draws and shipped checkpoints."""

from __future__ import annotations

import gc
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from safetensors.torch import load, load_file
from torch import Tensor, nn

from app.session import required, weights
from app.session.scenario import Scenario, defaults
from models.catalogue import architectures, deciding, read_config

# nothing is shipped yet, and the page says so
UNTRAINED = {
    "rctm",
    "residual",
}

SHIPPED = [("encoder_decoder", "translation"), ("decoder_only", "language_model")]


def scenario(architecture: str = "encoder_decoder", **fields: Any) -> Scenario:
    return defaults(architecture, **fields)


def values(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.detach() for name, p in model.named_parameters()}


def built(given: Scenario) -> dict[str, Tensor]:
    return values(weights.build(given, "cpu")[0])


def test_random_parameters_follow_the_seed() -> None:
    one, again, other = (built(scenario(weights="random", seed=seed)) for seed in (-1, -1, 0))
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(one["encoder.embedding.token.weight"], other["encoder.embedding.token.weight"])


def test_a_build_leaves_the_global_generator_as_it_was_and_does_not_depend_on_it() -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = built(scenario(weights="random"))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    again = built(scenario(weights="random"))
    assert all(torch.equal(one[name], again[name]) for name in one)


def test_builds_at_the_same_time_do_not_disturb_each_other() -> None:
    seeds = list(range(8))
    alone = [built(scenario(weights="random", seed=seed)) for seed in seeds]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: built(scenario(weights="random", seed=seed)), seeds))
    for one, other in zip(alone, together, strict=True):
        assert all(torch.equal(one[name], other[name]) for name in one)


def test_random_weights_name_their_seed() -> None:
    _, loaded = weights.build(scenario(weights="random", seed=3), "cpu")
    assert loaded == {"kind": "random", "source": {"seed": 3}}


@pytest.mark.parametrize(("architecture", "task"), SHIPPED)
def test_trained_models_share_the_tensors_of_the_checkpoint(architecture: str, task: str) -> None:
    one, loaded = weights.build(scenario(architecture), "cpu")
    other, _ = weights.build(scenario(architecture, seed=99), "cpu")
    assert loaded["kind"] == "trained" and loaded["source"]["task"] == task
    assert [p.data_ptr() for p in one.parameters()] == [p.data_ptr() for p in other.parameters()]
    stored = load_file(weights.FOLDER / loaded["source"]["file"])
    assert stored.keys() == values(one).keys()
    for name, value in values(one).items():
        assert value.dtype == torch.float32 and stored[name].dtype == torch.float16
        torch.testing.assert_close(value[: len(stored[name])], stored[name].float(), rtol=0, atol=0)


def test_rows_beyond_a_checkpoint_are_those_that_its_training_began_with() -> None:
    one, other = (built(scenario("decoder_only", seed=seed))["decoder.embedding.position.weight"] for seed in (7, 99))
    assert one.shape[0] == 513 and one.data_ptr() == other.data_ptr()
    begun = built(scenario("decoder_only", weights="random", seed=7))["decoder.embedding.position.weight"]
    stored = load_file(weights.FOLDER / "decoder_only.language_model.safetensors")["decoder.embedding.position.weight"]
    torch.testing.assert_close(one, torch.cat((stored.float(), begun[len(stored) :])), rtol=0, atol=0)


def test_random_models_of_one_draw_share_its_tensors_while_one_of_them_lives() -> None:
    def places(seed: int) -> tuple[nn.Module, list[int]]:
        model, _ = weights.build(defaults(weights="random", config={"layers": 1}, seed=seed), "cpu")
        return model, [p.data_ptr() for p in model.parameters()]

    (first, at), (second, same), (_other, elsewhere) = places(11), places(11), places(12)
    assert at == same
    assert not set(at) & set(elsewhere)
    assert [key for key in weights._DRAWS if ", 11," in key]
    del first, second
    gc.collect()
    assert not [key for key in weights._DRAWS if ", 11," in key]


def test_another_config_has_no_trained_weights_and_says_so() -> None:
    given = scenario(config={"layers": 1})
    model, loaded = weights.build(given, "cpu")
    assert loaded["kind"] == "random"
    assert loaded["source"] == {"seed": 7, "reason": "no trained weights are shipped for this architecture, config and task"}
    random, _ = weights.build(scenario(config={"layers": 1}, weights="random"), "cpu")
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), random.parameters(), strict=True))


@pytest.mark.parametrize("architecture", [a for a in architectures() if a not in UNTRAINED])
def test_a_checkpoint_is_small_and_says_how_it_was_made(architecture: str) -> None:
    shipped = weights.checkpoints(architecture)
    assert shipped
    for made in shipped:
        assert (weights.FOLDER / made["file"]).stat().st_size <= 1_000_000
        assert made["file"].startswith(f"{architecture}.{made['task']}.") and made["file"].endswith("safetensors")
        assert made["architecture"] == architecture
        variant = dict(word.split("=") for word in made["command"].split() if "=" in word)
        default = scenario(architecture, task=made["task"]).config
        decides = deciding(architectures()[architecture], made["config"])
        assert {name for name, value in decides.items() if value != default[name]} <= variant.keys()
        assert (
            f"--architecture {architecture} --task {made['task']} --steps {made['steps']} --seed {made['seed']}"
            in made["command"]
        )
        assert made["command"].startswith("lookback train ")
        assert max(made["longest"].values()) > 0, "so that a longer text can be named"
        assert made["metrics"]["validation_loss"] > 0
        assert made["loss"] > 0 or "attention=hard" in made["command"], "a term for entropy may take the loss below 0"


def test_every_checkpoint_keeps_the_bounds_that_it_names() -> None:
    made = [m for a in architectures() for m in weights.checkpoints(a)]
    bound = {m["file"]: m["required"] for m in made if m.get("required")}
    assert len(bound) >= 10
    for m in made:
        assert required.missed(m["metrics"], m.get("required", {})) == []
        for name, sides in m.get("required", {}).items():
            assert all(f"--{side.replace('_', '-')} {name}={number:g}" in m["command"] for side, number in sides.items())


def test_every_checkpoint_has_its_recipe_and_every_recipe_made_one() -> None:
    """`make checkpoints` makes them all again."""
    recipes = dict(line.split(" ", 1) for line in (weights.FOLDER / "recipes").read_text().splitlines())
    made = {m["file"].removesuffix(".safetensors"): m["command"] for a in architectures() for m in weights.checkpoints(a)}
    assert {name: f"lookback train {given}" for name, given in recipes.items()} == made


def test_a_checkpoint_holds_rounded_parameters_and_its_provenance() -> None:
    model, _ = weights.build(scenario(weights="random"), "cpu")
    made = {"command": "lookback train", "notes": "é"}
    content = weights.as_checkpoint(model, made)
    weights.round_parameters(model)
    for name, stored in load(content).items():
        torch.testing.assert_close(stored.float(), values(model)[name], rtol=0, atol=0)
    length = int.from_bytes(content[:8], "little")
    assert json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["provenance"]) == made


def test_trained_weights_stay_when_a_part_is_exchanged_and_say_so() -> None:
    whole, _ = weights.build(scenario("decoder_only"), "cpu")
    for parts in ({"norm_kind": "rms"}, {"residual": False}, {"position": "rope", "scaling": "yarn"}, {"sharing": "depth"}):
        model, loaded = weights.build(scenario("decoder_only", config=parts), "cpu")
        assert loaded["kind"] == "trained" and set(loaded["source"]["exchanged"]) == parts.keys()
        assert all(torch.equal(value, values(whole)[name]) for name, value in values(model).items())


def test_a_part_with_parameters_of_its_own_has_no_trained_ones() -> None:
    for parts in ({"position": "bias"}, {"tied": False}):
        assert weights.build(scenario("decoder_only", config=parts), "cpu")[1]["kind"] == "random"


def test_what_limits_a_variant_is_said_with_its_weights() -> None:
    made = [(a, m) for a in architectures() for m in weights.checkpoints(a)]
    said = {m["file"]: m.get("note", "") for _, m in made}
    assert said == {m["file"]: architectures()[a].limits(read_config(architectures()[a], m["config"])[0]) for a, m in made}
    assert sum(map(bool, said.values())) >= 3
