// @ts-check
/** Who may read, how much is read: the visibility editor and the weights in one map, with every layer and head beside it. */

import * as draw from "../lib/canvas.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import { gestures } from "../lib/gestures.mjs";
import { drawMaskbar, maskbar } from "../lib/maskbar.mjs";
import { cellFigure, cellState, fillTable, numbered, readout, reserve, viewport } from "../lib/maps.mjs";
import { follow, ground, pan, seen, within } from "../lib/pan.mjs";
import * as read from "../lib/reads.mjs";
import { ground as under, thumb } from "../lib/thumbs.mjs";
import { shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** @typedef {import("../lib/gestures.mjs").Doing} Doing @typedef {import("../lib/gestures.mjs").Place} Place */

/** @type {WeakMap<HTMLElement, Doing>} */
const doings = new WeakMap();
const DECADES = 3;

/** @type {import("../lib/types").View} */
export default {
  id: "map",
  title: "Who may read, how much is read",
  slot: "map",
  phases: ["train", "prefill", "decode"],
  applies: (world) => world.opened?.relations.length !== 0,

  wants(world) {
    const at = read.relation(world);
    if (!at) return [];
    const all = read.tapsOf(world, at.info, at.layer).weights.replace(read.scope(at.info, at.layer), at.info.path.replace("{layer}", "*"));
    return [...read.readSelectors(world), { path: all, index: { b: read.request(world) }, dtype: "u8" }];
  },

  mount(element, context) {
    const p = pan({ role: "img", tabindex: 0, "aria-label": "Map", "aria-describedby": "map-readout" }, "map-pan");
    const choice = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string[][]} */ options) =>
      h("div", { class: "seg", role: "group", "aria-label": label, "data-look": name }, options.map(([value, said]) => h("button", { type: "button", "data-value": value }, said)));
    element.append(
      h("div", { class: "ph map-head" }, h("h2", { class: "h" }, "Who may read", h("span", { class: "more" }, ", how much is read")), h("span", { class: "sp" }),
        choice("show", "What the cells show", [["weights", "weight"], ["scores", "score"], ["mask", "mask"]]),
        h("button", { class: "btn sm", type: "button", "data-part": "edit" }, "Edit mask ", h("kbd", null, "M"))),
      h("div", { class: "mask-line" }, maskbar(), choice("scale", "Scale", [["linear", "lin"], ["log", "log"]])),
      h("div", { class: "mapbody" },
        h("div", { class: "mini-col" },
          h("div", { class: "seg tabs", role: "group", "aria-label": "Relation" }), h("div", { class: "minis", role: "group", "aria-label": "Layers and heads" }),
          h("div", { class: "scale" }, h("span"), h("i"), h("span"), h("span", { class: "dim" }), h("button", { class: "link", type: "button", hidden: true, title: "Fit the scale to what is shown" }, "fit")),
          h("div", { class: "states" }, [["later", "not computed"], ["model", "masked by program"], ["padd", "padded"], ["you", "masked by you"]].map(([c, said]) => h("span", null, h("i", { class: `sw ${c}` }), said)))),
        p.element, h("p", { class: "readout", id: "map-readout" }, h("span"), h("span"))),
      h("div", { class: "sr" }),
    );
    const doing = /** @type {Doing} */ (/** @type {any} */ ({ pan: p, hover: null, stroke: null, most: 0, table: 0, context, at: () => null, header: () => null, start: () => ({ row: 0, column: 0 }), bring: () => {}, redraw: () => {} }));
    doings.set(element, doing);
    gestures(p.canvas, doing);
    p.redraw = () => doing.redraw();
  },

  draw(element, world, context) {
    const doing = /** @type {Doing} */ (doings.get(element));
    Object.assign(doing, { world, context, redraw: () => paint(doing) });
    const [, bar, body, table] = /** @type {any} */ (element.children);
    controls(element, world, context);
    drawMaskbar(bar.firstElementChild, world, context);
    const side = body.firstElementChild;
    relations(side.children[0], world, context);
    minis(side.children[1], world, context);
    legend(side, doing);
    prepare(doing);
    clearTimeout(doing.table);
    doing.table = setTimeout(() => fillTable(table, world, values(world)), 400);
    return () => paint(doing);
  },
};

/** @param {any} element @param {World} world @param {Context} context */
function controls(element, world, context) {
  for (const group of element.querySelectorAll("[data-look]")) {
    for (const button of group.children) {
      set(button, "aria-pressed", String(world.look[/** @type {"show"} */ (group.dataset.look)] === button.dataset.value));
      button.onclick = () => context.look({ [group.dataset.look]: button.dataset.value });
    }
  }
  const edit = element.firstElementChild.lastElementChild;
  set(edit, "aria-pressed", String(world.look.editing));
  set(edit, "disabled", world.role !== "writer");
  edit.onclick = () => context.look({ editing: !world.look.editing });
}

/** @param {HTMLElement} element @param {World} world @param {Context} context */
function relations(element, world, context) {
  const at = read.relation(world);
  list(element, world.opened?.relations ?? [], (/** @type {any} */ r) => r.name, () => h("button", { type: "button" }), (button, r) => {
    text(button, r.name.replaceAll("_", " "));
    set(button, "title", r.title);
    set(button, "aria-pressed", String(r.name === at?.info.name));
    button.onclick = () => context.look({ relation: r.name, lock: null, path: null, op: null });
  });
}

/** @param {HTMLElement} element @param {World} world @param {Context} context */
function minis(element, world, context) {
  const at = read.relation(world);
  if (!at) return;
  const { layers, heads } = at.info;
  const columns = `18px repeat(${heads}, minmax(0, 1fr))`;
  if (element.style.gridTemplateColumns !== columns) element.style.gridTemplateColumns = columns;
  const found = new Map(world.values("map", 2).map((k) => [k.path, k]));
  const request = read.request(world);
  const [rows, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const log = world.look.scale === "log";
  // The mask is that of a layer: asked for once, not by each head. Whether a number is there is left to the numbers.
  const grounds = Array.from({ length: layers }, (_, layer) => under(Math.max(1, rows.length), Math.max(1, keys.length), cellState(at.info, layer, rows, keys, () => 0)));
  const items = [{ name: "" }, ...Array.from({ length: heads }, (_, i) => ({ name: `H${i + 1}` }))];
  /** @type {any[]} */
  const all = [...items];
  for (let layer = 0; layer < layers; layer++) {
    all.push({ name: `L${layer + 1}` });
    for (let head = 0; head < heads; head++) all.push({ layer, head });
  }
  if (element.dataset.at !== `${at.layer} ${at.head}`) queueMicrotask(() => inSight(element, `${at.layer} ${at.head}`));
  list(element, all, (_, i) => `${i} ${heads}`, (o) => (o.name === undefined ? h("button", { class: "mini", type: "button" }, h("canvas", { "aria-hidden": "true" })) : h("span", null, o.name)), (button, o) => {
    if (o.name !== undefined) return;
    set(button, "aria-pressed", String(o.layer === at.layer && o.head === at.head));
    set(button, "aria-label", `Layer ${o.layer + 1} head ${o.head + 1}`);
    button.onclick = () => context.look({ relation: at.info.name, layer: o.layer, head: o.head, path: null, op: null });
    const value = read.told(world, at.info, o.layer, read.cells(found.get(read.tapsOf(world, at.info, o.layer).weights), request, o.head));
    thumb(button.firstElementChild, grounds[o.layer], log ? (r, c) => draw.place(value(r, c), { decades: DECADES }) : value);
  });
}

/** Scroll the small multiples to the chosen one when it changes, when all is drawn: it asks where things lie.
 * @param {HTMLElement} element @param {string} name */
function inSight(element, name) {
  element.dataset.at = name;
  const on = /** @type {HTMLElement | null} */ (element.querySelector("[aria-pressed=true]"));
  if (on) element.scrollTop = within(element.scrollTop, element.clientHeight, on.offsetTop - 4, on.offsetTop + on.offsetHeight + 4);
}

/** The numbers that the large map shows. @param {World} world */
function values(world) {
  const weight = read.readCells(world, "map", 0);
  return { weight, score: read.readCells(world, "map", 1), shown: world.look.show === "scores" ? read.readCells(world, "map", 1) : weight };
}

/** @param {World} world @param {Doing} doing */
function scale(world, doing) {
  if (world.look.show === "scores") return { max: doing.most || 1, diverging: true };
  return world.look.show === "mask" ? { max: 6 } : world.look.scale === "log" ? { max: 1, decades: DECADES } : { max: 1 };
}

/** The printed scale. It is fixed: for scores by the first that came, until "fit" is pressed.
 * @param {any} side @param {Doing} doing */
function legend(side, doing) {
  const { world } = doing;
  const [low, bar, high, said, fit] = side.children[2].children;
  const { show } = world.look;
  doing.most ||= largest(world);
  const log = world.look.scale === "log";
  set(side.children[2], "class", `scale${show === "scores" ? " div" : ""}`);
  text(low, show === "scores" ? `−${doing.most || 1}` : show === "mask" ? "hidden" : log ? ".001" : "0");
  text(high, show === "scores" ? `+${doing.most || 1}` : show === "mask" ? "open" : "1");
  text(said, show === "scores" ? "score" : show === "mask" ? "may read" : `weight, ${log ? "log" : "linear"}`);
  bar.hidden = show === "mask";
  fit.hidden = show !== "scores";
  fit.onclick = () => {
    doing.most = 0;
    legend(side, doing);
    doing.redraw();
  };
}

/** The largest score in sight, rounded up. @param {World} world */
function largest(world) {
  const at = read.relation(world);
  if (!at) return 0;
  const { score } = values(world);
  let most = 0;
  read.rows(world, at.info.query).forEach((_, r) => read.rows(world, at.info.key).forEach((_, k) => {
    const size = Math.abs(score(r, k));
    if (Number.isFinite(size)) most = Math.max(most, size);
  }));
  return Math.ceil(most * 2) / 2;
}

/** What the large map stands on and what is said beside it: all that is no canvas.
 * @param {Doing} doing */
function prepare(doing) {
  const { world, pan: p } = doing;
  const at = read.relation(world);
  if (!at) return null;
  const number = values(world);
  const room = () => viewport(...draw.boxOf(p.element), ...extent(world, at.info), p.left, p.top);
  const { width, height } = room();
  ground(p, width, height);
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const mask = world.look.show === "mask";
  const value = mask ? () => 1 : number.shown;
  const state = cellState(at.info, at.layer, queries, keys, value, doing.stroke, mask || world.look.editing);
  const out = /** @type {any} */ (p.element.nextElementSibling);
  readout(world, lit(doing), number, state).forEach((said, i) => text(out.children[i], said));
  set(p.canvas, "aria-label", `${at.info.title}, layer ${at.layer + 1} head ${at.head + 1}. Arrow keys move, Enter locks${world.look.editing ? ", X changes the mask of a cell, R of its row, C of its column" : ""}.`);
  return { at, number, room, mask, value, state };
}

/** The large map and its read-out.
 * @param {Doing} doing */
function paint(doing) {
  const { world, pan: p } = doing;
  const prepared = prepare(doing);
  if (!prepared) return;
  const { at, number, room, mask, value, state } = prepared;
  const marked = world.look.lock ? { row: world.look.lock.row, column: world.look.lock.key } : focusCell(world, number.weight);
  follows(doing, room(), marked);
  seen(p);
  const window = room();
  const geo = draw.cellMap(p.canvas, {
    ...labels(world, at.info, window), rows: window.rows, columns: window.columns, left: window.left, top: window.top, right: 2, bottom: 2, maxCell: 46,
    values: !mask, format: cellFigure, value: (r, c) => value(r + window.row, c + window.column), state: (r, c) => state(r + window.row, c + window.column),
    scale: scale(world, doing), selected: inWindow(marked, window), hover: inWindow(lit(doing), window),
  });
  doing.at = (point) => {
    const found = geo.at(point.offsetX, point.offsetY);
    return found ? { row: found.row + window.row, column: found.column + window.column } : null;
  };
  doing.header = (point) => {
    const { offsetX: x, offsetY: y } = point;
    const [row, column] = [Math.floor((y - geo.top) / geo.cellHeight), Math.floor((x - geo.left) / geo.cellWidth)];
    if (x < geo.left && row >= 0 && row < window.rows) return { row: row + window.row };
    return y < geo.top && column >= 0 && column < window.columns ? { column: column + window.column } : null;
  };
}

/** How many rows and columns the map has places for: what grows reserves some.
 * @param {World} world @param {any} info @returns {[number, number]} */
function extent(world, info) {
  const [queries, keys] = [read.rows(world, info.query).length, read.rows(world, info.key).length];
  const grows = (/** @type {string} */ owner) => owner === "t" && read.phase(world) !== "train";
  const least = innerHeight > 790 ? 8 : 6; // on a low screen eight rows would be too thin for figures
  return [grows(info.query) ? reserve(queries + 1, least) : Math.max(1, queries), grows(info.key) ? reserve(keys + 1, 6) : Math.max(1, keys)];
}

/** @param {World} world @param {any} info @param {ReturnType<typeof viewport>} window */
function labels(world, info, window) {
  const [queries, keys] = [read.rows(world, info.query), read.rows(world, info.key)];
  const next = info.query === "t" ? read.choice(read.requestView(world)) : null;
  const name = (/** @type {number} */ i) => (queries[i] ? shown(queries[i].token) : i === queries.length && next ? `${shown(next.token)}?` : "·");
  const rows = Array.from({ length: window.rows }, (_, i) => i + window.row);
  const [tall, wide] = extent(world, info);
  const keyName = (/** @type {number} */ i) => (keys[i] ? shown(keys[i].token) : "·");
  return {
    rowLabels: numbered(Array.from({ length: tall }, (_, i) => name(i)), window.row, window.rows), rowNotes: window.notes ? rows.map((i) => shown(read.decides(world, info.query, i))) : undefined,
    columnLabels: numbered(Array.from({ length: wide }, (_, i) => keyName(i)), window.column, window.columns),
  };
}

/** Scroll to the newest read when it changes; the keys begin there and scroll to their own cell.
 * @param {Doing} doing @param {ReturnType<typeof viewport>} port @param {Place | null} marked */
function follows(doing, port, marked) {
  const { world, pan: p } = doing;
  const bring = (/** @type {string} */ what, /** @type {string} */ value, /** @type {Place} */ cell) =>
    follow(p, what, value, { left: (cell.column - 1) * port.cellWidth, right: (cell.column + 2) * port.cellWidth + port.left }, { top: (cell.row - 1) * port.cell, bottom: (cell.row + 2) * port.cell + port.top });
  doing.start = () => marked ?? { row: Math.max(0, read.focus(world).row), column: 0 };
  doing.bring = (cell) => bring("cursor", `${cell.row} ${cell.column}`, cell);
  if (marked) bring("read", `${world.moved?.at} ${world.look.relation} ${marked.row} ${marked.column}`, marked);
}

/** Where nothing is locked, the newest row's largest read is marked. @param {World} world @param {(row: number, key: number) => number} weight */
function focusCell(world, weight) {
  const at = read.relation(world);
  const { row } = read.focus(world);
  const top = at ? read.reads(weight, row, read.rows(world, at.info.key).length)[0] : undefined;
  return top ? { row, column: top.key } : null;
}

/** The cell that is previewed: under the pointer here, or lit by another view.
 * @param {Doing} doing @returns {Place | null} */
function lit(doing) {
  const { hover } = doing.world;
  return doing.hover ?? (hover && { row: hover.row, column: hover.key });
}

/** @param {Place | null} at @param {{row: number, column: number}} window */
const inWindow = (at, window) => (at ? { row: at.row - window.row, column: at.column - window.column } : null);
