// @ts-check
/** The receptive field of stacked windows: which earlier rows can reach a row at all, by the wiring alone. */

import * as read from "../reads.mjs";
import * as tapes from "./tapes.mjs";

/** @typedef {import("../types").World} World */
/** One layer's window: so many rows, so far apart. @typedef {{name: string, kernel: number, dilation: number}} Layer */
/** @typedef {{layers: Layer[], backs: Set<number>, span: number}} Field backs: how many rows back, each that is seen; span: to the oldest, itself among them */

/** What a call keeps for its windows says how far apart their rows stand: (k - 1) r rows a layer. null: there are no such windows, or nothing
 * is kept at this moment. @param {World} world @returns {Field | null} */
export function field(world) {
  const kernel = world.moved?.sizes?.k ?? 0;
  const windows = stacked(world);
  const kept = new Map((world.moved?.kept ?? []).map((/** @type {any} */ k) => [k.path, k.shape[1]]));
  if (!kernel || !windows.length) return null;
  const layers = windows.map((scope) => ({ name: scope, kernel, rows: kept.get(`${scope}.inputs`) }));
  if (layers.some((l) => l.rows === undefined)) return null;
  return reached(layers.map(({ name, rows }) => ({ name, kernel, dilation: kernel > 1 ? rows / (kernel - 1) : 1 })));
}

/** Scopes of target windows that stand on each other, from the first to the last. @param {World} world @returns {string[]} */
function stacked(world) {
  const taps = (world.schema?.taps ?? []).filter((/** @type {any} */ t) => t.axes[1] === "t" && t.axes[2] === "k" && t.path.endsWith(".window"));
  return taps.map((/** @type {any} */ t) => t.path.slice(0, -".window".length));
}

/** Whether the field takes the place of the states: nothing is read, nothing carried. @param {World} world */
export const fieldShown = (world) => tapes.alone(world) && stacked(world).length > 0 && read.phase(world) !== "train";

/** Sums of one place of every layer's window. @param {Layer[]} layers @returns {Field} */
export function reached(layers) {
  let backs = new Set([0]);
  for (const { kernel, dilation } of layers) {
    const next = new Set();
    for (const back of backs) for (let place = 0; place < kernel; place++) next.add(back + place * dilation);
    backs = next;
  }
  return { layers, backs, span: Math.max(...backs) + 1 };
}

/** Rows back that are seen at each height from one row on top: [top layer's output, ..., what enters the first layer].
 * @param {Layer[]} layers @returns {Set<number>[]} */
export function cone(layers) {
  const found = [new Set([0])];
  for (const { kernel, dilation } of [...layers].reverse()) {
    const next = new Set();
    for (const back of found[0]) for (let place = 0; place < kernel; place++) next.add(back + place * dilation);
    found.unshift(next);
  }
  return found.reverse();
}
