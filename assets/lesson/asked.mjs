// @ts-check
/** What several lessons begin with, ask and say alike. Pure. */

import { msg, parts } from "../lib/language.mjs";
import { probability } from "../lib/words.mjs";
import { mono } from "./said.mjs";

/** @typedef {import("./see.mjs").See} See @typedef {import("./types").Said} Said @typedef {import("./types").Start} Start */

/** Nothing is locked, edited or pointed at. */
const LOOK = { request: 0, show: /** @type {const} */ ("weights"), lock: null, path: null, op: null, editing: false, tree: false };

/** A run and so many steps of it. @param {Record<string, any>} scenario @param {number} [times] @param {"step" | "stage"} [unit] @param {Partial<import("../lib/types").Look>} [look] @returns {Start} */
export const start = (scenario, times = 0, unit = "step", look = {}) => ({ scenario, log: times ? [{ command: { kind: "step", unit }, times }] : [], look: { ...LOOK, ...look } });

/** Options in words. @param {string[]} keys @param {string[]} labels */
export const labelled = (keys, labels) => keys.map((key, i) => ({ key, label: labels[i] }));

/** Of options of which one comes true: its number, and none for the others.
 * @param {string[]} keys @param {string} right @param {number} [value] @returns {number[]} */
export const one = (keys, right, value = 1) => keys.map((key) => (key === right ? value : NaN));

/** Several words as one. @param {string[]} tokens @param {"q" | "k" | "d"} role */
export const words = (tokens, role) => ({ text: tokens.join(" "), role });

/** What was said, beside what came. @param {boolean} right @param {string} label what was said @param {Said} so @returns {Said} */
export const ruled = (right, label, so) => [...(right ? parts`Yes.` : parts`You said ${mono(label)}.`), " ", ...so];

/** "accepted 0.88", as a live value. @param {See} see */
export function leadNow(see) {
  const lead = see.lead();
  return lead ? `${lead.token} ${probability(lead.probability, 2)}` : msg`nothing yet`;
}

/** The newest call of the model: how many rows it computed, and how long it took (ms); null before the first.
 * @param {See} see @returns {{rows: number, ms: number} | null} */
export function call(see) {
  const stages = see.world.moved?.stages ?? [];
  return stages.findLast((/** @type {any} */ s) => s.ms !== null && s.rows > 0) ?? null;
}
