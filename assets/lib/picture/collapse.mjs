// @ts-check
/** How a path becomes a text, in three lines below its frames: the label of each, repeats merged, blanks gone. */

import { clip, css, dashed, font, label, roundRect } from "../canvas.mjs";
import { msg } from "../language.mjs";
import { held, named, spoken } from "./labels.mjs";

/** The height of one line and of all, px. */
const LINE = 16;
export const COLLAPSE = 3 * LINE;

/** @param {CanvasRenderingContext2D} g @param {{left: number, cell: number, top: number}} geo @param {number[]} path @param {string[]} names */
export function drawCollapse(g, { left, cell, top }, path, names) {
  const middle = (/** @type {number} */ line) => top + (line + 0.5) * LINE;
  [msg`path`, msg`no repeats`, msg`no blanks`].forEach((said, i) => label(g, said, left - 6, middle(i), { size: 10.5, weight: 520, align: "right", color: i === 2 ? "--ink" : "--ink-3" }));
  font(g, 520, 10.5, true);
  const narrow = path.some((v) => g.measureText(named(v, names)).width > cell);
  if (!narrow) path.forEach((v, t) => letter(g, named(v, names), left + (t + 0.5) * cell, middle(0), v > 0));
  for (const { label: v, from, to } of held(path)) {
    const [x, w] = [left + from * cell + 1, cell * (to - from + 1) - 2];
    const center = x + w / 2;
    if (narrow) letter(g, fits(g, `${named(v, names)}×${to - from + 1}`, w) || fits(g, named(v, names), w), center, middle(0), v > 0);
    if (v) box(g, x, middle(1) - 6.5, w, 13);
    else dashed(g, x, middle(1) - 6.5, w, 13, 2, "--line-2", 1);
    letter(g, fits(g, named(v, names), w + 4), center, middle(1), v > 0);
  }
  for (const { label: v, from, to } of spoken(path)) {
    const w = Math.max(cell * (to - from + 1) - 2, 14), center = left + ((from + to + 1) / 2) * cell;
    box(g, center - w / 2, middle(2) - 7, w, 14);
    font(g, 700, 11.5, true);
    label(g, clip(g, names[v], Math.max(w, 3 * cell)), center, middle(2) + 0.5, { mono: true, size: 11.5, weight: 700, align: "center", color: "--d" });
  }
}

/** A text where it has room, else none. @param {CanvasRenderingContext2D} g @param {string} said @param {number} room */
const fits = (g, said, room) => (g.measureText(said).width <= room ? said : "");

/** @param {CanvasRenderingContext2D} g @param {string} said @param {number} x @param {number} y @param {boolean} on */
const letter = (g, said, x, y, on) => label(g, said, x, y + 0.5, { mono: true, size: 10.5, weight: on ? 680 : 520, align: "center", color: on ? "--d" : "--ink-3" });

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h */
function box(g, x, y, w, h) {
  [g.fillStyle, g.strokeStyle, g.lineWidth] = [css("--d-wash"), css("--d-fill"), 1];
  roundRect(g, x, y, w, h, 3);
  g.fill();
  g.globalAlpha = 0.6;
  g.stroke();
  g.globalAlpha = 1;
}
