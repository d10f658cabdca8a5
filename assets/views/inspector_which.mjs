// @ts-check
/** Which row decides in each request of a prefill: the last valid one, wherever the last slot is. */

import { h, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { requestName, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

/** One line for each request. Pure.
 * @param {World} world @returns {{request: number, length: number, row: number | null, token: string, slot: number, last: string, padded: boolean}[]} */
export function deciding(world) {
  return (world.moved?.requests ?? []).map((/** @type {any} */ r, /** @type {number} */ request) => {
    const length = r.target.filter((/** @type {any} */ row) => row.state !== "padded").length;
    const last = r.target.at(-1);
    return { request, length, row: length - 1, token: shown(r.target[length - 1]?.token ?? ""), slot: r.target.length - 1, last: shown(last?.token ?? ""), padded: last?.state === "padded" };
  });
}

/** @type {import("../lib/types").View} */
export default {
  id: "inspector_which",
  title: "Which row decides",
  slot: "inspector",
  phases: ["prefill"],
  wants: () => [],

  mount(element, context) {
    element.append(h("div", { class: "insp" },
      h("div", { class: "hh" }, h("h2", { class: "h" }, msg`Which row decides`), h("span", { class: "note" }, msg`row = length − 1`)),
      h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`request`, msg`length`, msg`row`, msg`last slot`].map((said) => h("th", { scope: "col" }, said)))), h("tbody"))));
    const body = /** @type {any} */ (element.querySelector("tbody"));
    body.onclick = (/** @type {any} */ event) => {
      const at = event.target.closest("button")?.dataset.request;
      if (at !== undefined) context.look({ request: Number(at) });
    };
  },

  draw(element, world) {
    const lines = deciding(world);
    set(element, "data-empty", lines.length > 1 ? null : "true");
    const at = read.request(world);
    list(/** @type {any} */ (element.querySelector("tbody")), lines, (l) => l.request, (l) => h("tr", null, h("td", null, h("button", { type: "button", class: "plain", "data-request": l.request })), h("td"), h("td", { class: "c-d" }), h("td")), (tr, l) => {
      set(tr, "class", l.request === at ? "sel" : null);
      text(tr.children[0].firstElementChild, requestName(l.request));
      set(tr.children[0].firstElementChild, "aria-pressed", String(l.request === at));
      [String(l.length), `${l.row} ${l.token}`, `${l.slot} ${l.last}`].forEach((said, i) => text(tr.children[i + 1], said));
      set(tr.children[3], "class", l.padded ? "dim" : null);
    });
  },

  table: (world) => ({ columns: [msg`request`, msg`length`, msg`row`, msg`token`, msg`last slot`, msg`its token`, msg`padding`], rows: deciding(world).map((l) => [l.request, l.length, l.row, l.token, l.slot, l.last, l.padded]) }),
};
