// @ts-check
/** How a read of a picture is drawn: the picture dims where nothing is read, and a place that is read lights up by its share. */

import { css, ramp, toCss } from "../canvas.mjs";
import * as read from "../reads.mjs";
import { pixels } from "../setup/drawing.mjs";

/** @typedef {import("../types").World} World @typedef {{x: number, y: number, w: number, h: number}} Box @typedef {{lines: number, columns: number}} Grid */
/** @typedef {{lines: number[][], cut: Grid, shares: number[], drawn: number | null, set: boolean, large: boolean, pointed: number | null}} Look shares: of each place; drawn: the one that was drawn, or set by a person */

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
    const taken = drawn === null || !o.large ? share : Number(key === drawn); // of one that is drawn nothing else is read
    const part = Number.isNaN(taken) ? 0 : Math.sqrt(Math.min(1, taken / FULL));
    g.globalAlpha = 0.72 * (1 - part);
    g.fillStyle = css("--surface");
    g.fillRect(x, y, wide, high);
    g.globalAlpha = drawn === null || !o.large ? 0.5 * part : 0;
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
  });
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h @param {string} color @param {number} width */
export function edge(g, x, y, w, h, color, width) {
  g.strokeStyle = css(color);
  g.lineWidth = width;
  g.strokeRect(x + width / 2, y + width / 2, w - width, h - width);
}

/** The sign of a place that a person set. @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} size */
export function corner(g, x, y, size) {
  g.fillStyle = css("--d-fill");
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x + size, y);
  g.lineTo(x, y + size);
  g.fill();
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
