// @ts-check
/** Frames in time: what was heard, above; below, for each frame, how probable each label is, the best path, and how it becomes a text. One
 * frame is looked at: what it reads of each other one runs between the two, beside the frames that a convolution sees. */

import { css, fit, font, ramp, ribbon, spotOn, toCss } from "../lib/canvas.mjs";
import { h, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { COLLAPSE, drawCollapse } from "../lib/picture/collapse.mjs";
import { headSelector, labelNames as labels, logsOf } from "../lib/picture/heads.mjs";
import { bestPath, named, runs, spoken } from "../lib/picture/labels.mjs";
import { isLabelled, picture } from "../lib/picture/source.mjs";
import * as read from "../lib/reads.mjs";
import { percent, probability } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** @typedef {{world: World, context: Context, canvas: any, said: any}} Held @typedef {{left: number, cell: number, strip: number, reads: number, top: number, line: number}} Layout */

/** @type {WeakMap<HTMLElement, Held>} */
const held = new WeakMap();
/** Room for the names at the left, px; the least that so many frames have. */
const [NAMES, LEAST] = [66, 40];
/** Lines lower than this have no room for all their names, px. */
const TIGHT = 8.5;

/** @type {import("../lib/types").View} */
export default {
  id: "frames",
  title: "Labels over time",
  slot: "read",
  phases: ["prefill"],
  applies: isLabelled,
  wants: (world) => [...read.readSelectors(world).slice(0, 1), headSelector(world)],

  mount(element, context) {
    const canvas = h("canvas", { class: "looks", tabindex: 0, role: "img" });
    const said = h("p", { class: "readout looks-said" });
    element.append(canvas, said);
    /** @type {Held} */
    const mine = { world: /** @type {any} */ (null), context, canvas, said };
    held.set(element, mine);
    const at = (/** @type {PointerEvent} */ e) => frameAt(mine, e);
    canvas.onpointermove = (/** @type {PointerEvent} */ e) => hover(mine, at(e));
    canvas.onpointerleave = () => hover(mine, null);
    canvas.onclick = (/** @type {PointerEvent} */ e) => lock(mine, at(e));
    canvas.onkeydown = (/** @type {KeyboardEvent} */ e) => key(mine, e);
  },

  draw(element, world) {
    const mine = /** @type {Held} */ (held.get(element));
    mine.world = world;
    const [frame, whole] = sentences(world, shown(world));
    text(mine.said, frame || whole);
    set(mine.canvas, "aria-label", `${frame} ${whole} ${msg`Left and right choose a frame, Enter locks it.`}`.trim());
    return () => paint(mine);
  },

  table(world) {
    const names = labels(world);
    const rows = chances(world).map((row, t) => [t, names[bestPath([row])[0]] ?? "", ...row]);
    return { columns: [msg`frame`, msg`label`, ...names], rows };
  },
};

/** How probable each label is at each real frame; none before it is computed. @param {World} world @returns {number[][]} */
const chances = (world) => logsOf(world, "frames", 1).map((row) => row.map(Math.exp));

/** @param {number} width @param {number} height @param {number} frames @param {number} names @returns {Layout} */
function layout(width, height, frames, names) {
  const cell = Math.min(24, (width - NAMES - 2) / Math.max(LEAST, frames));
  const room = height - COLLAPSE;
  const strip = Math.round(room * 0.27), reads = Math.max(16, Math.round(room * 0.17));
  return { left: NAMES, cell, strip, reads, top: strip + reads + 4, line: (room - strip - reads - 8) / Math.max(1, names) };
}

/** The frame that is looked at: pointed at, or locked, or the newest. @param {World} world */
const shown = (world) => world.hover?.row ?? read.focus(world).row;

/** @param {Held} mine */
function paint({ canvas, world }) {
  const [g, width, height] = fit(canvas);
  const heard = picture(world);
  if (!heard.length) return;
  const names = labels(world);
  const geo = layout(width, height, heard[0].length, names.length);
  drawHeard(g, geo, heard);
  drawReads(g, geo, world);
  drawLabels(g, geo, world, names);
  const path = bestPath(chances(world));
  drawPath(g, geo, path, names);
  drawCollapse(g, { ...geo, top: height - COLLAPSE }, path, names);
  drawFrame(g, geo, shown(world), height);
}

/** @param {CanvasRenderingContext2D} g @param {Layout} geo @param {number[][]} heard */
function drawHeard(g, { left, cell, strip }, heard) {
  const color = ramp("--seq");
  const high = strip / heard.length;
  heard.forEach((line, y) => line.forEach((v, t) => block(g, left + t * cell, y * high, cell, high, toCss(color(v)))));
  side(g, msg`bands`, left, strip / 2);
  outline(g, left, 0, heard[0].length * cell, strip);
}

/** What the frame reads of each, and the frames that a convolution sees beside it. @param {CanvasRenderingContext2D} g @param {Layout} geo @param {World} world */
function drawReads(g, { left, cell, strip, reads }, world) {
  const row = shown(world);
  const weight = read.readCells(world, "frames");
  const x = (/** @type {number} */ t) => left + (t + 0.5) * cell;
  side(g, msg`reads`, left, strip + 3 + reads / 2);
  if (row < 0) return;
  read.rows(world, "s").forEach((_, t) => {
    const w = weight(row, t);
    if (w > 0.004) ribbon(g, x(t), strip + 1, x(row), strip + reads + 3, Math.max(0.8, w * Math.min(16, cell)), css("--v-fill"));
  });
  const kernel = seenBeside(world), rows = read.rows(world, "s").filter(read.known).length;
  if (!kernel) return;
  const [from, to] = [Math.max(0, row - (kernel >> 1)), Math.min(rows - 1, row + (kernel >> 1))];
  [g.strokeStyle, g.lineWidth] = [css("--ink"), 1.5];
  g.beginPath();
  g.moveTo(left + from * cell + 1, strip + 8);
  g.lineTo(left + from * cell + 1, strip + 4);
  g.lineTo(left + (to + 1) * cell - 1, strip + 4);
  g.lineTo(left + (to + 1) * cell - 1, strip + 8);
  g.stroke();
  const right = left + (to + 1) * cell + 5, name = msg`conv ${kernel}`;
  font(g, 560, 10.5);
  const fits = right + g.measureText(name).width < left + Math.max(rows, LEAST) * cell;
  [g.fillStyle, g.textAlign, g.textBaseline] = [css("--ink-2"), fits ? "left" : "right", "middle"];
  g.fillText(name, fits ? right : left + from * cell - 5, strip + 7);
}

/** How many frames a convolution of this model sees, or 0. @param {World} world @returns {number} */
const seenBeside = (world) => world.opened?.scenario.config.kernel ?? 0;

/** @param {CanvasRenderingContext2D} g @param {Layout} geo @param {World} world @param {string[]} names */
function drawLabels(g, { left, cell, top, line }, world, names) {
  const color = ramp("--seq");
  const rows = read.rows(world, "s").filter(read.known).length;
  const all = chances(world);
  all.forEach((row, t) => row.forEach((v, i) => block(g, left + t * cell, top + order(i, names) * line, cell, line, toCss(color(v)))));
  const path = line < TIGHT ? new Set(bestPath(all)) : null; // where not all names have room, those on the path do
  const said = names.flatMap((name, i) => (path && i && !path.has(i) ? [] : [{ name, i, y: top + (order(i, names) + 0.5) * line }])).sort((a, b) => a.y - b.y);
  said.forEach((it, n) => n && (it.y = Math.max(it.y, said[n - 1].y + 9))); // neighbours on the path move apart
  said.forEach(({ name, i, y }) => {
    font(g, 540, Math.min(11, Math.max(9, line + 1)), true);
    g.fillStyle = css("--ink-2");
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.fillText(i ? name : `${msg`blank`} ∅`, left - 6, y);
  });
  outline(g, left, top, rows * cell, line * names.length);
}

/** Blank stands below the labels. @param {number} label @param {string[]} names */
const order = (label, names) => (label ? label - 1 : names.length - 1);

/** @param {CanvasRenderingContext2D} g @param {Layout} geo @param {number[]} path @param {string[]} names */
function drawPath(g, { left, cell, top, line }, path, names) {
  const y = (/** @type {number} */ label) => top + (order(label, names) + 0.5) * line;
  const trace = () => {
    g.beginPath();
    path.forEach((label, t) => (t ? g.lineTo : g.moveTo).call(g, left + (t + 0.5) * cell, y(label)));
    g.stroke();
  };
  g.lineJoin = "round";
  [g.strokeStyle, g.lineWidth] = [css("--surface"), 4];
  trace();
  [g.strokeStyle, g.lineWidth] = [css("--d-fill"), 1.8];
  trace();
}

/** @param {CanvasRenderingContext2D} g @param {Layout} geo @param {number} frame @param {number} height */
function drawFrame(g, { left, cell }, frame, height) {
  if (frame < 0) return;
  [g.strokeStyle, g.lineWidth] = [css("--ink"), 1.6];
  g.strokeRect(left + frame * cell, 0.8, cell, height - COLLAPSE - 2);
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h @param {string} color */
function block(g, x, y, w, h, color) {
  g.fillStyle = color;
  g.fillRect(x, y, w + 0.4, h + 0.4);
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h */
function outline(g, x, y, w, h) {
  [g.strokeStyle, g.lineWidth] = [css("--line-2"), 1];
  g.strokeRect(Math.round(x) - 0.5, Math.round(y) + 0.5, Math.round(w) + 1, Math.round(h) - 1);
}

/** @param {CanvasRenderingContext2D} g @param {string} said @param {number} left @param {number} y */
function side(g, said, left, y) {
  font(g, 520, 10.5, false);
  [g.fillStyle, g.textAlign, g.textBaseline] = [css("--ink-3"), "right", "middle"];
  g.fillText(said, left - 6, y);
}

/** Of one frame, and of the whole path. @param {World} world @param {number} frame @returns {[string, string]} */
function sentences(world, frame) {
  const [names, all] = [labels(world), chances(world)];
  if (!all.length) return ["", msg`The frames are not read yet.`];
  const path = bestPath(all);
  const whole = msg`The best path says ${spoken(path).map((s) => names[s.label]).join("") || "∅"}: ${runs(path, names)}.`;
  const row = all[frame];
  if (!row) return ["", whole];
  const [best, next] = row.map((v, i) => /** @type {[number, number]} */ ([v, i])).sort((a, b) => b[0] - a[0]);
  return [`${msg`Frame ${frame}: ${named(best[1], names)} ${probability(best[0])}, then ${named(next[1], names)} ${probability(next[0])}.`} ${farRead(world, frame)}`.trim(), whole];
}

/** How much a frame reads beyond what the convolution of its layer sees. @param {World} world @param {number} frame */
function farRead(world, frame) {
  const kernel = seenBeside(world);
  const weight = read.readCells(world, "frames");
  const all = read.rows(world, "s").map((_, t) => weight(frame, t));
  if (!kernel || all.some((v, t) => Number.isNaN(v) && read.known(read.rows(world, "s")[t]))) return "";
  const far = all.reduce((sum, v, t) => sum + (v > 0 && Math.abs(t - frame) > kernel >> 1 ? v : 0), 0);
  return `${msg`${percent(far)} of its read lies outside the ${kernel} frames of its convolution.`}`;
}

/** @param {Held} mine @param {PointerEvent} e */
function frameAt({ canvas, world }, e) {
  const { x, width, height } = spotOn(canvas, e);
  const count = read.rows(world, "s").filter(read.known).length;
  const geo = layout(width, height, picture(world)[0]?.length ?? 0, labels(world).length);
  const t = Math.floor((x - geo.left) / geo.cell);
  return t >= 0 && t < count ? t : null;
}

/** @param {Held} mine @param {number | null} frame */
function hover({ world, context }, frame) {
  if (frame === (world?.hover?.row ?? null)) return;
  context.hover(frame === null ? null : { row: frame, key: frame });
}

/** @param {Held} mine @param {number | null} frame */
function lock({ world, context }, frame) {
  if (frame === null) return;
  context.look({ lock: world.look.lock?.row === frame ? null : { row: frame, key: frame } });
}

/** @param {Held} mine @param {KeyboardEvent} e */
function key(mine, e) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key] ?? 0;
  const now = shown(mine.world);
  if (e.key === "Enter") lock(mine, now);
  if (!by) return;
  e.preventDefault();
  e.stopPropagation();
  const count = read.rows(mine.world, "s").filter(read.known).length;
  const next = Math.max(0, Math.min(count - 1, now + by));
  hover(mine, next);
  mine.context.say(sentences(mine.world, next)[0]);
}
