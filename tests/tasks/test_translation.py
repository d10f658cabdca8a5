"""The two tasks over the grammar: examples, presets, moved adjectives."""

from __future__ import annotations

import pytest

from models.catalogue import tasks
from models.tasks import Example, Task, grammar, lexicon, words_of
from models.tasks.language_model import LanguageModel
from models.tasks.translation import Translation

TRANSLATION, LANGUAGE_MODEL = Translation(), LanguageModel()


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_the_catalogue_has_both() -> None:
    assert {"translation", "language_model"} <= tasks().keys()


def test_a_task_that_restates_another_has_its_sentences_in_those_words() -> None:
    found = {task.id: task for task in tasks().values() if task.restates is not None}
    assert found.keys() == {"one_stream", "text_to_text"}
    for task in found.values():
        said, pairs = task.restates, task.pairs  # type: ignore[attr-defined]
        assert said is not None and said.task == pairs.id
        for index in (0, 2, 4):  # every second text is restored, not translated
            pair, own = pairs.example(7, "held_out", index), task.example(7, "held_out", index)
            asked = (*said.before, *(pair.source or ()), *said.after)
            assert (own.source, own.target) == ((asked, pair.target) if task.source else (None, (*asked, *pair.target)))


def test_a_moved_adjective_is_found_where_the_links_cross() -> None:
    source = words("the small black cat is not black and sees a red house .")
    target = words("le petit chat noir n' est pas noir et voit une maison rouge .")
    links = (
        (0, 0),
        (1, 1),
        (2, 3),
        (3, 2),
        (4, 5),
        (5, 4),
        (5, 6),
        (6, 7),
        (7, 8),
        (8, 9),
        (9, 10),
        (10, 12),
        (11, 11),
        (12, 13),
    )
    moved = TRANSLATION.moved(Example(source, target, links))
    assert [(source[s], target[t]) for s, t in moved] == [("black", "noir"), ("red", "rouge")]
    assert moved == [(2, 3), (10, 12)]


def test_in_a_draw_a_moved_adjective_follows_a_noun_and_is_none_of_those_that_stay() -> None:
    count = 0
    for i in range(500):
        example = TRANSLATION.example(0, "held_out", i)
        for s, t in TRANSLATION.moved(example):
            count += 1
            assert example.source is not None
            assert example.source[s] in {"black", "white", "green", "red", "heavy", "strange", "convincing", "clear"}
            assert example.target[t - 1] in {form for noun in lexicon.NOUNS for form in noun.french}
    assert count > 300


def test_the_language_model_reads_the_english_side_of_the_same_sentences() -> None:
    for split in ("train", "held_out"):
        for i in range(20):
            assert LANGUAGE_MODEL.example(4, split, i) == Example(None, TRANSLATION.example(4, split, i).source or ())


def test_clauses_can_be_asked_for() -> None:
    long = Translation(clauses=(5, 5)).example(0, "train", 0)
    assert sum(word in (".", "and") for word in long.source or ()) >= 4


@pytest.mark.parametrize("task", [TRANSLATION, LANGUAGE_MODEL])
def test_presets_use_known_words_and_say_what_to_look_at(task: Task) -> None:
    assert 4 <= len(task.presets) <= 8
    assert len({preset.name for preset in task.presets}) == len(task.presets)
    for preset in task.presets:
        assert preset.note
        assert (preset.source is None) == (task.source is None)
        assert not task.target.unknown(preset.target)
        if words := words_of(task):
            assert preset.source and not words.unknown(preset.source)


def test_the_preset_of_unseen_pairs_is_true() -> None:
    preset = next(p for p in TRANSLATION.presets if p.name == "A pair never seen")
    assert {("green", "fox"), ("red", "book")} <= grammar.UNSEEN_PAIRS
    assert preset.source == words("the green fox sees the red book .")


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_the_gold_translation_of_a_sentence_is_what_was_written_beside_it(split: str) -> None:
    for index in range(300):
        drawn = Translation((1, 5)).example(3, split, index)  # type: ignore[arg-type]
        found = TRANSLATION.gold(drawn.source or ())
        assert found is not None and (found.source, found.target) == (drawn.source, drawn.target)
        assert sorted(found.alignment) == sorted(drawn.alignment)


@pytest.mark.parametrize(
    "text",
    ["", "the", "black the cat sleeps", "a cats sleep", "the cat sleep", "the cat sees", "the zebra sleeps", ". .", "thank",
     "the cat sleeps and", "the cat sleeps . .", "the cats accepted the proposal", "the cat sleeps the dog"],
)  # fmt: skip
def test_what_the_grammar_does_not_write_has_no_gold_translation(text: str) -> None:
    assert TRANSLATION.gold(words(text)) is None


def test_every_preset_has_a_gold_translation() -> None:
    assert all(TRANSLATION.gold(p.source or ()) for p in TRANSLATION.presets)
