// @ts-check
/** What the model keeps between calls, row by row and layer over layer: what stays, what grows, bytes now and with each further row. */

import { writes } from "../lib/answers.mjs";
import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { banks, cacheBeside, fixedState, held, shelves, total, work } from "../lib/states/kept.mjs";
import { counted, msg } from "../lib/language.mjs";
import { reserve } from "../lib/map/maps.mjs";
import * as read from "../lib/reads.mjs";
import { bytes, opName, severalStacks, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/states/kept.mjs").Shelf} Shelf @typedef {import("../lib/states/kept.mjs").Line} Line */

/** @type {import("../lib/types").View} */
export default {
  id: "memory",
  title: "What it keeps",
  slot: "memory",
  phases: ["train", "prefill", "decode"],
  wants: () => [],

  mount(element) {
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h" }, msg`What it keeps`), h("span", { class: "sub" }), h("span", { class: "sp" }),
        h("p", { class: "note kept-cost" }, h("span", { class: "mono" }), h("i", { class: "pv e", title: msg`exact: counted from the tensors` }), h("span"),
          h("b", { class: "mono" }), h("i", { class: "pv f", title: msg`formula: the bytes of one row in every layer` }), h("span"))),
      h("div", { class: "banks" }),
    );
  },

  draw(element, world) {
    if (read.phase(world) === "train") return update(element, world);
    const all = banks(world.moved?.kept ?? []);
    const sum = total(all);
    const shown = shelves(world);
    head(/** @type {any} */ (element.firstElementChild), world, sum, shown);
    /** @type {any[]} */
    const items = [...shown.map((s) => ({ ...s, key: `${s.request} ${s.id} ${roles(s).join("")}` })), ...(all.length ? [{ key: read.phase(world) === "prefill" ? "work" : "line" }] : [])];
    const place = /** @type {any} */ (element.children[1]);
    list(place, items, (item) => item.key, figureElement);
    const pictures = items.map((item, i) => (item.key === "line" ? line(place.children[i], world, sum) : item.key === "work" ? passWork(place.children[i], world) : bank(place.children[i], world, item)));
    return () => pictures.forEach((picture) => picture());
  },

  table: (world) => read.phase(world) === "train" ? { columns: [msg`operation`, msg`bytes held for the backward pass`], rows: held(world).map((h) => [h.op, h.bytes]) } : ({
    columns: [msg`tensor`, msg`axes`, msg`shape`, msg`bytes`, msg`grows`, msg`bytes of a further row`],
    rows: (world.moved?.kept ?? []).map((/** @type {any} */ k) => [k.path, k.axes.join(" "), k.shape.join(" × "), k.bytes, k.grows, k.bytes_per_row]),
  }),
};

/** @param {any} element @param {World} world @param {{now: number, perRow: number}} sum @param {Shelf[]} all */
function head(element, world, sum, all) {
  const [, sub, , note] = element.children;
  const requests = read.presentCount(world);
  text(sub, sorts(world, all));
  text(note.children[0], bytes(sum.now));
  text(note.children[2], msg` now; `);
  text(note.children[3], `+${bytes(sum.perRow)}`);
  text(note.children[5], requests > 1 ? msg` with one more token of each of ${requests} requests` : msg` with one more token`);
  hide(note, !all.length);
}

/** What is kept, in words. Pure. @param {World} world @param {Shelf[]} all */
export function sorts(world, all) {
  if (!all.length) return writes(world) ? msg`nothing yet` : msg`nothing: the whole input is read in one call`;
  if (all.every((s) => !s.owner)) return msg`overwritten in place at every step`;
  if (!all.some((s) => s.grows || s.due)) return msg`the source stays; the rest is overwritten at every step`;
  return all.some((s) => layered(s).length > 1) ? msg`layer over layer; dashed rows are not written yet` : msg`dashed rows are not written yet`;
}

/** In training: what an update holds for its backward pass, by operation.
 * @param {HTMLElement} element @param {World} world */
function update(element, world) {
  const all = held(world);
  const sum = all.reduce((n, op) => n + op.bytes, 0);
  const [, sub, , note] = /** @type {any} */ (element.firstElementChild).children;
  text(sub, sum ? msg`${bytes(sum)} of recorded values, held until the backward pass has used them` : msg`nothing yet`);
  hide(note, true);
  list(/** @type {any} */ (element.children[1]), all.filter((op) => op.bytes).map((op) => ({ ...op, key: op.op })), (op) => op.key, () => h("p", { class: "held" }, h("span"), h("i"), h("span", { class: "mono" })), (line, op) => {
    text(line.children[0], opName(op.op, severalStacks(all.map((o) => o.op))));
    line.children[1].style.setProperty("--part", String(op.bytes / Math.max(...all.map((o) => o.bytes))));
    text(line.children[2], bytes(op.bytes));
  });
}

/** What is kept of a row: keys, values, or a memory of another kind. @param {Shelf} s */
const roles = (s) => [...new Set(s.lines.map((l) => l.role))];

/** @param {any} item @returns {HTMLElement} */
function figureElement(item) {
  const canvas = h("canvas", { role: "img" });
  if (item.key === "line") return h("figure", { class: "bank line" }, h("figcaption", null, h("b", null, msg`Bytes by step`), h("span", { class: "sub" }), h("i", { class: "pv f" })), canvas);
  if (item.key === "work") return h("figure", { class: "bank line" }, h("figcaption", null, h("b", null, msg`Work in this pass`)), canvas);
  return h("figure", { class: "bank" }, h("figcaption", null, roles(item).map((r) => h("i", { class: `tag ${r}` }, String(r).toUpperCase())), h("b"), h("span", { class: "sub" })), canvas);
}

const LINES = 6; // that a cell can show one over the other

/** The lines of a bank's cells: every layer's where they fit, else what all layers keep together.
 * @param {Shelf} s @returns {Line[][]} in groups, one a layer */
function layered(s) {
  const groups = [...new Set(s.lines.map((l) => l.layer))].map((layer) => s.lines.filter((l) => l.layer === layer));
  if (s.lines.length <= LINES) return groups;
  return [["m", "k", "v"].flatMap((role) => s.lines.find((l) => l.role === role) ?? [])];
}

/** @param {any} element @param {World} world @param {Shelf} s */
function bank(element, world, s) {
  const caption = element.firstElementChild;
  text(caption.querySelector("b"), s.title);
  text(caption.lastElementChild, s.note);
  const kept = s.due ? 0 : s.places.filter(read.known).length;
  const held = s.owner ? counted(kept, "{0} row kept", "{0} rows kept") : counted(s.lines.length, "{0} tensor", "{0} tensors");
  set(caption, "title", msg`${s.title}: ${s.note}`);
  set(element.lastElementChild, "aria-label", msg`${s.title}: ${held}, ${s.note}`);
  return () => {
    const [g, width, height] = draw.fit(element.lastElementChild);
    if (!s.owner) return state(g, s, width, height);
    const groups = layered(s);
    const step = Math.min(45, width / s.reserved);
    const named = step >= 19;
    for (let i = 0; i < s.reserved; i++) cell(g, world, s, groups, i, step, height - (named ? 16 : 14));
    if (named) for (let i = 0; i < s.reserved; i++) name(g, s.places[i], i * step, step - 3, height - 6);
    else ends(g, s, step, height - 6);
  };
}

/** One row's place: the lines of each layer, filled where they are written.
 * @param {CanvasRenderingContext2D} g @param {World} world @param {Shelf} s @param {Line[][]} groups @param {number} i @param {number} step @param {number} height */
function cell(g, world, s, groups, i, step, height) {
  const row = s.places[i];
  const gap = step > 12 ? 3 : step > 4 ? 1 : 0;
  const [x, w, r] = [i * step, Math.max(0.5, step - gap), step > 8 ? 2 : 0];
  const between = groups.length > 1 ? 2 : 0;
  const each = (height - 2 - between * (groups.length - 1)) / groups.reduce((n, lines) => n + lines.length, 0);
  let y = 1;
  for (const lines of groups) {
    const tall = each * lines.length;
    if (row && !s.due && (row.state === "padded" || written(world, row, lines[0]))) lines.forEach((l, n) => place(g, row, l, [x, y + n * each, w, each - (each > 6 ? 1 : 0.5)], r));
    else if (w > 5) draw.dashed(g, x, y, w, tall - 0.5, r);
    const now = world.look.op === lines[0].path;
    if (row?.state === "new" && step > 5 && (now || read.phase(world) === "decode") && written(world, row, lines[0])) edge(g, x, y, w, tall, r, now);
    y += tall + between;
  }
}

/** Whether the op cursor has passed what writes this line.
 * @param {World} world @param {read.Row} row @param {Line} l */
const written = (world, row, l) => read.known(row) && !(row.state === "new" && read.before(world, l.path));

/** @param {CanvasRenderingContext2D} g @param {read.Row} row @param {Line} l @param {[number, number, number, number]} box @param {number} r */
function place(g, row, l, [x, y, w, h], r) {
  if (row.state === "padded") return draw.dots(g, x, y, w, h, draw.css("--ink-3"));
  g.fillStyle = draw.css(l.role === "m" ? "--line-2" : `--${l.role}-fill`);
  if (!r) return g.fillRect(x, y, w, h);
  draw.roundRect(g, x, y, w, h, r);
  g.fill();
}

/** Written in this call: an edge in ink, a heavy one where the op cursor stands.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r @param {boolean} now */
function edge(g, x, y, w, h, r, now) {
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = now ? 2.4 : 1.4;
  draw.roundRect(g, x + 0.5, y, w - 1, h - 0.5, r);
  g.stroke();
}

/** @param {CanvasRenderingContext2D} g @param {read.Row | undefined} row @param {number} x @param {number} w @param {number} y */
function name(g, row, x, w, y) {
  const fresh = row?.state === "new";
  draw.font(g, fresh ? 700 : 500, 10.5, true);
  const said = row && read.known(row) ? shown(row.token) : row?.state === "padded" ? "<pad>" : "·";
  const cut = draw.clip(g, said, w + 2);
  if (cut !== said) draw.noteCut(g, said, x, y - 8, w, 16);
  draw.label(g, cut, x + w / 2, y, { weight: fresh ? 700 : 500, size: 10.5, mono: true, align: "center", color: fresh ? "--ink" : row?.state === "padded" ? "--ink-3" : "--ink-2" });
}

/** Of a long cache the numbers of its first and newest row.
 * @param {CanvasRenderingContext2D} g @param {Shelf} s @param {number} step @param {number} y */
function ends(g, s, step, y) {
  const last = read.lastKnown(s.places);
  draw.label(g, msg`row 0`, 0, y, { size: 10.5, mono: true, color: "--ink-3" });
  if (last * step > 60) draw.label(g, String(last), (last + 1) * step, y, { size: 10.5, mono: true, weight: 640, align: "right", color: "--ink" });
}

/** What belongs to no row: one box for each tensor, of fixed size.
 * @param {CanvasRenderingContext2D} g @param {Shelf} s @param {number} width @param {number} height */
function state(g, s, width, height) {
  const w = Math.min(64, width / s.lines.length);
  s.lines.forEach((l, i) => {
    g.fillStyle = draw.css(l.role === "m" ? "--line-2" : `--${l.role}-fill`);
    draw.roundRect(g, i * w, 1, w - 4, height - 18, 3);
    g.fill();
    draw.font(g, 500, 10.5, true);
    const layer = l.layer < 0 ? (/\d+$/.exec(l.path)?.[0] ?? "") : `L${l.layer + 1}`;
    const said = w < 48 && layer ? layer : `${l.layer < 0 ? "" : layer} ${l.name}`.trim();
    draw.label(g, draw.clip(g, said, w - 2), i * w + (w - 4) / 2, height - 6, { size: 10.5, mono: true, align: "center" });
  });
}

/** Bytes over steps: what is kept now is a point on its formula; dotted, a recurrent state that never grows.
 * @param {any} element @param {World} world @param {{now: number, perRow: number, rows: number}} sum */
function line(element, world, sum) {
  const fixed = fixedState(world);
  const rows = sum.perRow ? sum.rows : read.lastKnown(read.rows(world, "t")) + 1;
  const limit = reserve(rows + 4, 12);
  const at = (/** @type {number} */ n) => Math.max(0, sum.now + (n - rows) * sum.perRow);
  text(element.firstElementChild.children[1], !sum.perRow ? msg`it does not grow` : msg`${bytes(at(limit))} at row ${limit - 1}`);
  hide(element.firstElementChild.lastElementChild, !sum.perRow);
  const canvas = element.lastElementChild;
  const cache = cacheBeside(world);
  const beside = fixed ? msg`a state of ${fixed.layers} × ${fixed.width} floats would stay at ${bytes(fixed.bytes)}` : cache ? msg`a cache of ${cache.layers} × ${cache.width} keys and values would grow by ${bytes(cache.perRow)} a row` : "";
  set(canvas, "aria-label", msg`${bytes(sum.now)} now, ${bytes(sum.perRow)} more with each step; ${beside}`);
  set(element, "title", fixed ? msg`Dotted: a recurrent state of fixed size, ${fixed.layers} layers × ${fixed.width} floats × 4 bytes = ${bytes(fixed.bytes)} (a formula)` : cache ? msg`Dotted: keys and values of as many layers, 2 × ${cache.layers} layers × ${cache.width} floats × 4 bytes a row = ${bytes(cache.perRow)} (a formula)` : null);
  return () => {
    const [g, width, height] = draw.fit(canvas);
    const right = Math.min(cache ? 132 : 118, width * 0.5);
    const x = (/** @type {number} */ n) => 4 + (n / limit) * (width - right - 8);
    const y = (/** @type {number} */ v) => height - 6 - (v / Math.max(1, at(limit), fixed?.bytes ?? 0, (cache?.perRow ?? 0) * limit)) * (height - 14);
    const [color, name] = sum.perRow ? ["--k-fill", "--k"] : ["--ink-2", "--ink"]; // a state of fixed size is no cache of keys
    stroke(g, color, [], [x(0), y(at(0)), x(rows), y(sum.now)]);
    stroke(g, color, [3, 3], [x(rows), y(sum.now), x(limit), y(at(limit))]);
    g.fillStyle = draw.css("--ink");
    g.beginPath();
    g.arc(x(rows), y(sum.now), 4, 0, 7);
    g.fill();
    draw.label(g, msg`this model`, x(limit) + 6, Math.max(6, y(at(limit))), { size: 11, weight: 560, color: name });
    if (cache) {
      stroke(g, "--k-fill", [1.5, 3], [x(0), y(0), x(limit), y(cache.perRow * limit)]);
      const apart = Math.abs(y(cache.perRow * limit) - y(at(limit))) > 12;
      draw.label(g, msg`a KV cache, +${bytes(cache.perRow)} ƒ`, x(limit) + 6, apart ? Math.max(6, y(cache.perRow * limit)) : y(at(limit)) + (y(at(limit)) > height / 2 ? -13 : 13), { size: 11, color: "--k" });
    }
    if (!fixed) return;
    stroke(g, "--ink-3", [1.5, 3], [x(0), y(fixed.bytes), x(limit), y(fixed.bytes)]);
    draw.label(g, msg`fixed state ${bytes(fixed.bytes)} ƒ`, x(limit) + 6, y(fixed.bytes), { size: 11, color: "--ink-3" });
  };
}

/** @param {CanvasRenderingContext2D} g @param {string} color @param {number[]} dash @param {number[]} ends */
function stroke(g, color, dash, [x0, y0, x1, y1]) {
  g.strokeStyle = draw.css(color);
  g.lineWidth = 2;
  g.setLineDash(dash);
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
  g.setLineDash([]);
}

/** Prefill: the slots that ran, those that are real rows, and those that decide.
 * @param {any} element @param {World} world */
function passWork(element, world) {
  const { run, used, decide } = work(world);
  const lines = /** @type {[string, number, string][]} */ ([[msg`rows run`, run, "--ink-3"], [msg`rows used`, used, "--ink-3"], [msg`decide`, decide, "--d-fill"]]);
  set(element.lastElementChild, "aria-label", lines.map(([said, n]) => `${said} ${n}`).join(", "));
  return () => {
    const [g, width, height] = draw.fit(element.lastElementChild);
    const each = height / 3;
    lines.forEach(([said, n, color], i) => {
      const y = (i + 0.5) * each;
      const room = width - 66 - 30;
      draw.label(g, said, 0, y, { size: 11.5 });
      draw.dashed(g, 66, y - 5, room, 10, 2);
      g.fillStyle = draw.css(color);
      if (n) draw.roundRect(g, 66, y - 5, Math.max(3, (room * n) / Math.max(1, run)), 10, 2);
      if (n) g.fill();
      draw.label(g, String(n), width, y, { size: 11.5, mono: true, weight: 600, align: "right", color: i === 2 ? "--d" : "--ink" });
    });
  };
}
