// @ts-check
/** The shown read once more in tiles of keys: the running maximum, sum and output after each tile, and that it is the same read. */

import * as draw from "../lib/canvas.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import { shownPath } from "../lib/inspect/inspected.mjs";
import { msg } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as read from "../lib/reads.mjs";
import { figure, number, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

const NAME = "tiles";
const SIZES = [1, 2, 4, 8, 16, 32];
const LINES = 8;

/** @type {WeakMap<HTMLElement, {tile: number}>} */
const states = new WeakMap();

/** What is asked of the shown read. @param {World} world @param {number} tile */
function asked(world, tile) {
  const at = read.relation(world);
  const { row } = read.focus(world);
  return at && row >= 0 ? { path: read.scope(at.info, at.layer), tile, request: read.request(world), head: at.head, row } : null;
}

/** The measurement of just this read at this moment, or null. Pure. @param {World} world @param {Record<string, any> | null} args */
export function measured(world, args) {
  const found = world.analysis[NAME]?.result;
  return found && args && found.moment === world.moved?.at && Object.entries(args).every(([name, value]) => found[name] === value) ? found : null;
}

/** The tokens of one tile of keys: the first and the last. Pure. @param {{token: string}[]} keys @param {number} index @param {number} tile */
export function span(keys, index, tile) {
  const [first, last] = [index * tile, Math.min(keys.length, (index + 1) * tile) - 1];
  return first === last ? `${first} ${shown(keys[first]?.token ?? "")}` : `${first}–${last} ${shown(keys[first]?.token ?? "")} … ${shown(keys[last]?.token ?? "")}`;
}

/** @type {import("../lib/types").View} */
export default {
  id: "inspector_tiles",
  title: "The same read in tiles",
  slot: "checks",
  phases: ["prefill", "decode"],
  applies: (world) => !!read.relation(world) && !(world.schema?.taps ?? []).some((/** @type {any} */ t) => t.path.endsWith(".spread")) && (world.schema?.taps ?? []).some((/** @type {any} */ t) => t.path.endsWith(".mixed")),
  wants: () => [],

  mount(element) {
    states.set(element, { tile: 4 });
    element.append(h("details", { class: "insp tiles" }, h("summary", { class: "h" }, msg`The same read in tiles`),
      h("div", { class: "row" }, h("span", { class: "note" }, msg`keys in a tile`), h("span", { class: "seg", role: "group", "aria-label": msg`keys in a tile` }, SIZES.map((n) => h("button", { type: "button", "data-tile": n, "aria-pressed": "false" }, String(n)))), h("span", { class: "sp" }), h("button", { type: "button", class: "btn xs", hidden: true }, msg`measure`)),
      h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`tile`, msg`max so far`, msg`sum so far`, msg`output so far`].map((said) => h("th", { scope: "col" }, said)))), h("tbody")),
      h("p", { class: "note" })));
  },

  draw(element, world, context) {
    const part = /** @type {any} */ (element.firstElementChild);
    const state = /** @type {{tile: number}} */ (states.get(element));
    const shows = shownPath(world) === null && !!read.relation(world);
    set(element, "data-empty", shows ? null : "true");
    const again = () => this.draw(element, world, context)?.();
    part.ontoggle = again;
    if (!shows || !part.open) return;
    const [, bar, table, note] = part.children;
    for (const button of bar.children[1].children) set(button, "aria-pressed", String(Number(button.dataset.tile) === state.tile));
    bar.children[1].onclick = (/** @type {any} */ event) => {
      const tile = Number(event.target.closest("button")?.dataset.tile);
      if (!tile) return;
      state.tile = tile;
      again();
    };
    const args = asked(world, state.tile);
    const found = measured(world, args);
    const doing = args ? measureWhenIdle(world, context, NAME, args, !found, true) : null;
    bar.lastElementChild.hidden = !!found || !doing || doing.running;
    bar.lastElementChild.onclick = doing?.start ?? null;
    const at = read.relation(world);
    const keys = at ? read.rows(world, at.info.key).filter((r) => r.state !== "unknown") : [];
    const lines = (found?.tiles ?? []).map((/** @type {any} */ t, /** @type {number} */ i) => ({ ...t, said: span(keys.slice(0, found.keys), i, state.tile) }));
    const kept = lines.length > LINES ? lines.slice(-LINES) : lines;
    list(table.lastElementChild, kept, (/** @type {any} */ l) => l.said, () => h("tr", null, h("td", { class: "mono" }), h("td", { class: "mono" }), h("td", { class: "mono" }), h("td", null, h("canvas", { role: "img" }))), (tr, l) => {
      [l.said, figure(number(l.maximum), 2), figure(number(l.sum), 3)].forEach((said, i) => text(tr.children[i], said));
      set(tr.lastElementChild.firstElementChild, "aria-label", msg`${l.output.length} numbers, before they are divided by the sum`);
    });
    text(note, found ? msg`Largest difference to the dense read, all heads and rows: ${number(found.largest).toExponential(0)} ◉. Scores held at once: ${found.tiled} in place of ${found.dense}; kept for each row: ${2 + found.width} numbers.` : msg`Row by row only a maximum, a sum and an output are kept; each tile corrects what came before.`);
    const most = Math.max(1e-9, ...kept.flatMap((/** @type {any} */ l) => l.output.map((/** @type {number} */ v) => Math.abs(v))));
    return () => kept.forEach((/** @type {any} */ l, /** @type {number} */ i) => draw.vector(table.lastElementChild.children[i].lastElementChild.firstElementChild, l.output, { max: most, diverging: true }));
  },

  table(world) {
    const found = world.analysis[NAME]?.result;
    return { columns: [msg`tile`, msg`max so far`, msg`sum so far`], rows: (found?.tiles ?? []).map((/** @type {any} */ t, /** @type {number} */ i) => [i, number(t.maximum), number(t.sum)]) };
  },
};
