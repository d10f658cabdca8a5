"""Tasks whose source is read as a whole: the needle, masked French, agreement."""

from __future__ import annotations

from collections import Counter

import pytest

from models.tasks import UNK, Split, Task, Vocabulary, agreement, masked_french, needle
from models.tasks.objective import opened

TASKS = [needle.TASK, masked_french.TASK, agreement.TASK]


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.id)
def test_examples_are_known_keyed_and_not_shared_by_the_splits(task: Task) -> None:
    words = task.source
    assert isinstance(words, Vocabulary)
    drawn = {split: [task.example(3, split, i) for i in range(120)] for split in ("train", "held_out")}
    for example in (*drawn["train"], *drawn["held_out"]):
        assert UNK not in words.encode(opened(task, example.source or ()))
        task.target.encode(example.target)
    assert not {e.source for e in drawn["train"]} & {e.source for e in drawn["held_out"]}
    assert task.example(3, "train", 7) == task.example(3, "train", 7) != task.example(4, "train", 7)
    for preset in task.presets:
        ids = words.encode(opened(task, preset.source or ()))
        assert UNK not in ids and ids[0] == words.specials.index("<cls>")


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_one_word_of_the_hay_is_the_needle_and_stands_out_of_reach(split: Split) -> None:
    places, classes = [], Counter[str]()
    for index in range(300):
        example = needle.TASK.example(7, split, index)
        source = example.source or ()
        found = [i for i, w in enumerate(source) if w in needle.NEEDLES]
        assert len(found) == 1 and example.target == (source[found[0]],)
        assert 223 <= len(source) <= 255
        places.append(found[0])
        classes[example.target[0]] += 1
    assert min(places) >= needle.NEAREST > 2 * 8, "two layers of radius 8 would reach it"
    assert max(places) > 240 and set(classes) == set(needle.NEEDLES) and min(classes.values()) > 15


def test_a_clash_is_one_determiner_of_the_other_gender() -> None:
    said = Counter[str]()
    for index in range(300):
        example = agreement.TASK.example(7, "train", index)
        said[example.target[0]] += 1
        assert any(w in agreement.OTHER for w in example.source or ())
    assert 110 < said[agreement.CLASHES] < 190
    assert agreement.OTHER["le"] == "la" and agreement.OTHER["cette"] == "ce" and "les" not in agreement.OTHER


def test_a_clash_differs_from_a_right_sentence_in_one_word() -> None:
    right = {masked_french.TASK.pairs.example(7, "train", i).target for i in range(16 * 60)}
    clashing = [e for i in range(60) if (e := agreement.TASK.example(7, "train", i)).target == (agreement.CLASHES,)]
    assert clashing
    for example in clashing:
        words = example.source or ()
        mended = [(*words[:i], agreement.OTHER[w], *words[i + 1 :]) for i, w in enumerate(words) if w in agreement.OTHER]
        assert right & set(mended), words
