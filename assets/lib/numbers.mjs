// @ts-check
/** A number that a person types or steps: what was typed is read whole, or refused beside the field; the number in force comes back on Escape. */

import { h, set, text as put } from "./dom.mjs";
import { msg } from "./language.mjs";

/**
 * @typedef {object} Range from app/ui/controls.py
 * @property {string} path @property {string} title @property {boolean} whole @property {number} step of the buttons and arrow keys
 * @property {number | null} low @property {number | null} high @property {boolean} above low itself is not allowed
 * @property {boolean} optional nothing is a value too
 * @property {boolean} [logarithmic] it is stepped 1, 2, 5, 10, ... @property {number[] | null} [few] the only ones, in order
 */

/** @typedef {{values: any[], words: string}} Fitting the only values that go with the other fields now; what the model says of them */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** Steps are sent when they rest this long, ms. */
const PAUSE = 300;

/** What a range allows, in words. @param {Range} r @param {Fitting | null} [fitting] */
export function allowed({ low, high, above, whole, optional, few }, fitting = null) {
  if (fitting) return fitting.words || msg`${fitting.values.join(", ")}, with the other fields as they are`;
  if (few) return msg`one of ${few.join(", ")}`;
  const kind = whole ? msg`a whole number` : msg`a number`;
  const end = high === null ? null : String(high);
  const ranged = low === null ? (end ? msg`${kind}, at most ${end}` : kind)
    : above ? (end ? msg`${kind} above ${low}, at most ${end}` : msg`${kind} above ${low}`)
    : end ? msg`${kind} from ${low} to ${end}` : msg`${kind} of at least ${low}`;
  return optional ? msg`${ranged}, or nothing` : ranged;
}

/** What was given and what is allowed. @param {string | number} given @param {string} what */
export const notAllowed = (given, what) => (given === "" ? msg`Nothing was given; allowed: ${what}.` : msg`${quoted(String(given))} was given; allowed: ${what}.`);

const QUOTED = 40; // letters of what was typed that a message says again
/** What was typed, short enough to be said again. @param {string} given */
export const quoted = (given) => (given.length > QUOTED ? `${given.slice(0, QUOTED)}…` : given);

/** Text as a number of this range; null is "nothing". Pure.
 * @param {string} typed @param {Range} range @param {Fitting | null} [fitting]
 * @returns {{value?: number | null, problem: string}} */
export function parse(typed, range, fitting = null) {
  const given = typed.trim().replace("−", "-");
  if (!given && range.optional) return { value: null, problem: "" };
  const value = NUMBER.test(given) ? Number(given) : NaN;
  const outside = (range.low !== null && (range.above ? value <= range.low : value < range.low)) || (range.high !== null && value > range.high);
  const wrong = !Number.isFinite(value) || outside || (range.whole && !Number.isInteger(value)) || (range.few && !range.few.includes(value));
  if (wrong) return { problem: notAllowed(given, allowed(range)) };
  return fitting && !fitting.values.includes(value) ? { problem: notAllowed(given, allowed(range, fitting)) } : { value, problem: "" };
}

/** The number a step away, or null where there is none. Pure.
 * @param {number | null} now @param {number} by 1 or -1 @param {Range} range @param {Fitting | null} [fitting] @returns {number | null} */
export function stepped(now, by, range, fitting = null) {
  const { low, high, above, step, few, logarithmic } = range;
  if (now === null) return by > 0 ? (low === null || above ? step : low) : null;
  const list = fitting?.values ?? few;
  if (list) return (by > 0 ? list.find((v) => v > now) : list.findLast((v) => v < now)) ?? null;
  const raw = logarithmic ? decade(now, by) : now + by * step;
  const next = Math.min(high ?? Infinity, Math.max(low ?? -Infinity, Number(raw.toPrecision(12))));
  return next === now || (above && next === low) ? null : next;
}

/** The next of 1, 2, 5, 10, ... @param {number} now above 0 @param {number} by */
function decade(now, by) {
  const base = 10 ** Math.floor(Math.log10(now) + 1e-9);
  const steps = [0.5, 1, 2, 5, 10].map((f) => Number((f * base).toPrecision(12)));
  return (by > 0 ? steps.find((v) => v > now) : steps.findLast((v) => v < now)) ?? now;
}

export class NumberField {
  /** @param {object} o
   * @param {Range} o.range @param {HTMLElement} o.problem where a refusal is said @param {string} o.described id of what explains it
   * @param {(value: number | null) => any} o.commit @param {(value: number | null | undefined) => void} [o.preview] while it is typed or stepped;
   * undefined: as it was */
  constructor({ range, problem, described, commit, preview = () => {} }) {
    this.range = range;
    this.commit = commit;
    this.preview = preview;
    this.problem = problem;
    this.described = described;
    /** @type {Fitting | null} */
    this.fitting = null;
    /** @type {number | null | undefined} the number in force */
    this.held = undefined;
    /** What was typed is not read yet. */
    this.typing = false;
    /** What was sent last, as typed. */
    this.tried = "";
    /** @type {any} */
    this.timer = 0;
    this.input = h("input", {
      class: "number", type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-label": range.title, "aria-describedby": described,
      oninput: () => this.typed(), onblur: () => this.typing && this.read(), onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
    });
    const button = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {string} */ name) =>
      h("button", { type: "button", tabindex: -1, "aria-label": name, onclick: () => this.turn(by) }, sign);
    this.less = button(-1, "−", msg`${range.title}: less`);
    this.more = button(1, "+", msg`${range.title}: more`);
    this.element = h("span", { class: "stepper" }, this.less, this.input, this.more);
  }

  /** The number in force. What is being typed, or was refused, stays to be mended.
   * @param {number | null} value @param {Fitting | null} [fitting] */
  show(value, fitting = null) {
    this.fitting = fitting;
    const stays = this.typing || (value === this.held && !this.problem.hidden);
    this.held = value;
    if (!stays) this.restore();
    this.ends();
  }

  restore() {
    clearTimeout(this.timer);
    this.typing = false;
    this.tell("");
    const shown = this.held === null || this.held === undefined ? "" : String(this.held);
    if (this.input.value !== shown) this.input.value = shown;
    this.preview(undefined);
    this.ends();
  }

  /** A step that leads nowhere is not offered. */
  ends() {
    for (const [button, by] of /** @type {[HTMLElement, number][]} */ ([[this.less, -1], [this.more, 1]])) set(button, "disabled", stepped(this.number(), by, this.range, this.fitting) === null);
  }

  /** What stands in the field, else what is in force. @returns {number | null} */
  number() {
    return parse(this.input.value, this.range).value ?? this.held ?? null;
  }

  /** The server does not take what was sent. @param {string} problem */
  refuse(problem) {
    if (this.typing) return;
    this.input.value = this.tried;
    this.tell(problem);
    this.ends();
  }

  /** @param {string} problem */
  tell(problem) {
    put(this.problem, problem);
    set(this.problem, "hidden", !problem);
    if (problem && document.activeElement === this.input) this.problem.scrollIntoView({ block: "nearest" });
    set(this.input, "aria-invalid", problem ? "true" : null);
    set(this.input, "aria-describedby", problem ? `${this.problem.id} ${this.described}` : this.described);
  }

  typed() {
    this.typing = true;
    const inRange = parse(this.input.value, this.range).value !== undefined;
    const { value, problem } = parse(this.input.value, this.range, this.fitting);
    this.tell(inRange ? problem : ""); // a number out of range may be one that is not typed to its end
    this.preview(value);
    this.ends();
  }

  read() {
    clearTimeout(this.timer);
    this.typing = false;
    const { value, problem } = parse(this.input.value, this.range, this.fitting);
    this.tell(problem);
    if (value === undefined) return;
    this.tried = this.input.value;
    if (value === this.held) this.restore();
    else this.commit(value);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.isComposing) return;
    const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === "Enter") this.read();
    else if (event.key === "Escape" && (this.typing || !this.problem.hidden)) {
      event.stopPropagation();
      this.restore();
    } else if (up) {
      event.preventDefault();
      this.turn(up);
    }
  }

  /** @param {number} by steps */
  turn(by) {
    const next = stepped(this.number(), by, this.range, this.fitting);
    if (next === null) return;
    this.input.value = String(next);
    this.typed();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(), PAUSE);
  }
}
