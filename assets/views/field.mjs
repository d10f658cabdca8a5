// @ts-check
/** The receptive field of the newest row: layer on layer of windows, which earlier rows can reach it by the wiring alone, and beside it what
 * gradients measure. Rows that no way leads from are holes, or lie too far back. */

import * as draw from "../lib/canvas.mjs";
import { h, hide, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { cone, field, fieldShown } from "../lib/states/fields.mjs";
import { shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/states/fields.mjs").Field} Field */
/** All that the picture needs. tokens: of all known rows; newest: the number of the last.
 * @typedef {{field: Field, tokens: string[], newest: number}} Plot */

const MEASURE = "choice_reach";
const LEFT = 84;
const LEAST = 11;
/** What the last measurement was asked for: at another moment, or of another model, it says nothing. */
let asked = "";
let running = false;
/** @param {World} world */
const key = (world) => JSON.stringify([world.opened?.scenario, world.moved?.at, read.request(world)]);
/** @type {WeakMap<HTMLElement, {plot: Plot | null}>} */
const stages = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "field",
  title: "Receptive field",
  slot: "map",
  phases: ["prefill", "decode"],
  applies: fieldShown,
  wants: () => [],

  mount(element) {
    element.append(
      h("div", { class: "ph states-head" }, h("h2", { class: "h nowrap" }, msg`Receptive field`), h("span", { class: "sub" }), h("span", { class: "sp" })),
      h("canvas", { class: "kernel-plot", role: "img" }),
      h("p", { class: "states-read" }, h("span", { class: "mono" })),
      h("p", { class: "note kernel-means" }, h("span"), " ", h("button", { class: "link", type: "button" }, msg`measure`)),
    );
    stages.set(element, { plot: null });
  },

  draw(element, world, context) {
    const stage = /** @type {any} */ (stages.get(element));
    const canvas = /** @type {HTMLCanvasElement} */ (element.children[1]);
    stage.plot = plot(world);
    const [sub, said, measured] = [element.children[0].children[1], element.children[2].firstElementChild, element.children[3]];
    text(/** @type {any} */ (sub), stage.plot ? formula(stage.plot.field) : "");
    text(/** @type {any} */ (said), stage.plot ? words(stage.plot) : msg`not computed at this moment`);
    set(canvas, "aria-label", stage.plot ? msg`Receptive field. ${words(stage.plot)}` : msg`Receptive field`);
    const found = stage.plot ? agrees(world, stage.plot) : null;
    text(/** @type {any} */ (measured.firstElementChild), found ?? msg`Measured by gradient: not yet.`);
    const button = /** @type {HTMLButtonElement} */ (measured.lastElementChild);
    hide(button, found !== null || !stage.plot);
    button.disabled = running || world.role !== "writer";
    button.onclick = () => measure(world, context, element);
    return () => stage.plot && paint(canvas, stage.plot);
  },

  table(world) {
    const p = plot(world);
    const norms = p && measuredRows(world);
    const rows = p ? read.rows(world, "t").filter(read.known).map((row, i) => [i, row.token, p.newest - i, p.field.backs.has(p.newest - i) ? 1 : 0, norms?.[i] ?? null]) : [];
    return { columns: [msg`row`, msg`token`, msg`rows back`, msg`seen by the wiring`, msg`norm of the gradient`], rows };
  },
};

/** @param {World} world @returns {Plot | null} */
export function plot(world) {
  const found = field(world);
  const rows = read.rows(world, "t");
  const newest = read.lastKnown(rows);
  if (!found || newest < 0) return null;
  return { field: found, tokens: rows.slice(0, newest + 1).map((r) => shown(r.token)), newest };
}

/** @param {Field} f */
function formula(f) {
  const holes = f.span - f.backs.size;
  const sum = repeated(f.layers.map((l) => `${l.kernel - 1}·${l.dilation}`));
  return holes ? msg`1 + ${sum} = ${f.span} rows, ${holes} of them holes` : msg`1 + ${sum} = ${f.span} rows, no holes`;
}

/** Terms of a sum; equal ones that follow each other stand once, with how often. @param {string[]} terms */
function repeated(terms) {
  const runs = /** @type {[string, number][]} */ ([]);
  for (const term of terms) {
    const last = runs[runs.length - 1];
    if (last?.[0] === term) last[1]++;
    else runs.push([term, 1]);
  }
  return runs.map(([term, times]) => (times > 2 ? `${times} × ${term}` : Array(times).fill(term).join(" + "))).join(" + ");
}

/** @param {Plot} p */
export function words(p) {
  const seen = p.tokens.filter((_, i) => p.field.backs.has(p.newest - i)).length;
  return msg`Row ${p.newest} ${p.tokens[p.newest]} can be reached from ${seen} of ${p.newest + 1} known rows.`;
}

/** Norms by row of the last measurement, if it was made at this moment. @param {World} world @returns {(number | null)[] | null} */
function measuredRows(world) {
  return !running && asked === key(world) ? (world.analysis[MEASURE]?.result?.rows.t ?? null) : null;
}

/** @param {World} world @param {import("../lib/types").Context} context @param {HTMLElement} element */
async function measure(world, context, element) {
  [asked, running] = [key(world), true];
  const reply = await context.send({ kind: "analyse", name: MEASURE, arguments: { request: read.request(world) } });
  if (!reply.ok) asked = "";
  running = false;
  element.dispatchEvent(new Event("box"));
}

/** Whether the rows whose gradient is not 0 are those of the wiring. @param {World} world @param {Plot} p @returns {string | null} */
function agrees(world, p) {
  const norms = measuredRows(world);
  if (!norms) return null;
  const moved = norms.map((n, i) => (n ? i : -1)).filter((i) => i >= 0);
  const outside = moved.filter((i) => !p.field.backs.has(p.newest - i)).length;
  if (outside) return msg`Measured by gradient: ${outside} rows outside the field move the choice.`;
  return msg`Measured by gradient: ${moved.length} rows move the choice, all of them in the field.`;
}

/** @param {HTMLCanvasElement} canvas @param {Plot} p */
function paint(canvas, p) {
  const [g, width, height] = draw.fit(canvas);
  const levels = cone(p.field.layers); // from the top
  const room = Math.floor((width - LEFT) / LEAST);
  const count = Math.max(1, Math.min(room, p.newest + 1, Math.max(p.field.span, 8)));
  const slot = Math.min(46, (width - LEFT) / count);
  const x = (/** @type {number} */ back) => LEFT + (count - 1 - back) * slot + slot / 2;
  const step = (height - 40) / (levels.length - 1);
  const y = (/** @type {number} */ level) => 12 + level * step;
  p.field.layers.forEach((_, i) => wires(g, p, levels, i, count, x, y));
  const every = Math.ceil(13 / step); // as many names as have room, from the top; the rows' own does not lie on one
  levels.forEach((seen, level) => {
    for (let back = 0; back < count; back++) node(g, x(back), y(level), seen.has(back), level === levels.length - 1);
    const layer = p.field.layers[p.field.layers.length - 1 - level];
    if (layer && (level % every || (every > 1 && (levels.length - 1 - level) * step < 18))) return;
    draw.label(g, layer ? msg`layer ${p.field.layers.length - level}, ${layer.dilation} apart` : msg`rows`, 0, y(level) + (layer ? step / 2 : 0), { size: 10.5, color: "--ink-3" });
  });
  names(g, p, count, slot, x, height - 11);
}

/** @param {CanvasRenderingContext2D} g @param {Plot} p @param {Set<number>[]} levels @param {number} i @param {number} count @param {(b: number) => number} x @param {(l: number) => number} y */
function wires(g, p, levels, i, count, x, y) {
  const { kernel, dilation } = p.field.layers[p.field.layers.length - 1 - i];
  g.strokeStyle = draw.alpha(draw.css("--v-fill"), 0.7);
  g.lineWidth = 1.2;
  g.beginPath();
  for (const back of levels[i]) {
    for (let place = 0; place < kernel; place++) {
      const to = back + place * dilation;
      if (back >= count || to >= count) continue;
      g.moveTo(x(back), y(i));
      g.lineTo(x(to), y(i + 1));
    }
  }
  g.stroke();
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {boolean} seen @param {boolean} row */
function node(g, x, y, seen, row) {
  g.beginPath();
  g.arc(x, y, row ? 3.4 : 2.6, 0, 2 * Math.PI);
  g.fillStyle = draw.css(seen ? "--v-fill" : "--line");
  if (seen) return g.fill();
  g.strokeStyle = draw.css("--ink-3");
  g.lineWidth = 1;
  return row ? g.stroke() : g.fill();
}

/** @param {CanvasRenderingContext2D} g @param {Plot} p @param {number} count @param {number} slot @param {(b: number) => number} x @param {number} y */
function names(g, p, count, slot, x, y) {
  for (let back = 0; back < count; back++) {
    const token = p.tokens[p.newest - back];
    draw.font(g, 480, 10.5, true);
    const fits = slot >= 26 ? draw.clip(g, token, slot - 3) : [...token].length === 1 ? token : "";
    draw.label(g, fits, x(back), y, { size: 10.5, mono: true, align: "center", color: p.field.backs.has(back) ? "--q" : "--ink-3" });
  }
}
