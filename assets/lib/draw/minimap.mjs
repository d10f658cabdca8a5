// @ts-check
/** All rows of a long input in one line: a bar for what the current row reads of each, and a frame round those in view. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";
import { FAINT } from "../read/ribbons.mjs";

/** @typedef {import("../read/strips.mjs").Layout} Layout @typedef {import("../read/ribbons.mjs").KeyRead} KeyRead */
/** @typedef {{x: number, width: number, rows: number, from: number, to: number}} Overview from, to: rows in view */

/** Where the overview lies and which rows are in view. Pure.
 * @param {Layout} geo @param {number} width seen @param {number} rows @param {number} scrolled @returns {Overview} */
export function overview(geo, width, rows, scrolled) {
  const from = scrolled / geo.slot;
  return { x: geo.gutter, width: width - geo.gutter - 2, rows, from: Math.min(from, rows), to: Math.min(rows, from + (width - geo.left) / geo.slot) };
}

/** How far to scroll so that the row under a place of the overview comes into the middle. Pure.
 * @param {Overview} o @param {Layout} geo @param {number} x */
export const scrollTo = (o, geo, x) => ((x - o.x) / o.width) * o.rows * geo.slot - ((o.to - o.from) * geo.slot) / 2;

/** @param {CanvasRenderingContext2D} g @param {Overview} o @param {Layout} geo @param {KeyRead[]} reads @param {number} row @param {number} top the key that is read most: its bar is the tallest */
export function minimap(g, o, geo, reads, row, top) {
  const [height, each] = [geo.map, o.width / o.rows];
  const at = (/** @type {number} */ i) => o.x + i * each;
  g.fillStyle = draw.css("--sunk");
  g.fillRect(o.x, 0, o.width, height);
  g.fillStyle = draw.css("--v-fill");
  for (const r of reads) {
    const part = r.amount / reads[top]?.amount;
    if (!(part > FAINT)) continue;
    const tall = Math.max(1, part * (height - 2));
    g.fillRect(at(r.key), height - tall, Math.max(1.5, each - 0.4), tall);
  }
  blocked(g, o, reads, each, height);
  if (row >= 0) {
    g.fillStyle = draw.css("--q-fill");
    g.fillRect(at(row) + each / 2 - 1, 0, 2, height);
  }
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = 2;
  draw.roundRect(g, at(o.from), 1, Math.max(6, at(o.to) - at(o.from)), height - 2, 3);
  g.stroke();
  marks(g, o, geo, at, top);
}

/** Rows that the current one may not read, as runs of thin hatch.
 * @param {CanvasRenderingContext2D} g @param {Overview} o @param {KeyRead[]} reads @param {number} each @param {number} height */
function blocked(g, o, reads, each, height) {
  for (let i = 0; i < reads.length; ) {
    let end = i;
    while (end < reads.length && (reads[end].state === "model" || reads[end].state === "user")) end++;
    if (end > i) draw.hatch(g, o.x + i * each, 0, (end - i) * each, height, draw.css("--hatch"), 1, 5);
    i = Math.max(end, i + 1);
  }
}

/** Numbers of the first, the last and the most read row.
 * @param {CanvasRenderingContext2D} g @param {Overview} o @param {Layout} geo @param {(i: number) => number} at @param {number} top */
function marks(g, o, geo, at, top) {
  if (geo.low) return;
  const y = geo.map + 8;
  const far = (/** @type {number} */ i) => top < 0 || Math.abs(at(i) - at(top)) > 44;
  if (far(0)) draw.label(g, "0", o.x, y, { size: 10.5, mono: true, color: "--ink-3" });
  if (far(o.rows - 1)) draw.label(g, String(o.rows - 1), o.x + o.width, y, { size: 10.5, mono: true, align: "right", color: "--ink-3" });
  if (top < 0) return;
  const x = Math.max(o.x + 4, Math.min(o.x + o.width - 4, at(top) + o.width / o.rows / 2));
  g.fillStyle = draw.css("--k");
  g.beginPath();
  g.moveTo(x - 4, geo.map + 6);
  g.lineTo(x + 4, geo.map + 6);
  g.lineTo(x, geo.map + 1);
  g.fill();
  const right = x > o.x + o.width - 60;
  draw.label(g, msg`row ${top}`, x + (right ? -8 : 8), y, { size: 10.5, mono: true, weight: 640, align: right ? "right" : "left", color: "--k" });
}

/** What the overview is, in the gutter beside it.
 * @param {CanvasRenderingContext2D} g @param {Layout} geo @param {number} row @param {string} tallest what the tallest bar stands for */
export function minimapName(g, geo, row, tallest) {
  if (geo.low) return draw.label(g, tallest ? msg`All rows, up to ${tallest}` : msg`All rows`, 0, geo.map / 2, { size: 12, weight: 620, color: "--ink" });
  draw.label(g, msg`All rows`, 0, 6, { size: 13, weight: 620, color: "--ink" });
  draw.label(g, tallest ? msg`row ${row} reads up to ${tallest}` : msg`bar = read by row ${row}`, 0, 22, { size: 11, color: "--ink-3" });
}
