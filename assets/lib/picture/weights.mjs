// @ts-check
/** One row's weights in numbers, each where its place lies on the picture. */

import { css, ramp, roundRect } from "../canvas.mjs";
import { cell } from "../draw/cells.mjs";
import { corner, edge } from "./looking.mjs";

/** @typedef {import("./looking.mjs").Box} Box @typedef {import("./looking.mjs").Grid} Grid @typedef {import("../draw/heatmap.mjs").CellState} CellState */
/** drawn: the place that was drawn, or set by a person; state: of a place, by form
 * @typedef {{cut: Grid, shares: number[], state: (key: number) => CellState, drawn: number | null, set: boolean, pointed: number | null, locked: number | null, log: boolean}} Weights */

/** The top of the scale, one for every word and step; a logarithmic one goes so many powers of ten below it. */
const TOP = 0.5;
const DECADES = 3;

/** A share in percent as a cell prints it. Pure. @param {number} share */
export const percents = (share) => (share > 0 && share < 0.0005 ? "0" : (100 * share).toFixed(share > 0 && share < 0.0095 ? 1 : 0).replace(/^0\./, "."));

/** @param {CanvasRenderingContext2D} g @param {Box} b @param {Weights} o */
export function drawWeights(g, b, o) {
  const { cut } = o;
  const size = { w: b.w / cut.columns, h: b.h / cut.lines };
  const box = (/** @type {number} */ r, /** @type {number} */ c) => ({ x: b.x + c * size.w, y: b.y + r * size.h, ...size });
  const key = (/** @type {number} */ r, /** @type {number} */ c) => r * cut.columns + c;
  const scale = o.log ? { max: TOP, decades: DECADES } : { max: TOP };
  const options = { rows: cut.lines, columns: cut.columns, value: (/** @type {number} */ r, /** @type {number} */ c) => o.shares[key(r, c)], state: (/** @type {number} */ r, /** @type {number} */ c) => o.state(key(r, c)), scale, values: true, format: percents, room: 17, gap: size.w < 22 ? 2 : 3 };
  const color = ramp("--seq");
  for (let r = 0; r < cut.lines; r++) for (let c = 0; c < cut.columns; c++) cell(g, /** @type {any} */ ({ box }), options, r, c, color);
  const mark = (/** @type {number | null} */ at, /** @type {string} */ name, /** @type {number} */ width) => at !== null && at >= 0 && at < o.shares.length && ring(g, box(Math.floor(at / cut.columns), at % cut.columns), name, width);
  if (o.pointed !== o.drawn) mark(o.pointed, "--ink-3", 1.5);
  mark(o.locked, "--ink", 2.2);
  mark(o.drawn, "--d-fill", 2.6);
  if (o.drawn !== null && o.set) corner(g, box(0, o.drawn % cut.columns).x + 1, box(Math.floor(o.drawn / cut.columns), 0).y + 1, size.w / 3);
}

/** @param {CanvasRenderingContext2D} g @param {Box} b @param {string} color @param {number} width */
function ring(g, b, color, width) {
  if (b.w < 12) return edge(g, b.x, b.y, b.w, b.h, color, Math.min(2, width));
  [g.strokeStyle, g.lineWidth] = [css(color), width];
  roundRect(g, b.x + 1.5, b.y + 1.5, b.w - 3, b.h - 3, 4);
  g.stroke();
}

/** The printed ends of the scale. Pure. @param {boolean} log @returns {[string, string]} */
export const ends = (log) => [log ? `≤ ${percents(TOP * 10 ** -DECADES) || "0"}` : "0", `≥ ${percents(TOP)} %`];
