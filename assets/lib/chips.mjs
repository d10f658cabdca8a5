// @ts-check
/** A row of tokens that a person edits: each is a chip; one at a time becomes an input. Text that is typed or pasted is split as the task does. */

import { h, set, text as put } from "./dom.mjs";
import { text } from "./text.mjs";
import { MOST, nameOf, sameTokens, SPECIALS, tokenize, visible } from "./tokens.mjs";

/** @typedef {import("./tokens.mjs").Token} Token */
/** @typedef {{index: number, insert: boolean}} Editing which chip is an input; insert: a new one before it */

/** While words follow each other, what was typed is sent when the typing rests this long, ms. */
const PAUSE = 250;

export class Chips {
  /**
   * @param {object} o
   * @param {string} o.name for a person and a screen reader: "Source of request A"
   * @param {string} o.role q or k: the colour of its chips
   * @param {string[]} [o.fixed] tokens before the first, which belong there and cannot be changed
   * @param {number} o.least tokens
   * @param {() => void} o.change the tokens are others now
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
    /** The input of that edit: it stays on the page while the chips around it are drawn anew. @type {HTMLInputElement | null} */
    this.box = null;
    /** A change that was not told yet, because more words are being typed. */
    this.unsent = false;
    /** @type {any} */
    this.timer = 0;
    this.disabled = false;
    this.wrong = "";
    this.row = h("div", { class: "chips", role: "group", "aria-label": name, "data-arrows": true });
    this.tools = h("div", { class: "chip-tools", hidden: true });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.element = h("div", { class: "chips-field" }, this.row, this.tools, this.problem);
    this.row.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => this.key(e));
  }

  /** @param {string} name */
  rename(name) {
    if (name === this.name) return;
    this.name = name;
    set(this.row, "aria-label", name);
    this.draw();
  }

  /** What the scenario holds now. An edit in progress goes on, among the tokens that are there now.
   * @param {Token[]} tokens @param {string[] | null} words of the vocabulary @param {boolean} disabled */
  update(tokens, words, disabled) {
    if (words !== this.list) {
      this.list = words;
      this.words = words && new Set(words.slice(SPECIALS.length));
    }
    const kept = this.unsent || sameTokens(tokens, this.tokens);
    if (this.drawn && kept && disabled === this.disabled) return;
    if (!kept) this.tokens = tokens;
    this.disabled = disabled;
    if (this.editing) this.editing = { index: Math.min(this.editing.index, this.tokens.length), insert: this.editing.insert || this.editing.index >= this.tokens.length };
    this.tell("");
    this.draw();
  }

  draw() {
    this.drawn = true;
    const focus = this.row.contains(document.activeElement) ? (this.focusAt ?? -1) : -1;
    /** @type {HTMLElement[]} */
    const parts = this.fixed.map((name) => h("span", { class: `chip ${this.role} fixed`, title: text.special }, name));
    this.tokens.forEach((token, i) => {
      const now = this.editing?.index === i ? this.editing : null;
      if (now && this.box) parts.push(this.box);
      if (!now || now.insert) parts.push(this.chip(token, i));
    });
    if (this.editing?.index === this.tokens.length && this.box) parts.push(this.box);
    parts.push(h("button", { class: "chip add", type: "button", disabled: this.disabled, "aria-label": `${text.addToken}: ${this.name}`, ...this.press(this.tokens.length, true) }, "+"));
    this.place(parts);
    this.drawTools();
    if (!this.editing && focus >= 0) this.focus(focus);
  }

  /** The row's elements, without taking the input off the page: it would lose the focus, and keys that a person types on.
   * @param {HTMLElement[]} parts */
  place(parts) {
    const { box } = this;
    if (!box || box.parentNode !== this.row || !parts.includes(box)) return this.row.replaceChildren(...parts);
    const at = parts.indexOf(box);
    for (const child of [...this.row.children]) if (child !== box) child.remove();
    box.before(...parts.slice(0, at));
    box.after(...parts.slice(at + 1));
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
        if (editing && this.box) this.commit(this.box.value);
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
    if (this.box) this.box.onblur = null; // it goes because of this edit, not because the person left it
    this.editing = { index, insert };
    const box = (this.box = this.input(insert ? "" : nameOf(this.tokens[index])));
    this.draw();
    box.focus();
    box.select();
  }

  /** End the edit with this text. @param {string} value @param {{more?: boolean}} [then] more: go on with a new token after it */
  commit(value, { more = false } = {}) {
    const now = this.editing;
    if (!now) return;
    const words = tokenize(value);
    const untouched = !now.insert && value === nameOf(this.tokens[now.index]);
    if (untouched || (now.insert && !words.length)) this.wrong = "";
    else this.splice(now.index, now.insert ? 0 : 1, words);
    if (!more || this.wrong) return this.stop(now.index + Math.max(0, words.length - 1));
    this.goOn(now.index + Math.max(1, words.length));
  }

  /** The same input becomes a new token at this place. @param {number} index */
  goOn(index) {
    this.editing = { index: Math.min(this.tokens.length, index), insert: true };
    if (this.box) this.box.value = "";
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  /** End the edit; the chip gets the focus if the field had it. @param {number} index */
  stop(index) {
    const focused = this.row.contains(document.activeElement) || this.tools.contains(document.activeElement);
    this.editing = this.box = null;
    this.draw();
    if (focused) this.focus(index);
    this.flush();
  }

  /** Tell the change, if there is one. */
  flush() {
    clearTimeout(this.timer);
    if (!this.unsent) return;
    this.unsent = false;
    this.change();
  }

  /** Replace some tokens by others, and end the edit.
   * @param {number} index @param {number} count @param {Token[]} fresh @param {number} focus */
  put(index, count, fresh, focus) {
    this.splice(index, count, fresh);
    this.stop(focus);
  }

  /** Replace some tokens by others, if what comes out is allowed.
   * @param {number} index @param {number} count @param {Token[]} fresh */
  splice(index, count, fresh) {
    const next = [...this.tokens.slice(0, index), ...fresh, ...this.tokens.slice(index + count)];
    this.wrong = next.length > MOST ? text.tooMany(this.name, next.length) : next.length < this.least ? text.tooFew(this.name) : "";
    this.tell(this.wrong);
    if (this.wrong || sameTokens(next, this.tokens)) return;
    this.tokens = next;
    this.unsent = true;
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
