// @ts-check
/** What a map of reads says of each cell, and how much of a long one is in sight. */

import { cellText } from "./canvas.mjs";
import { h } from "./dom.mjs";
import * as read from "./reads.mjs";
import { figure, percent, shown } from "./words.mjs";

/** @typedef {import("./types").World} World @typedef {import("./canvas.mjs").CellState} CellState */

/** How many rows a map of growing rows reserves, so that it keeps its scale while stepping. Pure.
 * @param {number} rows @param {number} [least] */
export const reserve = (rows, least = 8) => [6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 129].find((n) => n >= Math.max(rows, least)) ?? rows;

/** Cells below these sizes are not drawn smaller: the map pans. */
const SMALLEST = 15;
const LARGEST = 46;

/** Which part of a map is in sight. `row` and `column` are the first seen; width and height are of the whole map. Pure.
 * @param {number} width seen @param {number} height @param {number} rows @param {number} columns @param {number} scrollLeft @param {number} scrollTop */
export function viewport(width, height, rows, columns, scrollLeft, scrollTop) {
  const narrow = width < 300;
  const left = narrow ? 78 : 122;
  const room = Math.max(SMALLEST, width - left - 2);
  const wide = Math.min(room / columns, LARGEST * 1.5);
  const top = wide < 30 ? 72 : 30;
  const cellWidth = Math.max(SMALLEST, wide);
  const cell = Math.max(SMALLEST, Math.min((height - top - 2) / rows, LARGEST));
  const fits = { rows: Math.max(1, Math.floor((height - top - 2) / cell + 1e-6)), columns: Math.max(1, Math.floor(room / cellWidth + 1e-6)) };
  const seen = { rows: Math.min(rows, fits.rows), columns: Math.min(columns, fits.columns) };
  return {
    left, top, cell, cellWidth, notes: !narrow, ...seen,
    row: Math.max(0, Math.min(rows - seen.rows, Math.round(scrollTop / cell))),
    column: Math.max(0, Math.min(columns - seen.columns, Math.round(scrollLeft / cellWidth))),
    width: rows && seen.columns < columns ? width + (columns - seen.columns) * cellWidth : 0, // scrolled to the end, the last is seen
    height: seen.rows < rows ? height + (rows - seen.rows) * cell : 0,
  };
}

/** Names of rows; with their number where a name repeats or not all are in sight. Pure.
 * @param {string[]} names of all @param {number} from first in sight @param {number} count in sight */
export function numbered(names, from, count) {
  const said = names.filter((name) => name !== "·");
  const plain = count >= names.length && new Set(said).size === said.length;
  return names.slice(from, from + count).map((name, i) => (plain || name === "·" ? name : `${from + i} ${name}`));
}

/** The state of each cell, by form: masked by the program or by you, padded, not computed yet, or a number.
 * A stroke that is being painted is shown as if it were done.
 * @param {any} info a relation @param {number} layer @param {read.Row[]} queries @param {read.Row[]} keys
 * @param {(row: number, key: number) => number} value @param {{cells: Map<string, any>, visible: boolean} | null} [stroke] @param {boolean} [ahead] show the mask of later rows too
 * @returns {(row: number, key: number) => CellState} */
export function cellState(info, layer, queries, keys, value, stroke = null, ahead = false) {
  const mask = read.visibility(info, layer);
  const [askers, asked] = [queries.map(read.known), keys.map(read.known)];
  return (row, key) => {
    if (keys[key]?.state === "padded" || queries[row]?.state === "padded") return "padded";
    const painted = stroke?.cells.has(`${row},${key}`);
    const open = painted ? stroke?.visible : mask.allows(row, key);
    const there = !!askers[row] && !!asked[key];
    if (!open && (there || ahead || painted)) return painted || mask.own(row, key) === false ? "user" : "model";
    return there && !Number.isNaN(value(row, key)) ? "ok" : "later";
  };
}

/** A number that fits a cell: ".85", ".998", "−1.50", "19.5", "2e12". A share that is not all is not called all. Pure.
 * @param {number} value */
export function cellFigure(value) {
  const size = Math.abs(value);
  if (size < 1 && size >= 0.995) return size < 0.9995 ? value.toFixed(3).replace("-", "−").replace("0.", ".") : value < 0 ? "−1.0" : size < 1 - 1e-6 ? ">.999" : "1.0";
  if (size < 9.995) return cellText(value);
  if (size < 1000) return value.toFixed(size < 99.95 ? 1 : 0).replace("-", "−");
  return value.toExponential(0).replace("e+", "e").replace("-", "−");
}

/** What a person does in edit mode. */
const HOW = "Click a cell, a row or a column; drag to paint; X toggles.";

/** The two fixed lines under the map: which cell, and what is there. Pure.
 * @param {World} world @param {{row: number, column: number} | null} hover @param {{weight: (r: number, k: number) => number, score: (r: number, k: number) => number}} number
 * @param {(row: number, key: number) => CellState} state @returns {[string, string]} */
export function readout(world, hover, number, state) {
  const at = read.relation(world);
  const focus = read.focus(world);
  if (!at) return ["", ""];
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const row = hover?.row ?? focus.row;
  const key = hover?.column ?? focus.key ?? read.reads(number.weight, row, keys.length)[0]?.key ?? -1;
  const editing = world.look.editing && world.role === "writer" && !hover;
  if (row < 0 || key < 0) return [editing ? HOW : "", "nothing is computed yet"];
  const said = (/** @type {read.Row[]} */ rows, /** @type {number} */ i) => (rows[i] ? shown(rows[i].token) : "not there yet");
  const owner = (/** @type {string} */ o) => (o === "s" ? "source" : "target");
  const first = `query: ${owner(at.info.query)} row ${row} ${said(queries, row)}  key: ${owner(at.info.key)} row ${key} ${said(keys, key)}`;
  return [editing ? HOW : first, `${hover ? "preview" : focus.locked ? "locked" : "newest"}  ${cellWords(state(row, key), number, row, key)}`];
}

/** @param {CellState} state @param {{weight: (r: number, k: number) => number, score: (r: number, k: number) => number}} number @param {number} row @param {number} key */
function cellWords(state, number, row, key) {
  const words = { later: "not computed yet", model: "masked by the program, weight 0", user: "masked by you, weight 0", padded: "padded, weight 0" };
  if (state !== "ok") return words[state];
  const [score, weight] = [number.score(row, key), number.weight(row, key)];
  return `${Number.isNaN(score) ? "" : `score ${figure(score, 2)} → `}weight ${figure(weight)} ◉`;
}

const WHOLE = 24; // rows and columns up to which the hidden table holds all

/** The map as a table for screen readers: all of it, or the current row of a large one.
 * @param {HTMLElement} element @param {World} world @param {{weight: (r: number, k: number) => number}} number */
export function fillTable(element, world, number) {
  const at = read.relation(world);
  if (!at) return;
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const state = cellState(at.info, at.layer, queries, keys, number.weight);
  const { row } = read.focus(world);
  const rows = queries.map((_, i) => i).filter((i) => queries.length <= WHOLE && keys.length <= WHOLE ? true : i === row);
  const cell = (/** @type {number} */ r, /** @type {number} */ k) => (state(r, k) === "ok" ? percent(number.weight(r, k)) : { later: "not computed", model: "masked", user: "masked by you", padded: "padded", ok: "" }[state(r, k)]);
  element.replaceChildren(h("table", null,
    h("caption", null, `${at.info.title}, layer ${at.layer + 1} head ${at.head + 1}: share of each read`),
    h("tr", null, h("td"), keys.map((k, i) => h("th", { scope: "col" }, `${i} ${shown(k.token)}`))),
    rows.map((r) => h("tr", null, h("th", { scope: "row" }, `${r} ${shown(queries[r].token)}`), keys.map((_, k) => h("td", null, cell(r, k)))))));
}
