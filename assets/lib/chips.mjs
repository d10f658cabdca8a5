// @ts-check
/** A row of tokens that a person edits: each is a chip; one at a time becomes an input. Text that is typed or pasted is split as the task does. */

import { h, set, text as put } from "./dom.mjs";
import { text } from "./text.mjs";
import { MOST, nameOf, sameTokens, SPECIALS, tokenize, visible } from "./tokens.mjs";

/** @typedef {import("./tokens.mjs").Token} Token */
/** @typedef {{index: number, insert: boolean}} Editing which chip is an input; insert: a new one before it */

export class Chips {
  /**
   * @param {object} o
   * @param {string} o.name for a person and a screen reader: "Source of request A"
   * @param {string} o.role q or k: the colour of its chips
   * @param {string[]} [o.fixed] tokens before the first, which belong there and cannot be changed
   * @param {number} o.least tokens
   * @param {(tokens: Token[]) => void} o.change
   */
  constructor({ name, role, fixed = [], least, change }) {
    this.name = name;
    this.role = role;
    this.fixed = fixed;
    this.least = least;
    this.change = change;
    /** @type {Token[]} */
    this.tokens = [];
    /** @type {Set<string> | null} */
    this.words = null;
    /** @type {string[] | null | undefined} */
    this.list = undefined;
    /** @type {Editing | null} */
    this.editing = null;
    this.disabled = false;
    this.row = h("div", { class: "chips", role: "group", "aria-label": name, "data-arrows": true });
    this.tools = h("div", { class: "chip-tools", hidden: true });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.element = h("div", { class: "chips-field" }, this.row, this.tools, this.problem);
    this.row.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => this.key(e));
  }

  /** What the scenario holds now. An edit in progress is left alone unless its tokens changed under it.
   * @param {Token[]} tokens @param {string[] | null} words of the vocabulary @param {boolean} disabled */
  update(tokens, words, disabled) {
    if (words !== this.list) {
      this.list = words;
      this.words = words && new Set(words.slice(SPECIALS.length));
    }
    const same = this.drawn && sameTokens(tokens, this.tokens) && disabled === this.disabled;
    this.tokens = tokens;
    this.disabled = disabled;
    if (same) return;
    this.tell("");
    this.draw();
  }

  draw() {
    this.drawn = true;
    const open = this.row.querySelector("input");
    if (open) open.onblur = null; // it goes because of this drawing, not because the person left it
    const focus = this.row.contains(document.activeElement) ? (this.focusAt ?? -1) : -1;
    /** @type {HTMLElement[]} */
    const parts = this.fixed.map((name) => h("span", { class: `chip ${this.role} fixed`, title: text.special }, name));
    this.tokens.forEach((token, i) => {
      const now = this.editing?.index === i ? this.editing : null;
      if (now) parts.push(this.input(now.insert ? "" : nameOf(token)));
      if (!now || now.insert) parts.push(this.chip(token, i));
    });
    if (this.editing?.index === this.tokens.length) parts.push(this.input(""));
    parts.push(h("button", { class: "chip add", type: "button", disabled: this.disabled, "aria-label": `${text.addToken}: ${this.name}`, ...this.press(this.tokens.length, true) }, "+"));
    this.row.replaceChildren(...parts);
    this.drawTools();
    if (this.editing) this.row.querySelector("input").focus();
    else if (focus >= 0) this.focus(focus);
  }

  /** @param {Token} token @param {number} i */
  chip(token, i) {
    const special = typeof token !== "string";
    const unknown = !special && !!this.words && !this.words.has(token);
    const note = special ? `, ${text.special}` : unknown ? `, ${text.unknown}` : "";
    const name = visible(nameOf(token));
    return h("button", {
      class: `chip ${this.role}${special ? " special" : ""}${unknown ? " unknown" : ""}`, type: "button", disabled: this.disabled, dir: "auto",
      "aria-label": text.chip(name, i, this.tokens.length) + note, title: unknown ? text.unknown : text.chipHelp,
      tabindex: i === (this.focusAt ?? 0) ? 0 : -1, "data-at": i, onfocus: () => (this.focusAt = i), ...this.press(i, false),
    }, name, unknown && h("small", { "aria-hidden": "true" }, "<unk>"));
  }

  /** A press with the pointer edits at once, ending another edit first: a click would be lost when that edit redraws the row.
   * @param {number} index @param {boolean} insert */
  press(index, insert) {
    return {
      onmousedown: (/** @type {MouseEvent} */ event) => {
        if (event.button !== 0 || this.disabled) return;
        event.preventDefault();
        const [count, editing] = [this.tokens.length, this.editing];
        if (editing) this.commit(/** @type {HTMLInputElement} */ (this.row.querySelector("input")).value);
        this.edit(index + (editing && editing.index < index ? this.tokens.length - count : 0), insert);
      },
      onclick: (/** @type {MouseEvent} */ event) => event.detail === 0 && this.edit(index, insert),
    };
  }

  /** @param {string} value */
  input(value) {
    const input = h("input", {
      class: "chip-input", type: "text", value, size: Math.max(6, Math.min(24, value.length + 2)), "aria-label": `${this.name}. ${text.edit}`,
      autocomplete: "off", spellcheck: "false", autocapitalize: "none", dir: "auto", onblur: () => this.commit(input.value),
    });
    input.addEventListener("paste", (/** @type {ClipboardEvent} */ event) => {
      event.preventDefault();
      const pasted = event.clipboardData?.getData("text") ?? "";
      this.commit(input.value.slice(0, input.selectionStart) + pasted + input.value.slice(input.selectionEnd));
    });
    return input;
  }

  drawTools() {
    this.tools.hidden = !this.editing;
    if (!this.editing) return;
    const hold = (/** @type {Event} */ e) => e.preventDefault(); // a press here must not end the edit first
    const button = (/** @type {string} */ label, /** @type {() => void} */ onclick) => h("button", { class: "btn xs", type: "button", onmousedown: hold, onclick }, label);
    const { index, insert } = this.editing;
    this.tools.replaceChildren(
      ...(insert ? [] : [button(text.remove, () => this.put(index, 1, [], index)), button(text.insert, () => this.edit(index, true))]),
      h("span", { class: "note" }, text.specials),
      ...SPECIALS.map((name) => button(name, () => this.put(index, insert ? 0 : 1, [{ special: name }], index))),
    );
  }

  /** @param {number} index @param {boolean} insert */
  edit(index, insert) {
    if (this.disabled) return;
    this.editing = { index, insert };
    this.draw();
    this.row.querySelector("input").select();
  }

  /** End the edit with this text. @param {string} value @param {{more?: boolean}} [then] more: go on with a new token after it */
  commit(value, { more = false } = {}) {
    const now = this.editing;
    if (!now) return;
    const old = this.tokens[now.index];
    const words = tokenize(value);
    const untouched = !now.insert && value === nameOf(old);
    if (untouched || (now.insert && !words.length)) this.stop(now.index);
    else this.put(now.index, now.insert ? 0 : 1, words, now.index + words.length - (words.length ? 1 : 0));
    if (more && words.length) this.edit(Math.min(this.tokens.length, now.index + Math.max(1, words.length)), true);
  }

  /** End the edit, nothing changed; the chip gets the focus. @param {number} index */
  stop(index) {
    const focused = this.row.contains(document.activeElement);
    this.editing = null;
    this.draw();
    if (focused) this.focus(index);
  }

  /** Replace some tokens by others, if what comes out is allowed.
   * @param {number} index @param {number} count @param {Token[]} fresh @param {number} focus */
  put(index, count, fresh, focus) {
    const next = [...this.tokens.slice(0, index), ...fresh, ...this.tokens.slice(index + count)];
    const wrong = next.length > MOST ? text.tooMany(this.name, next.length) : next.length < this.least ? text.tooFew(this.name) : "";
    this.tell(wrong);
    const changed = !wrong && !sameTokens(next, this.tokens);
    if (changed) this.tokens = next;
    this.focusAt = Math.max(0, Math.min(focus, this.tokens.length - 1));
    this.stop(this.focusAt);
    if (changed) this.change(next);
  }

  /** @param {string} problem */
  tell(problem) {
    put(this.problem, problem);
    set(this.problem, "hidden", !problem);
  }

  /** @param {number} index */
  focus(index) {
    this.focusAt = Math.max(0, Math.min(index, this.tokens.length - 1));
    const chip = this.row.querySelector(`[data-at="${this.focusAt}"]`) ?? this.row.querySelector(".add");
    for (const other of this.row.querySelectorAll("[data-at]")) other.tabIndex = other === chip ? 0 : -1;
    chip.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {any} */ (event.target);
    const act = target.tagName === "INPUT" ? this.inputKey(event.key, target) : target.dataset.at ? this.chipKey(event.key, Number(target.dataset.at)) : null;
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** @param {string} key @param {HTMLInputElement} input @returns {(() => void) | null} */
  inputKey(key, input) {
    if (key === "Enter") return () => this.commit(input.value);
    if (key === "Escape") return () => this.stop(this.editing?.index ?? 0);
    if (key === " " && input.selectionStart === input.value.length) return input.value.trim() ? () => this.commit(input.value, { more: true }) : () => {};
    const before = this.editing?.index ?? 0;
    if (key === "Backspace" && !input.value && this.editing?.insert && before > 0) return () => this.put(before - 1, 1, [], before - 1);
    return null;
  }

  /** @param {string} key @param {number} at @returns {(() => void) | null} */
  chipKey(key, at) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.focus(at - 1), ArrowRight: () => this.focus(at + 1),
      Home: () => this.focus(0), End: () => this.focus(this.tokens.length - 1),
      F2: () => this.edit(at, false), Insert: () => this.edit(at, true),
      Delete: () => this.put(at, 1, [], at), Backspace: () => this.put(at, 1, [], at - 1),
    };
    return keys[key] ?? null;
  }
}
