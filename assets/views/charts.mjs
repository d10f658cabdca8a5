// @ts-check
/** Loss, or gradient norm before and after clipping, over the updates of this path. Plotly draws it, at most ten times a second. */

import { boxOf, css } from "../lib/canvas.mjs";
import { ahead, axis, finite, positive, small, thinned, tickText } from "../lib/training/curves.mjs";
import { h, hide, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import { choice } from "../lib/draw/panels.mjs";
import { plotly } from "../lib/page/plotly.mjs";
import { broken } from "../lib/told/states.mjs";
import { number, percent } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {World["curve"]} Curve */

const PERIOD = 100; // ms between two paints

/** @typedef {{show: "loss" | "norm", log: boolean, timer: any, at: number, curve: Curve | null, limit: number | null, drawn: boolean, hover: number | null, broken: number | null}} Own what is shown, and when it was painted; broken: the update that was not made, its numbers being none */
/** @type {WeakMap<HTMLElement, Own>} */
const owns = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "charts",
  title: "Loss and gradient norm",
  slot: "charts",
  phases: ["train"],
  applies: (world) => world.look.chart !== "clauses" || world.opened?.scenario?.task !== "translation",
  wants: () => [],

  mount(element, context) {
    owns.set(element, { show: "loss", log: true, timer: 0, at: 0, curve: null, limit: null, drawn: false, hover: null, broken: null });
    element.append(
      h("div", { class: "ph" }, choice("show", msg`Which curve`, [["loss", msg`Loss`], ["norm", msg`Gradient norm`]]), h("span", { class: "sp" }), h("button", { class: "link by-clauses", type: "button", hidden: true, title: msg`The bottleneck: exact match against the number of clauses`, onclick: () => context.look({ chart: "clauses" }) }, msg`By clauses…`), choice("log", msg`Scale`, [["lin", msg`lin`], ["log", msg`log`]])),
      h("div", { class: "plot", role: "img" }),
      h("p", { class: "legend" }, h("span", null, h("i", { class: "key-line" }), h("span")), h("span", null, h("i", { class: "key-dot" }), h("span")), h("span", { hidden: true }, h("i", { class: "key-dot open" }), h("span"))),
      h("p", { class: "leak-said", hidden: true }),
      h("p", { class: "mono curve-said", "aria-live": "off" }),
    );
  },

  draw(element, world) {
    const own = /** @type {Own} */ (owns.get(element));
    own.curve = world.curve;
    own.limit = world.opened?.scenario?.training?.clip_norm ?? null;
    own.broken = broken(world) ? (world.moved?.train?.update ?? null) : null;
    hide(/** @type {any} */ (element.querySelector(".by-clauses")), world.opened?.scenario?.task !== "translation");
    words(element, own);
    clearTimeout(own.timer);
    if ("paper" in document.documentElement.dataset) return void paint(element, own); // it is copied at once
    const wait = own.at + PERIOD - performance.now();
    own.timer = setTimeout(() => paint(element, own), Math.max(0, wait));
  },

  table(world) {
    const { curve } = world;
    const validation = new Map(curve.validation);
    const written = new Map((curve.written ?? []).map((w) => [w[0], w[1]]));
    const columns = [msg`update`, msg`loss (nats a counted row)`, msg`gradient norm before clipping`, msg`gradient norm after clipping`, msg`validation loss`, ...(written.size ? [msg`loss as it writes`] : [])];
    return { columns, rows: curve.updates.map((u, i) => [u, number(curve.loss[i]), number(curve.norm[i]), number(curve.clipped[i]), validation.get(u) ?? null, ...(written.size ? [number(written.get(u) ?? NaN)] : [])]) };
  },
};

/** Title, legend and the line that says the newest value or the one under the pointer.
 * @param {HTMLElement} element @param {Own} own */
function words(element, own) {
  const curve = /** @type {Curve} */ (own.curve);
  const [head, plot, legend, leak, value] = /** @type {any} */ (element.children);
  const now = /** @type {Record<string, string>} */ ({ show: own.show, log: own.log ? "log" : "lin" });
  for (const group of head.querySelectorAll("[data-choice]")) {
    for (const button of group.children) {
      set(button, "aria-pressed", String(now[group.dataset.choice] === button.dataset.value));
      button.onclick = () => {
        if (group.dataset.choice === "show") own.show = button.dataset.value;
        else own.log = button.dataset.value === "log";
        words(element, own);
        void paint(element, own);
      };
    }
  }
  const loss = own.show === "loss";
  const said = valueWords(curve, own);
  text(value, said);
  set(value, "data-broken", own.broken !== null && own.hover === null);
  set(plot, "aria-label", msg`${loss ? msg`Loss` : msg`Gradient norm`}: ${said}; ${counted(curve.updates.length, "{0} update", "{0} updates")}`);
  const [line, dot, open] = legend.children;
  const newest = curve.written?.at(-1);
  open.hidden = leak.hidden = !loss || !newest;
  text(open.lastElementChild, msg`as it writes, row by row`);
  text(leak, newest ? leakWords(newest) : "");
  set(leak, "title", msg`Rows see their own labels. The held-out examples are read once as in training, and once row by row, each row before its label exists, as the model reads when it writes.`);
  text(line.lastElementChild, loss ? msg`training, nats a row` : msg`before clipping`);
  set(line.firstElementChild, "class", `key-line${loss ? "" : " before"}`);
  set(dot.firstElementChild, "class", loss ? "key-dot" : "key-line after");
  set(legend, "title", loss ? msg`The validation loss is that of ${curve.held_out} held-out examples, after every ${curve.validated_every} updates` : null);
  text(dot.lastElementChild, loss && newest ? msg`validation` : loss ? msg`validation, ${curve.held_out} held out, every ${curve.validated_every}` : msg`after clipping` + (own.limit === null ? "" : `, ${msg`limit ${own.limit}`}`));
}

/** What leakage hides, with numbers. Pure. @param {[number, number, number, number]} newest of `Curve.written` */
export const leakWords = ([, loss, right, inSight]) => msg`Leakage: ${percent(number(inSight))} right with the label in sight, ${percent(number(right))} as it writes (${small(number(loss))} nats).`;

/** @param {Curve} curve @param {Own} own */
export function valueWords(curve, { show, hover, broken }) {
  if (broken !== null && hover === null) return msg`update ${broken}: diverged`;
  const at = hover === null ? curve.updates.length - 1 : curve.updates.findIndex((u) => u >= hover);
  if (at < 0) return "–";
  const update = msg`update ${curve.updates[at]}`;
  if (show === "norm") return msg`${update}: ${small(number(curve.norm[at]))} → ${small(number(curve.clipped[at]))}`;
  const validation = curve.validation.find(([u]) => u === curve.updates[at]);
  return msg`${update}: ${small(number(curve.loss[at]))}` + (validation ? `, ${msg`validation ${small(number(validation[1]))}`}` : "");
}

/** @param {HTMLElement} element @param {Own} own */
async function paint(element, own) {
  own.at = performance.now();
  const plot = /** @type {any} */ (element.children[1]);
  const library = /** @type {any} */ (globalThis).Plotly ?? (await plotly().catch((error) => text(plot, error.message))); // the next update tries again
  if (!library) return;
  const size = boxOf(plot);
  if (!own.curve || !size[0] || !size[1]) return;
  if (!own.drawn) plot.replaceChildren();
  library.react(plot, ...chart(own.curve, own, size), { displayModeBar: false });
  if (own.drawn) return;
  own.drawn = true;
  plot.on("plotly_hover", (/** @type {any} */ e) => hovered(element, own, e.points[0]?.x ?? null));
  plot.on("plotly_unhover", () => hovered(element, own, null));
}

/** @param {HTMLElement} element @param {Own} own @param {number | null} update */
function hovered(element, own, update) {
  own.hover = update;
  words(element, own);
}

/** What Plotly is given.
 * @param {Curve} curve @param {Own} own @param {[number, number]} size @returns {[any[], any]} */
function chart(curve, { show, log, limit, broken }, [width, height]) {
  const ready = log ? positive : finite;
  const [loss, last] = [show === "loss", curve.updates.length - 1];
  const values = ready(loss ? curve.loss : curve.norm);
  const second = loss ? ready(curve.validation.map((v) => v[1])) : ready(curve.clipped);
  const third = loss ? ready((curve.written ?? []).map((v) => v[1])) : [];
  const { marks, range } = axis([...values, ...second, ...third, ...(loss || limit === null ? [] : [limit])], log, height < 110 ? 3 : 5);
  const role = css(loss ? "--d-fill" : "--g-fill");
  const quiet = { hoverinfo: "none" };
  const line = { ...thinned(curve.updates, values), ...quiet, mode: "lines", line: { color: loss ? css("--ink-3") : role, width: 1.5 }, connectgaps: false };
  const other = loss
    ? { x: curve.validation.map((v) => v[0]), y: second, hoverinfo: "skip", mode: "markers", marker: { color: css("--ink"), size: 6 } }
    : { ...thinned(curve.updates, second), hoverinfo: "skip", mode: "lines", line: { color: css("--ink"), width: 1.5, dash: "dot" } };
  const written = { x: (curve.written ?? []).map((v) => v[0]), y: third, hoverinfo: "skip", mode: "lines+markers", line: { color: css("--ink"), width: 1.2, dash: "dot" }, marker: { color: css("--surface"), size: 7, line: { color: css("--ink"), width: 1.5 } } };
  const now = { x: last < 0 ? [] : [curve.updates[last]], y: last < 0 ? [] : [values[last]], hoverinfo: "skip", mode: "markers", cliponaxis: false, marker: { color: role, size: 9 } };
  return [[line, other, ...(third.length ? [written] : []), now], layout(width, height, ahead(broken ?? curve.updates[last] ?? 1), { marks, range, log }, broken ?? curve.updates[last] ?? null, loss ? null : limit, broken !== null)];
}

/** @param {number} width @param {number} height @param {number} end of the updates @param {{marks: number[], range: number[], log: boolean}} y @param {number | null} update the newest @param {number | null} limit @param {boolean} bad whether that update has no numbers @returns {any} */
function layout(width, height, end, y, update, limit, bad) {
  const shared = { gridcolor: css("--line"), linecolor: css("--line-2"), zeroline: false, fixedrange: true, tickfont: { family: css("--font-mono"), size: 11, color: css("--ink-3") } };
  const rule = (/** @type {any} */ more) => ({ type: "line", layer: "below", line: { color: css("--ink-2"), width: 1, dash: "dot" }, ...more });
  return {
    width, height, margin: { l: 46, r: 10, t: height < 90 ? 5 : 8, b: 20 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "x", dragmode: false, font: { family: css("--font-ui") },
    xaxis: { ...shared, range: [0, end], nticks: 6, tickformat: "~d", showgrid: false },
    yaxis: { ...shared, type: y.log ? "log" : "linear", range: y.range, tickmode: "array", tickvals: y.marks, ticktext: y.marks.map(tickText) },
    annotations: bad ? [{ x: update, y: 0, yref: "paper", yanchor: "bottom", xanchor: Number(update) > end / 2 ? "right" : "left", showarrow: false, text: `✕ ${msg`diverged`}`, font: { color: css("--d"), size: 11.5 } }] : [],
    shapes: [
      ...(update === null ? [] : [rule({ x0: update, x1: update, y0: 0, y1: 1, yref: "paper", ...(bad ? { line: { color: css("--d"), width: 1.5 } } : {}) })]),
      ...(limit === null || (y.log && !(limit > 0)) ? [] : [rule({ x0: 0, x1: 1, xref: "paper", y0: limit, y1: limit, line: { color: css("--g"), width: 1, dash: "dash" } })]),
    ],
  };
}
