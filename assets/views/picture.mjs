// @ts-check
/** A picture with what each word reads of it: the row that is looked at large, its weights in numbers beside it, all words small, and the places
 * that it reads most as a list; above, where there is room, the places as a strip with ribbons. Where a place is drawn, one is chosen by a click on any of them. */

import { clip, css, fit, font, label, spotOn } from "../lib/canvas.mjs";
import { h, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { cellState } from "../lib/map/maps.mjs";
import { placeSet, withPlace } from "../lib/picture/draws.mjs";
import { layout } from "../lib/picture/layout.mjs";
import { drawPatches, patchLayout } from "../lib/picture/patches.mjs";
import { drawPlaces, places } from "../lib/picture/places.mjs";
import { grid, isLookedAt, picture } from "../lib/picture/source.mjs";
import { location, look, looks, place, shares, word } from "../lib/picture/looking.mjs";
import { drawWeights, ends } from "../lib/picture/weights.mjs";
import { places as queryPlaces } from "../lib/read/ribbons.mjs";
import * as read from "../lib/reads.mjs";
import { figure, percent } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** large: on the picture of the row that is looked at. @typedef {{row: number, place: number | null, large: boolean}} At */
/** @typedef {{world: World, context: Context, canvas: any, at: At | null, list: any, foot: any}} Held */

/** @type {WeakMap<HTMLElement, Held>} */
const held = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "picture",
  title: "What each word reads of the picture",
  slot: "read",
  phases: ["prefill", "decode"],
  applies: isLookedAt,

  wants: looks,

  mount(element, context) {
    const canvas = h("canvas", { class: "looks", tabindex: 0, role: "img" });
    const list = places();
    const mark = (/** @type {string} */ sign, /** @type {string} */ said) => h("span", { class: "look-key" }, h("i", { class: sign }), said);
    const foot = h("div", { class: "looks-foot" }, h("p", { class: "readout looks-said" }), mark("later", msg`not read yet`), mark("drawn", msg`drawn`), h("span", { class: "scale" }, h("span"), h("i"), h("span")));
    element.append(h("div", { class: "looks-body" }, canvas, list), foot);
    /** @type {Held} */
    const mine = { world: /** @type {any} */ (null), context, canvas, at: null, list, foot };
    held.set(element, mine);
    canvas.onpointermove = (/** @type {PointerEvent} */ e) => point(mine, e);
    canvas.onpointerleave = () => point(mine, null);
    canvas.onclick = (/** @type {PointerEvent} */ e) => press(mine, pointed(mine, e));
    canvas.onkeydown = (/** @type {KeyboardEvent} */ e) => key(mine, e);
  },

  draw(element, world) {
    const mine = /** @type {Held} */ (held.get(element));
    mine.world = world;
    tell(mine);
    return () => paint(mine);
  },

  table(world) {
    const rows = read.rows(world, "t").flatMap((_, row) => shares(world, "picture", row).map((share, key) => [row, word(world, row), read.rows(world, "s")[key]?.token ?? "", Number.isNaN(share) ? null : share]));
    return { columns: [msg`row`, msg`word`, msg`place`, msg`weight`], rows };
  },
};

/** @param {Held} mine */
function paint({ canvas, world, at }) {
  const [g, width, height] = fit(canvas);
  const cut = grid(read.rows(world, "s"));
  const lines = picture(world);
  if (!cut || !lines.length) return;
  const { patches, geo, top } = parts(world, width, height, cut);
  const row = shownRow(world);
  const state = stateOf(world, row);
  if (patches) drawPatches(g, patches, { lines, cut, queries: queryPlaces(world, "t"), shares: (r) => shares(world, "picture", r), drawn: (r) => drawnAt(world, r), state, row, pointed: at?.place ?? world.hover?.key ?? null });
  g.translate(0, top);
  const own = { cut, shares: shares(world, "picture", row), drawn: drawnAt(world, row), set: placeSet(world, row) !== null, pointed: at?.row === row ? at.place : (world.hover?.key ?? null) };
  heads(g, geo, width);
  look(g, geo.picture, { ...own, lines, large: true });
  drawWeights(g, geo.weights, { ...own, state, locked: world.look.lock?.row === row ? world.look.lock.key : null, log: world.look.scale === "log" });
  read.rows(world, "t").forEach((query, r) => {
    const box = geo.small(r);
    if (box.x + box.w > width || box.y + box.h > height - top) return;
    const padded = query.state === "padded";
    look(g, box, { lines: padded ? [] : lines, cut, shares: padded ? [] : shares(world, "picture", r), drawn: drawnAt(world, r), set: placeSet(world, r) !== null, large: false, pointed: null });
    if (r === row) frame(g, box);
    if (!padded) name(g, box, word(world, r), r === row);
  });
}

/** Where all lies: the strip of places above, the rest below it, `top` px lower. @param {World} world @param {number} width @param {number} height @param {{lines: number, columns: number}} cut */
function parts(world, width, height, cut) {
  const patches = patchLayout(width, height, cut.lines * cut.columns, queryPlaces(world, "t").length);
  const top = patches?.height ?? 0;
  return { patches, top, geo: layout(width, height - top, read.rows(world, "t").length, cut) };
}

/** @param {CanvasRenderingContext2D} g @param {ReturnType<typeof layout>} geo @param {number} width */
function heads(g, { picture, weights, words }, width) {
  const said = /** @type {[string[], number, number, number][]} */ ([[[msg`Picture, dimmed where unread`, msg`Picture`], picture.x, 0, picture.w], [[msg`Weights, % of each place`, msg`Weights, %`], weights.x, 0, weights.w], [[msg`By word`], words.x, words.y, width - words.x]]);
  for (const [[whole, short], x, y, room] of said) {
    font(g, 520, 11.5);
    label(g, short && g.measureText(whole).width > room ? short : clip(g, whole, room), x, y + 7, { size: 11.5, weight: 520, color: "--ink-2" });
  }
}

/** The word below its small picture, or behind it. @param {CanvasRenderingContext2D} g @param {import("../lib/picture/layout.mjs").Small} b @param {string} said @param {boolean} on */
function name(g, b, said, on) {
  if (b.room < 12) return;
  font(g, on ? 680 : 520, 11, true);
  const [x, y] = b.under ? [b.x + b.w / 2, b.y + b.h + 8] : [b.x + b.w + 6, b.y + b.h / 2 + 0.5];
  label(g, clip(g, said, b.room - 2), x, y, { mono: true, size: 11, weight: on ? 680 : 520, align: b.under ? "center" : "left", color: on ? "--ink" : "--ink-3" });
}

/** How each place stands to a row: read, masked, not read yet. @param {World} world @param {number} row */
function stateOf(world, row) {
  const at = read.relation(world);
  const cells = read.readCells(world, "picture");
  const state = at && cellState(at.info, at.layer, read.rows(world, at.info.query), read.rows(world, at.info.key), cells);
  return (/** @type {number} */ key) => (state && row >= 0 ? state(row, key) : "later");
}

/** @param {CanvasRenderingContext2D} g @param {{x: number, y: number, w: number, h: number}} b */
function frame(g, b) {
  g.strokeStyle = css("--ink");
  g.lineWidth = 2;
  g.strokeRect(b.x - 1, b.y - 1, b.w + 2, b.h + 2);
}

/** The row that is large: the one that is pointed at, else the one that the page looks at. @param {World} world */
const shownRow = (world) => world.hover?.row ?? read.focus(world).row;

/** @param {Held} mine @param {PointerEvent} e @returns {At | null} */
function pointed({ canvas, world }, e) {
  const cut = grid(read.rows(world, "s"));
  if (!cut) return null;
  const { x, y, width, height } = spotOn(canvas, e);
  const { patches, geo, top } = parts(world, width, height, cut);
  const found = y < top ? patches?.at(x, y) : geo.at(x, y - top);
  if (!found || (found.row ?? 0) >= read.rows(world, "t").length) return null;
  return { row: found.row ?? read.focus(world).row, place: found.place, large: found.row === null };
}

/** @param {Held} mine @param {PointerEvent | null} e */
function point(mine, e) {
  const now = e && mine.world ? pointed(mine, e) : null;
  if (JSON.stringify(now) === JSON.stringify(mine.at)) return;
  mine.at = now;
  mine.context.hover(now && now.row >= 0 ? { row: now.row, key: now.place ?? top(mine.world, now.row) } : null);
  tell(mine);
}

/** The place that a row reads most. @param {World} world @param {number} row */
function top(world, row) {
  const all = shares(world, "picture", row);
  return all.reduce((best, v, i) => (v > (all[best] ?? -1) ? i : best), 0);
}

/** On a large one of a model that draws: this place is read. Else the read is locked. @param {Held} mine @param {At | null} at */
function press(mine, at) {
  const { world, context } = mine;
  if (!at?.large || at.place === null || !location(world) || drawnAt(world, at.row) === null) return lock(mine, at);
  if (!able(world)) return;
  context.send({ kind: "change", fields: { draws: withPlace(world, at.row, at.place) } });
}

/** @param {World} world */
const able = (world) => world.role === "writer" && world.connection === "open";

/** @param {Held} mine @param {At | null} at */
function lock({ world, context }, at) {
  if (!at || at.row < 0) return;
  const place = { row: at.row, key: at.place ?? top(world, at.row) };
  const same = world.look.lock?.row === place.row && world.look.lock?.key === place.key;
  context.look({ lock: same ? null : place });
}

/** Left and right choose a word, with Shift and up and down a place; Enter does what a click does. @param {Held} mine @param {KeyboardEvent} e */
function key(mine, e) {
  const { world } = mine;
  const [row, keys] = [shownRow(world), read.rows(world, "s")];
  const place = world.hover?.key ?? drawnAt(world, row) ?? top(world, row);
  if (e.key === "Enter") press(mine, { row, place, large: true });
  const wide = grid(keys)?.columns ?? 1;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide }[e.key] ?? 0;
  if (!by) return;
  e.preventDefault();
  e.stopPropagation();
  const word = Math.abs(by) === 1 && !e.shiftKey;
  const next = word ? Math.max(0, Math.min(read.rows(world, "t").length - 1, row + by)) : row;
  const key = word ? top(world, next) : Math.max(0, Math.min(keys.length - 1, place + by));
  mine.context.hover({ row: next, key });
  mine.context.say(sentence(world, next, key));
}

/** @param {World} world @param {number} row @param {number} place */
function sentence(world, row, place) {
  const share = shares(world, "picture", row)[place];
  const name = read.rows(world, "s")[place]?.token ?? "";
  const drawn = place >= 0 && drawnAt(world, row) === place;
  if (Number.isNaN(share) || share === undefined) return msg`Row ${row} has not read the picture yet.`;
  if (drawn && placeSet(world, row) !== null) return msg`Row ${row}, ${word(world, row)}: you set place ${name}, whose chance was ${figure(share)}; only it is read. Click it again to let it be drawn.`;
  if (drawn) return msg`Row ${row}, ${word(world, row)}: place ${name} was drawn with chance ${figure(share)}, and only it is read.`;
  return location(world) ? msg`Row ${row}, ${word(world, row)}: place ${name} had a chance of ${figure(share)}. Click it to read it instead.` : msg`Row ${row}, ${word(world, row)}: ${percent(share)} of what it reads comes from place ${name}.`;
}

/** @param {World} world @param {number} row */
const drawnAt = (world, row) => place(world, "picture", row);

/** @param {Held} mine */
function tell(mine) {
  const { world, canvas, at, list, foot } = mine;
  const row = shownRow(world);
  const [said, , drawn, scale] = foot.children;
  const key = at?.place ?? world.hover?.key ?? world.look.lock?.key ?? drawnAt(world, row) ?? top(world, row);
  const line = row < 0 ? msg`The picture is not read yet.` : sentence(world, row, key);
  text(said, line);
  set(canvas, "aria-label", `${line} ${keys(world)}`);
  set(drawn, "hidden", location(world) ? null : "");
  ends(world.look.scale === "log").forEach((end, i) => text(scale.children[2 * i], end));
  const chosen = (/** @type {number} */ place) => press(mine, { row, place, large: true });
  const hover = (/** @type {number | null} */ place) => mine.context.hover(place === null || row < 0 ? null : { row, key: place });
  drawPlaces(list, { shares: shares(world, "picture", row), names: read.rows(world, "s").map((r) => r.token), draws: !!location(world), drawn: drawnAt(world, row), set: placeSet(world, row) !== null, locked: world.look.lock?.row === row ? world.look.lock.key : null, able: able(world), take: chosen, hover });
}

/** @param {World} world */
const keys = (world) => (location(world) ? msg`Left and right choose a word, with Shift and up and down a place; Enter sets what is read.` : msg`Left and right choose a word, Enter locks it.`);
