// @ts-check
/** One sequence of the training batch, row by row: what it is given, what it must predict, its loss and gradient; and three masks
 * that are not the same: which keys it may read, whether it is a key that others may read, whether it counts in the loss. */

import * as draw from "../lib/canvas.mjs";
import { h, set, text } from "../lib/dom.mjs";
import { follow, ground, pan, seen } from "../lib/pan.mjs";
import * as read from "../lib/reads.mjs";
import { figure, number, plural, shown } from "../lib/words.mjs";
import { tabs } from "./read.mjs";

/** @typedef {import("../lib/types").World} World */

/** @typedef {{input: string, label: string, valid: boolean, counts: boolean, loss: number | null, gradient: number | null, open: number, keys: number, leak: boolean}} Line */

/** What each row of the sequence shows. `open` of `keys` may be read by it in the selected relation and layer; `leak`: its own label is
 * among them. Pure.
 * @param {World} world @returns {Line[]} */
export function lines(world) {
  const at = ownRead(world);
  const mask = at ? read.visibility(at.info, at.layer) : null;
  const keys = at ? read.rows(world, at.info.key) : [];
  const valid = keys.map(read.known);
  const total = valid.filter(Boolean).length;
  return read.trainRows(world).map((row, t) => ({
    input: shown(row.input), label: shown(row.label), valid: row.key_valid, counts: row.counts, loss: row.loss === null ? null : number(row.loss),
    gradient: row.gradient === null ? null : number(row.gradient), keys: total,
    open: mask ? keys.reduce((n, _, k) => n + (valid[k] && mask.allows(t, k) ? 1 : 0), 0) : 0,
    leak: !!mask && !!at && at.info.key === "t" && row.counts && t + 1 < keys.length && valid[t + 1] && mask.allows(t, t + 1),
  }));
}

/** The relation whose read mask is shown: the selected one, or the first in which target rows ask.
 * @param {World} world */
function ownRead(world) {
  const at = read.relation(world);
  if (!at || at.info.query === "t") return at;
  const info = world.opened?.relations.find((/** @type {any} */ r) => r.query === "t");
  return info ? { ...at, info } : null;
}

/** The sum under the batch: "10.92 / 14 rows = 0.780".
 * @param {any} train a TrainView */
export function lossSum(train) {
  const rows = (train?.rows ?? []).flat().filter((/** @type {any} */ r) => r.counts);
  if (!rows.length) return "";
  if (train.loss === null) return `${plural(rows.length, "row")} count`;
  const mean = number(train.loss);
  return `${figure(mean * rows.length, 2)} / ${plural(rows.length, "row")} = ${figure(mean)}`;
}

/** @param {Line[]} all */
const largest = (all) => ({ loss: most(all.map((l) => l.loss)), gradient: most(all.map((l) => l.gradient)) });

/** @param {(number | null)[]} values */
const most = (values) => values.reduce((/** @type {number} */ a, v) => (v !== null && Number.isFinite(v) ? Math.max(a, v) : a), 0);

const GUTTER = 116;
const ROWS = /** @type {const} */ ([["Q", "q", "input", 1.5], ["→", "d", "label", 1.5], ["→", "d", "loss", 1.15], ["∇", "g", "gradient", 1.15], ["", "", "may read", 1], ["", "", "is a key", 1], ["", "", "counts in loss", 1]]);

/** @type {WeakMap<HTMLElement, import("../lib/pan.mjs").Pan>} */
const pans = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "batch",
  title: "The batch",
  slot: "read",
  phases: ["train"],
  wants: () => [],

  mount(element) {
    const p = pan({ role: "img", "aria-label": "The batch" }, "read-pan");
    pans.set(element, p);
    element.append(
      h("div", { class: "ph" }, h("div", { class: "seg tabs", role: "group", "aria-label": "Sequence", hidden: true }), h("span", { class: "sub" }), h("span", { class: "sp" }),
        h("span", { class: "note" }, "loss ", h("b", { class: "mono" }), h("i", { class: "pv e", title: "exact: a mean over the rows that count" }))),
      p.element,
    );
  },

  draw(element, world, context) {
    const head = /** @type {any} */ (element.firstElementChild);
    tabs(head.firstElementChild, world, context, "sequence");
    const all = lines(world);
    text(head.children[1], world.moved?.train?.rows?.length ? `${all.filter((l) => l.valid).length} of ${all.length} rows are real` : "no batch yet");
    text(head.lastElementChild.children[0], lossSum(world.moved?.train));
    head.lastElementChild.children[1].hidden = world.moved?.train?.loss == null;
    const p = /** @type {import("../lib/pan.mjs").Pan} */ (pans.get(element));
    p.redraw = () => paint(p, world, all);
    const geo = paint(p, world, all);
    set(p.canvas, "aria-label", describe(all));
    p.canvas.onclick = (event) => {
      const column = Math.floor((event.offsetX + p.element.scrollLeft - GUTTER) / geo.slot);
      const at = read.relation(world);
      if (at && event.offsetX >= GUTTER && all[column]) context.look({ lock: { row: column, key: at.info.key === at.info.query ? column : 0 } });
    };
  },
};

/** @param {Line[]} all */
function describe(all) {
  if (!all.length) return "No batch was drawn yet";
  return all.map((l, t) => `row ${t} ${l.input}, label ${l.label}, ${l.counts ? (l.loss === null ? "counts" : `loss ${figure(l.loss, 2)}`) : "does not count"}${l.leak ? ", sees its own label" : ""}`).join("; ");
}

/** @param {import("../lib/pan.mjs").Pan} p @param {World} world @param {Line[]} all */
function paint(p, world, all) {
  const slot = Math.max(74, Math.min(104, (draw.boxOf(p.element)[0] - GUTTER) / Math.max(1, all.length)));
  const { row } = read.focus(world);
  ground(p, GUTTER + all.length * slot);
  follow(p, "row", `${world.moved?.at} ${row}`, row < 0 ? null : { left: (row - 1) * slot, right: GUTTER + (row + 2) * slot });
  const [g, width, height, scrolled] = seen(p);
  const unit = Math.min(20, height / 8.4);
  const top = largest(all);
  let y = 0;
  const ys = ROWS.map(([, , , tall]) => (y += tall * unit) - tall * unit);
  ROWS.forEach(([letter, role, name, tall], i) => gutter(g, letter, role, name, ys[i] + (tall * unit) / 2));
  g.save();
  g.beginPath();
  g.rect(GUTTER, 0, width, height);
  g.clip();
  g.translate(GUTTER - scrolled, 0);
  all.forEach((line, t) => {
    if ((t + 1) * slot > scrolled && t * slot - scrolled < width) column(g, line, t * slot, slot - 4, ys, unit, top, t === row);
  });
  g.restore();
  return { slot };
}

/** @param {CanvasRenderingContext2D} g @param {string} letter @param {string} role @param {string} name @param {number} y */
function gutter(g, letter, role, name, y) {
  if (letter) draw.tag(g, letter, role, 0, y);
  draw.label(g, name, letter ? 22 : 0, y, { size: 12 });
}

/** @param {CanvasRenderingContext2D} g @param {Line} l @param {number} x @param {number} w @param {number[]} ys @param {number} unit
 * @param {{loss: number, gradient: number}} top @param {boolean} on */
function column(g, l, x, w, ys, unit, top, on) {
  const tall = unit * 1.5 - 3;
  const size = Math.min(13, unit * 0.68);
  draw.chip(g, x, ys[0], w, tall, l.input, { role: "q", state: l.valid ? "known" : "padded", on, size });
  draw.chip(g, x, ys[1], w, tall, l.label, { role: "d", state: l.counts ? "known" : "padded", size });
  bar(g, l.loss, top.loss, x, ys[2], w, unit * 1.15, "d", l.counts);
  bar(g, l.gradient, top.gradient, x, ys[3], w, unit * 1.15, "g", l.counts);
  draw.label(g, l.leak ? "its label!" : `${l.open} of ${l.keys}`, x + w / 2, ys[4] + unit / 2, { size: 11, mono: true, align: "center", weight: l.leak ? 700 : 480, color: l.leak ? "--d" : "--ink-2" });
  form(g, l.valid ? "on" : "padded", x, ys[5], w, unit);
  form(g, l.counts ? "on" : "off", x, ys[6], w, unit);
}

/** @param {CanvasRenderingContext2D} g @param {number | null} value @param {number} top @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {string} role @param {boolean} counts */
function bar(g, value, top, x, y, w, h, role, counts) {
  g.strokeStyle = draw.css("--line");
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(x, y + h - 1.5);
  g.lineTo(x + w, y + h - 1.5);
  g.stroke();
  if (value === null) return draw.label(g, "·", x + w - 4, y + h / 2, { align: "right", color: "--ink-3" });
  if (Number.isFinite(value) && top > 0 && counts) {
    g.fillStyle = draw.css(`--${role}-fill`);
    g.fillRect(x, y + h * 0.3, Math.max(1, (value / top) * (w - 40)), h * 0.6);
  }
  draw.label(g, figure(value, 2), x + w - 2, y + h / 2, { size: 11, mono: true, weight: 560, align: "right", color: counts ? `--${role}` : "--ink-3" });
}

/** A mask's value for one row, by form: filled, dots, hatched.
 * @param {CanvasRenderingContext2D} g @param {"on" | "off" | "padded"} state @param {number} x @param {number} y @param {number} w @param {number} h */
function form(g, state, x, y, w, h) {
  const [bx, by, size] = [x + w / 2 - 7, y + h / 2 - Math.min(6, h * 0.4), Math.min(12, h * 0.8)];
  if (state === "padded") draw.dots(g, bx, by, 14, size, draw.css("--ink-3"));
  if (state === "off") draw.hatch(g, bx, by, 14, size, draw.css("--hatch"), 1, 4);
  g.strokeStyle = draw.css("--line-2");
  g.lineWidth = 1;
  g.fillStyle = draw.css("--ink-3");
  draw.roundRect(g, bx + 0.5, by + 0.5, 13, size - 1, 2);
  state === "on" ? g.fill() : g.stroke();
}
