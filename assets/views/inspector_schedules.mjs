// @ts-check
/** A recurrence that can run in two ways: what each gives for the newest row, in how many steps, and how far they are apart. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { shownPath } from "../lib/inspect/inspected.mjs";
import { counted, msg, named } from "../lib/language.mjs";
import { apart, applies, asked, found, measuring, readOf } from "../lib/states/ways.mjs";

/** @type {import("../lib/types").View} */
export default {
  id: "inspector_schedules",
  title: "Two ways",
  slot: "checks",
  phases: ["prefill", "decode"],
  applies,
  wants: () => [],

  mount(element) {
    element.append(h("div", { class: "insp ways-part" },
      h("div", { class: "hh" }, h("h2", { class: "h" }, msg`Two ways`), h("span", { class: "note" })),
      h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`rows run`, msg`steps in a row`, msg`output y`].map((said) => h("th", { scope: "col" }, said)))), h("tbody")),
      h("p", { class: "note" }, h("span"), " ", h("button", { type: "button", class: "link" }, msg`measure`))));
  },

  draw(element, world, context) {
    const [tap, want] = [readOf(world), asked(world)];
    const here = !!tap && (shownPath(world) ?? tap.path).startsWith(tap.path.slice(0, tap.path.lastIndexOf("."))) && world.look.op === null;
    set(element, "data-empty", here ? null : "true");
    const doing = measuring(world, context); // also where the table is not in sight: the kernel draws it
    if (!here) return;
    const [head, table, note] = /** @type {any} */ (element.firstElementChild).children;
    const result = found(world);
    const last = (result?.ways[0].values.length ?? 0) - 1;
    text(head.lastElementChild, result ? msg`row ${last}, channel ${want?.channel ?? 0}` : want ? msg`channel ${want.channel}` : msg`nothing is computed yet`);
    const empty = [0, 1].map(() => ({ schedule: "", steps: 0, values: [] }));
    list(table.lastElementChild, result?.ways ?? empty, (_, i) => i, () => h("tr", null, h("td"), h("td"), h("td")), (tr, w) => {
      [w.schedule ? named(w.schedule) : "–", w.steps ? counted(w.steps, "{0} step", "{0} steps") : "–", w.steps ? digits(w.values[last]) : "–"].forEach((said, i) => text(tr.children[i], said));
    });
    const off = result ? apart(result.ways) : [];
    text(note.firstElementChild, result ? msg`apart there by ${small(off[last])}, in no row by more than ${small(Math.max(...off))} ◉` : doing.running ? msg`measuring` : msg`The same weights and rows in each way, edits left out.`);
    const button = note.lastElementChild;
    hide(button, !!result || doing.running || !want);
    set(button, "disabled", world.role !== "writer");
    button.onclick = doing.start;
  },

  table(world) {
    const ways = found(world)?.ways ?? [];
    return { columns: [msg`row`, ...ways.map((w) => named(w.schedule))], rows: (ways[0]?.values ?? []).map((_, row) => [row, ...ways.map((w) => w.values[row])]) };
  },
};

/** Seven figures: what fp32 holds. @param {number} v */
const digits = (v) => (Number.isFinite(v) ? v.toPrecision(7).replace("-", "−") : "NaN");

/** @param {number} v */
const small = (v) => (v === 0 ? "0" : v.toExponential(0));
