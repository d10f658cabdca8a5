// @ts-check
/** What the page looks at, found in the world: the relation, its rows, the current row, the taps of its read. Pure. */

import { border, compile } from "./map/visibility.mjs";
import { answered, otherRows, saidAt, writes } from "./answers.mjs";
import { leaf, number } from "./words.mjs";

/** @typedef {import("./types").World} World */
/** @typedef {import("./types").Known} Known */
/** @typedef {import("./types").Selector} Selector */
/** @typedef {{token: string, id: number, state: "known" | "new" | "padded" | "unknown", origin: string, text: string | null, would?: string | null}} Row */

/** @param {World} world */
export const phase = (world) => world.moved?.phase ?? world.opened?.scenario?.phase ?? "decode";

/** How many requests (in training: sequences of the batch) there are at this moment.
 * @param {World} world @returns {number} */
export function requestCount(world) {
  if (phase(world) === "train") return world.moved?.train?.rows?.length ?? 0;
  return world.moved?.requests?.length ?? 0;
}

/** How many of them are in the batch: those that left are still told of. @param {World} world */
export const presentCount = (world) => (phase(world) === "train" ? requestCount(world) : (world.moved?.requests ?? []).filter((/** @type {any} */ r) => r.left == null).length);

/** @param {World} world */
export const request = (world) => Math.max(0, Math.min(world.look.request, requestCount(world) - 1));

/** The requests of this moment, outside training. What the op cursor has not reached is not told: no distribution before the logits.
 * @param {World} world @returns {any[]} */
export function requests(world) {
  const told = world.moved?.requests ?? NONE;
  const all = writes(world) ? told : told.map((/** @type {any} */ r) => answered(world, r));
  if (phase(world) === "train" || !before(world, "logits")) return all;
  const shown = undecided.get(all) ?? all.map((/** @type {any} */ r) => ({ ...r, candidates: [], choice: null, logits: null, unused: null }));
  undecided.set(all, shown);
  return shown;
}

/** @type {any[]} */
const NONE = [];
/** Requests as they stand before their logits. @type {WeakMap<any[], any[]>} */
const undecided = new WeakMap();

/** The request that the page looks at, outside training.
 * @param {World} world @returns {any | null} */
export const requestView = (world) => (phase(world) === "train" ? null : (requests(world)[request(world)] ?? null));

/** Whether this step only ended what was written: its tokens are not read, and the newest call is that of the step before.
 * @param {World} world */
export const closing = (world) => phase(world) === "decode" && world.moved?.step > 0 && !!world.moved.ended && !world.moved.unreadable;

/** The operations inside this step, in the order in which they ran; in training those of the newest pass: backward goes through them in reverse.
 * @param {World} world @returns {string[]} */
export function operations(world) {
  const stages = world.moved?.stages ?? [];
  if (phase(world) === "train") return stages.findLast((/** @type {any} */ s) => s.ops.length)?.ops ?? [];
  return closing(world) ? [] : [...new Set(/** @type {string[]} */ (stages.flatMap((/** @type {any} */ s) => s.ops)))];
}

/** Whether the op cursor stands before this operation: then its newest rows are not computed yet, as far as the page tells.
 * @param {World} world @param {string} scope */
export function before(world, scope) {
  if (!world.look.op) return false;
  const all = operations(world);
  const [cursor, at] = [all.indexOf(world.look.op), all.indexOf(scope)];
  return cursor >= 0 && cursor < (at < 0 && scope === "logits" ? all.length - 1 : at);
}

/** The rows of the sequence that the page looks at, in training.
 * @param {World} world @returns {any[]} */
export const trainRows = (world) => (phase(world) === "train" ? (world.moved?.train?.rows?.[request(world)] ?? []) : []);

/** The rows of one owner, as a strip shows them.
 * @param {World} world @param {"s" | "t" | "r"} owner @returns {Row[]} */
export function rows(world, owner) {
  if (owner === "r") return /** @type {Row[]} */ (otherRows(world, owner));
  if (phase(world) !== "train") return requestView(world)?.[owner === "s" ? "source" : "target"] ?? [];
  if (owner === "s") return world.moved?.train?.sources?.[request(world)] ?? [];
  return trainRows(world).map((r) => ({ token: r.input, id: -1, state: r.key_valid ? "known" : "padded", origin: r.gold == null ? "task" : "model", text: null }));
}

/** @param {Row} row */
export const known = (row) => row.state === "known" || row.state === "new";

/** @param {Row[]} list index of the last row that is real, or -1 */
export function lastKnown(list) {
  for (let i = list.length - 1; i >= 0; i--) if (known(list[i])) return i;
  return -1;
}

/** The relation, layer and head that the page looks at, held inside what there is. While the op cursor stands on a read, it is that read.
 * @param {World} world @returns {{info: any, layer: number, head: number} | null} */
export function relation(world) {
  const all = world.opened?.relations ?? [];
  const { look } = world;
  if (!all.length) return null;
  const cursor = look.op ? readAt(all, look.op) : null;
  const info = cursor?.info ?? all.find((/** @type {any} */ r) => r.name === look.relation) ?? all[all.length - 1];
  return { info, layer: cursor?.layer ?? clamp(look.layer, info.layers), head: clamp(look.head, info.heads) };
}

/** The read that lies at or around a path, if one does.
 * @param {any[]} relations @param {string} path @returns {{info: any, layer: number} | null} */
export function readAt(relations, path) {
  for (const info of relations) {
    for (let layer = 0; layer < info.layers; layer++) {
      const base = scope(info, layer);
      if (path === base || path.startsWith(`${base}.`)) return { info, layer };
    }
  }
  return null;
}

/** @param {number} value @param {number} size */
const clamp = (value, size) => Math.max(0, Math.min(size - 1, value));

/** What the page looks at inside the map: the locked cell, or the newest read.
 * @param {World} world @returns {{row: number, key: number | null, locked: boolean}} */
export function focus(world) {
  const at = relation(world);
  if (!at) return { row: -1, key: null, locked: false };
  const lock = world.look.lock;
  if (lock) return { row: lock.row, key: lock.key, locked: true };
  return { row: newest(world, at.info.query), key: null, locked: false };
}

/** The row that the page follows: the one that decides; in training the one with the largest loss.
 * @param {World} world @param {"s" | "t" | "r"} owner */
export function newest(world, owner) {
  const list = rows(world, owner);
  if (owner === "r") return lastKnown(list) < 0 ? -1 : 0;
  const one = owner === "s" && !writes(world) && list[0]?.token === "<cls>" && known(list[0]); // it may speak for all
  if (owner === "s" && (writes(world) || trainRows(world).length === 1)) return one ? 0 : lastKnown(list);
  if (phase(world) === "train") return hardest(world) ?? lastKnown(list);
  const row = requestView(world)?.decision_row;
  return row === null || row === undefined || row >= list.length ? (one ? 0 : lastKnown(list)) : row;
}

/** The training row with the largest loss among those that count, or null before the loss is known.
 * @param {World} world @returns {number | null} */
export const hardest = (world) => largest(trainRows(world), "loss");

/** @param {any[]} list @param {"loss" | "gradient"} field @returns {number | null} */
export function largest(list, field) {
  let best = null;
  let top = -Infinity;
  list.forEach((row, i) => {
    const value = row.counts && row[field] !== null ? number(row[field]) : NaN;
    if (value > top) [best, top] = [i, value];
  });
  return best;
}

/** The token that a query row decides: the label in training, else the next row's token, or the choice that Step takes. Where nothing
 * is written: what a source row says of its own place.
 * @param {World} world @param {"s" | "t" | "r"} owner @param {number} row */
export function decides(world, owner, row) {
  if (row < 0 || owner === "r" || (owner === "s" && writes(world))) return "";
  if (owner === "s" && phase(world) === "train") return trainRows(world)[row]?.counts && trainRows(world).length > 1 ? trainRows(world)[row].label : "";
  if (owner === "s") return before(world, "logits") ? "" : saidAt(world, requestView(world), row);
  if (phase(world) === "train") return trainRows(world)[row]?.label ?? "";
  const view = requestView(world);
  if (row === view?.decision_row) return choice(view)?.token ?? "";
  const next = view?.target?.[row + 1];
  return next && next.state !== "padded" ? next.token : "";
}

/** What Step takes: the candidate with the chosen id.
 * @param {any} view @returns {any | null} */
export const choice = (view) => view?.candidates?.find((/** @type {any} */ c) => c.id === view.choice) ?? null;

/** The last tap of a scope: what an operation gives to the next.
 * @param {World} world @param {string} scope @returns {string | null} */
export const lastTap = (world, scope) => world.schema?.taps.findLast((/** @type {any} */ t) => t.path.startsWith(`${scope}.`) || t.path === scope)?.path ?? null;

/** @param {any} info a relation @param {number} layer */
export const scope = (info, layer) => info.path.replace("{layer}", String(layer));

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
