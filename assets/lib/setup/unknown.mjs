// @ts-check
/** The unknown words of a field, named under it, each with the known ones that are nearest to it. */

import { h, set } from "../dom.mjs";
import { counted, msg } from "../language.mjs";
import { nearest, visible } from "./tokens.mjs";

const MOST = 3;
const LONGEST = 40;

/** A word of which the beginning tells which one is meant. @param {string} word */
const short = (word) => ([...word].length > LONGEST ? `${[...word].slice(0, LONGEST).join("")}…` : word);

export class UnknownWords {
  /** @param {(word: string, known: string) => void} replace */
  constructor(replace) {
    this.replace = replace;
    this.element = h("div", { class: "unknown-words", hidden: true });
  }

  /** @param {string[]} words @param {string[]} vocabulary @param {boolean} disabled */
  draw(words, vocabulary, disabled) {
    const more = words.length - MOST;
    set(this.element, "hidden", !words.length);
    this.element.replaceChildren(...words.slice(0, MOST).map((word) => this.line(word, nearest(word, vocabulary), disabled)),
      ...(more > 0 ? [h("p", { class: "note" }, counted(more, "and {0} more word", "and {0} more words"))] : []));
  }

  /** @param {string} word @param {string[]} near @param {boolean} disabled */
  line(word, near, disabled) {
    const shown = short(visible(word));
    const button = (/** @type {string} */ known) => [" ", h("button", {
      class: "btn xs", type: "button", disabled, dir: "auto", "aria-label": msg`Use ${known} instead of ${shown}`, onclick: () => this.replace(word, known),
    }, known)];
    const said = near.length ? msg`is not in the vocabulary. Nearest:` : msg`is not in the vocabulary, and nothing is near.`;
    return h("p", { class: "note" }, h("b", { class: "mono", dir: "auto" }, shown), " ", said, near.map(button));
  }
}
