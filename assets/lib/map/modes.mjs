// @ts-check
/** How the map stands: heads beside one map, an overview beside a lens, or two requests side by side. */

import * as read from "../reads.mjs";

/** @typedef {import("../types").World} World */
/** plain: heads beside one map; large: an overview beside a lens; pair: two requests side by side. @typedef {"plain" | "large" | "pair"} Mode */
/** What was large in a training, and in which. @typedef {{of: string, large: boolean}} Kept */

/** Rows or keys from which on a map is large. */
const LARGE = 48;

/** Whether the maps of this run are too large to be read whole, or may become so while it decodes: then they are shown so from its first step.
 * In training the next batch may be shorter: what was large stays so while the same model learns, so that nothing moves.
 * @param {World} world @param {Kept} kept @returns {boolean} */
export function isLarge(world, kept) {
  const { architecture = "", task = "" } = world.opened?.scenario ?? {};
  const of = read.phase(world) === "train" ? `${architecture} ${task}` : "";
  if (kept.of !== of) Object.assign(kept, { of, large: false });
  const now = longest(world) > LARGE;
  if (of) kept.large ||= now;
  return of ? kept.large : now;
}

/** The longer side of the map that is shown. @param {World} world */
function longest(world) {
  const at = read.relation(world);
  return at ? Math.max(most(world, at.info.query), most(world, at.info.key)) : 0;
}

/** How many rows of an owner there may come to be. @param {World} world @param {"s" | "t"} owner */
function most(world, owner) {
  const rows = read.rows(world, owner).length;
  if (owner !== "t" || read.phase(world) !== "decode") return rows;
  const prompt = Math.max(0, ...world.opened.scenario.requests.map((/** @type {any} */ r) => r.target.length));
  return Math.max(rows, 1 + prompt + world.opened.scenario.policy.limit);
}

/** Two requests that stand side by side in prefill: the one that is looked at and its neighbour. @param {World} world @returns {[number, number] | null} */
export function pair(world) {
  const count = read.requestCount(world);
  if (read.phase(world) !== "prefill" || count < 2 || longest(world) > LARGE) return null;
  const first = Math.min(read.request(world) & ~1, count - 2);
  return [first, first + 1];
}
