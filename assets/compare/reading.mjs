// @ts-check
/** What one model of the comparison reads: ribbons from its keys to its newest row, and under them all reads so far. What is said of a key
 * stands below it in every row: the drawings share their columns. */

import { boxOf, cellMap, chip, css, fit, label, penOf, ribbon, roundRect } from "../lib/canvas.mjs";
import { clip, dashed, font } from "../lib/draw/pen.mjs";
import { probability, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/reads.mjs").Row} Row */

/** Room at the right for the names of rows, px; a column is not wider than this; the height of a line of the map at most. */
const [NAMES, WIDEST, LINE] = [62, 104, 22];
/** How high a box is: where the page is low, lower, so that what is read between two lines of them has room. @param {number} height of the canvas */
const highOf = (height) => (height < 130 ? 24 : 28);
/** Lines of the map: the newest rows, and one that is to come. */
const LINES = 6;
/** How high a line of the map is: where the page is low, lower. @param {number} height of the canvas */
const lineOf = (height) => Math.min(LINE, Math.floor((height - 2) / LINES));

/** How wide the column of a key is: as many rows as keys have room from the start, so that columns stay as they are while rows come.
 * @param {number} width of the canvas @param {number} keys @param {number} rows @returns {number} */
export const column = (width, keys, rows) => Math.min(WIDEST, (width - NAMES) / Math.max(1, keys), width / (1 + Math.max(1, keys, rows)));

const short = (/** @type {number} */ x) => probability(x, 2).replace(/^(>?)0\./, "$1.");
const none = (/** @type {number} */ w) => !(w > 0.004);

/** Rows on two lines with what the newest one reads. @param {HTMLCanvasElement} canvas
 * @param {{keys: Row[], rows: Row[], row: number, weight: (row: number, key: number) => number, words: string, chosen: string, chance: number, largest: number, vector: string}} o
 *   words: what is said where nothing is read; chance: of the token that is chosen; vector: what all goes through instead, or "" */
export function drawReads(canvas, o) {
  const [g, width, height] = fit(canvas);
  const step = column(width, o.keys.length, o.rows.length), box = step - 5, high = highOf(height), low = height - high - 18;
  const x = (/** @type {number} */ i) => i * step + 1, middle = (/** @type {number} */ i) => x(i) + box / 2;
  const geo = { x, middle, step, box, top: 2 + high, low, width };
  const size = step < 56 ? 11 : 13;
  const form = (/** @type {Row} */ r) => /** @type {"unknown" | "known"} */ (r.state === "unknown" ? "unknown" : "known");
  if (!o.vector && !o.words) ribbons(g, o, geo);
  o.keys.forEach((key, j) => chip(g, x(j), 2, box, high, shown(key.token), { role: "k", state: form(key), on: j === o.largest, size }));
  o.rows.forEach((row, i) => chip(g, x(i), low, box, high, shown(row.token), { role: "q", state: form(row), on: i === o.row, size }));
  if (o.chosen) chip(g, x(o.rows.length), low, box, high, shown(o.chosen), { role: "d", state: "next", size });
  if (o.chosen) label(g, probability(o.chance, 2), middle(o.rows.length), low + high + 10, { mono: true, size: 11, weight: 680, align: "center", color: "--d" });
  font(g, 480, 11, true);
  o.rows.forEach((_, i) => {
    const next = o.rows[i + 1]?.token ?? o.chosen;
    if (next && step >= 56) label(g, clip(g, `→ ${shown(next)}`, step - 4), middle(i), low + high + 10, { mono: true, size: 11, weight: i === o.row ? 680 : 480, align: "center", color: i === o.row ? "--d" : "--ink-3" });
  });
  if (o.vector) return through(g, o, geo);
  if (!o.words) return shares(g, o, geo);
  font(g, 480, 12);
  label(g, clip(g, o.words, width - 8), 2, (geo.top + low) / 2, { size: 12, color: "--ink-3" });
}

/** @typedef {{x: (i: number) => number, middle: (i: number) => number, step: number, box: number, top: number, low: number, width: number}} Geo */

/** Earlier rows: what each read most, in grey; then all that the newest reads.
 * @param {CanvasRenderingContext2D} g @param {{keys: Row[], row: number, weight: (row: number, key: number) => number}} o @param {Geo} geo */
function ribbons(g, { keys, row, weight }, { middle, box, top, low }) {
  const wide = Math.min(46, box);
  for (let i = 0; i < row; i++) {
    const most = keys.reduce((best, _, j) => (weight(i, j) > weight(i, best) ? j : best), 0), w = weight(i, most);
    if (!none(w)) ribbon(g, middle(most), top, middle(i), low, Math.max(0.8, w * wide * 0.4), css("--line-2"));
  }
  g.globalAlpha = 0.9;
  keys.forEach((_, j) => none(weight(row, j)) || ribbon(g, middle(j), top, middle(row), low, Math.max(1, weight(row, j) * wide), css("--v-fill")));
  g.globalAlpha = 1;
}

/** The weights in numbers: the largest on its ribbon, others where theirs begin.
 * @param {CanvasRenderingContext2D} g @param {{keys: Row[], row: number, weight: (row: number, key: number) => number, largest: number}} o @param {Geo} geo */
function shares(g, { keys, row, weight, largest }, { middle, box, top, low }) {
  keys.forEach((_, j) => {
    const w = weight(row, j), on = j === largest;
    if (w < 0.03 || !Number.isFinite(w)) return;
    const inside = on && w * Math.min(46, box) > 22 && low - top > 34;
    const [x, y] = inside ? [(middle(j) + middle(row)) / 2, (top + low) / 2] : [middle(j), top + 11];
    font(g, on ? 700 : 520, inside ? 12.5 : 11, true);
    [g.textAlign, g.textBaseline, g.lineWidth, g.strokeStyle] = ["center", "middle", 4, css(inside ? "--v-fill" : "--surface")];
    g.strokeText(short(w), x, y);
    label(g, short(w), x, y, { mono: true, size: inside ? 12.5 : 11, weight: on ? 700 : 520, align: "center", color: inside ? "--ink" : "--v" });
  });
}

/** Where no row is read: the last source row, one vector, and the row that gets it.
 * @param {CanvasRenderingContext2D} g @param {{vector: string, words: string, keys: Row[], row: number}} o @param {Geo} geo */
function through(g, { vector, words, keys, row }, { middle, top, low, width }) {
  font(g, 600, 12);
  const wide = g.measureText(vector).width + 24, from = middle(keys.length - 1), at = middle(row);
  const x = Math.max(2, Math.min(width - wide - 2, from - wide / 2)), y = (top + low) / 2 - 14, center = y + 14;
  font(g, 480, 11.5);
  if (low - top > 50) label(g, clip(g, words, (y < top + 18 ? Math.min(x, from) : from) - 10), 2, top + 11, { size: 11.5, color: "--ink-3" });
  [g.strokeStyle, g.lineWidth] = [css("--ink-3"), 1.5];
  g.beginPath();
  g.moveTo(from, top);
  g.lineTo(from, y);
  g.stroke();
  [g.strokeStyle, g.lineWidth, g.lineJoin] = [css("--v-fill"), 22, "round"];
  g.beginPath();
  g.moveTo(at < x + wide / 2 ? x + 4 : x + wide - 4, center);
  g.quadraticCurveTo(at, center, at, low);
  g.stroke();
  [g.strokeStyle, g.lineWidth, g.fillStyle] = [css("--ink"), 2, css("--surface")];
  roundRect(g, x, y, wide, 28, 5);
  g.fill();
  g.stroke();
  label(g, vector, x + wide / 2, center + 0.5, { size: 12, weight: 600, align: "center", color: "--ink" });
}

/** All reads so far, a line a row, and the line of the row to come; where nothing is read each line says what the row has instead.
 * @param {HTMLCanvasElement} canvas @param {{keys: Row[], rows: Row[], row: number, weight: (row: number, key: number) => number, allowed: (row: number, key: number) => boolean, instead: string}} o */
export function drawMap(canvas, { keys, rows, row, weight, allowed, instead }) {
  const [room, high] = boxOf(canvas), line = lineOf(high), wide = column(room, keys.length, rows.length), first = Math.max(0, rows.length - LINES + 1), newest = rows.slice(first);
  const top = (/** @type {number} */ i) => 2 + i * line, end = Math.max(1, keys.length) * wide;
  cellMap(canvas, {
    rows: newest.length + 1, columns: instead ? 0 : keys.length, value: (r, c) => weight(first + r, c), scale: { max: 1 }, left: 1, top: 2, gap: 3, cellWidth: wide, cellHeight: line,
    values: wide >= 28, format: (x) => x.toFixed(2).replace(/^0/, ""), selected: null, hover: null, state: (r, c) => stateOf(r < newest.length, weight(first + r, c), allowed(first + r, c)),
  });
  const g = penOf(canvas);
  if (instead) bar(g, end, top(newest.length), line, "", false);
  newest.forEach((r, i) => {
    const on = first + i === row;
    if (instead) bar(g, end, top(i), line, row < 0 ? "" : instead, on);
    font(g, on ? 700 : 520, 11.5, true);
    label(g, clip(g, shown(r.token), NAMES - 8), end + 6, top(i) + line / 2, { mono: true, size: 11.5, weight: on ? 700 : 520, color: on ? "--q" : "--ink-2" });
    if (!on) return;
    [g.strokeStyle, g.lineWidth] = [css("--ink"), 1.8];
    roundRect(g, 1, top(i) + 0.5, end, line - 1, 4);
    g.stroke();
  });
}

/** A weight, a cell that the mask blocks, or one that is not read yet. @param {boolean} shown the row is there @param {number} weight @param {boolean} allowed @returns {import("../lib/canvas.mjs").CellState} */
const stateOf = (shown, weight, allowed) => (!allowed && !(weight > 0) ? "model" : shown && Number.isFinite(weight) ? "ok" : "later");

/** @param {CanvasRenderingContext2D} g @param {number} width @param {number} y @param {number} line @param {string} said "": to come @param {boolean} on */
function bar(g, width, y, line, said, on) {
  if (!said) return dashed(g, 2, y + 2, width - 3, line - 4, 3);
  g.fillStyle = css("--sunk");
  roundRect(g, 2, y + 2, width - 3, line - 4, 3);
  g.fill();
  font(g, on ? 620 : 480, 11.5);
  label(g, clip(g, said, width - 12), width / 2, y + line / 2, { size: 11.5, weight: on ? 620 : 480, align: "center", color: on ? "--ink" : "--ink-2" });
}
