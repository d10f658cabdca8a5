// @ts-check
/** A number that a person types: what was typed is read whole, or refused beside the field; the number in force comes back on Escape. */

import { h, set, text as put } from "./dom.mjs";
import { text } from "./text.mjs";

/**
 * @typedef {object} Range from app/ui/controls.py
 * @property {string} path @property {string} title @property {boolean} whole @property {number} step of the arrow keys
 * @property {number | null} low @property {number | null} high @property {boolean} above low itself is not allowed
 * @property {boolean} optional nothing is a value too
 */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** Steps of the arrow keys are sent when they rest this long, ms. */
const PAUSE = 300;

/** What a range allows, in words. @param {Range} r */
export function allowed({ low, high, above, whole, optional }) {
  const kind = whole ? "a whole number" : "a number";
  const from = low === null ? "" : above ? ` above ${low}` : high === null ? ` of at least ${low}` : ` from ${low}`;
  const to = high === null ? "" : above || low === null ? `, at most ${high}` : ` to ${high}`;
  return kind + from + to + (optional ? ", or nothing" : "");
}

/** Text as a number of this range; null is "nothing". Pure.
 * @param {string} typed @param {Range} range @returns {{value?: number | null, problem: string}} */
export function parse(typed, range) {
  const given = typed.trim();
  if (!given && range.optional) return { value: null, problem: "" };
  const value = NUMBER.test(given) ? Number(given) : NaN;
  const outside = (range.low !== null && (range.above ? value <= range.low : value < range.low)) || (range.high !== null && value > range.high);
  if (!Number.isFinite(value) || outside || (range.whole && !Number.isInteger(value))) return { problem: text.notAllowed(given, allowed(range)) };
  return { value, problem: "" };
}

export class NumberField {
  /** @param {HTMLElement} place @param {HTMLElement} problem @param {Range} range @param {(value: number | null) => any} commit */
  constructor(place, problem, range, commit) {
    this.range = range;
    this.commit = commit;
    this.problem = problem;
    problem.id = `problem-${range.path}`;
    /** @type {number | null | undefined} the number in force */
    this.held = undefined;
    /** What was typed is not read yet. */
    this.typing = false;
    /** What was sent last, as typed. */
    this.tried = "";
    /** @type {any} */
    this.timer = 0;
    this.input = h("input", {
      class: "number", type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-label": range.title,
      oninput: () => (this.typing = true), onblur: () => this.typing && this.read(), onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
    });
    place.replaceChildren(this.input);
  }

  /** The number in force. What is being typed, or was refused, stays to be mended.
   * @param {number | null} value */
  show(value) {
    if (this.typing || (value === this.held && !this.problem.hidden)) {
      this.held = value;
      return;
    }
    this.held = value;
    this.restore();
  }

  restore() {
    this.typing = false;
    this.tell("");
    const shown = this.held === null || this.held === undefined ? "" : String(this.held);
    if (this.input.value !== shown) this.input.value = shown;
  }

  /** The server does not take what was sent. @param {string} problem */
  refuse(problem) {
    if (this.typing) return;
    this.input.value = this.tried;
    this.tell(problem);
  }

  /** @param {string} problem */
  tell(problem) {
    put(this.problem, problem);
    set(this.problem, "hidden", !problem);
    set(this.input, "aria-invalid", problem ? "true" : null);
    set(this.input, "aria-describedby", problem ? this.problem.id : null);
  }

  read() {
    clearTimeout(this.timer);
    this.typing = false;
    const { value, problem } = parse(this.input.value, this.range);
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
    const { low, high, above, step } = this.range;
    const now = parse(this.input.value, this.range).value ?? this.held ?? low ?? 0;
    const next = Math.min(high ?? Infinity, Math.max(low ?? -Infinity, Number((now + by * step).toPrecision(12))));
    if (above && next === low) return;
    this.input.value = String(next);
    this.typing = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(), PAUSE);
  }
}
