// @ts-check
/** Tokens as a person types and sees them. */

/** @typedef {string | {special: string}} Token */

export const MOST = 128;
export const SPECIALS = ["<bos>", "<eos>", "<pad>", "<unk>"];

const MARKS = String.raw`\.,;:!\?\(\)"«»…。、！？،؟`;
const TOKEN = new RegExp(String.raw`n'(?=[\p{L}\p{N}_])|[^\s${MARKS}]+|[${MARKS}]`, "gu");
const HIDDEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\p{Cc}\p{Cs}]/u;

/** Text as tokens, as the tasks split it (models/tasks): lower-case words, punctuation apart, n' apart.
 * @param {string} text @returns {string[]} */
export function tokenize(text) {
  const plain = text.replaceAll("’", "'").normalize("NFC").toLowerCase();
  return [...plain].filter((c) => /\s/u.test(c) || !HIDDEN.test(c)).join("").match(TOKEN) ?? [];
}

/** A token's name; a special token and the same characters typed differ in form, not in name.
 * @param {Token} token */
export const nameOf = (token) => (typeof token === "string" ? token : token.special);

/** A token with its spaces and invisible characters made visible.
 * @param {string} text */
export const visible = (text) =>
  text.replace(/[\s\u00ad\u200b\u200e\u200f\u2060-\u2064\ufeff]|[\p{Cc}\p{Cs}]/gu, (c) => (c === " " ? "␣" : `‹U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`));

/** @param {Token[]} a @param {Token[]} b */
export const sameTokens = (a, b) => JSON.stringify(a) === JSON.stringify(b);
