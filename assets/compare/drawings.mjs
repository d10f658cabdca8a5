// @ts-check
/** What stands in the rows of the comparison beside what is read (reading.mjs): bars of reach, a line by step, bars by layer. */

import { css, fit, label } from "../lib/canvas.mjs";
import { clip, font } from "../lib/draw/pen.mjs";
import { figure, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/reads.mjs").Row} Row */

/** A bar for each input row: how much the choice moves with it. @param {HTMLCanvasElement} canvas @param {Row[]} rows @param {number[]} norms @param {string} role @param {(width: number) => number} column how wide one is */
export function drawReach(canvas, rows, norms, role, column) {
  const [g, width, height] = fit(canvas);
  const count = Math.max(1, norms.length), step = Math.min(column(width), width / count), most = Math.max(1e-12, ...norms), base = height - 17;
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

/** Up to so many steps each has a dot, else the newest alone. */
const MARKED = 8;

/** One line by step, with dots. ends: what stands below the first and the last, with room for it.
 * @param {HTMLCanvasElement} canvas @param {{own: number[], others: number[][], low: number, high: number, role: string, format?: (x: number) => string, ends?: string[]}} o */
export function drawLine(canvas, { own, others, low, high, role, format = (x) => figure(x, 2), ends }) {
  const [g, width, height] = fit(canvas);
  const left = ends ? 18 : 34, top = 6, bottom = ends ? 20 : 8, right = 8, count = Math.max(2, own.length, ...others.map((l) => l.length));
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
  g.fillStyle = css(`--${role}`);
  (own.length > MARKED ? own.slice(-1) : own).forEach((v, i, some) => {
    g.beginPath();
    g.arc(X(own.length - some.length + i), Y(v), 3.2, 0, 7);
    g.fill();
  });
  font(g, 500, 10.5, true);
  const half = (X(count - 1) - left) / 2;
  ends?.forEach((name, i) => label(g, clip(g, name, half), i ? X(own.length - 1) + 3 : left - 3, height - 6, { mono: true, size: 10.5, align: i ? "right" : "left", color: "--ink-3" }));
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
  if (names.length > 1) label(g, names.at(-1) ?? "", left + step * own.length, height - 7, { size: 10.5, align: "right", color: "--ink-2" });
}
