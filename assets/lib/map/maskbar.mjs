// @ts-check
/** The line over the map: what the mask is, or in edit mode the controls that set it. It keeps its place in both. */

import { h, hide, set, text } from "../dom.mjs";
import { msg } from "../language.mjs";
import { parse, stepped } from "../numbers.mjs";
import { block, change, edits, maskSummary, painted, reset } from "./masks.mjs";
import * as read from "../reads.mjs";
import { LARGEST, area, programs, range, rowNumbers } from "./visibility.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context @typedef {import("./visibility.mjs").Mask} Mask */

/** @param {"parameter" | "every"} name @returns {import("../numbers.mjs").Range} */
const ranged = (name) => ({ path: name, title: "", whole: true, step: 1, low: name === "every" ? 1 : 0, high: LARGEST, above: false, optional: false });

/** What was typed into a field of the line, or what is wrong with it; `said` is the field's name on the page. Pure.
 * @param {"parameter" | "every" | "global_rows"} name @param {string} given @param {string} said @returns {{value?: any, problem: string}} */
export function typed(name, given, said) {
  const rows = name === "global_rows" ? rowNumbers(given, LARGEST) : null;
  const { value, problem } = name === "global_rows" ? (typeof rows === "string" ? { value: undefined, problem: `${rows}.` } : { value: rows, problem: "" }) : parse(given, ranged(name));
  return value === undefined ? { problem: msg`${said}: ${problem} Nothing was changed.` } : { value, problem: "" };
}

/** @param {string} name @param {any} label what stands before it @param {Record<string, any>} attributes */
const field = (name, label, attributes) => h("label", { "data-part": name, title: attributes.title }, h("span", null, label), h("input", attributes));

/** @returns {HTMLElement} */
export function maskbar() {
  return h("div", { class: "maskbar" },
    h("span", { class: "mask-said note" }),
    h("span", { class: "mask-controls", hidden: true },
      h("select", { "aria-label": msg`Mask program`, "data-part": "program" }, programs().map((p) => h("option", { value: p.id, title: p.why }, p.title))),
      field("parameter", "", { type: "text", inputmode: "numeric", "aria-label": msg`Parameter of the mask program` }),
      field("every", msg`every`, { type: "text", inputmode: "numeric", "aria-label": msg`Only rows at a distance that this number divides`, title: msg`1: all of them; 2: every second row` }),
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
  drawProgram(controls, world, mask, context, (edit) => send(change(world, edit, true)));
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

/** @param {HTMLElement} controls @param {World} world @param {Mask} mask @param {Context} context @param {(edit: (mask: Mask) => Mask) => void} apply */
function drawProgram(controls, world, mask, context, apply) {
  const keys = read.rows(world, read.relation(world)?.info.key ?? "t").length;
  const program = programs().find((p) => p.id === mask.program);
  const select = of(controls, "program");
  if (document.activeElement !== select) set(select, "value", mask.program);
  set(select, "title", program?.why);
  select.onchange = () => apply((m) => ({ ...m, program: select.value, parameter: starting(select.value, m, keys) }));
  const [parameter, every, global] = ["parameter", "every", "global"].map((name) => of(controls, name));
  hide(parameter, !program?.letter);
  text(parameter.firstElementChild, program?.letter ? `${program.letter} =` : "");
  /** @param {any} label @param {"parameter" | "every" | "global_rows"} name @param {string} value @param {string} said */
  const holds = (label, name, value, said) => inForce(label.lastElementChild, world, context, name, value, said, (found) => apply((m) => ({ ...m, [name]: found })));
  holds(parameter, "parameter", String(mask.parameter), program?.letter ?? "");
  holds(every, "every", String(mask.every ?? 1), msg`every`);
  holds(global, "global_rows", (mask.global_rows ?? []).join(", "), msg`global`);
}

/** A field that holds what is in force. What it cannot be stays in it until something else was done, and the sentence says why.
 * @param {any} input @param {World} world @param {Context} context @param {"parameter" | "every" | "global_rows"} name @param {string} value
 * @param {string} said @param {(value: any) => void} apply */
function inForce(input, world, context, name, value, said, apply) {
  const wrong = !!world.refused?.some((/** @type {any} */ p) => p.field.startsWith("masks.") && p.field.includes(`.${name}`));
  set(input, "aria-invalid", wrong ? "true" : null);
  if (document.activeElement !== input && !wrong) set(input, "value", value);
  const take = (/** @type {any} */ found) => {
    if (wrong) context.dismiss();
    apply(found);
  };
  input.onchange = () => {
    const found = typed(name, input.value, said);
    if (found.problem) context.refuse([{ field: `masks.typed.${name}`, given: input.value, allowed: "", message: found.problem }]);
    else take(found.value);
  };
  input.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by || name === "global_rows") return;
    event.preventDefault();
    const next = stepped(typed(name, input.value, said).value ?? Number(value), by, ranged(name));
    if (next === null) return;
    input.value = String(next);
    take(next);
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
