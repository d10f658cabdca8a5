// @ts-check
/** What a recording knows at a moment, and what of it a selector takes: what app/session/trace.py does for a run that is computed. */

import { Block } from "../run/block.mjs";

/** @typedef {import("../run/wire.mjs").Frame} Frame @typedef {import("../types").Selector} Selector */
/** @typedef {{at: number, begun: number, start: number[], tensor: any}} Part what came of a track at a moment, after so many keyframes */
/** One tensor through the run; `block` holds its parts up to `done`.
 * @typedef {{path: string, side: any, axes: string[], parts: Part[], block: Block | null, done: number}} Track */
/** @typedef {{axes: string[], shape: number[], data: Float32Array, start: Record<string, number>}} Cut */

/** What is known at a moment: from the keyframe before it on, by path, side and axes. Only what is asked for is put together. */
export class Recorded {
  /** @param {{values: Frame[]}[]} moments @param {{path: string, axes: string[]}[]} taps */
  constructor(moments, taps) {
    this.taps = new Map(taps.map((tap) => [tap.path, tap.axes.length]));
    /** The newest keyframe at each moment. @type {number[]} */
    this.begins = [];
    /** @type {Map<string, Track>} */
    this.tracks = new Map();
    let frames = 0;
    moments.forEach((moment, at) => {
      for (const frame of moment.values) this.index(frame, at, (frames += frame.event.keyframe ? 1 : 0));
      this.begins.push(frames);
    });
  }

  /** @param {Frame} frame @param {number} at @param {number} begun how many keyframes came up to this one */
  index(frame, at, begun) {
    for (const piece of frame.event.pieces) {
      const key = `${piece.side} ${piece.path} ${piece.axes.join(" ")}`;
      let track = this.tracks.get(key);
      if (!track) this.tracks.set(key, (track = { path: piece.path, side: piece.side, axes: piece.axes, parts: [], block: null, done: 0 }));
      const start = piece.axes.map((/** @type {string} */ axis) => piece.start?.[axis] ?? 0);
      track.parts.push({ at, begun, start, tensor: frame.tensors.get(piece.array.tensor) });
    }
  }

  /** A track as it is known at a moment, or null. Parameters outlive keyframes: where nothing is trained they came once.
   * @param {Track} track @param {number} at @returns {Block | null} */
  block(track, at) {
    const kept = track.path.startsWith("parameter.");
    const counts = (/** @type {Part} */ part) => part.at <= at && (kept || part.begun === this.begins[at]);
    const end = track.parts.findLastIndex(counts) + 1;
    let from = end;
    while (from > 0 && counts(track.parts[from - 1])) from--;
    if (from === end) return null;
    if (!track.block || track.done > end || track.done < from) {
      track.block = new Block(track.path, track.side, track.axes, 1);
      track.done = from;
    }
    for (; track.done < end; track.done++) track.block.put(track.parts[track.done].tensor, track.parts[track.done].start);
    return track.block;
  }

  /** What these selectors take, as app/session/trace.py takes it from a model's recording.
   * @param {number} at @param {Selector[]} selectors */
  pieces(at, selectors) {
    /** @type {any[]} */
    const pieces = [];
    const tensors = new Map();
    selectors.forEach((selector, number) => {
      for (const track of this.found(selector)) {
        const block = this.block(track, at);
        if (!block) continue;
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

  /** The tracks of a selector. A norm is taken from what was recorded as a norm, where that is there; values never.
   * @param {Selector} selector */
  found(selector) {
    const fits = matcher(selector.path);
    const whole = (/** @type {Track} */ t) => t.axes.length >= (this.taps.get(t.path) ?? 0);
    const all = [...this.tracks.values()].filter((t) => t.side === (selector.side ?? "value") && fits(t.path));
    if (selector.reduce !== "norm") return all.filter(whole);
    const norms = new Set(all.filter((t) => !whole(t)).map((t) => t.path));
    return all.filter((t) => !whole(t) || !norms.has(t.path));
  }
}

/** A part of a block: one index or a span of some axes, which stay. Null where nothing of it is there.
 * @param {Block} block @param {Selector} selector @returns {Cut | null} */
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
 * @param {Cut} part @returns {Cut} */
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
 * @param {Cut} part @param {number} size @returns {Cut} */
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
