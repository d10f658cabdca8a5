// @ts-check
/** Numbers as colours: a map of cells with their states, a vector, and the scales of both. */

import { clip, cross, css, dashed, dots, fit, font, hatch, label, luminance, ramp, rgb, roundRect, toCss } from "./canvas.mjs";

/** @typedef {import("./canvas.mjs").Rgb} Rgb */
/** @typedef {"ok" | "model" | "user" | "later" | "padded"} CellState ok: a number; masked by model or user; not computed yet; padded */

/** Where the cells of a map lie. Pure.
 * @param {number} width @param {number} height of the canvas
 * @param {{rows: number, columns: number, left?: number, top?: number, bottom?: number, right?: number, maxCell?: number}} o
 * @returns {Geometry} */
export function geometry(width, height, o) {
  const { rows, columns, left = 0, top = 0, bottom = 0, right = 0 } = o;
  let cellWidth = Math.max(0, (width - left - right) / Math.max(1, columns));
  let cellHeight = Math.max(0, (height - top - bottom) / Math.max(1, rows));
  if (o.maxCell) {
    cellWidth = Math.min(cellWidth, o.maxCell * 1.5);
    cellHeight = Math.min(cellHeight, o.maxCell);
  }
  return {
    cellWidth, cellHeight, left, top, rows, columns,
    at(x, y) {
      const column = Math.floor((x - left) / cellWidth);
      const row = Math.floor((y - top) / cellHeight);
      return row >= 0 && column >= 0 && row < rows && column < columns ? { row, column } : null;
    },
    box: (row, column) => ({ x: left + column * cellWidth, y: top + row * cellHeight, w: cellWidth, h: cellHeight }),
  };
}

/**
 * @typedef {object} Geometry
 * @property {number} cellWidth @property {number} cellHeight @property {number} left @property {number} top
 * @property {number} rows @property {number} columns
 * @property {(x: number, y: number) => {row: number, column: number} | null} at the cell under a point (CSS pixels)
 * @property {(row: number, column: number) => {x: number, y: number, w: number, h: number}} box
 */

/** A value's place on a scale, 0..1. Pure. linear: v / max. diverging: 0.5 is zero. log: `decades` below max is 0.
 * @param {number} value @param {{max?: number, diverging?: boolean, decades?: number}} [scale] */
export function place(value, scale = {}) {
  const max = scale.max || 1;
  if (scale.diverging) return 0.5 + 0.5 * Math.sign(value) * Math.min(1, Math.abs(value) / max);
  if (scale.decades) return 1 + Math.log10(Math.max(value, max * 10 ** -scale.decades) / max) / scale.decades;
  return value / max;
}

/** A number as a cell prints it: ".85", "1.0", "−.07". Pure.
 * @param {number} value */
export const cellText = (value) => value.toFixed(2).replace(/^(-?)0\./, "$1.").replace(/^1\.00$/, "1.0").replace("-", "−");

/**
 * @typedef {object} MapOptions
 * @property {number} rows @property {number} columns
 * @property {(row: number, column: number) => number} value NaN where nothing is known
 * @property {(row: number, column: number) => CellState} [state] "ok" if left out
 * @property {{max?: number, diverging?: boolean, decades?: number}} [scale]
 * @property {number} [left] @property {number} [top] @property {number} [right] @property {number} [bottom] @property {number} [maxCell] room, px
 * @property {number} [gap] between cells, px
 * @property {boolean} [values] print values in cells of more than 30 px
 * @property {(value: number) => string} [format]
 * @property {{row: number, column: number} | null} [selected] @property {{row: number, column: number} | null} [hover]
 * @property {string[]} [rowLabels] @property {string[]} [rowNotes] "→ …" behind a row's label @property {string[]} [columnLabels]
 * @property {[string, string]} [roles] of rows and columns, ["q", "k"]
 */

/** A heat map whose cells may be masked, not computed, or padded. Draws and says where the cells lie.
 * @param {HTMLCanvasElement} canvas @param {MapOptions} o @returns {Geometry} */
export function cellMap(canvas, o) {
  const [g, width, height] = fit(canvas);
  const geo = geometry(width, height, o);
  if (!o.rows || !o.columns || geo.cellWidth <= 0 || geo.cellHeight <= 0) return geo;
  const color = ramp(o.scale?.diverging ? "--div" : "--seq");
  if (Math.min(geo.cellWidth, geo.cellHeight) < 6) pixels(g, geo, o, color);
  else for (let r = 0; r < o.rows; r++) for (let c = 0; c < o.columns; c++) cell(g, geo, o, r, c, color);
  if (o.columnLabels) columnLabels(g, geo, o);
  if (o.rowLabels) rowLabels(g, geo, o);
  marks(g, geo, o);
  return geo;
}

/** Many tiny cells: one image instead of thousands of boxes.
 * @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o @param {(t: number) => Rgb} color */
function pixels(g, geo, o, color) {
  const image = new ImageData(o.columns, o.rows);
  const flat = { model: mix("--surface", "--hatch", 0.45), user: rgb(css("--ink-2")), later: rgb(css("--surface")), padded: rgb(css("--sunk")) };
  for (let r = 0, i = 0; r < o.rows; r++) {
    for (let c = 0; c < o.columns; c++, i += 4) {
      const state = o.state?.(r, c) ?? "ok";
      const v = state === "ok" ? o.value(r, c) : 0;
      image.data.set(state !== "ok" ? flat[state] : Number.isFinite(v) ? color(place(v, o.scale)) : rgb(css("--bad")), i);
      image.data[i + 3] = 255;
    }
  }
  const sheet = new OffscreenCanvas(o.columns, o.rows);
  /** @type {OffscreenCanvasRenderingContext2D} */ (sheet.getContext("2d")).putImageData(image, 0, 0);
  g.imageSmoothingEnabled = false;
  g.drawImage(sheet, geo.left, geo.top, geo.cellWidth * o.columns, geo.cellHeight * o.rows);
  g.strokeStyle = css("--line");
  g.lineWidth = 1;
  g.strokeRect(geo.left + 0.5, geo.top + 0.5, geo.cellWidth * o.columns - 1, geo.cellHeight * o.rows - 1);
}

/** @param {string} a @param {string} b tokens @param {number} t @returns {Rgb} */
function mix(a, b, t) {
  const [x, y] = [rgb(css(a)), rgb(css(b))];
  return /** @type {Rgb} */ (x.map((v, i) => Math.round(v + (y[i] - v) * t)));
}

/** @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o @param {number} r @param {number} c @param {(t: number) => Rgb} color */
function cell(g, geo, o, r, c, color) {
  const gap = o.gap ?? 2;
  const b = geo.box(r, c);
  const [x, y, w, h] = [b.x + gap / 2, b.y + gap / 2, b.w - gap, b.h - gap];
  const state = o.state?.(r, c) ?? "ok";
  if (state === "ok") return value(g, o, x, y, w, h, o.value(r, c), color, same(o.selected, r, c) || same(o.hover, r, c));
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

/** A place whose dashes would be scribbles.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h */
function outline(g, x, y, w, h) {
  g.strokeStyle = css("--line");
  g.lineWidth = 1;
  g.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}

/** @param {{row: number, column: number} | null | undefined} at @param {number} r @param {number} c */
const same = (at, r, c) => !!at && at.row === r && at.column === c;

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
  if (!o.values || w <= 30 || h <= 19) return;
  font(g, strong ? 700 : 500, h > 30 ? 12.5 : 11, true);
  g.fillStyle = luminance(fill) > 0.3 ? "#131A22" : "#FFFFFF";
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillText((o.format ?? cellText)(v), x + w / 2, y + h / 2 + 0.5);
}

/** @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o */
function columnLabels(g, geo, o) {
  const role = o.roles?.[1] ?? "k";
  const now = (o.hover ?? o.selected)?.column;
  const narrow = geo.cellWidth < 30;
  const every = narrow ? Math.ceil(16 / geo.cellWidth) : 1;
  (o.columnLabels ?? []).forEach((text, c) => {
    const on = now === c;
    if (!on && c % every) return;
    const x = geo.left + (c + 0.5) * geo.cellWidth;
    font(g, on ? 700 : 520, 12.5, true);
    if (!narrow) text = clip(g, text, geo.cellWidth - 2);
    if (on) wash(g, role, narrow ? x - 9 : x - geo.cellWidth / 2 + 2, narrow ? geo.top - 68 : geo.top - 27, narrow ? 18 : geo.cellWidth - 4, narrow ? 66 : 24);
    const style = { weight: on ? 700 : 520, size: narrow ? 11 : 12.5, mono: true, color: on ? `--${role}` : "--ink-2" };
    if (!narrow) return label(g, text, x, geo.top - 15, { ...style, align: "center" });
    g.save();
    g.translate(x, geo.top - 6);
    g.rotate(-Math.PI / 2);
    font(g, style.weight, style.size, true);
    label(g, clip(g, text, Math.max(20, geo.top - 8)), 0, 0, style);
    g.restore();
  });
}

/** @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {MapOptions} o */
function rowLabels(g, geo, o) {
  const role = o.roles?.[0] ?? "q";
  const now = (o.hover ?? o.selected)?.row;
  const every = geo.cellHeight < 14 ? Math.ceil(14 / geo.cellHeight) : 1;
  const room = o.rowNotes ? 52 : 0;
  (o.rowLabels ?? []).forEach((text, r) => {
    const on = now === r;
    if (!on && r % every) return;
    const y = geo.top + (r + 0.5) * geo.cellHeight;
    const tall = Math.min(24, Math.max(14, geo.cellHeight - 2));
    if (on) wash(g, role, 2, y - tall / 2, geo.left - 8, tall);
    const later = (o.state?.(r, 0) ?? "ok") === "later";
    font(g, on ? 700 : 520, 12.5, true);
    const style = { weight: on ? 700 : 520, size: geo.cellHeight < 18 ? 11 : 12.5, mono: true, color: on ? `--${role}` : later ? "--ink-3" : "--ink-2" };
    label(g, clip(g, text, geo.left - 16 - room), geo.left - 12 - room, y, { ...style, align: "right" });
    if (!o.rowNotes?.[r]) return;
    font(g, on ? 640 : 480, 11.5, true);
    label(g, clip(g, "→" + o.rowNotes[r], room), geo.left - 6 - room, y, { weight: on ? 640 : 480, size: 11.5, mono: true, color: on ? "--d" : "--ink-3" });
  });
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
