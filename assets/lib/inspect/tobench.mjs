// @ts-check
/** What the inspector shows, taken to the read bench: a link that holds the numbers of the read, or of any tensor as a memory. */

import { h, set } from "../dom.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { outside } from "../read/windows.mjs";
import { shown } from "../words.mjs";
import { product, vectorAt } from "./arithmetic.mjs";
import { MOST, pack } from "./bench.mjs";

/** @typedef {import("../types").World} World @typedef {import("../../bench/read.mjs").Bench} Bench */

/** A number as the bench holds it: what a 32-bit float means. @param {number} x */
const rounded = (x) => Number(x.toPrecision(7));

/** The link's element; a replay, which has no server beside it, has none. @returns {HTMLElement} */
export const benchLink = () => h("a", { class: "link small bench-link", target: "_blank", rel: "opener", title: msg`Open these numbers on the read bench, to change them by hand` }, msg`Bench`);

/** The numbers are gathered when it is followed: stepping costs nothing. @param {any} link @param {boolean} there @param {() => Bench | null} made */
export function leadsTo(link, there, made) {
  set(link, "hidden", document.documentElement.hasAttribute("data-recording"));
  set(link, "data-away", there ? null : "true");
  link.href = "bench";
  link.onclick = () => {
    const bench = made();
    link.href = bench ? `bench${pack(bench)}` : "bench";
  };
}

/** The read that is shown, or null where one of its numbers is not known or it is too large for the bench. Pure.
 * @param {World} world @param {string} view whose values are the scores, weights, values, output, query and keys @returns {Bench | null} */
export function readAsBench(world, view) {
  const at = read.relation(world);
  if (!at) return null;
  const { row } = read.focus(world), rows = read.rows(world, at.info.key).filter((r) => r.state !== "unknown"), request = read.request(world);
  if (row < 0 || !rows.length || rows.length > MOST.rows) return null;
  const scores = read.readCells(world, view, 1), out = outside(world, at.info, at.layer, read.readCells(world, view)), mask = read.visibility(at.info, at.layer, rows);
  const of = (/** @type {number} */ n, /** @type {number} */ r) => vectorAt(world.values(view, n)[0], request, at.head, r).map(rounded);
  const V = rows.map((_, j) => of(2, j)), q = of(4, row), K = rows.map((_, j) => of(5, j));
  const typed = rows.map((_, j) => rounded(scores(row, j)));
  const hidden = rows.map((r, j) => r.state === "padded" || !mask.allows(row, j) || out(row, j));
  const good = (/** @type {number[]} */ l) => l.length > 0 && l.length <= MOST.width && l.every(Number.isFinite);
  if (!V.every((v) => good(v) && v.length === V[0].length) || hidden.every(Boolean)) return null;
  const open = hidden.indexOf(false), known = good(q) && K.every((k) => good(k) && k.length === q.length);
  const made = known ? product(q, K[open], typed[open]) : null;
  if (!made && !typed.every((s, j) => hidden[j] || Number.isFinite(s))) return null;
  const names = rows.map((r) => shown(r.token).slice(0, 60)), g = V[0].map((_, c) => Number(c === 0));
  const scored = typed.map((s) => (Number.isFinite(s) ? s : 0));
  if (!made) return { kind: "kv", mode: "supplied", names, q: [0], K: rows.map(() => [0]), V, typed: scored, hidden, g };
  return { kind: "kv", mode: made.root === null ? "dot" : "scaled_dot", names, q, K, V, typed: scored, hidden, g };
}

/** A matrix of any tensor as a memory H whose first row asks. Pure. @param {{rows: number, columns: number, at: (row: number, column: number) => number}} matrix @returns {Bench | null} */
export function matrixAsBench({ rows, columns, at }) {
  if (rows < 1 || columns < 1 || rows > MOST.rows || columns > MOST.width) return null;
  const H = Array.from({ length: rows }, (_, j) => Array.from({ length: columns }, (_, c) => rounded(at(j, c))));
  if (!H.flat().every(Number.isFinite)) return null;
  return { kind: "h", mode: "scaled_dot", names: H.map((_, j) => msg`row ${j}`), q: H[0], K: H, V: H, typed: H.map(() => 0), hidden: H.map(() => false), g: H[0].map((_, c) => Number(c === 0)) };
}
