// @ts-check
/** Frames in time: what was heard, above; below, for each frame, how probable each label is, the best path, and what it says. One frame is
 * looked at: how much it reads of each other one stands between the two. */

import { css, fit, font, ramp, toCss } from "../lib/canvas.mjs";
import { h, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { bestPath, runs, softmax, spoken } from "../lib/picture/labels.mjs";
import { isLabelled, picture } from "../lib/picture/source.mjs";
import * as read from "../lib/reads.mjs";
import { percent, probability } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** @typedef {{world: World, context: Context, canvas: any, said: any}} Held @typedef {{left: number, cell: number, strip: number, reads: number, top: number, line: number}} Layout */

/** @type {WeakMap<HTMLElement, Held>} */
const held = new WeakMap();
/** Room for the names of labels and for what the path says, px; the least that so many frames have. */
const [NAMES, SAYS, LEAST] = [54, 18, 40];
/** Lines lower than this have no room for all their names, px. */
const TIGHT = 8.5;

/** @type {import("../lib/types").View} */
export default {
  id: "frames",
  title: "Labels over time",
  slot: "read",
  phases: ["prefill"],
  applies: isLabelled,
  wants: (world) => [...read.readSelectors(world).slice(0, 1), { path: "logits", index: { b: read.request(world) }, dtype: "f32" }],

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
    const line = sentence(world, shown(world));
    text(mine.said, line);
    set(mine.canvas, "aria-label", `${line} ${msg`Left and right choose a frame, Enter locks it.`}`);
    return () => paint(mine);
  },

  table(world) {
    const names = labels(world);
    const rows = chances(world).map((row, t) => [t, names[bestPath([row])[0]] ?? "", ...row]);
    return { columns: [msg`frame`, msg`label`, ...names], rows };
  },
};

/** @param {World} world @returns {string[]} */
const labels = (world) => world.opened?.vocabulary.target ?? [];

/** How probable each label is at each real frame; none before it is computed. @param {World} world @returns {number[][]} */
function chances(world) {
  const found = world.values("frames", 1)[0];
  if (!found || read.before(world, "logits")) return [];
  const [count, cells] = [labels(world).length, read.cells(found, read.request(world), 0)];
  const rows = read.rows(world, "s").map((row, t) => (read.known(row) ? Array.from({ length: count }, (_, v) => cells(t, v)) : null));
  return rows.flatMap((row) => (row && !row.some(Number.isNaN) ? [softmax(row)] : []));
}

/** @param {number} width @param {number} height @param {number} frames @param {number} names @returns {Layout} */
function layout(width, height, frames, names) {
  const cell = Math.min(24, (width - NAMES - 2) / Math.max(LEAST, frames));
  const strip = Math.round((height - SAYS) * 0.3);
  const reads = Math.max(10, Math.round((height - SAYS) * 0.11));
  return { left: NAMES, cell, strip, reads, top: strip + reads + 4, line: (height - SAYS - strip - reads - 4) / Math.max(1, names) };
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
  drawPath(g, geo, chances(world), names, height);
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

/** How much the frame reads of each. @param {CanvasRenderingContext2D} g @param {Layout} geo @param {World} world */
function drawReads(g, { left, cell, strip, reads }, world) {
  const row = shown(world);
  const weight = read.readCells(world, "frames");
  const rows = read.rows(world, "s");
  const all = rows.map((_, t) => (row < 0 ? NaN : weight(row, t)));
  const most = Math.max(...all.filter((v) => !Number.isNaN(v)), 0);
  side(g, msg`reads`, left, strip + 3 + reads / 2);
  if (!most) return;
  g.fillStyle = css("--v-fill");
  all.forEach((v, t) => v > 0 && g.fillRect(left + t * cell + 0.5, strip + 2 + reads * (1 - v / most), cell - 1, (reads * v) / most));
}

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

/** The best path, and what is left of it. @param {CanvasRenderingContext2D} g @param {Layout} geo @param {number[][]} all @param {string[]} names @param {number} height */
function drawPath(g, { left, cell, top, line }, all, names, height) {
  const path = bestPath(all);
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
  for (const { label, from, to } of spoken(path)) {
    const [x, w] = [left + from * cell, Math.max(cell * (to - from + 1), 14)];
    const middle = left + ((from + to + 1) / 2) * cell;
    g.fillStyle = css("--d-wash");
    g.fillRect(Math.min(x, middle - w / 2), height - SAYS + 3, w, SAYS - 4);
    font(g, 680, 11.5, true);
    [g.fillStyle, g.textAlign, g.textBaseline] = [css("--d"), "center", "middle"];
    g.fillText(names[label], middle, height - SAYS / 2 + 1);
  }
  side(g, msg`says`, left, height - SAYS / 2 + 1);
}

/** @param {CanvasRenderingContext2D} g @param {Layout} geo @param {number} frame @param {number} height */
function drawFrame(g, { left, cell }, frame, height) {
  if (frame < 0) return;
  [g.strokeStyle, g.lineWidth] = [css("--ink"), 1.6];
  g.strokeRect(left + frame * cell, 0.8, cell, height - SAYS - 0.8);
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

/** @param {World} world @param {number} frame */
function sentence(world, frame) {
  const [names, all] = [labels(world), chances(world)];
  if (!all.length) return msg`The frames are not read yet.`;
  const path = bestPath(all);
  const word = spoken(path).map((s) => names[s.label]).join("");
  const whole = msg`The best path says ${word || "∅"}: ${runs(path, names)}.`;
  const row = all[frame];
  if (!row) return whole;
  const [best, next] = row.map((v, i) => /** @type {[number, number]} */ ([v, i])).sort((a, b) => b[0] - a[0]);
  const name = (/** @type {number} */ i) => (i ? names[i] : "∅");
  return `${msg`Frame ${frame}: ${name(best[1])} ${probability(best[0])}, then ${name(next[1])} ${probability(next[0])}.`} ${farRead(world, frame)}${whole}`;
}

/** How much a frame reads beyond what the convolution of its layer sees. @param {World} world @param {number} frame */
function farRead(world, frame) {
  const kernel = world.opened?.scenario.config.kernel;
  const weight = read.readCells(world, "frames");
  const all = read.rows(world, "s").map((_, t) => weight(frame, t));
  if (!kernel || all.some((v, t) => Number.isNaN(v) && read.known(read.rows(world, "s")[t]))) return "";
  const far = all.reduce((sum, v, t) => sum + (v > 0 && Math.abs(t - frame) > kernel >> 1 ? v : 0), 0);
  return `${msg`${percent(far)} of its read lies outside the ${kernel} frames of its convolution.`} `;
}

/** @param {Held} mine @param {PointerEvent} e */
function frameAt({ canvas, world }, e) {
  const box = canvas.getBoundingClientRect();
  const count = read.rows(world, "s").filter(read.known).length;
  const geo = layout(box.width, box.height, picture(world)[0]?.length ?? 0, labels(world).length);
  const t = Math.floor((e.clientX - box.left - geo.left) / geo.cell);
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
  mine.context.say(sentence(mine.world, next));
}
