// @ts-check
/** Places that a person sets where the model would draw one (`scenario.draws`). Pure. */

import * as read from "../reads.mjs";

/** @typedef {import("../types").World} World @typedef {{request: number, row: number, place: number}} Draw */

/** The draws that are set. @param {World} world @returns {Draw[]} */
const draws = (world) => world.opened?.scenario.draws ?? [];

/** The place that was set for a row of the request that is looked at. @param {World} world @param {number} row @returns {number | null} */
export const placeSet = (world, row) => draws(world).find((d) => d.request === read.request(world) && d.row === row)?.place ?? null;

/** The draws with this row's place set, or free again where it is set to that place already.
 * @param {World} world @param {number} row @param {number} place @returns {Draw[]} */
export function withPlace(world, row, place) {
  const request = read.request(world);
  const others = draws(world).filter((d) => d.request !== request || d.row !== row);
  return placeSet(world, row) === place ? others : [...others, { request, row, place }];
}
