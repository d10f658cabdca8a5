import assert from "node:assert/strict";
import test from "node:test";

import { nameOf, tokenize, visible } from "../../../assets/lib/tokens.mjs";

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
