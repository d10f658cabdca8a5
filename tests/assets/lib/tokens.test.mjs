import assert from "node:assert/strict";
import test from "node:test";

import { distance, nameOf, nearest, splittingOf, suggestions, tokenize, visible, wrongWith } from "../../../assets/lib/setup/tokens.mjs";

test("text is split as the tasks split it", () => {
  assert.deepEqual(tokenize("The black cat sleeps."), ["the", "black", "cat", "sleeps", "."]);
  assert.deepEqual(tokenize("N’est  pas «été»\n"), ["n'", "est", "pas", "«", "été", "»"]);
  assert.deepEqual(tokenize("😀 日本 <eos> a…"), ["😀", "日本", "<eos>", "a", "…"]);
  assert.deepEqual(tokenize("ab\u202ecd\u0007e"), ["abcde"], "what nobody sees is left out");
  assert.deepEqual(tokenize(" \t\n"), []);
});

test("spaces and invisible characters can be seen", () => {
  assert.equal(visible("a b"), "a␣b");
  assert.equal(visible("a\u00a0b\u200b"), "a‹U+00A0›b‹U+200B›");
  assert.equal(visible("👨‍👩‍👧"), "👨‍👩‍👧", "a family of emoji stays one");
});

test("a special token has its name, like a typed word", () => {
  assert.equal(nameOf({ special: "<eos>" }), "<eos>");
  assert.equal(nameOf("<eos>"), "<eos>");
});

test("a vocabulary of characters is written in characters, one with capitals keeps them", () => {
  const split = (text, words) => tokenize(text, splittingOf(words));
  assert.deepEqual(split("9 Mars", [" ", "9", "M", "a", "r", "s"]), ["9", " ", "M", "a", "r", "s"]);
  assert.deepEqual(split("Na tion\n", ["a", "b"]), ["n", "a", "t", "i", "o", "n"]);
  assert.deepEqual(split("SH AH n", ["SH", "AH", "N"]), ["SH", "AH", "n"]);
  assert.deepEqual(split("( [", ["(", ")"]), ["(", "["]);
});

const WORDS = ["black", "book", "blanc", "été", "était", "cat", "cats", "committee", "the"];

test("what is typed suggests the words that begin with it, then those that hold it, then the nearest", () => {
  assert.deepEqual(suggestions("Bl", WORDS), ["black", "blanc"]);
  assert.deepEqual(suggestions("at", WORDS), ["cat", "cats"]);
  assert.deepEqual(suggestions("blakc", WORDS), ["black", "blanc"]);
  assert.deepEqual([suggestions("", WORDS), suggestions("日本", WORDS), suggestions("c", WORDS, 2)], [[], [], ["cat", "cats"]]);
});

test("the nearest known words are those with the fewest letters to change; a far word has none", () => {
  assert.deepEqual(nearest("comittee", WORDS), ["committee"]);
  assert.deepEqual(nearest("ete", WORDS)[0], "été", "accents count half");
  assert.deepEqual([nearest("zzzzzz", WORDS), nearest("日本", WORDS), nearest("😀", WORDS)], [[], [], []]);
  assert.deepEqual([distance("cat", "act"), distance("", "abc"), distance("e", "é"), distance("kitten", "sitting")], [1, 3, 0.5, 3]);
});

test("tokens beyond the limits are refused with what was given", () => {
  assert.equal(wrongWith(["a"], "Source", 1, 128), "");
  assert.match(wrongWith([], "Source", 1, 128), /0 tokens given; allowed: 1 to/);
  assert.match(wrongWith(Array(1000).fill("a"), "Source", 1, 128), /1000 tokens given; allowed: at most/);
  assert.match(wrongWith(["a".repeat(501)], "Source", 1, 128), /501 characters was given; allowed: at most 500/);
});
