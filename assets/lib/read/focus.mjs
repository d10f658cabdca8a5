// @ts-check
/** What the page looks at, found in the world: the phase, the request, its rows, the relation, the row that is followed. Pure. */

import { answered, otherRows, saidAt, writes } from "../answers.mjs";
import { number } from "../words.mjs";

/** @typedef {import("../types").World} World */
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

/** @param {any} info a relation @param {number} layer */
export const scope = (info, layer) => info.path.replace("{layer}", String(layer));
