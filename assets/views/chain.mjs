// @ts-check
/** Of a model without reads: rows above, the state that is carried below, on one axis of time. */

import * as draw from "../lib/canvas.mjs";
import { at, chain, description, paint } from "../lib/states/chains.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { follow, ground, pan, seen } from "../lib/draw/pan.mjs";
import * as read from "../lib/reads.mjs";
import { cutShown } from "../lib/setup/cut.mjs";
import * as tapes from "../lib/states/tapes.mjs";
import { join } from "../lib/draw/timeaxis.mjs";
import { tabs } from "./read.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/states/chains.mjs").Chain} Chain */

const NAME = "chain";
/** @type {WeakMap<HTMLElement, {pan: import("../lib/draw/pan.mjs").Pan, scene: Chain | null, world: World}>} */
const kept = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "What each row writes and what is carried",
  slot: "read",
  phases: ["prefill", "decode"],
  applies: (world) => tapes.alone(world) && !cutShown(world),
  wants: tapes.gateSelectors,

  mount(element, context) {
    const p = pan({ role: "img" }, "chain-pan");
    join(p);
    const held = { pan: p, scene: /** @type {Chain | null} */ (null), world: /** @type {any} */ (null) };
    kept.set(element, held);
    element.append(h("div", { class: "seg tabs", role: "group", "aria-label": msg`Request`, hidden: true }), h("div", { class: "chain-body" }, p.element, h("ul", { class: "chain-legend" })));
    const find = (/** @type {MouseEvent} */ event) => {
      const { x, y } = draw.pointedAt(event);
      return held.scene ? at(held.scene, x, y, p.left) : null;
    };
    p.canvas.onpointermove = (event) => {
      const place = find(event);
      context.hover(place?.owner === tapes.owner(held.world) ? { row: place.row, key: held.world.look.lock?.key ?? 0 } : null);
    };
    p.canvas.onpointerleave = () => context.hover(null);
    p.canvas.onmousedown = (event) => event.preventDefault();
    p.canvas.onclick = (event) => {
      const place = find(event);
      if (place) context.look(lockOn(held.world, place.owner, place.row));
    };
  },

  draw(element, world, context) {
    const held = /** @type {any} */ (kept.get(element));
    held.world = world;
    tabs(/** @type {any} */ (element.firstElementChild), world, context);
    const p = held.pan;
    const [width, height] = draw.boxOf(p.element);
    const scene = (held.scene = chain(world, width, height, tapes.values(world, NAME, tapes.gateSelectors(world).length)));
    legend(element, world, scene);
    ground(p, scene.geo.long ? scene.geo.width : 0);
    set(p.canvas, "aria-label", description(world, scene));
    p.redraw = () => picture(held);
    return () => picture(held);
  },

  table(world) {
    const c = chain(world, 800, 180, tapes.values(world, NAME, tapes.gateSelectors(world).length));
    const number = (/** @type {number} */ v) => (Number.isNaN(v) ? null : v);
    const lines = [c.source, c.target].flatMap((l) => (l ? [l] : []));
    const rows = lines.flatMap((l) => l.rows.flatMap((p, i) => (p.kind === "next" || (p.kind === "unknown" && !p.token) ? [] : [[l.owner === "s" ? msg`source` : msg`target`, i, p.token, number(l.write(i)), number(l.keep(i)), read.decides(world, l.owner, i)]])));
    return { columns: [msg`rows of`, msg`row`, msg`token`, msg`written (mean)`, msg`kept (mean)`, msg`decides`], rows };
  },
};

/** What a click on a row looks at: its first tape at that row; locked again, it is let go.
 * @param {World} world @param {"s" | "t"} owner @param {number} row @returns {Partial<import("../lib/types").Look>} */
function lockOn(world, owner, row) {
  const { lock } = world.look;
  if (lock?.row === row && tapes.owner(world) === owner) return { lock: null, path: null, layout: {} };
  return tapes.lookAt(world, owner, row, lock?.key ?? 0);
}

/** @param {any} held */
function picture({ pan: p, scene, world }) {
  if (!scene) return;
  const { geo, target, row } = scene;
  const column = target.at + Math.max(0, target.last, row);
  follow(p, "row", `${world.moved?.at} ${row} ${geo.places} ${geo.slot}`, geo.long ? { left: geo.x(column - 1) - geo.left, right: geo.x(column) + 2.4 * geo.slot } : null);
  const [g, width, height, scrolled] = seen(p);
  paint(g, scene, width, height, scrolled, world);
}

/** What the forms mean, beside the chain where it has no source. @param {HTMLElement} element @param {World} world @param {Chain} c */
function legend(element, world, c) {
  set(element, "data-source", c.source ? "" : null);
  const group = tapes.shown(world, "t");
  const [keep, write] = [tapes.keeping(world, group), tapes.writing(world, group)];
  const lines = [
    { form: "v", said: c.window ? msg`what this row reads` : write ? msg`written by this row: ${write.said}` : msg`written by this row` },
    { form: "earlier", said: msg`earlier rows` },
    ...(c.target.carried ? [{ form: "kept", said: keep ? msg`kept of the state: ${keep.said}` : msg`carried into the next state` }] : []),
    { form: "none", said: c.window ? msg`out of the window` : msg`no direct path` },
    ...(c.target.carried ? [{ form: "gone", said: msg`gone, kept for display` }] : []),
  ];
  list(/** @type {any} */ (element.children[1].lastElementChild), lines, (l) => l.form, (l) => h("li", null, h("i", { class: `cf ${l.form}` }), h("span")), (li, l) => text(li.lastElementChild, l.said));
}
