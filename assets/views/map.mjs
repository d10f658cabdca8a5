// @ts-check
/** Who may read, how much is read: the visibility editor and the weights in one map, with every layer and head beside it. */

import * as draw from "../lib/canvas.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import { change, drawMaskbar, maskbar, painted } from "../lib/maskbar.mjs";
import { cellState, fillTable, readout, reserve, viewport } from "../lib/maps.mjs";
import { follow, ground, pan, seen } from "../lib/pan.mjs";
import * as read from "../lib/reads.mjs";
import { thumb } from "../lib/thumbs.mjs";
import { line } from "../lib/visibility.mjs";
import { shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** @typedef {{row: number, column: number}} Place */
/** What a person is doing with this map now; nothing of it is part of the run.
 * @typedef {object} Doing
 * @property {import("../lib/pan.mjs").Pan} pan @property {Place | null} hover
 * @property {{cells: Map<string, {query: number, key: number}>, visible: boolean, last: {query: number, key: number}} | null} stroke
 * @property {number} most largest score on the scale, 0 until the first scores came @property {any} table timer of the hidden table
 * @property {World} world @property {Context} context @property {(point: {offsetX: number, offsetY: number}) => Place | null} at
 * @property {() => void} redraw
 */

/** @type {WeakMap<HTMLElement, Doing>} */
const doings = new WeakMap();
const DECADES = 3;

/** @type {import("../lib/types").View} */
export default {
  id: "map",
  title: "Who may read, how much is read",
  slot: "map",
  phases: ["train", "prefill", "decode"],

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
      h("div", { class: "ph map-head" }, h("h2", { class: "h" }, "Who may read, how much is read"), h("span", { class: "sp" }),
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
    const doing = /** @type {Doing} */ (/** @type {any} */ ({ pan: p, hover: null, stroke: null, most: 0, table: 0, context, at: () => null, redraw: () => {} }));
    doings.set(element, doing);
    listen(p.canvas, doing);
    p.redraw = () => doing.redraw();
  },

  draw(element, world, context) {
    const doing = /** @type {Doing} */ (doings.get(element));
    Object.assign(doing, { world, context, redraw: () => paint(element, doing) });
    const [, bar, body, table] = /** @type {any} */ (element.children);
    controls(element, world, context);
    drawMaskbar(bar.firstElementChild, world, context);
    const side = body.firstElementChild;
    relations(side.children[0], world, context);
    minis(side.children[1], world, context);
    legend(side, doing);
    paint(element, doing);
    clearTimeout(doing.table);
    doing.table = setTimeout(() => fillTable(table, world, values(world)), 400);
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
  const items = [{ name: "" }, ...Array.from({ length: heads }, (_, i) => ({ name: `H${i + 1}` }))];
  /** @type {any[]} */
  const all = [...items];
  for (let layer = 0; layer < layers; layer++) {
    all.push({ name: `L${layer + 1}` });
    for (let head = 0; head < heads; head++) all.push({ layer, head });
  }
  list(element, all, (o, i) => `${i} ${heads}`, (o) => (o.name === undefined ? h("button", { class: "mini", type: "button" }, h("canvas", { "aria-hidden": "true" })) : h("span", null, o.name)), (button, o) => {
    if (o.name !== undefined) return;
    set(button, "aria-pressed", String(o.layer === at.layer && o.head === at.head));
    set(button, "aria-label", `Layer ${o.layer + 1} head ${o.head + 1}`);
    button.onclick = () => context.look({ relation: at.info.name, layer: o.layer, head: o.head, path: null, op: null });
    const value = read.cells(found.get(read.tapsOf(world, at.info, o.layer).weights), request, o.head);
    const state = cellState(at.info, o.layer, rows, keys, value);
    thumb(button.firstElementChild, Math.max(1, rows.length), Math.max(1, keys.length), log ? (r, c) => draw.place(value(r, c), { decades: DECADES }) : value, state);
  });
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
  text(said, show === "scores" ? "score, linear" : show === "mask" ? "may read" : `weight, ${log ? "log" : "linear"}`);
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

/** @param {HTMLElement} element @param {Doing} doing */
function paint(element, doing) {
  const { world, pan: p } = doing;
  const at = read.relation(world);
  const out = /** @type {any} */ (p.element.nextElementSibling);
  if (!at) return;
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const same = at.info.key === at.info.query;
  const rows = read.phase(world) === "train" || at.info.query === "s" ? queries.length : reserve(queries.length + 1);
  const columns = same ? rows : Math.max(1, keys.length);
  const focus = read.focus(world);
  const port = viewport(p.element.clientWidth, p.element.clientHeight, rows, columns, 0, 0);
  ground(p, port.width, port.height);
  const number = values(world);
  const marked = world.look.lock ? { row: world.look.lock.row, column: world.look.lock.key } : focusCell(world, number.weight);
  bringIn(doing, port, `${world.moved?.at} ${at.info.name} ${focus.row} ${marked?.column}`, { row: focus.row, column: marked?.column ?? 0 });
  seen(p);
  const window = viewport(p.element.clientWidth, p.element.clientHeight, rows, columns, p.element.scrollLeft, p.element.scrollTop);
  const { row: r0, column: c0 } = window;
  const state = cellState(at.info, at.layer, queries, keys, number.shown, doing.stroke, world.look.editing);
  const show = world.look.show;
  const value = show === "mask" ? () => 1 : number.shown;
  const next = read.choice(read.requestView(world));
  const name = (/** @type {number} */ i) => (queries[i] ? shown(queries[i].token) : i === queries.length && next && at.info.query === "t" ? `${shown(next.token)}?` : "·");
  const cursor = doing.hover;
  const geo = draw.cellMap(p.canvas, {
    rows: window.rows, columns: window.columns, left: window.left, top: window.top, right: 2, bottom: 2, maxCell: 46, values: show !== "mask",
    value: (r, c) => value(r + r0, c + c0), state: (r, c) => state(r + r0, c + c0), scale: scale(world, doing), gap: window.cell < 12 ? 1 : 2,
    rowLabels: indices(window.rows).map((i) => name(i + r0)), rowNotes: window.notes ? indices(window.rows).map((i) => shown(read.decides(world, at.info.query, i + r0))) : undefined,
    columnLabels: indices(window.columns).map((i) => (keys[i + c0] ? shown(keys[i + c0].token) : "·")),
    selected: place(marked, window), hover: place(cursor, window),
  });
  doing.at = (point) => {
    const found = geo.at(point.offsetX, point.offsetY);
    return found ? { row: found.row + r0, column: found.column + c0 } : null;
  };
  const [first, second] = readout(world, cursor ?? null, number, state);
  text(out.children[0], first);
  text(out.children[1], second);
  set(p.canvas, "aria-label", `${at.info.title}, layer ${at.layer + 1} head ${at.head + 1}. Arrow keys move, Enter locks${world.look.editing ? ", X changes the mask" : ""}.`);
}

/** Scroll so that a cell is seen. @param {Doing} doing @param {ReturnType<typeof viewport>} port @param {string} name @param {Place} cell */
function bringIn(doing, port, name, cell) {
  if (cell.row < 0) return;
  follow(doing.pan, name, { left: (cell.column - 1) * port.cellWidth, right: (cell.column + 2) * port.cellWidth + port.left }, { top: (cell.row - 1) * port.cell, bottom: (cell.row + 2) * port.cell + port.top });
}

/** @param {number} n */
const indices = (n) => Array.from({ length: n }, (_, i) => i);

/** Where nothing is locked, the newest row's largest read is marked. @param {World} world @param {(row: number, key: number) => number} weight */
function focusCell(world, weight) {
  const at = read.relation(world);
  const { row } = read.focus(world);
  const top = at ? read.reads(weight, row, read.rows(world, at.info.key).length)[0] : undefined;
  return top ? { row, column: top.key } : null;
}

/** @param {Place | null} at @param {{row: number, column: number}} window */
const place = (at, window) => (at ? { row: at.row - window.row, column: at.column - window.column } : null);

/** @param {HTMLCanvasElement} canvas @param {Doing} doing */
function listen(canvas, doing) {
  canvas.onpointermove = (event) => {
    const here = doing.at(event);
    if (doing.stroke && here) extend(doing, here);
    if (here?.row === doing.hover?.row && here?.column === doing.hover?.column) return;
    doing.hover = here;
    doing.redraw();
  };
  canvas.onpointerleave = () => {
    doing.hover = null;
    if (!doing.stroke) doing.redraw();
  };
  canvas.onpointerdown = (event) => {
    const here = doing.at(event);
    if (!here || event.button) return;
    if (!editing(doing)) return lock(doing, here);
    canvas.setPointerCapture(event.pointerId);
    begin(doing, here);
  };
  canvas.onpointerup = () => commit(doing);
  canvas.onpointercancel = () => {
    doing.stroke = null;
    doing.redraw();
  };
  canvas.onkeydown = (event) => key(doing, event);
  canvas.onblur = () => {
    doing.hover = null;
    doing.redraw();
  };
}

/** @param {Doing} doing */
const editing = (doing) => doing.world.look.editing && doing.world.role === "writer";

/** @param {Doing} doing @param {Place} here */
function lock(doing, here) {
  const same = doing.world.look.lock?.row === here.row && doing.world.look.lock?.key === here.column;
  doing.context.look({ lock: same ? null : { row: here.row, key: here.column }, path: null });
}

/** A stroke sets every cell that it touches to what the first was not.
 * @param {Doing} doing @param {Place} here */
function begin(doing, here) {
  const at = read.relation(doing.world);
  if (!at) return;
  const cell = { query: here.row, key: here.column };
  doing.stroke = { cells: new Map(), visible: !read.visibility(at.info, at.layer).allows(cell.query, cell.key), last: cell };
  extend(doing, here);
  doing.redraw();
}

/** @param {Doing} doing @param {Place} here */
function extend(doing, here) {
  const stroke = doing.stroke;
  if (!stroke) return;
  const to = { query: here.row, key: here.column };
  for (const cell of line(stroke.last, to)) stroke.cells.set(`${cell.query},${cell.key}`, cell);
  stroke.last = to;
}

/** One command for a whole stroke; what was painted stays drawn until it is answered.
 * @param {Doing} doing */
async function commit(doing) {
  const stroke = doing.stroke;
  if (!stroke) return;
  const command = change(doing.world, painted([...stroke.cells.values()], stroke.visible));
  if (command) await doing.context.send(command);
  if (doing.stroke === stroke) doing.stroke = null;
  doing.redraw();
}

/** @param {Doing} doing @param {KeyboardEvent} event */
function key(doing, event) {
  const at = read.relation(doing.world);
  if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
  const move = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[event.key];
  const here = doing.hover ?? focusCell(doing.world, values(doing.world).weight) ?? { row: 0, column: 0 };
  if (move) walk(doing, at.info, { row: here.row + move[0], column: here.column + move[1] });
  else if (event.key === "Enter") lock(doing, here);
  else if (editing(doing) && (event.key === " " || event.key.toLowerCase() === "x")) {
    begin(doing, here);
    commit(doing);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

/** @param {Doing} doing @param {any} info @param {Place} to */
function walk(doing, info, to) {
  const { world, pan: p } = doing;
  const limit = (/** @type {"s" | "t"} */ owner) => read.rows(world, owner).length - 1;
  doing.hover = { row: Math.max(0, Math.min(limit(info.query), to.row)), column: Math.max(0, Math.min(limit(info.key), to.column)) };
  const port = viewport(p.element.clientWidth, p.element.clientHeight, limit(info.query) + 1, limit(info.key) + 1, 0, 0);
  bringIn(doing, port, `cursor ${doing.hover.row} ${doing.hover.column}`, doing.hover);
  doing.redraw();
  doing.context.say(/** @type {any} */ (p.element.nextElementSibling).textContent);
}
