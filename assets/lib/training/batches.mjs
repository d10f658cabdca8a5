// @ts-check
/** The rows of a training batch: what each is given and must predict, what counts, and where its column lies. Pure but for `strip`. */

import { objective, saying, writes } from "../answers.mjs";
import * as draw from "../canvas.mjs";
import { grid } from "../picture/source.mjs";
import { small } from "./curves.mjs";
import { counted, msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { outside } from "../read/windows.mjs";
import { figure, number, shown } from "../words.mjs";

/** @typedef {import("../types").World} World */

/** gold: the token that it would have been given, where it is given the model's own. open of keys: how many keys it may read in the shown relation and layer; leak: its own label is among them.
 * @typedef {{input: string, label: string, valid: boolean, counts: boolean, loss: number | null, gradient: number | null, open: number, keys: number, leak: boolean, gold: string | null,
 * became: string | null, whole: boolean}} Line became: of masked tokens what was done to it, "" for nothing; whole: it stands for its sequence */

/** What each row of the shown sequence holds.
 * @param {World} world @returns {Line[]} */
export function lines(world) {
  const at = ownRead(world);
  const keys = at ? read.rows(world, at.info.key) : [];
  const mask = at ? read.visibility(at.info, at.layer, keys) : null;
  const out = at ? outside(world, at.info, at.layer, read.readCells(world, "batch")) : () => false;
  const valid = keys.map(read.known);
  const total = valid.filter(Boolean).length;
  const all = read.trainRows(world);
  const whole = !writes(world) && all.length === 1; // one row stands for the sequence
  const given = whole ? read.rows(world, "s").filter(read.known) : [];
  return all.map((row, t) => ({
    input: whole ? whatIsGiven(given) : shown(row.input), became: objective(world) === "masked" ? row.became : null, whole, label: whole ? row.label : shown(row.label), valid: row.key_valid, counts: row.counts, loss: row.loss === null ? null : number(row.loss),
    gold: row.gold == null ? null : shown(row.gold), gradient: row.gradient === null ? null : number(row.gradient), keys: total,
    open: mask ? keys.reduce((n, _, k) => n + (valid[k] && mask.allows(t, k) && !out(t, k) ? 1 : 0), 0) : 0,
    leak: !!mask && !!at && at.info.key === "t" && writes(world) && row.counts && t + 1 < keys.length && valid[t + 1] && mask.allows(t, t + 1),
  }));
}

/** A whole source: its words, or of features, whose rows have numbers or places alone, how many there are. @param {import("../reads.mjs").Row[]} rows */
function whatIsGiven(rows) {
  if (grid(rows)) return msg`${rows.length} places`;
  const bare = rows.length > 0 && rows.every((r, i) => r.token === String(i));
  return bare ? counted(rows.length, "{0} row", "{0} rows") : rows.map((r) => shown(r.token)).join(" ");
}

/** What a sequence that writes is given beside it: "source: restore : the <x0> sleeps". @param {World} world */
export function sourceOf(world) {
  const given = writes(world) && world.moved?.train ? read.rows(world, "s").filter(read.known) : [];
  return given.length ? msg`source: ${whatIsGiven(given)}` : "";
}

/** How many of the rows of the batch are given the model's own token, in words; "" under teacher forcing. Pure.
 * @param {any} train a TrainView */
export function ownInputs(train) {
  const share = train?.gold_share;
  if (share === null || share === undefined || share === 1) return "";
  const rows = train.rows.flat().filter((/** @type {any} */ r) => r.counts);
  const own = rows.filter((/** @type {any} */ r) => r.gold != null);
  return msg`→ own: ${own.length} of ${rows.length}, ε ${figure(number(share), 2)}`;
}

/** The relation whose read mask is shown: the selected one, or the first in which target rows ask.
 * @param {World} world */
function ownRead(world) {
  const at = read.relation(world);
  if (!at || at.info.query === saying(world)) return at;
  const info = world.opened?.relations.find((/** @type {any} */ r) => r.query === saying(world));
  return info ? { ...at, info } : null;
}

/** The sum under the batch: "10.92 / 14 rows = 0.780".
 * @param {any} train a TrainView */
export function lossSum(train) {
  const all = (train?.rows ?? []).flat(), rows = all.filter((/** @type {any} */ r) => r.counts);
  if (!rows.length) return "";
  const count = counted(rows.length, "{0} row", "{0} rows");
  if (train.loss === null) return msg`${rows.length} of ${all.length} rows count`;
  const added = (train.penalties ?? []).reduce((/** @type {number} */ sum, /** @type {any} */ [, value]) => sum + number(value), 0);
  const mean = number(train.loss) - added;
  const more = (train.penalties ?? []).map((/** @type {any} */ [name, value]) => `; + ${name} ${small(number(value))} = ${small(number(train.loss))}`).join("");
  return `${mean * rows.length < 0.01 ? small(mean * rows.length) : figure(mean * rows.length, 2)} / ${count} = ${small(mean)}${more}`;
}

const [LEAST, MOST, PADDED, WHOLE] = [50, 104, 22, 620]; // widths of a column, px
const PANNED = 68; // where not all of them fit, so that most words do

/** Where the columns lie: rows that are real are wide, padded ones narrow where there is little room. `x` has one more, the end.
 * @param {{valid: boolean, counts: boolean, whole?: boolean}[]} all @param {number} room px @returns {{x: number[], width: number}} */
export function columns(all, room) {
  const real = all.filter((l) => l.valid || l.counts).length;
  const padded = all.length - real;
  const fitting = (room - padded * PADDED) / Math.max(1, real);
  const wide = fitting < LEAST ? PANNED : Math.min(all[0]?.whole ? WHOLE : MOST, fitting);
  const narrow = Math.max(PADDED, Math.min(wide, (room - real * wide) / Math.max(1, padded)));
  const x = [0];
  for (const l of all) x.push(x[x.length - 1] + (l.valid || l.counts ? wide : narrow));
  return { x, width: x[x.length - 1] };
}

/** The column under a place, or -1.
 * @param {number[]} x @param {number} at */
export const columnAt = (x, at) => (at < 0 ? -1 : x.findIndex((from, i) => i + 1 < x.length && at >= from && at < x[i + 1]));

/** The largest finite number. @param {(number | null)[]} values */
export const most = (values) => values.reduce((/** @type {number} */ a, v) => (v !== null && Number.isFinite(v) ? Math.max(a, v) : a), 0);

/** What each row of one sequence is to the loss, a letter each: counts, not counted, padded.
 * @param {any[]} rows TrainRows @returns {string} */
export const forms = (rows) => rows.map((r) => (r.counts ? "c" : r.key_valid ? "n" : "p")).join("");

/** Which rows of a sequence count, as a small strip.
 * @param {HTMLCanvasElement} canvas @param {string} form of `forms` */
export function strip(canvas, form) {
  const unit = Math.min(9, 130 / Math.max(1, form.length));
  const width = Math.ceil(form.length * unit);
  canvas.style.width = `${width}px`;
  const [g] = draw.fit(canvas, [width, 12]);
  const gap = unit > 4 ? 1.5 : 0;
  let i = 0;
  for (const run of form.match(gap ? /./g : /(.)\1*/g) ?? []) {
    const [what, x, w] = [run[0], i * unit, run.length * unit - gap];
    i += run.length;
    if (what === "c") {
      g.fillStyle = draw.css("--d-fill");
      g.fillRect(x, 0, w, 12);
    } else if (what === "n") draw.hatch(g, x, 0, w, 12, draw.css("--ink-3"), 1, 3);
    else {
      g.fillStyle = draw.css("--ink-3");
      const every = Math.max(3, unit);
      for (let at = x + Math.min(w, every) / 2; at < x + w; at += every) for (let y = 2; y < 11; y += 4) g.fillRect(at - 0.6, y, 1.2, 1.2);
    }
  }
}
