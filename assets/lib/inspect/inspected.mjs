// @ts-check
/** What the inspector looks at: one tensor, its axes in roles, and who owns its rows. Pure. */

import { writes } from "../answers.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { firstPath } from "../states/tapes.mjs";
import { axisName, figure, leaf, opName } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Look["side"]} Side */

/** The path that is shown instead of the read: the chosen one, or what the operation under the cursor gives.
 * @param {World} world @returns {string | null} */
export function shownPath(world) {
  const { path, op } = world.look;
  return (path || !op || read.readAt(world.opened?.relations ?? [], op) ? path : read.lastTap(world, op)) ?? firstPath(world);
}

/** @type {WeakMap<any[], Map<string, any>>} taps of a schema by path */
const byPath = new WeakMap();

/** @param {World} world @param {string} path @returns {any | null} a TapInfo */
export function tapAt(world, path) {
  const taps = world.schema?.taps;
  if (!taps) return null;
  let found = byPath.get(taps);
  if (!found) byPath.set(taps, (found = new Map(taps.map((/** @type {any} */ t) => [t.path, t]))));
  return found.get(path) ?? null;
}

/** The tap that is shown: that path, or the weights of the read.
 * @param {World} world @returns {any | null} a TapInfo */
export function chosen(world) {
  const at = read.relation(world);
  return tapAt(world, shownPath(world) ?? (at ? read.tapsOf(world, at.info, at.layer).weights : ""));
}

/** Whether the model's edits change this tap, so that it has a value before them. @param {World} world @param {string} path */
export const edited = (world, path) => (world.opened?.scenario?.edits ?? []).some((/** @type {any} */ e) => e.enabled && e.path === path);

/** Which sides of a tap there are to see at this moment.
 * @param {World} world @param {any} tap @returns {Side[]} */
export function sides(world, tap) {
  const all = /** @type {Side[]} */ (["value"]);
  if (tap && edited(world, tap.path)) all.push("unedited");
  if (tap?.gradient && read.phase(world) === "train" && world.moved?.train?.parameter_norms) all.push("gradient");
  return all;
}

/** The side that is shown: the one that was asked for, where there is one. @param {World} world @param {any} tap @returns {Side} */
export const side = (world, tap) => (sides(world, tap).includes(world.look.side) ? world.look.side : "value");

/** The role of an axis: rows that query, rows that are read, entries that decide, a parameter's own; "" for widths.
 * @param {string} axis @param {string[]} axes all of the tensor @returns {"q" | "k" | "d" | "p" | ""} */
export function roleOf(axis, axes) {
  if (axis.endsWith("'")) return "k";
  if (axis === "t" || axis === "r") return "q";
  if (axis === "s") return axes.includes("s'") ? "q" : "k";
  if (axis === "v") return "d";
  return ["out", "in", "entry", "width"].includes(axis) || /^d\d$/.test(axis) ? "p" : "";
}

/** How long an axis is at this moment, with all rows that are known.
 * @param {World} world @param {any} tap @param {number} i which of its axes @returns {number} */
export function axisSize(world, tap, i) {
  const axis = tap.axes[i].replace("'", "");
  if (tap.type === "parameter") return tap.shape[i];
  if (axis === "b") return Math.max(1, read.requestCount(world));
  if (axis === "s" || axis === "t") return read.rows(world, axis).filter((r) => r.state !== "unknown").length;
  return world.moved?.sizes?.[tap.axes[i]] ?? 0;
}

/** What a tensor is called: the tap's own name; of a parameter, its module's.
 * @param {any} tap */
export function nameOf(tap) {
  if (tap.type !== "parameter") return leaf(tap.path);
  const parts = tap.path.split(".");
  return parts.at(-1) === "weight" ? parts.at(-2) : parts.slice(-2).join(" ");
}

/** Where it is: "L2 cross, head 1". @param {World} world @param {any} tap */
export function whereOf(world, tap) {
  const parts = tap.path.replace(/^parameter\./, "").split(".");
  const scope = parts.slice(0, tap.type === "parameter" ? -2 : -1).join(".");
  const at = scope ? opName(scope, true) : "";
  const head = tap.axes.includes("r") ? "" : tap.axes.includes("h") && shownPath(world) === null ? msg`head ${(read.relation(world)?.head ?? 0) + 1}` : tap.axes.includes("h") ? msg`all heads` : "";
  return [at, head].filter(Boolean).join(", ");
}

/** Who owns its rows, in words. @param {World} world @param {any} tap */
export function ownerOf(world, tap) {
  if (tap.type === "parameter") return msg`none: one parameter, shared by every row`;
  const owners = tap.axes.filter((/** @type {string} */ a) => /^[st]$/.test(a));
  const reads = tap.axes.some((/** @type {string} */ a) => a.endsWith("'")) || owners.length > 1;
  if (tap.axes.includes("r")) return owners.length ? msg`hop, one row of weights each` : msg`hop, one row each`;
  if (!owners.length) return reads ? msg`the rows that are read` : withoutRows(tap.axes);
  const owner = owners[0] === "t" ? msg`target` : msg`source`;
  const { padded, all } = paddedRows(world, owners[0]);
  return padded ? msg`${owner}; ${padded} of ${all} inputs are padding` : msg`${owner}, one row for each token`;
}

/** Whose a value without rows is. @param {string[]} axes */
function withoutRows(axes) {
  if (axes.includes("y")) return msg`places of the picture`;
  return axes.includes("b") ? msg`the request, one for all its rows` : msg`none`;
}

/** @param {World} world @param {string} owner */
function paddedRows(world, owner) {
  const all = read.phase(world) === "train" ? trainStates(world, owner) : read.requests(world).flatMap((r) => (owner === "t" ? r.target : (r.source ?? [])).map((/** @type {any} */ row) => row.state));
  return { padded: all.filter((state) => state === "padded").length, all: all.length };
}

/** @param {World} world @param {string} owner @returns {string[]} */
function trainStates(world, owner) {
  const train = world.moved?.train;
  if (owner === "s") return (train?.sources ?? []).flat().map((/** @type {any} */ r) => r.state);
  return (train?.rows ?? []).flat().map((/** @type {any} */ r) => (r.key_valid ? "known" : "padded"));
}

/** How long it lives. @param {World} world @param {any} tap */
export function lifetimeOf(world, tap) {
  if (side(world, tap) === "gradient") return msg`until the next batch clears it`;
  if (tap.type === "parameter") return msg`until the next update changes it`;
  if (tap.type === "state") return msg`kept until the request ends`;
  if (read.phase(world) === "train") return msg`this update; the next batch makes it anew`;
  if (tap.axes.includes("t") && read.phase(world) === "decode") return msg`only the newest row is computed; older rows stay for display`;
  if (!writes(world)) return msg`this call; nothing is kept`;
  return tap.axes.includes("t") ? msg`this call; keys and values stay` : msg`computed once, when the source is read`;
}

/** Whether it can be changed: in a word, and in a sentence. @param {any} tap @returns {[string, string]} */
export function editOf(tap) {
  if (tap.editable) return [msg`Edit…`, msg`Set, scale or patch its values at this tap`];
  if (tap.type === "parameter") return [msg`learned`, msg`Updates change it; it cannot be set at a tap.`];
  if (tap.type === "mask") return [msg`by Edit mask`, msg`Cells are hidden and shown in the map.`];
  return tap.type === "ids" ? [msg`by the input`, msg`It follows from the words of the input.`] : [msg`fixed`, msg`It cannot be set at a tap.`];
}

/** What it is in plain words: the model's own, else that of its type. @param {World} world @param {any} tap */
export function meaningOf(world, tap) {
  const means = world.schema?.formulas?.[tap.formula ?? -1]?.means;
  if (side(world, tap) === "gradient") return msg`how the loss moves when this does`;
  return means || meanings()[tap.type] || tap.type;
}

/** @returns {Record<string, string>} */
const meanings = () => ({
  ids: msg`which vocabulary entry a row is`, hidden: msg`a vector for each row`, scores: msg`how well query and key fit, before the mask`,
  mask: msg`who may read whom`, weights: msg`share of each value in a row; a row sums to 1`, coefficients: msg`how much of each value; they need not sum to 1`,
  logits: msg`one score for each vocabulary entry`, probabilities: msg`one share for each vocabulary entry`, loss: msg`nats, for each row`,
  state: msg`kept for later calls`, decision: msg`what was chosen`, parameter: msg`learned; the same for every row`,
});

/** One axis in words, with its size: "query: target 4". @param {string} axis @param {string[]} axes @param {number} size */
export function axisSaid(axis, axes, size) {
  const maps = axes.some((a) => a.endsWith("'")) || (axes.includes("t") && axes.includes("s"));
  const role = maps ? /** @type {Record<string, string>} */ ({ q: msg`query`, k: msg`key` })[roleOf(axis, axes)] : "";
  const bare = axis.replace("'", "");
  const name = bare === "t" ? msg`target` : bare === "s" ? msg`source` : axisName(bare);
  const said = `${name} ${size || "?"}`;
  return role ? msg`${role}: ${said}` : said;
}

/** A norm with two figures however small it is: norms of gradients are compared by their size. @param {number} value */
export const norm = (value) => (Math.abs(value) < 0.01 && value !== 0 && Number.isFinite(value) ? value.toExponential(1) : figure(value));
