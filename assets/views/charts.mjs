// @ts-check
/** Loss and gradient norm over updates. Plotly draws the axes; a point is added, never the chart built again, at most ten times a second. */

import { css } from "../lib/canvas.mjs";
import { h, set, text } from "../lib/dom.mjs";
import { plotly } from "../lib/plotly.mjs";
import { figure, number, plural } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

const PERIOD = 100; // ms between two paints
const CHARTS = [
  { id: "loss", title: "Loss", role: "--d-fill" },
  { id: "norm", title: "Gradient norm", role: "--g-fill" },
];

/** What tells one curve from another: how many points, and the last of them.
 * @param {World["curve"]} curve */
export const mark = (curve) => ({ count: curve.updates.length, first: curve.updates[0], last: curve.updates.at(-1), loss: curve.loss.at(-1) });

/** From which point on a curve has to be added to what is drawn; null when it does not continue that and must be set anew. Pure.
 * @param {ReturnType<typeof mark>} drawn @param {World["curve"]} curve @returns {number | null} */
export function added(drawn, curve) {
  if (curve.updates.length < drawn.count) return null;
  const last = drawn.count - 1;
  const same = last < 0 || (curve.updates[0] === drawn.first && curve.updates[last] === drawn.last && curve.loss[last] === drawn.loss);
  return same ? drawn.count : null;
}

/** Values as a chart on a logarithmic axis takes them: what is not a positive number leaves a gap.
 * @param {any[]} values @returns {(number | null)[]} */
export const positive = (values) => values.map((v) => (number(v) > 0 && Number.isFinite(number(v)) ? number(v) : null));

/** The newest value, beside a chart's title.
 * @param {any[]} values */
export const newest = (values) => (values.length ? figure(number(values.at(-1))) : "–");

/** Few marks on a logarithmic axis: powers of ten, or 1, 2 and 5 times them where the values lie close together. Pure.
 * @param {(number | null)[]} values @param {number} [most] marks */
export function ticks(values, most = 4) {
  const all = values.flatMap((v) => (v === null ? [] : [v]));
  if (!all.length) return [];
  const [least, largest] = [all.reduce((a, v) => Math.min(a, v)), all.reduce((a, v) => Math.max(a, v))];
  const beyond = largest < 2 * least ? 10 : 2.2; // as far as the axis goes
  const [low, high] = [least / beyond, largest * beyond];
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const factors = last - first > 2 ? [1] : [1, 2, 5];
  const found = Array.from({ length: last - first + 1 }, (_, i) => factors.map((f) => Number(`${f}e${first + i}`))).flat().filter((v) => v >= low && v <= high);
  const every = Math.ceil(found.length / most);
  return found.filter((_, i) => i % every === 0);
}

/** @typedef {{held: ReturnType<typeof mark> | null, points: number, timer: any, at: number, theme: string, ticks: string[]}} Drawn */
/** @type {WeakMap<HTMLElement, Drawn>} */
const drawn = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "charts",
  title: "Loss and gradient norm",
  slot: "charts",
  phases: ["train"],
  wants: () => [],

  mount(element) {
    for (const c of CHARTS) {
      element.append(h("figure", { class: "chart", "data-chart": c.id },
        h("figcaption", { class: "ph" }, h("h2", { class: "h nowrap" }, c.title), h("span", { class: "sp" }), h("b", { class: "mono" })),
        h("div", { class: "plot", role: "img" })));
    }
    element.append(h("p", { class: "note legend" }, h("i", { class: "key-line" }), "training batch ", h("i", { class: "key-dot" }), "validation", h("span", { class: "units" }, "loss: nats a row; norm: unclipped")));
    drawn.set(element, { held: null, points: 0, timer: 0, at: 0, theme: "", ticks: [] });
  },

  draw(element, world) {
    const state = /** @type {Drawn} */ (drawn.get(element));
    const curve = world.curve;
    CHARTS.forEach((c, i) => {
      const values = c.id === "loss" ? curve.loss : curve.norm;
      text(/** @type {any} */ (element.children[i].firstElementChild?.lastElementChild), newest(values));
      set(/** @type {any} */ (element.children[i].lastElementChild), "aria-label", `${c.title}: ${newest(values)} now; ${plural(curve.updates.length, "update")}`);
    });
    clearTimeout(state.timer);
    const wait = state.at + PERIOD - performance.now();
    if (wait > 0) state.timer = setTimeout(() => paint(element, state, world.curve), wait);
    else paint(element, state, curve);
  },
};

/** @param {HTMLElement} element @param {Drawn} state @param {World["curve"]} curve */
async function paint(element, state, curve) {
  state.at = performance.now();
  const library = await plotly();
  const theme = css("--ink");
  const from = state.held && state.theme === theme ? added(state.held, curve) : null;
  CHARTS.forEach((c, i) => {
    const plot = element.children[i].lastElementChild;
    const values = c.id === "loss" ? curve.loss : curve.norm;
    const marks = ticks(positive(c.id === "loss" ? [...values, ...curve.validation.map((v) => v[1])] : values));
    if (from === null) library.react(plot, traces(c, curve, values), layout(marks), { displayModeBar: false, responsive: true });
    else if (state.ticks[i] !== marks.join()) library.relayout(plot, { "yaxis.tickvals": marks, "yaxis.ticktext": marks.map(tickText) });
    state.ticks[i] = marks.join();
    if (from === null) return;
    if (from < values.length) library.extendTraces(plot, { x: [curve.updates.slice(from)], y: [positive(values.slice(from))] }, [0]);
    if (c.id === "loss" && curve.validation.length !== state.points) library.restyle(plot, { x: [curve.validation.map((v) => v[0])], y: [positive(curve.validation.map((v) => v[1]))] }, [1]);
  });
  Object.assign(state, { theme, held: mark(curve), points: curve.validation.length });
}

/** @param {typeof CHARTS[number]} c @param {World["curve"]} curve @param {any[]} values */
function traces(c, curve, values) {
  const line = { x: [...curve.updates], y: positive(values), mode: "lines+markers", line: { color: css(c.role), width: 1.5 }, marker: { color: css(c.role), size: 3 }, hovertemplate: "update %{x}: %{y:.4g}<extra></extra>" };
  if (c.id !== "loss") return [line];
  const dots = { x: curve.validation.map((v) => v[0]), y: positive(curve.validation.map((v) => v[1])), mode: "markers", marker: { color: css("--ink"), size: 6 }, hovertemplate: "validation at %{x}: %{y:.4g}<extra></extra>" };
  return [line, dots];
}

/** @param {number} value */
const tickText = (value) => (value >= 0.001 && value < 10000 ? String(value) : figure(value));

/** @param {number[]} marks of the vertical axis @returns {any} */
function layout(marks) {
  const axis = { gridcolor: css("--line"), linecolor: css("--line-2"), zeroline: false, tickfont: { family: css("--font-mono"), size: 11, color: css("--ink-3") } };
  return {
    margin: { l: 44, r: 10, t: 6, b: 26 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    xaxis: { ...axis, rangemode: "tozero", nticks: 5, tickformat: "~g" }, yaxis: { ...axis, type: "log", automargin: true, tickmode: "array", tickvals: marks, ticktext: marks.map(tickText) },
    hoverlabel: { font: { family: css("--font-mono"), size: 11 } }, font: { family: css("--font-ui") },
  };
}
