// @ts-check
/** What the rows of a BatchNorm do to each other: the same change of a call, by the statistics of the call and by the running ones. */

import { h, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as read from "../lib/reads.mjs";
import { figure, number, opName } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

const NAME = "batch_norm";
const NORMS = 4;

/** The measurement of this moment, or null. @param {World} world */
const here = (world) => {
  const found = world.analysis[NAME]?.result;
  return found && found.moment === world.moved?.at ? found : null;
};

/** @param {any} value a difference of logits, or null where there is none to measure */
const difference = (value) => (value === null || value === undefined ? "—" : figure(number(value), 3));

/** What was changed, with the largest difference of a logit by each kind of statistics. Pure. @param {any} found @returns {[string, string, string][]} */
export function changes(found) {
  const names = /** @type {const} */ ({ padding: msg`${found.padding} more rows of padding`, alone: msg`each request alone`, one: msg`one row, another token` });
  return Object.entries(names).map(([key, said]) => [said, difference(found.batch[key]), difference(found.running[key])]);
}

/** @type {import("../lib/types").View} */
export default {
  id: "inspector_batch",
  title: "BatchNorm: rows together",
  slot: "checks",
  phases: ["prefill", "decode"],
  applies: (world) => world.opened?.scenario?.config?.norm_kind === "batch",
  wants: () => [],

  mount(element) {
    element.append(h("div", { class: "insp batch-norm" },
      h("div", { class: "hh" }, h("h2", { class: "h" }, msg`BatchNorm: rows together`), h("span", { class: "note" }), h("span", { class: "sp" }), h("button", { type: "button", class: "btn xs", hidden: true }, msg`measure`)),
      h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`max |Δlogit| ◉`, msg`by the call`, msg`by running`].map((said) => h("th", { scope: "col" }, said)))), h("tbody")),
      h("p", { class: "note" }),
      h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`norm`, msg`|Δ mean|`, msg`deviation: call`, msg`running`].map((said) => h("th", { scope: "col" }, said)))), h("tbody")),
      h("p", { class: "note" })));
  },

  draw(element, world, context) {
    const [head, table, note, moments, last] = /** @type {any} */ (element.firstElementChild).children;
    const found = here(world);
    const small = read.rows(world, "t").length * Math.max(1, read.requestCount(world)) <= 96;
    const doing = measureWhenIdle(world, context, NAME, {}, !found && !!world.moved?.stages?.some((/** @type {any} */ s) => s.ops.length), small);
    const button = head.lastElementChild;
    button.hidden = !!found || doing.running;
    button.onclick = doing.start;
    button.disabled = world.role !== "writer";
    text(head.children[1], found ? (found.uses === "batch" ? msg`this run: by the call` : msg`this run: by running`) : "");
    for (const part of [table, moments]) part.hidden = !found;
    list(table.lastElementChild, found ? changes(found) : [], (l) => l[0], () => h("tr", null, h("td"), h("td", { class: "mono" }), h("td", { class: "mono" })), (tr, l) => l.forEach((said, i) => text(tr.children[i], said)));
    text(note, found ? msg`${found.rows} rows in one mean, ${found.rows - found.real} of them padding. One row alone is its own mean: by the call every token becomes the same, and 0 moves. Running for batch statistics moves a logit by ${difference(found.between)} ◉.` : msg`The same rows with padding behind them, alone, and as one row: how far logits move.`);
    list(moments.lastElementChild, found ? found.norms.slice(0, NORMS) : [], (/** @type {any} */ n) => n.name, () => h("tr", null, h("td"), h("td", { class: "mono" }), h("td", { class: "mono" }), h("td", { class: "mono" })), (tr, n) => {
      [opName(n.name.replace(/\.norm$/, "")), figure(number(n.off), 2), figure(number(n.deviation), 2), figure(number(n.running), 2)].forEach((said, i) => text(tr.children[i], said));
    });
    const untaught = found && found.norms.every((/** @type {any} */ n) => number(n.running) === 1);
    text(last, untaught ? msg`No update has moved the running statistics yet: mean 0, deviation 1. Train, and they follow by a tenth of each batch.` : found ? msg`Running statistics follow by a tenth of each update’s batch.` : "");
    set(last, "hidden", found ? null : "");
  },

  table(world) {
    const found = here(world);
    return { columns: [msg`max |Δlogit| ◉`, msg`by the call`, msg`by running`], rows: found ? changes(found) : [] };
  },
};
