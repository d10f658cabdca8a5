// @ts-check
/** Loss and gradient norm over updates. Plotly draws the axes; a point is added, never the chart built again, at most ten times a second. */

import { css } from "../lib/canvas.mjs";
import { h, set, text } from "../lib/dom.mjs";
import { plotly } from "../lib/plotly.mjs";
import { figure, number, plural } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

const PERIOD = 100; // ms between two paints
const CHARTS = [
  { id: "loss", title: "Loss", note: "nats per row that counts", role: "--d-fill" },
  { id: "norm", title: "Gradient norm", note: "before clipping", role: "--g-fill" },
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

/** @typedef {{held: ReturnType<typeof mark> | null, points: number, timer: any, at: number, theme: string}} Drawn */
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
        h("figcaption", { class: "ph" }, h("h2", { class: "h nowrap" }, c.title), h("span", { class: "sub" }, c.note), h("span", { class: "sp" }), h("b", { class: "mono" })),
        h("div", { class: "plot", role: "img" })));
    }
    element.append(h("p", { class: "note legend" }, h("i", { class: "key-line" }), "training batch ", h("i", { class: "key-dot" }), "validation"));
    drawn.set(element, { held: null, points: 0, timer: 0, at: 0, theme: "" });
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
    if (from === null) return library.react(plot, traces(c, curve, values), layout(), { displayModeBar: false, responsive: true });
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

/** @returns {any} */
function layout() {
  const axis = { gridcolor: css("--line"), linecolor: css("--line-2"), zeroline: false, tickfont: { family: css("--font-mono"), size: 11, color: css("--ink-3") } };
  return {
    margin: { l: 44, r: 10, t: 6, b: 26 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    xaxis: { ...axis, rangemode: "tozero", nticks: 5, tickformat: "~g" }, yaxis: { ...axis, type: "log", automargin: true, nticks: 4, tickformat: "~g" },
    hoverlabel: { font: { family: css("--font-mono"), size: 11 } }, font: { family: css("--font-ui") },
  };
}
