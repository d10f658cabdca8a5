// @ts-check
/** One row of the set-up: a field's name, its control, and the way back to its default. Built from what app/ui/controls.py describes. */

import { h, set, text as put } from "../dom.mjs";
import { msg } from "../language.mjs";
import { allowed, NumberField } from "../numbers.mjs";

/** @typedef {import("../numbers.mjs").Range} Range @typedef {import("../numbers.mjs").Fitting} Fitting */
/** @typedef {{value: any, label: string}} Choice */
/** @typedef {Range & {why: string, default: any, as: "number" | "choice" | "switch", choices?: Choice[], more?: boolean,
 * when?: Record<string, any>}} Description when: the values of the fields beside it without which it means nothing */
/** @typedef {{value: any, fitting?: Fitting | null, pending?: boolean, changed?: boolean}} State of a field: what holds, the only values that go
 * with the other fields, whether a change of it is under way, and whether it differs from the default (else that is seen from its value) */
/** @typedef {{element: HTMLElement, show: (value: any, fitting: Fitting | null) => void}} Control */

/** Characters of a choice's labels that fit side by side. */
const BESIDE = 14;

export class Field {
  /** @param {Description} about @param {{change: (value: any) => any, preview?: (value: any) => void}} does preview: a value that is not set yet;
   * undefined takes it back */
  constructor(about, { change, preview = () => {} }) {
    this.about = about;
    this.change = change;
    const { title } = about;
    const id = about.path.replaceAll(".", "-");
    this.problem = h("p", { class: "problem", role: "alert", hidden: true, id: `problem-${id}` });
    this.why = h("span", { class: "sr", id: `why-${id}` });
    this.number = about.as === "number" ? new NumberField({ range: { ...about, title }, problem: this.problem, described: this.why.id, commit: change, preview }) : null;
    /** @type {Control} */
    this.control = this.number ?? (about.as === "switch" ? toggle(title, this.why.id, change) : choice(title, this.why.id, about.choices ?? [], change));
    this.back = h("button", { class: "back-to", type: "button", onclick: () => this.reset() }, h("i", { class: "icon undo", "aria-hidden": "true" }));
    this.element = h("div", { class: "field", "data-path": about.path },
      h("dt", { title: about.why }, title), h("dd", null, this.control.element, this.why), h("dd", { class: "reset" }, this.back), h("dd", { class: "wide" }, this.problem));
  }

  /** @param {State} state */
  show({ value, fitting = null, pending = false, changed = !same(value, this.about.default) }) {
    this.control.show(value, fitting);
    const shown = labelOf(this.about, this.about.default);
    set(this.back, "data-idle", !changed);
    set(this.back, "aria-label", msg`Reset ${this.about.title} to ${shown}`);
    set(this.back, "title", msg`Back to ${shown}`);
    this.back.tabIndex = changed ? 0 : -1;
    const range = this.about.as === "number" ? ` ${msg`Allowed: ${allowed(this.about, fitting)}.`}` : "";
    put(this.why, `${this.about.why}. ${msg`Default: ${shown}.`}${range}`);
    set(this.element, "data-pending", pending || null);
    set(this.element, "aria-busy", pending ? "true" : null);
  }

  reset() {
    this.number?.restore();
    this.change(this.about.default);
  }

  /** Why a value is not taken; empty: it is. @param {string} said */
  refuse(said) {
    if (this.number && said) return this.number.refuse(said);
    if (this.number) return;
    put(this.problem, said);
    set(this.problem, "hidden", !said);
  }
}

/** @param {any} a @param {any} b */
export const same = (a, b) => a === b || (a ?? null) === (b ?? null);

/** A value as its control shows it. @param {Description} about @param {any} value */
export function labelOf(about, value) {
  if (about.as === "switch") return value ? msg`on` : msg`off`;
  if (value === null || value === undefined || value === "") return msg`nothing`;
  return about.choices?.find((c) => c.value === value)?.label ?? String(value);
}

/** @param {string} title @param {string} described @param {(value: boolean) => any} change @returns {Control} */
function toggle(title, described, change) {
  const element = h("button", {
    class: "switch", type: "button", role: "switch", "aria-label": title, "aria-describedby": described, onclick: () => change(element.getAttribute("aria-checked") !== "true"),
  }, h("i"));
  return { element, show: (value, fitting) => {
    set(element, "aria-checked", value ? "true" : "false");
    set(element, "disabled", !!fitting && !fitting.values.includes(!value));
  } };
}

/** A few words side by side; more, or longer ones, as a list. @param {string} title @param {string} described @param {Choice[]} choices
 * @param {(value: any) => any} change @returns {Control} */
function choice(title, described, choices, change) {
  const fits = choices.length <= 3 && choices.reduce((sum, c) => sum + c.label.length, 0) <= BESIDE;
  return (fits ? segment : select)(title, described, choices, change);
}

/** @param {string} title @param {string} described @param {Choice[]} choices @param {(value: any) => any} change @returns {Control} */
function select(title, described, choices, change) {
  const options = choices.map((c) => h("option", { value: c.value }, c.label));
  const element = h("select", { class: "choice", "aria-label": title, "aria-describedby": described, onchange: () => change(element.value) }, options);
  return { element, show: (value, fitting) => {
    options.forEach((o, i) => (o.disabled = !!fitting && !fitting.values.includes(choices[i].value) && choices[i].value !== value));
    element.value = value;
    set(element, "title", choices.find((c) => c.value === value)?.label ?? null); // it may have no room for it
  } };
}

/** @param {string} title @param {string} described @param {Choice[]} choices @param {(value: any) => any} change @returns {Control} */
function segment(title, described, choices, change) {
  const press = (/** @type {Choice} */ c) => (/** @type {MouseEvent} */ e) => {
    if (e.detail) /** @type {any} */ (e.currentTarget).blur(); // the arrow keys of who uses the pointer still step
    if (/** @type {any} */ (e.currentTarget).getAttribute("aria-checked") !== "true") change(c.value);
  };
  const buttons = choices.map((c) => h("button", { type: "button", role: "radio", onclick: press(c) }, c.label));
  const element = h("div", { class: "seg", role: "radiogroup", "aria-label": title, "aria-describedby": described, onkeydown: (/** @type {KeyboardEvent} */ e) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    const open = buttons.filter((b) => !b.disabled);
    const to = by && open[(open.indexOf(document.activeElement) + by + open.length) % open.length];
    if (!to) return;
    e.preventDefault();
    to.focus();
    to.click();
  } }, buttons);
  return { element, show: (value, fitting) => buttons.forEach((b, i) => {
    set(b, "aria-checked", choices[i].value === value ? "true" : "false");
    set(b, "disabled", !!fitting && !fitting.values.includes(choices[i].value) && choices[i].value !== value);
    b.tabIndex = choices[i].value === value || (!choices.some((c) => c.value === value) && i === 0) ? 0 : -1;
  }) };
}
