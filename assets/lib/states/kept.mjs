// @ts-check
/** What a model keeps between calls, read from `moved.kept`: whose rows it is, in which layers, whether it grows, and its bytes. Pure. */

import { counted, msg } from "../language.mjs";
import { reserve } from "../map/maps.mjs";
import { searches } from "../next/beams.mjs";
import * as read from "../reads.mjs";
import { bytes, leaf, requestName } from "../words.mjs";

/** @typedef {import("../types").World} World */
/** One line of a bank's cells: a kept tensor's role in one layer (-1: of no layer), and the operation that writes it.
 * @typedef {{role: "k" | "v" | "m", layer: number, path: string, name: string}} Line */
/** What belongs to the same rows and grows alike. `rows` of the tensor, `perRow` bytes of a further one (of every request); window: of a
 * convolution's newest inputs how many there are (the most of any layer), else 0; due: nothing of it is kept yet.
 * @typedef {{id: string, owner: "s" | "t" | "", window: number, grows: boolean, lines: Line[], bytes: number, perRow: number, rows: number, due?: boolean}} Bank */
/** A bank as one request sees it. @typedef {Bank & {request: number, title: string, note: string, places: read.Row[], reserved: number}} Shelf */

/** @param {string} path @returns {Line} */
function line(path) {
  const name = leaf(path);
  const layer = /\blayer(\d+)\b/.exec(path);
  return { role: /^(k|key|keys)$/.test(name) ? "k" : /^(v|value|values)$/.test(name) ? "v" : "m", layer: layer ? Number(layer[1]) : -1, path: path.slice(0, path.lastIndexOf(".")), name };
}

/** Tensors that are kept, in banks.
 * @param {any[]} kept @returns {Bank[]} */
export function banks(kept) {
  /** @type {Map<string, Bank>} */
  const found = new Map();
  for (const k of kept) {
    const axes = k.axes.map((/** @type {string} */ a) => a.replace("'", ""));
    const owner = axes.includes("s") ? "s" : axes.includes("t") ? "t" : "";
    const window = owner ? -1 : axes.indexOf("k");
    const id = `${owner}${window < 0 ? "" : "k"}${k.grows ? "+" : ""}`;
    /** @type {Bank} */
    const bank = found.get(id) ?? { id, owner, window: 0, grows: k.grows, lines: [], bytes: 0, perRow: 0, rows: owner ? k.shape[axes.indexOf(owner)] : 0 };
    bank.lines.push(line(k.path));
    if (window >= 0) bank.window = Math.max(bank.window, k.shape[window]);
    bank.bytes += k.bytes;
    bank.perRow += k.bytes_per_row ?? 0;
    found.set(id, bank);
  }
  for (const bank of found.values()) bank.lines.sort((a, b) => a.layer - b.layer);
  return [...found.values()].sort((a, b) => Number(b.owner === "s") - Number(a.owner === "s"));
}

/** What will be kept of the source has its place from the start: a bank that is due until a prefill's first stage has run.
 * @param {World} world @returns {Bank[]} */
function awaited(world) {
  const all = banks(world.moved?.kept ?? []);
  const reads = read.phase(world) === "prefill" && world.opened?.relations.some((/** @type {any} */ r) => r.query === "t" && r.key === "s");
  if (!all.length || !reads || all.some((b) => b.owner === "s")) return all;
  return [{ id: "s", owner: "s", window: 0, grows: false, lines: [line("source.memory")], bytes: 0, perRow: 0, rows: 0, due: true }, ...all];
}

/** Bytes now, what one further row of every request costs, and how many rows of what grows there are.
 * @param {Bank[]} all */
export const total = (all) => ({
  now: all.reduce((a, b) => a + b.bytes, 0),
  perRow: all.reduce((a, b) => a + (b.grows ? b.perRow : 0), 0),
  rows: Math.max(...all.map((b) => (b.grows ? b.rows : 0)), 0),
});

const SHOWN = 3; // banks side by side

/** What is drawn: every request's banks where they fit, else (and of a beam) those of the request that the page looks at.
 * @param {World} world @returns {Shelf[]} */
export function shelves(world) {
  const all = awaited(world);
  const requests = read.requests(world);
  const here = requests.flatMap((r, i) => (r.left == null ? [i] : []));
  const at = read.request(world);
  const together = !searches(world) && here.length * all.length <= SHOWN; // a beam grows from one to many
  const shown = together ? here : [here.includes(at) ? at : here[0]];
  return shown.flatMap((b) => all.map((bank) => shelf(bank, b, requests, here.length, all.length)));
}

/** @param {Bank} bank @param {number} b @param {any[]} requests @param {number} here how many of them are in the batch @param {number} banks */
function shelf(bank, b, requests, here, banks) {
  const places = bank.owner ? (requests[b]?.[bank.owner === "s" ? "source" : "target"] ?? []) : [];
  const count = Math.max(1, here);
  const name = bankName(bank);
  const title = requests.length < 2 ? name : banks > 1 ? msg`${requestName(b)}: ${name}` : msg`Request ${requestName(b)}`;
  const now = bytes(bank.bytes / count);
  const note = bank.due ? msg`not computed yet` : bank.window ? `${counted(bank.window, "newest {0} row", "newest {0} rows")}, ${msg`${now}, fixed`}` : !bank.grows ? msg`${now}, fixed` : count > 1 ? (places[next(places)]?.state === "padded" ? msg`next write: row ${next(places)}, over padding` : msg`next write: row ${next(places)}`) : msg`${now}, +${bytes(bank.perRow)} a row`;
  return { ...bank, request: b, title, note, places, reserved: bank.grows ? reserve(Math.max(places.length, next(places) + 1), 6) : Math.max(places.length, 1) };
}

/** The row that the next decision of a request writes; it may lie over padding.
 * @param {read.Row[]} places */
const next = (places) => read.lastKnown(places) + 1;

/** @param {Bank} bank */
function bankName(bank) {
  if (bank.due) return msg`Source rows`;
  const cache = bank.lines.some((l) => l.role !== "m");
  if (bank.owner === "s") return cache ? msg`Source cache` : msg`Source memory`;
  if (bank.owner === "t") return cache ? msg`Target cache` : msg`Target rows`;
  return bank.id.includes("k") ? msg`Newest inputs` : msg`State`;
}

/** A cache of keys and values of the same layers and width beside a state that does not grow: a formula from the running configuration, or
 * null. @param {World} world @returns {{layers: number, width: number, perRow: number} | null} */
export function cacheBeside(world) {
  const { d_model, width: state, layers } = world.opened?.scenario?.config ?? {};
  const width = d_model ?? state;
  const kept = world.moved?.kept ?? [];
  if (!width || !layers || !kept.length || kept.some((/** @type {any} */ k) => k.grows || k.axes.includes("s"))) return null;
  return { layers, width, perRow: 2 * layers * width * 4 * Math.max(1, read.presentCount(world)) };
}

/** A recurrent state of the same layers and width, for comparison: a formula from the running configuration, or null.
 * @param {World} world */
export function fixedState(world) {
  const { d_model: width, layers } = world.opened?.scenario?.config ?? {};
  if (!width || !layers || !(world.moved?.kept ?? []).some((/** @type {any} */ k) => k.grows)) return null;
  const floats = width * layers;
  return { floats, layers, width, bytes: floats * 4 * Math.max(1, read.presentCount(world)) };
}

/** Rows of this pass: how many slots ran, how many of them are real, how many decide.
 * @param {World} world */
export function work(world) {
  const requests = read.requests(world);
  const slots = requests.flatMap((r) => [...(r.source ?? []), ...r.target]);
  const read_ = requests.some((r) => r.decision_row !== null) || requests.some((r) => r.target.some(read.known));
  const run = slots.filter((r) => read.known(r) || (r.state === "padded" && read_)).length;
  return { run, used: slots.filter(read.known).length, decide: requests.filter((r) => r.decision_row !== null).length };
}

/** In training, after the forward pass: bytes of the recorded values that have a gradient, by operation in forward order. They are held
 * until the backward pass has used them.
 * @param {World} world @returns {{op: string, bytes: number}[]} */
export function held(world) {
  const ops = read.phase(world) === "train" ? (world.moved?.stages.find((/** @type {any} */ s) => s.name === "forward")?.ops ?? []) : [];
  const { sizes = {} } = world.moved ?? {};
  const size = (/** @type {any} */ t) => t.axes.reduce((/** @type {number} */ n, /** @type {string} */ a) => n * (sizes[a] ?? 0), WIDTH[t.dtype] ?? 4);
  const taps = (world.schema?.taps ?? []).filter((/** @type {any} */ t) => t.gradient && t.type !== "parameter");
  return ops.map((/** @type {string} */ op) => ({ op, bytes: taps.filter((/** @type {any} */ t) => scopeOf(t.path, ops) === op).reduce((/** @type {number} */ sum, /** @type {any} */ t) => sum + size(t), 0) }));
}

/** @type {Record<string, number>} bytes of one number */
const WIDTH = { float64: 8, float32: 4, float16: 2, bfloat16: 2 };

/** The longest operation that a path lies in.
 * @param {string} path @param {string[]} ops */
const scopeOf = (path, ops) => ops.reduce((best, op) => ((path === op || path.startsWith(`${op}.`)) && op.length > best.length ? op : best), "");
