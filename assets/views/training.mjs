// @ts-check
/** Where the gradient goes: its norm by parameter, by position and depth, and the signed gradient of the selected head's scores. */

import * as draw from "../lib/canvas.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import { cellState } from "../lib/maps.mjs";
import * as read from "../lib/reads.mjs";
import { figure, number, opName, severalStacks, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */

const [LEAST, MOST] = [-6, 1]; // powers of ten of the bars' scale
const DECADES = 6; // below the largest value on the scale of positions
const DEPTHS = 24;

/** Taps whose gradient is shown by position: what each operation gives to the next, one vector a target row. Pure.
 * @param {any[]} taps of the schema @returns {{path: string, name: string}[]} from the output back to the input */
export function depths(taps) {
  /** @type {Map<string, string>} */
  const last = new Map();
  for (const t of taps) if (t.type === "hidden" && t.gradient && t.axes.join(" ") === "b t d") last.set(t.path.slice(0, t.path.lastIndexOf(".")), t.path);
  const several = severalStacks([...last.keys()]);
  return [...last].map(([scope, path]) => ({ path, name: opName(scope, several).replace(/^dec /, "") })).reverse().slice(0, DEPTHS);
}

/** Parameters from the output back to the input, with their place on a logarithmic scale. Pure.
 * @param {[string, any][] | null} norms name and gradient norm, in model order */
export function bars(norms) {
  const all = (norms ?? []).map(([path, value]) => ({ path, value: number(value) }));
  const several = severalStacks(all.map((b) => b.path));
  return all.map((b) => ({ ...b, name: parameterName(b.path, several), share: share(b.value), finite: Number.isFinite(b.value) })).reverse();
}

/** @param {number} value on the scale, 0..1 */
function share(value) {
  if (!(value > 0)) return 0;
  return Math.max(0.01, Math.min(1, (Math.log10(value) - LEAST) / (MOST - LEAST)));
}

/** "decoder.layer0.self.W_Q.weight" as "L1 self W_Q", a bias as "L1 self W_Q bias".
 * @param {string} path @param {boolean} several */
const parameterName = (path, several) => opName(path.replace(/\.weight$/, ""), several);

/** Norm, limit and factor of this update. Pure.
 * @param {any} train a TrainView @param {number | null | undefined} limit */
export function clipping(train, limit) {
  if (!train || train.norm === null) return { norm: "–", factor: "–", said: "after backward" };
  const norm = number(train.norm);
  if (train.clip_factor === null) return { norm: figure(norm), factor: "–", said: limit ? `limit ${limit}` : "no limit" };
  const factor = number(train.clip_factor);
  return { norm: figure(norm), factor: figure(factor), said: !limit ? "no limit" : factor < 1 ? `${limit} / ${figure(norm)}` : `within ${limit}` };
}

/** The largest finite size in a map, rounded up to 1, 2 or 5 times a power of ten: a scale that reads well. Pure.
 * @param {number[]} values */
export function niceMost(values) {
  const most = values.reduce((a, v) => (Number.isFinite(v) ? Math.max(a, Math.abs(v)) : a), 0);
  if (!most) return 0;
  const ten = 10 ** Math.floor(Math.log10(most));
  return Number(([1, 2, 5, 10].find((m) => m * ten >= most * 0.999) ?? 10) * ten).valueOf();
}

/** Scales are fixed until a person fits them; 0: by the first values that come. @type {WeakMap<HTMLElement, {score: number, position: number}>} */
const scales = new WeakMap();

/** @param {string} title @param {string} part @param {string} kind of its scale */
const figurePart = (title, part, kind) => h("figure", { class: "grad", "data-part": part },
  h("figcaption", { class: "ph" }, h("h2", { class: "h nowrap" }, title), h("span", { class: "sub" })),
  h("div", { class: "cv" }, h("canvas", { class: "fill", role: "img" })),
  h("div", { class: `scale ${kind}` }, h("span"), h("i"), h("span"), h("span", { class: "dim" }), h("button", { class: "link", type: "button", title: "Fit the scale to what is shown" }, "fit")));

/** @type {import("../lib/types").View} */
export default {
  id: "training",
  title: "Where the gradient goes",
  slot: "training",
  phases: ["train"],

  wants(world) {
    const at = read.relation(world);
    const index = { b: read.request(world) };
    const positions = depths(world.schema?.taps ?? []).map((d) => ({ path: d.path, side: /** @type {const} */ ("gradient"), index, dtype: /** @type {const} */ ("f32"), reduce: /** @type {const} */ ("norm") }));
    if (!at) return positions;
    return [{ path: read.tapsOf(world, at.info, at.layer).scores, side: "gradient", index: { ...index, h: at.head }, dtype: "f32" }, ...positions];
  },

  mount(element) {
    scales.set(element, { score: 0, position: 1 });
    element.append(
      h("div", { class: "grad grad-bars" },
        h("div", { class: "ph" }, h("h2", { class: "h nowrap" }, "Gradient norm by parameter"), h("span", { class: "sp" }), h("span", { class: "note mono" }, `${figure(10 ** LEAST)} to ${10 ** MOST}, log`)),
        h("ul", { class: "norms", tabindex: 0, "aria-label": "Gradient norm by parameter, from the output back to the input" }),
        h("dl", { class: "clip" }, h("dt", null, "norm of all"), h("dd", { class: "mono c-g" }), h("dt", null, "clip factor"), h("dd", { class: "mono" }), h("dd", { class: "note" }))),
      figurePart("∂L/∂score", "score", "div"),
      figurePart("By position", "position", "log"),
    );
  },

  draw(element, world, context) {
    const [left, score, position] = /** @type {any} */ (element.children);
    const train = world.moved?.train;
    parameters(left.children[1], world, context);
    const clip = clipping(train, world.opened?.scenario?.training?.clip_norm);
    [clip.norm, clip.factor].forEach((said, i) => text(left.lastElementChild.children[i * 2 + 1], said));
    text(left.lastElementChild.lastElementChild, clip.said);
    scoreMap(score, element, world);
    positionMap(position, element, world);
  },
};

/** @param {HTMLElement} element @param {World} world @param {Context} context */
function parameters(element, world, context) {
  const norms = world.moved?.train?.parameter_norms ?? null;
  const names = (world.schema?.taps ?? []).filter((/** @type {any} */ t) => t.type === "parameter").map((/** @type {any} */ t) => [t.path.replace("parameter.", ""), NaN]);
  list(element, bars(norms ?? names), (b) => b.path, () => h("li", null, h("button", { type: "button", class: "norm" }, h("span"), h("span", { class: "bar" }, h("i")), h("b", { class: "mono" }))), (li, b) => {
    const [name, bar, value] = li.firstElementChild.children;
    set(li.firstElementChild, "class", `norm${norms ? (b.finite ? "" : " bad") : " todo"}`);
    set(li.firstElementChild, "aria-pressed", String(world.look.path === `parameter.${b.path}`));
    set(li.firstElementChild, "title", b.path);
    li.firstElementChild.onclick = () => context.look({ path: `parameter.${b.path}` });
    text(name, b.name);
    const width = `${(norms ? b.share : 0) * 100}%`;
    if (bar.firstElementChild.style.width !== width) bar.firstElementChild.style.width = width;
    text(value, norms ? figure(b.value) : "–");
  });
}

/** @param {any} part @param {HTMLElement} element @param {World} world */
function scoreMap(part, element, world) {
  const at = read.relation(world);
  if (!at) return;
  const own = /** @type {{score: number}} */ (scales.get(element));
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const value = read.readCells(world, "training", 0);
  text(part.firstElementChild.lastElementChild, `L${at.layer + 1} H${at.head + 1} ${at.info.name.replaceAll("_", " ")}`);
  const canvas = part.children[1].firstElementChild;
  const all = queries.flatMap((_, r) => keys.map((_, k) => value(r, k)));
  own.score ||= niceMost(all);
  draw.cellMap(canvas, {
    rows: queries.length, columns: keys.length, left: 62, top: 26, bottom: 2, right: 2, maxCell: 40, gap: 1.5,
    value, state: cellState(at.info, at.layer, queries, keys, value), scale: { max: own.score || 1, diverging: true },
    rowLabels: queries.map((q) => shown(q.token)), columnLabels: keys.map((_, i) => String(i)), selected: selected(world),
  });
  set(canvas, "aria-label", all.some(Number.isFinite) ? `Gradient of scores: largest size ${figure(Math.max(...all.filter(Number.isFinite).map(Math.abs)), 4)}` : "Gradient of scores: after backward");
  scale(part, own.score ? `−${figure(own.score)}` : "", own.score ? `+${figure(own.score)}` : "", "", () => (own.score = 0), () => scoreMap(part, element, world));
}

/** @param {World} world */
function selected(world) {
  const { row, key, locked } = read.focus(world);
  return locked && key !== null ? { row, column: key } : null;
}

/** @param {any} part @param {HTMLElement} element @param {World} world */
function positionMap(part, element, world) {
  const own = /** @type {{position: number}} */ (scales.get(element));
  const all = depths(world.schema?.taps ?? []);
  const rows = read.rows(world, "t");
  const b = read.request(world);
  const first = read.relation(world) ? 1 : 0;
  const found = all.map((_, i) => world.values("training", i + first)[0]);
  const value = (/** @type {number} */ d, /** @type {number} */ t) => (found[d] ? found[d].at(Math.min(b, found[d].shape[0] - 1), t) : NaN);
  const focus = read.focus(world);
  const flat = all.flatMap((_, d) => rows.map((_, t) => value(d, t)));
  text(part.firstElementChild.lastElementChild, "‖∂L/∂h‖");
  const canvas = part.children[1].firstElementChild;
  draw.cellMap(canvas, {
    rows: all.length, columns: rows.length, left: 86, top: 26, bottom: 2, right: 2, maxCell: 40, gap: 1.5, value,
    state: (d, t) => (rows[t].state === "padded" && !(value(d, t) > 0) ? "padded" : Number.isNaN(value(d, t)) ? "later" : "ok"), scale: { max: own.position, decades: DECADES },
    rowLabels: all.map((d) => d.name), columnLabels: rows.map((_, i) => String(i)), roles: ["p", "q"],
    selected: null, hover: null,
  });
  const worst = focus.row >= 0 && all.length ? value(0, focus.row) : NaN;
  set(canvas, "aria-label", Number.isFinite(worst) ? `Gradient norm by position and depth; at the output, row ${focus.row}: ${figure(worst)}` : "Gradient norm by position and depth: after backward");
  scale(part, figure(own.position / 10 ** DECADES), figure(own.position), "log", () => (own.position = niceMost(flat) || own.position), () => positionMap(part, element, world));
}

/** @param {any} part @param {string} low @param {string} high @param {string} said @param {() => any} fit @param {() => void} again */
function scale(part, low, high, said, fit, again) {
  const [a, , b, words, button] = part.lastElementChild.children;
  text(a, low);
  text(b, high);
  text(words, said);
  button.onclick = () => {
    fit();
    again();
  };
}
