// @ts-check
/** The tree of a beam search: one column a step, one line a hypothesis; what was kept, what was dropped, log P and score, and the winner. */

import * as draw from "../lib/canvas.mjs";
import { h, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import * as beam from "../lib/next/beams.mjs";
import { follow, ground, pan, seen } from "../lib/draw/pan.mjs";
import * as read from "../lib/reads.mjs";
import { requestName, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/next/beams.mjs").Tree} Tree @typedef {import("../lib/next/beams.mjs").Twig} Twig */
/** @typedef {{left: number, column: number, line: number, chip: number, top: number, width: number, height: number}} Geometry */

/** @type {WeakMap<HTMLElement, {pan: import("../lib/draw/pan.mjs").Pan, tree: Tree | null, geo: Geometry | null, world: World}>} */
const kept = new WeakMap();
const [GUTTER, SAID, COLUMN] = [58, 142, 92]; // the first row's token; numbers behind the newest step; a step

/** @type {import("../lib/types").View} */
export default {
  id: "beams",
  title: "The beam, step by step",
  slot: "map",
  phases: ["decode"],
  applies: beam.treeShown,
  wants: () => [],

  mount(element, context) {
    const p = pan({ role: "img" }, "beams-pan");
    const held = { pan: p, tree: /** @type {Tree | null} */ (null), geo: /** @type {Geometry | null} */ (null), world: /** @type {any} */ (null) };
    kept.set(element, held);
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h" }, msg`The beam`), h("span", { class: "sub beams-said" }), h("span", { class: "sp" }),
        h("button", { class: "btn sm", type: "button", title: msg`Who reads whom, of the hypothesis that is looked at`, onclick: () => context.look({ tree: false }) }, msg`Show the map`)),
      p.element,
      h("p", { class: "beams-line" }, h("span", { class: "mono" }), h("i", { class: "pv f", title: msg`formula` })),
      h("p", { class: "beams-forms" }, [["on", msg`looked at`], ["kept", msg`kept`], ["gone", msg`kept, later dropped`], ["dropped", msg`dropped at once`]].map(([form, said]) => h("span", null, h("i", { class: `bf ${form}` }), said))),
    );
    p.canvas.onclick = (event) => {
      const row = held.tree && held.geo ? rowAt(held.tree, held.geo, draw.pointedAt(event).y + p.top) : null;
      if (row !== null) context.look({ request: row, lock: null });
    };
  },

  draw(element, world) {
    const held = /** @type {any} */ (kept.get(element));
    const { policy } = world.opened.scenario;
    const [width, height] = draw.boxOf(held.pan.element);
    Object.assign(held, { world, tree: beam.tree(world, Math.min(policy.width, height > 210 ? 3 : 2)) });
    const { tree } = held;
    held.geo = tree ? geometry(tree, width, height) : null;
    text(/** @type {any} */ (element.querySelector(".beams-said")), tree ? said(tree) : "");
    text(/** @type {any} */ (element.querySelector(".beams-line .mono")), beam.formula(policy.length_penalty));
    set(held.pan.canvas, "aria-label", tree ? described(tree) : msg`No step was taken yet`);
    if (held.geo) ground(held.pan, held.geo.width > width ? held.geo.width : 0, held.geo.height > height ? held.geo.height : 0);
    held.pan.redraw = () => paint(held);
    return () => paint(held);
  },

  table(world) {
    const tree = beam.tree(world, 8);
    const columns = [msg`step`, msg`row`, msg`token`, msg`continues row`, msg`kept`, "log P", msg`score`];
    return { columns, rows: (tree?.twigs ?? []).flat().map((t) => [t.step + 1, t.kept ? requestName(t.row) : null, t.stays ? msg`(ended)` : t.token, t.step ? requestName(t.parent) : null, t.kept, t.logP, t.score]) };
  },
};

/** @param {Tree} tree */
function said(tree) {
  if (!tree.twigs.length) return msg`width ${tree.width}; Step keeps the ${tree.width} best first words`;
  const steps = counted(tree.twigs.length, "{0} step", "{0} steps");
  return tree.winner === null ? msg`width ${tree.width}, ${steps}` : msg`width ${tree.width}, ${steps}; the answer is ${requestName(tree.winner)}`;
}

/** @param {Tree} tree */
function described(tree) {
  const newest = tree.twigs.at(-1) ?? [];
  return newest.filter((t) => t.kept).map((t) => `${requestName(t.row)}: ${beam.text(tree, t.row)}, log P ${beam.nats(t.logP)}, ${msg`score`} ${beam.nats(t.score)}${t.row === tree.winner ? `, ${msg`the answer`}` : ""}`).join("; ");
}

/** Where things lie. Pure. @param {Tree} tree @param {number} width @param {number} height @returns {Geometry} */
function geometry(tree, width, height) {
  const line = Math.max(21, Math.min(38, (height - 22) / tree.rows));
  const column = Math.max(74, Math.min(COLUMN, (width - GUTTER - SAID) / Math.max(6, tree.twigs.length)));
  return { left: GUTTER, column, line, chip: Math.min(24, line - 5), top: 20, width: GUTTER + tree.twigs.length * column + SAID, height: 22 + tree.rows * line };
}

/** The kept hypothesis of the newest step on a line. @param {Tree} tree @param {Geometry} geo @param {number} y */
function rowAt(tree, geo, y) {
  const row = Math.floor((y - geo.top) / geo.line);
  return tree.twigs.at(-1)?.[row]?.kept ? row : null;
}

/** @param {any} held */
function paint({ pan: p, tree, geo, world }) {
  if (!tree || !geo) return;
  const end = geo.left + tree.twigs.length * geo.column;
  follow(p, "step", `${world.moved?.at}`, { left: end - 2 * geo.column, right: end + SAID });
  const [g, width, , scrolled, down] = seen(p);
  g.translate(-scrolled, -down);
  const near = (/** @type {number} */ step) => geo.left + (step + 1) * geo.column > scrolled && geo.left + step * geo.column < scrolled + width;
  const all = tree.twigs.flat();
  for (const on of [false, true]) for (const t of all) if (t.on === on && near(t.step)) edge(g, geo, t);
  root(g, geo, world);
  for (let step = 0; step < tree.twigs.length; step++) if (near(step)) draw.label(g, String(step + 1), geo.left + (step + 0.5) * geo.column, 9, { size: 10.5, mono: true, align: "center", color: "--ink-3" });
  for (const t of all) if (near(t.step)) twig(g, geo, t);
  numbers(g, geo, tree, end);
}

/** @param {Geometry} geo @param {number} row */
const middle = (geo, row) => geo.top + (row + 0.5) * geo.line;

/** From a hypothesis to what continues it. @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {Twig} t */
function edge(g, geo, t) {
  const from = t.step ? geo.left + t.step * geo.column - 9 : GUTTER - 8;
  const to = geo.left + t.step * geo.column + 9;
  const [y0, y1] = [t.step ? middle(geo, t.parent) : middle(geo, 0), middle(geo, t.row)];
  g.strokeStyle = draw.css(t.on ? "--d-fill" : t.alive ? "--ink-3" : "--line-2");
  g.lineWidth = t.on ? 3 : t.alive ? 1.6 : 1;
  g.setLineDash(t.kept ? [] : [2, 3]);
  g.beginPath();
  g.moveTo(from, y0);
  g.bezierCurveTo((from + to) / 2, y0, (from + to) / 2, y1, to, y1);
  if (t.stays) g.lineTo(to + geo.column - 18, y1);
  g.stroke();
  g.setLineDash([]);
}

/** The row that all begin with. @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {World} world */
function root(g, geo, world) {
  const prompt = world.opened.scenario.requests[0].target.at(-1) ?? "<bos>";
  const token = typeof prompt === "string" ? prompt : prompt.special;
  draw.chip(g, 1, middle(geo, 0) - geo.chip / 2, GUTTER - 10, geo.chip, shown(token), { role: "q", state: "known", on: false, size: 11 });
}

/** @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {Twig} t */
function twig(g, geo, t) {
  if (t.stays) return;
  const [x, y, w] = [geo.left + t.step * geo.column + 9, middle(geo, t.row) - geo.chip / 2, geo.column - 18];
  if (t.kept) {
    g.globalAlpha = t.alive ? 1 : 0.55;
    draw.chip(g, x, y, w, geo.chip, shown(t.token), { role: "d", state: "known", on: t.on, size: geo.chip > 20 ? 12 : 11 });
    g.globalAlpha = 1;
    return;
  }
  draw.dashed(g, x, y, w, geo.chip, 5);
  draw.font(g, 480, 11, true);
  draw.label(g, draw.clip(g, shown(t.token), w - 8), x + w / 2, y + geo.chip / 2 + 0.5, { size: 11, mono: true, align: "center", color: "--ink-3" });
}

/** Behind the newest step: log P and score of each. @param {CanvasRenderingContext2D} g @param {Geometry} geo @param {Tree} tree @param {number} end */
function numbers(g, geo, tree, end) {
  const newest = tree.twigs.at(-1);
  if (!newest) return;
  draw.label(g, "log P", end + 56, 9, { size: 10.5, align: "right", color: "--ink-3" });
  draw.label(g, msg`score`, end + 118, 9, { size: 10.5, align: "right", color: "--ink-3" });
  for (const t of newest) {
    if (!t.kept) continue;
    const y = middle(geo, t.row);
    const best = t.row === tree.winner;
    const style = { size: 11.5, mono: true, align: /** @type {"right"} */ ("right"), weight: best || t.on ? 700 : 480, color: best ? "--d" : t.on ? "--ink" : "--ink-2" };
    draw.label(g, beam.nats(t.logP), end + 56, y, style);
    draw.label(g, beam.nats(t.score), end + 118, y, style);
    draw.label(g, requestName(t.row), end + 125, y, { size: 11, weight: best ? 700 : 480, color: best ? "--d" : "--ink-3" });
    if (!best) continue;
    g.strokeStyle = draw.css("--d");
    g.lineWidth = 1.6;
    draw.roundRect(g, end + 4, y - geo.chip / 2, SAID - 6, geo.chip, 5);
    g.stroke();
  }
}
