// @ts-check
/** Small multiples: every layer and head of a relation as a picture, the selected one framed. */

import { boxOf, place } from "../canvas.mjs";
import { binFor } from "../draw/bins.mjs";
import { h, list, set } from "../dom.mjs";
import { msg } from "../language.mjs";
import { arrived, cellState, reserve } from "./maps.mjs";
import { within } from "../draw/pan.mjs";
import * as read from "../reads.mjs";
import { ground, thumb } from "../draw/thumbs.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context @typedef {import("../types").Known} Known @typedef {import("../canvas.mjs").CellState} CellState */

/** How many squares a picture has on a side, at most: more cannot be told apart. */
const MOST = 65;
/** Up to so many rows or keys the server sends every number, and the page looks for the largest of each square. */
const WHOLE = 129;

/** How many rows and keys a square of the pictures stands for, and how many of them the server is to send the largest of. A run that grows past the
 * size of a square is not sent anew: its next step would take twice the time.
 * @param {World} world */
export function squareSizes(world) {
  const at = read.relation(world);
  const most = at ? Math.max(reserve(read.rows(world, at.info.query).length), reserve(read.rows(world, at.info.key).length)) : 1;
  const shown = binFor(most, MOST);
  return { shown, sent: most <= WHOLE ? 1 : shown };
}

/** The largest known number of each square. Pure.
 * @param {(row: number, key: number) => number} value of a cell, or of a square that was sent @param {number} side how many of these a square has
 * @returns {(row: number, key: number) => number} */
export function squares(value, side) {
  if (side === 1) return value;
  return (row, key) => {
    let most = NaN;
    for (let r = row * side; r < (row + 1) * side; r++) {
      for (let k = key * side; k < (key + 1) * side; k++) {
        const v = value(r, k);
        if (!(v <= most) && v === v) most = v;
      }
    }
    return most;
  };
}

/** @param {HTMLElement} element @param {World} world @param {Context} context @param {Known[]} values weights of all layers
 * @param {import("./pane.mjs").Showing["scale"]} scale of weights @returns {() => void} paints the pictures, when all is in its place */
export function drawMinis(element, world, context, values, scale) {
  const at = read.relation(world);
  if (!at) return () => {};
  const pictures = /** @type {(() => void)[]} */ ([]);
  const canvases = /** @type {HTMLCanvasElement[]} */ ([]);
  const { layers, heads } = at.info;
  const columns = `18px repeat(${heads}, minmax(0, 1fr))`;
  if (element.style.getPropertyValue("--layers") !== String(layers)) element.style.setProperty("--layers", String(layers));
  if (element.style.gridTemplateColumns !== columns) {
    element.style.gridTemplateColumns = columns;
    element.closest("section")?.style.setProperty("--heads", String(heads));
  }
  const found = new Map(values.map((k) => [k.path, k]));
  const request = read.request(world);
  const plain = scale.max === 1 && !scale.decades;
  // The mask is that of a layer: asked for once, not by each head. Whether a number is there is left to the numbers.
  const { shown: bin, sent } = squareSizes(world);
  const grounds = Array.from({ length: layers }, (_, layer) => layerGround(world, at.info, layer, bin));
  if (element.dataset.at !== `${at.layer} ${at.head}`) queueMicrotask(() => inSight(element, `${at.layer} ${at.head}`));
  list(element, (at.info.query === "r" ? single() : places(layers, heads)), (_, i) => `${i} ${heads}`, (o) => ("name" in o ? h("span", { class: o.head ? "head" : null }, o.name) : h("button", { class: "mini", type: "button" }, h("canvas", { "aria-hidden": "true" }))), (button, o) => {
    if ("name" in o) return;
    set(button, "aria-pressed", String(o.layer === at.layer && o.head === at.head));
    set(button, "aria-label", msg`Layer ${o.layer + 1} head ${o.head + 1}`);
    button.onclick = () => context.look({ relation: at.info.name, layer: o.layer, head: o.head, path: null, op: null });
    const weights = found.get(read.tapsOf(world, at.info, o.layer).weights);
    const known = read.told(world, at.info, o.layer, read.cells(weights, request, o.head), sent);
    const value = squares(known, bin / sent);
    canvases.push(button.firstElementChild);
    pictures.push(() => thumb(button.firstElementChild, grounds[o.layer], plain ? value : (r, c) => place(value(r, c), scale), bin === 1 ? arrived(world, weights, { info: at.info, ...o }) : undefined));
  });
  return () => {
    canvases.forEach(boxOf); // all before the first is drawn, so that the page is laid out once
    pictures.forEach((picture) => picture());
  };
}

/** Names of heads above, of layers beside. @param {number} layers @param {number} heads @returns {({name: string, head: boolean} | {layer: number, head: number})[]} */
const places = (layers, heads) => [
  { name: "", head: true }, ...Array.from({ length: heads }, (_, i) => ({ name: `H${i + 1}`, head: true })),
  ...Array.from({ length: layers }, (_, layer) => [{ name: `L${layer + 1}`, head: false }, ...Array.from({ length: heads }, (_, head) => ({ layer, head }))]).flat(),
];

/** One map that is neither a layer's nor a head's. @returns {ReturnType<typeof places>} */
const single = () => [{ name: "", head: true }, { name: "A", head: true }, { name: "", head: false }, { layer: 0, head: 0 }];

/** @param {World} world @param {any} info @param {number} layer @param {number} bin */
function layerGround(world, info, layer, bin) {
  const [rows, keys] = [read.rows(world, info.query), read.rows(world, info.key)];
  const state = cellState(info, layer, rows, keys, () => 0);
  const [tall, wide] = [Math.max(1, rows.length), Math.max(1, keys.length)];
  if (bin === 1) return ground(tall, wide, state);
  return ground(Math.ceil(tall / bin), Math.ceil(wide / bin), (r, c) => corners(state, r * bin, c * bin, Math.min((r + 1) * bin, tall) - 1, Math.min((c + 1) * bin, wide) - 1));
}

/** What a square shows where it cannot look at each of its cells: a number if one of its corners or its middle has one, else what its first cell is.
 * @param {(row: number, key: number) => CellState} state @param {number} top @param {number} left @param {number} bottom @param {number} right */
function corners(state, top, left, bottom, right) {
  const seen = [state(bottom, left), state(top, left), state(bottom, right), state(top, right), state((top + bottom) >> 1, (left + right) >> 1)];
  return seen.find((s) => s === "ok") ?? seen[0];
}

/** Scroll the small multiples to the chosen one when it changes, when all is drawn: it asks where things lie.
 * @param {HTMLElement} element @param {string} name */
function inSight(element, name) {
  element.dataset.at = name;
  const on = /** @type {HTMLElement | null} */ (element.querySelector("[aria-pressed=true]"));
  if (on && element.scrollHeight > element.clientHeight + 4) element.scrollTop = within(element.scrollTop, element.clientHeight, on.offsetTop - 20, on.offsetTop + on.offsetHeight + 4);
}
