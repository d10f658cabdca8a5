// @ts-check
/** Where a gradient goes: parameters in groups, outputs by depth, scales and extremes, and a long map in bins. Pure. */

import { small } from "./curves.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { number, opName, severalStacks } from "../words.mjs";

/** @typedef {import("../types").World} World */

const DEPTHS = 20;
const WIDTH = /^[^bsthgv']$/; // the letter of an axis that belongs to no row

/** Where the backward pass reaches a tap; without that, from the last to the first.
 * @param {any} tap @param {number} i in the schema @param {any[]} taps */
const rank = (tap, i, taps) => (tap.reached >= 0 ? tap.reached : taps.length - i);

/** Taps whose gradient is shown by position: what each operation gives to the next, one vector a row of this owner; and token vectors.
 * @param {any[]} taps of the schema @param {"s" | "t"} [owner] @returns {{path: string, name: string, scope: string}[]} from the output back to the input */
export function depths(taps, owner = "t") {
  const ranked = taps.map((t, i) => ({ path: t.path, scope: scopeOf(t.path), t, rank: rank(t, i, taps) }));
  const all = ranked.filter(({ t }) => (t.type === "hidden" || t.type === "state") && t.gradient && t.axes.length === 3 && t.axes[0] === "b" && t.axes[1] === owner && WIDTH.test(t.axes[2]));
  all.sort((a, b) => a.rank - b.rank);
  const several = severalStacks(all.map((d) => d.path));
  const name = (/** @type {string} */ scope) => opName(scope, several).replace(/^(dec|enc) /, "");
  const token = (/** @type {string} */ path) => /\.token$/.test(path) && !/embedding\.token$/.test(path);
  return all.filter((d, i) => token(d.path) || all.findIndex((o) => o.scope === d.scope && !token(o.path)) === i)
    .map(({ path, scope }) => ({ path, scope, name: token(path) ? msg`tokens` : name(scope) })).filter(evenly);
}

/** Where there are more than find room: some of them, evenly, the first and the last among them.
 * @param {unknown} _ @param {number} i @param {unknown[]} all */
const evenly = (_, i, all) => all.length <= DEPTHS || Math.round((Math.round((i * (DEPTHS - 1)) / (all.length - 1)) * (all.length - 1)) / (DEPTHS - 1)) === i;

/** @param {string} path */
const scopeOf = (path) => (path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : path);

/** Whether the backward pass of this update has reached an operation, as far as the op cursor tells.
 * @param {World} world @param {string} scope */
export const reached = (world, scope) => !!world.moved?.train?.parameter_norms && !read.before(world, scope);

/** @typedef {{path: string, name: string, value: number | null, moved: number | null}} Parameter value: its gradient's norm; moved: ‖ΔW‖ / ‖W‖, NaN where ‖W‖ was 0; null: not computed yet */
/** @typedef {{key: string, name: string, value: number | null, whole: boolean, moved: number | null, parameters: Parameter[]}} Group whole: the gradients of all its parameters are known; one that this batch does not use has none */

/** All parameters, grouped by the operation that they belong to, from the output back to the input.
 * @param {World} world @returns {Group[]} */
export function groups(world) {
  const { norms, moves } = measured(world);
  const found = layout(world.schema?.taps ?? NONE);
  return found.map(({ scope, name, parameters }) => {
    const all = parameters.map((p) => ({ path: p.path, name: p.name, value: reached(world, p.op) ? (norms.get(p.path) ?? null) : null, moved: ratio(moves.get(p.path)) }));
    const known = all.flatMap((p) => (p.value === null ? [] : [p.value]));
    const sums = parameters.map((p) => moves.get(p.path)).reduce((/** @type {number[] | null} */ a, m) => (a && m ? [a[0] + m[0] ** 2, a[1] + m[1] ** 2] : null), [0, 0]);
    return { key: scope, name, value: known.length ? Math.hypot(...known) : null, whole: parameters.every((p) => reached(world, p.op)), moved: ratio(sums?.map(Math.sqrt)), parameters: all };
  });
}

const ROUNDING = 1e-5; // of the largest gradient of the same operation: what fp32 leaves of a sum that is 0

/** Whether this gradient is 0 but for rounding, as that of a bias of K must be: it moves all scores of a row by one number.
 * @param {Parameter} parameter @param {Group} group */
export function vanishes(parameter, group) {
  const most = Math.max(...group.parameters.map((p) => p.value ?? 0));
  return /\bW_K\.bias$/.test(parameter.path) && parameter.value !== null && parameter.value <= ROUNDING * most;
}

/** @type {any[]} */
const NONE = [];

/** @param {number[] | undefined} pair what was added, what was there */
const ratio = (pair) => (pair ? (pair[1] ? pair[0] / pair[1] : pair[0] ? NaN : 0) : null);

/** @param {World} world */
function measured(world) {
  const train = world.moved?.train;
  const end = read.operations(world).at(-1); // what the optimizer did comes after the last operation
  /** @type {Map<string, number>} */
  const norms = new Map((train?.parameter_norms ?? []).map((/** @type {any} */ [name, value]) => [name, number(value)]));
  /** @type {Map<string, number[]>} */
  const moves = new Map((end && read.before(world, end) ? [] : (train?.parameter_moves ?? [])).map((/** @type {any} */ [name, ...pair]) => [name, pair.map(number)]));
  return { norms, moves };
}

/** op: after which operation of the backward pass its gradient is whole.
 * @typedef {{scope: string, name: string, parameters: {path: string, name: string, op: string, rank: number}[]}} Place */
/** Found once for each schema, which never changes. @type {WeakMap<any[], Place[]>} */
const layouts = new WeakMap();

/** @param {any[]} taps */
function layout(taps) {
  let found = layouts.get(taps);
  if (!found) layouts.set(taps, (found = arrange(taps)));
  return found;
}

/** @param {any[]} taps @returns {Place[]} */
function arrange(taps) {
  const recorded = taps.filter((t) => t.type !== "parameter");
  const scopes = [...new Set(recorded.map((t) => scopeOf(t.path)))].sort((a, b) => b.length - a.length);
  const ops = new Map(recorded.filter((t) => t.reached >= 0).map((t) => [t.reached, scopeOf(t.path)]));
  const several = severalStacks(scopes);
  /** @type {Map<string, Place["parameters"]>} */
  const all = new Map();
  taps.forEach((t, i) => {
    if (t.type !== "parameter" || !t.gradient) return;
    const path = t.path.replace("parameter.", "");
    const named = owner(path, scopes);
    const op = ops.get(t.reached) ?? named ?? "";
    const scope = named && (/layer\d/.test(named) || named === op || otherStack(named, op)) ? named : op || path.split(".")[0];
    all.set(scope, [...(all.get(scope) ?? []), { path, name: inside(path, scope), op, rank: rank(t, i, taps) }]);
  });
  const first = (/** @type {Place["parameters"]} */ list) => Math.min(...list.map((p) => p.rank));
  return [...all].map(([scope, list]) => ({ scope, name: opName(scope, several), parameters: modules(list) })).sort((a, b) => first(a.parameters) - first(b.parameters));
}

const STACK = /^(encoder|decoder)(?=\.|$)/;

/** Whether the operation that needs a parameter's result first stands in another stack: a summary that the decoder reads is made in the
 * encoder. @param {string} named @param {string} op */
const otherStack = (named, op) => STACK.test(named) && STACK.test(op) && named.match(STACK)?.[0] !== op.match(STACK)?.[0];

/** The operation that a parameter's name says it belongs to.
 * @param {string} path @param {string[]} scopes longest first */
function owner(path, scopes) {
  const plain = path.replace(/layers\.(\d+)/, "layer$1");
  const own = scopes.find((s) => plain.startsWith(`${s}.`));
  const layer = /^(.*?)layer\d+(?=\.)/.exec(plain)?.[0];
  if (!layer || (own && /layer\d/.test(own))) return own;
  const [head, last] = [layer.split(".")[0], layer.split(".").at(-1)];
  return scopes.find((s) => s.endsWith(`.${layer}`) || s === `${head}.${last}`) ?? own;
}

/** @param {string} path @param {string} scope */
function inside(path, scope) {
  const plain = path.replace(/layers\.(\d+)/, "layer$1");
  const rest = plain.startsWith(`${scope}.`) ? plain.slice(scope.length + 1) : plain.replace(/layer\d/.test(scope) ? /^.*(?:layer|blocks\.)\d+\./ : /^.*layer\d+\./, ""); // the group says the layer
  return rest.replace(/\.?weight$/, "").replaceAll(".", " ") || rest;
}

/** From the output back, with a weight before its bias.
 * @param {Place["parameters"]} list */
function modules(list) {
  const at = new Map(list.map((p) => [scopeOf(p.path), Infinity]));
  for (const p of list) at.set(scopeOf(p.path), Math.min(at.get(scopeOf(p.path)) ?? 0, p.rank));
  return [...list].sort((a, b) => (at.get(scopeOf(a.path)) ?? 0) - (at.get(scopeOf(b.path)) ?? 0));
}

/** The norm of all gradients that are known, and whether that is all of them.
 * @param {Group[]} all */
export function normSoFar(all) {
  const known = all.flatMap((g) => g.parameters.flatMap((p) => (p.value === null ? [] : [p.value])));
  return { norm: known.length ? Math.hypot(...known) : null, whole: all.every((g) => g.whole) };
}

/** Norm, factor and what that means, in words; before the clip as what it will be.
 * @param {any} train a TrainView @param {number | null | undefined} limit @param {{norm: number | null, whole: boolean}} sofar */
export function clipping(train, limit, sofar) {
  if (!train || sofar.norm === null) return { name: msg`norm of all`, norm: "–", factor: "–", said: msg`after backward` };
  const none = limit === null || limit === undefined;
  if (!sofar.whole) {
    const said = none ? msg`no limit` : sofar.norm > limit ? msg`above ${limit} already: it will be clipped` : msg`a lower bound`;
    return { name: msg`norm so far`, norm: small(sofar.norm), factor: none || !(sofar.norm > limit) ? "–" : `≤ ${small(limit / sofar.norm)}`, said };
  }
  const norm = train.norm === null ? sofar.norm : number(train.norm);
  const name = msg`norm of all`;
  if (!Number.isFinite(norm)) return { name, norm: small(norm), factor: msg`none`, said: msg`not finite: no update` };
  const factor = train.clip_factor === null ? (none || norm <= limit ? 1 : limit / norm) : number(train.clip_factor);
  const said = none ? msg`no limit` : factor < 1 ? `${limit} / ${small(norm)}` : msg`within ${limit}`;
  return { name, norm: small(norm), factor: small(factor), said: train.clip_factor === null ? `${said}, ${msg`next`}` : said };
}

/** A scale from 0 that stands is only widened, where values would leave it.
 * @param {number} stands 0: by these values @param {number[]} values */
export function widened(stands, values) {
  const most = niceMost(values);
  return most > stands ? most : stands;
}

/** The largest finite size, rounded up to 1, 2 or 5 times a power of ten: a scale that reads well.
 * @param {number[]} values */
export function niceMost(values) {
  const most = values.reduce((a, v) => (Number.isFinite(v) ? Math.max(a, Math.abs(v)) : a), 0);
  if (!most) return 0;
  const ten = 10 ** Math.floor(Math.log10(most));
  return Number((([1, 2, 5, 10].find((m) => m * ten >= most * 0.999) ?? 10) * ten).toPrecision(2));
}

/** @typedef {{low: number, high: number}} Powers of ten that a logarithmic scale spans */

/** Whole powers of ten round the positive values, three of them at least; the smallest tenth of the values may lie below.
 * A scale that stands is only widened upwards, where values would leave it: it does not move under who compares.
 * @param {number[]} values @param {Powers | null} [stands] @returns {Powers | null} */
export function powers(values, stands = null) {
  const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10).sort((a, b) => a - b);
  if (!logs.length) return stands;
  const high = Math.ceil(logs[logs.length - 1] - 1e-9) + 0; // not -0
  if (stands) return high > stands.high ? { low: stands.low, high } : stands;
  return { low: Math.min(high - 3, Math.floor(logs[Math.floor(logs.length / 10)] + 1e-9)), high };
}

/** A value's place on such a scale, 0..1; what is below it has a sliver.
 * @param {number} value @param {Powers} scale */
export function share(value, { low, high }) {
  if (!(value > 0)) return 0;
  return Math.max(0.012, Math.min(1, (Math.log10(value) - low) / (high - low)));
}

/** Where a map is largest and where it is smallest without being 0; how many cells are 0.
 * @param {number} rows @param {number} columns @param {(row: number, column: number) => number} value NaN: nothing there
 * @typedef {{row: number, column: number, value: number}} Cell @returns {{largest: Cell | null, smallest: Cell | null, zeros: number}} */
export function extremes(rows, columns, value) {
  let [largest, smallest, zeros] = /** @type {[Cell | null, Cell | null, number]} */ ([null, null, 0]);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const v = value(row, column);
      const size = Math.abs(v);
      if (!Number.isFinite(v)) continue;
      if (size === 0) zeros++;
      else if (!smallest || size < Math.abs(smallest.value)) smallest = { row, column, value: v };
      if (size > 0 && (!largest || size > Math.abs(largest.value))) largest = { row, column, value: v };
    }
  }
  return { largest, smallest, zeros };
}

/** How many cells of one axis go into one bin, so that at most `most` are shown: 1, 2, 4, 8, ...
 * @param {number} count @param {number} most */
export function binOf(count, most) {
  let size = 1;
  while (Math.ceil(count / size) > Math.max(1, most)) size *= 2;
  return size;
}

/** A map with each bin as one cell: of what is in it, the value with the largest size (one that is not finite before all).
 * @template S @param {{rows: number, columns: number, value: (row: number, column: number) => number, state: (row: number, column: number) => S | "ok"}} map
 * @param {number} tall rows @param {number} wide columns a bin */
export function binned(map, tall, wide) {
  if (tall === 1 && wide === 1) return map;
  const [rows, columns] = [Math.ceil(map.rows / tall), Math.ceil(map.columns / wide)];
  const values = new Float64Array(rows * columns);
  /** @type {(S | "ok")[]} */
  const states = [];
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
    const [state, value] = bin(map, r * tall, c * wide, tall, wide);
    states.push(state);
    values[r * columns + c] = value;
  }
  return { rows, columns, value: (/** @type {number} */ r, /** @type {number} */ c) => values[r * columns + c], state: (/** @type {number} */ r, /** @type {number} */ c) => states[r * columns + c] };
}

/** @param {any} map @param {number} row @param {number} column @param {number} tall @param {number} wide @returns {[any, number]} */
function bin(map, row, column, tall, wide) {
  let [state, value] = [map.state(row, column), 0];
  for (let r = row; r < Math.min(map.rows, row + tall); r++) for (let c = column; c < Math.min(map.columns, column + wide); c++) {
    if (map.state(r, c) !== "ok") continue;
    const v = map.value(r, c);
    if (state !== "ok" || !Number.isFinite(v) || (Number.isFinite(value) && Math.abs(v) > Math.abs(value))) [state, value] = ["ok", v];
  }
  return [state, value];
}
