// @ts-check
/** Pointer and keys on the map: a cell is locked, or in edit mode painted; a whole stroke is one command. */

import { change, painted, toggled } from "./maskbar.mjs";
import * as read from "./reads.mjs";
import { line } from "./visibility.mjs";

/** @typedef {import("./types").World} World @typedef {import("./types").Context} Context */
/** @typedef {{row: number, column: number}} Place */
/** What a person is doing with the map now; nothing of it is part of the run.
 * @typedef {object} Doing
 * @property {import("./pan.mjs").Pan} pan @property {Place | null} hover
 * @property {{cells: Map<string, {query: number, key: number}>, visible: boolean, last: {query: number, key: number}} | null} stroke
 * @property {number} most largest score on the scale, 0 until the first scores came @property {any} table timer of the hidden table
 * @property {World} world @property {Context} context @property {(point: {offsetX: number, offsetY: number}) => Place | null} at the cell under a point
 * @property {(point: {offsetX: number, offsetY: number}) => {row: number} | {column: number} | null} header the row or column whose label is under a point
 * @property {() => Place} start where the keys begin @property {(cell: Place) => void} bring scroll a cell into sight
 * @property {() => void} redraw
 */

/** @param {HTMLCanvasElement} canvas @param {Doing} doing */
export function gestures(canvas, doing) {
  canvas.onpointermove = (event) => {
    const here = doing.at(event);
    if (doing.stroke && here) extend(doing, here);
    if (here?.row === doing.hover?.row && here?.column === doing.hover?.column) return;
    point(doing, here);
    doing.redraw();
  };
  canvas.onpointerleave = () => {
    point(doing, null);
    if (!doing.stroke) doing.redraw();
  };
  canvas.onpointerdown = (event) => {
    const here = doing.at(event);
    if (event.button) return;
    if (!here) return editing(doing) ? toggle(doing, doing.header(event)) : undefined;
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
    point(doing, null);
    doing.redraw();
  };
}

/** A cell is previewed here and lit in the other views.
 * @param {Doing} doing @param {Place | null} here */
function point(doing, here) {
  doing.hover = here;
  doing.context.hover(here && { row: here.row, key: here.column });
}

/** @param {Doing} doing */
const editing = (doing) => doing.world.look.editing && doing.world.role === "writer";

/** @param {Doing} doing @param {Place} here */
function lock(doing, here) {
  const same = doing.world.look.lock?.row === here.row && doing.world.look.lock?.key === here.column;
  doing.context.look({ lock: same ? null : { row: here.row, key: here.column }, path: null });
}

/** A whole row or column in one command.
 * @param {Doing} doing @param {{row: number} | {column: number} | null} line */
function toggle(doing, line) {
  const edit = line && toggled(doing.world, line);
  const command = edit && change(doing.world, edit);
  if (command) doing.context.send(command);
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
  const here = doing.hover ?? doing.start();
  if (move) walk(doing, at.info, { row: here.row + move[0], column: here.column + move[1] });
  else if (event.key === "Enter") lock(doing, here);
  else if (editing(doing) && (event.key === " " || event.key.toLowerCase() === "x")) {
    begin(doing, here);
    commit(doing);
  } else if (editing(doing) && event.key.toLowerCase() === "r") toggle(doing, { row: here.row });
  else if (editing(doing) && event.key.toLowerCase() === "c") toggle(doing, { column: here.column });
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** @param {Doing} doing @param {any} info @param {Place} to */
function walk(doing, info, to) {
  const last = (/** @type {"s" | "t"} */ owner) => read.rows(doing.world, owner).length - 1;
  const here = { row: Math.max(0, Math.min(last(info.query), to.row)), column: Math.max(0, Math.min(last(info.key), to.column)) };
  point(doing, here);
  doing.bring(here);
  doing.redraw();
  const told = doing.pan.element.nextElementSibling;
  doing.context.say([...(told?.children ?? [])].map((e) => e.textContent).join(". "));
}
