// @ts-check
/** What this recording satisfies, or not: claim, outcome, the measured figure and where it comes from. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { counted, msg, named } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as read from "../lib/reads.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */

const FORM = {
  pass: "m3 8.5 3.4 3.3L13 4.5",
  fail: "M4 4l8 8M12 4l-8 8",
  pending: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11",
  does_not_apply: "M4 8h8",
};
/** @type {Record<string, string>} */
const MARK = { measured: "m", exact: "e", formula: "f" };
/** Rows times model calls that are measured without being asked for. */
const SMALL_ROWS = 24;
/** Takes dozens of model calls: measured where a person asks for it. */
const ASKED = new Set(["finite_difference", "draw_noise"]);

/** @returns {Record<string, string>} */
const words = () => ({ pass: msg`holds`, fail: msg`fails`, pending: msg`not known yet`, does_not_apply: msg`does not apply` });

/** How each check is measured. @returns {Record<string, string>} */
const methods = () => ({
  rows_sum: msg`Every row of weights in this call is added up, padding left out. The largest distance from 1 is printed; up to 1e-5 is rounding.`,
  hidden_zero: msg`Every cell that the read mask hides, by its program, by you or as padding, must weigh exactly 0. Counted over all layers and heads of this call.`,
  finite: msg`Every recorded tensor of this call is searched for NaN and infinity.`,
  cached_equals_full: msg`Each decision is made a second time from all known rows with an empty cache. The largest difference of any logit is printed.`,
  no_future_leak: msg`Each known token but the first is replaced in turn, and all rows are computed anew. No logit of an earlier row may move at all. (A later token is changed; no gradient is used.)`,
  schedules: msg`All known rows run again in each schedule that the model has, with the same weights, edits left out. The largest difference of any logit is printed.`,
  state_shares: msg`Of each row’s write what later rows left of it is worked out from the recorded gates, in every layer of every request. The sum over all rows is compared with the state that the model kept; the difference is a share of its largest number.`,
  batch_equals_alone: msg`Each request is read again by itself, from its prompt to its newest row, edits left out. The largest difference of any logit is printed.`,
  normaliser: msg`Of the softmax over all keys, what the mask leaves of each row is added up. What is missing to 1 went to keys that may not be read.`,
  symmetric: msg`Where one matrix makes queries and keys, every score is compared with the one across the diagonal, before the mask.`,
  rows_together: msg`Counted from the shape of this call: BatchNorm takes the mean and the deviation of each place over all of its rows.`,
  offset_only: msg`Queries and keys of all known rows are turned again as if they stood 1, 10, 100 and 1000 rows further on. The largest change of any score is printed (fp64).`,
  batch_norm: msg`All known rows run again with four more rows of padding, and each request by itself; edits left out. The largest difference of any logit of a real row is printed.`,
  labels_hidden: msg`From the masks of all layers together: which rows can reach the row that is given their own label.`,
  uncounted_rows: msg`The gradient of the logits of every row outside the loss must be exactly 0.`,
  finite_difference: msg`A copy of the model in fp64, with the parameters that this update began with, moves 32 sampled parameters by ±1e-5. What the loss does is compared with the backward pass: ‖difference‖ / ‖gradient‖ over the sample.`,
  score_gradients: msg`A softmax does not move when all scores of a row move together, so that their gradients add up to 0. Largest sum, of all reads of this batch.`,
});

/** The line over the list. Pure. @param {any[]} checks */
export function summary(checks) {
  if (!checks.length) return msg`after the next step`;
  const failed = checks.filter((c) => c.status === "fail").length;
  if (failed) return failed === 1 ? msg`${failed} of ${checks.length} fails` : msg`${failed} of ${checks.length} fail`;
  const pending = checks.filter((c) => c.status === "pending" && !ASKED.has(c.id)).length;
  if (pending) return counted(pending, "{0} check pending", "{0} checks pending");
  return counted(checks.filter((c) => c.status === "pass").length, "{0} holds", "{0} hold");
}

/** Where a failing check points, as a change of the look, or null. Pure.
 * @param {Record<string, any>} place @param {any[]} relations */
export function destination(place, relations) {
  if (!place?.path) return null;
  const found = read.readAt(relations, place.path);
  if (!found) return { path: place.path };
  const lock = Number.isInteger(place.row) ? { row: place.row, key: Number.isInteger(place.key) ? place.key : 0 } : null;
  const picked = ["head", "request"].filter((name) => Number.isInteger(place[name])).map((name) => [name, place[name]]);
  return { relation: found.info.name, layer: found.layer, ...Object.fromEntries(picked), lock, op: null, path: lock ? null : place.path };
}

/** The figure of a check; of one that does not apply, why not. Pure. @param {any} check */
export function measured(check) {
  if (check.status === "does_not_apply") return check.reason || msg`does not apply`;
  if (/^0 of 0\b/.test(check.measured)) return msg`nothing yet`;
  const of = /^(\S+) of (\S+)$/.exec(check.measured);
  return of ? msg`${of[1]} of ${of[2]}` : named(check.measured);
}

/** What is said below a check that is opened. Pure. @param {any} check @returns {string[]} */
export function details(check) {
  const lines = [methods()[check.id] ?? ""];
  if (check.reason) lines.unshift(check.status === "does_not_apply" ? msg`Does not apply: ${check.reason}.` : msg`${check.reason}.`);
  return lines.filter(Boolean);
}

/** @returns {HTMLElement} */
function item() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("role", "img");
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  return h("li", null, h("details", { class: "check" },
    h("summary", null, svg, h("span", { class: "claim" }), h("span", { class: "figure" }, h("span"), h("i", { class: "pv" }))),
    h("p", { class: "note" }, h("span"), h("span"))),
    h("button", { class: "btn xs act", type: "button", hidden: true }));
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
      h("div", { class: "ph" }, h("h2", { class: "h" }, msg`Checks`), h("span", { class: "sub" })),
      h("ul", { class: "checks", "aria-label": msg`Checks of this recording` }),
    );
    bars.set(element, barOf(element));
  },

  draw(element, world, context) {
    const checks = world.checked?.checks ?? [];
    const bar = /** @type {any} */ (bars.get(element));
    for (const place of [element.children[0].children[1], bar.lastElementChild]) text(/** @type {any} */ (place), summary(checks));
    set(bar, "data-fails", checks.some((/** @type {any} */ c) => c.status === "fail"));
    const said = words();
    list(/** @type {any} */ (element.children[1]), checks, (/** @type {any} */ c) => c.id, item, (li, c) => {
      const [box, act] = li.children;
      const [line, note] = box.children;
      const [svg, claim, figure] = line.children;
      const status = measured(c) === msg`nothing yet` ? "pending" : c.status;
      set(li, "data-status", status);
      set(svg, "aria-label", said[status]);
      set(svg.firstElementChild, "d", FORM[/** @type {"pass"} */ (status)]);
      text(claim, c.claim);
      text(figure.children[0], measured(c));
      set(figure, "title", c.reason || null);
      set(figure.children[1], "class", status === "pass" || status === "fail" ? `pv ${MARK[c.provenance] ?? ""}` : "");
      details(c).concat("", "").slice(0, 2).forEach((words, i) => text(note.children[i], i && words ? ` ${words}` : words));
      action(act, figure.children[0], world, context, c);
    });
  },

  table: (world) => ({
    columns: [msg`check`, msg`claim`, msg`status`, msg`measured`, msg`provenance`, msg`reason`],
    rows: (world.checked?.checks ?? []).map((/** @type {any} */ c) => [c.id, c.claim, c.status, c.measured, c.provenance, c.reason]),
  }),
};

/** What stands at the lower edge of the inspector as long as the checks are below the sight, and leads to them. @type {WeakMap<HTMLElement, HTMLElement>} */
const bars = new WeakMap();

/** @param {HTMLElement} element of the checks @returns {HTMLElement} */
function barOf(element) {
  const bar = h("button", { class: "checks-bar", type: "button", hidden: true, onclick: () => element.scrollIntoView({ block: "nearest" }) }, h("b", null, msg`Checks`), h("span"));
  const around = element.closest(".inspect");
  around?.append(bar);
  if (around) new IntersectionObserver(([seen]) => hide(bar, seen.isIntersecting || seen.boundingClientRect.top < (seen.rootBounds?.top ?? 0)), { root: around }).observe(/** @type {any} */ (element.firstElementChild));
  return bar;
}

/** What can be done about a check: measure it, end that, or go where it fails.
 * @param {any} button @param {any} figure @param {World} world @param {Context} context @param {any} c */
function action(button, figure, world, context, c) {
  const pending = c.status === "pending";
  const rows = (world.moved?.requests ?? []).reduce((/** @type {number} */ n, /** @type {any} */ r) => Math.max(n, r.target.length), 0);
  const doing = pending ? measureWhenIdle(world, context, c.id, {}, true, rows <= SMALL_ROWS && !ASKED.has(c.id), true) : null;
  const to = c.status === "fail" ? destination(c.place, world.opened?.relations ?? []) : null;
  hide(button, !to && !doing);
  if (to) {
    text(button, msg`show`);
    set(button, "aria-label", msg`Show where “${c.claim}” fails`);
    button.onclick = () => context.look(to);
  } else if (doing) {
    text(figure, doing.running ? `${Math.round(doing.progress * 100)}%` : doing.failed ? msg`failed` : "");
    set(figure, "title", doing.failed || null);
    text(button, doing.running ? msg`cancel` : msg`measure`);
    set(button, "aria-label", doing.running ? msg`Stop measuring “${c.claim}”` : msg`Measure “${c.claim}”`);
    set(button, "disabled", world.role !== "writer");
    button.onclick = doing.running ? () => context.send({ kind: "cancel" }) : doing.start;
  }
}
