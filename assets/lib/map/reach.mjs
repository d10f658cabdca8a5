// @ts-check
/** What a mask pattern costs and what it lets through: cells beside those of the full form, and which rows can affect one row after each
 * layer of reads, by the masks alone (models/parts/reach.py). Pure. */

import * as read from "../reads.mjs";
import { border, bound, CAUSAL, compile, count } from "./visibility.mjs";

/** @typedef {import("../types").World} World @typedef {import("./visibility.mjs").Mask} Mask */
/** @typedef {{open: number, full: number, causal: boolean, bound: number | null}} Edges */

const PATTERNS = new Set(["sliding", "causal_sliding", "block", "causal_block"]);

/** The read that is looked at, where rows read rows of their own kind through a pattern that leaves some out. @param {World} world */
export function patterned(world) {
  const at = read.relation(world);
  return at && at.info.query === at.info.key && at.info.masks.some((/** @type {Mask} */ m) => PATTERNS.has(m.program) || (m.every ?? 1) > 1) ? at : null;
}

/** Cells by mask, for the rows that they were counted for. @type {WeakMap<any, {of: string, edges: Edges}>} */
const counts = new WeakMap();

/** Cells of one layer's mask, of the full form, and what bounds those of a window. @param {Mask} mask @param {any[]} rows @returns {Edges} */
export function edges(mask, rows) {
  const of = rows.map((r) => (read.known(r) ? 1 : 0)).join("");
  const seen = counts.get(mask);
  if (seen?.of === of) return seen.edges;
  const n = rows.filter(read.known).length;
  const causal = CAUSAL.has(mask.program);
  const found = {
    open: count(mask, n, rows.length, (k) => read.known(rows[k]), border(rows)), full: causal ? (n * (n + 1)) / 2 : n * n, causal,
    bound: mask.program === "sliding" ? bound(mask, n) : null,
  };
  counts.set(mask, { of, edges: found });
  return found;
}

/** Rows from which something can have come into a row after the last layer, the last two, ...: the top layer reads last.
 * @param {Mask[]} masks lowest layer first @param {number} row @param {any[]} rows @returns {Set<number>[]} */
export function reached(masks, row, rows) {
  const valid = rows.flatMap((r, i) => (read.known(r) ? [i] : []));
  let seen = new Set([row]);
  return [...masks].reverse().map((mask) => {
    const { allows } = compile(mask, border(rows));
    const next = new Set(seen); // a row keeps what it has
    for (const query of seen) for (const key of valid) if (!next.has(key) && allows(query, key)) next.add(key);
    return (seen = next);
  });
}

/** How many layers of windows alone lead from a row to another one; null where the mask is no window. @param {Mask} mask @param {number} distance */
export function layersByWindow(mask, distance) {
  const step = /sliding$/.test(mask.program) ? mask.parameter * (mask.every ?? 1) : 0;
  return step ? Math.ceil(distance / step) : null;
}
