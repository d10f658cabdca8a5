// @ts-check
/** What the model keeps between calls, counted from its own tensors: rows that stay, rows that grow, bytes now and per further row. */

import * as draw from "../lib/canvas.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import * as read from "../lib/reads.mjs";
import { bytes, leaf, plural, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */
/** @typedef {{id: string, owner: "s" | "t" | "", grows: boolean, roles: string[], tensors: number, bytes: number, perRow: number, rows: number}} Bank */

/** Tensors that are kept, in banks: one bank for what belongs to the same rows and grows alike.
 * @param {any[]} kept @returns {Bank[]} */
export function banks(kept) {
  /** @type {Map<string, Bank>} */
  const found = new Map();
  for (const k of kept) {
    const axes = (Array.isArray(k.axes) ? k.axes : k.axes.split(" ")).map((/** @type {string} */ a) => a.replace("'", ""));
    const owner = axes.includes("s") ? "s" : axes.includes("t") ? "t" : "";
    const id = `${owner}${k.grows ? "+" : ""}`;
    /** @type {Bank} */
    const bank = found.get(id) ?? { id, owner, grows: k.grows, roles: [], tensors: 0, bytes: 0, perRow: 0, rows: owner ? k.shape[axes.indexOf(owner)] : 0 };
    const role = /^(k|key|keys)$/.test(leaf(k.path)) ? "k" : /^(v|value|values)$/.test(leaf(k.path)) ? "v" : "p";
    if (!bank.roles.includes(role)) bank.roles.push(role);
    bank.tensors += 1;
    bank.bytes += k.bytes;
    bank.perRow += k.bytes_per_row ?? 0;
    found.set(id, bank);
  }
  return [...found.values()];
}

/** Bytes now, what one further row costs, and how many rows of what grows there are.
 * @param {Bank[]} all */
export const total = (all) => ({
  now: all.reduce((a, b) => a + b.bytes, 0),
  perRow: all.reduce((a, b) => a + (b.grows ? b.perRow : 0), 0),
  rows: Math.max(...all.map((b) => (b.grows ? b.rows : 0)), 0),
});

/** @param {Bank} bank */
const bankName = (bank) => (bank.owner === "s" ? "Source rows" : bank.owner === "t" ? "Target rows" : "State");

/** @param {Bank} bank */
export function bankNote(bank) {
  const what = bytes(bank.bytes);
  return bank.grows ? `${what}, +${bytes(bank.perRow)}/row` : `${what}, fixed`;
}

/** @type {import("../lib/types").View} */
export default {
  id: "memory",
  title: "What it keeps",
  slot: "memory",
  phases: ["prefill", "decode"],
  wants: () => [],

  mount(element) {
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h" }, "What it keeps"), h("span", { class: "sub" }, "dashed rows are not written yet"), h("span", { class: "sp" }),
        h("span", { class: "note" }, h("span", { class: "mono" }), h("i", { class: "pv e", title: "exact: counted from the tensors" }), " now, ",
          h("span", { class: "mono" }), h("i", { class: "pv f", title: "formula: bytes of one row" }), " a further row")),
      h("div", { class: "banks" }),
    );
  },

  draw(element, world) {
    const all = banks(world.moved?.kept ?? []);
    const sum = total(all);
    const note = element.children[0].children[3];
    text(/** @type {any} */ (note.children[0]), all.length ? bytes(sum.now) : "nothing");
    text(/** @type {any} */ (note.children[2]), `+${bytes(sum.perRow)}`);
    /** @type {any[]} */
    const items = [...all, ...(all.length ? [{ id: "line", ...sum }] : [])];
    const place = /** @type {any} */ (element.children[1]);
    list(place, items, (b) => b.id, bankElement);
    const pictures = items.map((b, i) => (b.id === "line" ? line(place.children[i], b) : paint(place.children[i], world, b)));
    return () => pictures.forEach((picture) => picture());
  },
};

/** @param {any} bank @returns {HTMLElement} */
function bankElement(bank) {
  if (bank.id === "line") {
    return h("figure", { class: "bank line" }, h("figcaption", null, h("b", null, "Bytes by row"), h("span", { class: "sub" })), h("canvas", { role: "img" }));
  }
  return h("figure", { class: "bank" }, h("figcaption", null, bank.roles.map((/** @type {string} */ r) => h("i", { class: `tag ${r}` }, r === "p" ? "M" : r.toUpperCase())),
    h("b"), h("span", { class: "sub" })), h("canvas", { role: "img" }));
}

/** @param {any} element @param {World} world @param {Bank} bank */
function paint(element, world, bank) {
  const caption = element.firstElementChild;
  text(caption.querySelector("b"), bankName(bank));
  text(caption.lastElementChild, bankNote(bank));
  set(caption, "title", `${plural(bank.tensors, "tensor")}, ${bankNote(bank)}`);
  const rows = bank.owner ? read.rows(world, bank.owner) : [];
  const kept = rows.filter((r) => read.known(r)).length;
  const canvas = element.lastElementChild;
  set(canvas, "aria-label", `${bankName(bank)}: ${bank.owner ? `${plural(kept, "row")} kept, ` : ""}${plural(bank.tensors, "tensor")}, ${bankNote(bank)}`);
  return () => {
    const [g, width, height] = draw.fit(canvas);
    const reserve = bank.grows ? 2 : 0;
    const places = bank.owner ? Math.max(rows.length, kept + reserve) : 1;
    const step = Math.max(5, Math.min(45, width / places));
    const first = Math.max(0, kept + reserve - Math.floor(width / step));
    for (let i = first; i < places; i++) slot(g, (i - first) * step, step - (step > 12 ? 3 : 1), height, bank, rows[i] ?? null);
  };
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} w @param {number} height @param {Bank} bank @param {read.Row | null} row */
function slot(g, x, w, height, bank, row) {
  const named = w >= 26;
  const each = (height - (named ? 18 : 2)) / bank.roles.length;
  const state = bank.owner ? (row?.state ?? "unknown") : "known";
  bank.roles.forEach((role, i) => {
    const y = 1 + i * each;
    if (state === "unknown") return draw.dashed(g, x, y, w, each - 1, 2);
    if (state === "padded") return draw.dots(g, x, y, w, each - 1, draw.css("--ink-3"));
    g.fillStyle = draw.css(`--${role}-fill`);
    draw.roundRect(g, x, y, w, each - 1, 2);
    g.fill();
  });
  if (state === "new") {
    g.strokeStyle = draw.css("--ink");
    g.lineWidth = 1.5;
    draw.roundRect(g, x + 0.5, 1, w - 1, each * bank.roles.length - 1, 2);
    g.stroke();
  }
  if (!named) return;
  draw.font(g, state === "new" ? 700 : 500, 10.5, true);
  const name = row && state !== "unknown" ? shown(row.token) : "·";
  draw.label(g, draw.clip(g, name, w), x + w / 2, height - 7, { weight: state === "new" ? 700 : 500, size: 10.5, mono: true, align: "center", color: state === "new" ? "--ink" : "--ink-2" });
}

/** Bytes over rows: what is kept now is a point; the line through it is its formula.
 * @param {any} element @param {{now: number, perRow: number, rows: number}} sum */
function line(element, sum) {
  const { rows } = sum;
  const limit = rows + 8;
  const at = (/** @type {number} */ n) => sum.now + (n - rows) * sum.perRow;
  text(element.firstElementChild.lastElementChild, !sum.perRow ? "it does not grow" : rows ? `${bytes(Math.max(0, at(limit)))} at row ${limit}` : "after the first read");
  const canvas = element.lastElementChild;
  if (sum.perRow && !rows) {
    set(canvas, "aria-label", "Bytes by row: known after the first read");
    return () => void draw.fit(canvas);
  }
  set(canvas, "aria-label", `${bytes(sum.now)} at ${plural(rows, "row")}; ${sum.perRow ? `${bytes(sum.perRow)} for each further row` : "no further row makes it larger"}`);
  return () => {
    const [g, width, height] = draw.fit(canvas);
    const x = (/** @type {number} */ n) => 6 + (Math.max(0, n - 1) / (limit - 1)) * (width - 14);
    const y = (/** @type {number} */ v) => height - 8 - (Math.max(0, v) / Math.max(1, at(limit))) * (height - 18);
    g.lineWidth = 2;
    g.strokeStyle = draw.css("--k-fill");
    for (const [from, to, dash] of /** @type {[number, number, number[]][]} */ ([[1, rows, []], [rows, limit, [3, 3]]])) {
      g.setLineDash(dash);
      g.beginPath();
      g.moveTo(x(from), y(at(from)));
      g.lineTo(x(to), y(at(to)));
      g.stroke();
    }
    g.setLineDash([]);
    g.fillStyle = draw.css("--ink");
    g.beginPath();
    g.arc(x(rows), y(sum.now), 4, 0, 7);
    g.fill();
  };
}
