// @ts-check
/** Who reads whom: key rows above, query rows below, ribbons as wide as what is read; then the decision. In prefill of several
 * requests that read themselves: a strip for each, and which row of it decides. */

import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { minimap, minimapName, overview } from "../lib/draw/minimap.mjs";
import { follow, ground, pan, seen } from "../lib/draw/pan.mjs";
import { searches } from "../lib/next/beams.mjs";
import * as pass from "../lib/read/passes.mjs";
import { isPictured } from "../lib/picture/source.mjs";
import { cutShown } from "../lib/setup/cut.mjs";
import * as read from "../lib/reads.mjs";
import { keyReads, lengthSelectors, places, quantity, reserved, strongest } from "../lib/read/ribbons.mjs";
import { pointing } from "../lib/read/pointing.mjs";
import { ghosts, keyStrip, numbers, pinned, queryStrip, ribbons, underPadding } from "../lib/read/ropes.mjs";
import { gutter, layout, legend } from "../lib/read/strips.mjs";
import { percent, requestName, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/types").Table} Table */
/** @typedef {import("../lib/read/strips.mjs").Layout} Layout @typedef {import("../lib/draw/pan.mjs").Pan} Pan */
/** All that one picture of the strips is made from.
 * @typedef {object} Scene
 * @property {any} info relation @property {number} row whose read is shown @property {read.Row[]} keys @property {import("../lib/read/ribbons.mjs").Place[]} queries
 * @property {import("../lib/read/ribbons.mjs").KeyRead[]} reads @property {number} top the key that is read most @property {number | null} locked the key that the shown row is locked with @property {(row: number, key: number) => number} amount
 * @property {number} most @property {(value: number) => string} said @property {Layout} geo @property {number} focus the row that is followed or locked @property {boolean} preview another row is only pointed at */

/** @type {WeakMap<HTMLElement, {pan: Pan, scene: Scene | null, passes: pass.Passes | null, world: World, context: Context}>} */
const kept = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "read",
  title: "Who reads whom",
  slot: "read",
  phases: ["prefill", "decode"],
  applies: (world) => world.opened?.relations.length !== 0 && !isPictured(world) && !cutShown(world),
  wants: (world) => (pass.shownFor(world) ? [] : [...read.readSelectors(world).slice(0, 1), ...lengthSelectors(world)]),

  mount(element, context) {
    const p = pan({ role: "img", tabindex: 0 }, "read-pan");
    const held = { pan: p, scene: null, passes: null, world: /** @type {any} */ (null), context };
    kept.set(element, held);
    const widths = /** @type {[string, string][]} */ ([["weight", msg`weight`], ["value", msg`× value`]]);
    element.append(
      h("div", { class: "seg tabs", role: "group", "aria-label": msg`Request`, hidden: true }),
      h("div", { class: "seg ribbon-switch", role: "group", "aria-label": msg`Width of a ribbon` },
        widths.map(([value, said]) => h("button", { type: "button", "data-value": value, title: value === "weight" ? msg`Ribbons as wide as the weight` : msg`Ribbons as wide as the length of weight × value vector` }, said))),
      p.element,
    );
    pointing(p, held);
  },

  draw(element, world, context) {
    const held = /** @type {any} */ (kept.get(element));
    const p = held.pan;
    Object.assign(held, { world, context });
    tabs(/** @type {any} */ (element.firstElementChild), world, context);
    widths(/** @type {any} */ (element.children[1]), world, context);
    prepare(held, element);
    p.redraw = () => paint(held);
    set(p.canvas, "aria-label", held.passes ? pass.description(held.passes) : description(world, held.scene));
    return () => paint(held);
  },

  table: (world) => (pass.shownFor(world) ? pass.table(pass.passes(world, 800, 170)) : table(world)),
};

/** One button for each request; hidden where there is one, or a strip for each. What a beam will keep has its place before its first step.
 * @param {HTMLElement} element @param {World} world @param {Context} context */
export function tabs(element, world, context) {
  const known = read.requestCount(world);
  const count = known < 2 && searches(world) ? (world.opened?.scenario.policy.width ?? 1) : known;
  hide(element, count < 2 || pass.shownFor(world));
  set(element, "data-later", known < count ? "" : null);
  element.closest(".read")?.setAttribute("style", `--requests: ${count}`); // what stands beside them keeps clear
  list(element, Array.from({ length: element.hidden ? 0 : count }), (_, i) => i, (_, i) => h("button", { type: "button" }, requestName(i)), (button, _, i) => {
    set(button, "aria-pressed", String(i === read.request(world)));
    set(button, "aria-label", msg`Look at request ${requestName(i)}`);
    set(button, "class", world.moved?.requests?.[i]?.left == null ? null : "gone");
    button.onclick = () => context.look({ request: i, lock: null });
  });
}

/** Whether a ribbon's width is the weight alone, or with the value's length: only where there are value vectors.
 * @param {HTMLElement} element @param {World} world @param {Context} context */
function widths(element, world, context) {
  const at = read.relation(world);
  hide(element, !at || pass.shownFor(world) || !read.tapsOf(world, at.info, at.layer).value);
  for (const button of /** @type {any} */ (element.children)) {
    set(button, "aria-pressed", String(world.look.ribbon === button.dataset.value));
    button.onclick = () => context.look({ ribbon: button.dataset.value });
  }
}

/** What there is to draw, and the ground that it needs.
 * @param {any} held @param {HTMLElement} element */
function prepare(held, element) {
  const { world, pan: p } = held;
  const [width, height] = draw.boxOf(p.element);
  held.passes = pass.shownFor(world) ? pass.passes(world, width, height) : null;
  held.scene = held.passes ? null : scene(world, width, height);
  if (held.passes) ground(p, held.passes.width, held.passes.height);
  else ground(p, held.scene?.geo.long ? held.scene.geo.width : 0);
  const { low = false, gutter: names = 0 } = held.scene?.geo ?? {};
  set(/** @type {any} */ (element.children[1]), "data-tight", names && low ? "" : null); // a long input would have no room between the names
}

/** @param {World} world @param {number} width @param {number} height @returns {Scene | null} */
export function scene(world, width, height) {
  const at = read.relation(world);
  if (!at) return null;
  const weight = read.readCells(world, "read");
  const { amount, most, said } = quantity(world, weight, world.values("read", 1)[0]);
  const focus = read.focus(world).row;
  const [keys, queries] = [read.rows(world, at.info.key), places(world, at.info.query)];
  const asked = world.hover && queries[world.hover.row] ? world.hover.row : focus;
  const reads = keyReads(world, weight, asked, amount);
  const geo = layout(width, height, Math.max(keys.length, queries.length), reserved(world, at.info));
  return { info: at.info, row: asked, keys, queries, reads, top: strongest(reads), locked: asked === world.look.lock?.row ? world.look.lock.key : null, amount, most, said, geo, focus, preview: asked !== focus };
}

/** @param {any} held */
function paint(held) {
  const { pan: p, world } = held;
  if (held.passes) return pass.paint(p, held.passes, world);
  const s = /** @type {Scene | null} */ (held.scene);
  if (!s) return void seen(p);
  const { geo, row } = s;
  const here = read.focus(world).row;
  const count = Math.max(s.keys.length, s.queries.length);
  follow(p, "row", `${world.moved?.at} ${here} ${count} ${geo.slot}`, here < 0 || !geo.long ? null : { left: geo.x(here - 1) - geo.left, right: geo.x(here) + 2.6 * geo.slot });
  const [g, width, height, scrolled] = seen(p);
  g.save();
  g.beginPath();
  g.rect(geo.left - 3, geo.map, width, height);
  g.clip();
  g.translate(-scrolled, 0);
  const near = (/** @type {number} */ i) => geo.x(i) - scrolled < width && geo.x(i) + geo.slot - scrolled > geo.left;
  ghosts(g, s, near);
  ribbons(g, s, near);
  keyStrip(g, s, near, world);
  numbers(g, s, near);
  queryStrip(g, s, near, world);
  if (s.info.query === "t") underPadding(g, s, world);
  g.restore();
  if (geo.long) {
    pinned(g, s, near, scrolled);
    minimap(g, overview(geo, width, count, scrolled), geo, s.reads, row, s.top);
    if (geo.gutter) minimapName(g, geo, row, s.top < 0 ? "" : s.said(s.reads[s.top].amount));
  } else legend(g, geo.left + geo.slot * (s.info.key === s.info.query ? count : s.keys.length) + 20, width, geo.top + 8);
  gutter(g, geo, s.info);
}

/** What a screen reader hears instead of the ribbons.
 * @param {World} world @param {Scene | null} s */
function description(world, s) {
  const at = read.relation(world);
  if (!at || !s?.queries[s.row]) return msg`Nothing is read yet`;
  const top = [...s.reads].filter((r) => r.weight > 0).sort((a, b) => b.weight - a.weight).slice(0, 4);
  const said = top.map((r) => `${percent(r.weight)} ${shown(s.keys[r.key].token)}`).join(", ") || msg`nothing known`;
  return msg`${at.info.title}, layer ${at.layer + 1} head ${at.head + 1}: row ${s.row} ${s.queries[s.row].token} reads ${said}. Up and down choose a row, left and right a key, Enter locks.`;
}

/** The read of the current row: one line a key.
 * @param {World} world @returns {Table} */
function table(world) {
  const at = read.relation(world);
  const { row } = read.focus(world);
  const columns = [msg`query row`, msg`query`, msg`key row`, msg`key`, msg`state`, msg`weight`, ...(world.look.ribbon === "value" ? [msg`weight × value`] : [])];
  if (!at || row < 0) return { columns, rows: [] };
  const weight = read.readCells(world, "read");
  const { amount } = quantity(world, weight, world.values("read", 1)[0]);
  const [asker, keys] = [read.rows(world, at.info.query)[row], read.rows(world, at.info.key)];
  const number = (/** @type {number} */ value) => (Number.isNaN(value) ? null : value);
  const rows = keyReads(world, weight, row, amount).map((r) => [
    row, asker?.token ?? "", r.key, keys[r.key].token, stateName(r.state), number(r.weight), ...(world.look.ribbon === "value" ? [number(r.amount)] : []),
  ]);
  return { columns, rows };
}

/** @param {import("../lib/read/ribbons.mjs").KeyState} state */
const stateName = (state) =>
  ({ open: msg`read`, model: msg`masked by the program`, user: msg`masked by you`, padded: msg`padding`, unknown: msg`not known yet`, nan: msg`not finite` })[state];
