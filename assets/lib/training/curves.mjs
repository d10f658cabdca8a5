// @ts-check
/** Curves over updates, made ready for a chart. Pure. */

import { figure, number } from "../words.mjs";

/** Values as a chart on a logarithmic axis takes them: what is not a positive number leaves a gap.
 * @param {any[]} values @returns {(number | null)[]} */
export const positive = (values) => values.map((v) => (number(v) > 0 && Number.isFinite(number(v)) ? number(v) : null));

/** Values of a linear axis: what is not finite leaves a gap.
 * @param {any[]} values @returns {(number | null)[]} */
export const finite = (values) => values.map((v) => (Number.isFinite(number(v)) ? number(v) : null));

/** Marks of an axis and how far it goes: 1, 2 and 5 times powers of ten on a logarithmic one, so that it seldom changes.
 * @param {(number | null)[]} values @param {boolean} log @param {number} [most] marks @returns {{marks: number[], range: [number, number]}} range in powers of ten where log */
export function axis(values, log, most = 5) {
  const all = values.flatMap((v) => (v === null || !Number.isFinite(v) ? [] : [v]));
  if (!all.length) return { marks: [], range: log ? [-1, 1] : [0, 1] };
  const [least, largest] = [all.reduce((a, v) => Math.min(a, v)), all.reduce((a, v) => Math.max(a, v))];
  const found = log ? decades(least, largest) : steps(largest, most);
  const every = Math.ceil(found.length / most);
  const marks = found.filter((_, i) => i % every === 0);
  const ends = /** @type {[number, number]} */ ([found[0], found[found.length - 1]]);
  return { marks, range: log ? [Math.log10(ends[0]), Math.log10(ends[1])] : [0, ends[1]] };
}

/** @param {number} least @param {number} largest */
function decades(least, largest) {
  const factors = largest / least > 1000 ? [1] : [1, 2, 5];
  const [first, last] = [Math.floor(Math.log10(least)), Math.floor(Math.log10(largest)) + 1];
  const all = Array.from({ length: last - first + 1 }, (_, i) => factors.map((f) => Number(`${f}e${first + i}`))).flat();
  const from = all.findLastIndex((v) => v <= least * 0.95);
  const to = all.findIndex((v) => v >= largest * 1.05);
  return all.slice(Math.max(0, from), to < 0 ? undefined : to + 1);
}

/** @param {number} largest @param {number} most */
function steps(largest, most) {
  if (!(largest > 0)) return [0, 1];
  const ten = 10 ** Math.floor(Math.log10(largest / (most - 1)));
  const step = /** @type {number} */ ([1, 2, 5, 10].map((f) => f * ten).find((s) => s * (most - 1) >= largest * 1.02) ?? 20 * ten);
  return Array.from({ length: Math.ceil((largest * 1.02) / step) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** Where the axis of updates ends: a round number with room ahead, so that it stays while training goes on.
 * @param {number} last */
export function ahead(last) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(10, last)));
  return /** @type {number} */ ([1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12].map((f) => f * ten).find((end) => end >= last * 1.04 + 1));
}

/** A long curve as its least and its largest value in each of some spans, in their order: no peak is lost.
 * @param {number[]} x @param {(number | null)[]} y @param {number} [most] spans @returns {{x: number[], y: (number | null)[]}} */
export function thinned(x, y, most = 400) {
  if (x.length <= 2 * most) return { x: [...x], y };
  const size = Math.ceil(x.length / most);
  const keep = [];
  for (let from = 0; from < x.length; from += size) {
    let [low, high] = [-1, -1];
    for (let i = from; i < Math.min(x.length, from + size); i++) {
      const v = y[i];
      if (v === null) continue;
      if (low < 0 || v < /** @type {number} */ (y[low])) low = i;
      if (high < 0 || v > /** @type {number} */ (y[high])) high = i;
    }
    keep.push(...(low < 0 ? [from] : low === high ? [low] : [Math.min(low, high), Math.max(low, high)]));
  }
  if (keep[keep.length - 1] !== x.length - 1) keep.push(x.length - 1);
  return { x: keep.map((i) => x[i]), y: keep.map((i) => y[i]) };
}

/** A mark of an axis, short. @param {number} value */
export const tickText = (value) => (value === 0 ? "0" : Math.abs(value) >= 0.001 && Math.abs(value) < 100000 ? String(Number(value.toPrecision(6))) : String(Number(value.toPrecision(6)).toExponential()).replace("e+", "e"));

/** A loss or a norm, which may be small: two figures where three places would say too little.
 * @param {number} value */
export const small = (value) => figure(value, Math.abs(value) < 0.01 ? 1 : 3);
