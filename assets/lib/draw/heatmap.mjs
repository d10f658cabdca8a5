// @ts-check
/** Numbers as colours: a map of cells with their states, a vector, and the scales of both. */

import { AFAR, cell, fromAfar, pixels, same } from "./cells.mjs";
import { css, place, ramp, toCss } from "./colours.mjs";
import { clip, fit, font, label, roundRect } from "./pen.mjs";

/** @typedef {import("./colours.mjs").Rgb} Rgb */
/** @typedef {"ok" | "unused" | "model" | "off" | "user" | "later" | "padded"} CellState ok: a number; unused: a number of a padded row,
 * computed and thrown away; masked by the program because it comes later (model) or lies outside the pattern (off), or by the user; not computed
 * yet; padded */

/** Where the cells of a map lie. Pure.
 * @param {number} width @param {number} height of the canvas
 * @param {{rows: number, columns: number, left?: number, top?: number, bottom?: number, right?: number, cellWidth?: number, cellHeight?: number, shiftX?: number, shiftY?: number, maxCell?: number}} o
 * cellWidth, cellHeight: of a cell, else as large as fits; shiftX, shiftY: how much of the first column and row is scrolled away, px
 * @returns {Geometry} */
export function geometry(width, height, o) {
  const { rows, columns, left = 0, top = 0, bottom = 0, right = 0, shiftX = 0, shiftY = 0 } = o;
  const most = o.maxCell ?? Infinity;
  const cellWidth = o.cellWidth ?? Math.min(most * 1.5, Math.max(0, (width - left - right) / Math.max(1, columns)));
  const cellHeight = o.cellHeight ?? Math.min(most, Math.max(0, (height - top - bottom) / Math.max(1, rows)));
  return {
    cellWidth, cellHeight, left, top, rows, columns, right: width - right, bottom: height - bottom,
    at(x, y) {
      if (x < left || y < top || x >= width - right || y >= height - bottom) return null;
      const column = Math.floor((x - left + shiftX) / cellWidth);
      const row = Math.floor((y - top + shiftY) / cellHeight);
      return row < rows && column < columns ? { row, column } : null;
    },
    box: (row, column) => ({ x: left - shiftX + column * cellWidth, y: top - shiftY + row * cellHeight, w: cellWidth, h: cellHeight }),
  };
}

/**
 * @typedef {object} Geometry
 * @property {number} cellWidth @property {number} cellHeight @property {number} left @property {number} top
 * @property {number} rows @property {number} columns @property {number} right @property {number} bottom where the cells end, px
 * @property {(x: number, y: number) => {row: number, column: number} | null} at the cell under a point (CSS pixels)
 * @property {(row: number, column: number) => {x: number, y: number, w: number, h: number}} box
 */

/**
 * @typedef {object} MapOptions
 * @property {number} rows @property {number} columns
 * @property {(row: number, column: number) => number} value NaN where nothing is known
 * @property {(row: number, column: number) => CellState} [state] "ok" if left out
 * @property {{max?: number, diverging?: boolean, root?: boolean, decades?: number}} [scale]
 * @property {number} [left] @property {number} [top] @property {number} [right] @property {number} [bottom] room, px
 * @property {number} [maxCell] @property {number} [cellWidth] @property {number} [cellHeight] @property {number} [shiftX] @property {number} [shiftY] see `geometry`
 * @property {{row: number, column: number}} [origin] what the first row and column are of a larger map
 * @property {(() => {image: CanvasImageSource, size: number})} [afar] a picture of that larger map, `size` cells a pixel, for cells that are too
 *   small to draw one by one, or more than `most`
 * @property {number} [most]
 * @property {(row: number, column: number) => boolean} [marked] cells with a mark: their number was set
 * @property {(row: number, column: number) => boolean} [gold] cells with an outline: what the right answer links
 * @property {number} [rail] a row with a rail: it decides
 * @property {number} [gap] between cells, px
 * @property {boolean} [values] print values in cells that have room for them
 * @property {(value: number) => string} [format] @property {number} [room] the width from which a value is printed, px
 * @property {{row: number, column: number} | null} [selected] @property {{row: number, column: number} | null} [hover]
 * @property {string[]} [rowLabels] @property {string[]} [rowNotes] behind a row's label @property {string[]} [columnLabels]
 * @property {[string, string]} [roles] of rows and columns, ["q", "k"]
 */

/** A heat map whose cells may be masked, not computed, or padded. Draws and says where the cells lie.
 * @param {HTMLCanvasElement} canvas @param {MapOptions} o @returns {Geometry} */
export function cellMap(canvas, o) {
  const [g, width, height] = fit(canvas);
  const geo = geometry(width, height, o);
  if (!o.rows || !o.columns || geo.cellWidth <= 0 || geo.cellHeight <= 0) return geo;
  const color = ramp(o.scale?.diverging ? "--div" : "--seq");
  g.save();
  g.beginPath();
  g.rect(geo.left - 3, geo.top - 3, geo.right - geo.left + 6, geo.bottom - geo.top + 6);
  if (o.cellWidth) g.clip();
  const small = Math.min(geo.cellWidth, geo.cellHeight);
  if (o.afar && (small < AFAR || o.rows * o.columns > (o.most ?? Infinity))) fromAfar(g, geo, o);
  else if (small < 6) pixels(g, geo, o, color);
  else for (let r = 0; r < o.rows; r++) for (let c = 0; c < o.columns; c++) cell(g, geo, o, r, c, color);
  if (o.gold) outlines(g, geo, o.gold);
  if (o.rail !== undefined) rail(g, geo, o.rail);
  marks(g, geo, o);
  g.restore();
  if (o.columnLabels) columnLabels(g, geo, o);
  if (o.rowLabels) rowLabels(g, geo, o);
  return geo;
}

/** An outline inside each gold cell, seen on light and on dark fills.
 * @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {(row: number, column: number) => boolean} gold */
function outlines(g, geo, gold) {
  const inset = Math.min(geo.cellWidth, geo.cellHeight) > 18 ? 3.5 : 1.5; // in a low cell the number has its room
  for (let r = 0; r < geo.rows; r++) {
    for (let c = 0; c < geo.columns; c++) {
      if (!gold(r, c)) continue;
      const { x, y, w, h } = geo.box(r, c);
      for (const [color, line] of /** @type {[string, number][]} */ ([["--surface", 3.6], ["--ink", 1.4]])) {
        g.strokeStyle = css(color);
        g.lineWidth = line;
        roundRect(g, x + inset, y + inset, w - 2 * inset, h - 2 * inset, 2);
        g.stroke();
      }
    }
  }
}

/** The rail of the row that decides. @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {number} row */
function rail(g, geo, row) {
  if (row < 0 || row >= geo.rows) return;
  const { y, h } = geo.box(row, 0);
  g.fillStyle = css("--d");
  g.fillRect(geo.left - 3, y + 1, 2, h - 2);
}

/** @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o */
function columnLabels(g, geo, o) {
  const role = o.roles?.[1] ?? "k";
  const now = (o.hover ?? o.selected)?.column;
  const narrow = geo.cellWidth < 30;
  const flat = narrow && geo.top < 30; // no room for names: numbers
  const every = narrow ? Math.ceil((flat ? 22 : 14) / geo.cellWidth) : 1;
  (o.columnLabels ?? []).forEach((text, c) => {
    const on = now === c;
    if (!on && ((c + (o.origin?.column ?? 0)) % every || beside(c, now, every))) return;
    const box = geo.box(0, c);
    const x = box.x + box.w / 2;
    if (x < geo.left - 1 || x > geo.right + 1) return;
    font(g, on ? 700 : 520, 12.5, true);
    const room = 2 * Math.floor(geo.cellWidth / 2) - 2; // in steps, so that a zoom measures few
    if (geo.cellWidth < 44) font(g, on ? 700 : 520, 10.5, true);
    if (!narrow) text = clip(g, clip(g, text, room) === text ? text : (/^\d+(?= )/.exec(text)?.[0] ?? text), room); // a number says more than half a word
    if (on) wash(g, role, narrow ? x - 9 : x - geo.cellWidth / 2 + 2, narrow ? 2 : geo.top - 27, narrow ? 18 : geo.cellWidth - 4, narrow ? geo.top - 4 : 24);
    const style = { weight: on ? 700 : 520, size: narrow ? 11 : geo.cellWidth < 44 ? 10.5 : 12.5, mono: true, color: on ? `--${role}` : "--ink-2" };
    if (!narrow) return label(g, text, x, geo.top - 15, { ...style, align: "center" });
    if (flat) return label(g, String(c + (o.origin?.column ?? 0)), x, geo.top - 11, { ...style, align: "center" });
    g.save();
    g.translate(x, geo.top - 6);
    g.rotate(-Math.PI / 2);
    font(g, style.weight, style.size, true);
    const said = clip(g, text, Math.max(20, geo.top - 8)), number = /^\d+(?= )/.exec(text)?.[0] ?? "";
    label(g, number && said !== text && said.length < number.length + 5 ? number : said, 0, 0, style); // a letter or two of a name say nothing
    g.restore();
  });
}

/** @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o */
function rowLabels(g, geo, o) {
  const now = (o.hover ?? o.selected)?.row;
  const every = geo.cellHeight < 11.5 ? Math.ceil(12 / geo.cellHeight) : 1;
  (o.rowLabels ?? []).forEach((text, r) => {
    const on = now === r;
    if (!on && ((r + (o.origin?.row ?? 0)) % every || beside(r, now, every))) return;
    const box = geo.box(r, 0);
    const y = box.y + box.h / 2;
    if (y < geo.top - 1 || y > geo.bottom + 1) return;
    const tall = Math.min(24, Math.max(14, geo.cellHeight - 2));
    if (on) wash(g, o.roles?.[0] ?? "q", 2, y - tall / 2, geo.left - 8, tall);
    rowLabel(g, geo, o, text, o.rowNotes?.[r] ?? "", y, on, (o.state?.(r, 0) ?? "ok") === "later");
  });
}

/** Whether a label would lie under that of the place that is looked at. Pure. @param {number} at @param {number | undefined} now @param {number} every so many places have one label */
const beside = (at, now, every) => now !== undefined && Math.abs(at - now) < every;

/** A row's name, and behind it a note: in a column of its own where there is room for one in every row, else close behind.
 * @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o @param {string} text @param {string} note @param {number} y @param {boolean} on @param {boolean} later */
function rowLabel(g, geo, o, text, note, y, on, later) {
  const tight = geo.left < 110;
  const small = { weight: on ? 640 : 480, size: tight ? 10.5 : 11.5, mono: true, color: on ? "--d" : "--ink-3" };
  font(g, small.weight, small.size, true);
  const said = note && clip(g, note, tight ? 46 : 52);
  const room = tight ? (said ? g.measureText(said).width + 2 : 0) : o.rowNotes ? 52 : 0;
  const right = geo.left - (tight ? 8 : 12) - room;
  const style = { weight: on ? 700 : 520, size: geo.cellHeight < 18 ? 11 : 12.5, mono: true, color: on ? `--${o.roles?.[0] ?? "q"}` : later ? "--ink-3" : "--ink-2" };
  font(g, style.weight, style.size, true);
  label(g, clip(g, text, right - 4), right, y, { ...style, align: "right" });
  if (said) label(g, said, right + (tight ? 2 : 6), y, small);
}

/** @param {CanvasRenderingContext2D} g @param {string} role @param {number} x @param {number} y @param {number} w @param {number} h */
function wash(g, role, x, y, w, h) {
  g.fillStyle = css(`--${role}-wash`);
  roundRect(g, x, y, w, h, 4);
  g.fill();
}

/** The locked cell (solid) and the cell under the pointer (dashed).
 * @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o */
function marks(g, geo, o) {
  if (o.selected && inside(geo, o.selected)) {
    const { x, y, w, h } = geo.box(o.selected.row, o.selected.column);
    g.strokeStyle = css("--ink");
    g.lineWidth = 2.5;
    roundRect(g, x - 0.5, y - 0.5, w + 1, h + 1, 4);
    g.stroke();
    if (Math.min(w, h) > 8) {
      g.strokeStyle = css("--surface");
      g.lineWidth = 1;
      roundRect(g, x + 2, y + 2, w - 4, h - 4, 2);
      g.stroke();
    }
  }
  if (o.hover && inside(geo, o.hover) && !same(o.selected, o.hover.row, o.hover.column)) {
    const { x, y, w, h } = geo.box(o.hover.row, o.hover.column);
    g.strokeStyle = css("--ink");
    g.lineWidth = 1.5;
    g.setLineDash([4, 2]);
    roundRect(g, x, y, w, h, 4);
    g.stroke();
    g.setLineDash([]);
  }
}

/** @param {Geometry} geo @param {{row: number, column: number}} at */
const inside = (geo, at) => at.row >= 0 && at.column >= 0 && at.row < geo.rows && at.column < geo.columns;

/** One vector as a line of cells.
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} values @param {{max?: number, diverging?: boolean}} [scale] */
export function vector(canvas, values, scale = {}) {
  const [g, width, height] = fit(canvas);
  const color = ramp(scale.diverging ? "--div" : "--seq");
  const unit = width / Math.max(1, values.length);
  for (let i = 0; i < values.length; i++) {
    g.fillStyle = Number.isFinite(values[i]) ? toCss(color(place(values[i], scale))) : css("--bad");
    g.fillRect(i * unit, 0, Math.max(0.6, unit - (unit > 3 ? 0.8 : 0)), height);
  }
}
