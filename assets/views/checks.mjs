// @ts-check
/** What this recording satisfies, or not: claim, outcome, the measured figure and where it comes from. */

import { h, list, set, text } from "../lib/dom.mjs";
import * as read from "../lib/reads.mjs";
import { plural } from "../lib/words.mjs";

const FORM = {
  pass: { path: "m3 8.5 3.4 3.3L13 4.5", word: "holds" },
  fail: { path: "M4 4l8 8M12 4l-8 8", word: "fails" },
  pending: { path: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11", word: "not known yet" },
  does_not_apply: { path: "M4 8h8", word: "does not apply" },
};
/** @type {Record<string, string>} */
const MARK = { measured: "m", exact: "e", formula: "f" };

/** The line over the list.
 * @param {any[]} checks */
export function summary(checks) {
  if (!checks.length) return "after the next step";
  const failed = checks.filter((c) => c.status === "fail").length;
  if (failed) return `${failed} of ${checks.length} ${failed === 1 ? "fails" : "fail"}`;
  const pending = checks.filter((c) => c.status === "pending").length;
  return pending ? `${plural(pending, "check")} pending` : `${checks.filter((c) => c.status === "pass").length} hold`;
}

/** Where a failing check points, as a change of the look, or null.
 * @param {Record<string, any>} place @param {any[]} relations */
export function destination(place, relations) {
  if (!place?.path) return null;
  const found = read.readAt(relations, place.path);
  if (found) {
    const lock = Number.isInteger(place.row) ? { row: place.row, key: Number.isInteger(place.key) ? place.key : 0 } : null;
    const picked = ["head", "request"].filter((name) => Number.isInteger(place[name])).map((name) => [name, place[name]]);
    return { relation: found.info.name, layer: found.layer, ...Object.fromEntries(picked), lock, op: null, path: lock ? null : place.path };
  }
  return { path: place.path };
}

/** The figure of a check, where there was something to measure.
 * @param {any} check */
export const measured = (check) => (check.status === "does_not_apply" ? "does not apply" : /^0 of 0\b/.test(check.measured) ? "nothing yet" : check.measured);

/** @returns {HTMLElement} */
function item() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("role", "img");
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  return h("li", { class: "check" }, svg, h("span", { class: "claim" }, h("span"), h("button", { class: "link show", type: "button", hidden: true }, "show")),
    h("span", { class: "mono figure" }, h("span"), h("i", { class: "pv" })), h("span", { class: "reason" }));
}

/** @type {import("../lib/types").View} */
export default {
  id: "checks",
  title: "Checks",
  slot: "checks",
  phases: ["train", "prefill", "decode"],
  wants: () => [],

  mount(element) {
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h" }, "Checks"), h("span", { class: "sub" })),
      h("ul", { class: "checks", "aria-label": "Checks of this recording" }),
    );
  },

  draw(element, world, context) {
    const checks = world.checked?.checks ?? [];
    text(/** @type {any} */ (element.children[0].children[1]), summary(checks));
    list(/** @type {any} */ (element.children[1]), checks, (/** @type {any} */ c) => c.id, item, (li, c) => {
      const empty = measured(c) === "nothing yet";
      const form = FORM[/** @type {keyof typeof FORM} */ (empty ? "pending" : c.status)];
      const [svg, claim, figure, reason] = li.children;
      set(li, "data-status", empty ? "pending" : c.status);
      set(svg, "aria-label", form.word);
      set(svg.firstElementChild, "d", form.path);
      text(claim.children[0], c.claim);
      text(figure.children[0], measured(c));
      set(figure.children[1], "class", c.status === "does_not_apply" || empty || !c.measured ? "" : `pv ${MARK[c.provenance] ?? ""}`);
      set(figure.children[1], "title", c.provenance);
      text(reason, c.reason);
      const to = c.status === "fail" ? destination(c.place, world.opened?.relations ?? []) : null;
      claim.children[1].hidden = !to;
      set(claim.children[1], "aria-label", `Show where "${c.claim}" fails`);
      claim.children[1].onclick = to ? () => context.look(to) : null;
    });
  },
};
