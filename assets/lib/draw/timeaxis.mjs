// @ts-check
/** One axis of time from left to right, which the chain of states and the strips below it share: a column is a row. */

import { minimap, overview } from "./minimap.mjs";
import { msg } from "../language.mjs";
import * as draw from "../canvas.mjs";
import { WIDEST } from "../read/strips.mjs";

/** @typedef {ReturnType<typeof axis>} Axis @typedef {import("./pan.mjs").Pan} Pan */

/** Where the columns lie. Those that do not fit pan. Pure.
 * @param {number} width seen @param {number} places @param {number} kept places that are kept free from the start */
export function axis(width, places, kept) {
  const small = width < 400;
  const gutter = small ? 62 : width < 520 ? 104 : 118;
  const room = Math.max(40, width - gutter - 2);
  const fits = Math.max(1, Math.floor(room / (small ? 44 : 48)));
  const long = places > fits;
  const count = Math.max(places, Math.min(kept, fits), 1);
  const slot = long ? (small ? 52 : 58) : Math.min(WIDEST, room / count);
  return {
    small, gutter, left: gutter, slot, long, places, pad: 4, width: gutter + places * slot + 2,
    /** @param {number} i */
    x: (i) => gutter + i * slot,
    /** @param {number} i */
    middle: (i) => gutter + (i + 0.5) * slot,
  };
}

/** All columns in one line above a long axis, with a frame round those in sight.
 * @param {CanvasRenderingContext2D} g @param {Axis} geo @param {number} width @param {number} height of the line @param {number} scrolled @param {number} row the newest */
export function map(g, geo, width, height, scrolled, row) {
  const strip = /** @type {any} */ ({ ...geo, map: height, low: true });
  minimap(g, overview(strip, width, geo.places, scrolled), strip, [], row, -1);
  draw.label(g, geo.small ? msg`All` : msg`All rows`, 0, height / 2, { size: 12, weight: 620, color: "--ink" });
}

/** Pans that scroll together, as far as their ground is the same. @type {Set<Pan>} */
const together = new Set();

/** @param {Pan} p */
export function join(p) {
  together.add(p);
  p.element.addEventListener("scroll", () => {
    for (const other of together) if (other !== p && other.width === p.width && other.element.isConnected && other.element.scrollLeft !== p.element.scrollLeft) other.element.scrollLeft = p.element.scrollLeft;
  }, { passive: true });
}

/** ↻: carried by the loop. @param {CanvasRenderingContext2D} g @param {number} x @param {number} y */
export function loop(g, x, y) {
  g.strokeStyle = draw.css("--ink");
  g.fillStyle = draw.css("--ink");
  g.lineWidth = 1.5;
  g.beginPath();
  g.arc(x, y, 4.2, -0.6, 4.6);
  g.stroke();
  g.beginPath();
  g.moveTo(x + 6.6, y - 4.6);
  g.lineTo(x + 5.2, y + 0.6);
  g.lineTo(x + 0.9, y - 2.6);
  g.fill();
}
