// @ts-check
/** A map of numbers in a panel of its own: title, canvas, printed scale, and two fixed lines that say what is under the pointer. */

import * as draw from "../canvas.mjs";
import { h, set, text } from "../dom.mjs";
import { binned, binOf } from "../training/gradients.mjs";
import { msg } from "../language.mjs";

/** @typedef {import("../canvas.mjs").CellState} CellState @typedef {{row: number, column: number}} At */
/**
 * @typedef {object} Picture what a panel shows
 * @property {number} rows @property {number} columns
 * @property {(row: number, column: number) => number} value @property {(row: number, column: number) => CellState} state
 * @property {{max?: number, diverging?: boolean, root?: boolean, decades?: number}} scale
 * @property {string[]} rowLabels @property {[string, string]} roles @property {number} left room for the labels, px
 * @property {At | null} selected
 * @property {(at: At | null) => [string, string]} said the two lines, for the cell under the pointer or for none
 * @property {string} described for screen readers
 * @property {(at: At) => void} chosen
 */
/** bins: how it is binned, in words; "" where it is not.
 * @typedef {{canvas: HTMLCanvasElement, lines: HTMLElement, picture: Picture | null, hover: At | null, bins: string, at: (x: number, y: number) => At | null}} Panel */

const SMALLEST = 4; // px of a cell; smaller ones are binned
const TOP = 20;

/** One of a few ways to look, as a row of buttons.
 * @param {string} name @param {string} label @param {[string, string][]} options */
export const choice = (name, label, options) => h("div", { class: "seg", role: "group", "aria-label": label, "data-choice": name }, options.map(([value, said]) => h("button", { type: "button", "data-value": value }, said)));

/** @param {string} part @param {string} title @param {string} kind of its scale @param {...any} head what stands beside the title */
export function panel(part, title, kind, ...head) {
  const canvas = h("canvas", { class: "fill", role: "img", "aria-label": title });
  const lines = h("p", { class: "panel-said" }, h("span"), h("span"));
  const element = h("figure", { class: "grad", "data-part": part },
    h("figcaption", { class: "ph" }, h("h2", { class: "h nowrap" }, title), head),
    h("div", { class: "cv" }, canvas),
    h("div", { class: `scale ${kind}` }, h("span"), h("i"), h("span"), h("span", { class: "dim" }), h("button", { class: "link", type: "button", title: msg`Fit the scale to what is shown` }, msg`fit`)),
    lines);
  /** @type {Panel} */
  const made = { canvas, lines, picture: null, hover: null, bins: "", at: () => null };
  const hover = (/** @type {At | null} */ at) => {
    if (at?.row === made.hover?.row && at?.column === made.hover?.column) return;
    made.hover = at;
    requestAnimationFrame(() => show(made));
  };
  const find = (/** @type {MouseEvent} */ event) => {
    const { x, y } = draw.pointedAt(event);
    return made.at(x, y);
  };
  canvas.onmousemove = (/** @type {MouseEvent} */ event) => hover(find(event));
  canvas.onmouseleave = () => hover(null);
  canvas.onclick = (/** @type {MouseEvent} */ event) => {
    const at = find(event);
    if (at) made.picture?.chosen(at);
  };
  return { element, panel: made };
}

/** Paint a panel's picture; a long one in bins.
 * @param {Panel} p */
export function show(p) {
  const { picture } = p;
  if (!picture) return;
  const [width, height] = draw.boxOf(p.canvas);
  const { rows, columns, left } = picture;
  const tall = binOf(rows, Math.floor((height - TOP - 2) / SMALLEST));
  const wide = binOf(columns, Math.floor((width - left - 2) / SMALLEST));
  const inBins = (/** @type {At | null} */ at) => at && { row: Math.floor(at.row / tall), column: Math.floor(at.column / wide) };
  const map = binned(picture, tall, wide);
  const geo = draw.cellMap(p.canvas, {
    ...map, scale: picture.scale, left, top: TOP, bottom: 2, right: 2, maxCell: 40, gap: 1.5, roles: picture.roles,
    rowLabels: Array.from({ length: map.rows }, (_, r) => picture.rowLabels[r * tall]), selected: inBins(picture.selected), hover: inBins(p.hover),
  });
  above(p.canvas, geo, wide, columns, inBins(p.hover ?? picture.selected)?.column ?? -1, picture.roles[1]);
  p.at = (x, y) => {
    const at = geo.at(x, y);
    return at && largestIn(picture, at.row * tall, at.column * wide, tall, wide);
  };
  p.bins = tall * wide > 1 ? msg`max of ${tall}×${wide}` : "";
  set(p.canvas, "aria-label", picture.described);
  picture.said(p.hover && p.hover.row < rows && p.hover.column < columns ? p.hover : null).forEach((said, i) => text(/** @type {any} */ (p.lines.children[i]), said));
}

/** The cell that a bin shows: the one with the largest size, or its first.
 * @param {Picture} picture @param {number} row @param {number} column @param {number} tall @param {number} wide @returns {At} */
function largestIn({ rows, columns, value, state }, row, column, tall, wide) {
  let [found, most] = [{ row, column }, -1];
  for (let r = row; r < Math.min(rows, row + tall); r++) for (let c = column; c < Math.min(columns, column + wide); c++) {
    const size = state(r, c) === "ok" ? Math.abs(value(r, c)) : -1;
    if (size > most) [found, most] = [{ row: r, column: c }, size];
  }
  return found;
}

/** The numbers of columns, as many as have room.
 * @param {HTMLCanvasElement} canvas @param {import("./heatmap.mjs").Geometry} geo @param {number} wide columns a bin @param {number} count @param {number} on @param {string} role */
function above(canvas, geo, wide, count, on, role) {
  if (!(geo.cellWidth > 0)) return;
  const g = draw.penOf(canvas);
  const every = [1, 2, 5, 10, 20, 50, 100].find((n) => n * geo.cellWidth >= (count > 10 ? 19 : 12)) ?? 100;
  for (let c = 0; c < geo.columns; c++) {
    const near = c !== on && on >= 0 && Math.abs(c - on) * geo.cellWidth < 19;
    if (c !== on && (c % every || near)) continue;
    const x = geo.left + (c + 0.5) * geo.cellWidth;
    if (c === on) {
      g.fillStyle = draw.css(`--${role}-wash`);
      draw.roundRect(g, x - Math.max(10, Math.min(14, geo.cellWidth / 2)), 0, Math.max(20, Math.min(28, geo.cellWidth)), TOP - 3, 4);
      g.fill();
    }
    if (c !== on && x + String(c * wide).length * 3.4 > canvas.clientWidth) continue; // no half numbers at the edge
    draw.label(g, String(c * wide), x, TOP / 2 - 1, { size: 11, mono: true, weight: c === on ? 700 : 500, align: "center", color: c === on ? `--${role}` : "--ink-3" });
  }
}

/** The printed scale, and what "fit" does.
 * @param {any} element of the panel @param {string} low @param {string} high @param {string} said @param {() => void} fit */
export function printScale(element, low, high, said, fit) {
  const [a, , b, words, button] = element.children[2].children;
  text(a, low);
  text(b, high);
  text(words, said);
  button.onclick = fit;
}
