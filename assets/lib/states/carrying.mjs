// @ts-check
/** A state that is linear in what rows wrote (models/parts/carrying.py): what one row adds to it, and what is left of each row's write in the
 * newest. From recorded values alone, by their axes. Pure. */

import { tapAt } from "../inspect/inspected.mjs";
import * as read from "../reads.mjs";
import { shown } from "../words.mjs";
import * as tapes from "./tapes.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Known} Known @typedef {import("./tapes.mjs").Group} Group @typedef {{name: string, less: boolean}} Factor */
/** As the model declares it. @typedef {{scope: string, state: string, kept: Factor | null, written: Factor[], made: Factor[], pairs: boolean, shown: [string, string] | null, read: string}} Carry */
/** One factor of a product: by place, or one number for all. @typedef {{letter: string, values: number[], single: boolean}} Said */
/** One row's update of the state. matrix: K joins places; kept: K by place, null where all stays or places are joined; carried: K x₋₁.
 * @typedef {{row: number, letter: string, keeps: string, joined: boolean, before: number[], kept: number[] | null, carried: number[], factors: Said[], made: Said[], written: number[], state: number[], shown: {letter: string, gate: Said, value: number[]} | null}} Write */
/** What is left now of one row's write. left: of its own length; share: of the state, in its direction, so that all shares sum to 1.
 * @typedef {{row: number, token: string, there: number[], wrote: number[], left: number, share: number}} Left */

/** Whether all that a row reads is a state of which is known what rows wrote into it. @param {World} world */
export const isCarried = (world) => tapes.alone(world) && !!carryOf(world, tapes.shown(world));

/** @param {World} world @param {Group | null} group @returns {Carry | null} */
export function carryOf(world, group) {
  const fits = (/** @type {string} */ pattern) => new RegExp(`^${pattern.split("*").map((p) => p.replaceAll(".", "\\.")).join(".*")}$`).test(group?.scope ?? "");
  return group ? ((world.schema?.carries ?? []).find((/** @type {Carry} */ c) => fits(c.scope)) ?? null) : null;
}

/** The taps that all of it is made from. @param {Carry} carry @returns {string[]} */
const names = (carry) => [...new Set([carry.state, ...(carry.kept ? [carry.kept] : []), ...carry.written, ...carry.made, ...(carry.shown ?? [])].map((f) => (typeof f === "string" ? f : f.name)))];

/** @param {World} world @returns {import("../types").Selector[]} */
export function selectors(world) {
  const group = tapes.shown(world);
  const carry = carryOf(world, group);
  if (!group || !carry) return [];
  return names(carry).map((name) => {
    const path = `${group.scope}.${name}`;
    const axes = tapAt(world, path)?.axes ?? [];
    const index = { ...(axes.includes("b") ? { b: read.request(world) } : {}), ...(group.channel && axes.includes(group.channel) ? { [group.channel]: tapes.channelOf(world, group).at } : {}) };
    return { path, index, dtype: /** @type {const} */ ("f32") };
  });
}

/** Everything about the group that is looked at, or null while something is not known.
 * @param {World} world @param {string} view whose selectors these are */
export function carried(world, view) {
  const group = tapes.shown(world);
  const carry = carryOf(world, group);
  if (!group || !carry) return null;
  const all = new Map(names(carry).map((name, i) => [name, reader(world, group, world.values(view, i)[0])]));
  const rows = read.rows(world, group.owner);
  const newest = rows.findLastIndex((_, t) => tapes.computed(world, group, t));
  const width = tapes.width(world, group);
  if (newest < 0 || !width || [...all.values()].some((of) => !of)) return null;
  const of = (/** @type {string} */ name) => /** @type {Reader} */ (all.get(name));
  return { group, carry, of, width, newest, tokens: rows.map((r) => shown(r.token)) };
}

/** @typedef {NonNullable<ReturnType<typeof carried>>} Carried */
/** Numbers by row and place (and the place that is multiplied, of a matrix). @typedef {{at: (row: number, n: number, m?: number) => number, rows: boolean, places: boolean, matrix: boolean}} Reader */

/** @param {World} world @param {Group} group @param {Known | undefined} known @returns {Reader | null} */
function reader(world, group, known) {
  if (!known) return null;
  const place = /** @type {Record<string, (row: number, n: number, m: number) => number>} */ ({ b: () => read.request(world), [group.owner]: (row) => row, [group.channel || "-"]: () => tapes.channelOf(world, group).at });
  const own = (/** @type {string} */ axis) => place[axis] ?? (axis.endsWith("'") ? (/** @type {any} */ _, /** @type {any} */ __, /** @type {number} */ m) => m : (/** @type {any} */ _, /** @type {number} */ n) => n);
  const gets = known.axes.map(own);
  // an axis that was picked is as long as its index, or 1
  const clamp = known.axes.map((axis, i) => (axis === "b" || axis === group.channel ? known.shape[i] - 1 : Infinity));
  const index = gets.map(() => 0);
  return {
    at(row, n, m = 0) {
      for (let i = 0; i < gets.length; i++) index[i] = Math.min(gets[i](row, n, m), clamp[i]);
      return known.at(...index);
    },
    rows: known.axes.includes(group.owner), places: known.axes.some((axis) => !place[axis]), matrix: known.axes.some((axis) => axis.endsWith("'")),
  };
}

/** @param {Carried} c @param {Factor} f @param {number} row @returns {Said} */
function factor(c, f, row) {
  const from = c.of(f.name);
  const values = Array.from({ length: c.width }, (_, n) => (f.less ? 1 - from.at(row, n) : from.at(row, n)));
  return { letter: letter(c, f), values, single: !from.places };
}

/** @param {Carried} c @param {Factor} f */
function letter(c, f) {
  const own = !c.of(f.name).rows && { kept: "Ā", written: "B̄" }[f.name];
  const said = own || tapes.letterOf(c.group, f.name);
  return f.less ? `(1−${said})` : said;
}

/** @param {Carried} c @param {number} row what it adds, by place */
const wrote = (c, row) => c.carry.written.map((f) => factor(c, f, row).values).reduce((a, b) => a.map((v, i) => v * b[i]));

/** A row's update, with its arithmetic. @param {Carried} c @param {number} row @returns {Write} */
export function write(c, row) {
  const { carry, of, width } = c;
  const each = (/** @type {(n: number) => number} */ at) => Array.from({ length: width }, (_, n) => at(n));
  const state = of(carry.state);
  const before = each((n) => (row ? state.at(row - 1, n) : 0));
  const joined = carry.pairs || (!!carry.kept && of(carry.kept.name).matrix);
  const said = carry.shown;
  return {
    row, letter: tapes.letterOf(c.group, carry.state), keeps: carry.kept ? letter(c, carry.kept) : "", joined, before,
    kept: carry.kept && !joined ? factor(c, carry.kept, row).values : null, carried: times(keeps(c, row), before, carry.pairs),
    factors: carry.written.map((f) => factor(c, f, row)), made: carry.made.map((f) => factor(c, f, row)), written: wrote(c, row), state: each((n) => state.at(row, n)),
    shown: said && { letter: tapes.letterOf(c.group, said[0]), gate: factor(c, { name: said[1], less: false }, row), value: each((n) => of(said[0]).at(row, n)) },
  };
}

/** What a row multiplies the state by: nothing, a number for each place (or for each pair: real parts, then imaginary ones), or a matrix.
 * @typedef {null | number[] | number[][]} Keeps */
/** @param {Carried} c @param {number} row @returns {Keeps} */
function keeps({ carry, of, width }, row) {
  if (!carry.kept) return null;
  const { at, matrix } = of(carry.kept.name);
  const { less } = carry.kept;
  const places = Array.from({ length: width }, (_, n) => n);
  return matrix ? places.map((n) => places.map((m) => at(row, n, m))) : places.map((n) => (less ? 1 - at(row, n) : at(row, n)));
}

/** K x. @param {Keeps} keeps @param {number[]} x @param {boolean} pairs @returns {number[]} */
function times(keeps, x, pairs) {
  if (!keeps) return x;
  if (Array.isArray(keeps[0])) return /** @type {number[][]} */ (keeps).map((line) => line.reduce((sum, k, m) => sum + k * x[m], 0));
  const k = /** @type {number[]} */ (keeps);
  const half = x.length / 2;
  if (!pairs) return x.map((v, n) => k[n] * v);
  return x.map((v, n) => (n < half ? k[n] * v - k[n + half] * x[n + half] : k[n - half] * v + k[n] * x[n - half]));
}

/** The product of what later rows multiply by, and one row before them. @param {Keeps} later @param {Keeps} row @param {boolean} pairs @returns {Keeps} */
function after(later, row, pairs) {
  if (!later || !row) return later ?? row;
  if (!Array.isArray(row[0])) return times(later, /** @type {number[]} */ (row), pairs);
  const right = /** @type {number[][]} */ (row);
  return /** @type {number[][]} */ (later).map((line) => right[0].map((_, m) => line.reduce((sum, v, n) => sum + v * right[n][m], 0)));
}

/** What is left of every row in the newest state, and how far their sum is from it. units: which places count, all or one.
 * @param {Carried} c @param {number | null} [unit] @returns {{rows: Left[], off: number}} */
export function left(c, unit = null) {
  const rows = /** @type {Left[]} */ ([]);
  const state = Array.from({ length: c.width }, (_, n) => c.of(c.carry.state).at(c.newest, n));
  const same = c.carry.kept && !c.of(c.carry.kept.name).rows ? keeps(c, 0) : null;
  const sum = state.map(() => 0);
  const only = (/** @type {number[]} */ x) => (unit === null ? x : [x[unit]]);
  const own = only(state);
  let later = /** @type {Keeps} */ (null);
  for (let row = c.newest; row >= 0; row--) {
    const made = wrote(c, row);
    const there = times(later, made, c.carry.pairs);
    there.forEach((v, n) => (sum[n] += v));
    const [now, then] = [only(there), only(made)];
    rows.unshift({ row, token: c.tokens[row] ?? "", there: now, wrote: then, left: Math.hypot(...now) / Math.hypot(...then), share: dot(now, own) / dot(own, own) });
    later = after(later, same ?? keeps(c, row), c.carry.pairs);
  }
  return { rows, off: sum.reduce((most, v, n) => Math.max(most, Math.abs(v - state[n])), 0) };
}

/** What was left of one row's write after each later row, up to the newest. @param {Carried} c @param {number} row @param {number | null} [unit] @returns {number[]} */
export function fading(c, row, unit = null) {
  const size = (/** @type {number[]} */ x) => (unit === null ? Math.hypot(...x) : Math.abs(x[unit]));
  let now = wrote(c, row);
  const whole = size(now);
  return Array.from({ length: Math.max(0, c.newest - row) }, (_, i) => size((now = times(keeps(c, row + 1 + i), now, c.carry.pairs))) / whole);
}

/** @param {number[]} a @param {number[]} b */
const dot = (a, b) => a.reduce((sum, v, n) => sum + v * b[n], 0);

/** The rows with the largest shares, in their order, the chosen one among them, and what all others have together.
 * @param {Left[]} rows @param {number} most @param {number} [chosen] */
export function largest(rows, most, chosen = -1) {
  const size = (/** @type {Left} */ r) => (r.row === chosen ? Infinity : Math.abs(r.share));
  const kept = new Set([...rows].sort((a, b) => size(b) - size(a) || 0).slice(0, rows.length > most ? most - 1 : most));
  const others = rows.filter((r) => !kept.has(r));
  return { lines: rows.filter((r) => kept.has(r)), others: { count: others.length, share: others.reduce((sum, r) => sum + r.share, 0) } };
}
