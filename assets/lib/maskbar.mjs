// @ts-check
/** The line over the map: what the mask is, or in edit mode the controls that set it. It keeps its place in both. */

import { h, set, text } from "./dom.mjs";
import * as read from "./reads.mjs";
import { count, paint, PROGRAMS, withMask } from "./visibility.mjs";
import { plural } from "./words.mjs";

/** @typedef {import("./types").World} World @typedef {import("./types").Context} Context */
/** @typedef {import("./visibility.mjs").Mask} Mask */

/** The largest parameter that a program may have. */
const LARGEST = 129;

/** A mask in words: "causal", "prefix P = 3".
 * @param {Mask} mask */
export function maskName(mask) {
  const program = PROGRAMS.find((p) => p.id === mask.program);
  return program ? `${program.title}${program.letter ? ` ${program.letter} = ${mask.parameter}` : ""}` : mask.program;
}

/** What the mask allows of what is there: "causal: 10 of 16 cells open, 2 set by you".
 * @param {World} world */
export function maskSummary(world) {
  const at = read.relation(world);
  if (!at) return "";
  const mask = at.info.masks[at.layer];
  const [queries, keys] = [read.rows(world, at.info.query), read.rows(world, at.info.key)];
  const rows = queries.filter(read.known).length;
  const open = count(mask, rows, keys.length, (k) => read.known(keys[k]));
  const mine = mask.cells.length ? `, ${plural(mask.cells.length, "cell")} set by you` : "";
  const padded = keys.filter((k) => k.state === "padded").length;
  return `${maskName(mask)}: ${open} of ${rows * keys.filter(read.known).length} cells open${mine}${padded ? `, ${plural(padded, "padded key")}` : ""}${mask.own ? "; this layer alone" : ""}`;
}

/** The command that edits the masks of the selected relation, or null where nothing would change.
 * @param {World} world @param {(mask: Mask) => Mask} edit @param {boolean} [same] make all layers the same (a preset for all layers) */
export function change(world, edit, same = false) {
  const at = read.relation(world);
  if (!at || !world.opened) return null;
  const before = world.opened.scenario.masks ?? [];
  const layer = world.look.scope === "all" ? null : at.layer;
  const masks = withMask(before, at.info.name, layer, at.info.default, edit, same);
  return JSON.stringify(masks) === JSON.stringify(before) ? null : { kind: "change", fields: { masks } };
}

/** @param {{query: number, key: number}[]} places @param {boolean} visible @returns {(mask: Mask) => Mask} */
export const painted = (places, visible) => (mask) => ({ ...mask, cells: paint(mask, places, visible) });

/** What toggles a whole row or column of computed cells: hide those that may be read; where none may be, give back what was hidden here,
 * and where nothing was, open all. Pure.
 * @param {World} world @param {{row: number} | {column: number}} line @returns {((mask: Mask) => Mask) | null} */
export function toggled(world, line) {
  const at = read.relation(world);
  if (!at) return null;
  const list = (/** @type {"s" | "t"} */ owner, /** @type {number | undefined} */ only) => read.rows(world, owner).flatMap((r, i) => (read.known(r) && (only === undefined || only === i) ? [i] : []));
  const [rows, keys] = [list(at.info.query, "row" in line ? line.row : undefined), list(at.info.key, "column" in line ? line.column : undefined)];
  const places = rows.flatMap((query) => keys.map((key) => ({ query, key })));
  const mask = read.visibility(at.info, at.layer);
  const open = places.filter((p) => mask.allows(p.query, p.key));
  if (open.length) return painted(open, false);
  const given = places.filter((p) => mask.program(p.query, p.key));
  return places.length ? painted(given.length ? given : places, true) : null;
}

/** @returns {HTMLElement} */
export function maskbar() {
  return h("div", { class: "maskbar" },
    h("span", { class: "mask-said note" }),
    h("span", { class: "mask-controls", hidden: true },
      h("select", { "aria-label": "Mask program" }, PROGRAMS.map((p) => h("option", { value: p.id, title: p.why }, p.title))),
      h("label", null, h("span", { class: "mono" }), h("input", { type: "number", min: 0, max: LARGEST, step: 1, "aria-label": "Parameter of the mask program" })),
      h("span", { class: "seg", role: "group", "aria-label": "Which layers an edit changes" },
        h("button", { type: "button", "data-scope": "layer" }, "this layer"), h("button", { type: "button", "data-scope": "all" }, "all layers")),
      h("button", { class: "btn sm", type: "button" }, "Clear my cells")));
}

/** @param {any} element from `maskbar` @param {World} world @param {Context} context */
export function drawMaskbar(element, world, context) {
  const at = read.relation(world);
  const [said, controls] = element.children;
  const editing = world.look.editing && world.role === "writer";
  said.hidden = editing;
  controls.hidden = !editing;
  text(said, maskSummary(world));
  if (!at || !editing) return;
  const mask = at.info.masks[at.layer];
  const program = PROGRAMS.find((p) => p.id === mask.program);
  const [select, label, scope, clear] = controls.children;
  const send = (/** @type {any} */ command) => command && context.send(command);
  if (document.activeElement !== select) set(select, "value", mask.program);
  select.onchange = () => send(change(world, (m) => ({ ...m, program: select.value, parameter: starting(select.value, m) }), true));
  text(label.firstElementChild, program?.letter ? `${program.letter} =` : "");
  const input = label.lastElementChild;
  set(input, "hidden", !program?.letter);
  if (document.activeElement !== input) set(input, "value", String(mask.parameter));
  input.onchange = () => {
    const value = Math.max(0, Math.min(LARGEST, Math.round(Number(input.value) || 0)));
    input.value = String(value);
    send(change(world, (m) => ({ ...m, parameter: value }), true));
  };
  for (const button of scope.children) {
    set(button, "aria-pressed", String(button.dataset.scope === world.look.scope));
    button.onclick = () => context.look({ scope: button.dataset.scope });
  }
  text(clear, `Clear my cells${mask.cells.length ? ` (${mask.cells.length})` : ""}`);
  set(clear, "disabled", !mask.cells.length);
  clear.onclick = () => send(change(world, (m) => ({ ...m, cells: [] })));
}

/** A parameter to begin with, where the program before had none.
 * @param {string} program @param {Mask} mask */
function starting(program, mask) {
  if (!PROGRAMS.find((p) => p.id === program)?.letter) return 0;
  return mask.parameter || 2;
}
