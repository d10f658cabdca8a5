// @ts-check
/** Every word that the page shows passes here, so that another language can take its place. English stands in the code and is its
 * own key; the words of another language come with the page (app/ui/language.py, assets/lang/). */

import { sentences } from "./sentences.mjs";

/** "English with {0}" -> the same in the page's language. @type {Record<string, string>} */
const words = globalThis.document ? (JSON.parse(document.getElementById("lookback-data")?.textContent ?? "{}").words ?? {}) : {};

/** One message: msg`Row ${3} of ${8}`. Its key is "Row {0} of {1}"; what is put in stays as it is.
 * @param {TemplateStringsArray} strings @param {...(string | number)} values @returns {string} */
export function msg(strings, ...values) {
  return filled(keyOf(strings), values.map(String)).join("");
}

/** The same in pieces, for a message that holds elements: parts`${chip} takes ${figure}` gives text and elements in the language's order.
 * @template {any[]} V @param {TemplateStringsArray} strings @param {V} values @returns {(string | V[number])[]} */
export function parts(strings, ...values) {
  return filled(keyOf(strings), values).filter((part) => part !== "");
}

/** A message that depends on a number: counted(n, "{0} row", "{0} rows").
 * @param {number} n @param {string} one @param {string} many @returns {string} */
export function counted(n, one, many) {
  return filled(single(n) ? one : many, [n.toLocaleString("en")]).join("");
}

const plurals = new Intl.PluralRules(globalThis.document?.documentElement.lang || "en");
/** Whether so many take the singular: in French none does too. @param {number} n */
const single = (n) => plurals.select(n) === "one";

/** A text that is not written here: a title, or what the server says, whole. @type {(english: string) => string} */
export const named = sentences(words);

/** @param {TemplateStringsArray} strings */
const keyOf = (strings) => strings.reduce((all, s, i) => `${all}{${i - 1}}${s}`);

/** @template T @param {string} key @param {T[]} values @returns {(string | T)[]} */
const filled = (key, values) => (words[key] ?? key).split(/\{(\d)\}/).map((part, i) => (i % 2 ? values[Number(part)] : part));
