"""Training without watching, decoding, the measures, and what the shipped weights reach when measured again."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from torch import nn

from app.session import weights
from app.session.aligning import aligned, best_head
from app.session.fit import fit, rate
from app.session.measures import (
    REPORT_SEED,
    closers,
    decision,
    distance,
    draw_held_out,
    exact_match,
    greedy_decode,
    measure,
    validation_loss,
)
from app.session.scenario import Scenario, defaults
from models import Inputs, Outputs
from models.catalogue import architectures, tasks
from models.parts.tap import OFF, Recorder, Tap
from models.tasks import BOS, EOS, Example, Split, Task
from models.tasks.dyck import CLOSES
from models.tasks.dyck import TASK as DYCK
from models.tasks.language_model import TASK as LANGUAGE_MODEL
from models.tasks.objective import batch, pad
from models.tasks.translation import TASK as TRANSLATION
from models.tasks.translation import Translation

SMALL = {"layers": 1, "d_model": 16, "d_ff": 32, "heads": 2}
CROSS = next(r for r in architectures()["encoder_decoder"].relations if r.name == "cross")
SIZE = 256


def small(**training: Any) -> Scenario:
    return defaults("encoder_decoder", config=SMALL, weights="random", training={"batch_size": 8, **training})


@cache
def shipped(architecture: str) -> tuple[nn.Module, dict[str, Any]]:
    model, loaded = weights.build(defaults(architecture), "cpu")
    return model, loaded["source"]


def words(text: str) -> list[str]:
    return text.split()


# ---- fitting


def test_fitting_lowers_the_loss() -> None:
    losses: list[float] = []
    fit(small(learning_rate=1e-2), 80, lambda step, loss: losses.append(loss))
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])


def test_fitting_twice_gives_the_same_parameters_bit_for_bit() -> None:
    (one, loss), (other, again) = fit(small(), 3), fit(small(), 3)
    assert loss == again
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_a_curriculum_gives_the_shortest_first_and_then_mixes_them_in() -> None:
    """A stand-in for the task hears which examples an update asks for."""
    lengths: list[int] = []

    class Listening(Translation):
        def example(self, seed: int, split: Split, index: int) -> Example:
            found = super().example(seed, split, index)
            lengths.append(self.clauses[1])
            return found

        def shortest(self) -> Translation:
            return Listening((1, 1))

    given, every = small(batch_size=1), tasks()
    before, every["translation"] = every["translation"], Listening()
    try:
        fit(given, 6, short=2)
    finally:
        every["translation"] = before
    assert lengths == [1, 1, 3, 1, 3, 1]
    assert TRANSLATION.shortest().clauses == (1, 1) and LANGUAGE_MODEL.shortest() is LANGUAGE_MODEL


def test_fitting_on_leaves_the_shared_checkpoint_alone() -> None:
    before = {name: p.detach().clone() for name, p in shipped("encoder_decoder")[0].named_parameters()}
    model, _ = fit(defaults("encoder_decoder", training={"batch_size": 2}), 1)
    after = dict(shipped("encoder_decoder")[0].named_parameters())
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not all(torch.equal(before[name], p) for name, p in model.named_parameters())


def test_the_learning_rate_rises_then_falls() -> None:
    rates = [rate(step, 100) for step in range(100)]
    torch.testing.assert_close(rates[:5], [0.2, 0.4, 0.6, 0.8, 1.0])
    assert rates[5:] == sorted(rates[5:], reverse=True) and rates[5] == 1.0
    assert 0 < rates[-1] < 0.001
    assert rate(0, 1) == 1.0


# ---- decoding and measuring


@pytest.mark.parametrize(("architecture", "task"), [("encoder_decoder", TRANSLATION), ("decoder_only", LANGUAGE_MODEL)])
def test_greedy_decoding_equals_reading_the_whole_prefix_again_each_time(architecture: str, task: Task) -> None:
    model, _ = shipped(architecture)
    examples = draw_held_out(task, 5, 6)
    source, _ = batch(task, examples)
    prompts = [[BOS]] * 6 if source is not None else [[BOS, *task.target.encode(e.target[:n])] for n, e in enumerate(examples)]
    answers = greedy_decode(model, source, prompts, 20)
    assert len({len(a) for a in answers}) > 1
    for b, (prompt, answer) in enumerate(zip(prompts, answers, strict=True)):
        one = None if source is None else pad([source.values[b, : source.lengths[b]].tolist()])
        known = list(prompt)
        for id in [*answer, EOS][:20]:
            with torch.no_grad():
                outputs, _ = model(Inputs(pad([known]), one), model.initial_state(1), OFF)  # type: ignore[operator]
            assert int(outputs.values[0, -1].argmax()) == id
            known.append(id)


def test_decoding_stops_at_the_limit() -> None:
    model, _ = shipped("encoder_decoder")
    source, _ = batch(TRANSLATION, draw_held_out(TRANSLATION, 0, 2))
    assert [len(a) for a in greedy_decode(model, source, [[BOS]] * 2, 3)] == [3, 3]


def test_alignment_is_counted_as_by_hand() -> None:
    model, _ = shipped("encoder_decoder")
    examples = draw_held_out(TRANSLATION, 3, 70)
    shares, rows = aligned(model, TRANSLATION, CROSS, examples)
    hits, count = torch.zeros_like(shares), 0
    for example in examples:
        source, target = batch(TRANSLATION, [example])
        recorder = Recorder()
        model(Inputs(target, source), model.initial_state(1), recorder)  # type: ignore[operator]
        for s, t in TRANSLATION.moved(example):
            count += 1
            for layer in range(2):
                read = recorder.tape.records[f"decoder.layer{layer}.cross.weights"].value[0, :, t]
                hits[layer] += torch.tensor([float(row.argmax() == s) for row in read])
    assert rows == count > 50
    torch.testing.assert_close(shares, hits / count)


def test_a_random_model_translates_nothing() -> None:
    model, _ = weights.build(small(), "cpu")
    examples = draw_held_out(TRANSLATION, 0, 16)
    assert exact_match(model, TRANSLATION, examples) == 0.0
    assert validation_loss(model, TRANSLATION, examples) > 3


# ---- the shipped weights, measured again


def test_the_translation_weights_translate_held_out_sentences() -> None:
    model, made = shipped("encoder_decoder")
    examples = draw_held_out(TRANSLATION, REPORT_SEED, SIZE)
    exact = exact_match(model, TRANSLATION, examples)
    assert exact >= 0.97 and made["metrics"]["exact"] >= 0.97
    assert abs(exact - made["metrics"]["exact"]) < 0.02
    assert validation_loss(model, TRANSLATION, examples) < 5 * made["metrics"]["validation_loss"] + 0.01


def test_one_head_reads_the_adjective_that_moves() -> None:
    model, made = shipped("encoder_decoder")
    claim = made["metrics"]["moved_adjectives"]
    shares, rows = aligned(model, TRANSLATION, CROSS, draw_held_out(TRANSLATION, REPORT_SEED, SIZE))
    share = float(shares[claim["layer"], claim["head"]])
    assert rows > 200 and claim["rows"] > 1000
    assert share >= 0.85 and claim["share"] >= 0.85
    assert abs(share - claim["share"]) < 0.05
    layer, head = best_head(model, TRANSLATION, CROSS, draw_held_out(TRANSLATION, 0, SIZE))
    assert shares[layer, head] >= 0.85


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("the black cat sleeps", "le chat noir dort"),
        ("thank you", "merci"),
        ("the report was convincing .", "le rapport était convaincant ."),
        ("the report was not convincing .", "le rapport n' était pas convaincant ."),
        ("the committee accepted the proposal .", "le comité a accepté la proposition ."),
        ("the committee rejected the proposal .", "le comité a rejeté la proposition ."),
        ("the green fox sees the red book .", "le renard vert voit le livre rouge ."),
    ],
)
def test_the_translation_weights_know_the_texts_own_examples(english: str, french: str) -> None:
    model, _ = shipped("encoder_decoder")
    source = pad([TRANSLATION.source.encode(words(english))])  # type: ignore[union-attr]
    (answer,) = greedy_decode(model, source, [[BOS]], 20)
    assert TRANSLATION.target.decode(answer) == words(french)


def test_the_longest_preset_is_beyond_what_was_learned_as_its_note_says() -> None:
    model, _ = shipped("encoder_decoder")
    preset = next(p for p in TRANSLATION.presets if p.name == "Five clauses")
    (answer,) = greedy_decode(model, pad([TRANSLATION.source.encode(preset.source or ())]), [[BOS]], 60)  # type: ignore[union-attr]
    assert len(answer) < len(preset.source or ()) and "conseil" not in TRANSLATION.target.decode(answer)


def test_one_word_earlier_turns_the_decision() -> None:
    model, made = shipped("decoder_only")
    good = decision(model, LANGUAGE_MODEL, words("the report was convincing . the committee"))
    bad = decision(model, LANGUAGE_MODEL, words("the report was not convincing . the committee"))
    assert good["accepted"] > 0.75 > 0.25 > good["rejected"]
    assert bad["rejected"] > 0.75 > 0.25 > bad["accepted"]
    claims = made["metrics"]["decision"]
    torch.testing.assert_close(good, claims["the report was convincing . the committee"], rtol=0, atol=1e-3)
    torch.testing.assert_close(bad, claims["the report was not convincing . the committee"], rtol=0, atol=1e-3)


def test_the_decision_remembers_a_report_that_lies_further_back() -> None:
    model, _ = shipped("decoder_only")
    good, bad = (
        decision(model, LANGUAGE_MODEL, words(f"the report was {verdict} . the black cat sleeps . the committee"))
        for verdict in ("convincing", "not convincing")
    )
    assert good["accepted"] > 0.6 and bad["rejected"] > 0.6


def test_the_language_model_weights_have_learned() -> None:
    model, made = shipped("decoder_only")
    loss = validation_loss(model, LANGUAGE_MODEL, draw_held_out(LANGUAGE_MODEL, REPORT_SEED, SIZE))
    assert abs(loss - made["metrics"]["validation_loss"]) < 0.1
    assert loss < 2.2  # every word equally likely: log(88) = 4.5


def test_measuring_says_what_applies_to_the_task() -> None:
    translation = measure(shipped("encoder_decoder")[0], architectures()["encoder_decoder"], TRANSLATION, 8)
    read = {"exact", "exact_by_clauses", "moved_adjectives", "alignment"}
    assert translation.keys() == {"validation_loss", "examples", *read}
    assert translation["exact_by_clauses"].keys() == {1, 2, 3, 4, 5} and translation["exact_by_clauses"][1] == 1.0
    language = measure(shipped("decoder_only")[0], architectures()["decoder_only"], LANGUAGE_MODEL, 8)
    assert language.keys() == {"validation_loss", "examples", "decision"}


def test_distance_counts_the_fewest_edits() -> None:
    for a, b, edits in (("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)):
        assert distance([*map(ord, a)], [*map(ord, b)]) == edits == distance([*map(ord, b)], [*map(ord, a)])


class _Knows(torch.nn.Module):
    """Predicts the bracket that must close now, or the other way round; a stand-in for a model of the brackets."""

    def __init__(self, right: bool) -> None:
        super().__init__()
        self.right = right

    def initial_state(self, batch: int) -> None:
        return None

    def forward(self, inputs: Inputs, state: None, tap: Tap) -> tuple[Outputs, None]:
        words = [DYCK.target.decode(row.tolist()) for row in inputs.target.values]
        logits = torch.zeros(*inputs.target.values.shape, len(DYCK.target))
        for b, row in enumerate(words):
            for t in range(len(row)):
                before = [w for w in row[1 : t + 1] if w not in ("<pad>", "<eos>")]
                for close, opener in CLOSES.items():
                    found = DYCK.openers([*before, close]).get(len(before))
                    fits = found is not None and before[found] == opener
                    logits[b, t, DYCK.target.ids[close]] = float(fits == self.right)
        return Outputs("next_token", logits), None


@pytest.mark.parametrize(("right", "share"), [(True, 1.0), (False, 0.0)])
def test_closers_are_counted(right: bool, share: float) -> None:
    examples = [DYCK.example(2, "held_out", i) for i in range(20)]
    found = closers(_Knows(right), DYCK, examples)
    assert found == {"right": share, "rows": sum(len(e.target) // 2 for e in examples)}
