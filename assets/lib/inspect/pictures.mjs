// @ts-check
/** The pictures of one tensor, a panel each: painted, pointed at, walked over with the keys; what a cell holds, in words. */

import * as draw from "../canvas.mjs";
import { h, hide, list, text } from "../dom.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { axisName, figure, shown } from "../words.mjs";
import { roleOf } from "./inspected.mjs";
import { arranged, span } from "./tensor.mjs";

/** @typedef {import("../types").World} World @typedef {import("./tensor.mjs").Layout} Layout @typedef {ReturnType<typeof import("./tensor.mjs").picture>} Picture */
/** @typedef {{panel: number, row: number, column: number}} Place */
/** What is drawn: a tensor, its layout, its panels and their scale. @typedef {{world: World, tap: any, now: Layout, all: Picture[], scale: import("./scales.mjs").Scale}} Shown */
/** at: where the cursor stands. @typedef {{at: Place | null, hover: Place | null, geometry: ReturnType<typeof draw.cellMap>[]}} Pointing */

const ROOM = 226; // px for the pictures, whatever they hold
const FOLLOWING = 162; // and while the op cursor leads: then a read and a tensor take turns in one place

/** @param {any} element @param {Shown} shown @param {Pointing} pointing */
export function paint(element, { world, tap, now, all, scale }, pointing) {
  const [width, height] = draw.boxOf(element);
  const labels = now.panels || now.bin > 1 ? null : tokens(world, now, now.rows?.axis, all[0]?.rows ?? 0, 0);
  const room = world.look.path !== null ? ROOM : Math.min(FOLLOWING, height - 4);
  const named = !!labels && room / labels.length >= 11;
  const left = named ? 62 : 0;
  const box = arranged(width - left, room, all.length, all[0] ?? { rows: 1, columns: 1 }, { caption: now.panels ? 15 : 0, row: named || all[0]?.rows === 1 ? 18 : 12 });
  const columns = `repeat(${box.across}, minmax(0, 1fr))`;
  if (element.style.gridTemplateColumns !== columns) element.style.gridTemplateColumns = columns;
  list(element, all, (_, i) => i, () => h("figure", null, h("figcaption", { class: "note" }), h("canvas", { "aria-hidden": "true" })), (node, _, i) => {
    hide(node.firstElementChild, !now.panels);
    if (now.panels) text(node.firstElementChild, `${box.across > 4 ? "" : `${axisName(now.panels.axis)} `}${countedFrom(now.panels.axis) + i}`); // the choice above says of what
  });
  pointing.geometry = all.map((m, i) => {
    const canvas = element.children[i].lastElementChild;
    draw.tall(canvas, `${box.tall}px`);
    const mark = pointing.hover ?? pointing.at;
    const selected = pointing.at?.panel === i ? { row: pointing.at.row, column: pointing.at.column } : null;
    const hover = mark?.panel === i && mark !== pointing.at ? { row: mark.row, column: mark.column } : null;
    return draw.cellMap(canvas, {
      rows: m.rows, columns: m.columns, value: m.at, state: (r, c) => (m.unknown(r, c) ? "later" : "ok"), gap: 0.6, scale, left, selected, hover,
      ...(named && labels ? { rowLabels: labels, roles: /** @type {[string, string]} */ ([roleOf(now.rows?.axis ?? "", tap.axes) || "p", "k"]) } : {}), values: m.columns < 12, format: (v) => figure(v, 2),
    });
  });
}

/** The tokens of an axis that is rows of an owner; null where it is none, or where one picture holds several requests.
 * @param {World} world @param {Layout} now @param {string | undefined} axis @param {number} rows @param {number} panel @returns {string[] | null} */
function tokens(world, now, axis, rows, panel) {
  const owner = axis?.replace("'", "");
  if ((owner !== "s" && owner !== "t") || now.rows?.axis === "b" || now.columns?.axis === "b") return null;
  const request = now.panels?.axis === "b" ? panel : (now.rest.find((a) => a.axis === "b")?.at ?? read.request(world));
  const all = read.rows(request === read.request(world) ? world : { ...world, look: { ...world.look, request } }, owner);
  return Array.from({ length: rows }, (_, i) => (all[i] ? shown(all[i].token) : String(i)));
}

/** The pointer asks a value, the keys walk. @param {any} element @param {Pointing} pointing @param {Picture[]} all @param {() => void} tell */
export function listen(element, pointing, all, tell) {
  const find = (/** @type {PointerEvent} */ event) => placeOf(element, pointing, event);
  element.onpointermove = (/** @type {PointerEvent} */ event) => {
    pointing.hover = find(event);
    tell();
  };
  element.onpointerleave = () => {
    pointing.hover = null;
    tell();
  };
  element.onclick = (/** @type {PointerEvent} */ event) => {
    pointing.at = find(event) ?? pointing.at;
    tell();
  };
  element.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const step = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[event.key];
    if (!step || !all.length) return;
    event.preventDefault();
    event.stopPropagation();
    pointing.at = walked(pointing.at, step, all);
    pointing.hover = null;
    tell();
  };
}

/** The cell under the pointer. @param {any} element @param {Pointing} pointing @param {PointerEvent} event @returns {Place | null} */
function placeOf(element, pointing, event) {
  const figures = [...element.children];
  const panel = figures.findIndex((f) => f.contains(event.target));
  if (panel < 0 || !pointing.geometry[panel]) return null;
  const box = figures[panel].lastElementChild.getBoundingClientRect();
  const found = pointing.geometry[panel].at(event.clientX - box.left, event.clientY - box.top);
  return found && { panel, ...found };
}

/** One cell further; over an edge of a panel into the next one. Pure.
 * @param {Place | null} at @param {[number, number]} step @param {{rows: number, columns: number}[]} all @returns {Place} */
export function walked(at, [down, right], all) {
  if (!at) return { panel: 0, row: 0, column: 0 };
  const { rows, columns } = all[at.panel] ?? all[0];
  const [row, column] = [at.row + down, at.column + right];
  const panel = column < 0 ? at.panel - 1 : column >= columns ? at.panel + 1 : at.panel;
  if (panel === at.panel) return { panel, row: Math.max(0, Math.min(rows - 1, row)), column };
  if (panel < 0 || panel >= all.length) return at;
  return { panel, row: at.row, column: column < 0 ? columns - 1 : 0 };
}

/** The value under the pointer or the cursor, with its place. Pure. @param {Shown} shown @param {{at: Place | null, hover: Place | null}} pointing */
export function asked({ world, tap, now, all }, { at, hover }) {
  if (!all.length) return msg`not computed at this moment`;
  const place = hover ?? at;
  const m = place && all[place.panel];
  if (!m || place.row >= m.rows || place.column >= m.columns) return msg`Point at a cell, or press the arrow keys.`;
  if (m.unknown(place.row, place.column)) return msg`not computed at this moment`;
  const value = m.at(place.row, place.column);
  const word = tap.type === "ids" ? wordOf(world, tap, value) : "";
  const where = [placed(world, now, now.panels, place.panel, place), placed(world, now, now.rows, place.row, place), placed(world, now, now.columns, place.column, place)];
  return `${where.filter(Boolean).join(", ")}: ${figure(value, 4)}${word ? ` ${word}` : ""} ◉`;
}

/** A place along one axis, with its token. @param {World} world @param {Layout} now @param {import("./tensor.mjs").Axis | null} axis @param {number} i @param {Place} at */
function placed(world, now, axis, i, at) {
  if (!axis) return "";
  const token = now.bin > 1 ? null : tokens(world, now, axis.axis, i + 1, at.panel)?.[i];
  const name = axis === now.panels || !token ? axisName(axis.axis) : axis.axis;
  return `${name} ${countedFrom(axis.axis) ? i + 1 : span(now, axis, i)}${token ? ` ${token}` : ""}`;
}

/** Heads are counted from 1 everywhere on the page, rows and places from 0. @param {string} axis */
const countedFrom = (axis) => (axis === "h" || axis === "g" ? 1 : 0);

/** @param {World} world @param {any} tap @param {number} id */
function wordOf(world, tap, id) {
  const words = world.opened?.vocabulary?.[tap.axes.includes("s") ? "source" : "target"];
  return words?.[id] ? shown(words[id]) : "";
}
