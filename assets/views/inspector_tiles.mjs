// @ts-check
/** The shown read once more in tiles of keys: the running maximum, sum and output after each tile, and that it is the same read. Where the model
 * itself goes tile by tile, they are its own. */

import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { shownPath } from "../lib/inspect/inspected.mjs";
import { msg } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as read from "../lib/reads.mjs";
import { figure, number, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

const NAME = "tiles";
const SIZES = [1, 2, 4, 8, 16, 32];
const LINES = 8;

/** What is chosen, and the tile that the op cursor stands on. @type {WeakMap<HTMLElement, {tile: number, came: string}>} */
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

/** The letter and the taps of the read that is shown, where the model itself goes tile by tile. @param {World} world */
function own(world) {
  const at = read.relation(world);
  const base = at && read.scope(at.info, at.layer);
  return at && (world.schema?.taps ?? []).some((/** @type {any} */ t) => t.path === `${base}.tile.sum`) ? { at, base: /** @type {string} */ (base) } : null;
}

/** @typedef {{maximum: number, sum: number, output: number[]}} After */

/** What one row kept after each tile, from the values of the run; of tiles that came after its call nothing is known. Pure.
 * @param {any[][]} values maximum, sum and running output of all rows @param {number} request @param {number} head @param {number} row @returns {After[]} */
export function runs(values, request, head, row) {
  const [maximum, sum, running] = values.map((found) => found[0]);
  if (!maximum || !sum || !running) return [];
  const lead = (/** @type {any} */ known) => [Math.min(request, known.shape[0] - 1), Math.min(head, known.shape[1] - 1)];
  /** @type {After[]} */
  const found = [];
  for (let i = 0; i < sum.shape[2]; i++) {
    const total = sum.at(...lead(sum), i, row);
    if (!Number.isFinite(total) || (i && !total && found[i - 1].sum)) break;
    found.push({ maximum: maximum.at(...lead(maximum), i, row), sum: total, output: Array.from({ length: running.shape[4] }, (_, e) => running.at(...lead(running), i, row, e)) });
  }
  return found;
}

/** @type {import("../lib/types").View} */
export default {
  id: "inspector_tiles",
  title: "The same read in tiles",
  slot: "checks",
  phases: ["train", "prefill", "decode"],
  applies: (world) => !!own(world) || (read.phase(world) !== "train" && !!read.relation(world) && !(world.schema?.taps ?? []).some((/** @type {any} */ t) => t.path.endsWith(".spread")) && (world.schema?.taps ?? []).some((/** @type {any} */ t) => t.path.endsWith(".mixed"))),

  wants(world) {
    const found = own(world);
    return found ? ["maximum", "sum", "running"].map((name) => ({ path: `${found.base}.tile.${name}`, index: { b: read.request(world), h: found.at.head }, dtype: "f32" })) : [];
  },

  mount(element) {
    states.set(element, { tile: 4, came: "" });
    element.append(h("details", { class: "insp tiles" }, h("summary", { class: "h" }),
      h("div", { class: "row" }, h("span", { class: "note" }, msg`keys in a tile`), h("span", { class: "seg", role: "group", "aria-label": msg`keys in a tile` }, SIZES.map((n) => h("button", { type: "button", "data-tile": n, "aria-pressed": "false" }, String(n)))), h("span", { class: "sp" }), h("button", { type: "button", class: "btn xs", hidden: true }, msg`measure`)),
      h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`tile`, msg`max so far`, msg`sum so far`, msg`output so far`].map((said) => h("th", { scope: "col" }, said)))), h("tbody")),
      h("p", { class: "note" })));
  },

  draw(element, world, context) {
    const part = /** @type {any} */ (element.firstElementChild);
    const state = /** @type {{tile: number, came: string}} */ (states.get(element));
    const shows = shownPath(world) === null && !!read.relation(world);
    set(element, "data-empty", shows ? null : "true");
    const again = () => this.draw(element, world, context)?.();
    part.ontoggle = again;
    const mine = own(world);
    const cursor = mine && read.tileAt(world, mine.base);
    if (cursor !== null && state.came !== world.look.op) part.open = true; // the cursor came to a tile: what it keeps is here
    state.came = cursor === null ? "" : (world.look.op ?? "");
    const [title, bar, table, note] = part.children;
    set(part, "class", mine ? "insp tiles own" : "insp tiles");
    text(title, mine ? msg`This read, tile by tile` : msg`The same read in tiles`);
    if (!shows || !part.open) return;
    const tile = mine ? world.opened?.scenario?.config?.tile : state.tile;
    for (const button of bar.children[1].children) set(button, "aria-pressed", String(Number(button.dataset.tile) === tile));
    bar.children[0].hidden = bar.children[1].hidden = !!mine;
    bar.children[1].onclick = (/** @type {any} */ event) => {
      const chosen = Number(event.target.closest("button")?.dataset.tile);
      if (!chosen) return;
      state.tile = chosen;
      again();
    };
    const args = read.phase(world) === "train" ? null : asked(world, tile);
    const found = measured(world, args);
    const doing = args ? measureWhenIdle(world, context, NAME, args, !found, true) : null;
    hide(bar.lastElementChild, !!found || !doing || doing.running);
    bar.lastElementChild.onclick = doing?.start ?? null;
    hide(bar, !!mine && bar.lastElementChild.hidden);
    const at = read.relation(world);
    const keys = at ? read.rows(world, at.info.key).filter((r) => r.state !== "unknown") : [];
    /** @type {After[]} */
    const tiles = mine ? ownTiles(world, mine.at.head) : (found?.tiles ?? []);
    const lines = tiles.slice(0, cursor === null ? tiles.length : cursor + 1).map((t, i) => ({ ...t, now: i === cursor, said: span(keys.slice(0, found?.keys ?? keys.length), i, tile) }));
    const kept = lines.length > LINES ? lines.slice(-LINES) : lines;
    list(table.lastElementChild, kept, (/** @type {any} */ l) => l.said, () => h("tr", null, h("td", { class: "mono" }), h("td", { class: "mono" }), h("td", { class: "mono" }), h("td", null, h("canvas", { role: "img" }))), (tr, l) => {
      set(tr, "aria-current", l.now ? "step" : null);
      [l.said, figure(number(l.maximum), 2), figure(number(l.sum), 3)].forEach((said, i) => text(tr.children[i], said));
      set(tr.lastElementChild.firstElementChild, "aria-label", msg`${l.output.length} numbers, before they are divided by the sum`);
    });
    text(note, found ? compared(found) : msg`Row by row only a maximum, a sum and an output are kept; each tile corrects what came before.`);
    const most = Math.max(1e-9, ...kept.flatMap((/** @type {any} */ l) => l.output.map((/** @type {number} */ v) => Math.abs(v))));
    return () => kept.forEach((/** @type {any} */ l, /** @type {number} */ i) => draw.vector(table.lastElementChild.children[i].lastElementChild.firstElementChild, l.output, { max: most, diverging: true }));
  },

  table(world) {
    return { columns: [msg`tile`, msg`max so far`, msg`sum so far`], rows: shownTiles(world).map((/** @type {any} */ t, /** @type {number} */ i) => [i, number(t.maximum), number(t.sum)]) };
  },
};

/** Of a model that goes tile by tile itself. @param {World} world @param {number} head @returns {After[]} */
const ownTiles = (world, head) => runs([0, 1, 2].map((i) => world.values("inspector_tiles", i)), read.request(world), head, read.focus(world).row);

/** @param {World} world @returns {After[]} */
function shownTiles(world) {
  const mine = own(world);
  return mine ? ownTiles(world, mine.at.head) : (measured(world, asked(world, world.analysis[NAME]?.result?.tile))?.tiles ?? []);
}

/** How far the two forms are apart, and what each holds. @param {any} found @returns {string} */
function compared(found) {
  const held = msg`Scores held at once: ${found.tiled} in place of ${found.dense}; kept for each row: ${2 + found.width} numbers.`;
  const off = (/** @type {any} */ value) => number(value).toExponential(0);
  if (!found.own) return `${msg`Largest difference to the dense read, all heads and rows: ${off(found.largest)} ◉.`} ${held}`;
  return `${msg`The same weights in one matrix: largest difference of this read ${off(found.largest)} ◉, of any logit ${off(found.logits)} ◉.`} ${held}`;
}
