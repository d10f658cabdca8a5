// @ts-check
/** Pointer and keys on a map: a cell is locked, or in edit mode painted; a whole stroke is one command. What is larger than its place is
 * dragged, scrolled and zoomed. */

import { pointedAt, zoomOf } from "../draw/zoom.mjs";
import { change, edits, painted, toggled } from "./masks.mjs";
import * as read from "../reads.mjs";
import { twoFingers } from "../draw/touch.mjs";
import { line } from "./visibility.mjs";

/** @typedef {import("./pane.mjs").Pane} Pane @typedef {{row: number, column: number}} Place */

/** How far a pointer moves before it drags, px. */
const DRAG = 4;
const CLOSER = 1.25;

/** @param {Pane} pane */
export function gestures(pane) {
  const { canvas } = pane.pan;
  canvas.onpointermove = (event) => moved(pane, event);
  canvas.onpointerleave = () => pane.point(null);
  canvas.onpointerdown = (event) => pressed(pane, event);
  canvas.onpointerup = (event) => released(pane, event);
  canvas.onpointercancel = () => drop(pane);
  canvas.onclick = (event) => clicked(pane, event);
  canvas.oncontextmenu = (event) => editing(pane) && event.preventDefault();
  canvas.onkeydown = (event) => key(pane, event);
  canvas.onblur = () => pane.point(null);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // a plain wheel scrolls, a pinch on a touch pad comes as a wheel with Ctrl
    event.preventDefault();
    pane.zoom(Math.exp(-event.deltaY / 200), pointedAt(event));
  }, { passive: false });
  twoFingers(pane.pan.element, {
    begin: () => drop(pane),
    move: (factor, at, by) => {
      pane.zoom(factor, at);
      pane.moveBy(-by.x, -by.y);
    },
  });
}

/** @param {Pane} pane */
const editing = (pane) => edits(pane.world);

/** @param {Pane} pane */
function drop(pane) {
  pane.stroke = pane.drag = null;
  pane.redraw();
}

/** @param {Pane} pane @param {PointerEvent} event */
function moved(pane, event) {
  if (pane.drag && event.buttons) return dragged(pane, event);
  const here = pane.at(event);
  if (pane.stroke && here) extend(pane, here);
  if (here?.row === pane.hover?.row && here?.column === pane.hover?.column) return;
  pane.point(here);
}

/** @param {Pane} pane @param {PointerEvent} event */
function dragged(pane, event) {
  const drag = /** @type {NonNullable<Pane["drag"]>} */ (pane.drag);
  const zoom = zoomOf(pane.pan.canvas);
  const [dx, dy] = [(event.clientX - drag.x) / zoom, (event.clientY - drag.y) / zoom];
  if (!drag.far && Math.hypot(dx, dy) < DRAG) return;
  if (!drag.far) pane.pan.canvas.setPointerCapture(event.pointerId);
  Object.assign(drag, { x: event.clientX, y: event.clientY, far: true });
  pane.moveBy(-dx, -dy);
}

/** @param {Pane} pane @param {PointerEvent} event */
function pressed(pane, event) {
  const here = pane.at(event);
  if (!editing(pane)) {
    if (event.button === 0 && event.pointerType !== "touch") pane.drag = { x: event.clientX, y: event.clientY, far: false };
    return;
  }
  if (event.button !== 0 && event.button !== 2) return;
  if (!here) return event.button ? undefined : toggle(pane, pane.header(event));
  pane.pan.canvas.setPointerCapture(event.pointerId);
  begin(pane, here, event.button === 2);
}

/** @param {Pane} pane @param {PointerEvent} event */
function released(pane, event) {
  if (pane.drag?.far) pane.pan.canvas.releasePointerCapture(event.pointerId);
  else pane.drag = null;
  commit(pane);
}

/** @param {Pane} pane @param {MouseEvent} event */
function clicked(pane, event) {
  const far = pane.drag?.far;
  pane.drag = null;
  const here = far || editing(pane) ? null : pane.at(event);
  if (here) lock(pane, here);
}

/** @param {Pane} pane @param {Place} here */
function lock(pane, here) {
  const at = read.relation(pane.world);
  const { look } = pane.world;
  if (!at || !read.rows(pane.world, at.info.query)[here.row] || !read.rows(pane.world, at.info.key)[here.column]) return;
  const same = look.lock?.row === here.row && look.lock?.key === here.column;
  pane.context.look({ request: look.request, lock: same ? null : { row: here.row, key: here.column }, path: null });
}

/** A whole row or column in one command.
 * @param {Pane} pane @param {{row: number} | {column: number} | null} line */
function toggle(pane, line) {
  const edit = line && toggled(pane.world, line);
  const command = edit && change(pane.world, edit);
  if (command) pane.context.send(command);
}

/** A stroke sets every cell that it touches to what the first was not, or gives it back to the program.
 * @param {Pane} pane @param {Place} here @param {boolean} [erase] */
function begin(pane, here, erase = false) {
  const at = read.relation(pane.world);
  if (!at) return;
  const cell = { query: here.row, key: here.column };
  pane.stroke = { cells: new Map(), visible: erase ? null : !read.visibility(at.info, at.layer, read.rows(pane.world, at.info.key)).allows(cell.query, cell.key), last: cell };
  extend(pane, here);
  pane.redraw();
}

/** @param {Pane} pane @param {Place} here */
function extend(pane, here) {
  const { stroke } = pane;
  if (!stroke) return;
  const to = { query: here.row, key: here.column };
  for (const cell of line(stroke.last, to)) stroke.cells.set(`${cell.query},${cell.key}`, cell);
  stroke.last = to;
  pane.changed = true;
}

/** One command for a whole stroke; what was painted stays drawn until it is answered.
 * @param {Pane} pane */
async function commit(pane) {
  const { stroke } = pane;
  if (!stroke) return;
  const command = change(pane.world, painted([...stroke.cells.values()], stroke.visible));
  if (command) await pane.context.send(command);
  if (pane.stroke === stroke) pane.stroke = null;
  pane.changed = true;
  pane.redraw();
}

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -1e6], End: [0, 1e6] };

/** @param {Pane} pane @param {KeyboardEvent} event */
function key(pane, event) {
  const at = read.relation(pane.world);
  if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!does(pane, at.info, event)) return;
  event.preventDefault();
  event.stopPropagation();
}

/** Whether the map knows this key. @param {Pane} pane @param {any} info @param {KeyboardEvent} event */
function does(pane, info, event) {
  const move = MOVES[event.key];
  const here = pane.hover ?? pane.start();
  const many = event.shiftKey ? 8 : 1;
  const name = event.key.toLowerCase();
  if (move) walk(pane, info, { row: here.row + move[0] * many, column: here.column + move[1] * many });
  else if (name === "enter") lock(pane, here);
  else if (name === "+" || name === "=") pane.zoom(CLOSER);
  else if (name === "-") pane.zoom(1 / CLOSER);
  else if (name === "0") pane.zoom(0);
  else if (!editing(pane)) return false;
  else if (name === " " || name === "x") {
    begin(pane, here);
    commit(pane);
  } else if (name === "r") toggle(pane, { row: here.row });
  else if (name === "c") toggle(pane, { column: here.column });
  else return false;
  return true;
}

/** @param {Pane} pane @param {any} info @param {Place} to */
function walk(pane, info, to) {
  const last = (/** @type {"s" | "t"} */ owner) => read.rows(pane.world, owner).length - 1;
  const here = { row: Math.max(0, Math.min(last(info.query), to.row)), column: Math.max(0, Math.min(last(info.key), to.column)) };
  pane.bring(here);
  pane.point(here);
  pane.speak();
}
