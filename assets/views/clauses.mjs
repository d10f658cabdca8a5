// @ts-check
/** The bottleneck: exact match against the number of clauses, of the run's own model and of every family with shipped weights.
 * Measured when asked for. In training it takes the place of the curves. */

import { h } from "../lib/dom.mjs";
import { controls, fresh, paint, show, table } from "../lib/inspect/clauses.mjs";
import { msg } from "../lib/language.mjs";

/** @type {WeakMap<HTMLElement, import("../lib/inspect/clauses.mjs").Own>} */
const owns = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "clauses",
  title: "Exact match by clauses",
  slot: "charts",
  phases: ["train"],
  applies: (world) => world.look.chart === "clauses" && world.opened?.scenario?.task === "translation",
  wants: () => [],

  mount(element, context) {
    owns.set(element, fresh());
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h" }, msg`Exact match by clauses`), h("span", { class: "sp" }), controls(() => element.dispatchEvent(new Event("box"))),
        h("button", { class: "link", type: "button", onclick: () => context.look({ chart: "curves" }) }, msg`Loss`)),
      h("div", { class: "clauses-body" }, h("div", { class: "plot", role: "img" }), h("ul", { class: "legend clauses-legend" })),
      h("p", { class: "note clauses-said" }),
    );
  },

  draw(element, world, context) {
    const own = /** @type {import("../lib/inspect/clauses.mjs").Own} */ (owns.get(element));
    const [head, body, said] = /** @type {any} */ (element.children);
    const [plot, legend] = body.children;
    const [, , select, button] = head.children;
    const found = show({ select, button, legend, said, plot }, own, world, context, () => element.dispatchEvent(new Event("box")));
    void paint(plot, found);
  },

  table,
};
