// @ts-check
/** The line over the map: what the mask is, or in edit mode the controls that set it. It keeps its place in both. */

import { h, hide, set, text } from "../dom.mjs";
import { msg } from "../language.mjs";
import { block, change, edits, maskSummary, painted, reset } from "./masks.mjs";
import * as read from "../reads.mjs";
import { LARGEST, area, programs, range, rowNumbers } from "./visibility.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context @typedef {import("./visibility.mjs").Mask} Mask */

/** @param {string} name @param {any} label what stands before it @param {Record<string, any>} attributes */
const field = (name, label, attributes) => h("label", { "data-part": name, title: attributes.title }, h("span", null, label), h("input", attributes));

/** @returns {HTMLElement} */
export function maskbar() {
  return h("div", { class: "maskbar" },
    h("span", { class: "mask-said note" }),
    h("span", { class: "mask-controls", hidden: true },
      h("select", { "aria-label": msg`Mask program`, "data-part": "program" }, programs().map((p) => h("option", { value: p.id, title: p.why }, p.title))),
      field("parameter", "", { type: "number", min: 0, max: LARGEST, step: 1, "aria-label": msg`Parameter of the mask program` }),
      field("every", msg`every`, { type: "number", min: 1, max: LARGEST, step: 1, "aria-label": msg`Only rows at a distance that this number divides`, title: msg`1: all of them; 2: every second row` }),
      field("global", msg`global`, { type: "text", inputmode: "numeric", "aria-label": msg`Global rows: all read them, they read all`, placeholder: "0, 97", title: msg`Row numbers: every row reads these, and these read every row` }),
      h("span", { class: "seg", role: "group", "aria-label": msg`Which layers an edit changes` },
        h("button", { type: "button", "data-scope": "layer", title: msg`Edits change this layer alone` }, msg`layer`), h("button", { type: "button", "data-scope": "all", title: msg`Edits change every layer` }, msg`all layers`)),
      h("button", { class: "btn sm", type: "button", "data-part": "more", "aria-expanded": "false", "aria-controls": "mask-more" }, msg`More`)));
}

/** The panel behind "More": a block of typed rows and keys, and the ways back.
 * @returns {HTMLElement} */
export const maskPanel = () =>
  h("div", { class: "mask-panel", id: "mask-more", role: "group", "aria-label": msg`Edit a block of cells`, hidden: true },
    field("rows", msg`rows`, { type: "text", "aria-label": msg`Query rows of the block` }), field("keys", msg`keys`, { type: "text", "aria-label": msg`Key rows of the block` }),
    h("span", { class: "acts" }, h("button", { class: "btn sm", type: "button", "data-part": "hide" }, msg`Hide`), h("button", { class: "btn sm", type: "button", "data-part": "show" }, msg`Show`),
      h("button", { class: "btn sm", type: "button", "data-part": "erase", title: msg`Give the block back to the program` }, msg`As the program`)),
    h("span", { class: "acts" }, h("button", { class: "link", type: "button", "data-part": "clear" }), h("button", { class: "link", type: "button", "data-part": "reset" }, msg`The architecture’s own mask`)),
    h("p", { class: "problem", role: "alert" }));

/** @param {HTMLElement} root @param {string} part @returns {any} */
const of = (root, part) => root.querySelector(`[data-part="${part}"]`);

/** @param {any} element from `maskbar` @param {any} panel from `maskPanel` @param {World} world @param {Context} context @param {() => {rows: string, keys: string}} seen what is in sight */
export function drawMaskbar(element, panel, world, context, seen) {
  const at = read.relation(world);
  const [said, controls] = element.children;
  const editing = edits(world);
  hide(said, editing);
  hide(controls, !editing);
  text(said, maskSummary(world));
  set(said, "title", said.textContent);
  if (!editing) panel.hidden = true;
  if (!at || !editing) return;
  const mask = at.info.masks[at.layer];
  /** @param {any} command */
  const send = (command) => command && context.send(command);
  drawProgram(controls, world, mask, (edit) => send(change(world, edit, true)));
  for (const button of controls.querySelectorAll("[data-scope]")) {
    set(button, "aria-pressed", String(button.dataset.scope === world.look.scope));
    button.onclick = () => context.look({ scope: button.dataset.scope });
  }
  const more = of(controls, "more");
  set(more, "aria-expanded", String(!panel.hidden));
  more.onclick = () => open(panel, more, seen());
  drawPanel(panel, more, world, mask, send);
}

/** @param {any} panel @param {HTMLElement} more @param {{rows: string, keys: string}} seen */
function open(panel, more, seen) {
  hide(panel, !panel.hidden);
  set(more, "aria-expanded", String(!panel.hidden));
  if (panel.hidden) return more.focus();
  of(panel, "rows").lastElementChild.value = seen.rows;
  of(panel, "keys").lastElementChild.value = seen.keys;
  text(panel.lastElementChild, "");
  of(panel, "rows").lastElementChild.focus();
}

/** @param {HTMLElement} controls @param {World} world @param {Mask} mask @param {(edit: (mask: Mask) => Mask) => void} apply */
function drawProgram(controls, world, mask, apply) {
  const told = (/** @type {string} */ name) => !!world.refused?.some((/** @type {any} */ p) => p.field.startsWith("masks.") && p.field.endsWith(`.${name}`));
  const keys = read.rows(world, read.relation(world)?.info.key ?? "t").length;
  const program = programs().find((p) => p.id === mask.program);
  const select = of(controls, "program");
  if (document.activeElement !== select) set(select, "value", mask.program);
  set(select, "title", program?.why);
  select.onchange = () => apply((m) => ({ ...m, program: select.value, parameter: starting(select.value, m, keys) }));
  const [parameter, every, global] = ["parameter", "every", "global"].map((name) => of(controls, name));
  hide(parameter, !program?.letter);
  text(parameter.firstElementChild, program?.letter ? `${program.letter} =` : "");
  number(parameter.lastElementChild, mask.parameter, told("parameter"), (value) => apply((m) => ({ ...m, parameter: value })));
  number(every.lastElementChild, mask.every ?? 1, told("every"), (value) => apply((m) => ({ ...m, every: value })));
  const rows = global.lastElementChild;
  if (document.activeElement !== rows) set(rows, "value", (mask.global_rows ?? []).join(", "));
  rows.onchange = () => {
    const found = rowNumbers(rows.value, LARGEST);
    rows.setCustomValidity(typeof found === "string" ? found : "");
    if (typeof found === "string") rows.reportValidity();
    else apply((m) => ({ ...m, global_rows: found }));
  };
}

/** A number as it was typed goes to the server, which knows the text; what it refuses stays in its field, and the sentence says why.
 * @param {any} input @param {number} value @param {boolean} wrong @param {(value: number) => void} apply */
function number(input, value, wrong, apply) {
  set(input, "aria-invalid", wrong ? "true" : null);
  if (document.activeElement !== input && !wrong) set(input, "value", String(value));
  input.onchange = () => {
    if (input.value === "") input.value = String(value);
    else apply(Number(input.value));
  };
}

/** @param {any} panel @param {HTMLElement} more @param {World} world @param {Mask} mask @param {(command: any) => void} send */
function drawPanel(panel, more, world, mask, send) {
  const at = /** @type {any} */ (read.relation(world));
  const size = (/** @type {"s" | "t"} */ owner) => Math.max(1, read.rows(world, owner).length);
  const paintBlock = (/** @type {boolean | null} */ visible) => () => {
    const [rows, keys] = [range(of(panel, "rows").lastElementChild.value, size(at.info.query)), range(of(panel, "keys").lastElementChild.value, size(at.info.key))];
    const wrong = [rows, keys].find((r) => typeof r === "string");
    text(panel.lastElementChild, typeof wrong === "string" ? wrong : "");
    if (typeof rows !== "string" && typeof keys !== "string") send(change(world, painted(block(rows, keys), visible)));
  };
  for (const [name, visible] of /** @type {[string, boolean | null][]} */ ([["hide", false], ["show", true], ["erase", null]])) of(panel, name).onclick = paintBlock(visible);
  const clear = of(panel, "clear");
  const mine = area(mask.cells), there = area(mask.cells, read.rows(world, at.info.query).length);
  text(clear, there ? msg`Clear my cells (${there})` : msg`Clear my cells`);
  set(clear, "disabled", !mine);
  clear.onclick = () => send(change(world, (m) => ({ ...m, cells: [] })));
  of(panel, "reset").onclick = () => send(reset(world));
  panel.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    open(panel, more, { rows: "", keys: "" });
  };
}

/** A parameter to begin with, where the program before had none; a prefix ends with the text.
 * @param {string} program @param {Mask} mask @param {number} keys */
function starting(program, mask, keys) {
  const letter = programs().find((p) => p.id === program)?.letter;
  const begins = letter ? mask.parameter || (letter === "n" ? 4 : 2) : 0;
  return letter === "P" ? Math.min(begins, keys) : begins;
}
