// @ts-check
/** The taps of a read and their values: which they are, what a view asks for to show one, and its numbers by row and key. */

import { border, compile } from "../map/visibility.mjs";
import { leaf } from "../words.mjs";
import { before, focus, operations, relation, request, rows, scope } from "./focus.mjs";

/** @import { Known, Selector, World } from "../types" */

/** The last tap of a scope: what an operation gives to the next.
 * @param {World} world @param {string} scope @returns {string | null} */
export const lastTap = (world, scope) => world.schema?.taps.findLast((/** @type {any} */ t) => t.path.startsWith(`${scope}.`) || t.path === scope)?.path ?? null;

/** Masks that were asked, by the border that they were asked for; they are values and never change.
 * @type {WeakMap<any, {border: number, ready: ReturnType<typeof compile>}>} */
const compiled = new WeakMap();

/** The visibility of a relation in one layer, ready to be asked.
 * @param {any} info a relation @param {number} layer @param {{token: string}[]} keys the request's rows on the key side */
export function visibility(info, layer, keys) {
  const mask = info.masks[layer] ?? info.default;
  const at = mask.program === "source_target" ? border(keys) : 0;
  let known = compiled.get(mask);
  if (known?.border !== at) compiled.set(mask, (known = { border: at, ready: compile(mask, at) }));
  return known.ready;
}

/** The taps of one read, by what they are. Types say which are scores and weights; queries and values by name and axes; keys and values of
 * all rows, as this read sees them, where those are kept, else its own; what the read gives (one vector for each head and query row) by
 * standing after the weights.
 * @param {World} world @param {any} info @param {number} layer
 * @returns {{scores: string, weights: string, query: string | null, keys: string | null, value: string | null, values: string | null, output: string | null, mixed: string | null, mixture: string | null}}
 * mixed, mixture: what the weights add up and the sum, with or without a head axis */
export function tapsOf(world, info, layer) {
  const all = world.schema?.taps ?? NO_TAPS;
  const base = scope(info, layer);
  let known = found.get(all);
  if (!known) found.set(all, (known = new Map()));
  const wide = (info.masks[layer] ?? info.default).global_rows?.includes(focus(world).row) ? "_global" : ""; // it reads through projections of its own, where there are such
  const name = base + wide;
  if (!known.has(name)) known.set(name, findTaps(all, info, base, wide));
  return known.get(name);
}

/** @type {any[]} */
const NO_TAPS = [];
/** What was found in a schema, which never changes. @type {WeakMap<any[], Map<string, any>>} */
const found = new WeakMap();

/** @param {any[]} all @param {any} info @param {string} base @param {string} wide what ends the names of a global row's projections */
function findTaps(all, info, base, wide) {
  const taps = all.filter((/** @type {any} */ t) => t.path.startsWith(base + ".") && t.type !== "parameter");
  const find = (/** @type {string[]} */ types) => taps.find((/** @type {any} */ t) => types.includes(t.type));
  const weights = find(["weights"]) ?? find(["coefficients"]); // coefficients may still be divided by their sum
  const at = taps.indexOf(weights);
  /** @param {any} t @param {string} owner rows of it, one vector for each head */
  const perHead = (t, owner) => /^(hidden|state)$/.test(t.type) && t.axes.length === 4 && /^[hg]$/.test(t.axes[1]) && t.axes[2].replace("'", "") === owner;
  const rows = taps.filter((/** @type {any} */ t) => perHead(t, info.key));
  const kept = [...rows.filter((/** @type {any} */ t) => t.type === "state"), ...rows];
  const ends = taps.some((/** @type {any} */ t) => leaf(t.path) === `q${wide}`) ? wide : "";
  const named = (/** @type {RegExp} */ name, /** @type {any[]} */ among) =>
    among.find((/** @type {any} */ t) => leaf(t.path).endsWith(ends) && name.test(leaf(t.path).slice(0, leaf(t.path).length - ends.length)))?.path ?? null;
  const after = taps.filter((/** @type {any} */ t, /** @type {number} */ i) => i > at && at >= 0 && perHead(t, info.query));
  const values = named(/^(v|value|values)$/, kept);
  /** One vector for each row, shared by all heads. @param {any} t @param {string} owner */
  const shared = (t, owner) => /^(hidden|state)$/.test(t.type) && t.axes.length === 3 && t.axes[1] === owner;
  const mixture = after[0] ?? taps.find((/** @type {any} */ t) => /^(context|embedding|read|read_hidden)$/.test(leaf(t.path)) && shared(t, info.query));
  const mixed = all.findLast((/** @type {any} */ t) => /^(annotations|values|rows|new_hidden)$/.test(leaf(t.path)) && shared(t, info.key) && t.axes[2] === mixture?.axes.at(-1));
  return {
    scores: find(["scores"])?.path ?? `${base}.scores`,
    weights: weights?.path ?? `${base}.weights`,
    query: named(/^(q|query|queries)$/, taps.filter((/** @type {any} */ t) => perHead(t, info.query))),
    keys: named(/^(k|key|keys)$/, kept),
    value: named(/^(v|value|values)$/, rows.filter((/** @type {any} */ t) => t.type === "hidden")),
    values,
    output: after[0]?.path ?? null,
    mixed: mixture ? (values ?? mixed?.path ?? null) : null,
    mixture: mixture?.path ?? null,
  };
}

/** Above so many rows a run is long: views ask for what is near, and again when the run moves on by so many. */
const LONG = 128;
const NEAR = 64;

/** @param {World} world */
export const long = (world) => rows(world, "t").length > LONG || rows(world, "s").length > LONG;

/** Of a long run, the query rows near the one that the page looks at: enough for what follows it, without asking at each step.
 * @param {World} world @param {any} info @returns {{span?: Record<string, [number, number]>}} */
function near(world, info) {
  const first = Math.max(0, Math.floor(focus(world).row / NEAR) - 1) * NEAR;
  return long(world) ? { span: { [info.query]: [first, first + 3 * NEAR] } } : {};
}

/** Weights and scores of the selected relation, layer, head and request, in full precision (of a long run, scores of the rows near by).
 * Views that show the same read ask for the same, so that it crosses the wire once.
 * @param {World} world @returns {Selector[]} */
export function readSelectors(world) {
  const at = relation(world);
  if (!at) return [];
  const taps = tapsOf(world, at.info, at.layer);
  const index = { b: request(world), h: at.head };
  return [
    { path: taps.weights, index, dtype: "f32" },
    { path: taps.scores, index, dtype: "f32", ...near(world, at.info) },
  ];
}

/** One head's numbers by (row, key), NaN where nothing is known. An axis that was picked is as long as its index, or 1.
 * @param {Known | undefined} found @param {number} request @param {number} head
 * @returns {(row: number, key: number) => number} */
export function cells(found, request, head) {
  if (!found) return () => NaN;
  const b = Math.min(request, found.shape[0] - 1);
  const lead = found.axes.length === 3 ? [b] : [b, Math.min(head, found.shape[1] - 1)];
  return found.plane?.(...lead) ?? ((row, key) => found.at(...lead, row, key));
}

/** The weights (0) or scores (1) of `readSelectors` as a view got them.
 * @param {World} world @param {string} view @param {number} [selector] */
export function readCells(world, view, selector = 0) {
  const at = relation(world);
  const value = cells(world.values(view, selector)[0], request(world), at?.head ?? 0);
  return at ? told(world, at.info, at.layer, value) : value;
}

/** Where the op cursor stands inside a read that goes tile by tile: the number of the tile, or null. @param {World} world @param {string} base scope of the read */
export function tileAt(world, base) {
  const found = /^(.*)\.tile\.(\d+)$/.exec(world.look.op ?? "");
  return found && found[1] === base && operations(world).includes(found[0]) ? Number(found[2]) : null;
}

/** Numbers of one read without those that the op cursor has not reached: of a read tile by tile, keys of later tiles.
 * @param {World} world @param {any} info @param {number} layer @param {(row: number, key: number) => number} value @param {number} [bin] rows that a place stands for */
export function told(world, info, layer, value, bin = 1) {
  if (!before(world, scope(info, layer))) return value;
  const list = rows(world, info.query);
  const tile = tileAt(world, scope(info, layer));
  const reached = tile === null ? 0 : (tile + 1) * world.opened?.scenario?.config?.tile;
  return (/** @type {number} */ row, /** @type {number} */ key) => (key * bin >= reached && list[Math.min(row * bin + bin, list.length) - 1]?.state === "new" ? NaN : value(row, key));
}

/** The keys that one row may read, with what it gives them, largest first.
 * @param {(row: number, key: number) => number} weight @param {number} row @param {number} keys @returns {{key: number, weight: number}[]} */
export function reads(weight, row, keys) {
  const list = [];
  for (let key = 0; key < keys; key++) {
    const value = weight(row, key);
    if (Number.isFinite(value) && value > 0) list.push({ key, weight: value });
  }
  return list.sort((a, b) => b.weight - a.weight);
}
