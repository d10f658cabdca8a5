// @ts-check
/** Pointer and keys on the strips: what is pointed at lights up everywhere, a click locks it, the overview is dragged. */

import { overview, scrollTo } from "../draw/minimap.mjs";
import { pointedAt } from "../draw/zoom.mjs";
import { at as passAt } from "./passes.mjs";
import * as read from "../reads.mjs";
import { percent, shown } from "../words.mjs";
import { msg } from "../language.mjs";

/** @typedef {import("../../views/read.mjs").Scene} Scene @typedef {import("../types").Hover} Hover */

/** The read under a point: a key above is that key for the row that is followed, a query below is that row with the key that it reads most.
 * @param {Scene} s @param {number} x @param {number} y @param {number} scrolled @returns {Hover | null} */
export function placeAt(s, x, y, scrolled) {
  const { geo } = s;
  const column = Math.floor((x + scrolled - geo.left) / geo.slot);
  const inside = (/** @type {number} */ top) => y >= top - 14 && y <= top + geo.chip + 4;
  if (x >= geo.gutter && x < geo.left && inside(geo.top) && s.top >= 0) return { row: s.focus, key: s.top };
  if (column < 0 || x < geo.left) return null;
  if (inside(geo.top) && s.keys[column]) return { row: s.focus, key: column };
  const query = s.queries[column];
  if (!inside(geo.bottom) || !query || (query.kind !== "known" && query.kind !== "new")) return null;
  return { row: column, key: mostRead(s, column) };
}

/** @param {Scene} s @param {number} row */
function mostRead(s, row) {
  let best = 0;
  for (let key = 1; key < s.keys.length; key++) if (s.amount(row, key) > (s.amount(row, best) || 0)) best = key;
  return best;
}

/** @param {import("../draw/pan.mjs").Pan} p @param {any} held */
export function pointing(p, held) {
  const { canvas } = p;
  let dragging = false;
  const find = (/** @type {PointerEvent | MouseEvent} */ event) => {
    const { x, y } = pointedAt(event);
    return held.scene ? placeAt(held.scene, x, y, p.left) : null;
  };
  canvas.onpointermove = (event) => {
    if (dragging) return drag(p, held.scene, pointedAt(event).x);
    held.context.hover(find(event));
  };
  canvas.onmousedown = (event) => event.preventDefault(); // a click keeps the arrow keys for stepping
  canvas.onpointerleave = () => held.context.hover(null);
  canvas.onblur = () => held.context.hover(null);
  canvas.onpointerdown = (event) => {
    const s = held.scene;
    const { x, y } = pointedAt(event);
    if (!s?.geo.long || event.button || y > s.geo.map || x < s.geo.gutter) return;
    dragging = true;
    canvas.setPointerCapture(event.pointerId);
    drag(p, s, x);
  };
  canvas.onpointerup = canvas.onpointercancel = () => void (dragging = false);
  canvas.onclick = (event) => {
    const { x, y } = pointedAt(event);
    if (held.passes) return choose(held, passAt(held.passes, x + p.left, y + p.top));
    const place = find(event);
    if (place) lock(held, place);
  };
  canvas.onkeydown = (event) => key(p, held, event);
}

/** @param {import("../draw/pan.mjs").Pan} p @param {Scene} s @param {number} x */
function drag(p, s, x) {
  const o = overview(s.geo, p.element.clientWidth, Math.max(s.keys.length, s.queries.length), p.left);
  p.element.scrollTo(scrollTo(o, s.geo, x), 0);
}

/** Locked again, a place is let go.
 * @param {any} held @param {Hover} place */
function lock(held, place) {
  const now = held.world.look.lock;
  held.context.look({ lock: now?.row === place.row && now?.key === place.key ? null : place, path: null });
}

/** @param {any} held @param {{request: number, row: number} | null} place */
function choose(held, place) {
  if (place) held.context.look({ request: place.request, lock: { row: place.row, key: place.row }, path: null });
}

/** @param {import("../draw/pan.mjs").Pan} p @param {any} held @param {KeyboardEvent} event */
function key(p, held, event) {
  const s = /** @type {Scene | null} */ (held.scene);
  if (!s || event.ctrlKey || event.metaKey || event.altKey) return;
  const now = held.world.hover ?? { row: s.row, key: Math.max(0, s.top) };
  const page = Math.max(1, Math.floor((p.element.clientWidth - s.geo.left) / s.geo.slot) - 1);
  const moves = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-page, 0], PageDown: [page, 0] });
  if (moves[event.key]) walk(p, held, s, now, moves[event.key]);
  else if (event.key === "Enter") lock(held, now);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** @param {import("../draw/pan.mjs").Pan} p @param {any} held @param {Scene} s @param {Hover} now @param {[number, number]} by */
function walk(p, held, s, now, [rows, keys]) {
  const last = s.queries.findLastIndex((q) => q.kind === "known" || q.kind === "new");
  const row = Math.max(0, Math.min(last, now.row + rows));
  const place = { row, key: rows ? mostRead(s, row) : Math.max(0, Math.min(s.keys.length - 1, now.key + keys)) };
  held.context.hover(place);
  const seen = s.geo.x(rows ? place.row : place.key);
  const room = p.element.clientWidth - s.geo.left - s.geo.slot;
  if (s.geo.long && (seen - s.geo.left < p.left || seen - s.geo.left > p.left + room)) p.element.scrollTo(seen - s.geo.left - room / 2, 0);
  const weight = read.readCells(held.world, "read")(place.row, place.key);
  held.context.say(msg`row ${place.row} ${s.queries[place.row]?.token ?? ""}, key ${place.key} ${shown(s.keys[place.key]?.token ?? "")}: ${Number.isNaN(weight) ? msg`no weight` : percent(weight)}`);
}
