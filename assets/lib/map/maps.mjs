// @ts-check
/** What a map of reads says of each cell, in forms and in words. Pure but for the hidden table. */

import { cellText } from "../canvas.mjs";
import { h } from "../dom.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { edits } from "./masks.mjs";
import { outside } from "../read/windows.mjs";
import { figure, percent, rowWords, shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../canvas.mjs").CellState} CellState */
/** came: whether a number came for a cell, so that one which is none is told from one that is not known. Left out: none did.
 * @typedef {{weight: (r: number, k: number) => number, score: (r: number, k: number) => number, came?: (r: number, k: number) => boolean}} Numbers */

const STEPS = [6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 129, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 513];

/** How many rows a map of growing rows reserves, so that it keeps its scale while stepping. Pure.
 * @param {number} rows @param {number} [least] */
export const reserve = (rows, least = 6) => STEPS.find((n) => n >= Math.max(rows, least)) ?? rows;

/** How many rows and columns a map has places for: what grows reserves some.
 * @param {World} world @param {any} info @returns {[number, number]} */
export function extent(world, info) {
  const [queries, keys] = [read.rows(world, info.query).length, read.rows(world, info.key).length];
  const grows = (/** @type {string} */ owner) => owner === "t" && read.phase(world) === "decode";
  return [grows(info.query) ? reserve(queries + 1) : Math.max(1, queries), grows(info.key) ? reserve(keys + 1) : Math.max(1, keys)];
}

/** @param {string[]} names */
const noneTwice = (names) => new Set(names).size === names.length;

/** Names of rows; with their number where a name repeats or not all are in sight. Pure.
 * @param {string[]} names of all @param {number} from first in sight @param {number} count in sight */
export function numbered(names, from, count) {
  const plain = count >= names.length && noneTwice(names.filter((name) => name !== "·" && name !== "<pad>"));
  return names.slice(from, from + count).map((name, i) => (name === "<pad>" ? "pad" : plain || name === "·" ? name : rowWords(from + i, name)));
}

/** The state of each cell, by form: masked by the program or by you, padded, not computed yet, or a number.
 * A stroke that is being painted is shown as if it were done.
 * @param {any} info a relation @param {number} layer @param {read.Row[]} queries @param {read.Row[]} keys
 * @param {(row: number, key: number) => number} value @param {{cells: Map<string, any>, visible: boolean | null} | null} [stroke] @param {boolean} [ahead] show the mask of later rows too
 * @param {Numbers["came"]} [came] @param {(row: number, key: number) => boolean} [out] of a window of the architecture's own
 * @returns {(row: number, key: number) => CellState} */
export function cellState(info, layer, queries, keys, value, stroke = null, ahead = false, came = undefined, out = () => false) {
  const mask = read.visibility(info, layer, keys);
  const there = (/** @type {read.Row[]} */ list) => Uint8Array.from(list, (r) => (r.state === "padded" ? 2 : read.known(r) ? 1 : 0));
  const [asks, asked] = [there(queries), there(keys)];
  return (row, key) => {
    const [query, of] = [asks[row], asked[key]];
    if (of === 2) return "padded";
    if (query === 2) return mask.allows(row, key) && !Number.isNaN(value(row, key)) ? "unused" : "padded";
    const both = query === 1 && of === 1;
    const painted = stroke?.cells.has(`${row},${key}`);
    const open = painted ? (stroke?.visible ?? mask.program(row, key)) : mask.allows(row, key);
    if (!open && (both || ahead || painted)) {
      if (painted ? stroke?.visible === false : mask.own(row, key) === false) return "user";
      return mask.future(row, key) ? "model" : "off";
    }
    if (!both) return "later";
    if (out(row, key)) return "off";
    const v = value(row, key);
    return v === v || came?.(row, key) ? "ok" : "later";
  };
}

/** Whether a number came for a cell of one head. What the op cursor has not reached has not come.
 * @param {World} world @param {import("../types").Known | undefined} found weights @param {{info: any, layer: number, head: number}} at @returns {Numbers["came"]} */
export function arrived(world, found, { info, layer, head }) {
  if (!found?.has || read.before(world, read.scope(info, layer))) return undefined;
  const b = Math.min(read.request(world), found.shape[0] - 1);
  const lead = found.axes.length === 3 ? [b] : [b, Math.min(head, found.shape[1] - 1)];
  return (row, key) => !!found.has?.(...lead, row, key);
}

/** Which cells have a number that was set by an edit that is on: of the weights or the scores of this read.
 * @param {World} world @returns {((row: number, key: number) => boolean) | null} null where there is none */
export function edited(world) {
  const at = read.relation(world);
  if (!at) return null;
  const { weights, scores } = read.tapsOf(world, at.info, at.layer);
  const here = (/** @type {(number | null | undefined)[]} */ [b, head]) => (b ?? read.request(world)) === read.request(world) && (head ?? at.head) === at.head;
  const edits = (world.opened?.scenario?.edits ?? []).filter((/** @type {any} */ e) => e.enabled && (e.path === weights || e.path === scores) && here(e.index));
  if (!edits.length) return null;
  return (row, key) => edits.some((/** @type {any} */ e) => (e.index[2] ?? row) === row && (e.index[3] ?? key) === key);
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

/** Maps with more rows have a narrow read-out. */
const WORDY = 40;

/** What stands under the map: the query, the key, what to do or what happened, how the cell was come by, and what is there.
 * @typedef {{query: string, key: string, tokens: string[], note: string, status: string, figures: string}} Said tokens: the words that query and key end with */

/** The two fixed lines under the map: which cell, and what is there. Pure.
 * @param {World} world @param {{row: number, column: number} | null} hover @param {Numbers} number
 * @param {(row: number, key: number) => CellState} state @param {((row: number, key: number) => boolean) | null} [marked] @returns {Said} */
export function readout(world, hover, number, state, marked = null) {
  const nothing = { query: "", key: "", tokens: [], note: "", status: "", figures: "" };
  const at = read.relation(world);
  const focus = read.focus(world);
  if (!at) return nothing;
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const row = hover?.row ?? focus.row;
  const key = hover?.column ?? focus.key ?? read.reads(number.weight, row, keys.length)[0]?.key ?? (number.came?.(row, 0) ? 0 : -1);
  const note = edits(world) && !hover ? msg`Drag paints, right erases; a name hides its line.` : "";
  if (row < 0 || key < 0) return { ...nothing, note, figures: msg`nothing is computed yet` };
  const here = focus.locked && row === focus.row && key === focus.key;
  const status = here ? msg`locked` : hover ? msg`preview` : msg`newest`;
  const more = state(row, key) === "ok" && marked?.(row, key) ? msg`, edited` : "";
  const figures = cellWords(state(row, key), number, row, key) + more;
  if (note) return { ...nothing, note, status, figures };
  const said = (/** @type {read.Row[]} */ rows, /** @type {number} */ i) => (rows[i] ? shown(rows[i].token) : msg`not there yet`);
  const plain = Math.max(queries.length, keys.length) > WORDY;
  const name = (/** @type {string} */ owner, /** @type {number} */ i, /** @type {string} */ word) => (owner === "r" ? word : plain ? msg`row ${rowWords(i, word)}` : owner === "s" ? msg`source row ${rowWords(i, word)}` : msg`target row ${rowWords(i, word)}`);
  const tokens = [said(queries, row), said(keys, key)];
  return { query: msg`query: ${name(at.info.query, row, tokens[0])}`, key: msg`key: ${name(at.info.key, key, tokens[1])}`, tokens, note, status, figures };
}

/** What a state means. @returns {Record<CellState, string>} */
const stateWords = () => ({
  ok: msg`open`, unused: msg`padding row`, later: msg`not computed yet`, model: msg`masked by program`, off: msg`outside the pattern`, user: msg`masked by you`, padded: msg`padding`,
});

/** @param {CellState} state @param {Numbers} number @param {number} row @param {number} key */
function cellWords(state, number, row, key) {
  const [score, weight] = [number.score(row, key), number.weight(row, key)];
  if (state === "unused") return msg`padding row: weight ${figure(weight)} ◉, thrown away`;
  if (state === "later") return stateWords().later;
  if (state !== "ok") return msg`${stateWords()[state]}, weight 0`;
  return Number.isNaN(score) ? msg`weight ${figure(weight)} ◉` : msg`score ${figure(score, 2)} → weight ${figure(weight)} ◉`;
}

const WHOLE = 24; // rows and columns up to which the hidden table holds all

/** The map as a table for screen readers: all of it, or the current row of a large one.
 * @param {HTMLElement} element @param {World} world @param {Numbers} number */
export function fillTable(element, world, number) {
  const at = read.relation(world);
  if (!at) return;
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const state = cellState(at.info, at.layer, queries, keys, number.weight, null, false, number.came, outside(world, at.info, at.layer, number.weight));
  const { row } = read.focus(world);
  const rows = queries.map((_, i) => i).filter((i) => (queries.length <= WHOLE && keys.length <= WHOLE ? true : i === row));
  const words = stateWords();
  const cell = (/** @type {number} */ r, /** @type {number} */ k) => (state(r, k) === "ok" ? percent(number.weight(r, k)) : words[state(r, k)]);
  element.replaceChildren(h("table", null,
    h("caption", null, msg`${at.info.title}, layer ${at.layer + 1} head ${at.head + 1}: share of each read`),
    h("tr", null, h("td"), keys.map((k, i) => h("th", { scope: "col" }, `${i} ${shown(k.token)}`))),
    rows.map((r) => h("tr", null, h("th", { scope: "row" }, `${r} ${shown(queries[r].token)}`), keys.map((_, k) => h("td", null, cell(r, k)))))));
}

/** Every cell of the map: who reads whom, how much, and what the mask says. @param {World} world @param {Numbers} number @returns {import("../types").Table} */
export function mapTable(world, number) {
  const columns = [msg`query row`, msg`query`, msg`key row`, msg`key`, msg`weight`, msg`score`, msg`mask`];
  const at = read.relation(world);
  if (!at) return { columns, rows: [] };
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const state = cellState(at.info, at.layer, queries, keys, number.weight, null, true, number.came, outside(world, at.info, at.layer, number.weight));
  const words = stateWords();
  const finite = (/** @type {number} */ v) => (Number.isNaN(v) ? null : v);
  return { columns, rows: queries.flatMap((q, r) => keys.map((k, c) => [r, q.token, c, k.token, finite(number.weight(r, c)), finite(number.score(r, c)), words[state(r, c)]])) };
}
