// @ts-check
/** Pieces of one character stand together: they never part at the end of a line, and under them stands what they make. */

import { h } from "../dom.mjs";
import { msg } from "../language.mjs";
import { cutter } from "./pieces.mjs";
import { nameOf, visible } from "./tokens.mjs";

/** @typedef {import("./tokens.mjs").Token} Token @typedef {import("./pieces.mjs").Character} Character */

/** The tokenizer of a run, where its task has one. @type {WeakMap<any, import("./pieces.mjs").Cutter | null>} */
const cutters = new WeakMap();
/** @param {any} opened @returns {import("./pieces.mjs").Cutter | null} */
export function cutterOf(opened) {
  const { vocabulary, task } = opened ?? {};
  if (!vocabulary || !task?.tokenizer) return null;
  const found = cutters.get(vocabulary) ?? cutter(task.tokenizer, vocabulary.target.slice(vocabulary.specials.target.length));
  cutters.set(vocabulary, found);
  return found;
}

/** The text that target tokens stand for: words with blanks between them, unless a tokenizer made them. @param {any} opened @param {string[]} tokens */
export const textOf = (opened, tokens) => cutterOf(opened)?.text(tokens) ?? tokens.join(" ");

/** Where characters lie among tokens; a special token stands alone. Pure.
 * @param {Token[]} tokens @param {import("./pieces.mjs").Cutter | null | undefined} cut @returns {Character[]} */
export function charactersOf(tokens, cut) {
  const alone = (/** @type {number} */ i) => ({ from: i, to: i + 1, text: "", whole: true });
  if (!cut) return tokens.map((_, i) => alone(i));
  /** @type {Character[]} */
  const found = [];
  for (let i = 0; i < tokens.length; ) {
    const end = tokens.findIndex((t, j) => j >= i && typeof t !== "string");
    const run = /** @type {string[]} */ (tokens.slice(i, end < 0 ? tokens.length : end));
    found.push(...cut.characters(run).map((c) => ({ ...c, from: c.from + i, to: c.to + i })));
    i += run.length;
    if (end >= 0) found.push(alone(i++));
  }
  return found;
}

/** The first tokens, up to so many, that part no character. Pure.
 * @param {Token[]} tokens @param {number} most @param {import("./pieces.mjs").Cutter | null | undefined} cut */
export function firstOf(tokens, most, cut) {
  const last = charactersOf(tokens.slice(0, most), cut).at(-1);
  return tokens.slice(0, last && !last.whole ? last.from : most);
}

/** What the pieces of a character make, for a person. @param {Character} c */
export const makes = (c) => (c.whole ? msg`${c.to - c.from} bytes make ${visible(c.text)}` : msg`${c.to - c.from} bytes make no character`);

/** A piece with its blanks made visible; bytes without the form that sets them apart from text. @param {string} token */
export const bare = (token) => (/^(<0x[0-9A-F]{2}>)+$/.test(token) ? token.replace(/<0x(..)>/g, "$1") : visible(token));

/** Chips, and what stands between them, with those of one character in one element.
 * @param {HTMLElement[][]} chips what stands at each token @param {Token[]} tokens @param {import("./pieces.mjs").Cutter | null | undefined} cut @returns {HTMLElement[]} */
export function grouped(chips, tokens, cut) {
  return charactersOf(tokens, cut).flatMap((c) => {
    const own = chips.slice(c.from, c.to);
    if (c.to - c.from < 2 || own.some((at) => at.length !== 1)) return own.flat();
    for (const [i, chip] of own.flat().entries()) if (chip.firstElementChild) chip.firstElementChild.textContent = bare(nameOf(tokens[c.from + i]));
    return h("span", { class: `chip-together${c.whole ? "" : " broken"}`, title: makes(c) }, ...own.flat(), h("small", { "aria-hidden": "true", dir: "auto" }, visible(c.text)));
  });
}
