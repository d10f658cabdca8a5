// @ts-check
/** A window that an architecture draws by itself inside what the mask leaves (its tap `window`): around a place, or the newest rows alone. Pure. */

import { scope, tapsOf } from "../reads.mjs";

/** @typedef {import("../types").World} World */

/** Whether this read has such a window. @param {World} world @param {any} info a relation @param {number} layer */
export const windowed = (world, info, layer) => !!world.schema?.taps?.some((/** @type {any} */ t) => t.type === "mask" && t.path === `${scope(info, layer)}.window`);

/** Which cells lie outside of it: there a weight is exactly 0, whatever the score. Where weights are set by hand a 0 may be one of these, so that
 * nothing is said. @param {World} world @param {any} info a relation @param {number} layer @param {(row: number, key: number) => number} weight
 * @returns {(row: number, key: number) => boolean} */
export function outside(world, info, layer, weight) {
  const { weights } = windowed(world, info, layer) ? tapsOf(world, info, layer) : { weights: "" };
  const edited = (world.opened?.scenario?.edits ?? []).some((/** @type {any} */ e) => e.enabled && e.path === weights);
  return weights && !edited ? (row, key) => weight(row, key) === 0 : () => false;
}
