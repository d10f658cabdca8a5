// @ts-check
/** The gold alignment of a sentence beside what a read does: which cells are gold, and in how many rows the largest weight lies on one. Pure but for `drawGold`. */

import { hide, set, text } from "../dom.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";

/** @typedef {import("../types").World} World */
/** Gold keys of each query row. @typedef {Map<number, Set<number>>} Gold */

/** Of the shown relation, where it reads a source: null where no gold alignment is known. In decode a row counts as long as what was
 * written before it is what the gold translation begins with; after that its gold word is no longer the next one.
 * @param {World} world @returns {Gold | null} */
export function gold(world) {
  const at = read.relation(world);
  if (!at || at.info.query !== "t" || at.info.key !== "s") return null;
  const request = read.request(world);
  const links = read.phase(world) === "train" ? world.moved?.train?.gold?.[request] : written(world, ofRequest(world));
  if (!links?.length) return null;
  const found = /** @type {Gold} */ (new Map());
  for (const [key, row] of links) {
    if (!found.has(row)) found.set(row, new Set());
    found.get(row)?.add(key);
  }
  return found;
}

/** What is known of the request that is looked at; hypotheses of a beam are all of one. @param {World} world */
export function ofRequest(world) {
  const all = world.opened?.gold ?? [];
  return all[Math.min(read.request(world), all.length - 1)] ?? null;
}

/** @param {World} world @param {any} gold of a request */
function written(world, gold) {
  if (!gold) return null;
  const rows = read.rows(world, "t").filter(read.known);
  const off = gold.target.findIndex((/** @type {string} */ word, /** @type {number} */ i) => i + 1 < rows.length && rows[i + 1].token !== word);
  const end = Math.min(rows.length, off < 0 ? Infinity : off + 1);
  return gold.links.filter((/** @type {number[]} */ [, row]) => row < end);
}

/** Whether a cell is gold, for a map. @param {Gold | null} of @returns {((row: number, key: number) => boolean) | undefined} */
export const goldCell = (of) => (of ? (row, key) => !!of.get(row)?.has(key) : undefined);

/** In how many of the rows that have a gold link the largest weight lies on one.
 * @param {Gold} of @param {(row: number, key: number) => number} weight @param {number} keys @returns {{agree: number, of: number}} */
export function agreement(of, weight, keys) {
  let [agree, rows] = [0, 0];
  for (const [row, linked] of of) {
    const top = read.reads(weight, row, keys)[0];
    if (!top) continue;
    rows += 1;
    if (linked.has(top.key)) agree += 1;
  }
  return { agree, of: rows };
}

/** The switch of the overlay, with how well the largest weights agree; it keeps its place where another read or step of this run has a gold alignment.
 * @param {any} line @param {World} world @param {import("../types").Context} context @param {(row: number, key: number) => number} weight */
export function drawGold(line, world, context, weight) {
  const found = gold(world);
  hide(line, !found && !world.opened?.gold?.some(Boolean));
  set(line, "data-later", found ? null : "true");
  if (!found) return;
  const [box, , said, short] = line.children;
  const { agree, of } = agreement(found, weight, read.rows(world, "s").length);
  set(box, "checked", world.look.gold);
  box.onchange = () => context.look({ gold: box.checked });
  text(said, of ? msg`gold alignment: ${agree} of ${of} agree` : msg`gold alignment`);
  text(short, of ? msg`gold: ${agree} of ${of}` : msg`gold`);
}
