// @ts-check
/** What the inspector shows, taken to the read bench: a link that holds the numbers of the read, or of any tensor as a memory. */

import { h, set, text } from "../dom.mjs";
import { counted, msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { outside } from "../read/windows.mjs";
import { shown } from "../words.mjs";
import { entering, product, vectorAt } from "./arithmetic.mjs";
import { LARGEST, MOST, pack } from "./bench.mjs";

/** @typedef {import("../types").World} World @typedef {import("../../bench/read.mjs").Bench} Bench */

/** A number as the bench holds it: what a 32-bit float means. @param {number} x */
const rounded = (x) => Number(x.toPrecision(7));

/** The link's element; a replay, which has no server beside it, has none. @returns {HTMLElement} */
export const benchLink = () => h("a", { class: "link small bench-link", target: "_blank", rel: "opener", title: opens() }, msg`Bench`);
const opens = () => msg`Open these numbers on the read bench, to change them by hand`;

/** The numbers are gathered when it is followed: stepping costs nothing. @param {any} link @param {boolean} there @param {() => Bench | null} made
 * @param {(why: string) => void} [say] where the bench cannot hold them: it never opens on other numbers instead */
export function leadsTo(link, there, made, say = () => {}) {
  set(link, "hidden", document.documentElement.hasAttribute("data-recording"));
  set(link, "data-away", there ? null : "true");
  link.href = "bench";
  text(link, msg`Bench`);
  set(link, "title", opens());
  link.onclick = (/** @type {Event} */ event) => {
    const bench = made();
    const why = bench ? "" : msg`The bench cannot take this: a number of it is not known or larger than 1,000,000, or every key is hidden.`;
    text(link, why ? msg`not on the bench` : msg`Bench`);
    set(link, "title", why || opens());
    if (bench) link.href = `bench${pack(bench)}`;
    else {
      event.preventDefault();
      say(why);
    }
  };
}

/** @typedef {{name: string, score: number, weight: number, value: number[], key: number[], hidden: boolean}} Row of a read */

/** The read that is shown, or null where one of its numbers is not known. What the run recorded of it goes along, so that the bench can say
 * whether it reads the same. Pure.
 * @param {World} world @param {string} view whose values are the weights, scores, values, output, query and keys @returns {Bench | null} */
export function readAsBench(world, view) {
  const at = read.relation(world);
  const { row } = read.focus(world);
  if (!at || row < 0) return null;
  const enters = entering(world, at.info, at.layer), additive = enters === "additive";
  const [output, q] = [3, 4].map((n) => vector(world, view, at.head, n, row));
  const known = rowsOf(world, view, at, row, additive), rows = known.length > MOST.rows ? gathered(known, additive) : known;
  const summed = rows.filter((r) => !additive || !r.hidden), wide = rows[0]?.value.length ?? 0;
  if (rows.every((r) => r.hidden) || !rows.every((r) => good(r.value) && r.value.length === wide) || !good(summed.map((r) => r.score))) return null;
  const lost = known.filter((r) => !rows.includes(r) && !(r.hidden && additive)).length;
  const root = lost || q.length > MOST.width || ![q, ...rows.map((r) => r.key)].every(good) ? undefined : rootOf(q, summed);
  const cut = (/** @type {number[]} */ l) => l.slice(0, MOST.width), g = cut(rows[0].value).map((_, c) => Number(c === 0));
  const from = {
    weights: rows.map((r) => rounded(r.weight)), ...(good(output) && output.length === wide ? { output: cut(output) } : {}),
    ...(lost ? { gathered: lost } : {}), ...(wide > MOST.width ? { wide } : {}),
  };
  return {
    kind: "kv", mode: root === undefined ? "supplied" : root === null ? "dot" : "scaled_dot", names: rows.map((r) => r.name),
    q: root === undefined ? [0] : q, K: rows.map((r) => (root === undefined ? [0] : r.key)), V: rows.map((r) => cut(r.value)),
    typed: rows.map((r) => (Number.isFinite(r.score) ? r.score : 0)), hidden: rows.map((r) => r.hidden), ...(additive ? {} : { enters }), g, from,
  };
}

/** Numbers that the bench takes. @param {number[]} l */
const good = (l) => l.length > 0 && l.every((x) => Math.abs(x) <= LARGEST);

/** @param {World} world @param {string} view @param {number} head @param {number} n which of its values @param {number} row */
const vector = (world, view, head, n, row) => vectorAt(world.values(view, n)[0], read.request(world), head, row).map(rounded);

/** What every score is divided by, if all are products of query and key: the width, whose root it is, or null; undefined: they are more than that.
 * @param {number[]} q @param {Row[]} rows @returns {number | null | undefined} */
function rootOf(q, rows) {
  const roots = rows.map((r) => product(q, r.key, r.score)?.root);
  return roots.every((root) => root === roots[0]) ? roots[0] : undefined;
}

/** The keys that had a part in a read, or were masked. Where masked ones are in the sum, later keys had none in that of an earlier row.
 * @param {World} world @param {string} view @param {any} at @param {number} row @param {boolean} additive @returns {Row[]} */
function rowsOf(world, view, { info, layer, head }, row, additive) {
  const all = read.rows(world, info.key), weights = read.readCells(world, view, 0), scores = read.readCells(world, view, 1);
  const mask = read.visibility(info, layer, all), out = outside(world, info, layer, weights);
  return all.flatMap((r, j) => (r.state === "unknown" || (!additive && !Number.isFinite(scores(row, j))) ? [] : [{
    name: shown(r.token).slice(0, 60), score: rounded(scores(row, j)), weight: weights(row, j) || 0, value: vector(world, view, head, 2, j), key: vector(world, view, head, 5, j),
    hidden: r.state === "padded" || !mask.allows(row, j) || out(row, j),
  }]));
}

/** So many rows as the bench holds: those with the least weight are one, which adds the same to the sum and to what is read. Masked ones, which
 * count in a sum before the mask alone, are one of their own.
 * @param {Row[]} rows @param {boolean} drop masked rows, as they are in no sum @returns {Row[]} */
function gathered(rows, drop) {
  const open = rows.filter((r) => !r.hidden), hidden = rows.filter((r) => r.hidden && !drop);
  const kept = new Set([...open].sort((a, b) => b.weight - a.weight).slice(0, MOST.rows - 2));
  return [...rows.filter((r) => kept.has(r)), ...[open.filter((r) => !kept.has(r)), hidden].filter((l) => l.length).map(asOne)];
}

/** Rows as one: its exp is the sum of theirs, its value their mean by exp. @param {Row[]} rows @returns {Row} */
function asOne(rows) {
  const top = Math.max(...rows.map((r) => r.score)), exps = rows.map((r) => Math.exp(r.score - top)), sum = exps.reduce((a, x) => a + x, 0);
  return {
    name: counted(rows.length, "{0} other key", "{0} other keys"), score: rounded(top + Math.log(sum)), weight: rows.reduce((a, r) => a + r.weight, 0), hidden: rows[0].hidden, key: [],
    value: rows[0].value.map((_, c) => rounded(rows.reduce((a, r, j) => a + (exps[j] / sum) * r.value[c], 0))),
  };
}

/** A matrix of any tensor as a memory H whose first row asks: as much of it as the bench holds. Pure.
 * @param {{rows: number, columns: number, at: (row: number, column: number) => number}} matrix @returns {Bench | null} null where no number of it is known, or one
 * is larger than the bench takes */
export function matrixAsBench({ rows, columns, at }) {
  const tall = Math.min(rows, MOST.rows), wide = Math.min(columns, MOST.width);
  const found = Array.from({ length: tall }, (_, j) => Array.from({ length: wide }, (_, c) => rounded(at(j, c))));
  const unknown = found.flat().filter(Number.isNaN).length, H = found.map((line) => line.map((x) => x || 0));
  if (unknown === tall * wide || !H.flat().every((x) => Math.abs(x) <= LARGEST)) return null;
  const from = { ...(tall < rows || wide < columns ? { of: /** @type {[number, number]} */ ([rows, columns]) } : {}), ...(unknown ? { unknown } : {}) };
  return { kind: "h", mode: "scaled_dot", names: H.map((_, j) => msg`row ${j}`), q: H[0], K: H, V: H, typed: H.map(() => 0), hidden: H.map(() => false), g: H[0].map((_, c) => Number(c === 0)), from };
}
