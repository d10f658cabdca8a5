// @ts-check
/** Small multiples: one picture of a whole map, one pixel a cell, blown up without smoothing. */

import { css, ramp, rgb } from "./canvas.mjs";

/** @type {{key: string, table: Uint32Array, model: number, user: number, later: number, padded: number}} */
let palette = { key: "", table: new Uint32Array(256), model: 0, user: 0, later: 0, padded: 0 };

/** @param {number[]} c red, green, blue @returns {number} as little-endian pixels hold it */
const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** @param {string} hex @param {string} other @param {number} t */
const mixed = (hex, other, t) => rgb(hex).map((v, i) => Math.round(v + (rgb(other)[i] - v) * t));

/** The colours of one theme, made once. */
function colours() {
  const key = css("--seq") + css("--hatch");
  if (palette.key !== key) {
    const color = ramp("--seq");
    palette = {
      key, table: Uint32Array.from({ length: 256 }, (_, i) => packed(color(i / 255))),
      model: packed(mixed(css("--surface"), css("--hatch"), 0.35)), user: packed(rgb(css("--ink-2"))),
      later: packed(rgb(css("--surface"))), padded: packed(rgb(css("--sunk"))),
    };
  }
  return palette;
}

/** @param {HTMLCanvasElement} canvas @param {number} rows @param {number} columns
 * @param {(row: number, column: number) => number} place of a value on its scale, 0..1; NaN where it is not known
 * @param {(row: number, column: number) => import("./canvas.mjs").CellState} state */
export function thumb(canvas, rows, columns, place, state) {
  if (!rows || !columns) return;
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  const { table, ...flat } = colours();
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let r = 0, i = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++, i++) {
      const s = state(r, c);
      if (s !== "ok") pixels[i] = flat[s];
      else {
        const t = place(r, c);
        pixels[i] = t === t ? table[t <= 0 ? 0 : t >= 1 ? 255 : Math.round(t * 255)] : flat.later;
      }
    }
  }
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).putImageData(image, 0, 0);
}
