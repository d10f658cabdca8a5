// @ts-check
/** How a read of a picture is drawn: the picture dims where nothing is read, and a place that is read lights up by its share. */

import { css, font, ramp, toCss } from "../canvas.mjs";
import * as read from "../reads.mjs";
import { pixels } from "../setup/drawing.mjs";

/** @typedef {import("../types").World} World @typedef {{x: number, y: number, w: number, h: number}} Box @typedef {{lines: number, columns: number}} Grid */
/** @typedef {{lines: number[][], cut: Grid, shares: number[], drawn: number | null, set: boolean, large: boolean, pointed: number | null}} Look shares: of each place; drawn: the one that was drawn, or set by a person */

/** Room for the words under the small pictures, px, and between pictures. */
const [WORDS, GAP] = [18, 10];
/** So many words have a place from the start, so that nothing moves while they come. */
const PLACES = 8;

/** Where the large picture and the small ones lie. Pure.
 * @param {number} width @param {number} height @param {number} rows @param {Grid} cut */
export function layout(width, height, rows, cut) {
  const share = cut.columns / cut.lines;
  const whole = Math.max(1, Math.floor((height - 2) / cut.lines)) * cut.lines;
  /** @type {Box} */
  const large = { x: 1, y: 1, w: whole * share, h: whole };
  const left = large.w + 2 * GAP + 6;
  const count = Math.max(PLACES, rows);
  const size = Math.min((height - WORDS - 2) / 1, (width - left) / count - GAP);
  const tall = Math.max(18, Math.floor(size / share));
  const small = (/** @type {number} */ row) => ({ x: Math.round(left + row * (tall * share + GAP)), y: Math.round((height - WORDS - tall) / 2), w: tall * share, h: tall });
  const inside = (/** @type {Box} */ b, /** @type {number} */ x, /** @type {number} */ y) => (x >= b.x && y >= b.y && x < b.x + b.w && y < b.y + b.h ? Math.floor(((y - b.y) / b.h) * cut.lines) * cut.columns + Math.floor(((x - b.x) / b.w) * cut.columns) : null);
  /** What lies under a point: a row, or null for the one that is large, and a place. @param {number} x @param {number} y @returns {{row: number | null, place: number | null} | null} */
  const at = (x, y) => {
    const place = inside(large, x, y);
    if (place !== null) return { row: null, place };
    for (let row = 0; row < rows; row++) {
      const found = inside(small(row), x, y);
      if (found !== null) return { row, place: found };
    }
    return null;
  };
  return { large, small, at };
}

/** The tap of places that were drawn, in a model that reads one alone. @param {World} world @returns {string | null} */
export function location(world) {
  const at = read.relation(world);
  const base = at ? `${read.scope(at.info, at.layer)}.` : "";
  return world.schema?.taps.find((/** @type {any} */ t) => t.type === "decision" && t.path.startsWith(base))?.path ?? null;
}

/** What a view that shows looks watches: the shares, and what was drawn. @param {World} world @returns {import("../types").Selector[]} */
export function looks(world) {
  const at = location(world);
  const whole = read.readSelectors(world).slice(0, 1);
  return at ? [...whole, { path: at, index: whole[0]?.index, dtype: "u8" }] : whole;
}

/** The share of each place in one row's read; NaN where it is not known.
 * @param {World} world @param {string} view @param {number} row @returns {number[]} */
export function shares(world, view, row) {
  const cells = read.readCells(world, view);
  return read.rows(world, "s").map((_, key) => (row < 0 ? NaN : cells(row, key)));
}

/** The place that was drawn for a row, where the model draws one.
 * @param {World} world @param {string} view @param {number} row @returns {number | null} */
export function place(world, view, row) {
  const at = read.relation(world);
  const found = world.values(view, 1)[0];
  if (!at || !found || row < 0) return null;
  const cells = read.told(world, at.info, at.layer, read.cells(found, read.request(world), at.head));
  const key = read.rows(world, "s").findIndex((_, k) => cells(row, k) > 0.5);
  return key < 0 ? null : key;
}

/** The word that a row leads to, or where it is not told yet the word that it was given. @param {World} world @param {number} row */
export const word = (world, row) => read.decides(world, "t", row) || (read.rows(world, "t")[row]?.token ?? "");

/** The share from which on a place is as light as can be: one scale for every word and step. */
const FULL = 0.4;

/** One picture with what is read of it.
 * @param {CanvasRenderingContext2D} g @param {Box} b @param {Look} o */
export function look(g, b, o) {
  const { cut, lines, drawn } = o;
  pixels(g, lines, b.x, b.y, b.w, b.h);
  const [wide, high] = [b.w / cut.columns, b.h / cut.lines];
  const color = ramp("--seq");
  o.shares.forEach((share, key) => {
    const [x, y] = [b.x + (key % cut.columns) * wide, b.y + Math.floor(key / cut.columns) * high];
    const part = Number.isNaN(share) ? 0 : Math.sqrt(Math.min(1, share / FULL));
    g.globalAlpha = 0.72 * (1 - part);
    g.fillStyle = css("--surface");
    g.fillRect(x, y, wide, high);
    g.globalAlpha = 0.5 * part;
    g.fillStyle = toCss(color(0.2 + 0.35 * part));
    g.fillRect(x, y, wide, high);
    g.globalAlpha = 1;
  });
  lattice(g, b, cut, o.large);
  o.shares.forEach((share, key) => {
    const [x, y] = [b.x + (key % cut.columns) * wide, b.y + Math.floor(key / cut.columns) * high];
    if (key === drawn) edge(g, x, y, wide, high, "--d-fill", o.large ? 3 : 2);
    if (key === drawn && o.set) corner(g, x, y, wide / 3);
    else if (o.large && key === o.pointed) edge(g, x, y, wide, high, "--ink", 2);
    else if (drawn === null && share >= 0.1) edge(g, x, y, wide, high, "--v-fill", o.large ? 1 + 3 * share : 1.5);
    if (o.large && wide >= 22 && share >= 0.005) number(g, share, x + wide / 2, y + high - 3);
  });
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h @param {string} color @param {number} width */
function edge(g, x, y, w, h, color, width) {
  g.strokeStyle = css(color);
  g.lineWidth = width;
  g.strokeRect(x + width / 2, y + width / 2, w - width, h - width);
}

/** The sign of a place that a person set. @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} size */
function corner(g, x, y, size) {
  g.fillStyle = css("--d-fill");
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x + size, y);
  g.lineTo(x, y + size);
  g.fill();
}

/** A share in percent, on a ground that lets it be read over ink. @param {CanvasRenderingContext2D} g @param {number} share @param {number} x @param {number} y */
function number(g, share, x, y) {
  font(g, 620, 10.5, true);
  const said = (100 * share).toFixed(0);
  g.textAlign = "center";
  g.textBaseline = "alphabetic";
  g.lineWidth = 3;
  g.strokeStyle = css("--surface");
  g.strokeText(said, x, y);
  g.fillStyle = css("--ink");
  g.fillText(said, x, y);
}

/** The places' borders. @param {CanvasRenderingContext2D} g @param {Box} b @param {Grid} cut @param {boolean} all */
function lattice(g, b, cut, all) {
  g.strokeStyle = css("--line");
  g.lineWidth = 1;
  for (let i = 1; all && i < cut.columns; i++) line(g, b.x + (i * b.w) / cut.columns, b.y, 0, b.h);
  for (let i = 1; all && i < cut.lines; i++) line(g, b.x, b.y + (i * b.h) / cut.lines, b.w, 0);
  g.strokeStyle = css("--line-2");
  g.strokeRect(Math.round(b.x) + 0.5, Math.round(b.y) + 0.5, Math.round(b.w) - 1, Math.round(b.h) - 1);
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} dx @param {number} dy */
function line(g, x, y, dx, dy) {
  g.beginPath();
  g.moveTo(Math.round(x) + (dx ? 0 : 0.5), Math.round(y) + (dy ? 0 : 0.5));
  g.lineTo(Math.round(x + dx) + (dx ? 0 : 0.5), Math.round(y + dy) + (dy ? 0 : 0.5));
  g.stroke();
}
