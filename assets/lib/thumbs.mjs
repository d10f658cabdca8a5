// @ts-check
/** Small multiples: one picture of a whole map, one pixel a cell, blown up without smoothing. */

import { css, fit, ramp, rgb } from "./canvas.mjs";

/** @type {{key: string, table: Uint32Array, model: number, user: number, later: number, padded: number}} */
let palette = { key: "", table: new Uint32Array(256), model: 0, user: 0, later: 0, padded: 0 };

/** @type {OffscreenCanvas | undefined} */
let sheet;

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

/** What lies under the numbers of a map: a colour where none belongs, 0 where one does. One for all heads of a layer.
 * @param {number} rows @param {number} columns @param {(row: number, column: number) => import("./heatmap.mjs").CellState} state */
export function ground(rows, columns, state) {
  const flat = colours();
  const pixels = new Uint32Array(rows * columns);
  for (let r = 0, i = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++, i++) {
      const s = state(r, c);
      if (s !== "ok") pixels[i] = flat[s];
    }
  }
  return { rows, columns, pixels };
}

/** @param {HTMLCanvasElement} canvas @param {ReturnType<typeof ground>} under
 * @param {(row: number, column: number) => number} place of a value on its scale, 0..1; NaN where it is not known */
export function thumb(canvas, { rows, columns, pixels: under }, place) {
  if (!rows || !columns) return;
  const { table, later } = colours();
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.set(under);
  for (let r = 0, i = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++, i++) {
      if (under[i]) continue;
      const t = place(r, c);
      pixels[i] = t === t ? table[t <= 0 ? 0 : t >= 1 ? 255 : Math.round(t * 255)] : later;
    }
  }
  // By way of a sheet: a canvas on the page that changes its size at each step costs the browser far more.
  sheet ??= new OffscreenCanvas(columns, rows);
  if (sheet.width !== columns) sheet.width = columns;
  if (sheet.height !== rows) sheet.height = rows;
  /** @type {OffscreenCanvasRenderingContext2D} */ (sheet.getContext("2d")).putImageData(image, 0, 0);
  const [g, width, height] = fit(canvas);
  g.imageSmoothingEnabled = false;
  g.drawImage(sheet, 0, 0, width, height);
}
