// @ts-check
/** The papers' leading terms over n, and where full attention's crosses each of the others. Formulas alone: nothing counted or measured stands here. */

import * as draw from "../canvas.mjs";
import { count } from "./costs.mjs";
import { apart } from "./beyond.mjs";

/** @typedef {{name: string, at: (n: number) => number, crosses: number | null}} Term crosses: the n from which self-attention's is larger */

/** @param {{d: number, k: number, r: number, crossovers: Record<string, number>}} terms @returns {Term[]} Pure. */
export function curves({ d, k, r, crossovers }) {
  return [
    { name: "n²·d", at: (n) => n * n * d, crosses: null },
    { name: "n·d²", at: (n) => n * d * d, crosses: crossovers.recurrent },
    { name: "k·n·d²", at: (n) => k * n * d * d, crosses: crossovers.convolutional },
    { name: "r·n·d", at: (n) => Math.min(r, n) * n * d, crosses: crossovers.restricted },
  ];
}

/** To where n is told: beyond every crossing and this run. Pure. @param {{n: number}} terms @param {Term[]} lines */
export const end = ({ n }, lines) => 2 ** Math.ceil(Math.log2(2 * Math.max(n, ...lines.map((l) => l.crosses ?? 1))));

const DASHES = [[], [6, 3], [2, 3], [1, 2]];

/** Both axes logarithmic. @param {HTMLCanvasElement} canvas @param {any} terms */
export function drawCrossings(canvas, terms) {
  const [g, width, height] = draw.fit(canvas);
  const lines = curves(terms), last = end(terms, lines), log = Math.log2;
  const left = 6, right = 52, top = 14, bottom = 20;
  const low = log(Math.min(...lines.map((l) => l.at(1)))), high = log(Math.max(...lines.map((l) => l.at(last))));
  const X = (/** @type {number} */ n) => left + (log(n) / log(last)) * (width - left - right);
  const Y = (/** @type {number} */ v) => top + (1 - (log(v) - low) / (high - low)) * (height - top - bottom);
  stroke(g, [[left, height - bottom], [width - right, height - bottom]], "--line", 1, []);
  stroke(g, [[X(terms.n), top], [X(terms.n), height - bottom]], "--ink-3", 1, [3, 3]);
  draw.label(g, `n ${terms.n}`, X(terms.n), 6, { size: 10, mono: true, color: "--ink-2", align: terms.n > last / 4 ? "right" : "left" });
  draw.label(g, "1", left, height - 10, { size: 10, mono: true, color: "--ink-3" });
  draw.label(g, count(last), width - right, height - 10, { size: 10, mono: true, align: "right", color: "--ink-3" });
  const places = apart(lines.map((l) => Y(l.at(last))), 12);
  lines.forEach((l, i) => {
    const bend = l.name === "r·n·d" ? [l.crosses ?? 1] : [];
    stroke(g, [1, ...bend, last].map((n) => [X(n), Y(l.at(n))]), i ? "--ink-2" : "--ink", i ? 1.4 : 2, DASHES[i]);
    draw.label(g, l.name, width - right + 5, places[i], { size: 10, mono: true, weight: i ? 480 : 640, color: i ? "--ink-2" : "--ink" });
  });
  for (const l of lines) {
    if (!l.crosses) continue;
    const [x, y] = [X(l.crosses), Y(l.at(l.crosses))];
    g.fillStyle = draw.css("--surface");
    g.strokeStyle = draw.css("--ink");
    g.lineWidth = 1.5;
    g.beginPath();
    g.arc(x, y, 3, 0, 7);
    g.fill();
    g.stroke();
    draw.label(g, String(l.crosses), x + 2, y + 11, { size: 10, mono: true, weight: 640, color: "--ink" });
  }
}

/** @param {CanvasRenderingContext2D} g @param {number[][]} points @param {string} color @param {number} wide @param {number[]} dash */
function stroke(g, points, color, wide, dash) {
  g.strokeStyle = draw.css(color);
  g.lineWidth = wide;
  g.setLineDash(dash);
  g.beginPath();
  points.forEach(([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y)));
  g.stroke();
  g.setLineDash([]);
}
