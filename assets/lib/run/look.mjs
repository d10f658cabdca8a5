// @ts-check
/** The look: what of it may come from a link or another page, and keeping it inside what the run has. */

import { isStop, MOST } from "../deck/stops.mjs";
import { firstLook } from "./store.mjs";

/** @typedef {import("../types").Look} Look */

/** @type {Record<string, (value: any) => boolean>} */
const ALLOWED = {
  request: whole, layer: whole, head: whole,
  relation: (v) => typeof v === "string" && v.length <= 64,
  show: (v) => ["weights", "scores", "mask", "kernel"].includes(v),
  scale: (v) => v === "linear" || v === "log",
  lock: (v) => v === null || (typeof v === "object" && whole(v.row) && whole(v.key)),
  path: (v) => v === null || (typeof v === "string" && v.length <= 200),
  editing: (v) => typeof v === "boolean",
  pane: (v) => ["gradient", "map", "time"].includes(v),
  scope: (v) => v === "layer" || v === "all",
  stops: (v) => Array.isArray(v) && v.length <= MOST && v.every(isStop),
  decision: (v) => v === "next" || v === "score",
  states: (v) => v === "" || v === "s" || v === "t",
  tree: (v) => typeof v === "boolean",
  chart: (v) => v === "curves" || v === "clauses",
  gold: (v) => typeof v === "boolean",
  ribbon: (v) => v === "weight" || v === "value",
  op: (v) => v === null || (typeof v === "string" && v.length <= 200),
  side: (v) => ["value", "unedited", "gradient"].includes(v),
  layout: (v) => isLayout(v),
  merge: (v) => v === null || whole(v),
};

/** @param {any} v */
function isLayout(v) {
  const { index = {}, ...axes } = v && typeof v === "object" ? v : { index: null };
  const short = (/** @type {any} */ name) => typeof name === "string" && name.length <= 16;
  const named = Object.entries(axes).every(([slot, axis]) => ["rows", "columns", "panels"].includes(slot) && short(axis));
  return named && !!index && typeof index === "object" && Object.entries(index).length <= 8 && Object.entries(index).every(([axis, at]) => short(axis) && whole(at));
}

/** @param {any} v */
function whole(v) {
  return Number.isInteger(v) && v >= 0;
}

/** The parts of some data that are a look; the theme stays each person's own.
 * @param {any} data @returns {Partial<Look>} */
export function taken(data) {
  const entries = Object.entries(data && typeof data === "object" ? data : {});
  return Object.fromEntries(entries.filter(([key, value]) => ALLOWED[key]?.(value)));
}

/** What others see of it.
 * @param {Look} look */
export function shared(look) {
  return Object.fromEntries(Object.keys(ALLOWED).map((key) => [key, look[/** @type {keyof Look} */ (key)]]));
}

/** Between how many one can choose: sequences of the batch in training, hypotheses of a beam, else requests. @param {any} scenario */
function shownOnes({ phase, training, requests, policy }) {
  if (phase === "train" && training?.batch === "task") return training.batch_size;
  return policy?.kind === "beam" && phase !== "train" ? policy.width : requests.length;
}

/** A look that fits what was opened: its relation exists, layer and head are within it. moved: there may be requests that joined on the way.
 * @param {Look} look @param {any} opened @param {any} [moved] @returns {Look} */
export function fitting(look, opened, moved = null) {
  const relations = opened?.relations ?? [];
  const found = relations.find((/** @type {any} */ r) => r.name === look.relation);
  const info = found ?? relations.at(-1);
  const request = Math.min(look.request, Math.max(0, Math.max(shownOnes(opened.scenario), moved?.requests?.length ?? 0) - 1));
  if (!info) {
    const own = look.relation === "" || look.relation === "s" || look.relation === "t"; // whose states are looked at, where there are no reads
    return own ? { ...look, request } : { ...firstLook(), theme: look.theme, stops: look.stops, pane: look.pane, request };
  }
  if (!found) {
    const fresh = { relation: info.name, layer: info.layers - 1, head: 0, lock: null, path: null, editing: false };
    return { ...firstLook(), theme: look.theme, stops: look.stops, show: look.show === "kernel" ? "weights" : look.show, scale: look.scale, ...fresh, request };
  }
  const show = look.show === "kernel" ? "weights" : look.show;
  return { ...look, show, request, layer: Math.min(look.layer, info.layers - 1), head: Math.min(look.head, info.heads - 1) };
}
