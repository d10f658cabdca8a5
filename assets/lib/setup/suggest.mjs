// @ts-check
/** A list of known words under the input of a token: it opens while one types, the arrow keys choose in it, Enter takes what is chosen. */

import { h, hide, set } from "../dom.mjs";
import { msg } from "../language.mjs";
import { suggestions } from "./tokens.mjs";

let count = 0;

export class Suggest {
  /** @param {(word: string) => void} take */
  constructor(take) {
    this.take = take;
    this.list = h("ul", { class: "suggest", role: "listbox", id: `suggest-${++count}`, "aria-label": msg`Known words`, hidden: true });
    /** @type {HTMLInputElement | null} */
    this.input = null;
    /** @type {string[]} */
    this.words = [];
    this.at = -1;
  }

  /** @param {HTMLInputElement} input @param {() => string[]} vocabulary */
  listenTo(input, vocabulary) {
    this.close();
    this.input = input;
    this.vocabulary = vocabulary;
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id })) input.setAttribute(name, value);
    input.addEventListener("input", () => this.show(suggestions(input.value, vocabulary())));
  }

  get open() {
    return !this.list.hidden;
  }

  /** @param {string[]} words */
  show(words) {
    this.words = words.filter((w) => w !== this.input?.value.trim().toLowerCase());
    this.at = -1;
    this.list.replaceChildren(...this.words.map((word, i) =>
      h("li", { role: "option", id: `${this.list.id}-${i}`, dir: "auto", onmousedown: (/** @type {Event} */ e) => { e.preventDefault(); this.take(word); } }, word)));
    hide(this.list, !this.words.length);
    this.tell();
  }

  close() {
    hide(this.list, true);
    this.at = -1;
    this.tell();
  }

  /** The word that is chosen in the list, if there is one. */
  get chosen() {
    return this.open && this.at >= 0 ? this.words[this.at] : null;
  }

  tell() {
    if (!this.input) return;
    set(this.input, "aria-expanded", String(this.open));
    set(this.input, "aria-activedescendant", this.chosen === null ? null : `${this.list.id}-${this.at}`);
    [...this.list.children].forEach((option, i) => set(option, "aria-selected", String(i === this.at)));
    this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  /** What a key does in the list, or null. @param {string} key @returns {(() => void) | null} */
  key(key) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (by) return () => this.move(by);
    if (key === "Escape" && this.open) return () => this.close();
    const { chosen } = this;
    return (key === "Enter" || key === "Tab") && chosen !== null ? () => this.take(chosen) : null;
  }

  /** @param {number} by */
  move(by) {
    if (!this.open) this.show(suggestions(this.input?.value ?? "", this.vocabulary?.() ?? []));
    if (!this.open) this.show(this.vocabulary?.() ?? []);
    this.at = (this.at + by + this.words.length + (this.at < 0 && by < 0 ? 1 : 0)) % Math.max(1, this.words.length);
    this.tell();
  }
}
