import assert from "node:assert/strict";
import test from "node:test";

import { cut } from "../../../assets/lib/told/cutting.mjs";
import { request, row, world } from "../views/world.mjs";

const ASCII = Array.from({ length: 256 }, (_, b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : `<0x${b.toString(16).toUpperCase().padStart(2, "0")}>`));
const SPECIAL = ["<pad>", "<bos>", "<eos>", "<unk>"];

/** What is said of typed rows. tokenizer: as the catalogue tells it; words: of its vocabulary, after the special ones. */
function said(tokenizer, words, rows, look = {}) {
  const base = world();
  const opened = { ...base.opened, task: { tokenizer }, vocabulary: { source: null, target: [...SPECIAL, ...words], specials: { target: SPECIAL } } };
  const target = [row("<bos>", "known", "special"), ...rows.map((r) => (typeof r === "string" ? row(r) : r))];
  const w = world({ opened, moved: { ...base.moved, phase: "prefill", step: 0, requests: [request({ target })] } }, look);
  return cut(w).map((p) => p.text).join("");
}
const bytes = (rows) => said({ kind: "byte", merges: [] }, ASCII, rows);

test("no text, plain pieces, a character of several pieces", () => {
  assert.equal(bytes([]), "Pieces: there is no text. The model begins with <bos> alone.");
  assert.equal(bytes(["a", "b"]), "Pieces: 2 characters became 2 pieces. Step reads their ids.");
  assert.equal(bytes(["a", "<0xC3>", "<0xAF>"]), "Pieces: 2 characters are 3 pieces; ï alone takes 2. Step reads their ids.");
  assert.equal(bytes(["<0xC3>", "a"]), "Pieces: 2 characters became 2 pieces. Step reads their ids.", "half a character is none");
});

test("a word that is not in the vocabulary is named, with how many more there are", () => {
  const words = (...rows) => said({ kind: "word", merges: [] }, ["love"], rows);
  const unknown = (text) => row("<unk>", "known", "person", { text });
  assert.equal(words("love", unknown("zeal")), "Pieces: 2 pieces; zeal is not in the vocabulary and becomes <unk>.");
  assert.equal(words(unknown("zeal"), unknown("zeal"), unknown("ire")), "Pieces: 3 pieces; zeal is not in the vocabulary and becomes <unk>, like 1 more.");
});

test("byte pairs: all merges together, and the one that is looked at", () => {
  const merges = [[97, 98, 1300], [97, 256, 2]]; // a b, then a ab
  const pairs = (merge) => said({ kind: "bpe", merges }, [...ASCII, "ab", "aab"], ["aab", "ab"], { merge });
  assert.equal(pairs(null), "Pieces: 5 characters became 2 pieces by 2 merges. Step reads their ids.");
  assert.equal(pairs(0), "Before the first merge every piece is a byte. 2 merges follow.");
  assert.equal(pairs(1), "Merge 1 of 2: a and b become ab, here 2 times. It was learned as number 1: they were neighbours 1,300 times.");
  assert.equal(pairs(2), pairs(null), "the last one leaves nothing to come");
});
