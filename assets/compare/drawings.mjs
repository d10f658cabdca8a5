// @ts-check
/** What stands in the rows of the comparison: ribbons, the map so far, bars of reach, a line by step. */

import { cellMap, chip, css, fit, label, ribbon, roundRect } from "../lib/canvas.mjs";
import { clip, font } from "../lib/draw/pen.mjs";
import { figure, probability, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/reads.mjs").Row} Row */

const short = (/** @type {number} */ x) => probability(x, 2).replace(/^(>?)0\./, "$1.");

/** Rows on two lines with what the newest one reads. @param {HTMLCanvasElement} canvas
 * @param {{keys: Row[], rows: Row[], row: number, weight: (row: number, key: number) => number, words: string, own: boolean, chosen: string, largest: number, vector: string}} o
 *   words: what is said where nothing is read; own: the keys are earlier rows of the same text; vector: what all goes through instead, or "" */
export function drawReads(canvas, o) {
  const [g, width, height] = fit(canvas);
  const count = Math.max(o.keys.length, o.rows.length + 1), step = Math.min(104, width / Math.max(1, count)), box = step - 5, high = 28;
  const x = (/** @type {number} */ i) => i * step, low = height - high - 16;
  o.keys.forEach((key, j) => chip(g, x(j), 4, box, high, shown(key.token), { role: "k", state: key.state === "unknown" ? "unknown" : "known", on: j === o.largest, size: step < 56 ? 11 : 13 }));
  o.rows.forEach((row, i) => chip(g, x(i), low, box, high, shown(row.token), { role: "q", state: row.state === "unknown" ? "unknown" : "known", on: i === o.row, size: step < 56 ? 11 : 13 }));
  if (o.chosen) chip(g, x(o.rows.length), low, box, high, shown(o.chosen), { role: "d", state: "next", size: step < 56 ? 11 : 13 });
  font(g, 480, 11, true);
  o.rows.forEach((_, i) => {
    const next = o.rows[i + 1]?.token ?? o.chosen;
    if (next && step >= 56) label(g, clip(g, `→ ${shown(next)}`, step - 4), x(i) + box / 2, low + high + 8, { mono: true, size: 11, weight: i === o.row ? 680 : 480, align: "center", color: i === o.row ? "--d" : "--ink-3" });
  });
  if (o.vector) return through(g, o, { left: x(o.keys.length - 1) + box / 2, at: x(o.row) + box / 2, top: 4 + high, low, width });
  if (o.words) {
    font(g, 480, 12);
    return label(g, clip(g, o.words, width - 8), 2, (high + low) / 2 + 2, { size: 12, color: "--ink-3" });
  }
  for (let i = 0; i < o.row; i++) {
    const main = o.keys.reduce((/** @type {number} */ best, _, j) => (o.weight(i, j) > o.weight(i, best) ? j : best), 0);
    const w = o.weight(i, main);
    if (w > 0) ribbon(g, x(main) + box / 2, 4 + high, x(i) + box / 2, low, w * Math.min(16, box / 2), css("--line-2"));
  }
  const at = x(o.row) + box / 2;
  for (let i = 0; i < o.row; i++) { // earlier rows: what each read most
    const most = o.keys.reduce((best, _, j) => (o.weight(i, j) > o.weight(i, best) ? j : best), 0), w = o.weight(i, most);
    if (w > 0.004) ribbon(g, x(most) + box / 2, 4 + high, x(i) + box / 2, low, Math.max(0.8, w * Math.min(24, box / 2)), css("--line"));
  }
  o.keys.forEach((_, j) => {
    const w = o.weight(o.row, j);
    if (!(w > 0.004)) return;
    ribbon(g, x(j) + box / 2, 4 + high, at, low, Math.max(0.8, w * Math.min(46, box)), css("--v-fill"));
  });
  o.keys.forEach((_, j) => {
    const w = o.weight(o.row, j);
    if (w < 0.05) return;
    font(g, j === o.largest ? 700 : 520, 11, true);
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.lineWidth = 4;
    g.strokeStyle = css(j === o.largest ? "--v-fill" : "--surface");
    g.strokeText(short(w), x(j) + box / 2, high + 14);
    label(g, short(w), x(j) + box / 2, high + 14, { mono: true, size: 11, weight: j === o.largest ? 700 : 520, align: "center", color: j === o.largest ? "--ink" : "--v" });
  });
}

/** Where no row is read: the last source row, one vector, and the row that gets it.
 * @param {CanvasRenderingContext2D} g @param {{vector: string}} o @param {{left: number, at: number, top: number, low: number, width: number}} geo */
function through(g, { vector }, { left, at, top, low, width }) {
  font(g, 600, 12);
  const wide = g.measureText(vector).width + 20, x = Math.max(2, Math.min(width - wide - 2, left - wide / 2)), y = (top + low) / 2 - 12, middle = y + 12;
  [g.strokeStyle, g.lineWidth] = [css("--ink-3"), 1.5];
  g.beginPath();
  g.moveTo(x + wide / 2, top);
  g.lineTo(x + wide / 2, y);
  g.stroke();
  const from = at < x + wide / 2 ? x : x + wide;
  [g.strokeStyle, g.lineWidth, g.lineJoin] = [css("--v-fill"), 14, "round"];
  g.beginPath();
  g.moveTo(from, middle);
  g.quadraticCurveTo(at, middle, at, low);
  g.stroke();
  [g.strokeStyle, g.lineWidth, g.fillStyle] = [css("--ink"), 2, css("--surface")];
  roundRect(g, x, y, wide, 24, 5);
  g.fill();
  g.stroke();
  label(g, vector, x + wide / 2, middle + 0.5, { size: 12, weight: 600, align: "center", color: "--ink" });
}

/** All reads so far, a line a row. @param {HTMLCanvasElement} canvas @param {{keys: Row[], rows: Row[], row: number, weight: (row: number, key: number) => number}} o */
export function drawMap(canvas, { keys, rows, row, weight }) {
  const first = Math.max(0, rows.length - 6), shownRows = rows.slice(first), left = 70;
  const wide = Math.min(64, Math.max(4, (canvas.clientWidth - left) / Math.max(1, keys.length)));
  cellMap(canvas, {
    rows: shownRows.length, columns: keys.length, value: (r, c) => weight(first + r, c), scale: { max: 1 }, left, top: 2, gap: 2, cellWidth: wide, cellHeight: 21,
    values: wide >= 28, format: (x) => x.toFixed(2).replace(/^0/, ""), selected: null, hover: null, rail: row - first, rowLabels: shownRows.map((r) => shown(r.token)), roles: ["q", "k"],
    state: (r, c) => (Number.isFinite(weight(first + r, c)) ? "ok" : "later"),
  });
}

/** A bar for each input row: how much the choice moves with it. @param {HTMLCanvasElement} canvas @param {Row[]} rows @param {number[]} norms @param {string} role */
export function drawReach(canvas, rows, norms, role) {
  const [g, width, height] = fit(canvas);
  const count = Math.max(1, norms.length), step = Math.min(104, width / count), most = Math.max(1e-12, ...norms), base = height - 17;
  g.strokeStyle = css("--line-2");
  g.beginPath();
  g.moveTo(0, base);
  g.lineTo(step * count, base);
  g.stroke();
  norms.forEach((value, i) => {
    const size = (value / most) * (base - 16), wide = Math.min(34, step - 8), x = i * step + (step - wide) / 2;
    g.fillStyle = css("--g-fill");
    g.fillRect(x, base - Math.max(1, size), wide, Math.max(1, size));
    if (step >= 34) label(g, figure(value, 2), x + wide / 2, base - size - 8, { mono: true, size: 10.5, align: "center", color: "--g" });
    font(g, 520, 11, true);
    if (step >= 22) label(g, clip(g, shown(rows[i]?.token ?? ""), step - 3), x + wide / 2, height - 8, { mono: true, size: 11, align: "center", color: `--${role}` });
  });
}

/** One line by step, with a dot at the newest. @param {HTMLCanvasElement} canvas @param {{own: number[], others: number[][], low: number, high: number, role: string, format?: (x: number) => string}} o */
export function drawLine(canvas, { own, others, low, high, role, format = (x) => figure(x, 2) }) {
  const [g, width, height] = fit(canvas);
  const left = 34, top = 6, bottom = 8, right = 8, count = Math.max(2, own.length, ...others.map((l) => l.length));
  const X = (/** @type {number} */ i) => left + (i / (count - 1)) * (width - left - right), Y = (/** @type {number} */ v) => top + (1 - (v - low) / Math.max(1e-12, high - low)) * (height - top - bottom);
  g.strokeStyle = css("--line");
  for (const v of [low, high]) {
    g.beginPath();
    g.moveTo(left, Y(v));
    g.lineTo(width - right, Y(v));
    g.stroke();
    label(g, format(v), left - 5, Y(v), { mono: true, size: 10.5, align: "right", color: "--ink-3" });
  }
  const line = (/** @type {number[]} */ values, /** @type {string} */ color, /** @type {number} */ thick) => {
    g.strokeStyle = css(color);
    g.lineWidth = thick;
    g.beginPath();
    values.forEach((v, i) => (i ? g.lineTo(X(i), Y(v)) : g.moveTo(X(i), Y(v))));
    g.stroke();
  };
  for (const other of others) line(other, "--line-2", 1);
  line(own, `--${role}`, 2);
  if (!own.length) return;
  g.fillStyle = css(`--${role}`);
  g.beginPath();
  g.arc(X(own.length - 1), Y(own[own.length - 1]), 3.2, 0, 7);
  g.fill();
}

/** A bar for each layer, by powers of ten: one scale for all columns. @param {HTMLCanvasElement} canvas @param {{own: number[], names: string[], low: number, high: number}} o */
export function drawDepth(canvas, { own, names, low, high }) {
  const [g, width, height] = fit(canvas);
  if (!own.some(Number.isFinite) || !Number.isFinite(low)) return;
  const [bottom, most] = [Math.floor(Math.log10(low) - 0.01), Math.max(Math.ceil(Math.log10(high)), Math.floor(Math.log10(low)) + 1)];
  const left = 40, top = 8, base = height - 18, step = Math.min(44, (width - left) / own.length);
  const Y = (/** @type {number} */ power) => base - ((power - bottom) / (most - bottom)) * (base - top);
  for (const power of [bottom, most]) {
    g.fillStyle = css("--line");
    g.fillRect(left, Math.round(Y(power)), width - left, 1);
    label(g, power === 0 ? "1" : `1e${power}`, left - 5, Y(power), { mono: true, size: 10.5, align: "right", color: "--ink-3" });
  }
  own.forEach((v, i) => {
    const x = left + i * step, y = v > 0 ? Y(Math.log10(v)) : base;
    g.fillStyle = css("--g-fill");
    g.fillRect(x + step * 0.12, Math.min(y, base - 1), step * 0.76, Math.max(1, base - y));
  });
  label(g, names[0] ?? "", left, height - 7, { size: 10.5, color: "--ink-2" });
  label(g, names.at(-1) ?? "", left + step * own.length, height - 7, { size: 10.5, align: "right", color: "--ink-2" });
}
