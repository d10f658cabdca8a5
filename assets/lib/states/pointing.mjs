// @ts-check
/** Pointer and keys over the strips of a state: a unit at a row is pointed at, walked to, locked. */

import { pointedAt } from "../draw/zoom.mjs";
import { readout, spotAt } from "./statestrips.mjs";
import * as tapes from "./tapes.mjs";

/** @typedef {import("../types").World} World @typedef {import("./statestrips.mjs").Strips} Strips @typedef {import("./statestrips.mjs").Spot} Spot */
/** What of the view they need. first: of the units in sight.
 * @typedef {{pan: import("../draw/pan.mjs").Pan, strips: Strips | null, world: World, context: import("../types").Context, first: number, pointed: Spot | null}} Pointed */

/** Pointer and keys. @param {Pointed} stage */
export function listen(stage) {
  const { canvas } = stage.pan;
  const find = (/** @type {MouseEvent} */ event) => {
    const { x, y } = pointedAt(event);
    return stage.strips ? spotAt(stage.strips, x, y, stage.pan.left) : null;
  };
  const point = (/** @type {Spot | null} */ spot) => {
    stage.pointed = spot;
    if (tapes.alone(stage.world)) stage.context.hover(spot ? { row: spot.row, key: spot.unit } : null);
    else stage.pan.element.dispatchEvent(new Event("box", { bubbles: true })); // a unit is no key of a read: nothing else lights up
  };
  canvas.onpointermove = (event) => point(find(event));
  canvas.onpointerleave = canvas.onblur = () => point(null);
  canvas.onmousedown = (event) => event.preventDefault(); // a click keeps the arrow keys for stepping
  canvas.onclick = (event) => lockOn(stage, find(event));
  canvas.onkeydown = (event) => key(stage, event, point);
}

/** Locked again, it is let go. @param {Pointed} stage @param {Spot | null} spot */
function lockOn(stage, spot) {
  const { strips: s, world, context } = stage;
  if (!s || !spot) return;
  if (!tapes.alone(world)) return context.look({ path: s.tapes[spot.tape].path, layout: {} });
  const same = s.locked && s.locked.row === spot.row && s.locked.unit === spot.unit && s.locked.tape === spot.tape;
  context.look(same ? { lock: null, path: null, layout: {} } : tapes.lookAt(world, tapes.owner(world), spot.row, spot.unit, s.tapes[spot.tape].path));
}

/** @param {Pointed} stage @param {KeyboardEvent} event @param {(spot: Spot | null) => void} point */
function key(stage, event, point) {
  const s = stage.strips;
  if (!s || event.ctrlKey || event.metaKey || event.altKey) return;
  const now = stage.pointed ?? s.hover ?? s.locked ?? { tape: 0, row: Math.max(0, s.row), unit: s.first };
  const moves = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [0, -s.units], PageDown: [0, s.units] });
  if (moves[event.key]) {
    const spot = walked(s, now, moves[event.key]);
    if (spot.unit < stage.first || spot.unit >= stage.first + s.units) stage.first = Math.floor(spot.unit / s.units) * s.units;
    point(spot);
    stage.context.say(readout(s, spot, "preview").slice(1).join(" "));
  } else if (event.key === "Enter") lockOn(stage, now);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** So many rows and units further; over the first or last unit of a tape into the next one. Pure.
 * @param {Pick<Strips, "tapes" | "width" | "columns">} s @param {Spot} now @param {[number, number]} by @returns {Spot} */
export function walked({ tapes: all, width, columns }, now, [rows, units]) {
  const row = Math.max(0, Math.min(columns.findLastIndex((c) => c !== "later"), now.row + rows));
  const unit = now.unit + units;
  if (unit < 0) return { row, tape: Math.max(0, now.tape - 1), unit: now.tape ? width - 1 : 0 };
  if (unit >= width) return { row, tape: Math.min(all.length - 1, now.tape + 1), unit: now.tape < all.length - 1 ? 0 : width - 1 };
  return { row, tape: now.tape, unit };
}
