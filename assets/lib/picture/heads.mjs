// @ts-check
/** What a head that labels every frame says, as views got it. */

import * as read from "../reads.mjs";
import { logSoftmax } from "./ctc.mjs";

/** @typedef {import("../types").World} World */

/** What a view watches to have it. @param {World} world @returns {import("../types").Selector} */
export const headSelector = (world) => ({ path: "logits", index: { b: read.request(world) }, dtype: "f32" });

/** The labels' names; the first is blank. @param {World} world @returns {string[]} */
export const labelNames = (world) => world.opened?.vocabulary.target ?? [];

/** log p of each label at each real frame; none before it is computed. @param {World} world @param {string} view @param {number} selector @returns {number[][]} */
export function logsOf(world, view, selector) {
  const found = world.values(view, selector)[0];
  if (!found || read.before(world, "logits")) return [];
  const [count, cells] = [labelNames(world).length, read.cells(found, read.request(world), 0)];
  const rows = read.rows(world, "s").map((row, t) => (read.known(row) ? Array.from({ length: count }, (_, v) => cells(t, v)) : null));
  return rows.flatMap((row) => (row && row.every(Number.isFinite) ? [logSoftmax(row)] : []));
}
