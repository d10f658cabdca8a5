// @ts-check
/** RoPE's pairs: how far each turns a query row and a key row, how fast, and whether it gets round within the trained rows. Pure. */

import * as read from "../reads.mjs";

/** @typedef {import("../types").World} World */
/** @typedef {{pair: number, rate: number, wave: number, query: number, key: number, round: boolean}} Dial rate: radians a row; wave: rows a turn;
 * query, key: angles of the two rows, radians; round: it turns once or more within the trained rows */

/** The paths of the shown read's rates and angles, or null where nothing turns. @param {World} world */
export function turning(world) {
  const at = read.relation(world);
  const base = at ? read.scope(at.info, at.layer) : "";
  const found = (world.schema?.taps ?? []).some((/** @type {any} */ t) => t.path === `${base}.rates`);
  return found ? { rates: `${base}.rates`, angles: `${base}.angles` } : null;
}

/** @param {number[]} rates of each pair @param {number} row of the query @param {number} key its row @param {number} trained rows @returns {Dial[]} */
export const dials = (rates, row, key, trained) => rates.map((rate, pair) => ({ pair, rate, wave: (2 * Math.PI) / rate, query: row * rate, key: key * rate, round: rate * trained >= 2 * Math.PI }));

/** At most so many of them, the first and the last among them. @template T @param {T[]} all @param {number} most @returns {T[]} */
export const spread = (all, most) => (all.length <= most ? all : Array.from({ length: most }, (_, i) => all[Math.round((i * (all.length - 1)) / (most - 1))]));

/** The rates of one request as numbers. @param {import("../types").Known | undefined} known @param {number} request @returns {number[]} */
export function ratesOf(known, request) {
  if (!known) return [];
  const b = Math.min(request, known.shape[0] - 1);
  return Array.from({ length: known.shape[1] }, (_, i) => known.at(b, i)).filter(Number.isFinite);
}

/** A number of rows in few characters: 6.3, 199, 63k. @param {number} rows */
export const short = (rows) => (rows < 10 ? rows.toFixed(1) : rows < 10000 ? String(Math.round(rows)) : rows < 1e7 ? `${Math.round(rows / 1000)}k` : `${Math.round(rows / 1e6)}M`);
