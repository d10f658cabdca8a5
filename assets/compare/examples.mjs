// @ts-check
/** The comparisons and examples that one can begin from, and which of them is shown. */

import { data } from "../lib/data.mjs";
import { h } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { apart } from "./link.mjs";
import { sets } from "./sets.mjs";

/** @typedef {import("./link.mjs").Comparison} Comparison */

/** A task's first example. */
export const preset = (/** @type {string} */ task) => data.tasks.find((/** @type {any} */ t) => t.id === task).presets[0];

/** The comparison or example that this is, "set 1" or "task 2", or "". @param {Comparison} now */
export function exampleOf(now) {
  const { task, source, target } = now;
  const same = (/** @type {any} */ a, /** @type {any} */ b) => JSON.stringify(a ?? []) === JSON.stringify(b ?? []);
  const whole = sets(preset).findIndex((s) => Object.entries(s.holds).every(([name, value]) => same(value, /** @type {any} */ (now)[name])));
  if (whole >= 0) return `set ${whole}`;
  const at = data.tasks.find((/** @type {any} */ t) => t.id === task).presets.findIndex((/** @type {any} */ p) => same(p.source, source) && same(p.target, target));
  return at < 0 ? "" : `${task} ${at}`;
}

/** Fill the list of them. @param {any} picker @param {(chosen: string) => void} chosen as `exampleOf` says it */
export function pick(picker, chosen) {
  const fits = (/** @type {any} */ t) => !t.presets[0].features && data.architectures.some((/** @type {any} */ a) => !apart(a, t.id, data.tasks));
  picker.append(h("option", { value: "" }, msg`Your own input`), h("optgroup", { label: msg`Comparisons` }, sets(preset).map((s, i) => h("option", { value: `set ${i}` }, s.name))), ...data.tasks.filter(fits).map((/** @type {any} */ t) =>
    h("optgroup", { label: t.name }, t.presets.map((/** @type {any} */ p, /** @type {number} */ i) => h("option", { value: `${t.id} ${i}`, title: p.note }, p.name)))));
  picker.addEventListener("change", () => chosen(picker.value));
}
