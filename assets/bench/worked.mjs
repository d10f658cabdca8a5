// @ts-check
/** Everything that the source texts print, beside what the server's own code computes of the same. Those that are reads open on the bench; words are drawn. */

import { h } from "../lib/dom.mjs";
import { msg, named } from "../lib/language.mjs";
import { figure, percent } from "../lib/words.mjs";
import { drawWords } from "./drawings.mjs";

/** @typedef {import("./read.mjs").Bench} Bench @typedef {import("./drawings.mjs").Words} Words */
/** @typedef {{what: string, printed: any, ours: any, difference: number, agrees: boolean}} Line @typedef {{name: string, lines: Line[], agrees: boolean, picture?: Words}} Entry */

/** Which example of the bench an entry is. @type {Record<string, string>} */
const READS = { dot_read: "dot_read", qkv_read: "qkv_read", weighted_read_supplied_weights: "weighted_read_0" };

/** A number, a row of them, a matrix row by row. Pure. @param {any} value @returns {string} */
export const written = (value) => (Array.isArray(value) ? (Array.isArray(value[0]) ? value.map(written).join("  |  ") : value.map(written).join(" ")) : typeof value === "string" ? value : Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(7))));

/** A printed mask as a read of equal scores: of the row that hides most and still reads two keys. Pure.
 * @param {number[][]} mask @returns {Bench} */
export function maskedRead(mask) {
  const seen = mask.map((row) => row.filter(Boolean).length);
  const row = seen.indexOf(Math.min(...seen.filter((n) => n > 1)));
  const n = mask[0].length, zero = Array.from({ length: n }, () => [0]);
  return { kind: "kv", mode: "supplied", names: zero.map((_, j) => msg`row ${j}`), q: [0], K: zero, V: zero.map((_, j) => [j]), typed: zero.map(() => 0), hidden: mask[row].map((x) => !x), g: [1] };
}

/** @param {(read: string | Bench) => void} open the example of this name, or this read @param {string} [name] the entry to begin at */
export async function workedNumbers(open, name = "") {
  const dialog = h("dialog", { class: "keys worked", "aria-labelledby": "worked-title" });
  const close = h("button", { class: "btn sm", type: "button", onclick: () => dialog.close() }, msg`Close`);
  const place = h("div", { class: "worked-list" }, h("p", { class: "note" }, msg`being computed`));
  dialog.append(h("div", { class: "hh" }, h("h2", { class: "h", id: "worked-title" }, msg`Worked numbers`), close), h("p", { class: "note" }, msg`Printed in the texts, and computed here by the code that the stage runs.`), place);
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
  try {
    const answer = await fetch("api/worked");
    const found = /** @type {Entry[]} */ (await answer.json());
    place.replaceChildren(...found.map((entry) => {
      const read = entry.picture?.bench ?? READS[entry.name];
      const opens = (/** @type {string | Bench} */ which) => () => { dialog.close(); open(which); };
      return section(entry, read ? opens(read) : null, entry.name === "masks" ? (l) => opens(maskedRead(l.printed)) : null);
    }));
    place.querySelector(`[data-name="${name}"]`)?.scrollIntoView();
    const draw = () => found.forEach((entry, i) => entry.picture && drawWords(/** @type {any} */ (place.children[i].querySelector("canvas")), entry.picture));
    place.addEventListener("box", draw);
    draw();
  } catch {
    place.replaceChildren(h("p", { class: "note" }, msg`The server was not reached. Close this and try again.`));
  }
}

/** @param {Words} picture */
function drawing({ top, bottom, links, row }) {
  const said = links.map(([i, j, weight]) => `${top[i]} → ${bottom[j]}${weight === 1 ? "" : ` ${percent(weight)}`}`).join(", ");
  const note = row ? h("p", { class: "note" }, msg`As thick as they weigh: the last cross-attention of the shipped encoder-decoder, heads averaged. On the bench: the row that predicts ${row}, head 0.`) : null;
  return [h("canvas", { role: "img", "aria-label": said }), note];
}

/** @param {Entry} entry @param {(() => void) | null} opens @param {((line: Line) => () => void) | null} each opens one line */
function section(entry, opens, each) {
  const head = h("div", { class: "hh" }, h("h3", { class: "h3 mono" }, `${entry.agrees ? "✓" : "×"} ${entry.name.replaceAll("_", " ")}`), opens ? h("button", { class: "link small", type: "button", onclick: opens }, msg`Open on the bench`) : null);
  const cells = (/** @type {any[]} */ l, tag = "td") => l.map((x) => h(tag, { title: typeof x === "object" ? null : String(x) }, x));
  const what = (/** @type {Line} */ l) => (each ? h("button", { class: "link small", type: "button", title: msg`Open on the bench`, onclick: each(l) }, named(l.what)) : named(l.what));
  const rows = entry.lines.map((l) => h("tr", null, ...cells([what(l), written(l.printed), written(l.ours), `${figure(l.difference, 1)}${l.agrees ? "" : " ×"}`])));
  return h("section", { "data-name": entry.name }, head, entry.picture ? drawing(entry.picture) : null, h("table", { class: "arith" }, h("thead", null, h("tr", null, ...cells(["", msg`printed`, msg`ours`, "|Δ|"], "th"))), h("tbody", null, rows)));
}
