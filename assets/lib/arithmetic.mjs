// @ts-check
/** One read as arithmetic: score, mask, exp, weight; then weights times values. From recorded numbers. */

import * as read from "./reads.mjs";
import { shown } from "./words.mjs";

/** @typedef {import("./types").World} World */
/** @typedef {{key: number, token: string, state: "open" | "model" | "user" | "padded", score: number, exp: number, weight: number, on: boolean}} Line */

/** The lines of one query row: those with the largest weights and the chosen one, in the order of the keys; what the others have together.
 * exp is of (score - the largest open score), as softmax computes it. Pure.
 * @param {World} world @param {(row: number, key: number) => number} score @param {(row: number, key: number) => number} weight
 * @param {number} [most] lines */
export function arithmetic(world, score, weight, most = 7) {
  const at = read.relation(world);
  const { row, key: chosen } = read.focus(world);
  if (!at || row < 0) return null;
  const all = lines(world, at, row, score, weight);
  const open = all.filter((l) => l.state === "open");
  if (open.every((l) => Number.isNaN(l.weight))) return null;
  const top = Math.max(...open.map((l) => l.score));
  for (const l of open) l.exp = Math.exp(l.score - top);
  const key = chosen ?? open.reduce((best, l) => (l.weight > best.weight ? l : best), open[0])?.key ?? -1;
  for (const l of all) l.on = l.key === key;
  const worth = all.filter((l) => all.length <= most || l.on || l.state === "open" || l.state === "user");
  const kept = new Set(worth.sort((a, b) => Number(b.on) - Number(a.on) || b.weight - a.weight).slice(0, most));
  const others = all.filter((l) => !kept.has(l));
  const sum = (/** @type {Line[]} */ list, /** @type {"exp" | "weight"} */ what) => list.reduce((a, l) => a + l[what], 0);
  return {
    row, key, top, lines: all.filter((l) => kept.has(l)),
    others: { count: others.length, exp: sum(others, "exp"), weight: sum(others, "weight") },
    sum: { exp: sum(open, "exp"), weight: sum(open, "weight") },
  };
}

/** @param {World} world @param {{info: any, layer: number}} at @param {number} row @param {(row: number, key: number) => number} score
 * @param {(row: number, key: number) => number} weight @returns {Line[]} */
function lines(world, at, row, score, weight) {
  const mask = read.visibility(at.info, at.layer);
  return read.rows(world, at.info.key).flatMap((key, i) => {
    if (key.state === "unknown") return [];
    const state = key.state === "padded" ? "padded" : mask.allows(row, i) ? "open" : mask.own(row, i) === false ? "user" : "model";
    return [{ key: i, token: shown(key.token), state, score: score(row, i), exp: 0, weight: state === "open" ? weight(row, i) : 0, on: false }];
  });
}

/** Smallest, largest and mean of numbers; what is not a number or not finite is counted apart. Pure.
 * @param {Iterable<number>} values */
export function statistics(values) {
  let [count, sum, min, max, bad] = [0, 0, Infinity, -Infinity, 0];
  for (const v of values) {
    if (!Number.isFinite(v)) bad++;
    else {
      count++;
      sum += v;
      if (v < min) min = v;
      if (v > max) max = v;
    }
  }
  return { count, min: count ? min : NaN, max: count ? max : NaN, mean: count ? sum / count : NaN, bad };
}

/** A recorded tap as a matrix: request and head picked, what is left as rows and columns. A single axis is one row. Pure.
 * @param {import("./types").Known} known @param {number} request @param {number} head */
export function matrix(known, request, head) {
  const picked = known.axes.map((a, i) => (a === "b" ? Math.min(request, known.shape[i] - 1) : a === "h" || a === "g" ? Math.min(head, known.shape[i] - 1) : -1));
  const free = picked.flatMap((p, i) => (p < 0 ? [i] : []));
  const columns = free.at(-1);
  const rows = free.length > 1 ? free[free.length - 2] : undefined;
  const size = (/** @type {number | undefined} */ axis) => (axis === undefined ? 1 : known.shape[axis]);
  return {
    rows: size(rows), columns: size(columns), rowAxis: rows === undefined ? "" : known.axes[rows], columnAxis: columns === undefined ? "" : known.axes[columns],
    /** @param {number} r @param {number} c */
    at(r, c) {
      const index = picked.map((p) => Math.max(0, p));
      if (rows !== undefined) index[rows] = r;
      if (columns !== undefined) index[columns] = c;
      return known.at(...index);
    },
  };
}
