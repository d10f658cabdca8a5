// @ts-check
/** Tokens as a person types and sees them. */

import { msg } from "../language.mjs";
import { cutter } from "./pieces.mjs";

/** @typedef {string | {special: string}} Token */

/** Characters of one word. */
export const LONGEST = 500;
export const SPECIALS = ["<pad>", "<bos>", "<eos>", "<unk>"];

const MARKS = String.raw`\.,;:!\?\(\)"«»…。、！？،؟`;
const TOKEN = new RegExp(String.raw`n'(?=[\p{L}\p{N}_])|[^\s${MARKS}]+|[${MARKS}]`, "gu");
const HIDDEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\p{Cc}\p{Cs}]/u;

/** How a vocabulary's text becomes tokens; cut: by a tokenizer of the task.
 * @typedef {{characters: boolean, letters: boolean, cased: boolean, blanks: boolean, cut?: import("./pieces.mjs").Cutter | null}} Splitting */

/** How text becomes tokens of this vocabulary: one that holds only single characters is written in characters, one with capitals keeps them.
 * @param {string[] | null} words without the special tokens @param {import("./pieces.mjs").Told | null} [told] of the task's tokenizer, if it has one @returns {Splitting} */
export const splittingOf = (words, told = null) => ({
  cut: told && words && cutter(told, words), characters: told ? told.kind !== "word" : !!words?.length && words.every((w) => [...w].length === 1), letters: !!words?.some((w) => /[\p{L}\p{N}]/u.test(w)),
  cased: !!words?.some((w) => w !== w.toLowerCase()), blanks: !!words?.includes(" "),
});

/** Text as tokens, as the tasks split it (models/tasks): words apart from punctuation and n' apart, or characters.
 * @param {string} text @param {Splitting} [how] @returns {string[]} */
export function tokenize(text, how = splittingOf(null)) {
  if (how.cut) return how.cut.pieces(text);
  const plain = text.replaceAll("’", "'").normalize("NFC");
  const shown = [...(how.cased ? plain : plain.toLowerCase())].filter((c) => /\s/u.test(c) || !HIDDEN.test(c));
  if (!how.characters) return shown.join("").match(TOKEN) ?? [];
  return how.blanks ? shown.map((c) => (/\s/u.test(c) ? " " : c)) : shown.filter((c) => !/\s/u.test(c));
}

/** A token's name; a special token and the same characters typed differ in form, not in name.
 * @param {Token} token */
export const nameOf = (token) => (typeof token === "string" ? token : token.special);

/** A token with its spaces and invisible characters made visible.
 * @param {string} text */
export const visible = (text) =>
  text.replace(/[\s\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\p{Cc}\p{Cs}]/gu, (c) => (c === " " ? "␣" : `‹U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`));

/** Tokens as the tokenizer cuts their text: what stands beside a piece can make it part of another one.
 * @param {Token[]} tokens @param {Splitting} how @returns {Token[]} */
export function cutAgain(tokens, how) {
  if (how.cut?.kind !== "bpe") return tokens;
  /** @type {Token[]} */
  const found = [];
  let run = /** @type {string[]} */ ([]);
  for (const token of [...tokens, null]) {
    if (typeof token === "string") run.push(token);
    else {
      found.push(...how.cut.again(run), ...(token ? [token] : []));
      run = [];
    }
  }
  return found;
}

/** @param {Token[]} a @param {Token[]} b */
export const sameTokens = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** What is wrong with these tokens; empty when nothing is.
 * @param {Token[]} tokens @param {string} name of their field @param {number} least @param {number} most */
export function wrongWith(tokens, name, least, most) {
  const long = tokens.find((t) => typeof t === "string" && t.length > LONGEST);
  if (tokens.length < least) return msg`${name}: 0 tokens given; allowed: 1 to ${most}. Keep at least one.`;
  if (tokens.length > most) return msg`${name}: ${tokens.length} tokens given; allowed: at most ${most}. Nothing was changed.`;
  return long ? msg`${name}: a word of ${nameOf(long).length} characters was given; allowed: at most ${LONGEST}. Nothing was changed.` : "";
}

/** Words of a vocabulary that what is being typed may become: those that begin with it, then those that hold it, then the nearest.
 * @param {string} typed @param {string[]} words @param {number} [most] @returns {string[]} */
export function suggestions(typed, words, most = 6) {
  const given = typed.trim().toLowerCase().normalize("NFC");
  if (!given) return [];
  const begin = words.filter((w) => w.startsWith(given));
  const hold = words.filter((w) => given.length > 1 && w.includes(given) && !w.startsWith(given));
  const found = [...begin, ...hold];
  return [...found, ...(found.length ? [] : nearest(given, words, 3))].slice(0, most);
}

/** The known words that are least unlike a word, nearest first; none when all are too far.
 * @param {string} word @param {string[]} words @param {number} [most] @returns {string[]} */
export function nearest(word, words, most = 2) {
  const given = word.slice(0, 40);
  const far = [...given].length / 2;
  return words.map((w) => ({ w, by: distance(given, w) })).filter((f) => f.by <= far).sort((a, b) => a.by - b.by).slice(0, most).map((f) => f.w);
}

/** How many letters must be added, left out, exchanged or swapped with their neighbour; accents count half.
 * @param {string} a @param {string} b */
export function distance(a, b) {
  const [x, y] = [[...a], [...b]];
  let [before, row] = [/** @type {number[]} */ ([]), y.map((_, j) => j)];
  row.push(y.length);
  for (let i = 1; i <= x.length; i++) {
    const next = [i];
    for (let j = 1; j <= y.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + exchange(x[i - 1], y[j - 1]));
      if (i > 1 && j > 1 && x[i - 1] === y[j - 2] && x[i - 2] === y[j - 1]) next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return row[y.length];
}

/** @param {string} a @param {string} b */
const exchange = (a, b) => (a === b ? 0 : a.normalize("NFD")[0] === b.normalize("NFD")[0] ? 0.5 : 1);
