// @ts-check
/** Exact match against the number of clauses: what a measurement says, its lines and its chart. Two views show it. */

import { boxOf, css } from "../canvas.mjs";
import { sameWeights } from "../deck/moments.mjs";
import { h, list, set, text } from "../dom.mjs";
import { msg } from "../language.mjs";
import { plotly } from "../page/plotly.mjs";
import { figure } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context */
/** @typedef {{name: string, architecture: string, own: boolean, exact: number[]}} Family @typedef {{clauses: number[], n: number, families: Family[]}} Found */
/** What one view holds. @typedef {{running: boolean, problem: string}} Own */

const NAME = "bottleneck";
/** Sentences a point: what can be chosen. */
const COUNTS = [12, 24, 60, 120];
/** A line for each family: its dash and its mark. Hue means a role, so that families differ by form. */
const FORMS = [["solid", "circle", "●"], ["dash", "square", "■"], ["dot", "diamond", "◆"], ["dashdot", "triangle-up", "▲"], ["longdash", "x", "✕"], ["dash", "circle-open", "○"], ["dot", "square-open", "□"], ["dashdot", "diamond-open", "◇"], ["longdash", "triangle-up-open", "△"]];
const form = (/** @type {number} */ i) => FORMS[i % FORMS.length];


/** How far a share of n can be off by chance: one standard error of a proportion. Pure. @param {number} share @param {number} n */
export const error = (share, n) => Math.sqrt((share * (1 - share)) / n);

/** @returns {Own} */
export const fresh = () => ({ running: false, problem: "" });

/** How many sentences, and the button that measures or cancels. @param {() => void} again draws anew @returns {HTMLElement[]} */
export const controls = (again) => [
  h("select", { class: "clauses-count", "aria-label": msg`Sentences for each point`, onchange: again }, COUNTS.map((n) => h("option", { value: n, selected: n === 24 }, `n = ${n}`))),
  h("button", { class: "btn sm clauses-do", type: "button" }),
];

/** The controls, the lines of the legend, the sentence below and the name of the plot; returns what the plot shows.
 * @param {{select: any, button: any, legend: any, said: any, plot: any}} parts @param {Own} own @param {World} world @param {Context} context @param {() => void} again */
export function show({ select, button, legend, said, plot }, own, world, context, again) {
  const progress = world.analysis[NAME]?.progress ?? 0;
  set(select, "disabled", own.running);
  set(button, "disabled", world.role !== "writer" || world.connection !== "open");
  text(button, own.running ? msg`cancel ${Math.round(progress * 100)}%` : msg`measure`);
  button.onclick = own.running ? () => context.send({ kind: "cancel" }) : () => void measure(own, Number(select.value), context, again);
  const found = /** @type {Found | null} */ (own.running ? null : (world.analysis[NAME]?.result ?? null));
  list(legend, found?.families ?? [], (f, i) => `${f.architecture} ${i}`, () => h("li", null, h("span", { class: "mono" }), h("span")), (li, f, i) => {
    text(li.children[0], form(i)[2]);
    text(li.children[1], named(world, f));
    set(li, "data-own", f.own ? "" : null);
  });
  text(said, own.problem || (found ? msg`n = ${found.n} held-out sentences a point, ± one standard error; shaded: longer than trained.` : own.running ? msg`Every family translates the same held-out sentences.` : msg`Measures this run’s model and each family with shipped weights on the same held-out sentences.`));
  set(plot, "aria-label", found ? described(found) : msg`Not measured yet`);
  return found;
}

/** A family; of the run's own, whether it was updated since it was measured. @param {World} world @param {Family} f */
function named(world, f) {
  if (!f.own) return f.name;
  return sameWeights(world.history, world.analysis[NAME].result.moment, world.moved?.at) ? msg`this run (${f.name})` : msg`this run (${f.name}), before later updates`;
}

/** @param {World} world */
export function table(world) {
  const found = world.analysis[NAME]?.result;
  const rows = (found?.families ?? []).flatMap((/** @type {Family} */ f) => f.exact.map((share, i) => [named(world, f), found.clauses[i], share, found.n, error(share, found.n)]));
  return { columns: [msg`family`, msg`clauses`, msg`exact`, "n", msg`standard error`], rows };
}

/** @param {Own} own @param {number} n @param {Context} context @param {() => void} again */
async function measure(own, n, context, again) {
  Object.assign(own, { running: true, problem: "" });
  again();
  const reply = await context.send({ kind: "analyse", name: NAME, arguments: { n } });
  Object.assign(own, { running: false, problem: reply.ok ? "" : reply.errors.map((e) => e.message).join(" ") });
  again();
}

/** @param {Found} found */
const described = (found) => found.families.map((f) => `${f.name}: ${f.exact.map((share, i) => msg`${found.clauses[i]} clauses ${figure(share, 2)}`).join(", ")}`).join("; ");

/** Draws, or draws anew. @param {any} plot @param {Found | null} found */
export async function paint(plot, found) {
  const library = await plotly().catch((error) => text(plot, error.message));
  if (!library) return;
  const [width, height] = boxOf(plot);
  if (!width || !height) return;
  library.react(plot, ...chart(found, width, height), { displayModeBar: false, staticPlot: false });
}

/** What Plotly is given. @param {Found | null} found @param {number} width @param {number} height @returns {[any[], any]} */
function chart(found, width, height) {
  const shared = { gridcolor: css("--line"), linecolor: css("--line-2"), zeroline: false, fixedrange: true, tickfont: { family: css("--font-mono"), size: 11, color: css("--ink-3") } };
  const lines = (found?.families ?? []).map((f, i) => {
    const color = css(f.own ? "--ink" : "--ink-3");
    return {
      x: found?.clauses, y: f.exact, name: f.name, mode: "lines+markers", line: { color, width: f.own ? 2.4 : 1.3, dash: form(i)[0] }, marker: { color, size: f.own ? 8 : 7, symbol: form(i)[1] },
      error_y: { type: "data", array: f.exact.map((share) => error(share, found?.n ?? 1)), color, thickness: 1, width: 3 }, hovertemplate: `${f.name}: %{y:.2f}<extra></extra>`,
    };
  });
  const layout = {
    width, height, margin: { l: 34, r: 8, t: 8, b: 20 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest", dragmode: false, font: { family: css("--font-ui") },
    xaxis: { ...shared, range: [0.8, 5.2], tickvals: [1, 2, 3, 4, 5], showgrid: false }, yaxis: { ...shared, range: [-0.05, 1.05], tickvals: [0, 0.5, 1] },
    shapes: [{ type: "rect", layer: "below", x0: 3.5, x1: 5.2, yref: "paper", y0: 0, y1: 1, fillcolor: css("--sunk"), line: { width: 0 } }],
  };
  return [lines, layout];
}
