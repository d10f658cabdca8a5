// @ts-check
/** The form of one edit at a tap: which places of the tensor, and what is put there. `editor` makes it; `open` fills it for a tensor.
 *
 * The Edits view holds it; any other view asks for it with `askToEdit`: then it opens for what the page looks at.
 */

import { h, hide, list, set, text } from "../dom.mjs";
import * as lib from "./edits.mjs";
import { msg } from "../language.mjs";
import { parse } from "../numbers.mjs";
import { SPECIALS, splittingOf, tokenize } from "../setup/tokens.mjs";
import { axisName, requestName } from "../words.mjs";
import * as read from "../reads.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context @typedef {import("./edits.mjs").Target} Target */

/** What a 32-bit float holds. */
const LARGEST = 3.4e38;
const anyNumber = () => ({ path: "edit.value", title: msg`value`, whole: false, step: 1, low: -LARGEST, high: LARGEST, above: false, optional: false });
/** @param {boolean} optional */
const anyIndex = (optional) => ({ path: "edit.index", title: "", whole: true, step: 1, low: 0, high: 100000, above: false, optional });

export class Editor {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {World | null} */
    this.world = null;
    /** @type {Target | null} */
    this.target = null;
    /** @type {"set" | "scale" | "patch"} */
    this.action = "set";
    this.waiting = false;
    this.element = this.build();
  }

  build() {
    const action = (/** @type {"set" | "scale" | "patch"} */ name, /** @type {string} */ said, /** @type {string} */ title) =>
      h("button", { type: "button", "data-action": name, title, onclick: () => this.does(name) }, said);
    this.title = h("b", { class: "mono" });
    this.places = h("div", { class: "places", role: "group", "aria-label": msg`Place on each axis; empty means all` });
    this.actions = h("div", { class: "seg", role: "group", "aria-label": msg`What is put there` },
      action("set", msg`set to`, msg`Put this number there`), action("scale", msg`× by`, msg`Multiply what is there by this number`), action("patch", msg`patch`, msg`Put there what the same tensor holds when another text is read`));
    this.value = h("input", { class: "number", type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-label": msg`Value` });
    this.donor = h("select", { class: "donor", "aria-label": msg`Whose row is put there` });
    this.donor.onchange = () => {
      this.patches();
      this.element.scrollIntoView({ block: "nearest" });
    };
    this.source = h("input", { class: "number text", type: "text", "aria-label": msg`Source of the donor`, placeholder: msg`source sentence`, maxlength: 2000 });
    this.prefix = h("input", { class: "number text", type: "text", "aria-label": msg`Target prefix of the donor`, placeholder: msg`target prefix after <bos>`, maxlength: 2000 });
    this.row = h("input", { class: "number", type: "text", inputmode: "numeric", "aria-label": msg`Row of the donor; empty means the same row`, placeholder: msg`same row` });
    this.patch = h("div", { class: "patch" }, h("label", null, h("span", null, msg`from`), this.donor), this.source, this.prefix, h("label", null, h("span", null, msg`row`), this.row));
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    const form = h("form", { class: "editor", hidden: true, "aria-label": msg`Edit a tensor` }, h("p", { class: "what" }, this.title), this.places,
      h("div", { class: "row" }, this.actions, this.value), this.patch, this.problem,
      h("div", { class: "row" }, h("button", { class: "btn sm", type: "submit" }, msg`Apply`), h("button", { class: "btn sm", type: "button", onclick: () => this.close() }, msg`Cancel`)));
    form.onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.apply();
    };
    form.onkeydown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") this.close();
    };
    return form;
  }

  get shown() {
    return !this.element.hidden;
  }

  /** Show the form for a tensor. `index`: a place on each axis, null is all.
   * @param {World} world @param {Target} target @param {"set" | "scale" | "patch"} [action] */
  open(world, target, action = "set") {
    this.world = world;
    this.target = target;
    const axes = target.axes.map((axis, n) => ({ axis, at: target.index[n] }));
    list(this.places, axes, (a) => `${target.path} ${a.axis} ${world.moved?.sizes[a.axis]}`, ({ axis }) => h("label", { title: axisName(axis) }, h("i", { class: "mono" }, axis), this.field(axis)),
      (label, { at }) => set(label.lastElementChild, "value", at === null ? "" : String(at)));
    this.value.value = "0";
    this.row.value = "";
    this.say("");
    this.does(action);
    hide(this.element, false);
    this.draw(world);
    this.element.scrollIntoView({ block: "nearest" });
    (action === "patch" ? this.donor : this.value).focus({ preventScroll: true });
    this.value.select();
  }

  /** Requests and heads have names; of the other axes a number is typed.
   * @param {string} axis */
  field(axis) {
    const name = axis === "b" ? requestName : axis === "h" ? (/** @type {number} */ i) => `H${i + 1}` : null;
    if (!name) return h("input", { class: "number", type: "text", inputmode: "numeric", placeholder: msg`all`, "aria-label": axisName(axis) });
    const count = axis === "b" ? read.requestCount(/** @type {World} */ (this.world)) : (this.world?.moved?.sizes.h ?? 0);
    return h("select", { class: "number", "aria-label": axisName(axis) }, h("option", { value: "" }, msg`all`), Array.from({ length: count }, (_, i) => h("option", { value: i }, name(i))));
  }

  close() {
    hide(this.element, true);
    this.target = null;
  }

  /** @param {"set" | "scale" | "patch"} action */
  does(action) {
    this.action = action;
    for (const button of this.actions.children) set(button, "aria-pressed", String(button.dataset.action === action));
    hide(this.value, action === "patch");
    hide(this.patch, action !== "patch");
    this.patches();
    if (this.shown) this.element.scrollIntoView({ block: "nearest" });
  }

  /** Own words are asked for only where no other donor is named. */
  patches() {
    const own = this.donor.value === "own";
    hide(this.source, !own || this.world?.opened?.vocabulary.source === null);
    hide(this.prefix, !own);
  }

  /** @param {World} world */
  draw(world) {
    this.world = world;
    if (!this.target || !this.shown) return;
    text(this.title, lib.place(world, { path: this.target.path, index: [] }));
    const requests = read.phase(world) === "train" ? [] : (world.moved?.requests ?? []);
    const several = requests.length > 1;
    const donors = [
      ...requests.map((/** @type {any} */ _, /** @type {number} */ i) => ({ value: `request ${i}`, said: several ? msg`request ${requestName(i)}, unedited` : msg`this input, unedited` })),
      { value: "own", said: msg`another text…` },
      ...lib.moments(world).map((m) => ({ value: `moment ${m.id}`, said: m.name })),
    ];
    list(this.donor, donors, (d) => d.value, (d) => h("option", { value: d.value }), (option, d) => text(option, d.said));
    const able = world.role === "writer" && world.connection === "open" && !this.waiting;
    for (const button of this.element.querySelectorAll("button[type=submit]")) set(button, "disabled", !able);
    this.patches();
  }

  /** @param {string} problem */
  say(problem) {
    text(this.problem, problem);
    hide(this.problem, !problem);
  }

  /** What the form says, or the first thing that is wrong with it. @returns {{edit?: import("./edits.mjs").TapEdit, problem?: string}} */
  read() {
    const { target } = this;
    if (!target) return {};
    const index = [];
    for (const [n, label] of [...this.places.children].entries()) {
      const { value, problem } = parse(label.lastElementChild.value, anyIndex(true));
      if (problem) return { problem: msg`${axisName(target.axes[n])}: ${problem}` };
      index.push(value ?? null);
    }
    if (this.action === "patch") return this.readPatch(target.path, index);
    const { value, problem } = parse(this.value.value, anyNumber());
    return problem ? { problem } : { edit: { path: target.path, index, action: this.action, value } };
  }

  /** @param {string} path @param {(number | null)[]} index */
  readPatch(path, index) {
    const { value: row, problem } = parse(this.row.value, anyIndex(true));
    if (problem) return { problem: msg`${msg`row of the donor`}: ${problem}` };
    const [kind, at] = this.donor.value.split(" ");
    const { source, target, specials } = this.world?.opened?.vocabulary ?? {};
    const split = (/** @type {string} */ typed, /** @type {string[]} */ words, /** @type {string[]} */ first = SPECIALS) => tokenize(typed, splittingOf(words?.slice(first.length) ?? null, this.world?.opened?.task?.tokenizer));
    const own = { source: source === null ? null : split(this.source.value, source, specials?.source ?? undefined), target: split(this.prefix.value, target, specials?.target) };
    const whose = kind === "own" ? own : kind === "moment" ? { moment: Number(at), request: read.request(/** @type {World} */ (this.world)) } : lib.donorOf(/** @type {World} */ (this.world), Number(at));
    return { edit: { path, index, action: /** @type {const} */ ("patch"), donor: { ...whose, row: row ?? null } } };
  }

  async apply() {
    const { edit, problem } = this.read();
    if (!edit || !this.world) return this.say(problem ?? "");
    this.waiting = true;
    const reply = await this.context.send(lib.change(lib.withEdit(lib.edits(this.world), edit)));
    this.waiting = false;
    if (reply.ok) this.close();
    else this.say(reply.errors.map((/** @type {any} */ e) => e.message).join(" "));
    if (this.world) this.draw(this.world);
  }
}

const ASK = "lookback-edit";

/** Open the form for the locked cell, or for the tensor that the inspector shows. */
export const askToEdit = () => void dispatchEvent(new Event(ASK));

/** @param {() => void} open */
export const whenAsked = (open) => addEventListener(ASK, open);

/** @param {Context} context */
export const editor = (context) => new Editor(context);
