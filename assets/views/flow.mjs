// @ts-check
/** Gradient flow: how much the prediction of every row moves with the vector of every row that was read; one map for any architecture. */

import { cellMap } from "../lib/canvas.mjs";
import { objective, writes } from "../lib/answers.mjs";
import { h, hide, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as read from "../lib/reads.mjs";
import { figure, number, percent, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

/** Whose rows are the columns. */
let owner = "";

/** @param {World} world */
function result(world) {
  const found = world.analysis.gradient_flow?.result ?? null;
  if (!found || found.moment !== world.moved?.at || found.request !== read.request(world)) return null;
  const there = Object.keys(found.norms);
  const side = there.includes(owner) ? owner : there.includes("s") ? "s" : "t";
  return { ...found, there, side, matrix: found.norms[side].map((/** @type {any[]} */ row) => row.map(number)) };
}

/** Where most of what flows comes from, for the newest row: its column, and its share of the sum. Pure. @param {number[]} row */
export function source(row) {
  const sum = row.reduce((a, x) => a + x, 0);
  const at = row.indexOf(Math.max(...row));
  return { at, share: sum > 0 ? row[at] / sum : NaN };
}

/** Names of the rows that predict: of a class its own alone, of frames their numbers. @param {World} world @param {number} count */
function answering(world, count) {
  if (objective(world) === "class") return [msg`Class`];
  if (objective(world) === "ctc") return Array.from({ length: count }, (_, i) => String(i));
  return read.rows(world, writes(world) ? "t" : "s").map((r) => r.token);
}

/** Where most of what moves the last prediction comes from. @param {World} world @param {string} share @param {number} row @param {string} token */
function origin(world, share, row, token) {
  if (writes(world)) return msg`Of what moves the newest prediction, ${share} comes from row ${row} ${token}.`;
  return objective(world) === "class" ? msg`Of what moves the class, ${share} comes from row ${row} ${token}.` : msg`Of what moves the last row’s answer, ${share} comes from row ${row} ${token}.`;
}

/** @type {import("../lib/types").View} */
export default {
  id: "flow",
  title: "Gradient flow",
  slot: "checks",
  phases: ["prefill", "decode"],
  wants: () => [],

  mount(element) {
    element.append(h("details", { class: "flow" }, h("summary", null, h("h2", { class: "h" }, msg`Gradient flow`)),
      h("div", { class: "row" }, h("button", { type: "button", class: "btn sm" }), h("div", { class: "seg", role: "group", "aria-label": msg`Columns` }, h("button", { type: "button", "data-owner": "s" }, msg`source`), h("button", { type: "button", "data-owner": "t" }, msg`target`)), h("progress", { max: 1, value: 0, "aria-label": msg`Progress`, hidden: true })),
      h("canvas", { role: "img", hidden: true }), h("p", { class: "note" })));
  },

  draw(element, world, context) {
    const details = /** @type {any} */ (element.firstElementChild);
    const [, bar, canvas, note] = details.children;
    const found = result(world);
    const doing = measureWhenIdle(world, context, "gradient_flow", { request: read.request(world) }, details.open && !found, (world.moved?.sizes.t ?? 0) <= 32);
    const again = () => this.draw(element, world, context)?.();
    details.ontoggle = () => details.open && again();
    text(bar.children[0], msg`measure`);
    bar.children[0].onclick = doing.start;
    bar.children[0].disabled = doing.running || world.role !== "writer";
    hide(bar.children[1], !found || found.there.length < 2);
    for (const button of bar.children[1].children) {
      set(button, "aria-pressed", String(found?.side === button.dataset.owner));
      button.onclick = () => { owner = button.dataset.owner; again(); };
    }
    hide(bar.children[2], !doing.running);
    bar.children[2].value = doing.progress;
    hide(canvas, !found);
    const rows = answering(world, found?.matrix.length ?? 0), columns = found ? read.rows(world, found.side) : [];
    const last = found ? source(found.matrix[found.matrix.length - 1]) : null;
    const said = last && Number.isFinite(last.share) ? origin(world, percent(last.share), last.at, shown(columns[last.at]?.token ?? "")) : "";
    text(note, found ? `${said} ${writes(world) ? msg`‖∂ log p / ∂ x‖ of each row’s next token by each row’s vector.` : msg`‖∂ log p / ∂ x‖ of the likeliest answer by each row’s vector.`}` : msg`For any architecture: what reads, states and residual paths let through together.`);
    if (!found) return;
    const most = Math.max(1e-12, ...found.matrix.flat());
    const cell = Math.max(9, Math.min(26, 250 / Math.max(1, found.matrix.length)));
    canvas.style.height = `${found.matrix.length * cell + 64}px`;
    set(canvas, "aria-label", said);
    return () => details.open && cellMap(canvas, {
      rows: found.matrix.length, columns: found.matrix[0]?.length ?? 0, value: (r, c) => found.matrix[r][c], scale: { max: most }, left: 78, top: 62, gap: 1, maxCell: cell, values: false,
      state: (r, c) => (found.side === "t" && c > found.first + r && found.matrix[r][c] === 0 ? "later" : "ok"),
      rowLabels: found.matrix.map((/** @type {any} */ _, /** @type {number} */ i) => shown(rows[found.first + i] ?? "")), columnLabels: columns.slice(0, found.matrix[0]?.length ?? 0).map((r) => shown(r.token)), roles: ["q", found.side === "s" ? "k" : "q"], format: (x) => figure(x, 2),
    });
  },

  table(world) {
    const found = result(world);
    const columns = [msg`row`, msg`by row`, msg`owner`, "‖∂ log p / ∂ x‖"];
    return { columns, rows: found ? found.matrix.flatMap((/** @type {number[]} */ row, /** @type {number} */ i) => row.map((x, j) => [found.first + i, j, found.side, x])) : [] };
  },
};
