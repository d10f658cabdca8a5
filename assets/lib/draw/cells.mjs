// @ts-check
/** The cells of a heat map: one by one with their form, or from afar as one picture. */

import { css, luminance, place, rgb, toCss } from "./colours.mjs";
import { cross, dashed, dots, font, hatch, hatched, offscreen, roundRect } from "./pen.mjs";

/** @typedef {import("./colours.mjs").Rgb} Rgb @typedef {import("./heatmap.mjs").Geometry} Geometry @typedef {import("./heatmap.mjs").MapOptions} MapOptions */

/** A number as a cell prints it: ".85", "1.0", "−.07". Pure.
 * @param {number} value */
export const cellText = (value) => value.toFixed(2).replace(/^(-?)0\./, "$1.").replace(/^1\.00$/, "1.0").replace("-", "−");

/** @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o @param {number} r @param {number} c @param {(t: number) => Rgb} color */
export function cell(g, geo, o, r, c, color) {
  const gap = o.gap ?? 2;
  const b = geo.box(r, c);
  const [x, y, w, h] = [b.x + gap / 2, b.y + gap / 2, b.w - gap, b.h - gap];
  const state = o.state?.(r, c) ?? "ok";
  if (state === "ok") {
    value(g, o, x, y, w, h, o.value(r, c), color, same(o.selected, r, c) || same(o.hover, r, c));
    return o.marked?.(r, c) ? corner(g, x + w, y, Math.min(7, w / 3)) : undefined;
  }
  if (state === "unused") return unused(g, o, x, y, w, h, o.value(r, c), color);
  if (state === "off") return sunk(g, x, y, w, h);
  if (state === "later") return Math.min(w, h) < 10 ? outline(g, x, y, w, h) : dashed(g, x, y, w, h, 2);
  if (state === "padded") return dots(g, x, y, w, h, css("--ink-3"));
  const user = state === "user";
  if (user) {
    g.strokeStyle = css("--ink");
    g.lineWidth = 1.2;
    roundRect(g, x + 0.6, y + 0.6, w - 1.2, h - 1.2, 2);
    g.stroke();
  }
  hatch(g, x, y, w, h, css(user ? "--ink-2" : "--hatch"), user ? 1.3 : 1, Math.max(3, Math.min(5, w / 4)));
}

/** A number of a padded row: computed, thrown away. @param {CanvasRenderingContext2D} g @param {MapOptions} o @param {number} x @param {number} y
 * @param {number} w @param {number} h @param {number} v @param {(t: number) => Rgb} color */
function unused(g, o, x, y, w, h, v, color) {
  g.globalAlpha = 0.4;
  value(g, { ...o, values: false }, x, y, w, h, v, color, false);
  g.globalAlpha = 1;
  dots(g, x, y, w, h, css("--ink-3"));
}

/** Outside the pattern. @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h */
function sunk(g, x, y, w, h) {
  g.fillStyle = css("--sunk");
  roundRect(g, x, y, w, h, Math.min(3, w / 6));
  g.fill();
}

/** The mark of a cell whose number was set. @param {CanvasRenderingContext2D} g @param {number} right @param {number} top @param {number} size */
function corner(g, right, top, size) {
  g.fillStyle = css("--ink");
  g.beginPath();
  g.moveTo(right, top);
  g.lineTo(right, top + size);
  g.lineTo(right - size, top);
  g.closePath();
  g.fill();
}

/** A place whose dashes would be scribbles.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h */
function outline(g, x, y, w, h) {
  g.strokeStyle = css("--line");
  g.lineWidth = 1;
  g.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}

/** @param {{row: number, column: number} | null | undefined} at @param {number} r @param {number} c */
export const same = (at, r, c) => !!at && at.row === r && at.column === c;

/** @param {CanvasRenderingContext2D} g @param {MapOptions} o @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {number} v @param {(t: number) => Rgb} color @param {boolean} strong */
function value(g, o, x, y, w, h, v, color, strong) {
  if (!Number.isFinite(v)) return cross(g, x + w / 2, y + h / 2, Math.min(4, w / 4), "--bad");
  const fill = color(place(v, o.scale));
  const r = Math.min(3, w / 6);
  g.fillStyle = toCss(fill);
  roundRect(g, x, y, w, h, r);
  g.fill();
  if ((o.gap ?? 2) > 1) {
    g.strokeStyle = css("--line");
    g.lineWidth = 1;
    roundRect(g, x + 0.5, y + 0.5, w - 1, h - 1, r);
    g.stroke();
  }
  if (!o.values || w <= (o.room ?? 28) || h <= 13) return; // no room for three figures
  const said = (o.format ?? cellText)(v), size = h > 30 ? 12.5 : h > 19 ? 11 : 10.5;
  if (o.format && said.length * size * 0.6 > w) return; // of this monospace a letter is 0.6 of its size wide
  font(g, strong ? 700 : 500, size, true);
  g.fillStyle = luminance(fill) > 0.3 ? "#131A22" : "#FFFFFF";
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillText(said, x + w / 2, y + h / 2 + 0.5);
}

/** Cells smaller than this come from a picture where there is one, px. */
export const AFAR = 12;

/** The cells from a picture, with lines between those that are large enough, and what a person hid in its own form.
 * @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o */
export function fromAfar(g, geo, o) {
  const { image, size } = /** @type {NonNullable<MapOptions["afar"]>} */ (o.afar)();
  const { row, column } = o.origin ?? { row: 0, column: 0 };
  const { x, y } = geo.box(0, 0);
  const [w, h] = [geo.cellWidth * geo.columns, geo.cellHeight * geo.rows];
  hatched(g, x, y, w, h);
  g.imageSmoothingEnabled = false;
  g.drawImage(image, column / size, row / size, geo.columns / size, geo.rows / size, x, y, w, h);
  const small = Math.min(geo.cellWidth, geo.cellHeight);
  g.fillStyle = css(small < AFAR ? "--line" : "--surface");
  const gap = small < AFAR ? 1 : 2;
  if (small >= 6) {
    for (let c = 0; c <= geo.columns; c++) g.fillRect(x + c * geo.cellWidth - gap / 2, y, gap, h);
    for (let r = 0; r <= geo.rows; r++) g.fillRect(x, y + r * geo.cellHeight - gap / 2, w, gap);
  }
  g.strokeStyle = css("--line");
  g.lineWidth = 1;
  g.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}

/** Many tiny cells: one image instead of thousands of boxes.
 * @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o @param {(t: number) => Rgb} color */
export function pixels(g, geo, o, color) {
  const image = new ImageData(o.columns, o.rows);
  const sunken = rgb(css("--sunk"));
  const flat = { model: mix("--surface", "--hatch", 0.45), user: rgb(css("--ink-2")), later: rgb(css("--surface")), padded: sunken, off: sunken, unused: sunken };
  for (let r = 0, i = 0; r < o.rows; r++) {
    for (let c = 0; c < o.columns; c++, i += 4) {
      const state = o.state?.(r, c) ?? "ok";
      const v = state === "ok" ? o.value(r, c) : 0;
      image.data.set(state !== "ok" ? flat[state] : Number.isFinite(v) ? color(place(v, o.scale)) : rgb(css("--bad")), i);
      image.data[i + 3] = 255;
    }
  }
  const sheet = offscreen(o.columns, o.rows);
  sheet.g.putImageData(image, 0, 0);
  g.imageSmoothingEnabled = false;
  g.drawImage(sheet.canvas, geo.left, geo.top, geo.cellWidth * o.columns, geo.cellHeight * o.rows);
  g.strokeStyle = css("--line");
  g.lineWidth = 1;
  g.strokeRect(geo.left + 0.5, geo.top + 0.5, geo.cellWidth * o.columns - 1, geo.cellHeight * o.rows - 1);
}

/** @param {string} a @param {string} b tokens @param {number} t @returns {Rgb} */
function mix(a, b, t) {
  const [x, y] = [rgb(css(a)), rgb(css(b))];
  return /** @type {Rgb} */ (x.map((v, i) => Math.round(v + (y[i] - v) * t)));
}
