// @ts-check
/** What a bench that came out of a run has in common with it, measured, and what the bench leaves out, said. Pure. */

import { msg } from "../lib/language.mjs";
import { figure } from "../lib/words.mjs";

/** @typedef {import("./read.mjs").Bench} Bench @typedef {import("./read.mjs").Read} Read */

/** A run computes in 32 bits, and seven digits of its numbers stand in a link. */
const ROUNDING = 2e-5;

/** The largest difference, of numbers above 1 as a part of them. @param {number[]} ours @param {number[]} its */
const largest = (ours, its) => Math.max(0, ...ours.map((x, i) => Math.abs(x - its[i]) / Math.max(1, Math.abs(its[i]))));

/** Beside what the run recorded: the weights, and what was read. @param {Bench} b @param {Read} r @returns {{name: string, off: number, same: boolean}[]} */
export function repeated(b, r) {
  const { weights, output } = b.from ?? {};
  const found = [];
  if (weights) found.push({ name: msg`the run’s weights`, off: largest(r.weights, weights) });
  if (output) found.push({ name: msg`the run’s output`, off: largest(r.z, output) });
  return found.map((c) => ({ ...c, same: c.off <= ROUNDING }));
}

/** Where the numbers come from, and what of it is not here. @param {Bench} b @param {Read} r @returns {string} */
export function came(b, r) {
  const { weights, of, unknown, gathered, wide } = b.from ?? {};
  if (!weights) {
    const whole = [msg`Rows of a tensor, read as a memory; the first row asks.`];
    if (of) whole.push(msg`The first ${b.names.length} of its ${of[0]} rows stand here, ${b.g.length} of ${of[1]} numbers of each.`);
    if (unknown) whole.push(msg`${unknown} numbers that the run did not compute stand as 0.`);
    return whole.join(" ");
  }
  const [w, z] = repeated(b, r), whole = [msg`A read of a run.`];
  if (b.mode === "supplied") whole.push(msg`Its scores are given as they were; how they came about is left out.`);
  if (gathered) whole.push(msg`${gathered} keys with little weight have no row of their own: the last rows stand for them.`);
  if (wide) whole.push(msg`Of each value the first ${b.g.length} of ${wide} numbers stand here.`);
  if (!w.same) whole.push(msg`Left out: what the run did to its weights beside the softmax, up to ${figure(w.off, 2)}.`);
  else if (z && !z.same) whole.push(msg`Left out: what the run did after the sum, or to its values.`);
  return whole.join(" ");
}
