// @ts-check
/** The pictures of a read between two strips: ribbons, earlier rows as ghosts, chips with their states, numbers. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { several } from "../setup/cut.mjs";
import { FAINT } from "./ribbons.mjs";
import { hidden, unknownWord } from "./strips.mjs";
import { probability, shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../../views/read.mjs").Scene} Scene @typedef {CanvasRenderingContext2D} Canvas */
/** @typedef {(i: number) => boolean} Near whether a place is in sight */

const GHOST = 0.2; // of an earlier row's read, the share from which it is drawn
const THINNEST = 1.5;

/** How opaque a ribbon is: a thin one is seen too. @param {number} part */
export const strength = (part) => Math.min(0.97, 0.55 + 0.5 * part);

/** @param {Scene} s */
const widest = (s) => Math.min(s.geo.slot * 0.62, 44);

/** Earlier rows' main reads, in grey.
 * @param {Canvas} g @param {Scene} s @param {Near} near */
export function ghosts(g, s, near) {
  const { geo } = s;
  for (let r = 0; r < s.queries.length; r++) {
    if (r === s.row || !near(r)) continue;
    for (let key = 0; key < s.keys.length; key++) {
      const part = s.amount(r, key) / s.most;
      if (part > GHOST) draw.ribbon(g, geo.middle(key), geo.top + geo.chip + 3, geo.middle(r), geo.bottom - 3, Math.max(1.5, part * 15), draw.css("--ribbon-ghost"));
    }
  }
}

/** The row's own reads in the colour of values; what you hid is dashed and crossed, and so is what the program masks where it is locked; else that is crossed.
 * @param {Canvas} g @param {Scene} s @param {Near} near */
export function ribbons(g, s, near) {
  const { geo, row } = s;
  const [y0, y1] = [geo.top + geo.chip, geo.bottom];
  for (const r of s.reads) {
    if (!near(r.key)) continue;
    const part = r.amount / s.most;
    if (r.state === "user" || (r.state === "model" && r.key === s.locked)) hidden(g, geo.middle(r.key), y0 + 4, geo.middle(row) + (r.key < row ? -14 : 14), y1 - 4);
    else if (r.state === "model") draw.cross(g, geo.middle(r.key), y0 + 9, 3, "--ink-3");
    else if (part > FAINT) draw.ribbon(g, geo.middle(r.key), y0 + 2, geo.middle(row), y1 - 2, Math.max(THINNEST, part * widest(s)), draw.alpha(draw.css("--v-fill"), strength(part)));
  }
}

/** @param {Canvas} g @param {Scene} s @param {Near} near @param {World} world */
export function keyStrip(g, s, near, world) {
  const { geo } = s;
  const lit = world.hover?.key ?? world.look.lock?.key;
  s.keys.forEach((key, i) => {
    if (!near(i)) return;
    const state = key.state === "new" ? "known" : key.state;
    const place = { id: key.id, text: key.text };
    draw.font(g, 480, 10.5, true);
    draw.label(g, clipped(g, geo, i, placeName(geo, i, place), geo.top - 8), geo.middle(i), geo.top - 8, { size: 10.5, mono: true, align: "center", color: "--ink-3" });
    draw.chip(g, geo.x(i), geo.top, geo.slot - geo.pad, geo.chip, shown(key.token), { role: "k", state, on: i === s.top, size: geo.size });
    if (s.reads[i]?.state === "user" || s.reads[i]?.state === "model") veil(g, geo, i, s.reads[i].state === "user");
    if (key.text) unknownWord(g, geo, i, geo.top);
    if (i === lit) lightUp(g, geo, i, geo.top, !!world.hover);
  });
  if (s.info.key === "t") for (const c of several(world, s.keys)) together(g, geo, c, geo.top - 2.5, 1);
}

/** Pieces that make one character: a bracket joins them, and says which where there is room.
 * @param {Canvas} g @param {import("./strips.mjs").Layout} geo @param {import("../setup/pieces.mjs").Character} c @param {number} y @param {number} turn 1: it opens down */
function together(g, geo, c, y, turn) {
  const [x0, x1] = [geo.x(c.from) + 2, geo.x(c.to - 1) + geo.slot - geo.pad - 2];
  g.strokeStyle = draw.css(c.whole ? "--ink-2" : "--bad");
  g.setLineDash(c.whole ? [] : [3, 2]);
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(x0, y + 3 * turn);
  g.lineTo(x0, y);
  g.lineTo(x1, y);
  g.lineTo(x1, y + 3 * turn);
  g.stroke();
  g.setLineDash([]);
  if (turn > 0) draw.label(g, shown(c.text), (geo.middle(c.from) + geo.middle(c.from + 1)) / 2, geo.top - 7.5, { size: 11, mono: true, weight: 640, align: "center", color: c.whole ? "--ink" : "--bad" });
}

/** A key that the row may not read: hatched over, heavily where you hid it.
 * @param {Canvas} g @param {import("./strips.mjs").Layout} geo @param {number} i @param {boolean} mine */
function veil(g, geo, i, mine) {
  draw.hatch(g, geo.x(i), geo.top, geo.slot - geo.pad, geo.chip, draw.alpha(draw.css(mine ? "--ink" : "--hatch"), mine ? 0.45 : 0.7), mine ? 1.3 : 1, mine ? 4 : 6);
}

/** A chip that is pointed at has a dashed edge; a locked one a solid edge in ink.
 * @param {Canvas} g @param {import("./strips.mjs").Layout} geo @param {number} i @param {number} y @param {boolean} passing */
function lightUp(g, geo, i, y, passing) {
  g.setLineDash(passing ? [4, 2] : []);
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = 2;
  draw.roundRect(g, geo.x(i) - 2, y - 2, geo.slot - geo.pad + 4, geo.chip + 4, 7);
  g.stroke();
  g.setLineDash([]);
}

/** A row's position with its id; for a word that became <unk>, with what was typed.
 * @param {import("./strips.mjs").Layout} geo @param {number} i @param {{id: number, text: string | null}} row */
function placeName(geo, i, row) {
  if (row.text) return `${i} “${shown(row.text)}”`;
  return geo.ids && geo.slot > 72 && row.id >= 0 ? `${i} · id ${row.id}` : String(i);
}

/** A text at a place, cut to its width; the pointer over it says it whole.
 * @param {Canvas} g @param {import("./strips.mjs").Layout} geo @param {number} i @param {string} text @param {number} y its middle */
function clipped(g, geo, i, text, y) {
  const cut = draw.clip(g, text, geo.slot - 2);
  if (cut !== text) draw.noteCut(g, text, geo.x(i), y - 8, geo.slot, 16);
  return cut;
}

/** What each key gives, beside it; the largest on its ribbon. A number that is none is marked.
 * @param {Canvas} g @param {Scene} s @param {Near} near */
export function numbers(g, s, near) {
  const { geo, row } = s;
  for (const r of s.reads) {
    if (!near(r.key)) continue;
    const [x, y] = [geo.x(r.key) + 3, geo.top + geo.chip + 10];
    if (r.state === "nan") {
      draw.cross(g, x + 6, y, 4, "--bad");
      draw.label(g, "NaN", x + 15, y, { size: 11, mono: true, weight: 620, color: "--bad" });
    }
    const part = r.amount / s.most;
    if (r.amount === 0 && r.weight > FAINT) beside(g, s.said(0), x, y); // read, but what it gives has no length
    if (!(part > FAINT)) continue;
    if (r.key !== s.top || part * widest(s) < 20 || Math.abs(geo.middle(r.key) - geo.middle(row)) > 5 * geo.slot) beside(g, s.said(r.amount), x, y);
    else onRibbon(g, s.said(r.amount), r.key === row ? part * widest(s) : 0, (geo.middle(r.key) + geo.middle(row)) / 2, (geo.top + geo.chip + geo.bottom) / 2);
  }
}

/** @param {Canvas} g @param {string} value @param {number} x @param {number} y */
function beside(g, value, x, y) {
  draw.font(g, 560, 11, true);
  g.fillStyle = draw.alpha(draw.css("--surface"), 0.8);
  g.fillRect(x - 1, y - 7, g.measureText(value).width + 2, 14);
  draw.label(g, value, x, y, { size: 11, mono: true, weight: 560, color: "--v" });
}

/** @param {Canvas} g @param {string} value @param {number} wide a straight ribbon, or 0 @param {number} x @param {number} y */
function onRibbon(g, value, wide, x, y) {
  draw.font(g, 720, 13, true);
  const room = g.measureText(value).width + 8;
  if (wide < room) {
    g.fillStyle = draw.css("--v-fill");
    draw.roundRect(g, x - room / 2, y - 10, room, 20, 10);
    g.fill();
  }
  g.fillStyle = "#07231C";
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillText(value, x, y + 0.5);
}

/** @param {Canvas} g @param {Scene} s @param {Near} near @param {World} world */
export function queryStrip(g, s, near, world) {
  const { geo } = s;
  const lead = read.choice(read.requestView(world));
  if (s.info.query === "t") for (const c of several(world, read.rows(world, "t"))) together(g, geo, c, geo.bottom + geo.chip + 2.5, -1);
  s.queries.forEach((place, i) => {
    if (!near(i)) return;
    const state = place.kind === "new" ? "known" : place.kind;
    const on = i === s.row;
    draw.chip(g, geo.x(i), geo.bottom, geo.slot - geo.pad, geo.chip, place.token, { role: "q", state, on, size: geo.size });
    if (place.text) unknownWord(g, geo, i, geo.bottom);
    if (on && (s.preview || world.look.lock)) lightUp(g, geo, i, geo.bottom, s.preview);
    under(g, s, i, on, place.kind === "next" && i === s.queries.length - (s.info.query === "r" ? 1 : 2) && lead ? [probability(lead.probability)] : decided(world, s, i));
  });
}

/** Below a row: what it decided (and what it would decide now), or how probable it is; then its number.
 * @param {Canvas} g @param {Scene} s @param {number} i @param {boolean} on @param {string[]} words */
function under(g, s, i, on, words) {
  const { geo } = s;
  const place = s.queries[i];
  const y = geo.bottom + geo.chip + 10;
  const now = words[1] ?? "";
  const strong = on || place.kind === "next";
  draw.font(g, strong ? 640 : 460, 11, true);
  const [first, second] = [words[0] ?? "", now].map((said) => draw.clip(g, said, geo.slot - 2));
  draw.label(g, geo.ids || !second ? first : second, geo.middle(i), y, { size: 11, mono: true, weight: strong ? 640 : 460, align: "center", color: strong || now ? "--d" : "--ink-3" });
  if (!geo.ids) return;
  draw.font(g, 480, 10.5, true);
  const name = place.id >= 0 ? clipped(g, geo, i, placeName(geo, i, place), y + 14) : "";
  draw.label(g, second || name, geo.middle(i), y + 14, { size: 10.5, mono: true, weight: second ? 640 : 480, align: "center", color: second ? "--d" : "--ink-3" });
}

/** @param {World} world @param {Scene} s @param {number} i @returns {string[]} */
function decided(world, s, i) {
  if (s.queries[i].kind !== "known" && s.queries[i].kind !== "new") return [];
  const next = read.decides(world, s.info.query, i);
  const now = s.queries[i + 1]?.would;
  return next ? [`→ ${shown(next)}`, ...(now ? [msg`now ${shown(now)}`] : [])] : [];
}

/** Where padding lies between the deciding row and its decision: the line that skips it.
 * @param {Canvas} g @param {Scene} s @param {World} world */
export function underPadding(g, s, world) {
  const { geo } = s;
  const view = read.requestView(world);
  const at = s.queries.findLastIndex((p) => p.kind === "next");
  if (!read.choice(view) || at < 0 || view.finished) return;
  const from = view.decision_row;
  const skipped = s.queries.slice(from + 1, at).filter((p) => p.kind === "padded").length;
  if (skipped) lane(g, geo.middle(from), geo.bottom - 1, geo.bottom - 10, geo.x(at) - 1, geo.bottom + geo.chip / 2, skipped);
}

/** A decision's way past padding: from its row, along a lane, to its place.
 * @param {Canvas} g @param {number} x0 @param {number} y0 @param {number} y of the lane @param {number} x1 @param {number} y1 @param {number} skipped */
export function lane(g, x0, y0, y, x1, y1, skipped) {
  g.strokeStyle = draw.css("--d");
  g.lineWidth = 2.2;
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x0, y);
  g.lineTo(x1 - 15, y);
  g.lineTo(x1 - 15, y1);
  g.lineTo(x1 - 3, y1);
  g.stroke();
  arrow(g, x1, y1);
  const said = msg`last valid row, skips ${skipped}`;
  draw.font(g, 560, 11);
  const room = g.measureText(said).width + 10;
  const middle = (x0 + x1 - 15) / 2;
  if (room > x1 - x0 - 20) return;
  g.fillStyle = draw.css("--surface");
  g.fillRect(middle - room / 2, y - 8, room, 16);
  draw.label(g, said, middle, y, { size: 11, weight: 560, align: "center", color: "--d" });
}

/** @param {Canvas} g @param {number} x @param {number} y */
export function arrow(g, x, y) {
  g.fillStyle = draw.css("--d");
  g.beginPath();
  g.moveTo(x - 7, y - 4);
  g.lineTo(x, y);
  g.lineTo(x - 7, y + 4);
  g.fill();
}

/** In a long input, the locked key or the one that is read most, kept in sight at the left with its ribbon, or with the line that there is not.
 * @param {Canvas} g @param {Scene} s @param {Near} near @param {number} scrolled */
export function pinned(g, s, near, scrolled) {
  const { geo, row } = s;
  const key = s.locked ?? s.top;
  if (key < 0 || near(key) || !s.reads[key]) return;
  const far = s.reads[key];
  const blocked = far.state === "model" || far.state === "user";
  const [x, width] = [geo.gutter, geo.slot + 2];
  const part = far.amount / s.most;
  if (blocked && near(row)) hidden(g, x + width / 2, geo.top + geo.chip + 4, geo.middle(row) - scrolled - 14, geo.bottom - 4);
  else if (near(row)) draw.ribbon(g, x + width / 2, geo.top + geo.chip + 2, geo.middle(row) - scrolled, geo.bottom - 2, Math.max(THINNEST, part * 26), draw.alpha(draw.css("--v-fill"), strength(part)));
  draw.chip(g, x, geo.top, width, geo.chip, `${key} ${shown(s.keys[key].token)}`, { role: "k", on: true, size: 11 });
  draw.label(g, "···", x + width + 3, geo.top + geo.chip / 2, { size: 11, color: "--ink-3" });
  if (!blocked) beside(g, s.said(far.amount), x + 2, geo.top + geo.chip + 10);
}
