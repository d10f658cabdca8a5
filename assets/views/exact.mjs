// @ts-check
/** The bottleneck beside a prefill or a decode: the same measurement as in training. A fixed context loses with length what a read keeps. */

import { h } from "../lib/dom.mjs";
import { controls, fresh, paint, show, table } from "../lib/inspect/clauses.mjs";
import { msg } from "../lib/language.mjs";

/** @type {WeakMap<HTMLElement, import("../lib/inspect/clauses.mjs").Own>} */
const owns = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "exact",
  title: "Exact match by clauses",
  slot: "checks",
  phases: ["prefill", "decode"],
  applies: (world) => world.opened?.scenario?.task === "translation",
  wants: () => [],

  mount(element) {
    owns.set(element, fresh());
    const again = () => element.dispatchEvent(new Event("box"));
    element.append(h("details", { class: "clauses", ontoggle: again }, h("summary", null, h("h2", { class: "h" }, msg`Exact match by clauses`)),
      h("div", { class: "row" }, controls(again)), h("div", { class: "plot", role: "img" }), h("ul", { class: "legend clauses-legend" }), h("p", { class: "note" })));
  },

  draw(element, world, context) {
    const own = /** @type {import("../lib/inspect/clauses.mjs").Own} */ (owns.get(element));
    const [, bar, plot, legend, said] = /** @type {any} */ (element.firstElementChild).children;
    const [select, button] = bar.children;
    const found = show({ select, button, legend, said, plot }, own, world, context, () => element.dispatchEvent(new Event("box")));
    plot.hidden = legend.hidden = !found;
    return () => found && /** @type {any} */ (element.firstElementChild).open && void paint(plot, found);
  },

  table,
};
