// @ts-check
/** A row of tokens that a person edits: each is a chip; one at a time becomes an input. Text that is typed or pasted is split as the task does. */

import { childrenAround, h, hide, set, text as put } from "../dom.mjs";
import { msg } from "../language.mjs";
import { keyed } from "./chipkeys.mjs";
import { pressed } from "./reorder.mjs";
import { Suggest } from "./suggest.mjs";
import { firstOf, grouped } from "./together.mjs";
import { cutAgain, nameOf, sameTokens, SPECIALS, splittingOf, tokenize, visible, wrongWith } from "./tokens.mjs";
import { UnknownWords } from "./unknown.mjs";

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
    this.list = /** @type {string[] | null | undefined} */ (undefined);
    this.how = splittingOf(null);
    this.specials = SPECIALS;
    this.most = Infinity;
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
    this.unknown = new UnknownWords((word, known) => this.replace(this.tokens.map((t) => (t === word ? known : t))));
    this.suggest = new Suggest((word) => this.take(word));
    this.element = h("div", { class: "chips-field" }, h("div", { class: "chips-box" }, this.row, this.suggest.list), this.tools, this.problem, this.unknown.element);
    this.row.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => keyed(this, e));
  }

  /** @param {string} name */
  rename(name) {
    if (name === this.name) return;
    this.name = name;
    set(this.row, "aria-label", name);
    this.draw();
  }

  /** What the scenario holds now. An edit in progress goes on, among the tokens that are there now. specials: what the vocabulary begins with.
   * @param {Token[]} tokens @param {string[] | null} words of the vocabulary @param {boolean} disabled @param {number} most tokens @param {string[]} [specials] @param {import("./pieces.mjs").Told | null} [told] of its tokenizer */
  update(tokens, words, disabled, most, specials = SPECIALS, told = null) {
    this.most = most;
    this.specials = specials;
    if (words !== this.list) {
      this.list = words;
      this.words = words && new Set(words.slice(specials.length));
      this.how = splittingOf(words && words.slice(specials.length), told);
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
    const chips = this.tokens.map((token, i) => {
      const now = this.editing?.index === i ? this.editing : null;
      return [...(now && this.box ? [this.box] : []), ...(!now || now.insert ? [this.chip(token, i)] : [])];
    });
    const parts = [...this.fixed.map((name) => h("span", { class: `chip ${this.role} fixed`, title: msg`special token` }, name)), ...grouped(chips, this.tokens, this.how.cut)];
    if (this.editing?.index === this.tokens.length && this.box) parts.push(this.box);
    parts.push(h("button", { class: "chip add", type: "button", disabled: this.disabled, "aria-label": msg`Add a token: ${this.name}`, title: msg`Add a token`, ...this.press(this.tokens.length, true) }, "+"));
    childrenAround(this.row, parts, this.box);
    this.drawTools();
    this.drawUnknown();
    if (!this.editing && focus >= 0) this.focus(focus);
  }

  /** @param {Token} token @param {number} i */
  chip(token, i) {
    const special = typeof token !== "string";
    const unknown = this.isUnknown(token);
    const note = special ? `, ${msg`special token`}` : unknown ? `, ${msg`not in the vocabulary, read as <unk>`}` : "";
    const name = visible(nameOf(token));
    const help = msg`Enter edits, Delete removes, Insert adds one before, arrows go on, with Shift they move it. Or drag it.`;
    return h("button", {
      class: `chip ${this.role}${special ? " special" : ""}${unknown ? " unknown" : ""}`, type: "button", disabled: this.disabled, dir: "auto",
      "aria-label": msg`Token ${i + 1} of ${this.tokens.length}: ${name}` + note, title: `${name.slice(0, 60)}${note}. ${help}`,
      tabindex: i === (this.focusAt ?? 0) ? 0 : -1, "data-at": i, onfocus: () => (this.focusAt = i), ...this.press(i, false),
    }, h("span", null, name), unknown && h("small", { "aria-hidden": "true" }, "<unk>"));
  }

  isUnknown(/** @type {Token} */ token) {
    return typeof token === "string" && !!this.words && !this.words.has(token);
  }

  /** The vocabulary without its special tokens. */
  vocabulary() {
    return this.list?.slice(this.specials.length) ?? [];
  }

  drawUnknown() {
    this.unknown.draw([...new Set(this.tokens.filter((t) => this.isUnknown(t)).map(String))], this.vocabulary(), this.disabled);
  }

  /** A press edits where it is let go, and ends another edit only then: a click would be lost when that edit redraws the row.
   * Moved, it carries the token to another place.
   * @param {number} index @param {boolean} insert */
  press(index, insert) {
    const click = () => {
      const [count, editing] = [this.tokens.length, this.editing];
      if (editing && this.box) this.commit(this.box.value);
      this.edit(index + (editing && editing.index < index ? this.tokens.length - count : 0), insert);
    };
    const places = () => [.../** @type {NodeListOf<HTMLElement>} */ (this.row.querySelectorAll("[data-at], .add"))];
    return {
      onmousedown: (/** @type {MouseEvent} */ event) => {
        if (event.button !== 0 || this.disabled) return;
        event.preventDefault();
        if (insert || this.editing) return click();
        pressed(event, { row: this.row, places, click, move: (to) => this.move(index, to > index ? to - 1 : to) });
      },
      onclick: (/** @type {MouseEvent} */ event) => event.detail === 0 && this.edit(index, insert),
    };
  }

  /** @param {string} value */
  input(value) {
    const input = h("input", {
      class: "chip-input", type: "text", value, size: Math.max(6, Math.min(24, value.length + 2)), "aria-label": `${this.name}. ${msg`Token text; several words become several tokens`}`,
      autocomplete: "off", spellcheck: "false", autocapitalize: "none", dir: "auto", onblur: () => this.commit(input.value),
    });
    input.addEventListener("paste", (/** @type {ClipboardEvent} */ event) => {
      event.preventDefault();
      const pasted = event.clipboardData?.getData("text") ?? "";
      this.commit(input.value.slice(0, input.selectionStart) + pasted + input.value.slice(input.selectionEnd));
    });
    this.suggest.listenTo(input, () => (this.how.characters ? [] : this.vocabulary()));
    return input;
  }

  drawTools() {
    hide(this.tools, !this.editing);
    if (!this.editing) return;
    const hold = (/** @type {Event} */ e) => e.preventDefault(); // a press here must not end the edit first
    const button = (/** @type {string} */ label, /** @type {() => void} */ onclick) => h("button", { class: "btn xs", type: "button", onmousedown: hold, onclick }, label);
    const { index, insert } = this.editing;
    this.tools.replaceChildren(
      ...(insert ? [] : [button(msg`Remove`, () => this.put(index, 1, [], index)), button(msg`Insert before`, () => this.edit(index, true))]),
      this.specials.length ? h("span", { class: "note" }, msg`Special`) : "",
      ...this.specials.map((name) => button(name, () => this.put(index, insert ? 0 : 1, [{ special: name }], index))),
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
    const words = tokenize(value, this.how);
    const untouched = !now.insert && value === nameOf(this.tokens[now.index]);
    if (untouched || (now.insert && !words.length)) this.wrong = "";
    else this.splice(now.index, now.insert ? 0 : 1, words);
    if (!more || this.wrong) return this.stop(now.index + Math.max(0, words.length - 1));
    this.goOn(now.index + Math.max(1, words.length));
  }

  /** The same input becomes a new token at this place. @param {number} index */
  goOn(index) {
    this.editing = { index: Math.min(this.tokens.length, index), insert: true };
    this.suggest.close();
    if (this.box) this.box.value = "";
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  /** End the edit; the chip gets the focus if the field had it. @param {number} index */
  stop(index) {
    const focused = this.row.contains(document.activeElement) || this.tools.contains(document.activeElement);
    this.editing = this.box = null;
    this.suggest.close();
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
    const next = cutAgain([...this.tokens.slice(0, index), ...fresh, ...this.tokens.slice(index + count)], this.how);
    this.wrong = wrongWith(next, this.name, this.least, this.most);
    this.tell(this.wrong, next.length > this.most && fresh.length ? firstOf(next, this.most, this.how.cut) : null);
    if (this.wrong || sameTokens(next, this.tokens)) return;
    this.tokens = next;
    this.unsent = true;
  }

  /** @param {string} problem @param {Token[] | null} [fitting] as many of the tokens as are allowed */
  tell(problem, fitting = null) {
    put(this.problem, problem);
    set(this.problem, "hidden", !problem);
    if (problem) setTimeout(() => this.problem.scrollIntoView({ block: "nearest" })); // once the chips are drawn and the focus is where it goes
    if (fitting) this.problem.append(" ", h("button", { class: "btn xs", type: "button", onclick: () => this.replace(fitting) }, msg`Keep the first ${this.most}`));
  }

  /** All tokens by others, at once. @param {Token[]} tokens */
  replace(tokens) {
    this.splice(0, this.tokens.length, tokens);
    this.draw();
    this.flush();
  }

  /** @param {number} from @param {number} to its place among the others */
  move(from, to) {
    if (to === from || to < 0 || to >= this.tokens.length) return this.focus(from);
    const rest = this.tokens.filter((_, i) => i !== from);
    this.tokens = [...rest.slice(0, to), this.tokens[from], ...rest.slice(to)];
    this.unsent = true;
    this.draw();
    this.focus(to);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  /** A known word was chosen for the token that is edited. @param {string} word */
  take(word) {
    if (this.editing) this.put(this.editing.index, this.editing.insert ? 0 : 1, [word], this.editing.index);
  }

  /** @param {number} index */
  focus(index) {
    this.focusAt = Math.max(0, Math.min(index, this.tokens.length - 1));
    const chip = this.row.querySelector(`[data-at="${this.focusAt}"]`) ?? this.row.querySelector(".add");
    for (const other of this.row.querySelectorAll("[data-at]")) other.tabIndex = other === chip ? 0 : -1;
    chip.focus();
  }
}
