// @ts-check
/** Of the chosen tensor of rows: mean and deviation of each row over its places, and of each place over the rows. */

import * as draw from "../lib/canvas.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import { chosen, shownPath } from "../lib/inspect/inspected.mjs";
import { byPlace, moments, rowsOf } from "../lib/inspect/spreads.mjs";
import { counted, msg } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { figure, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

const NAME = "inspector_spread";
const LINES = 6;

/** The chosen tap, if it is a row of model width for each token. @param {World} world */
function tap(world) {
  const found = shownPath(world) ? chosen(world) : null;
  return found?.type === "hidden" && /^b [ts] d$/.test(found.axes.join(" ")) ? found : null;
}

/** @param {World} world */
function rows(world) {
  const found = tap(world);
  const tokens = found ? read.rows(world, found.axes[1]) : [];
  return rowsOf(world.values(NAME, 0)[0], read.request(world)).map((r) => ({ ...r, token: shown(tokens[r.row]?.token ?? ""), ...moments(r.values) }));
}

/** The last rows, and blank lines where there are fewer: what lies below does not move. @template T @param {T[]} all @returns {(T | null)[]} */
const lines = (all) => Array.from({ length: LINES }, (_, i) => all.slice(-LINES)[i] ?? null);

/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "Mean and deviation",
  slot: "checks",
  phases: ["train", "prefill", "decode"],
  wants: (world) => (tap(world) ? [{ path: tap(world).path, index: { b: read.request(world) }, dtype: "f32" }] : []),

  mount(element) {
    element.append(h("div", { class: "insp spread" },
      h("div", { class: "hh" }, h("h2", { class: "h" }, msg`Mean and deviation`), h("span", { class: "note" })),
      h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`row`, msg`mean`, msg`deviation`].map((said) => h("th", { scope: "col" }, said)))), h("tbody")),
      h("div", { class: "vecs" }, [0, 1].map(() => h("div", { class: "vec" }, h("span"), h("canvas", { role: "img" })))),
      h("p", { class: "note" })));
  },

  draw(element, world) {
    const part = /** @type {any} */ (element.firstElementChild);
    set(element, "data-empty", tap(world) ? null : "true");
    if (!tap(world)) return;
    const [head, table, vecs, note] = part.children;
    const all = rows(world);
    text(head.lastElementChild, counted(all.length, "{0} row", "{0} rows"));
    list(table.lastElementChild, lines(all), (_, i) => i, () => h("tr", null, h("td", { class: "mono" }), h("td", { class: "mono" }), h("td", { class: "mono" })), (tr, r) => {
      const said = r ? [`${r.row} ${r.token}`, figure(r.mean, 3), figure(r.deviation, 3)] : ["\u00a0", "", ""];
      said.forEach((value, i) => text(tr.children[i], value));
    });
    const places = byPlace(all);
    [[msg`mean of a place`, places.mean], [msg`its deviation`, places.deviation]].forEach(([said, values], i) => {
      text(vecs.children[i].firstElementChild, /** @type {string} */ (said));
      set(vecs.children[i].lastElementChild, "aria-label", `${said}: ${figure(Math.min(.../** @type {number[]} */ (values)), 2)} … ${figure(Math.max(.../** @type {number[]} */ (values)), 2)}`);
    });
    text(note, all.length < 2 ? msg`LayerNorm takes a row’s own two numbers. Over one row alone a place has no deviation: BatchNorm would make every row the same.` : msg`LayerNorm takes the two numbers of its row, RMSNorm its length; BatchNorm those of a place over all rows, other requests included.`);
    return () => [places.mean, places.deviation].forEach((values, i) => draw.vector(vecs.children[i].lastElementChild, values, { max: Math.max(1e-9, ...values.map(Math.abs)), diverging: true }));
  },

  table: (world) => ({ columns: [msg`row`, msg`token`, msg`mean`, msg`deviation`], rows: rows(world).map((r) => [r.row, r.token, r.mean, r.deviation]) }),
};
