// @ts-check
/** The loss by row beyond the trained rows, under each scaling of RoPE: a small chart and its sentence. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";
import { figure } from "../words.mjs";

/** @typedef {{trained: number, rows: number, factor: number, curves: Record<string, [number, number][]>}} Found */

/** @returns {Record<string, string>} */
const titles = () => ({ none: msg`no scaling`, linear: msg`linear`, ntk: msg`NTK-aware`, dynamic_ntk: msg`dynamic NTK`, yarn: "YaRN" });

/** The last point of a curve. @param {[number, number][]} curve */
const end = (curve) => curve[curve.length - 1]?.[1] ?? NaN;

/** Which scaling loses least in the last rows, and what the shown one does. Pure. @param {Found} found @param {string} scaling @returns {string} */
export function beyond(found, scaling) {
  const [best] = Object.entries(found.curves).sort((a, b) => end(a[1]) - end(b[1]));
  if (!best?.[1].length) return msg`No row of these examples can be known.`;
  const own = found.curves[scaling] ?? [];
  return msg`In the last of ${found.rows} rows (${found.trained} trained, factor ${found.factor}) the loss is ${figure(end(own), 2)} as set here; least with ${titles()[best[0]]}: ${figure(end(best[1]), 2)} ◉`;
}

/** Where names at the right end stand so that none lies on another. Pure. @param {number[]} wanted from the top @param {number} apart @returns {number[]} */
export function apart(wanted, apart) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const placed = [...wanted];
  order.forEach((index, i) => {
    if (i) placed[index] = Math.max(wanted[index], placed[order[i - 1]] + apart);
  });
  return placed;
}

/** @param {any} canvas @param {Found} found @param {string} scaling the one that is set: its line is thick */
export function curves(canvas, found, scaling) {
  const [g, width, height] = draw.fit(canvas);
  const [left, right, top, bottom] = [26, 104, 8, 16];
  const all = Object.entries(found.curves).filter(([, c]) => c.length);
  const most = Math.max(1e-6, ...all.flatMap(([, c]) => c.map((p) => p[1])));
  const x = (/** @type {number} */ row) => left + ((width - left - right) * row) / found.rows;
  const y = (/** @type {number} */ loss) => top + (height - top - bottom) * (1 - loss / most);
  g.fillStyle = draw.css("--sunk");
  g.fillRect(x(0), top, x(found.trained) - x(0), height - top - bottom);
  draw.label(g, figure(most, 1), left - 4, top, { size: 10, mono: true, color: "--ink-3", align: "right" });
  draw.label(g, "0", left - 4, height - bottom, { size: 10, mono: true, color: "--ink-3", align: "right" });
  for (const row of [0, found.trained, found.rows]) draw.label(g, String(row), x(row), height - 5, { size: 10, mono: true, color: "--ink-3", align: "center" });
  const names = apart(all.map(([, c]) => y(end(c))), 12);
  all.forEach(([name, curve], i) => {
    const own = name === scaling;
    g.strokeStyle = draw.css(own ? "--ink" : "--p-fill");
    g.lineWidth = own ? 2.2 : 1.1;
    g.setLineDash(DASHES[name] ?? []);
    g.beginPath();
    curve.forEach(([row, loss], n) => (n ? g.lineTo(x(row), y(loss)) : g.moveTo(x(row), y(loss))));
    g.stroke();
    g.beginPath();
    g.moveTo(width - right + 4, names[i] - 3);
    g.lineTo(width - right + 20, names[i] - 3);
    g.stroke();
    g.setLineDash([]);
    draw.label(g, titles()[name] ?? name, width - right + 24, names[i], { size: 10.5, weight: own ? 640 : 450, color: own ? "--ink" : "--ink-2" });
  });
}

/** Lines are told apart by their form. @type {Record<string, number[]>} */
const DASHES = { none: [], linear: [6, 3], ntk: [2, 2], dynamic_ntk: [7, 2, 2, 2], yarn: [1, 3] };
