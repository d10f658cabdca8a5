// @ts-check
/** In training: which rows pushed the chosen parameter, measured on demand, and what the update does next. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { clipping, groups, normSoFar } from "../lib/training/gradients.mjs";
import { norm } from "../lib/inspect/inspected.mjs";
import { counted, msg } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as read from "../lib/reads.mjs";
import { capital, number, requestName, rowWords, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */

const NAME = "row_contributions";
/** Batches of so many rows are measured by themselves; larger ones when a person asks. */
const SMALL = 400;
const LINES = 7;

/** The parameter whose rows are asked for, or null. @param {World} world @returns {string | null} */
const parameter = (world) => (world.look.path?.startsWith("parameter.") ? world.look.path.slice("parameter.".length) : null);

/** The measurement of just this parameter, sequence and update, or null. Pure. @param {World} world @returns {any | null} */
export function measured(world) {
  const found = world.analysis[NAME]?.result;
  const train = world.moved?.train;
  const fits = found && found.parameter === parameter(world) && found.request === read.request(world) && found.update === train?.update;
  return fits && train.parameter_norms && stepped(world, found.moment) ? found : null;
}

/** Whether only steps lie between an earlier moment and this one: the update is the same. @param {World} world @param {number} moment */
function stepped(world, moment) {
  let at = world.history.get(world.moved?.at);
  while (at && at.id !== moment && at.command === "step") at = world.history.get(at.parent);
  return at?.id === moment;
}

/** The rows that pushed, the hardest first where there are many, with their shares of the longest bar. Pure.
 * @param {World} world @param {any} found @param {number} [most] @returns {{lines: {owner: "s" | "t", row: number, token: string, norm: number, share: number}[], others: number}} */
export function pushes(world, found, most = LINES) {
  const all = (found?.rows ?? []).map((/** @type {any} */ r) => ({ ...r, norm: number(r.norm), token: shown(read.rows(world, r.owner)[r.row]?.token ?? "") }));
  const top = all.reduce((/** @type {number} */ a, /** @type {any} */ r) => (r.norm > a ? r.norm : a), 0);
  const kept = new Set([...all].sort((a, b) => b.norm - a.norm).slice(0, most));
  return { lines: all.filter((/** @type {any} */ r) => kept.has(r)).map((/** @type {any} */ r) => ({ ...r, share: top ? r.norm / top : 0 })), others: Math.max(0, all.length - most) };
}

/** @type {import("../lib/types").View} */
export default {
  id: "inspector_push",
  title: "Which rows pushed it, and what comes next",
  slot: "inspector",
  phases: ["train"],
  wants: () => [],

  mount(element) {
    element.append(
      h("div", { class: "insp pushed" },
        h("div", { class: "hh" }, h("h2", { class: "h" }, msg`Which rows pushed it`), h("span", { class: "note" })),
        h("table", { class: "push" }, h("thead", null, h("tr", null, [msg`row`, msg`contribution`, msg`norm`].map((said) => h("th", { scope: "col" }, said)))), h("tbody"), h("tfoot", null, h("tr", null, h("td", { colspan: 2 }), h("td")))),
        h("div", { class: "measure" }, h("button", { type: "button", class: "btn sm" }), h("progress", { max: 1, value: 0, "aria-label": msg`Progress` })),
        h("p", { class: "note" })),
      h("div", { class: "insp next-part" }, h("h2", { class: "h" }, msg`What comes next`),
        h("dl", { class: "next" }, h("dt"), h("dd", { class: "mono" }, h("span"), h("i", { class: "pv" })), h("dt", null, msg`clip factor`), h("dd", { class: "mono" }, h("span"), h("i", { class: "pv" }))),
        h("p", { class: "note" })),
    );
  },

  draw(element, world, context) {
    const [pushed, next] = /** @type {any} */ (element.children);
    hide(pushed, !parameter(world));
    if (!pushed.hidden) rows(pushed, world, context);
    comesNext(next, world);
  },

  table(world) {
    const found = measured(world);
    return { columns: [msg`owner`, msg`row`, msg`token`, msg`norm`], rows: pushes(world, found, Infinity).lines.map((l) => [l.owner, l.row, l.token, l.norm]) };
  },
};

/** @param {any} part @param {World} world @param {Context} context */
function rows(part, world, context) {
  const [head, table, measure, note] = part.children;
  const train = world.moved?.train;
  const name = parameter(world);
  const request = read.request(world);
  const found = measured(world);
  const ready = !!train?.parameter_norms;
  const count = (train?.rows ?? []).reduce((/** @type {number} */ n, /** @type {any[]} */ r) => n + r.length, 0);
  const doing = measureWhenIdle(world, context, NAME, { parameter: name, request }, ready && !found, count <= SMALL);
  text(head.lastElementChild, `${found?.by === "loss" ? "‖∂ℓₜ/∂θ‖" : "‖∂Lₜ/∂θ‖"}, ${msg`sequence ${requestName(request)}`}`);
  const { lines, others } = pushes(world, found);
  const [, body, foot] = table.children;
  const shownRows = found ? lines : read.trainRows(world).slice(0, LINES).map((r, row) => ({ owner: "t", row, token: shown(r.input), norm: NaN, share: 0 }));
  list(body, shownRows, (_, i) => i, () => h("tr", null, h("td"), h("td", null, h("i", { class: "push-bar" })), h("td")), (tr, l) => {
    set(tr.children[0], "class", l.owner === "s" ? "c-k" : "c-q");
    text(tr.children[0], rowWords(l.row, l.token));
    const width = `${Math.max(l.norm > 0 ? 1 : 0, l.share * 100)}%`;
    if (tr.children[1].firstElementChild.style.width !== width) tr.children[1].firstElementChild.style.width = width;
    text(tr.children[2], Number.isNaN(l.norm) && !found ? "–" : norm(l.norm));
  });
  hide(foot, !found);
  text(foot.firstElementChild.firstElementChild, others ? counted(others, "{0} other row, and the other sequences", "{0} other rows, and the other sequences") : msg`the other sequences together`);
  text(foot.firstElementChild.lastElementChild, found ? norm(number(found.others)) : "");
  const [button, bar] = measure.children;
  hide(measure, !!found || !ready);
  text(button, doing.running ? msg`Cancel` : msg`Measure`);
  button.onclick = doing.running ? () => context.send({ kind: "cancel" }) : doing.start;
  set(button, "disabled", world.role !== "writer");
  hide(bar, !doing.running);
  set(bar, "value", doing.progress);
  text(note, explained(found, ready));
}

/** @param {any} found @param {boolean} ready */
function explained(found, ready) {
  if (!ready) return msg`After backward each row's part of this gradient can be measured.`;
  if (!found) return "";
  const whole = msg`All rows of the batch add up to ‖∂L/∂θ‖ = ${norm(number(found.whole))} ◉; directions differ, so norms do not.`;
  return found.by === "loss" ? `${msg`It is not applied to rows one by one: told by rows of the loss.`} ${whole}` : whole;
}

/** @param {any} part @param {World} world */
function comesNext(part, world) {
  const [, numbers, note] = part.children;
  const train = world.moved?.train;
  const { clip_norm: limit, optimizer, learning_rate: rate } = world.opened?.scenario?.training ?? {};
  const clip = clipping(train, limit, normSoFar(groups(world)));
  const [name, so, , factor] = numbers.children;
  text(name, clip.name);
  text(so.firstElementChild, clip.norm);
  text(factor.firstElementChild, clip.factor);
  set(so.lastElementChild, "class", clip.norm === "–" ? "" : "pv m");
  set(factor.lastElementChild, "class", clip.factor === "–" ? "" : "pv f");
  text(note, ahead(world, train, clip.said, nextSaid(world, train, limit, optimizer, rate)));
}

/** What became of the norm, and what comes next; between two updates without a norm the second alone, which takes one line. Pure.
 * @param {World} world @param {any} train @param {string} said of the norm @param {string} next */
export const ahead = (world, train, said, next) => (train || world.moved?.stage ? `${capital(said)}. ${next}` : next);

/** What the next stage does, in words. Pure. @param {World} world @param {any} train @param {number | null} limit @param {string} optimizer @param {number} rate */
export function nextSaid(world, train, limit, optimizer, rate) {
  if (world.moved?.ended) return msg`Nothing comes next: go back.`;
  const whole = train?.norm ?? (train?.parameter_norms ? Math.hypot(...train.parameter_norms.map((/** @type {any} */ [, v]) => number(v))) : null);
  switch ((world.moved?.stages ?? []).find((/** @type {any} */ s) => s.ms === null)?.name ?? "batch") {
    case "batch": return msg`Next: update ${(world.moved?.updates ?? 0) + 1} draws a batch.`;
    case "forward": return msg`Next: forward, all rows of the batch in one call.`;
    case "loss": return msg`Next: the loss of each row that counts, and their mean.`;
    case "backward": return msg`Next: backward, from the loss to every parameter.`;
    case "clip":
      if (!limit || whole === null) return msg`Next: no clipping is set, so nothing is scaled.`;
      return number(whole) > limit ? msg`Next: clip. The norm is above ${limit}, so every gradient is made smaller by the same factor.` : msg`Next: clip. The norm is within ${limit}, so nothing is scaled.`;
    default: return msg`Next: update. ${optimizer === "sgd" ? "SGD" : "AdamW"} moves every parameter, learning rate ${rate}.`;
  }
}
