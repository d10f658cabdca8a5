// @ts-check
/** One sequence of the training batch, row by row: what it is given, what it must predict, its loss and gradient; and three masks
 * that are not the same: which keys it may read, whether it is a key that others may read, whether it counts in the loss. Words that
 * read a picture show what each of them looked at. */

import { columnAt, columns, forms, lines, lossSum, most, ownInputs, sourceOf, strip } from "../lib/training/batches.mjs";
import { objective, writes } from "../lib/answers.mjs";
import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import { follow, ground, pan, seen } from "../lib/draw/pan.mjs";
import { look, looks, place, shares } from "../lib/picture/looking.mjs";
import { grid, isLookedAt, picture } from "../lib/picture/source.mjs";
import * as read from "../lib/reads.mjs";
import { windowed } from "../lib/read/windows.mjs";
import { figure, requestName } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/training/batches.mjs").Line} Line */
/** @typedef {import("../lib/draw/pan.mjs").Pan} Pan */

const GUTTER = 120;
const EDGE = 44; // px at a side, where the way to the looked-at row stands when it is out of sight

/** Letter, role, name and height (in units) of each line. Where a picture is read no word is a key. */
const rows = (/** @type {World} */ world, /** @type {number} */ keys) => /** @type {[string, string, string, number][]} */ ([
  ["Q", "q", msg`input`, 1.5], ["→", "d", writes(world) ? msg`label, shifted` : objective(world) === "masked" ? msg`original` : msg`label`, 1.5], ["→", "d", msg`loss per row`, 1.2], ["∇", "g", "∂L/∂logits", 1.2],
  ["", "", objective(world) === "masked" ? msg`corrupted` : keys ? msg`may read, of ${keys}` : msg`may read`, 1], ["", "", isLookedAt(world) ? "" : msg`is a key`, isLookedAt(world) ? 0 : 1], ["", "", msg`counts in the loss`, 1],
  ...(isLookedAt(world) ? [/** @type {[string, string, string, number]} */ (["", "", msg`looked at`, 3.2])] : []),
]);

/** @type {WeakMap<HTMLElement, Pan>} */
const pans = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "batch",
  title: "The batch",
  slot: "read",
  phases: ["train"],
  wants(world) {
    const at = read.relation(world);
    return isLookedAt(world) ? looks(world) : at && windowed(world, at.info, at.layer) ? read.readSelectors(world).slice(0, 1) : [];
  },

  mount(element) {
    const p = pan({ role: "img", "aria-label": msg`The batch` }, "batch-pan");
    pans.set(element, p);
    element.append(
      p.element,
      h("div", { class: "batch-line" }, h("b", { title: msg`Which rows count in the loss: filled counts, hatched does not, dots are padding` }, msg`Loss rows`),
        h("div", { class: "seqs", role: "group", "aria-label": msg`Sequence` }), h("span", { class: "note batch-of" }, h("span")), h("span", { class: "sp" }),
        h("span", { class: "mono batch-sum" }, h("span"), h("i", { class: "pv e", title: msg`exact: a mean over the rows that count` }))),
    );
  },

  draw(element, world, context) {
    const p = /** @type {Pan} */ (pans.get(element));
    const all = lines(world);
    const line = /** @type {any} */ (element.lastElementChild);
    sequences(line.children[1], world, context);
    const own = world.opened?.scenario?.training?.batch === "mine";
    const fed = ownInputs(world.moved?.train);
    const source = sourceOf(world);
    text(line.children[2].firstChild, fed || source || (world.moved?.train ? (own ? msg`your own sequences` : msg`drawn for this update`) : ""));
    set(line.children[2], "data-source", !fed && source ? "" : null);
    set(line.children[2], "data-fed", fed ? "" : null);
    set(line.children[2], "title", fed ? fed + ". " + msg`ε is the probability of the gold token; → marks the model’s own, its most probable word there. Labels stay gold.` : source || null);
    const [sum, mark] = line.lastElementChild.children;
    text(sum, world.moved?.train?.rows?.length ? lossSum(world.moved.train) : msg`no batch yet`);
    hide(mark, world.moved?.train?.loss == null);
    set(p.canvas, "aria-label", describe(all));
    set(p.canvas, "title", full(all));
    p.redraw = () => void paint(p, world, all);
    p.canvas.onclick = (event) => clicked(event, p, world, all, context);
    return () => paint(p, world, all);
  },

  table(world) {
    const each = world.moved?.train?.rows ?? [];
    const columns = [msg`sequence`, msg`row`, msg`input`, msg`input from`, msg`label`, msg`corrupted`, msg`may read`, msg`of keys`, msg`is a key`, msg`counts in the loss`, msg`loss (nats)`, msg`gradient norm of the row’s logits`];
    return { columns, rows: each.flatMap((/** @type {any} */ _, /** @type {number} */ i) => lines({ ...world, look: { ...world.look, request: i } }).map((l, t) => [requestName(i), t, l.input, l.gold === null ? msg`gold` : msg`model`, l.label, l.became && fate(l.became), l.open, l.keys, l.valid, l.counts, l.loss, l.gradient])) };
  },
};

/** The values that a full bar stands for: the largest of the rows that count. Pure. @param {Line[]} all */
export function tops(all) {
  const counted = all.filter((l) => l.counts);
  return { loss: most(counted.map((l) => l.loss)), gradient: most(counted.map((l) => l.gradient)) };
}

/** The scale of the bars in words. @param {Line[]} all */
function full(all) {
  const { loss, gradient } = tops(all);
  return loss || gradient ? msg`Bars are linear from 0; a full one is the largest of this sequence: loss ${figure(loss, 2)} nats, ∂L/∂logits ${figure(gradient, 3)}` : null;
}

/** @param {Line[]} all */
function describe(all) {
  if (!all.length) return msg`No batch was drawn yet`;
  return all.map((l, t) => {
    const said = l.counts ? (l.loss === null ? msg`counts` : msg`loss ${figure(l.loss, 2)}`) : msg`does not count`;
    return msg`row ${t} ${l.input}, label ${l.label}, ${said}` + (l.gold === null ? "" : `, ${msg`the model’s own token`}`) + (l.leak ? msg`, sees its own label` : "");
  }).join("; ");
}

/** A button a sequence with the rows of it that count.
 * @param {HTMLElement} element @param {World} world @param {Context} context */
function sequences(element, world, context) {
  const all = world.moved?.train?.rows ?? [];
  const theme = draw.css("--d-fill");
  const now = `${read.request(world)} ${all.length}`;
  if (element.dataset.now !== now) queueMicrotask(() => inSight(element)); // when all is drawn: it asks where things lie
  element.dataset.now = now;
  list(element, all, (_, i) => i, (_, i) => h("button", { type: "button", class: "seq" }, h("span", null, requestName(i)), h("canvas", { "aria-hidden": "true" })), (button, one, i) => {
    const form = forms(one);
    set(button, "aria-pressed", String(i === read.request(world)));
    set(button, "aria-label", msg`${msg`Look at sequence ${requestName(i)}`}: ${counted([...form].filter((f) => f === "c").length, "{0} row counts", "{0} rows count")}`);
    button.onclick = () => context.look({ request: i, lock: null });
    if (button.dataset.form === form + theme) return;
    button.dataset.form = form + theme;
    strip(button.lastElementChild, form);
  });
}

/** The chosen sequence among many. @param {HTMLElement} element */
function inSight(element) {
  const button = /** @type {HTMLElement | null} */ (element.querySelector('[aria-pressed="true"]'));
  if (button && element.scrollWidth > element.clientWidth) element.scrollLeft = button.offsetLeft - element.offsetLeft - (element.clientWidth - button.offsetWidth) / 2;
}

/** @param {MouseEvent} event @param {Pan} p @param {World} world @param {Line[]} all @param {Context} context */
function clicked(event, p, world, all, context) {
  const [width] = draw.boxOf(p.element);
  const { x } = columns(all, width - GUTTER);
  const away = beyond(p, x, read.focus(world).row, width);
  const spot = draw.pointedAt(event).x;
  if ((away > 0 && spot > width - EDGE) || (away < 0 && spot >= GUTTER && spot < GUTTER + EDGE)) {
    p.followed.row = "";
    p.redraw = () => void paint(p, world, all, true);
    return p.redraw();
  }
  const column = spot < GUTTER ? -1 : columnAt(x, spot + p.left - GUTTER);
  const at = read.relation(world);
  if (at && all[column]) context.look({ lock: { row: column, key: at.info.key === at.info.query ? column : 0 } });
}

/** Whether a row is out of sight: -1 to the left, 1 to the right.
 * @param {Pan} p @param {number[]} x @param {number} row @param {number} width */
function beyond(p, x, row, width) {
  if (row < 0 || row + 1 >= x.length) return 0;
  return x[row + 1] - p.left > width - GUTTER + 8 ? 1 : x[row] - p.left < -8 ? -1 : 0;
}

/** The strip begins at row 0 with every batch; a locked row comes into sight, any other waits to be asked for.
 * @param {Pan} p @param {World} world @param {Line[]} all @param {boolean} [bring] bring the looked-at row into sight */
function paint(p, world, all, bring = false) {
  const room = draw.boxOf(p.element)[0] - GUTTER;
  const { x, width: wide } = columns(all, room);
  const { row, locked } = read.focus(world);
  ground(p, GUTTER + wide);
  const to = bring || locked ? row : all.length ? 0 : -1;
  follow(p, "row", `${bring || locked ? `at ${row}` : world.moved?.train?.update} ${read.request(world)}`, to < 0 || to >= all.length ? null : { left: to ? x[Math.max(0, to - 1)] : 0, right: GUTTER + x[Math.min(all.length, to + 2)] });
  const [g, width, height, scrolled] = seen(p);
  const named = rows(world, all[0]?.keys ?? 0);
  const unit = Math.min(20, height / named.reduce((sum, row) => sum + row[3], 0.2));
  const top = tops(all);
  let y = 0;
  const ys = named.map(([letter, role, name, tall]) => {
    gutter(g, letter, role, name, y + (tall * unit) / 2, unit);
    y += tall * unit;
    return y - tall * unit;
  });
  const side = beyond(p, x, row, width);
  g.save();
  g.beginPath();
  g.rect(side < 0 ? GUTTER + EDGE - 4 : GUTTER - 2, 0, side > 0 ? width - GUTTER - EDGE + 2 : width, height);
  g.clip();
  g.translate(GUTTER - scrolled, 0);
  all.forEach((line, t) => {
    if (x[t + 1] > scrolled && x[t] - scrolled < width) column(g, line, x[t], x[t + 1] - x[t] - 4, ys, unit, top, t === row);
  });
  if (isLookedAt(world)) all.forEach((line, t) => line.valid && lookedAt(g, world, t, x[t], ys[7] + 2, x[t + 1] - x[t] - 4, unit * 3.2 - 2));
  g.restore();
  way(g, side, row, width, ys[2] + unit * 1.2);
}

/** @param {CanvasRenderingContext2D} g @param {string} letter @param {string} role @param {string} name @param {number} y @param {number} unit */
function gutter(g, letter, role, name, y, unit) {
  const tagged = letter && unit >= 13; // lower lines have no room for it
  if (tagged) draw.tag(g, letter, role, 0, y);
  draw.label(g, name, tagged ? 22 : 0, y, { size: Math.min(12, Math.max(10.5, unit * 0.72)) });
}

/** @param {CanvasRenderingContext2D} g @param {Line} l @param {number} x @param {number} w @param {number[]} ys @param {number} unit
 * @param {{loss: number, gradient: number}} top @param {boolean} on */
function column(g, l, x, w, ys, unit, top, on) {
  const tall = unit * 1.5 - 3;
  const size = Math.max(11, Math.min(13, tall * 0.56));
  const narrow = w < 40;
  draw.chip(g, x, ys[0], w, tall, narrow ? "" : l.gold === null ? l.input : `→ ${l.input}`, { role: l.gold === null ? "q" : "d", state: l.valid ? "known" : "padded", on, size });
  draw.chip(g, x, ys[1], w, tall, narrow ? "" : l.label, { role: "d", state: l.counts ? "known" : "padded", on: on && l.counts, size });
  bar(g, l.loss, top.loss, x, ys[2], w, unit * 1.2, "d", l.counts);
  bar(g, l.gradient, top.gradient, x, ys[3], w, unit * 1.2, "g", l.counts);
  const reads = l.became !== null ? (l.became ? fate(l.became) : "–") : l.leak ? msg`label!` : l.keys ? String(l.open) : "–";
  if (!narrow) draw.label(g, reads, x + w / 2, ys[4] + unit / 2, { size: 11, mono: true, align: "center", weight: l.leak ? 700 : 480, color: l.leak ? "--d" : "--ink-2" });
  if (ys[6] > ys[5]) form(g, l.valid ? "on" : "padded", x, ys[5], w, unit, "--ink-3");
  form(g, l.counts ? "on" : l.valid ? "off" : "padded", x, ys[6], w, unit, "--d-fill");
}

/** What was done to a word that must be said again. @param {string} became */
const fate = (became) => (became === "mask" ? msg`masked` : became === "random" ? msg`replaced` : msg`kept`);

/** The picture as one word read it. @param {CanvasRenderingContext2D} g @param {World} world @param {number} row @param {number} x @param {number} y @param {number} w @param {number} h */
function lookedAt(g, world, row, x, y, w, h) {
  const [cut, drawn] = [grid(read.rows(world, "s")), picture(world)];
  if (!cut || !drawn.length) return;
  const high = Math.min(h, (w * cut.lines) / cut.columns);
  const wide = (high * cut.columns) / cut.lines;
  look(g, { x: x + (w - wide) / 2, y, w: wide, h: high }, { lines: drawn, cut, shares: shares(world, "batch", row), drawn: place(world, "batch", row), set: false, large: false, pointed: null });
}

/** A number with its bar: beside each other where there is room, else the bar below.
 * @param {CanvasRenderingContext2D} g @param {number | null} value @param {number} top @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {string} role @param {boolean} counts */
function bar(g, value, top, x, y, w, h, role, counts) {
  const beside = w > 84;
  const base = Math.round(y + h - 2) + 0.5;
  g.strokeStyle = draw.css("--line");
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(x, base);
  g.lineTo(x + w, base);
  g.stroke();
  if (value === null) return w < 40 ? undefined : draw.dashed(g, x, Math.round(y + h * 0.3), w * (beside ? 0.3 : 0.55), Math.round(h * 0.4), 2);
  if (Number.isFinite(value) && top > 0 && counts) {
    g.fillStyle = draw.css(`--${role}-fill`);
    const long = Math.max(1, (value / top) * (beside ? w - 44 : w));
    if (beside) g.fillRect(x, y + h * 0.3, long, base - y - h * 0.3);
    else g.fillRect(x, base - 4, long, 4);
  }
  if (w < 40) return;
  draw.label(g, figure(value, role === "g" ? 3 : 2), x + w - 2, y + h / 2 - (beside ? 0 : 1.5), { size: 11, mono: true, weight: 560, align: "right", color: !Number.isFinite(value) ? "--bad" : counts ? `--${role}` : "--ink-3" });
}

/** A mask's value for one row, by form: filled, dots, hatched.
 * @param {CanvasRenderingContext2D} g @param {"on" | "off" | "padded"} state @param {number} x @param {number} y @param {number} w @param {number} h @param {string} color */
function form(g, state, x, y, w, h, color) {
  const size = Math.min(11, h * 0.8);
  const [wide, by] = [Math.min(w, 26), y + h / 2 - size / 2];
  const bx = x + (w - wide) / 2;
  if (state === "padded") draw.dots(g, bx, by, wide, size, draw.css("--ink-3"));
  if (state === "off") draw.hatch(g, bx, by, wide, size, draw.css("--ink-3"), 1, 4);
  g.strokeStyle = draw.css("--line-2");
  g.lineWidth = 1;
  g.fillStyle = draw.css(color);
  draw.roundRect(g, bx + 0.5, by + 0.5, wide - 1, size - 1, 2);
  state === "on" ? g.fill() : g.stroke();
}

/** At the edge: where the looked-at row lies that is out of sight.
 * @param {CanvasRenderingContext2D} g @param {number} side @param {number} row @param {number} width @param {number} y */
function way(g, side, row, width, y) {
  if (!side) return;
  const x = side > 0 ? width - EDGE + 2 : GUTTER;
  g.fillStyle = draw.css("--ink");
  draw.roundRect(g, x, y - 9, EDGE - 4, 18, 4);
  g.fill();
  draw.label(g, side > 0 ? `${row} ›` : `‹ ${row}`, x + (EDGE - 4) / 2, y + 0.5, { size: 11, mono: true, weight: 640, align: "center", color: "--on-ink" });
}
