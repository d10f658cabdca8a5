// @ts-check
/** Text cut into pieces as models/tasks/tokenizers.py cuts it: words, characters, bytes, byte pairs (BPE). Pure. */

/** @typedef {"word" | "character" | "byte" | "bpe"} Kind */
/** @typedef {{kind: Kind, merges: number[][]}} Told what the server says of a tokenizer: merges are [left piece, right piece, how often] */
/** One merge that a text takes: its number, both sides and what they become, how often it was seen, and the text's pieces after it.
 * @typedef {{number: number, left: string, right: string, piece: string, seen: number, times: number, pieces: string[]}} Step */
/** @typedef {{kind: Kind, pieces: (text: string) => string[], text: (pieces: string[]) => string, again: (pieces: string[]) => string[],
 *   steps: (pieces: string[]) => Step[], bytes: (pieces: string[]) => string[], characters: (pieces: string[]) => Character[]}} Cutter */
/** Pieces that belong together, because a character ends only with the last of them. @typedef {{from: number, to: number, text: string, whole: boolean}} Character */

export const BREAK = "↵";
const BYTES = 256;
const MARK = String.raw`!-\/:-@\[-\x60\{-~↵`;
const TOKEN = new RegExp(String.raw`[^ ${MARK}]+(?:['\-][^ ${MARK}]+)*|[${MARK}]`, "gu");
const WORD = / ?[A-Za-z\x80-\xff]+| ?[0-9]+| ?[!-/:-@[-`{-~]+|[\x00-\x20\x7f]/g;
const FORMLESS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\p{Cc}\p{Cs}]/u;
const BLANK = /[ \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/u;

/** @param {Told} told @param {string[]} words of the vocabulary, without its special tokens @returns {Cutter} */
export function cutter(told, words) {
  if (told.kind === "byte" || told.kind === "bpe") return bytePairs(told, words);
  const word = told.kind === "word";
  const pieces = (/** @type {string} */ text) => (word ? (seen(text).match(TOKEN) ?? []) : [...seen(text)]);
  const text = (/** @type {string[]} */ all) => (word ? all.join(" ").replaceAll(` ${BREAK} `, "\n") : all.join("")).replaceAll(BREAK, "\n");
  return { kind: told.kind, pieces, text, again: (all) => all, bytes: (all) => all, steps: () => [], characters: (all) => all.map((p, i) => ({ from: i, to: i + 1, text: p, whole: true })) };
}

/** What has a form, as the tokenizers of words and characters read it. @param {string} text */
export function seen(text) {
  const plain = text.replaceAll("’", "'").replaceAll("\r\n", "\n").normalize("NFC");
  return [...plain].flatMap((c) => (c === "\n" || c === "\r" ? BREAK : c === "\t" || BLANK.test(c) ? " " : FORMLESS.test(c) ? [] : c)).join("");
}

/** @param {Told} told @param {string[]} words @returns {Cutter} */
function bytePairs(told, words) {
  /** @type {number[][]} */
  const table = Array.from({ length: BYTES }, (_, b) => [b]);
  for (const [left, right] of told.merges) table.push([...table[left], ...table[right]]);
  const rank = new Map(told.merges.map(([left, right], k) => [left * 65536 + right, k]));
  const numbers = new Map(words.map((w, i) => [w, i]));
  /** A piece that is none of its own stands for its own letters. @param {string} piece */
  const bytes = (piece) => table[numbers.get(piece) ?? -1] ?? [...new TextEncoder().encode(piece)];
  const cut = (/** @type {number[]} */ data) => split(data).flatMap((word) => merged(word, rank, Infinity));
  const named = (/** @type {number[]} */ all) => all.map((i) => words[i]);
  return {
    kind: told.kind,
    pieces: (text) => named(cut([...new TextEncoder().encode(text)])),
    text: (all) => decoded(all.flatMap(bytes)),
    again: (all) => named(cut(all.flatMap(bytes))),
    steps: (all) => steps(split(all.flatMap(bytes)), told, rank, words),
    bytes: (all) => named(all.flatMap(bytes)),
    characters: (all) => together(all.map(bytes)),
  };
}

/** Words with the blank before them, as bytes. @param {number[]} data @returns {number[][]} */
const split = (data) => (data.map((b) => String.fromCharCode(b)).join("").match(WORD) ?? []).map((word) => [...word].map((c) => c.charCodeAt(0)));

/** Again and again the pair that was learned first is joined everywhere, until none is left that was learned before `end`.
 * @param {number[]} word @param {Map<number, number>} rank @param {number} end @returns {number[]} */
function merged(word, rank, end) {
  for (let pieces = word; ;) {
    let first = end;
    for (let i = 1; i < pieces.length; i++) first = Math.min(first, rank.get(pieces[i - 1] * 65536 + pieces[i]) ?? Infinity);
    if (first >= end) return pieces;
    /** @type {number[]} */
    const next = [];
    for (let i = 0; i < pieces.length; i++) {
      const both = i + 1 < pieces.length && rank.get(pieces[i] * 65536 + pieces[i + 1]) === first;
      next.push(both ? BYTES + first : pieces[i]);
      if (both) i++;
    }
    pieces = next;
  }
}

/** The merges that a text takes, in the order in which they were learned: a merge only makes pairs that were learned after it.
 * @param {number[][]} parts @param {Told} told @param {Map<number, number>} rank @param {string[]} words @returns {Step[]} */
function steps(parts, told, rank, words) {
  const done = new Set(parts.flatMap((word) => within(merged(word, rank, Infinity), told)));
  let before = parts;
  return [...done].sort((a, b) => a - b).map((k) => {
    const after = parts.map((word) => merged(word, rank, k + 1));
    const times = before.flat().length - after.flat().length;
    before = after;
    const [left, right, count] = told.merges[k];
    return { number: k + 1, left: words[left], right: words[right], piece: words[BYTES + k], seen: count, times, pieces: after.flat().map((i) => words[i]) };
  });
}

/** The merges that made these pieces, and what they were made of. @param {number[]} pieces @param {Told} told @returns {number[]} */
const within = (pieces, told) => pieces.flatMap((i) => (i < BYTES ? [] : [i - BYTES, ...within(told.merges[i - BYTES].slice(0, 2), told)]));

/** @param {number[]} data */
const decoded = (data) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(data));

/** Pieces by the characters that they make. One that a wrong byte breaks ends there, and is not whole.
 * @param {number[][]} pieces as bytes @returns {Character[]} */
function together(pieces) {
  /** @type {Character[]} */
  const found = [];
  let [from, due] = [0, 0];
  const close = (/** @type {number} */ to) => {
    const text = decoded(pieces.slice(from, to).flat());
    if (to > from) found.push({ from, to, text, whole: !text.includes("\ufffd") });
    from = to;
  };
  pieces.forEach((piece, i) => {
    if (due && !continues(piece[0])) close(i);
    for (const byte of piece) due = due && continues(byte) ? due - 1 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
    if (!due) close(i + 1);
  });
  close(pieces.length);
  return found;
}

/** @param {number} byte */
const continues = (byte) => byte >= 0x80 && byte < 0xc0;
