// @ts-check
/** Every word that the page shows passes here, so that another language can take its place. English stands in the code and is its
 * own key; the words of another language come with the page (app/ui/language.py, assets/lang/). */

import { data } from "./data.mjs";
import { sentences } from "./page/sentences.mjs";

/** "English with {0}" -> the same in the page's language. @type {Record<string, string>} */
const words = data.words ?? {};

/** One message: msg`Row ${3} of ${8}`. Its key is "Row {0} of {1}"; what is put in stays as it is.
 * @param {TemplateStringsArray} strings @param {...(string | number)} values @returns {string} */
export function msg(strings, ...values) {
  let text = "";
  for (const part of filled(cut(strings), values)) text += part;
  return text;
}

/** The same in pieces, for a message that holds elements: parts`${chip} takes ${figure}` gives text and elements in the language's order.
 * @template {any[]} V @param {TemplateStringsArray} strings @param {V} values @returns {(string | V[number])[]} */
export function parts(strings, ...values) {
  return filled(cut(strings), values).filter((part) => part !== "");
}

/** A message that depends on a number: counted(n, "{0} row", "{0} rows").
 * @param {number} n @param {string} one @param {string} many @returns {string} */
export function counted(n, one, many) {
  return filled(cutText(single(n) ? one : many), [digits.format(n)]).join("");
}

const digits = new Intl.NumberFormat("en");
const plurals = new Intl.PluralRules(globalThis.document?.documentElement.lang || "en");
/** Whether so many take the singular: in French none does too. @param {number} n */
const single = (n) => plurals.select(n) === "one";

/** A text that is not written here: a title, or what the server says, whole. @type {(english: string) => string} */
export const named = sentences(words);

/** Messages that were looked up and cut at their places before: one step of the page asks for a hundred. @type {WeakMap<TemplateStringsArray, string[]>} */
const known = new WeakMap();
/** @type {Map<string, string[]>} */
const knownTexts = new Map();

/** @param {TemplateStringsArray} strings @returns {string[]} text, number of a place, text, ... */
function cut(strings) {
  let pieces = known.get(strings);
  if (!pieces) known.set(strings, (pieces = cutText(strings.reduce((all, s, i) => `${all}{${i - 1}}${s}`))));
  return pieces;
}

/** @param {string} key @returns {string[]} */
function cutText(key) {
  let pieces = knownTexts.get(key);
  if (!pieces) knownTexts.set(key, (pieces = (words[key] ?? key).split(/\{(\d)\}/)));
  return pieces;
}

/** @template T @param {string[]} pieces @param {T[]} values @returns {(string | T)[]} */
const filled = (pieces, values) => pieces.map((part, i) => (i % 2 ? values[Number(part)] : part));
