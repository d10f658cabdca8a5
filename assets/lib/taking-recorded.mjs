// @ts-check
/** What a recording knows at a moment, and what of it a selector takes: what app/session/trace.py does for a run that is computed. */

import { Block } from "./store.mjs";

/** @typedef {import("./wire.mjs").Frame} Frame @typedef {import("./types").Selector} Selector */
/** @typedef {{axes: string[], shape: number[], data: Float32Array, start: Record<string, number>}} Part */

/** What is known at a moment: from the keyframe before it on, by path, side and axes. */
export class Recorded {
  /** @param {{values: Frame[]}[]} moments @param {{path: string, axes: string[]}[]} taps */
  constructor(moments, taps) {
    this.moments = moments;
    this.taps = new Map(taps.map((tap) => [tap.path, tap.axes.length]));
    this.at = -1;
    /** @type {Map<string, Block>} */
    this.blocks = new Map();
  }

  /** @param {number} at */
  stand(at) {
    if (at === this.at) return;
    const begins = (/** @type {number} */ i) => this.moments[i].values.some((f) => f.event.keyframe);
    let from = this.at + 1;
    if (at !== from) {
      for (from = at; from > 0 && !begins(from); ) from--;
      this.forget();
      if (from > 0) for (const frame of this.moments[0].values) if (!frame.event.keyframe) this.put(frame); // parameters
    }
    for (let i = from; i <= at; i++) for (const frame of this.moments[i].values) this.put(frame);
    this.at = at;
  }

  /** Parameters stay: where nothing is trained they came once. */
  forget() {
    for (const [key, block] of this.blocks) if (!block.path.startsWith("parameter.")) this.blocks.delete(key);
  }

  /** @param {Frame} frame */
  put(frame) {
    if (frame.event.keyframe) this.forget();
    for (const piece of frame.event.pieces) {
      const key = `${piece.side} ${piece.path} ${piece.axes.join(" ")}`;
      let block = this.blocks.get(key);
      if (!block) this.blocks.set(key, (block = new Block(piece.path, piece.side, piece.axes, 1)));
      block.put(/** @type {any} */ (frame.tensors.get(piece.array.tensor)), piece.axes.map((/** @type {string} */ axis) => piece.start?.[axis] ?? 0));
    }
  }

  /** What these selectors take, as app/session/trace.py takes it from a model's recording.
   * @param {number} at @param {Selector[]} selectors */
  pieces(at, selectors) {
    this.stand(at);
    /** @type {any[]} */
    const pieces = [];
    const tensors = new Map();
    selectors.forEach((selector, number) => {
      for (const block of this.found(selector)) {
        let part = slice(block, selector);
        if (part && selector.reduce === "norm") part = norm(part);
        const bin = selector.bin ?? 1;
        if (part && bin > 1) part = binned(part, bin);
        if (!part) continue;
        const tensor = String(pieces.length);
        tensors.set(tensor, { dtype: "F32", shape: part.shape, data: part.data });
        pieces.push({ selector: number, path: block.path, side: block.side, axes: part.axes, start: part.start, bin, array: { tensor, low: 0, high: 1 } });
      }
    });
    return { pieces, tensors };
  }

  /** Blocks of a selector. A norm is taken from what was recorded as a norm, where that is there; values never.
   * @param {Selector} selector */
  found(selector) {
    const fits = matcher(selector.path);
    const whole = (/** @type {Block} */ b) => b.axes.length >= (this.taps.get(b.path) ?? 0);
    const all = [...this.blocks.values()].filter((b) => b.side === (selector.side ?? "value") && fits(b.path));
    if (selector.reduce !== "norm") return all.filter(whole);
    const norms = new Set(all.filter((b) => !whole(b)).map((b) => b.path));
    return all.filter((b) => !whole(b) || !norms.has(b.path));
  }
}

/** A part of a block: one index or a span of some axes, which stay. Null where nothing of it is there.
 * @param {Block} block @param {Selector} selector @returns {Part | null} */
function slice(block, { index = {}, span = {} }) {
  const spans = block.axes.map((letter, i) => {
    const [first, end] = letter in index ? [index[letter], index[letter] + 1] : (span[letter] ?? [0, block.shape[i]]);
    return [first, Math.min(end, block.shape[i])];
  });
  if (spans.some(([first, end]) => first >= end)) return null;
  const shape = spans.map(([first, end]) => end - first);
  const start = Object.fromEntries(block.axes.flatMap((letter, i) => (spans[i][0] ? [[letter, spans[i][0]]] : [])));
  const data = new Float32Array(sizeOf(shape));
  const run = shape.at(-1) ?? 1;
  const base = spans.reduce((sum, [first], i) => sum + first * block.strides[i], 0);
  let at = 0;
  each(shape.slice(0, -1), (place) => {
    const begin = place.reduce((sum, p, i) => sum + p * block.strides[i], base);
    data.set(block.data.subarray(begin, begin + run), at);
    at += run;
  });
  return { axes: block.axes, shape, data, start };
}

/** L2 norm over axes that own no rows, so that a map of rows remains.
 * @param {Part} part @returns {Part} */
function norm({ axes, shape, data, start }) {
  const keeps = axes.map((letter) => "bsthgv".includes(letter.replace(/'+$/, "")));
  const left = shape.filter((_, i) => keeps[i]);
  const out = new Float32Array(sizeOf(left));
  let at = 0;
  each(shape, (place) => {
    out[place.reduce((sum, p, i) => (keeps[i] ? sum * shape[i] + p : sum), 0)] += data[at++] ** 2;
  });
  return { axes: axes.filter((_, i) => keeps[i]), shape: left, data: out.map(Math.sqrt), start };
}

/** The largest value of each square of `size` rows and keys; squares lie where row 0 begins. What is not known counts nothing.
 * @param {Part} part @param {number} size @returns {Part} */
function binned({ axes, shape, data, start }, size) {
  const rows = axes.map((letter) => /^[st]'*$/.test(letter));
  const first = axes.map((letter) => start[letter] ?? 0);
  const square = (/** @type {number} */ i, /** @type {number} */ p) => (rows[i] ? Math.floor((first[i] + p) / size) - Math.floor(first[i] / size) : p);
  const left = shape.map((n, i) => square(i, n - 1) + 1);
  const out = new Float32Array(sizeOf(left)).fill(NaN);
  let at = 0;
  each(shape, (place) => {
    const to = place.reduce((sum, p, i) => sum * left[i] + square(i, p), 0);
    const value = data[at++];
    if (!(value <= out[to])) out[to] = Number.isNaN(value) ? out[to] : value;
  });
  const starts = Object.fromEntries(Object.entries(start).map(([letter, s]) => [letter, rows[axes.indexOf(letter)] ? Math.floor(s / size) : s]).filter(([, s]) => s));
  return { axes, shape: left, data: out, start: starts };
}

/** @param {number[]} shape */
const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** Every place of a rectangle, the last axis fastest. @param {number[]} shape @param {(place: number[]) => void} act */
function each(shape, act) {
  const place = shape.map(() => 0);
  for (let n = sizeOf(shape); n > 0; n--) {
    act(place);
    for (let i = shape.length - 1; i >= 0 && ++place[i] === shape[i]; i--) place[i] = 0;
  }
}

/** Whether a dotted path fits a glob; `*` crosses dots. @param {string} pattern */
function matcher(pattern) {
  const text = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  const expression = new RegExp(`^${text}$`, "s");
  return (/** @type {string} */ path) => expression.test(path);
}
