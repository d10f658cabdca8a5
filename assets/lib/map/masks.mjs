// @ts-check
/** What an edit of a mask becomes: one command for the shown layer or for all, and how a mask is said. Pure. */

import { counted, msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { windowed } from "../read/windows.mjs";
import { LARGEST, area, border, bound, count, paint, programs, sameMasks, withMask } from "./visibility.mjs";

/** @typedef {import("../types").World} World @typedef {import("./visibility.mjs").Mask} Mask @typedef {{query: number, key: number}} Spot */

/** Whether a click on the map edits its mask: in edit mode, by who writes this run, and not while the page asks something first. @param {World} world */
export const edits = (world) => world.look.editing && world.role === "writer" && !world.held;

/** A mask in words: "causal", "prefix P = 3", "causal sliding r = 16, every 2nd, global rows 0, 97".
 * @param {Mask} mask */
export function maskName(mask) {
  const program = programs().find((p) => p.id === mask.program);
  const name = program ? `${program.title}${program.letter ? ` ${program.letter} = ${mask.parameter}` : ""}` : mask.program;
  const every = (mask.every ?? 1) > 1 ? `, ${msg`every ${mask.every ?? 1}`}` : "";
  return `${name}${every}${mask.global_rows?.length ? `, ${msg`global rows ${mask.global_rows.join(", ")}`}` : ""}`;
}

/** Open cells by mask, for the rows and keys that they were counted for. @type {WeakMap<any, {of: string, open: number}>} */
const counts = new WeakMap();

/** What the mask allows of what is there: "causal: 10 of 16 cells open, 2 set by you".
 * @param {World} world */
export function maskSummary(world) {
  const at = read.relation(world);
  if (!at) return "";
  const mask = at.info.masks[at.layer];
  const [rows, keys] = [read.rows(world, at.info.query).filter(read.known).length, read.rows(world, at.info.key)];
  const real = keys.filter(read.known).length;
  const padded = keys.filter((k) => k.state === "padded").length;
  const of = `${rows} ${keys.map((k) => (read.known(k) ? 1 : 0)).join("")}`;
  let known = counts.get(mask);
  if (known?.of !== of) counts.set(mask, (known = { of, open: count(mask, rows, keys.length, (k) => read.known(keys[k]), border(keys)) }));
  const mine = setByHand(mask, rows);
  const pads = padded ? `, ${counted(padded, "{0} padding key", "{0} padding keys")}` : "";
  const all = (rows * real).toLocaleString("en"), open = known.open.toLocaleString("en");
  const own = mask.own ? `; ${msg`this layer alone`}` : "";
  if (mask.program !== "sliding") return msg`${maskName(mask)}: ${open} of ${all} cells open` + (windowed(world, at.info, at.layer) ? `; ${msg`a window leaves fewer`}` : "") + mine + pads + own;
  const most = bound(mask, real).toLocaleString("en"), reach = mask.parameter * (mask.every ?? 1);
  return msg`${maskName(mask)}: ${open} cells, bound ${most}` + `; ${msg`a layer reaches ${counted(reach, "{0} row", "{0} rows")}`}` + mine + pads + `; ${msg`${all} in all`}` + own;
}

/** The cells that a person set: how many of the rows that are there, and whether rows to come are set too.
 * @param {Mask} mask @param {number} rows */
function setByHand(mask, rows) {
  if (!mask.cells.length) return "";
  const there = area(mask.cells, rows);
  return `, ${counted(there, "{0} cell set by you", "{0} cells set by you")}${area(mask.cells) > there ? `, ${msg`later rows too`}` : ""}`;
}

/** The command that edits the masks of the selected relation, or null where nothing would change.
 * @param {World} world @param {(mask: Mask) => Mask} edit @param {boolean} [same] make all layers the same (a preset for all layers) */
export function change(world, edit, same = false) {
  const at = read.relation(world);
  if (!at || !world.opened) return null;
  const before = world.asked.masks ?? world.opened.scenario.masks ?? [];
  const layer = world.look.scope === "all" ? null : at.layer;
  const masks = withMask(before, at.info.name, layer, at.info.default, edit, same);
  return sameMasks(masks, before) ? null : { kind: "change", fields: { masks } };
}

/** The command that gives the selected relation (in this layer, or in all) the architecture's own mask back. @param {World} world */
export const reset = (world) => change(world, () => ({ .../** @type {any} */ (read.relation(world)).info.default }), true);

/** @param {Spot[]} places @param {boolean | null} visible null: as the program says @returns {(mask: Mask) => Mask} */
export const painted = (places, visible) => (mask) => ({ ...mask, cells: paint(mask, places, visible) });

/** Every cell of a rectangle, ends included. @param {[number, number]} queries @param {[number, number]} keys @returns {Spot[]} */
export const block = ([first, last], [from, to]) =>
  Array.from({ length: (last - first + 1) * (to - from + 1) }, (_, i) => ({ query: first + Math.floor(i / (to - from + 1)), key: from + (i % (to - from + 1)) }));

/** What toggles a whole row or column of computed cells: hide those that may be read; where none may be, give back what was hidden here,
 * and where nothing was, open all. Of a column, target rows that are still to come are set as well: who hides a word means it to stay
 * hidden. Pure.
 * @param {World} world @param {{row: number} | {column: number}} line @returns {((mask: Mask) => Mask) | null} */
export function toggled(world, line) {
  const at = read.relation(world);
  if (!at) return null;
  const list = (/** @type {"s" | "t"} */ owner, /** @type {number | undefined} */ only) => read.rows(world, owner).flatMap((r, i) => (read.known(r) && (only === undefined || only === i) ? [i] : []));
  const [rows, keys] = [list(at.info.query, "row" in line ? line.row : undefined), list(at.info.key, "column" in line ? line.column : undefined)];
  const places = rows.flatMap((query) => keys.map((key) => ({ query, key })));
  const mask = read.visibility(at.info, at.layer, read.rows(world, at.info.key));
  const open = places.filter((p) => mask.allows(p.query, p.key));
  const come = at.info.query === "t" && rows.length && "column" in line ? keys.flatMap((key) => block([rows[rows.length - 1] + 1, LARGEST], [key, key])) : [];
  const later = come.filter((p) => mask.program(p.query, p.key));
  if (open.length) return painted([...open, ...later], false);
  const given = places.filter((p) => mask.program(p.query, p.key));
  return places.length ? painted([...(given.length ? given : places), ...later], true) : null;
}
