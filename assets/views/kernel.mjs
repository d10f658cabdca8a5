// @ts-check
/** The kernel of one channel: what a row adds to the read by how many rows back it stands, whatever it holds; below each lag the known row
 * that stands there now. */

import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { msg, named } from "../lib/language.mjs";
import { reserved } from "../lib/read/ribbons.mjs";
import * as read from "../lib/reads.mjs";
import { choice, choose, inPlace, kernels } from "../lib/states/kernels.mjs";
import * as ways from "../lib/states/ways.mjs";
import { figure } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/states/kernels.mjs").Kernel} Kernel */
/** All that the picture needs. values: by lag; rows: the newest row's number and what stands at each lag (""; nothing).
 * @typedef {{values: number[], newest: number, names: string[], hover: number | null}} Plot */

const LEFT = 46;
const [LEAST, MOST] = [16, 96];
/** @type {WeakMap<HTMLElement, {plot: Plot | null, hover: number | null, world: World, context: Context}>} */
const stages = new WeakMap();

/** The kernel that is looked at, or null. @param {World} world @returns {Kernel | null} */
const shown = (world) => {
  const all = kernels(world);
  return all[Math.min(world.look.layer, all.length - 1)] ?? null;
};

/** @param {World} world @param {Kernel} kernel */
const channelOf = (world, kernel) => Math.min(world.look.head, kernel.channels - 1);

/** @type {import("../lib/types").View} */
export default {
  id: "kernel",
  title: "Kernel",
  slot: "map",
  phases: ["train", "prefill", "decode"],
  applies: inPlace,
  wants(world) {
    const kernel = shown(world);
    return kernel ? [{ path: kernel.path, index: { [kernel.channel]: channelOf(world, kernel) }, dtype: "f32" }] : [];
  },

  mount(element, context) {
    const canvas = h("canvas", { class: "kernel-plot", role: "img", tabindex: 0, "data-arrows": true });
    element.append(
      h("div", { class: "ph states-head" }, h("h2", { class: "h nowrap" }, msg`Kernel`), h("span", { class: "sub" }), h("span", { class: "sp" }), choice(),
        h("span", { class: "units", role: "group", "aria-label": msg`Channel` }, h("button", { type: "button", "aria-label": msg`Channel before` }, "‹"), h("button", { type: "button", "aria-label": msg`Channel after` }, "›")),
        h("div", { class: "seg tabs", role: "group", "aria-label": msg`Layer` })),
      h("div", { class: "kernel-pair" }, canvas, h("canvas", { class: "ways-plot", role: "img" })),
      h("p", { class: "states-read" }, h("span", { class: "mono" })),
      h("p", { class: "note kernel-means" }),
    );
    stages.set(element, { plot: null, hover: null, world: /** @type {any} */ (null), context });
    listen(element, canvas);
  },

  draw(element, world, context) {
    const stage = /** @type {any} */ (stages.get(element));
    Object.assign(stage, { world, context });
    const kernel = shown(world);
    head(/** @type {any} */ (element.children[0]), world, context, kernel);
    stage.plot = kernel ? plot(world, kernel, stage.hover) : null;
    text(/** @type {any} */ (element.children[2].firstElementChild), stage.plot ? said(stage.plot) : "");
    text(/** @type {any} */ (element.children[3]), kernel?.formula === null || !kernel ? "" : (world.schema?.formulas[kernel.formula]?.means ?? ""));
    const [canvas, second] = /** @type {any} */ (element.children[1].children);
    const both = ways.found(world);
    hide(second, !ways.applies(world));
    set(second, "aria-label", both ? msg`Output of the channel by row, in each way that it can run` : msg`not measured yet`);
    set(canvas, "aria-label", stage.plot ? msg`Kernel by lag. ${said(stage.plot)} Left and right choose a lag.` : msg`Kernel by lag`);
    return () => {
      if (stage.plot) paint(canvas, stage.plot);
      if (!second.hidden) ways.plot(second, both?.ways ?? [], both?.ways.map((w) => named(w.schedule)) ?? []);
    };
  },

  table(world) {
    const kernel = shown(world);
    const { values, names } = kernel ? plot(world, kernel, null) : { values: [], names: [] };
    return { columns: [msg`lag`, msg`row that stands there now`, msg`kernel`], rows: values.map((v, lag) => [lag, names[lag], v]) };
  },
};

/** @param {World} world @param {Kernel} kernel @param {number | null} hover @returns {Plot} */
export function plot(world, kernel, hover) {
  const known = world.values("kernel", 0)[0];
  const c = known ? Math.min(channelOf(world, kernel), known.shape[0] - 1) : 0;
  const rows = read.rows(world, read.rows(world, "t").some(read.known) || !read.rows(world, "s").length ? "t" : "s");
  const newest = read.lastKnown(rows);
  const count = Math.min(kernel.lags, MOST, Math.max(LEAST, read.phase(world) === "train" ? rows.length : reserved(world, { query: "t", key: "t" }), newest + 1));
  const lags = Array.from({ length: count }, (_, lag) => lag);
  return { values: lags.map((lag) => (known ? known.at(c, lag) : NaN)), newest, names: lags.map((lag) => (lag <= newest ? rows[newest - lag].token : "")), hover: hover !== null && hover < count ? hover : null };
}

/** The line below: the lag that is pointed at, or the one that weighs most. @param {Plot} p */
export function said(p) {
  const heaviest = p.values.reduce((best, v, lag) => (Math.abs(v) > Math.abs(p.values[best] || 0) ? lag : best), 0);
  const lag = p.hover ?? heaviest;
  const value = Number.isFinite(p.values[lag]) ? figure(p.values[lag], 2) : "–";
  if (p.names[lag]) return msg`lag ${lag}, now row ${p.newest - lag} ${p.names[lag]}: K = ${value}`;
  return msg`lag ${lag}: K = ${value}`;
}

/** @param {any} head @param {World} world @param {Context} context @param {Kernel | null} kernel */
function head(head, world, context, kernel) {
  const [, sub, , shows, channels, layers] = head.children;
  choose(shows, world, context);
  const at = kernel ? channelOf(world, kernel) : 0;
  text(sub, kernel ? msg`channel ${at} of ${kernel.channels}, by lag; the same at every row` : "");
  for (const button of channels.children) set(button, "disabled", !kernel);
  [-1, 1].forEach((way, i) => (channels.children[i].onclick = () => kernel && context.look({ head: (at + way + kernel.channels) % kernel.channels, lock: null, layout: {} })));
  const all = kernels(world);
  hide(layers, all.length < 2);
  list(layers, layers.hidden ? [] : all, (k) => k.path, () => h("button", { type: "button" }), (button, k, i) => {
    text(button, k.name);
    set(button, "aria-pressed", String(k === all[Math.min(world.look.layer, all.length - 1)]));
    button.onclick = () => context.look({ layer: i, lock: null, path: null, layout: {} });
  });
}

/** @param {HTMLCanvasElement} canvas @param {Plot} p */
function paint(canvas, p) {
  const [g, width, height] = draw.fit(canvas);
  const most = Math.max(...p.values.map((v) => Math.abs(v) || 0), 1e-12);
  const signed = p.values.some((v) => v < 0);
  const [top, bottom] = [14, height - 40];
  const zero = signed ? (top + bottom) / 2 : bottom;
  const slot = (width - LEFT) / p.values.length;
  const y = (/** @type {number} */ v) => zero - (v / most) * (zero - top);
  for (const v of signed ? [most, 0, -most] : [most, 0]) {
    g.fillStyle = draw.css("--line-2");
    g.fillRect(LEFT, y(v) - 0.5, width - LEFT, 1);
    draw.label(g, figure(v, 2), LEFT - 6, y(v), { size: 10.5, mono: true, align: "right", color: "--ink-3" });
  }
  p.values.forEach((v, lag) => {
    const x = LEFT + lag * slot;
    const on = lag === p.hover;
    if (on) {
      g.fillStyle = draw.css("--q-wash");
      g.fillRect(x, top - 10, slot, bottom - top + 12);
    }
    if (Number.isFinite(v)) {
      g.fillStyle = draw.css(on ? "--v-fill" : lag <= p.newest ? "--ink-2" : "--ink-3");
      g.fillRect(x + slot * 0.16, Math.min(zero, y(v)), slot * 0.68, Math.max(1, Math.abs(y(v) - zero)));
    } else draw.dashed(g, x + slot * 0.16, top, slot * 0.68, bottom - top, 2);
    const every = slot > 17 ? 1 : slot > 8 ? 4 : 8;
    if (lag % every === 0) draw.label(g, String(lag), x + slot / 2, height - 24, { size: 10.5, mono: true, align: "center", color: on ? "--ink" : "--ink-3" });
    if (slot < 22 || !p.names[lag]) return;
    draw.font(g, 480, 10.5, true);
    draw.label(g, draw.clip(g, p.names[lag], slot - 2), x + slot / 2, height - 9, { size: 10.5, mono: true, align: "center", color: "--k" });
  });
  draw.label(g, msg`lag`, 0, height - 24, { size: 11, color: "--ink-2" });
  if (slot >= 22) draw.label(g, msg`row`, 0, height - 9, { size: 11, color: "--ink-2" });
}

/** Pointer and keys. @param {HTMLElement} element @param {HTMLCanvasElement} canvas */
function listen(element, canvas) {
  const point = (/** @type {number | null} */ lag) => {
    const stage = /** @type {any} */ (stages.get(element));
    stage.hover = lag === null ? null : Math.max(0, Math.min((stage.plot?.values.length ?? 1) - 1, lag));
    element.dispatchEvent(new Event("box"));
  };
  const at = (/** @type {MouseEvent} */ event) => {
    const { plot: p } = /** @type {any} */ (stages.get(element));
    const slot = (canvas.clientWidth - LEFT) / (p?.values.length ?? 1);
    const { x } = draw.pointedAt(event);
    return x < LEFT ? null : Math.floor((x - LEFT) / slot);
  };
  canvas.onpointermove = (event) => point(at(event));
  canvas.onpointerleave = canvas.onblur = () => point(null);
  canvas.onkeydown = (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    const stage = /** @type {any} */ (stages.get(element));
    point((stage.hover ?? -1) + way);
    if (stage.plot) stage.context.say(said({ ...stage.plot, hover: stage.hover }));
    event.preventDefault();
    event.stopPropagation();
  };
}
