// @ts-check
/** Edits at taps: in words, and as a change of the scenario. Pure. The scenario's own form: app/session/scenario.py. */

import { counted, msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { writes } from "../answers.mjs";
import { owner as stateRows } from "../states/tapes.mjs";
import { isTurn, turnName } from "../deck/turns.mjs";
import { SPECIALS } from "../setup/tokens.mjs";
import { axisName, figure, leaf, opName, requestName, severalStacks, shown } from "../words.mjs";

/** @typedef {import("../types").World} World */
/** @typedef {string | {special: string}} Token */
/** @typedef {{source?: Token[] | null, target?: Token[], masks?: any[], row?: number | null, moment?: number, request?: number}} Donor */
/** @typedef {{path: string, index: (number | null)[], action: "set" | "scale" | "patch", value?: number | null, donor?: Donor | null, enabled?: boolean}} TapEdit */
/** @typedef {{path: string, axes: string[], index: (number | null)[]}} Target what an edit would change: a tap, and a place on each axis or all */

const ROWS = ["t", "s", "t'", "s'"];

/** @param {World} world @returns {TapEdit[]} */
export const edits = (world) => world.opened?.scenario?.edits ?? [];

/** The axis whose places are a tensor's rows: of a read its queries. @param {string[]} axes */
const rowAxis = (axes) => axes.find((a) => ROWS.includes(a)) ?? null;

/** @param {World} world @param {string} path */
const tapOf = (world, path) => world.schema?.taps.find((/** @type {any} */ t) => t.path === path) ?? null;

// ---- what can be edited here

/** A place in a tap, for what the page looks at: its request, head, row and key; what is not given is all.
 * @param {any} tap a TapInfo @param {{request?: number, head?: number, row?: number, key?: number}} at @returns {Target} */
export function target(tap, at) {
  const rows = tap.axes.filter((/** @type {string} */ a) => ROWS.includes(a));
  const place = (/** @type {string} */ axis) => (axis === "b" ? at.request : axis === "h" ? at.head : axis === rows[0] ? at.row : axis === rows[1] ? at.key : undefined);
  return { path: tap.path, axes: tap.axes, index: tap.axes.map((/** @type {string} */ a) => place(a) ?? null) };
}

/** The weight of the cell that is locked, or of the largest read of the shown row; null where there is none.
 * @param {World} world @param {(row: number, key: number) => number} weight @returns {Target | null} */
export function cellTarget(world, weight) {
  const at = read.relation(world);
  const tap = at && tapOf(world, read.tapsOf(world, at.info, at.layer).weights);
  if (!at || !tap?.editable) return null;
  const { row, key } = read.focus(world);
  const column = key ?? read.reads(weight, row, read.rows(world, at.info.key).length)[0]?.key ?? -1;
  return row < 0 || column < 0 ? null : target(tap, { request: read.request(world), head: at.head, row, key: column });
}

/** What a head gives to the next: its mixed values. @param {World} world @returns {Target | null} */
export function headTarget(world) {
  const at = read.relation(world);
  const output = at && read.tapsOf(world, at.info, at.layer).output;
  const tap = output ? tapOf(world, output) : null;
  return at && tap?.editable ? target(tap, { head: at.head }) : null;
}

/** The tensor that the inspector shows, at the row that the page looks at. @param {World} world @returns {Target | null} */
export function tensorTarget(world) {
  const at = read.relation(world);
  const tap = tapOf(world, world.look.path ?? (at ? read.tapsOf(world, at.info, at.layer).weights : ""));
  if (!tap?.editable) return null;
  const owner = (rowAxis(tap.axes) ?? "t").replace("'", "");
  const lock = world.look.lock, rows = at?.info.query ?? stateRows(world);
  const row = lock && owner === rows ? lock.row : owner === at?.info.query ? read.focus(world).row : read.newest(world, /** @type {"s" | "t"} */ (owner));
  return target(tap, { request: read.request(world), head: at?.head, row: row < 0 ? undefined : row });
}

// ---- as a change

/** @param {TapEdit[]} all */
export const change = (all) => ({ kind: "change", fields: { edits: all } });

/** Whether two edits say the same about the same place. @param {TapEdit} a @param {Target} b */
const samePlace = (a, b) => a.path === b.path && a.index.length <= b.index.length && b.index.every((i, n) => i === (a.index[n] ?? null));

/** With one more edit; another of the same kind at the same place gives way to it.
 * @param {TapEdit[]} all @param {TapEdit} edit */
export const withEdit = (all, edit) => [...all.filter((e) => !samePlace(e, { ...edit, axes: [] }) || e.action !== edit.action), edit];

/** @param {TapEdit[]} all @param {number} at */
export const without = (all, at) => all.filter((_, i) => i !== at);

/** @param {TapEdit[]} all @param {number} at */
export const switched = (all, at) => all.map((e, i) => (i === at ? { ...e, enabled: e.enabled === false } : e));

// ---- donors

/** The rows of a request as tokens again, as far as they are known. @param {read.Row[]} rows @returns {Token[]} */
const tokensOf = (rows) => rows.filter(read.known).map((r) => r.text ?? (SPECIALS.includes(r.token) ? { special: r.token } : r.token));

/** A request as it stands, as a donor: read without edits and under the architecture's own masks.
 * @param {World} world @param {number} request @returns {Donor | null} */
export function donorOf(world, request) {
  const view = read.phase(world) === "train" ? null : world.moved?.requests?.[request];
  const asked = world.opened?.scenario?.requests?.[request];
  if (view && asked && !writes(world)) return { source: asked.source, target: asked.target, ...(asked.features ? { features: asked.features } : {}) };
  return view ? { source: view.source ? tokensOf(view.source) : null, target: tokensOf(view.target).slice(1), ...(asked?.features ? { source: null, features: asked.features } : {}) } : null;
}

/** @param {any} node of the history */
const named = (node) => (isTurn(node) ? msg`Decode ${node.step}: ${turnName(node)}` : node.phase === "prefill" ? msg`Prefill` : node.label ? msg`Decode ${node.step}: ${shown(node.label)}` : msg`Decode ${node.step}`);

/** How many moments are offered as donors. */
const DONORS = 40;

/** Other moments of this run whose requests can be donors, the newest first. @param {World} world */
export function moments(world) {
  const all = [...world.history.values()].filter((n) => n.id !== world.moved?.at && !n.stage && (n.phase === "decode" || (n.phase === "prefill" && n.step > 0)));
  return all.sort((a, b) => b.id - a.id).slice(0, DONORS).map((n) => ({ id: n.id, name: msg`moment ${n.id}, ${named(n)}` }));
}

// ---- in words

/** What an edit does, in words: "L2 cross weights, H1, row 3 noir, key 3 sleeps = 0".
 * @param {World} world @param {TapEdit} edit */
export const words = (world, edit) => `${place(world, edit)} ${doing(edit)}`;

/** @param {World} world @param {{path: string, index: (number | null)[]}} edit */
export function place(world, edit) {
  const tap = tapOf(world, edit.path);
  const axes = tap?.axes ?? edit.index.map(() => "?");
  const scope = edit.path.slice(0, Math.max(0, edit.path.lastIndexOf(".")));
  const several = severalStacks((world.schema?.taps ?? []).map((/** @type {any} */ t) => t.path));
  const name = scope ? `${opName(scope, several && edit.path.startsWith("encoder"))} ${leaf(edit.path)}` : edit.path;
  const rows = axes.filter((/** @type {string} */ a) => ROWS.includes(a));
  const parts = edit.index.flatMap((at, n) => (at === null ? [] : [part(world, axes[n], at, rows, edit)]));
  return [name, ...parts.filter(Boolean)].join(", ");
}

/** @param {World} world @param {string} axis @param {number} at @param {string[]} rows the row axes @param {{index: (number | null)[]}} edit */
function part(world, axis, at, rows, edit) {
  if (axis === "b") return read.requestCount(world) < 2 && at === 0 ? "" : requestName(at);
  if (axis === "h") return `H${at + 1}`;
  if (!rows.includes(axis)) return `${axis} ${at}`;
  const owner = axis.startsWith("s") ? "s" : "t";
  const token = (edit.index[0] ?? 0) === read.request(world) ? read.rows(world, owner)[at]?.token : undefined;
  const said = token ? `${at} ${shown(token)}` : String(at);
  return axis === rows[0] ? msg`row ${said}` : msg`key ${said}`;
}

/** @param {TapEdit} edit */
function doing(edit) {
  if (edit.action === "patch") return donorWords(edit.donor ?? {});
  return `${edit.action === "set" ? "=" : "×"} ${figure(edit.value ?? 0)}`;
}

/** @param {Donor} donor */
function donorWords(donor) {
  const said = (/** @type {Token[]} */ tokens) => tokens.map((t) => shown(typeof t === "string" ? t : t.special)).join(" ");
  const text = [donor.source ? said(donor.source) : "", said(["<bos>", ...(donor.target ?? [])])].filter(Boolean).join(" → ");
  return donor.row === null || donor.row === undefined ? msg`← “${text}”` : msg`← row ${donor.row} of “${text}”`;
}

/** Why an enabled edit changes nothing here, or "". Pure. @param {World} world @param {TapEdit} edit */
export function waits(world, edit) {
  const tap = tapOf(world, edit.path);
  const missing = (tap?.axes ?? []).flatMap((/** @type {string} */ axis, /** @type {number} */ n) => {
    const at = edit.index[n] ?? null;
    if (at === null || (axis !== "b" && !ROWS.includes(axis))) return [];
    const size = axis === "b" ? read.requestCount(world) : read.rows(world, axis.startsWith("s") ? "s" : "t").length;
    return at < size ? [] : [axis === "b" ? msg`no request ${requestName(at)} here` : msg`no ${axisName(axis.replace("'", ""))} ${at} yet`];
  });
  return missing[0] ?? "";
}

/** How many are on and off: "1 on, 2 off". @param {TapEdit[]} all */
export function tally(all) {
  const on = all.filter((e) => e.enabled !== false).length;
  return [on || !all.length ? counted(on, "{0} on", "{0} on") : "", all.length > on ? counted(all.length - on, "{0} off", "{0} off") : ""].filter(Boolean).join(", ");
}

/** What is changed: edits at tensors, and masks, which are edited on the map. @param {TapEdit[]} all @param {World} world */
export function heading(all, world) {
  const masks = world.opened?.scenario?.masks?.length ? msg`masks changed on the map` : "";
  return [all.length ? tally(all) : "", masks].filter(Boolean).join("; ") || msg`none`;
}

/** What the page looks at when one goes to an edit. @param {World} world @param {TapEdit} edit @returns {Partial<import("../types").Look>} */
export function lookAt(world, edit) {
  const axes = tapOf(world, edit.path)?.axes ?? [];
  const at = (/** @type {string | undefined} */ axis) => (axis ? (edit.index[axes.indexOf(axis)] ?? null) : null);
  const [query, key] = axes.filter((/** @type {string} */ a) => ROWS.includes(a));
  const found = read.readAt(world.opened?.relations ?? [], edit.path);
  const cell = at(query) !== null && at(key) !== null ? { row: /** @type {number} */ (at(query)), key: /** @type {number} */ (at(key)) } : null;
  const weights = found && read.tapsOf(world, found.info, found.layer).weights === edit.path;
  return {
    ...(at("b") === null ? {} : { request: /** @type {number} */ (at("b")) }), ...(at("h") === null ? {} : { head: /** @type {number} */ (at("h")) }),
    ...(found ? { relation: found.info.name, layer: found.layer } : {}), op: null, lock: weights ? cell : null, path: weights ? null : edit.path,
  };
}

/** @param {World} world @returns {import("../types").Table} */
export function asTable(world) {
  const donor = (/** @type {TapEdit} */ e) => (e.donor ? donorWords(e.donor) : null);
  return {
    columns: [msg`edit`, msg`on`, msg`tensor`, msg`place`, msg`action`, msg`value`, msg`donor`],
    rows: edits(world).map((e) => [words(world, e), e.enabled !== false, e.path, e.index.map((i) => i ?? "*").join(" "), e.action, e.value ?? null, donor(e)]),
  };
}
