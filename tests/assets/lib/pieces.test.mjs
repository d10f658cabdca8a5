import assert from "node:assert/strict";
import test from "node:test";

import { cutter, seen } from "../../../assets/lib/setup/pieces.mjs";
import { charactersOf, firstOf } from "../../../assets/lib/setup/together.mjs";
import { cutAgain, splittingOf } from "../../../assets/lib/setup/tokens.mjs";

const ASCII = Array.from({ length: 256 }, (_, b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : `<0x${b.toString(16).toUpperCase().padStart(2, "0")}>`));
const [SPACE, A, B] = [32, 97, 98];
/** By hand, of the text "aab aab ab": ab first, then a with ab. */
const MERGES = [[A, B, 3], [A, 256, 2]];
const BPE = { told: { kind: "bpe", merges: MERGES }, words: [...ASCII, "ab", "aab"] };
const bpe = cutter(BPE.told, BPE.words);
const bytes = cutter({ kind: "byte", merges: [] }, ASCII);

test("merges are applied in the order in which they were learned, inside words", () => {
  assert.deepEqual(bpe.pieces("aabab aa"), ["aab", "ab", " ", "a", "a"]);
  assert.deepEqual(bpe.steps(["aab", "ab", " ", "a", "a"]).map((s) => [s.number, s.left, s.right, s.piece, s.times, s.seen, s.pieces]), [
    [1, "a", "b", "ab", 2, 3, ["a", "ab", "ab", " ", "a", "a"]],
    [2, "a", "ab", "aab", 1, 2, ["aab", "ab", " ", "a", "a"]],
  ]);
  assert.deepEqual(bpe.bytes(["aab"]), ["a", "a", "b"]);
  assert.deepEqual(bpe.steps([]), []);
  assert.equal(BPE.words[SPACE], " ");
});

test("pieces of one character are found together, broken ones too", () => {
  const of = (pieces) => bytes.characters(pieces).map((c) => [c.from, c.to, c.text, c.whole]);
  assert.deepEqual(of(bytes.pieces("aï日")), [[0, 1, "a", true], [1, 3, "ï", true], [3, 6, "日", true]]);
  assert.deepEqual(of(["<0xE6>", "<0x97>", "a"]), [[0, 2, "�", false], [2, 3, "a", true]]);
  assert.deepEqual(of(["<0x97>", "<0xFF>"]), [[0, 1, "�", false], [1, 2, "�", false]]);
  assert.deepEqual(of(["<0xC3>"]), [[0, 1, "�", false]]);
  assert.deepEqual(charactersOf(["<0xC3>", { special: "<eos>" }, "<0xC3>", "<0xAF>"], bytes).map((c) => [c.from, c.to, c.whole]), [[0, 1, false], [1, 2, true], [2, 4, true]]);
});

test("a text that is too long is cut between characters", () => {
  assert.deepEqual(firstOf(bytes.pieces("aïï"), 4, bytes), bytes.pieces("aï"));
  assert.deepEqual(firstOf(["a", "b", "c"], 2, null), ["a", "b"]);
});

test("any text comes back; half a surrogate is no character", () => {
  for (const text of ["", "naïve — 日本 مرحبا 👩‍👩‍👧\n\u0000", "\ufeffx"]) for (const cut of [bytes, bpe]) assert.equal(cut.text(cut.pieces(text)), text);
  assert.equal(bytes.text(bytes.pieces("a\ud800b")), "a�b");
});

test("what has no form is left out of characters and words", () => {
  assert.equal(seen("a\r\nb\tc\u202e\u0007\ud800’"), "a↵b c'");
  const words = cutter({ kind: "word", merges: [] }, []);
  assert.deepEqual(words.pieces("O’er-hasty  marriage.--\nHam."), ["O'er-hasty", "marriage", ".", "-", "-", "↵", "Ham", "."]);
  assert.equal(words.text(["Ham", ".", "↵", "O"]), "Ham .\nO");
});

test("a piece that is put beside others becomes part of them, across no special token", () => {
  const how = splittingOf(BPE.words, BPE.told);
  assert.deepEqual(cutAgain(["a", "a", "b"], how), ["aab"]);
  assert.deepEqual(cutAgain(["a", { special: "<eos>" }, "b"], how), ["a", { special: "<eos>" }, "b"]);
  assert.deepEqual(cutAgain(["<0xE6>", "a", "b"], how), ["<0xE6>", "ab"], "bytes that make no character stay");
  assert.deepEqual(cutAgain(["a", "b"], splittingOf(ASCII, { kind: "byte", merges: [] })), ["a", "b"]);
});
