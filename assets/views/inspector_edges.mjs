// @ts-check
/** Of a read through a pattern: its cells beside those of the full form, and how far one row reaches layer by layer. */

import { h, list, set, text } from "../lib/dom.mjs";
import { shownPath } from "../lib/inspect/inspected.mjs";
import { counted, msg } from "../lib/language.mjs";
import { edges, layersByWindow, patterned, reached } from "../lib/map/reach.mjs";
import * as read from "../lib/reads.mjs";
import { rowWords, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

const NAME = "inspector_edges";

/** All that the section says, or null. watched: the locked key, or the one that is read most. @param {World} world @param {number} [before] a row to keep the place with, before any is known */
export function reach(world, before = -1) {
  const at = patterned(world);
  const rows = at ? read.rows(world, at.info.query) : [];
  const { row: newest, key } = read.focus(world);
  const row = newest < 0 ? before : newest;
  if (!at || row < 0 || !rows[row]) return null;
  const most = key ?? read.reads(read.readCells(world, NAME), row, rows.length)[0]?.key ?? null;
  const layers = reached(at.info.masks, row, rows);
  return { at, rows, row, watched: most, layers, known: rows.filter(read.known).length, needs: most === null ? null : layersByWindow(at.info.masks[at.layer], Math.abs(row - most)) };
}

/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "Edges and reach",
  slot: "inspector",
  phases: ["prefill", "decode"],
  applies: (world) => patterned(world) !== null,
  wants: read.readSelectors,

  mount(element) {
    const head = (/** @type {string} */ said) => h("div", { class: "hh" }, h("h2", { class: "h" }, said), h("span", { class: "note" }));
    element.append(
      h("div", { class: "insp edges-part" }, head(msg`Edges`), h("table", { class: "which" }, h("tbody"))),
      h("div", { class: "insp reach-part" }, head(msg`Reach`),
        h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`after`, "", msg`rows`, ""].map((said, i) => h(i === 1 ? "td" : "th", i === 1 ? null : { scope: "col" }, said)))), h("tbody")), h("p", { class: "note" })));
  },

  draw(element, world) {
    const found = shownPath(world) === null && world.look.op === null ? reach(world, 0) : null;
    set(element, "data-empty", found ? null : "true");
    if (!found) return;
    const [cells, far] = /** @type {any} */ (element.children);
    for (const part of [cells, far]) set(part, "data-nothing", found.known ? null : "true");
    cellsOf(cells, found);
    rowsOf(far, found);
  },

  table(world) {
    const found = reach(world);
    const rows = found ? found.layers.map((seen, i) => [i + 1, seen.size, found.known, found.watched, found.watched === null ? null : seen.has(found.watched)]) : [];
    return { columns: [msg`layers`, msg`rows that can affect it`, msg`known rows`, msg`watched row`, msg`inside`], rows };
  },
};

/** @param {any} part @param {NonNullable<ReturnType<typeof reach>>} found */
function cellsOf(part, { at, rows }) {
  const { open, full, causal, bound } = edges(at.info.masks[at.layer], rows);
  const lines = [[msg`this pattern`, open, "="], ...(bound === null ? [] : [[msg`bound n(2r+1+2g)`, bound, "ƒ"]]), [causal ? msg`full causal` : msg`full`, full, "ƒ"]];
  text(part.children[0].lastElementChild, msg`cells of layer ${at.layer + 1}`);
  list(part.children[1].lastElementChild, lines, (_, i) => i, () => h("tr", null, h("td"), h("td"), h("td")), (tr, [name, value], i) => {
    set(tr, "class", i ? null : "sel");
    [String(name), Number(value).toLocaleString("en"), `${((100 * Number(value)) / (full || 1)).toFixed(1)}%`].forEach((said, c) => text(tr.children[c], said));
  });
}

/** @param {any} part @param {NonNullable<ReturnType<typeof reach>>} found */
function rowsOf(part, { at, rows, row, watched, layers, known, needs }) {
  const [head, table, note] = part.children;
  const name = (/** @type {number} */ i) => rowWords(i, shown(rows[i]?.token ?? ""));
  text(head.firstElementChild, known ? msg`Reach of row ${row}` : msg`Reach`);
  text(head.lastElementChild, known ? msg`of ${known} rows` : msg`nothing is computed yet`);
  text(table.firstElementChild.firstElementChild.lastElementChild, watched === null ? "" : msg`row ${watched}`);
  list(table.lastElementChild, layers, (_, i) => i, () => h("tr", null, h("td"), h("td", null, h("i", { class: "left-bar" })), h("td"), h("td")), (tr, seen, i) => {
    text(tr.children[0], counted(i + 1, "{0} layer", "{0} layers"));
    const bar = tr.children[1].firstElementChild;
    const width = `${(100 * seen.size) / (known || 1)}%`;
    if (bar.style.width !== width) bar.style.width = width;
    text(tr.children[2], String(seen.size));
    const inside = watched !== null && seen.has(watched);
    text(tr.children[3], watched === null ? "" : inside ? msg`yes` : msg`no`);
    set(tr.children[3], "class", inside ? "c-v" : "dim");
  });
  set(note, "data-later", watched === null || needs === null ? "true" : null);
  if (watched !== null && needs !== null) text(note, msg`By windows alone row ${name(watched)} needs ${counted(needs, "{0} layer", "{0} layers")}; this model has ${at.info.masks.length}.`);
}
