// @ts-check
/** Maps as pictures, one pixel a cell or a square of cells, blown up without smoothing: small multiples, overviews, maps from afar. */

import { STATES } from "./bins.mjs";
import { css, fit, offscreen, ramp, rgb } from "../canvas.mjs";

/** @typedef {import("./heatmap.mjs").CellState} CellState */
/** Colours as little-endian pixels hold them: of values by their place on the scale, and of states without one.
 * @typedef {{table: Uint32Array, bad: number, flat: Record<CellState, number>}} Palette */

/** @type {Map<string, Palette>} */
const palettes = new Map();

/** @type {ReturnType<typeof offscreen> | undefined} */
let sheet;

/** @param {number[]} c red, green, blue @returns {number} */
const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** @param {number[]} a @param {number[]} b @param {number} t */
const mixed = (a, b, t) => a.map((v, i) => Math.round(v + (b[i] - v) * t));

/** The colours of one theme, made once. @param {"--seq" | "--div"} name @returns {Palette} */
function colours(name) {
  const key = name + css(name) + css("--hatch");
  let found = palettes.get(key);
  if (!found) {
    const [color, of] = [ramp(name), (/** @type {string} */ token) => rgb(css(token))];
    const [surface, sunk] = [packed(of("--surface")), packed(of("--sunk"))];
    found = {
      table: Uint32Array.from({ length: 256 }, (_, i) => packed(color(i / 255))), bad: packed(of("--bad")),
      flat: { ok: 0, unused: 0, model: packed(mixed(of("--surface"), of("--hatch"), 0.35)), user: packed(of("--ink-2")), off: sunk, later: surface, padded: sunk },
    };
    palettes.set(key, found);
  }
  return found;
}

/** @param {Palette} palette @param {number} place 0..1; NaN: no number */
const shade = ({ table, bad }, place) => (place === place ? table[place <= 0 ? 0 : place >= 1 ? 255 : Math.round(place * 255)] : bad);

/** What lies under the numbers of a map: a colour where none belongs, 0 where one does. One for all heads of a layer.
 * @param {number} rows @param {number} columns @param {(row: number, column: number) => CellState} state */
export function ground(rows, columns, state) {
  const { flat } = colours("--seq");
  const pixels = new Uint32Array(rows * columns);
  for (let r = 0, i = 0; r < rows; r++) for (let c = 0; c < columns; c++, i++) pixels[i] = flat[state(r, c)];
  return { rows, columns, pixels };
}

/** @param {HTMLCanvasElement} canvas @param {ReturnType<typeof ground>} under
 * @param {(row: number, column: number) => number} place of a value on its scale, 0..1; NaN where it is not known
 * @param {(row: number, column: number) => boolean} [came] whether a number came: then NaN is one that is none */
export function thumb(canvas, { rows, columns, pixels: under }, place, came) {
  if (!rows || !columns) return;
  const { table, flat, bad } = colours("--seq");
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.set(under);
  for (let r = 0, i = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++, i++) {
      if (under[i]) continue;
      const t = place(r, c);
      pixels[i] = t === t ? table[t <= 0 ? 0 : t >= 1 ? 255 : Math.round(t * 255)] : came?.(r, c) ? bad : flat.later;
    }
  }
  // By way of a sheet: a canvas on the page that changes its size at each step costs the browser far more.
  sheet ??= offscreen(columns, rows);
  if (sheet.canvas.width !== columns) sheet.canvas.width = columns;
  if (sheet.canvas.height !== rows) sheet.canvas.height = rows;
  sheet.g.putImageData(image, 0, 0);
  const [g, width, height] = fit(canvas);
  g.imageSmoothingEnabled = false;
  g.drawImage(sheet.canvas, 0, 0, width, height);
}

/** A picture of squares. What the program hides from the future is left clear, so that a hatch beneath it shows through.
 * @param {import("./bins.mjs").Bins} b @param {(value: number) => number} place on the scale, 0..1 @param {boolean} diverging @returns {OffscreenCanvas} */
export function picture(b, place, diverging) {
  const palette = colours(diverging ? "--div" : "--seq");
  const flat = STATES.map((state) => (state === "model" ? 0 : palette.flat[state]));
  const image = new ImageData(Math.max(1, b.columns), Math.max(1, b.rows));
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < b.states.length; i++) pixels[i] = b.states[i] < 2 ? shade(palette, place(b.values[i])) : flat[b.states[i]];
  const made = offscreen(image.width, image.height);
  made.g.putImageData(image, 0, 0);
  return made.canvas;
}
