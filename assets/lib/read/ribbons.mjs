// @ts-check
/** What one query row reads, ready to be drawn: its places, its keys with their state, and how wide each ribbon is. Pure. */

import { cellFigure } from "../map/maps.mjs";
import * as read from "../reads.mjs";
import { outside } from "./windows.mjs";
import { figure, shown } from "../words.mjs";

/** @typedef {import("../types").World} World */
/** @typedef {(row: number, key: number) => number} Cells */
/** @typedef {"open" | "model" | "user" | "padded" | "unknown" | "nan"} KeyState how a key stands to the query row */
/** @typedef {{key: number, state: KeyState, weight: number, amount: number}} KeyRead */
/** @typedef {{kind: "known" | "new" | "padded" | "unknown" | "next", token: string, id: number, text: string | null, would: string | null}} Place */

/** A read whose weight is below this share gets neither ribbon nor number. */
export const FAINT = 0.005;
/** Rows that a person may still see written, kept free so that nothing moves while they are. */
const AHEAD = 4;

/** The places of the query strip: its rows, then the decision, then one that is not known yet.
 * @param {World} world @param {"s" | "t" | "r"} owner @param {any} [view] a request, else the one that the page looks at @returns {Place[]} */
export function places(world, owner, view = read.requestView(world)) {
  if (owner === "r") return hops(world, view);
  const list = view ? (view[owner === "s" ? "source" : "target"] ?? []) : read.rows(world, owner);
  const rows = list.map((/** @type {read.Row} */ row) => ({ kind: kindOf(row), token: shown(row.token), id: row.id, text: row.text, would: row.would ?? null }));
  if (owner === "s" || !view || view.finished) return rows;
  const lead = rows.at(-1)?.kind === "next" ? null : read.choice(view); // what is chosen and not read stands in its place already
  const later = { kind: "unknown", token: "", id: -1, text: null, would: null };
  return lead ? [...rows, { kind: "next", token: shown(lead.token), id: lead.id, text: null, would: null }, later] : [...rows, later];
}

/** Hops, then what is decided from all of them together. @param {World} world @param {any} view @returns {Place[]} */
function hops(world, view) {
  /** @type {Place[]} */
  const rows = read.rows(world, "r").map((row) => ({ kind: kindOf(row), token: row.token, id: -1, text: null, would: null }));
  const lead = view && read.choice(view);
  return lead ? [...rows, { kind: "next", token: shown(lead.token), id: -1, text: null, would: null }] : rows;
}

/** A row that was decided but not given to the model yet looks like a decision.
 * @param {read.Row} row */
const kindOf = (row) => (row.state === "unknown" && (row.origin === "model" || row.origin === "chosen") ? "next" : row.state);

/** How each key row stands to one query row, and what it gives.
 * @param {World} world @param {Cells} weight @param {number} row @param {Cells} [amount] what a ribbon's width is @returns {KeyRead[]} */
export function keyReads(world, weight, row, amount = weight) {
  const at = read.relation(world);
  if (!at) return [];
  const mask = read.visibility(at.info, at.layer, read.rows(world, at.info.key));
  const [asker, out] = [read.rows(world, at.info.query)[row], outside(world, at.info, at.layer, weight)];
  const broken = !!asker && read.known(asker) && brokenReads(world);
  return read.rows(world, at.info.key).map((key, i) => {
    const state = !read.known(key) ? (key.state === "padded" ? "padded" : "unknown") : mask.own(row, i) === false ? "user" : !mask.allows(row, i) || out(row, i) ? "model" : "open";
    const share = state === "open" ? weight(row, i) : 0;
    return { key: i, state: state === "open" && broken && Number.isNaN(share) ? "nan" : state, weight: share, amount: state === "open" ? amount(row, i) : 0 };
  });
}

/** Whether something in this step is not finite, so that a missing number is no number at all.
 * @param {World} world */
const brokenReads = (world) => !!world.moved?.unreadable || !!world.checked?.checks.some((/** @type {any} */ c) => c.id === "finite" && c.status === "fail");

/** The key that gives most, or -1.
 * @param {KeyRead[]} reads */
export const strongest = (reads) => reads.reduce((best, r) => (r.amount > (reads[best]?.amount ?? 0) ? r.key : best), -1);

/** The quantity that a ribbon's width is and its number says: the weight, or the length of weight × value vector.
 * `most` is what the widest ribbon stands for: 1, or the longest value vector.
 * @param {World} world @param {Cells} weight @param {import("../types").Known | undefined} lengths of the value vectors
 * @returns {{amount: Cells, most: number, said: (value: number) => string}} */
export function quantity(world, weight, lengths) {
  const at = read.relation(world);
  if (!at || world.look.ribbon !== "value" || !lengths) return { amount: weight, most: 1, said: cellFigure };
  const length = lengthOf(lengths, read.request(world));
  let most = 0;
  for (let key = 0; key < read.rows(world, at.info.key).length; key++) if (length(key) > most) most = length(key);
  return { amount: (row, key) => weight(row, key) * length(key), most: most || 1, said: (value) => figure(value, 2) };
}

/** The length of each key's value vector in the head that was asked for.
 * @param {import("../types").Known} known @param {number} request @returns {(key: number) => number} */
function lengthOf(known, request) {
  const b = Math.min(request, known.shape[0] - 1);
  return known.axes.length === 2 ? (key) => known.at(b, key) : (key) => known.at(b, known.shape[1] - 1, key);
}

/** The value vectors' lengths for `quantity`, or nothing where they are not asked for.
 * @param {World} world @returns {import("../types").Selector[]} */
export function lengthSelectors(world) {
  const at = read.relation(world);
  const taps = at && world.look.ribbon === "value" ? read.tapsOf(world, at.info, at.layer) : null;
  const path = taps?.value ? taps.values : null; // those that the read mixes: an edit of what is kept counts
  if (!at || !path) return [];
  const axes = world.schema?.taps.find((/** @type {any} */ t) => t.path === path)?.axes ?? [];
  const groups = world.moved?.sizes?.g;
  /** @type {Record<string, number>} */
  const head = axes.includes("g") && groups ? { g: Math.floor((at.head * groups) / at.info.heads) } : { h: at.head };
  return [{ path, index: { b: read.request(world), ...head }, reduce: "norm", dtype: "f32" }];
}

/** How many places the strips keep from the start of a run, so that slots keep their width while rows are written.
 * @param {World} world @param {any} info a relation */
export function reserved(world, info) {
  const requests = world.opened?.scenario?.requests ?? [];
  const most = (/** @type {"source" | "target"} */ side) => Math.max(0, ...requests.map((/** @type {any} */ r) => ((side === "source" && r.features) || r[side])?.length ?? 0));
  if (info.query === "r") return Math.max(most("source"), read.rows(world, "r").length + 1, 6);
  const source = info.query === "s" || info.key === "s" ? most("source") : 0;
  if (info.query === "s") return Math.max(source, 6);
  return Math.max(source + (source ? AHEAD : 0), most("target") + 1 + AHEAD, 6);
}
