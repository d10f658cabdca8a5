"""The grammar says correct French, aligns it, and keeps its two splits apart. What is expected is written out by hand here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

import pytest

from models.tasks import SPECIALS, UNK, grammar, lexicon
from models.tasks.grammar import Phrase

ADJECTIVES = {"small", "big", "beautiful", "black", "white", "green", "red", "heavy", "strange", "convincing", "clear"}
MASCULINE = {"chat", "chien", "cheval", "renard", "livre", "chapeau", "lit", "rapport", "comité", "conseil"}
FEMININE = {"vache", "poule", "chèvre", "souris", "maison", "table", "fleur", "clé", "voiture", "lettre", "proposition"}
PLURALS = {"chevaux": "cheval", "chapeaux": "chapeau"}
ARTICLES = {"le": "m", "un": "m", "ce": "m", "mon": "m", "la": "f", "une": "f", "cette": "f", "ma": "f"}
PLURAL_ARTICLES = {"les", "mes", "vos", "ces", "deux"}
ONE_OF_EACH = (
    ("the black cat sleeps", "le chat noir dort"),
    ("the black cats sleep", "les chats noirs dorment"),
    ("the cat does not sleep", "le chat ne dort pas"),
    ("two mice do not sing", "deux souris ne chantent pas"),
    ("my small mouse eats", "ma petite souris mange"),
    ("a beautiful horse runs", "un beau cheval court"),
    ("these white goats run", "ces chèvres blanches courent"),
    ("the house is beautiful", "la maison est belle"),
    ("the hats are not heavy", "les chapeaux ne sont pas lourds"),
    ("the cat is not black", "le chat n' est pas noir"),
    ("your key is green", "votre clé est verte"),
    ("these books are strange", "ces livres sont étranges"),
    ("the report was convincing", "le rapport était convaincant"),
    ("the report was not convincing", "le rapport n' était pas convaincant"),
    ("the letters were not clear", "les lettres n' étaient pas claires"),
    ("the committee accepted the proposal", "le comité a accepté la proposition"),
    ("the committee rejected the proposal", "le comité a rejeté la proposition"),
    ("the council rejected this clear proposal", "le conseil a rejeté cette proposition claire"),
    ("a red goat sees your white hen", "une chèvre rouge voit votre poule blanche"),
    ("my heavy cow takes the bed", "ma vache lourde prend le lit"),
    ("your white dogs do not find your horse", "vos chiens blancs ne trouvent pas votre cheval"),
    ("your beautiful cat finds the small white houses", "votre beau chat trouve les petites maisons blanches"),
    ("my red hen sees the convincing reports", "ma poule rouge voit les rapports convaincants"),
)


@cache
def clauses() -> dict[str, str]:
    """What each kind of clause says in many draws: English to French."""
    kinds: tuple[Callable[[Random], Phrase], ...] = (
        grammar.act_clause,
        grammar.state_clause,
        grammar.act_on_clause,
        lambda rng: grammar.report_clause(rng)[0],
        lambda rng: grammar.decision_clause(rng, None),
    )
    drawn = (kind(Random(i)) for kind in kinds for i in range(20_000))
    return {" ".join(phrase.source): " ".join(phrase.target) for phrase in drawn}


@cache
def drawn(split: str, count: int = 3000) -> list[Phrase]:
    return [grammar.draw(3, split, i, (1, 3)) for i in range(count)]  # type: ignore[arg-type]


@pytest.mark.parametrize(("english", "french"), ONE_OF_EACH)
def test_a_sentence_of_each_kind_is_translated_as_by_hand(english: str, french: str) -> None:
    assert clauses()[english] == french


def test_thank_you_is_one_word_in_french() -> None:
    found = {p.source: p.target for p in drawn("train")}
    assert found["thank", "you"] == ("merci",)


def test_articles_agree_with_their_noun_and_nothing_needs_an_elision() -> None:
    for target in (p.target for p in (*drawn("train"), *drawn("held_out"))):
        for i, word in enumerate(target[:-1]):
            if word in (*ARTICLES, *PLURAL_ARTICLES):
                assert target[i + 1][0] not in "aeiouyéèêh", target
                noun = next(w for w in target[i + 1 : i + 3] if stem(w) in MASCULINE | FEMININE)
                assert plural(noun) is not False if word in PLURAL_ARTICLES else plural(noun) is not True, target
                assert ARTICLES.get(word, gender(noun)) == gender(noun), target


def stem(word: str) -> str:
    word = PLURALS.get(word, word)
    return word if word in MASCULINE | FEMININE else word.removesuffix("s")


def gender(word: str) -> str:
    return "m" if stem(word) in MASCULINE else "f"


def plural(word: str) -> bool | None:
    """None where the form does not say (souris)."""
    return None if word == "souris" else stem(word) != word


def test_a_negation_is_two_words_around_one_verb() -> None:
    for phrase in (*drawn("train"), *drawn("held_out")):
        target = phrase.target
        at = [i for i, word in enumerate(target) if word in ("ne", "n'")]
        assert all(target[i + 2] == "pas" for i in at), target
        assert all((target[i] == "n'") == (target[i + 1][0] in "eé") for i in at), target
        assert phrase.source.count("not") == len(at) == target.count("pas")


def test_links_cover_every_french_word_and_leave_only_do_and_does() -> None:
    for phrase in (*drawn("train"), *drawn("held_out")):
        assert {t for _, t in phrase.links} == set(range(len(phrase.target)))
        bare = set(range(len(phrase.source))) - {s for s, _ in phrase.links}
        assert {phrase.source[s] for s in bare} <= {"do", "does"}


def test_links_join_a_word_with_its_translation() -> None:
    """Content words alone tell it: each English one goes with a handful of French forms."""
    partners: dict[str, set[str]] = {}
    for phrase in drawn("train"):
        for s, t in phrase.links:
            partners.setdefault(phrase.source[s], set()).add(phrase.target[t])
    assert partners["cat"] == {"chat"} and partners["mice"] == {"souris"} and partners["."] == {"."}
    assert partners["black"] == {"noir", "noire", "noirs", "noires"}
    assert partners["not"] == {"ne", "n'", "pas"} and partners["accepted"] == {"a", "accepté"}
    assert partners["sleep"] == {"dort", "dorment"} and partners["thank"] == partners["you"] == {"merci"}


def met(source: tuple[str, ...]) -> set[tuple[str, str]]:
    """Which adjective goes with which noun, read off the English words: before its noun, or after "is", "was", ..."""
    singular = {plural: noun.english[0] for noun in lexicon.NOUNS for plural in noun.english}
    pairs, subject = set(), ""
    for i, word in enumerate(source):
        if word in ADJECTIVES:
            after = next((w for w in source[i + 1 : i + 3] if w not in ADJECTIVES), "")
            pairs.add((word, singular.get(after, subject)))
        if word in ("is", "are", "was", "were"):
            subject = singular[source[i - 1]]
    return pairs


def test_the_splits_share_no_sentence_and_unseen_pairs_stay_unseen() -> None:
    train, held_out = drawn("train"), drawn("held_out")
    assert not {p.source for p in train} & {p.source for p in held_out}
    seen = set().union(*(met(p.source) for p in train))
    unseen = set().union(*(met(p.source) for p in held_out)) - seen
    assert not seen & grammar.UNSEEN_PAIRS
    assert unseen >= grammar.UNSEEN_PAIRS
    assert sum(bool(met(p.source) & unseen) for p in held_out) > len(held_out) / 2


def test_the_words_of_an_unseen_pair_are_seen_with_others() -> None:
    seen = set().union(*(met(p.source) for p in drawn("train")))
    for adjective, noun in grammar.UNSEEN_PAIRS:
        assert sum(a == adjective for a, _ in seen) >= 10 and sum(n == noun for _, n in seen) >= 6


def test_the_source_texts_own_sentences_are_never_held_out() -> None:
    for text in grammar.TEXTS:
        assert not grammar.held_out(Phrase(text, (), ()))


def test_both_outcomes_of_a_decision_fall_on_one_side() -> None:
    for phrase in drawn("held_out", 500):
        text = tuple({"accepted": "rejected", "rejected": "accepted"}.get(w, w) for w in phrase.source)
        assert grammar.held_out(Phrase(text, (), (), phrase.pairs))


def test_a_committee_tends_to_follow_the_report() -> None:
    follows = against = 0
    for source in (p.source for p in drawn("train")):
        good = None
        for i, word in enumerate(source):
            if word in ("was", "were"):
                good = source[i + 1] != "not"
            if word in ("accepted", "rejected") and good is not None:
                follows += (word == "accepted") == good
                against += (word == "accepted") != good
    assert follows + against > 300
    assert 0.85 < follows / (follows + against) < 0.95


def test_a_draw_is_a_pure_function_of_its_arguments() -> None:
    assert grammar.draw(-5, "train", 9, (1, 3)) == grammar.draw(-5, "train", 9, (1, 3))
    assert len({grammar.draw(seed, "train", 9, (2, 3)) for seed in range(20)}) == 20


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_a_sentence_has_as_many_clauses_as_asked_for(count: int) -> None:
    verbs = {w for v in (*lexicon.ACTS, *lexicon.ACTS_ON, lexicon.IS, lexicon.WAS) for w in v.english} | {
        "accepted",
        "rejected",
        "thank",
    }
    for i in range(100):
        source = grammar.draw(0, "train", i, (count, count)).source
        assert sum(word in verbs for word in source) == count
        assert len(source) <= 128


@pytest.mark.parametrize("wrong", [(0, 3), (2, 1), (1, 6)])
def test_other_numbers_of_clauses_are_refused(wrong: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="allowed: least and most from 1 to 5"):
        grammar.draw(0, "train", 0, wrong)


def test_each_side_has_80_to_150_words_and_all_are_used() -> None:
    for vocabulary, used in (
        (lexicon.ENGLISH, {w for p in drawn("train") for w in p.source}),
        (lexicon.FRENCH, {w for p in drawn("train") for w in p.target}),
    ):
        assert 80 <= len(vocabulary) - len(SPECIALS) <= 150
        assert set(vocabulary.words[len(SPECIALS) :]) == used


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The BLACK cat sleeps.", ["the", "black", "cat", "sleeps", "."]),
        ("  a\tb\nc\u00a0d ", ["a", "b", "c", "d"]),
        ("Le rapport n’était pas", ["le", "rapport", "n'", "était", "pas"]),
        ("n' est", ["n'", "est"]),
        ("the cat's", ["the", "cat's"]),
        ("<eos> <pad>", ["<eos>", "<pad>"]),
        ("e\u0301trange", ["étrange"]),
        ("黒い猫が眠る。", ["黒い猫が眠る", "。"]),
        ("שלום, עולם", ["שלום", ",", "עולם"]),
        ("👩‍👩‍👧 cat", ["👩‍👩‍👧", "cat"]),
        ("a\x00b\x07 \x1b[31mred", ["ab", "[31mred"]),
        ("\u202ecat\u202c \ud800dog", ["cat", "dog"]),
        ("", []),
        ("\x00", []),
    ],
)
def test_text_becomes_tokens(text: str, tokens: list[str]) -> None:
    assert lexicon.tokenize(text) == tokens


def test_typed_special_tokens_are_unknown_words() -> None:
    assert lexicon.ENGLISH.encode(lexicon.tokenize("<eos> cat")) == [UNK, lexicon.ENGLISH.ids["cat"]]
