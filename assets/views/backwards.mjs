// @ts-check
/** Back through time: the loop of an update as a chain, its loss above, what each link does to the gradient, and how much is left. */

import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { follow, ground, pan, seen } from "../lib/draw/pan.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as time from "../lib/training/backwards.mjs";
import * as read from "../lib/reads.mjs";
import { figure } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/training/backwards.mjs").Ways} Ways */
/** @typedef {{pan: import("../lib/draw/pan.mjs").Pan, step: number, loop: number, of: string, found: Ways | null, world: World}} Own */

const [GUTTER, LEAST] = [64, 58];
/** @type {WeakMap<HTMLElement, Own>} */
const owns = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "backwards",
  title: "Back through time",
  slot: "map",
  phases: ["train"],
  applies: time.timeShown,
  wants: () => [],

  mount(element, context) {
    const p = pan({ role: "img" }, "backwards-pan");
    owns.set(element, { pan: p, step: Infinity, loop: Infinity, of: "", found: null, world: /** @type {any} */ (null) });
    const step = (/** @type {number} */ by) => move(element, by);
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h nowrap" }, msg`Back through time`), h("div", { class: "seg tabs", role: "group", "aria-label": msg`Layer` }), h("span", { class: "sp" }),
        h("span", { class: "units", role: "group", "aria-label": msg`Along the loop` },
          [["«", msg`To the start: forward from row 0`, -Infinity], ["‹", msg`One row before`, -1], ["›", msg`One row on: forward, then back`, 1], ["»", msg`To the end: back at row 0`, Infinity]].map(([sign, name, by]) => h("button", { type: "button", "aria-label": name, title: name, onclick: () => step(Number(by)) }, sign)))),
      h("p", { class: "backwards-said", "aria-live": "polite" }),
      p.element,
      h("p", { class: "beams-forms" }, [["bar", msg`norm of the product of Jacobians, log`], ["bound", msg`product of their norms: at most`], ["todo", msg`not reached yet`]].map(([form, said]) => h("span", null, h("i", { class: `bw ${form}` }), said))),
    );
    p.canvas.onclick = (event) => {
      const own = /** @type {Own} */ (owns.get(element));
      const row = own.found && own.world.role === "writer" ? Math.floor((draw.pointedAt(event).x + p.left - GUTTER) / slot(own)) : -1;
      if (own.found && row >= 0 && row < own.found.tokens.length) void context.send({ kind: "analyse", name: time.NAME, arguments: { request: read.request(own.world), row } });
    };
  },

  draw(element, world, context) {
    const own = /** @type {Own} */ (owns.get(element));
    const drawn = read.trainRows(world).length > 0;
    const found = time.ways(world);
    const doing = measureWhenIdle(world, context, time.NAME, { request: read.request(world) }, drawn && !found, true, true);
    Object.assign(own, { world, found });
    const of = `${world.moved?.train?.update} ${read.request(world)} ${found?.row}`;
    if (own.of !== of) Object.assign(own, { of, step: Infinity });
    const [head, line] = /** @type {any} */ (element.children);
    if (found) own.loop = Math.min(own.loop, Math.max(0, found.loops.length - 1));
    layers(head.children[1], own, () => element.dispatchEvent(new Event("box")));
    const loop = found?.loops[own.loop];
    text(line, !drawn ? msg`Step draws a batch; then its loop is measured.` : !loop || !found ? (doing.running ? msg`Measuring…` : doing.failed || msg`Measured as soon as the run rests.`) : time.said(found, loop, at(own)));
    set(own.pan.canvas, "aria-label", line.textContent);
    const [width] = draw.boxOf(own.pan.element);
    const wide = found ? GUTTER + slot(own) * found.tokens.length : 0;
    ground(own.pan, wide > width ? wide : 0);
    own.pan.redraw = () => paint(own);
    return () => paint(own);
  },

  table(world) {
    const found = time.ways(world);
    const rows = (found?.loops ?? []).flatMap((l) => l.gradients.map((g, t) => [l.scope, t, found?.tokens[t] ?? "", found?.losses[t] ?? null, l.links[t], l.products[t], l.bounds[t], g, l.signals[t]]));
    return { columns: [msg`loop`, msg`row`, msg`token`, msg`loss (nats)`, msg`‖J‖ to the next row`, msg`‖∏J‖ from the followed row`, "∏‖J‖", "‖∂L/∂s‖", msg`‖∂L/∂s‖ of the followed row alone`], rows };
  },
};

/** @param {Own} own */
const at = (own) => time.standOf(Math.min(own.step, 2 * (own.found?.tokens.length ?? 1) - 1), own.found?.tokens.length ?? 1);

/** @param {HTMLElement} element @param {number} by */
function move(element, by) {
  const own = /** @type {Own} */ (owns.get(element));
  const end = 2 * (own.found?.tokens.length ?? 1) - 1;
  own.step = Math.max(0, Math.min(end, Math.min(own.step, end) + by));
  element.dispatchEvent(new Event("box"));
}

/** @param {any} element @param {Own} own @param {() => void} again */
function layers(element, own, again) {
  const all = own.found?.loops ?? [];
  hide(element, all.length < 2);
  list(element, element.hidden ? [] : all, (l) => l.scope, () => h("button", { type: "button" }), (button, l, i) => {
    text(button, l.scope.split(".").at(-1)?.replace(/^layer(\d+)$/, (_, n) => `L${Number(n) + 1}`) ?? l.scope);
    set(button, "title", l.scope);
    set(button, "aria-pressed", String(i === own.loop));
    button.onclick = () => {
      own.loop = i;
      again();
    };
  });
}

/** Width of a row. @param {Own} own */
function slot({ pan: p, found }) {
  const [width] = draw.boxOf(p.element);
  return Math.max(LEAST, Math.min(96, (width - GUTTER - 4) / Math.max(1, found?.tokens.length ?? 1)));
}

/** @param {Own} own */
function paint(own) {
  const { pan: p, found } = own;
  const [g, , height, scrolled] = seen(p);
  const loop = found?.loops[own.loop];
  if (!found || !loop) return;
  const [here, wide] = [at(own), slot(own)];
  follow(p, "row", `${own.of} ${own.step}`, { left: (here.row - 1) * wide, right: GUTTER + (here.row + 2) * wide });
  const y = { loss: 10, state: 30, chip: Math.min(28, height * 0.16), bars: 0, end: height - 18 };
  y.bars = y.state + y.chip + 22;
  g.save();
  g.beginPath();
  g.rect(GUTTER - 4, 0, 1e5, height);
  g.clip();
  g.translate(GUTTER - scrolled, 0);
  found.tokens.forEach((_, t) => column(g, found, loop, here, t, wide, y));
  g.restore();
  [[msg`loss`, y.loss], [msg`state`, y.state + y.chip / 2], ["∏J", y.bars + 12], [msg`from row ${found.row}`, y.bars + 26]].forEach(([name, at], i) => draw.label(g, String(name), 0, Number(at), { size: i < 2 ? 12 : i === 2 ? 13 : 10.5, weight: i === 3 ? 480 : 600, color: i === 3 ? "--ink-3" : "--ink" }));
}

/** @param {CanvasRenderingContext2D} g @param {Ways} of @param {time.Loop} loop @param {time.Stand} here @param {number} t @param {number} wide @param {{loss: number, state: number, chip: number, bars: number, end: number}} y */
function column(g, of, loop, here, t, wide, y) {
  const middle = (t + 0.5) * wide;
  const [made, back] = [time.made(here, t), time.reached(here, t)];
  const box = Math.min(46, wide - 16);
  const loss = of.losses[t];
  draw.label(g, loss === null ? "–" : figure(loss, 2), middle, y.loss, { size: 11, mono: true, weight: t === of.row ? 700 : 480, align: "center", color: t === of.row ? "--d" : "--ink-2" });
  g.fillStyle = draw.css(back ? "--g-fill" : "--line-2");
  const thick = t === of.row ? 5 : 1.6;
  if (loss !== null && made) g.fillRect(middle - thick / 2, y.loss + 8, thick, y.state - y.loss - 9);
  link(g, loop, here, t, middle, wide, box, y);
  if (!made) draw.dashed(g, middle - box / 2, y.state, box, y.chip, 5);
  else {
    const on = t === here.row;
    g.strokeStyle = draw.css(on ? "--ink" : back ? "--g-fill" : "--line-2");
    g.lineWidth = on ? 2.4 : 1.2;
    g.fillStyle = draw.css("--surface");
    draw.roundRect(g, middle - box / 2, y.state, box, y.chip, 5);
    g.fill();
    g.stroke();
  }
  draw.label(g, `s${t}`, middle, y.state + y.chip / 2 + 0.5, { size: 11.5, mono: true, weight: t === here.row ? 700 : 520, align: "center", color: made ? "--ink" : "--ink-3" });
  bar(g, of, loop, here, t, middle, box, y);
  draw.font(g, t === here.row ? 700 : 480, 11, true);
  draw.label(g, draw.clip(g, `${t} ${of.tokens[t]}`, wide - 4), middle, y.end + 9, { size: 11, mono: true, weight: t === here.row ? 700 : 480, align: "center", color: t === here.row ? "--q" : "--ink-2" });
}

/** From a state to the next one, and back: as thick as the gradient that arrives. @param {CanvasRenderingContext2D} g @param {time.Loop} loop @param {time.Stand} here @param {number} t @param {number} middle @param {number} wide @param {number} box @param {{state: number, chip: number}} y */
function link(g, loop, here, t, middle, wide, box, y) {
  if (t + 1 >= loop.links.length) return;
  const [from, to, at] = [middle + box / 2, middle + wide - box / 2, y.state + y.chip / 2];
  const cut = loop.links[t] === null;
  const back = time.reached(here, t);
  const top = Math.max(...loop.gradients, 1e-30);
  const thick = back && !cut ? Math.max(1.5, (loop.gradients[t] / top) * y.chip * 0.6) : 1.4;
  g.fillStyle = draw.css(back && !cut ? "--g-fill" : time.made(here, t + 1) ? "--ink-3" : "--line-2");
  if (cut) return draw.cross(g, (from + to) / 2, at, 4, "--bad");
  g.fillRect(from, at - thick / 2, to - from, thick);
  if (back) {
    g.beginPath();
    g.moveTo(from - 1, at);
    g.lineTo(from + 6, at - Math.max(4, thick * 0.8));
    g.lineTo(from + 6, at + Math.max(4, thick * 0.8));
    g.fill();
  }
  draw.label(g, back ? figure(loop.links[t] ?? NaN, 2) : "–", middle + wide / 2, y.state + y.chip + 9, { size: 10.5, mono: true, align: "center", color: back ? "--g" : "--ink-3" });
}

/** What is left of row r's gradient at this state: the norm of the product, inside the product of the norms. @param {CanvasRenderingContext2D} g @param {Ways} of @param {time.Loop} loop @param {time.Stand} here @param {number} t @param {number} middle @param {number} box @param {{bars: number, end: number}} y */
function bar(g, of, loop, here, t, middle, box, y) {
  const room = y.end - y.bars - 18; // above the highest stands its number
  const x = middle - box / 2;
  const high = (/** @type {number} */ v) => Math.max(1, time.height(loop, v) * room);
  if (t > of.row) return;
  if (!time.reached(here, t)) return draw.dashed(g, x, y.end - room * 0.5, box, room * 0.5, 3);
  const [value, bound] = [loop.products[t], loop.bounds[t]];
  if (value === null) return draw.label(g, msg`cut`, middle, y.end - 10, { size: 11, align: "center", color: "--bad" });
  if (bound !== null) {
    g.setLineDash([2, 2]);
    g.strokeStyle = draw.css("--ink-3");
    g.strokeRect(x + 0.5, y.end - high(bound), box - 1, high(bound));
    g.setLineDash([]);
  }
  g.fillStyle = draw.css("--g-fill");
  g.fillRect(x, y.end - high(value), box, high(value));
  draw.label(g, figure(value, 2), middle, y.end - high(Math.max(value, bound ?? 0)) - 8, { size: 11, mono: true, weight: 600, align: "center", color: "--g" });
}
