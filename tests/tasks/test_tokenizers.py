"""Tokenizers: any text comes back, a character is never cut in two pieces of different words, and merges are those that an
independent implementation learns and applies (the package `tokenizers`)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from models.catalogue import tasks
from models.tasks import PAD, UNK, Special, subwords, verse, words
from models.tasks.bytes import TOKENIZER as BYTES
from models.tasks.characters import TASK as CHARACTERS
from models.tasks.subwords import TOKENIZER as BPE
from models.tasks.tokenizers import BytePairs, Characters, Words, learn, name, split, utf8

VERSE = ("characters", "bytes", "subwords", "words")
ANY = st.text(max_size=60)  # of characters: lone surrogates are none
SMALL = st.text(alphabet="ab é日", max_size=40)  # few letters: many ties between pairs


@given(ANY)
@example("")
@example("↵\n\r\x00\x7f\u2028\ufeff")
@example("naïve — 日本 مرحبا 👩‍👩‍👧 e\u0301")
@example("a" * 10_000)
def test_bytes_and_byte_pairs_write_any_text(text: str) -> None:
    for tokenizer in (BYTES, BPE):
        pieces = tokenizer.pieces(text)
        assert tokenizer.text(pieces) == text
        assert all(p.isprintable() and p for p in pieces)
    assert len(BYTES.pieces(text)) == len(text.encode()) >= len(BPE.pieces(text))


@given(ANY)
def test_words_of_a_byte_tokenizer_are_the_whole_text_and_cut_no_character(text: str) -> None:
    parts = split(utf8(text))
    assert b"".join(parts) == text.encode() and "".join(p.decode() for p in parts) == text


def test_a_lone_surrogate_is_no_character() -> None:
    for tokenizer in (BYTES, BPE):
        assert tokenizer.text(tokenizer.pieces("a\ud800b")) == "a\ufffdb"
    assert Characters().pieces("a\ud800\u202eb\x07") == ["a", "b"]


def test_bytes_that_make_no_character_are_told_apart_from_text() -> None:
    assert BYTES.text(["<0xE2>", "<0x80>"]) == "\ufffd"
    assert BYTES.pieces("ï") == ["<0xC3>", "<0xAF>"] and BYTES.pieces("<0xC3>") == list("<0xC3>")
    assert BYTES.text(["<0xC3>", "<0xAF>", "zz"]) == "ïzz"


@pytest.mark.parametrize("id", VERSE)
def test_pieces_have_one_number_each_and_the_specials_none_of_them(id: str) -> None:
    task = tasks()[id]
    assert task.tokenizer is not None
    assert len(set(task.target.words)) == len(task.target.words)
    passage = verse.passage(3, "held_out", 5)
    pieces = task.tokenizer.pieces(passage)
    assert task.target.decode(task.target.encode(pieces)) == [p if p in task.target.ids else "<unk>" for p in pieces]
    assert task.target.encode([Special("<pad>"), "<pad>"]) == [PAD, UNK]
    assert task.example(3, "held_out", 5).target == tuple(pieces)
    if task.tokenizer.lossless:
        assert task.tokenizer.text(pieces) == passage and UNK not in task.target.encode(pieces)


def test_words_keep_their_marks_inside_and_lose_blanks() -> None:
    assert Words().pieces("  O’er-hasty  marriage.--\nHam.") == ["O'er-hasty", "marriage", ".", "-", "-", "↵", "Ham", "."]
    assert Words().pieces("日本、東京 مرحبا") == ["日本、東京", "مرحبا"]
    assert Words().pieces("") == [] and Words().text(["Ham", ".", "↵", "Words"]) == "Ham .\nWords"
    assert words.TASK.target.encode(["Hamlet", "ambassador"])[1] == UNK != words.TASK.target.encode(["Hamlet"])[0]


def test_a_merge_joins_the_most_frequent_neighbours_and_ties_go_to_the_lowest() -> None:
    """By hand. "aab aab ab": words aab, " aab", " ab". Pairs: ab 3, aa 2, " a" 2. Then ab is one piece (256): aab 2 times
    (a,256); " aab" (space, a), " ab" (space, 256). (space, a) 1, (space, 256) 1, (a, 256) 2."""
    a, b, blank = b"ab "
    assert learn("aab aab ab", 2) == [(a, b, 3), (a, 256, 2)]
    assert learn("ab cd", 9)[0] == (blank, ord("c"), 1)  # of ab, cd and " c", seen once each, the lowest left piece
    assert learn("", 5) == [] and learn("a b", 5) == [(blank, b, 1)]
    pairs = BytePairs(learn("aab aab ab", 2))
    assert pairs.pieces("aabab aa") == ["aab", "ab", " ", "a", "a"]


def test_the_shipped_merges_are_learned_from_the_lines_that_are_trained_on() -> None:
    assert subwords.learned() == list(BPE.merges) and len(BPE.merges) == subwords.MERGES
    counts = [count for _, _, count in BPE.merges]
    assert counts == sorted(counts, reverse=True)


def _independent(text: str, merges: int) -> Tokenizer:
    """Bytes as the characters of the same number, so that its order of ties is that of bytes."""
    found = Tokenizer(models.BPE())
    words = Regex(r" ?[A-Za-z\x{80}-\x{ff}]+| ?[0-9]+| ?[!-/:-@\[-`{-~]+|[\x{00}-\x{20}\x{7f}]")
    found.pre_tokenizer = pre_tokenizers.Split(words, "isolated")
    alphabet = [chr(b) for b in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False)
    found.train_from_iterator([_latin(text)], trainer)
    return found


def _latin(text: str) -> str:
    return text.encode("utf-8").decode("latin-1")


def test_another_implementation_learns_the_same_merges_and_cuts_the_same() -> None:
    other = _independent(verse.text("train"), subwords.MERGES)
    assert [other.id_to_token(i) for i in range(256 + subwords.MERGES)] == [p.decode("latin-1") for p in BPE.table]
    for text in (verse.text("held_out"), "naïve — 日本\n\x00 12 years", "x" * 999):
        assert other.encode(_latin(text)).ids == [BPE.numbers[p] for p in BPE.pieces(text)]


@given(SMALL)
def test_another_implementation_breaks_ties_alike(text: str) -> None:
    merges = learn(text, 12)
    other = _independent(text, 12)
    table = BytePairs(merges).table
    assert [other.id_to_token(i) for i in range(256, other.get_vocab_size())] == [p.decode("latin-1") for p in table[256:]]


def test_a_piece_is_named_by_its_text_or_its_bytes() -> None:
    assert [name(p) for p in (b"\n", b" the", "é".encode(), b"\x00", b"\xe2\x80", "↵".encode())] == [
        "↵", " the", "é", "<0x00>", "<0xE2><0x80>", "<0xE2><0x86><0xB5>",
    ]  # fmt: skip
    assert CHARACTERS.tokenize("a\r\nb\tc") == ["a", "↵", "b", " ", "c"]
