// @ts-check
/** The chain of states under the rows: what each row writes, what is carried sideways, what is decided; of a model with a source its chain
 * and the summary before it; of a model with a window which rows it reads. */

import * as draw from "../canvas.mjs";
import { delivery, summaryBox } from "./handing.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { places, reserved } from "../read/ribbons.mjs";
import { field } from "./fields.mjs";
import * as tapes from "./tapes.mjs";
import { axis, loop, map } from "../draw/timeaxis.mjs";
import { probability, shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {CanvasRenderingContext2D} Canvas @typedef {import("../read/ribbons.mjs").Place} Place */
/** One line of rows with its states. at: their first column; keep, write: shares of a row's gates (NaN: no gate, or not known);
 * done: whether a row's state is computed; back: its loop goes from the last row to the first.
 * @typedef {{owner: "s" | "t", at: number, rows: Place[], group: tapes.Group | null, letters: string, carried: boolean, keep: (row: number) => number, write: (row: number) => number, done: (row: number) => boolean, back: boolean, last: number}} Line */
/** @typedef {object} Chain
 * @property {import("../draw/timeaxis.mjs").Axis} geo @property {{map: number, numbers: number, top: number, chip: number, bottom: number}} y
 * @property {Line} target @property {Line | null} source @property {ReturnType<typeof tapes.summary>} summary @property {number} window @property {Set<number> | null} backs
 * @property {number} row whose flow is shown @property {boolean} newest it is the newest one @property {string} share how probable what is decided is */

/** All that the picture is made from. Pure.
 * @param {World} world @param {number} width @param {number} height @param {ReturnType<typeof tapes.values>} of @returns {Chain} */
export function chain(world, width, height, of) {
  const summary = tapes.summary(world);
  const sources = read.rows(world, "s");
  const lead = sources.length ? sources.length + (summary ? 2 : 1) : 0;
  const target = line(world, "t", lead, of);
  const source = sources.length ? line(world, "s", 0, of) : null;
  const geo = axis(width, lead + target.rows.length, lead + reserved(world, { query: "t", key: "t" }));
  const low = height < 150;
  const above = geo.long ? (low ? 13 : 20) : 0;
  const chip = low ? 22 : 28;
  const newest = target.last;
  const wanted = world.hover?.row ?? (tapes.owner(world) === "t" ? world.look.lock?.row : undefined) ?? newest;
  const row = target.done(wanted) ? wanted : newest;
  const lead_ = read.choice(read.requestView(world));
  const y = { map: above, numbers: above + (above ? 9 : 6), top: above + (above ? 17 : 14), chip, bottom: height - chip - 16 };
  return { geo, y, target, source, summary, window: field(world)?.span ?? tapes.windowSize(world), backs: field(world)?.backs ?? null, row, newest: row === newest, share: lead_ ? probability(lead_.probability, 2) : "" };
}

/** @param {World} world @param {"s" | "t"} owner @param {number} at @param {ReturnType<typeof tapes.values>} of @returns {Line} */
function line(world, owner, at, of) {
  const group = tapes.shown(world, owner);
  const rows = places(world, owner);
  const [keep, write, width] = [tapes.keeping(world, group), tapes.writing(world, group), tapes.width(world, group)];
  const carried = group?.tapes.filter((t) => t.carried) ?? [];
  const done = (/** @type {number} */ row) => (group ? tapes.computed(world, group, row) : read.known(read.rows(world, owner)[row] ?? { state: "unknown" }));
  return {
    owner, at, rows, group, letters: (carried.length ? carried : (group?.tapes ?? [])).map((t) => t.letter).join(",") || "h", carried: !!carried.length, back: tapes.backwards(world, group), done,
    keep: (row) => tapes.mean(keep, of, width, row), write: (row) => tapes.mean(write, of, width, row),
    last: rows.findLastIndex((_, i) => done(i)),
  };
}

/** @param {Canvas} g @param {Chain} c @param {number} width @param {number} height @param {number} scrolled @param {World} world */
export function paint(g, c, width, height, scrolled, world) {
  const { geo } = c;
  g.save();
  g.beginPath();
  g.rect(geo.left - 2, c.y.map, width, height);
  g.clip();
  g.translate(-scrolled, 0);
  const near = (/** @type {number} */ column) => geo.x(column + 2) - scrolled > geo.left && geo.x(column - 1) - scrolled < width;
  if (c.source) flows(g, c, c.source, near);
  flows(g, c, c.target, near);
  if (c.summary && c.source) delivery(g, c, c.source);
  if (c.window) windowed(g, c);
  else if (c.target.carried && c.row === c.target.last) lost(g, c, world);
  for (const strip of [c.source, c.target]) if (strip) boxes(g, c, strip, near, world);
  if (c.summary && c.source) summaryBox(g, c, c.source);
  decision(g, c);
  g.restore();
  if (geo.long) map(g, geo, width, c.y.map, scrolled, c.target.at + Math.max(0, c.row));
  gutter(g, c);
}

/** Ribbons down (what is written) and sideways (what is kept). @param {Canvas} g @param {Chain} c @param {Line} strip @param {(column: number) => boolean} near */
function flows(g, c, strip, near) {
  const { geo, y } = c;
  const middle = y.bottom + y.chip / 2;
  strip.rows.forEach((_, i) => {
    if (!near(strip.at + i) || !strip.done(i) || !strip.group) return;
    const on = strip === c.target && i === c.row;
    const fill = on ? draw.alpha(draw.css("--v-fill"), 0.88) : draw.css("--line-2");
    const share = strip.write(i);
    if (!c.window || i !== c.row) draw.ribbon(g, geo.middle(strip.at + i), y.top + y.chip + 2, geo.middle(strip.at + i), y.bottom - 1, Math.max(1.6, Number.isNaN(share) ? geo.slot * 0.14 : share * geo.slot * 0.5), fill);
    const before = strip.back ? i + 1 : i - 1;
    if (!strip.carried || !strip.done(before)) return;
    const kept = strip.keep(i);
    const thick = Number.isNaN(kept) ? 3 : Math.max(1.5, kept * y.chip * 0.8);
    const [from, to] = [geo.middle(strip.at + Math.min(before, i)), geo.middle(strip.at + Math.max(before, i))];
    g.fillStyle = on ? fill : draw.css("--ink-3");
    g.fillRect(from, middle - thick / 2, to - from, thick);
  });
}

/** Rows above, their states below; earlier states are gone and kept for display. @param {Canvas} g @param {Chain} c @param {Line} strip @param {(column: number) => boolean} near @param {World} world */
function boxes(g, c, strip, near, world) {
  const { geo, y } = c;
  const w = geo.slot - geo.pad;
  const size = geo.slot > 72 ? 13 : geo.slot > 58 ? 12 : 11;
  const role = strip.owner === "s" ? "k" : "q";
  const side = Math.max(3, w * 0.16);
  strip.rows.forEach((place, i) => {
    if (!near(strip.at + i)) return;
    const x = geo.x(strip.at + i) + geo.pad / 2;
    const state = place.kind === "new" ? "known" : place.kind;
    const on = strip.owner === "t" && i === c.row;
    draw.label(g, String(i), x + w / 2, y.numbers, { size: 10.5, mono: true, align: "center", color: "--ink-3" });
    draw.chip(g, x, y.top, w, y.chip, place.token, { role, state, on, size });
    if (on && !c.newest) edge(g, x - 2, y.top - 2, w + 4, y.chip + 4, !!world.hover);
    if (!strip.group && (!c.window || strip.owner === "s")) return;
    box(g, [x + side, y.bottom, w - 2 * side, y.chip], strip, i, strip.done(i), strip.owner === "t" && i === strip.last);
    const kept = strip.carried && strip.done(strip.back ? i + 1 : i - 1) && strip.done(i) ? strip.keep(i) : NaN;
    if (Number.isNaN(kept) || geo.slot < 36) return;
    draw.label(g, kept.toFixed(2).replace(/^0/, ""), strip.back ? x + w + geo.pad / 2 : x - geo.pad / 2, y.bottom + y.chip + 9, { size: 10.5, mono: true, weight: on ? 700 : 480, align: "center", color: on ? "--v" : "--ink-3" });
  });
}

/** @param {Canvas} g @param {[number, number, number, number]} at @param {Line} strip @param {number} i @param {boolean} done @param {boolean} newest */
function box(g, [x, y, w, h], strip, i, done, newest) {
  if (strip.rows[i].kind === "padded") return draw.dots(g, x, y, w, h, draw.css("--ink-3"));
  if (!done) return draw.dashed(g, x, y, w, h, 5);
  g.fillStyle = draw.css(newest ? "--surface" : "--sunk");
  draw.roundRect(g, x, y, w, h, 5);
  g.fill();
  g.setLineDash(newest ? [] : [1, 2]);
  g.strokeStyle = draw.css(newest ? "--ink" : "--line-2");
  g.lineWidth = newest ? 2 : 1;
  draw.roundRect(g, x, y, w, h, 5);
  g.stroke();
  g.setLineDash([]);
  const said = w > 26 ? strip.letters : "s";
  draw.label(g, said, x + w / 2, y + h / 2 + 0.5, { size: 11, mono: true, weight: newest ? 700 : 480, align: "center", color: newest ? "--ink" : "--ink-3" });
}

/** @param {Canvas} g @param {number} x @param {number} y @param {number} w @param {number} h @param {boolean} passing */
function edge(g, x, y, w, h, passing) {
  g.setLineDash(passing ? [4, 2] : []);
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = 2;
  draw.roundRect(g, x, y, w, h, 7);
  g.stroke();
  g.setLineDash([]);
}

/** There is no direct path from an earlier row: crossed. @param {Canvas} g @param {Chain} c @param {World} world */
function lost(g, c, world) {
  const { geo, y, target, row } = c;
  const locked = tapes.owner(world) === "t" ? world.look.lock?.row : undefined;
  const from = locked !== undefined && locked < row - 1 ? locked : row - 3;
  if (from < 0) return;
  const [x0, x1] = [geo.middle(target.at + from) + geo.slot * 0.3, geo.middle(target.at + row) - geo.slot * 0.3];
  const [top, bottom] = [y.top + y.chip + 3, y.bottom - 3];
  const middle = top + (bottom - top) * 0.62;
  dashedCurve(g, x0, top, x1, bottom, middle);
  blocked(g, (x0 + x1) / 2 - 4, (top + bottom) / 2);
}

/** @param {Canvas} g @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @param {number} middle */
function dashedCurve(g, x0, y0, x1, y1, middle) {
  g.setLineDash([3, 4]);
  g.strokeStyle = draw.css("--ink-3");
  g.lineWidth = 1.2;
  g.beginPath();
  g.moveTo(x0, y0);
  g.bezierCurveTo(x0 + 10, middle, x1 - 24, middle - 6, x1, y1);
  g.stroke();
  g.setLineDash([]);
}

/** @param {Canvas} g @param {number} x @param {number} y */
function blocked(g, x, y) {
  g.fillStyle = draw.css("--surface");
  g.beginPath();
  g.arc(x, y, 8, 0, 7);
  g.fill();
  draw.cross(g, x, y);
}

/** A window: a bracket round the newest rows, each read by its place; the row before it is out of reach. @param {Canvas} g @param {Chain} c */
function windowed(g, c) {
  const { geo, y, target, row } = c;
  if (row < 0) return;
  const first = Math.max(0, row - c.window + 1);
  const to = geo.middle(target.at + row);
  const apart = Math.min(4, (geo.slot * 0.4) / Math.max(1, row - first)); // they end in one box, however many
  for (let i = first; i <= row; i++) if (!c.backs || c.backs.has(row - i)) draw.ribbon(g, geo.middle(target.at + i), y.top + y.chip + 7, to + (i - (row + first) / 2) * apart, y.bottom - 1, Math.max(2, geo.slot * 0.12), draw.alpha(draw.css("--v-fill"), 0.75));
  const [x0, x1, at] = [geo.x(target.at + first) + 2, geo.x(target.at + row + 1) - 2, y.top + y.chip + 3];
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = 1.6;
  g.beginPath();
  g.moveTo(x0, at - 2);
  g.lineTo(x0, at + 3);
  g.lineTo(x1, at + 3);
  g.lineTo(x1, at - 2);
  g.stroke();
  if (!first) return;
  const from = geo.middle(target.at + first - 1);
  dashedCurve(g, from, y.top + y.chip + 3, to - geo.slot * 0.36, y.bottom - 3, (y.top + y.bottom) / 2 + 12);
  blocked(g, from + 10, y.top + y.chip + (y.bottom - y.top - y.chip) * 0.45);
}

/** From the newest state to what is decided. @param {Canvas} g @param {Chain} c */
function decision(g, c) {
  const { geo, y, target } = c;
  const at = target.rows.findIndex((p) => p.kind === "next");
  if (at < 1 || target.last < 0 || !c.share) return;
  const past = target.last < at - 1; // padding lies between: the line goes below it
  const [x0, x1, bottom] = [geo.x(target.at + target.last) + geo.slot * (past ? 0.5 : 0.84), geo.middle(target.at + at), y.bottom + (past ? y.chip + 5 : y.chip / 2)];
  g.strokeStyle = draw.css("--d");
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(x0, past ? y.bottom + y.chip : bottom);
  if (past) g.lineTo(x0, bottom);
  g.lineTo(x1, bottom);
  g.lineTo(x1, y.top + y.chip + 17);
  g.stroke();
  draw.label(g, c.share, x1, y.top + y.chip + 10, { size: 11, mono: true, weight: 640, align: "center", color: "--d" });
}

/** Names at the left. @param {Canvas} g @param {Chain} c */
function gutter(g, c) {
  const { geo, y, source } = c;
  const target = c.target.group || !source ? c.target : source;
  const [up, down] = [y.top + y.chip / 2, y.bottom + y.chip / 2];
  const bold = { size: 13, weight: 620, color: "--ink" };
  draw.label(g, source && !geo.small ? msg`Source, target` : msg`Rows`, 0, up - 7, bold);
  if (!geo.small) {
    if (source) draw.tag(g, "K", "k", 0, up + 10);
    draw.tag(g, "Q", "q", source ? 19 : 0, up + 10);
    draw.label(g, source ? msg`in turn` : msg`new ones read`, source ? 42 : 22, up + 10, { size: 11, color: "--ink-3" });
  }
  draw.label(g, target.carried ? msg`State` : c.window ? msg`Hidden` : msg`Rows made`, 0, down - 7, bold);
  if (target.carried) loop(g, 5, down + 10);
  if (geo.small) return;
  draw.label(g, target.carried ? msg`carried, one copy` : msg`newest ${c.window} rows only`, target.carried ? 17 : 0, down + 10, { size: 11, color: "--ink-3" });
}

/** The row under a point: of the source or of the target, or null.
 * @param {Chain} c @param {number} x @param {number} y @param {number} scrolled @returns {{owner: "s" | "t", row: number} | null} */
export function at(c, x, y, scrolled) {
  if (x < c.geo.left || y < c.y.numbers - 6) return null;
  const column = Math.floor((x + scrolled - c.geo.left) / c.geo.slot);
  for (const strip of [c.source, c.target]) if (strip && column >= strip.at && column < strip.at + strip.rows.length && strip.done(column - strip.at)) return { owner: strip.owner, row: column - strip.at };
  return null;
}

/** What a screen reader hears. @param {World} world @param {Chain} c */
export function description(world, c) {
  const place = c.target.rows[c.row];
  if (!place || c.row < 0) return msg`No state is computed yet`;
  const kept = c.target.keep(c.row);
  const share = Number.isNaN(kept) ? "" : msg`, of the state before ${probability(kept, 2)} is kept on average`;
  const lead = c.newest ? read.choice(read.requestView(world)) : null;
  const next = lead ? msg`, ${shown(lead.token)} leads at ${probability(lead.probability)}` : "";
  return c.window ? msg`Row ${c.row} ${place.token} reads the newest ${c.window} rows by their place${next}` : msg`Row ${c.row} ${place.token} is written into the state that row ${c.row - 1} left${share}${next}`;
}
