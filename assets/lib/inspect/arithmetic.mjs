// @ts-check
/** One read as arithmetic: score, mask, exp, weight; then weights times values. From recorded numbers. */

import * as read from "../reads.mjs";
import { outside } from "../read/windows.mjs";
import { shown } from "../words.mjs";

/** @typedef {import("../types").World} World */
/** @typedef {{key: number, token: string, state: "open" | "model" | "user" | "padded", score: number, exp: number, weight: number, on: boolean}} Line */

/** Where the mask enters: hidden keys have their share of the softmax where it is multiplied with what that gives; and what is left may be
 * divided by its sum. Pure. @param {World} world @param {any} info @param {number} layer @returns {"additive" | "multiply" | "renormalise"} */
export function entering(world, info, layer) {
  const has = (/** @type {string} */ name) => world.schema?.taps?.some((/** @type {any} */ t) => t.path === `${read.scope(info, layer)}.${name}`);
  return !has("spread") ? "additive" : has("coefficients") ? "renormalise" : "multiply";
}

/** The lines of one query row: those with the largest weights and the chosen one, in the order of the keys; what the others have together.
 * exp is of (score - the largest score of the sum), as softmax computes it: of open keys, or of all where the mask is multiplied after it. Pure.
 * @param {World} world @param {(row: number, key: number) => number} score @param {(row: number, key: number) => number} weight
 * @param {number} [most] lines */
export function arithmetic(world, score, weight, most = 7) {
  const at = read.relation(world);
  const { row, key: chosen } = read.focus(world);
  if (!at || row < 0) return null;
  const all = lines(world, at, row, score, weight);
  const open = all.filter((l) => l.state === "open");
  if (open.every((l) => Number.isNaN(l.weight))) return null;
  const after = entering(world, at.info, at.layer) !== "additive";
  const summed = after ? all.filter((l) => Number.isFinite(l.score)) : open;
  const top = Math.max(...summed.map((l) => l.score));
  for (const l of summed) l.exp = Math.exp(l.score - top);
  const key = chosen ?? open.reduce((best, l) => (l.weight > best.weight ? l : best), open[0])?.key ?? -1;
  for (const l of all) l.on = l.key === key;
  const worth = all.filter((l) => all.length <= most || l.on || l.state === "open" || l.state === "user");
  const kept = new Set(worth.sort((a, b) => Number(b.on) - Number(a.on) || b.weight - a.weight).slice(0, most));
  const others = all.filter((l) => !kept.has(l));
  const sum = (/** @type {Line[]} */ list, /** @type {"exp" | "weight"} */ what) => list.reduce((a, l) => a + l[what], 0);
  return {
    row, key, top, after, lines: all.filter((l) => kept.has(l)),
    others: { count: others.length, exp: sum(others, "exp"), weight: sum(others, "weight") },
    sum: { exp: sum(summed, "exp"), weight: sum(open, "weight") },
  };
}

/** @param {World} world @param {{info: any, layer: number}} at @param {number} row @param {(row: number, key: number) => number} score
 * @param {(row: number, key: number) => number} weight @returns {Line[]} */
function lines(world, at, row, score, weight) {
  const [mask, out] = [read.visibility(at.info, at.layer, read.rows(world, at.info.key)), outside(world, at.info, at.layer, weight)];
  return read.rows(world, at.info.key).flatMap((key, i) => {
    if (key.state === "unknown") return [];
    const state = key.state === "padded" ? "padded" : mask.own(row, i) === false ? "user" : mask.allows(row, i) && !out(row, i) ? "open" : "model";
    return [{ key: i, token: shown(key.token), state, score: score(row, i), exp: 0, weight: state === "open" ? weight(row, i) : 0, on: false }];
  });
}

/** One row of a tensor that is owned by rows: request and, where there is one, head picked; NaN where it is not known. Pure.
 * @param {import("../types").Known | undefined} known "b h row width" or "b row width" @param {number} request @param {number} head @param {number} row */
export function vectorAt(known, request, head, row) {
  if (!known) return [];
  const last = (/** @type {number} */ at, /** @type {number} */ axis) => Math.min(at, known.shape[axis] - 1);
  const lead = known.shape.length === 3 ? [last(request, 0)] : [last(request, 0), last(head, 1)];
  return Array.from({ length: known.shape[lead.length + 1] }, (_, i) => known.at(...lead, row, i));
}

/** How a score comes about, if it is a product of query and key and nothing else: the terms, their sum, and what it is divided by. Pure.
 * @param {number[]} query @param {number[]} key @param {number} score as it was recorded
 * @returns {{terms: number[], dot: number, divisor: number, root: number | null} | null} root: the divisor is the root of this width */
export function product(query, key, score) {
  if (!query.length || query.length !== key.length || !Number.isFinite(score)) return null;
  const terms = query.map((q, i) => q * key[i]);
  const dot = terms.reduce((sum, t) => sum + t, 0);
  const divisor = [Math.sqrt(query.length), 1].find((d) => Math.abs(dot / d - score) <= 1e-4 * Math.max(1, Math.abs(score)));
  return divisor === undefined ? null : { terms, dot, divisor, root: divisor === 1 ? null : query.length };
}

/** Weights times values, added up again from the recorded numbers: the largest difference from what was recorded, and the one number that
 * the sum is multiplied by where the output is no plain sum. Pure.
 * @param {(key: number) => number} weight @param {(key: number) => number[]} value @param {number[]} output @param {number} keys @param {number} [rounding] a larger difference is none of rounding
 * @returns {{off: number, factor: number}} off: NaN where something is not known */
export function mixtureError(weight, value, output, keys, rounding = 1e-3) {
  const sum = output.map(() => 0);
  for (let key = 0; key < keys; key++) {
    const w = weight(key);
    if (w === 0) continue;
    value(key).forEach((v, i) => (sum[i] += w * v));
  }
  const error = (/** @type {number} */ factor) => sum.reduce((worst, v, i) => Math.max(worst, Math.abs(factor * v - output[i])), 0);
  const [plain, square] = [error(1), sum.reduce((all, v) => all + v * v, 0)];
  const factor = sum.reduce((all, v, i) => all + v * output[i], 0) / square;
  return plain > rounding && square > 0 && error(factor) <= rounding ? { off: error(factor), factor } : { off: plain, factor: 1 };
}
