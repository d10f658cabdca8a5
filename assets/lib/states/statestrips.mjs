// @ts-check
/** Strips of states over time: a band for each tape, units downward, a column for each row; below them how a state passes a change on. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";
import { loop } from "../draw/timeaxis.mjs";
import { compact, figure, rowWords } from "../words.mjs";
import { shareBars, shareLabel } from "./stateshares.mjs";

/** @typedef {CanvasRenderingContext2D} Canvas @typedef {import("./tapes.mjs").Tape} Tape @typedef {import("../draw/timeaxis.mjs").Axis} Axis */
/** How a column stands: known, padded (computed, thrown away), or not computed yet. @typedef {"ok" | "padded" | "later"} Column */
/** @typedef {{tape: number, row: number, unit: number}} Spot */
/** @typedef {object} Strips all that one picture needs
 * @property {Axis} geo @property {Tape[]} tapes @property {number[] | null} tops where each tape's own scale ends, in place of "most" @property {string[]} names of the columns @property {Column[]} columns @property {(tape: number, row: number, unit: number) => number} value
 * @property {number} first @property {number} units in sight, of `width` @property {number} width @property {number} most the signed scale ends there
 * @property {{top: number, each: number, band: number, below: number}} y
 * @property {(import("./stateshares.mjs").Share | null)[] | null} shares @property {number} mostShare
 * @property {{norms: (number | null)[], products: (number | null)[], most: number} | null} passes @property {boolean} carries
 * @property {Spot | null} locked @property {Spot | null} hover @property {number} row the one that is looked at @property {boolean} back */

const TOP = 20;
/** A unit is not drawn lower than this if it can be paged. */
const LOWEST = 3;

/** Where the bands lie in a height, and how many units they show. Pure.
 * @param {number} height @param {number} tapes @param {number} width units there are @param {boolean} more whether something stands below them */
export function bands(height, tapes, width, more) {
  const below = more ? (height < 230 ? 30 : 40) : 0;
  const each = Math.max(12, (height - TOP - below - (more ? 4 : 0)) / Math.max(1, tapes));
  const band = each - 5;
  const units = band >= width * 2 ? width : Math.max(4, Math.min(width, Math.floor(band / LOWEST)));
  return { top: TOP, each, band, below, units };
}

/** @param {Canvas} g @param {Strips} s @param {number} width @param {number} height @param {number} scrolled */
export function paint(g, s, width, height, scrolled) {
  const { geo, y } = s;
  g.save();
  g.beginPath();
  g.rect(geo.left - 3, 0, width, height);
  g.clip();
  g.translate(-scrolled, 0);
  const from = Math.max(0, Math.floor(scrolled / geo.slot) - 1);
  const to = Math.min(s.columns.length, Math.ceil((scrolled + width - geo.left) / geo.slot) + 1);
  for (let t = from; t < to; t++) {
    name(g, s, t);
    s.tapes.forEach((_, k) => band(g, s, k, t));
    if (s.carries) passed(g, s, t);
    if (s.shares) shareBars(g, s, t);
  }
  marks(g, s);
  g.restore();
  s.tapes.forEach((tape, k) => label(g, s, tape, y.top + k * y.each + y.band / 2));
  if (s.carries) passLabel(g, s, width);
  if (s.shares) shareLabel(g, s, width);
}

/** @param {Canvas} g @param {Strips} s @param {number} t */
function name(g, s, t) {
  const { geo } = s;
  const on = t === (s.hover ?? s.locked)?.row || (!s.hover && !s.locked && t === s.row);
  if (on) {
    g.fillStyle = draw.css("--q-wash");
    draw.roundRect(g, geo.x(t) + 2, 0, geo.slot - 4, 17, 4);
    g.fill();
  }
  const later = s.columns[t] === "later";
  draw.font(g, on ? 700 : 480, 11.5, true);
  draw.label(g, later ? "·" : draw.clip(g, s.names[t] ?? "", geo.slot - 6), geo.middle(t), 9, { size: 11.5, mono: true, weight: on ? 700 : 480, align: "center", color: on ? "--q" : later || s.columns[t] === "padded" ? "--ink-3" : "--ink-2" });
}

/** One tape's column. @param {Canvas} g @param {Strips} s @param {number} k @param {number} t */
function band(g, s, k, t) {
  const { geo, y } = s;
  const tape = s.tapes[k];
  const [x, w, top] = [geo.x(t) + 3, geo.slot - 6, y.top + k * y.each];
  if (s.columns[t] === "later") return draw.dashed(g, x, top, w, y.band, 3);
  if (tape.single) return bar(g, s, k, t);
  const color = draw.ramp(tape.gate ? "--seq" : "--div");
  const each = y.band / s.units;
  const gap = each > 3.4 ? 0.8 : each > 2 ? 0.4 : 0;
  g.globalAlpha = s.columns[t] === "padded" ? 0.35 : 1;
  for (let u = 0; u < s.units && s.first + u < s.width; u++) {
    const v = s.value(k, t, s.first + u);
    if (Number.isNaN(v)) continue;
    g.fillStyle = Number.isFinite(v) ? draw.toCss(color(draw.place(v, tape.gate ? {} : { max: s.tops?.[k] ?? s.most, diverging: true }))) : draw.css("--bad");
    g.fillRect(x, top + u * each, w, Math.max(0.7, each - gap));
  }
  g.globalAlpha = 1;
  if (s.columns[t] === "padded") draw.dots(g, x, top, w, y.band, draw.css("--ink-3"));
  if (tape.carried) carried(g, s, t, top + y.band / 2);
  else rails(g, x, top, w, y.band);
}

/** One number of a row: a bar from below, or from the middle where the tape has both signs, with its figure where there is room.
 * @param {Canvas} g @param {Strips} s @param {number} k @param {number} t */
function bar(g, s, k, t) {
  const { geo, y } = s;
  const v = s.value(k, t, 0);
  const [x, w, top] = [geo.x(t) + 3, geo.slot - 6, y.top + k * y.each];
  if (Number.isNaN(v)) return;
  const signed = s.columns.some((c, row) => c === "ok" && s.value(k, row, 0) < 0);
  const [zero, room] = signed ? [top + y.band / 2, y.band / 2] : [top + y.band, y.band];
  const tall = Math.max(1, Math.min(room, (room * Math.abs(v)) / (s.tops?.[k] ?? s.most)));
  g.globalAlpha = s.columns[t] === "padded" ? 0.35 : 1;
  g.fillStyle = draw.css("--line-2");
  g.fillRect(x, zero - 0.5, w, 1);
  g.fillStyle = draw.css(Number.isFinite(v) ? "--ink-3" : "--bad");
  g.fillRect(x + w * 0.08, v < 0 ? zero : zero - tall, w * 0.34, tall);
  if (w > 40) beside(g, compact(v), x + w * 0.48, signed && y.band > 26 ? zero + (v < 0 ? -7 : 8) : top + y.band / 2);
  g.globalAlpha = 1;
  if (s.columns[t] === "padded") draw.dots(g, x, top, w, y.band, draw.css("--ink-3"));
}

/** The figure of a bar, on the side that the bar leaves free; the line of zero does not cross it. @param {Canvas} g @param {string} said @param {number} x @param {number} y */
function beside(g, said, x, y) {
  draw.font(g, 480, 10.5, true);
  g.fillStyle = draw.css("--surface");
  g.fillRect(x - 1, y - 6, g.measureText(said).width + 2, 12);
  draw.label(g, said, x, y, { size: 10.5, mono: true, color: "--ink-2" });
}

/** An ink link to the column that this one was made of. @param {Canvas} g @param {Strips} s @param {number} t @param {number} y */
function carried(g, s, t, y) {
  const before = s.back ? t + 1 : t - 1;
  if (s.columns[before] !== "ok") return;
  const x = s.back ? s.geo.x(t + 1) : s.geo.x(t);
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = 2.2;
  g.beginPath();
  g.moveTo(x - 3, y);
  g.lineTo(x + 3, y);
  g.stroke();
}

/** Remade at each step. @param {Canvas} g @param {number} x @param {number} y @param {number} w @param {number} h */
function rails(g, x, y, w, h) {
  g.fillStyle = draw.css("--line-2");
  g.fillRect(x - 2.5, y, 2, h);
  g.fillRect(x + w + 0.5, y, 2, h);
}

/** @param {Canvas} g @param {Strips} s @param {Tape} tape @param {number} y */
function label(g, s, tape, y) {
  draw.label(g, tape.letter, 4, y, { size: 14, mono: true, weight: 700, color: "--ink" });
  if (tape.carried) loop(g, 26, y);
  if (s.geo.small && tape.carried) return;
  draw.font(g, tape.carried ? 560 : 440, 11.5);
  draw.label(g, draw.clip(g, tapeWords(tape.name), s.geo.left - (s.geo.small ? 26 : 44)), s.geo.small ? 22 : 38, y, { size: 11.5, weight: tape.carried ? 560 : 440, color: tape.carried ? "--ink" : "--ink-2" });
}

/** A tape's name as a person reads it. @param {string} name */
const tapeWords = (name) =>
  /** @type {Record<string, string>} */ ({
    cell: msg`cell`, hidden: msg`hidden`, forget: msg`forget`, input: msg`input`, candidate: msg`candidate`, output: msg`output`, update: msg`update`, reset: msg`reset`,
    state: msg`state`, kept: msg`kept`, written: msg`written`, step: msg`step`, "write at": msg`write at`, "read at": msg`read at`, content: msg`content`, read: msg`read`,
  })[name] ?? name;

/** How far a small change of the state before is stretched in this step, and since the locked row. @param {Canvas} g @param {Strips} s @param {number} t */
function passed(g, s, t) {
  const { geo, y } = s;
  const base = y.top + s.tapes.length * y.each + y.below;
  const [x, w] = [geo.x(t) + geo.slot * 0.2, geo.slot * 0.6];
  const room = y.below - 15;
  if (s.columns[t] !== "ok" || !s.passes) return s.columns[t] === "later" ? draw.dashed(g, x, base - room, w, room - 1, 2) : undefined;
  const [norm, product] = [s.passes.norms[t], s.passes.products[t]];
  if (norm === null || norm === undefined) return draw.label(g, "–", geo.middle(t), base - room / 2, { size: 12, align: "center", color: "--ink-3" });
  const tall = (/** @type {number} */ v) => Math.max(1.5, (room * Math.min(v, s.passes?.most ?? 1)) / (s.passes?.most ?? 1));
  const half = product === null || product === undefined ? 1 : 0.48;
  g.fillStyle = draw.css("--g-fill");
  draw.roundRect(g, x, base - tall(norm), w * half, tall(norm), 2);
  g.fill();
  if (half < 1 && product !== null && product !== undefined) draw.dashed(g, x + w * 0.52, base - Math.max(4, tall(product)), w * 0.48, Math.max(4, tall(product)), 2, "--g", 1.2);
  const said = figure(half < 1 && product !== null && product !== undefined ? product : norm, 2);
  draw.label(g, said, geo.middle(t), base - Math.max(tall(norm), half < 1 ? tall(product ?? 0) : 0) - 7, { size: 11, mono: true, weight: t === s.row ? 700 : 520, align: "center", color: "--g" });
}

/** @param {Canvas} g @param {Strips} s @param {number} width */
function passLabel(g, s, width) {
  const { y, geo } = s;
  const base = y.top + s.tapes.length * y.each + y.below;
  draw.tag(g, "∇", "g", 0, base - y.below / 2);
  if (!geo.small) draw.label(g, "‖∂s/∂s₋₁‖", 22, base - y.below / 2, { size: 11.5, mono: true, color: "--ink-2" });
  g.fillStyle = draw.css("--line-2");
  g.fillRect(geo.left, base, width - geo.left, 1);
}

/** The locked number and the one that is pointed at; the same unit of the other tapes. @param {Canvas} g @param {Strips} s */
function marks(g, s) {
  for (const [spot, passing] of /** @type {[Spot | null, boolean][]} */ ([[s.locked, false], [s.hover, true]])) {
    if (!spot || s.columns[spot.row] === undefined || s.columns[spot.row] === "later" || spot.unit < s.first || spot.unit >= s.first + s.units) continue;
    const each = s.y.band / s.units;
    s.tapes.forEach((_, k) => {
      const own = k === spot.tape;
      if (s.tapes[k].single) return;
      g.setLineDash(own && !passing ? [] : [2, 2]);
      g.strokeStyle = draw.css("--ink");
      g.lineWidth = own ? 2 : 1.1;
      g.strokeRect(s.geo.x(spot.row) + 1.5, s.y.top + k * s.y.each + (spot.unit - s.first) * each - 1.5, s.geo.slot - 3, each + 2.4);
    });
    g.setLineDash([]);
  }
}

/** The number under a point, or null. @param {Strips} s @param {number} x @param {number} y @param {number} scrolled @returns {Spot | null} */
export function spotAt(s, x, y, scrolled) {
  const row = Math.floor((x + scrolled - s.geo.left) / s.geo.slot);
  if (x < s.geo.left || !s.columns[row] || s.columns[row] === "later") return null;
  const tape = Math.max(0, Math.min(s.tapes.length - 1, Math.floor((y - s.y.top) / s.y.each)));
  const inside = y - s.y.top - tape * s.y.each;
  const unit = s.first + Math.max(0, Math.min(s.units - 1, Math.floor((inside / s.y.band) * s.units)));
  return { tape, row, unit: Math.min(s.width - 1, unit) };
}

/** What one number says: [kind, row and unit, number, norm of its step, the others of its unit].
 * @param {Strips} s @param {Spot} spot @param {"locked" | "preview" | "newest" | "hardest" | "last"} kind @returns {string[]} */
export function readout(s, spot, kind) {
  const word = { locked: msg`locked`, preview: msg`preview`, newest: msg`newest`, hardest: msg`largest loss`, last: msg`last` }[kind];
  const value = (/** @type {number} */ k) => [s.tapes[k].letter, figure(s.value(k, spot.row, spot.unit), 2)];
  const others = s.tapes.map((_, k) => k).filter((k) => k !== spot.tape).map((k) => value(k).join(" ")).join("  ");
  const norm = s.passes?.norms[spot.row];
  return [word, msg`row ${rowWords(spot.row, s.names[spot.row] ?? "")}, unit ${spot.unit}: `, `${value(spot.tape).join(" = ")} ◉`, norm === null || norm === undefined ? "" : `  ‖J‖ ${figure(norm, 2)} ◉`, `  ${others}`];
}
