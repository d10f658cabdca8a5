// @ts-check
/** Under RoPE: how far each pair of places turns the shown query and key, and the loss beyond the trained rows under each scaling. */

import * as draw from "../lib/canvas.mjs";
import { h, hide, set, text } from "../lib/dom.mjs";
import { sameWeights } from "../lib/deck/moments.mjs";
import { shownPath } from "../lib/inspect/inspected.mjs";
import { dials, ratesOf, short, spread, turning } from "../lib/inspect/rotating.mjs";
import { beyond, curves } from "../lib/inspect/beyond.mjs";
import { msg } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as read from "../lib/reads.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/inspect/rotating.mjs").Dial} Dial */

const NAME = "inspector_rotation";
const MOST = 8; // dials

/** @param {World} world */
function shownDials(world) {
  const { row, key: locked } = read.focus(world);
  const at = read.relation(world);
  const rates = ratesOf(world.values(NAME, 2)[0], read.request(world));
  const key = locked ?? read.reads(read.readCells(world, NAME), row, at ? read.rows(world, at.info.key).length : 0)[0]?.key ?? 0;
  return { row, key, all: row < 0 ? [] : dials(rates, row, key, world.opened?.scenario?.config?.trained_rows ?? 0) };
}

/** The losses beyond the trained rows, as long as the weights are those that were measured. @param {World} world @returns {import("../lib/inspect/beyond.mjs").Found | null} */
export function measured(world) {
  const found = world.analysis.extrapolation?.result;
  return found && sameWeights(world.history, found.moment, world.moved?.at) ? found : null;
}

/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "How each pair turns",
  slot: "checks",
  phases: ["train", "prefill", "decode"],
  applies: (world) => !!turning(world),
  wants: (world) => (turning(world) ? [...read.readSelectors(world), { path: /** @type {any} */ (turning(world)).rates, index: { b: read.request(world) }, dtype: "f32" }] : []),

  mount(element) {
    element.append(h("div", { class: "insp rotation" },
      h("div", { class: "hh" }, h("h2", { class: "h" }, msg`How each pair turns`), h("span", { class: "note" })),
      h("canvas", { role: "img", class: "dials" }), h("p", { class: "note" }),
      h("div", { class: "hh beyond-head" }, h("h3", { class: "h3" }, msg`Beyond the trained rows`), h("button", { type: "button", class: "btn sm" })),
      h("progress", { max: 1, value: 0, "aria-label": msg`Progress`, hidden: true }),
      h("canvas", { role: "img", class: "beyond", hidden: true }), h("p", { class: "note" })));
  },

  draw(element, world, context) {
    const part = /** @type {any} */ (element.firstElementChild);
    const shown = !!turning(world) && shownPath(world) === null;
    set(element, "data-empty", shown ? null : "true");
    if (!shown) return;
    const [head, canvas, note, second, progress, chart, said] = part.children;
    const { row, key, all } = shownDials(world);
    text(head.lastElementChild, all.length ? msg`row ${row} q, row ${key} k` : msg`nothing is computed yet`);
    set(canvas, "aria-label", all.map((d) => msg`pair ${d.pair}: a turn in ${short(d.wave)} rows`).join("; "));
    const slow = all.filter((d) => !d.round).length;
    text(note, msg`Below each: rows for one turn. Between the hands: what the score sees, ${row - key} rows apart. Dashed: does not get round within ${world.opened?.scenario?.config?.trained_rows ?? 0} rows (${slow} of ${all.length}).`);
    const found = measured(world);
    const words = found && beyond(found, world.opened?.scenario?.config?.scaling);
    const doing = measureWhenIdle(world, context, "extrapolation", {}, false, false);
    text(second.lastElementChild, found ? msg`measure again` : msg`measure`);
    second.lastElementChild.onclick = doing.start;
    second.lastElementChild.disabled = doing.running || world.role !== "writer";
    hide(progress, !doing.running);
    progress.value = doing.progress;
    hide(chart, !found);
    text(said, words ?? msg`The same weights on longer examples, under each scaling: loss by row.`);
    set(chart, "aria-label", words);
    return () => {
      picture(canvas, spread(all, MOST));
      if (found) curves(chart, found, world.opened?.scenario?.config?.scaling);
    };
  },

  table: (world) => ({ columns: [msg`pair`, msg`radians a row`, msg`rows a turn`, msg`angle of the query`, msg`angle of the key`], rows: shownDials(world).all.map((d) => [d.pair, d.rate, d.wave, d.query, d.key]) }),
};

/** @param {any} canvas @param {Dial[]} shown */
function picture(canvas, shown) {
  const [g, width] = draw.fit(canvas);
  const slot = width / MOST;
  const r = Math.min(15, slot / 2 - 3);
  shown.forEach((d, i) => {
    const [x, y] = [slot * (i + 0.5), r + 3];
    g.lineWidth = 1;
    g.strokeStyle = draw.css("--line-2");
    g.setLineDash(d.round ? [] : [2, 2]);
    g.beginPath();
    g.arc(x, y, r, 0, 2 * Math.PI);
    g.stroke();
    g.setLineDash([]);
    sector(g, x, y, r, d);
    hand(g, x, y, r, d.key, "--k");
    hand(g, x, y, r * 0.82, d.query, "--q");
    draw.label(g, short(d.wave), x, 2 * r + 15, { size: 10.5, mono: true, color: "--ink-2", align: "center" });
  });
}

/** What lies between the two hands, less than a turn. @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} r @param {Dial} d */
function sector(g, x, y, r, d) {
  const [from, to] = [-d.key, -d.query];
  g.fillStyle = draw.css("--sunk");
  g.beginPath();
  g.moveTo(x, y);
  if (Math.abs(to - from) < 2 * Math.PI) g.arc(x, y, r - 1, from, to, to < from);
  else g.arc(x, y, r - 1, 0, 2 * Math.PI);
  g.fill();
}

/** From the middle, 0 to the right, counted against the clock. @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} r @param {number} angle @param {string} color */
function hand(g, x, y, r, angle, color) {
  g.strokeStyle = draw.css(color);
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x + r * Math.cos(angle), y - r * Math.sin(angle));
  g.stroke();
}

