// @ts-check
/** What opens under the timeline: the list of stops with a form for another, and the tree of lines. */

import { css, fit } from "../canvas.mjs";
import { h, hide, list, set, text } from "../dom.mjs";
import { counted, msg } from "../language.mjs";
import { lines } from "./moments.mjs";
import { fits, keyOf, label, MOST, toggled, typedStop } from "./stops.mjs";
import * as read from "../reads.mjs";
import { isTurn, turnName } from "./turns.mjs";
import { shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context @typedef {import("./moments.mjs").Node} Node */

/** A button and what it opens. It closes by Escape, by its button, and by a click elsewhere.
 * @param {string} name @param {any[]} content @returns {{button: any, sheet: any}} */
export function opener(name, content) {
  const id = `sheet-${name}`;
  const button = h("button", { class: "when-more", type: "button", "aria-expanded": "false", "aria-controls": id }, h("i", { class: `when-${name}`, "aria-hidden": "true" }), h("span"));
  const sheet = h("section", { class: "sheet", id, hidden: true }, content);
  const open = (/** @type {boolean} */ is) => {
    if (sheet.hidden !== is) return;
    hide(sheet, !is);
    set(button, "aria-expanded", String(is));
    sheet.dispatchEvent(new Event("box", { bubbles: true })); // draw what it shows
  };
  button.onclick = () => open(sheet.hidden);
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || sheet.hidden) return;
    event.preventDefault(); // before anything else hears of it
    open(false);
    button.focus();
  }, true);
  addEventListener("pointerdown", (event) => {
    const target = /** @type {any} */ (event.target);
    if (!sheet.hidden && !sheet.contains(target) && !button.contains(target) && !target.closest?.(sheet.classList.contains("wide") ? ".deck" : ".view-track")) open(false); // one steps while it is open
  });
  return { button, sheet };
}

// ---- stops

/** @param {Context} context @param {() => World} world the newest @returns {any[]} */
export function stopsSheet(context, world) {
  const kind = h("select", { "aria-label": msg`What Play stops at` });
  const value = h("input", { class: "number", autocomplete: "off", spellcheck: "false", "aria-label": msg`Which` });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const add = () => {
    const { stops } = world().look;
    const made = typedStop(world(), kind.value, value.value);
    const full = stops.length >= MOST ? msg`There are ${MOST} stops already; remove one first.` : "";
    text(problem, made.problem ?? full);
    hide(problem, !problem.textContent);
    set(value, "aria-invalid", made.problem ? "true" : null);
    if (!made.stop || full) return;
    if (!stops.some((s) => keyOf(s) === keyOf(/** @type {any} */ (made.stop)))) context.look({ stops: [...stops, made.stop] });
    value.value = "";
  };
  const form = h("form", { class: "row", onsubmit: (/** @type {Event} */ e) => (e.preventDefault(), add()) }, kind, value, h("button", { class: "btn sm", type: "submit" }, msg`Add`));
  return [h("h2", { class: "h" }, msg`Where Play stops`), h("ul", { class: "stops" }), form, problem,
    h("p", { class: "note" }, msg`Or press the dot of a block or an operation; B does it from the keyboard.`),
    h("p", { class: "note" }, msg`Play always stops where a check begins to fail. An update that is not finite is not carried out.`)];
}

/** @param {any} sheet @param {World} world @param {Context} context */
export function drawStops(sheet, world, context) {
  const [, places, form] = sheet.children;
  const training = read.phase(world) === "train";
  const kinds = [["step", training ? msg`after update number` : msg`after decode step`], ["token", msg`where this token is chosen`], ["below", msg`where the loss falls below`], ["above", msg`where the loss rises above`]];
  list(form.firstElementChild, kinds, (k) => k[0], (k) => h("option", { value: k[0] }), (option, k) => text(option, k[1]));
  list(places, world.look.stops, keyOf, () => h("li", null, h("span"), h("button", { class: "link small", type: "button" }, msg`Remove`)), (li, stop) => {
    const here = fits(world, stop);
    text(li.children[0], here ? label(world, stop) : msg`${label(world, stop)} (not in this model)`);
    set(li, "class", here ? null : "dim");
    set(li.children[1], "aria-label", msg`Remove the stop ${label(world, stop)}`);
    li.children[1].onclick = () => context.look({ stops: toggled(world.look.stops, stop) });
  });
}

// ---- lines

const ROW = 28;
const TREE = 96;
/** More lines than this are not listed. */
const LISTED = 200;

export const linesSheet = () => [h("h2", { class: "h" }, msg`Lines of this run`), h("p", { class: "note" }, msg`Each begins where something else was chosen or set. This session keeps all of them; a link, a scenario file and a replay hold the line that is shown.`),
  h("div", { class: "lines" }, h("canvas", { class: "tree", "aria-hidden": "true" }), h("ol")), h("p", { class: "note" })];

/** Where a moment stands. @param {Node} node @returns {string} */
export const placeOf = (node) => (node.phase === "train" ? msg`update ${node.step}` : node.phase === "decode" ? msg`decode ${node.step}` : msg`prefill`);

/** What is other on a line than on the one that it leaves: a token, what was set, a phase.
 * @param {Node} first @returns {string} */
export function named(first) {
  if (first.command === "undo") return msg`edit taken back`;
  if (first.command === "redo") return msg`edit made again`;
  if (isTurn(first)) return turnName(first);
  if (first.changed) return first.changed;
  if (first.command === "enter") return first.phase === "train" ? msg`Train` : first.phase === "decode" ? msg`Decode` : msg`Prefill`;
  if (first.phase === "train") return msg`update ${first.step}`;
  return first.label ? shown(first.label) : placeOf(first);
}

/** @param {any} sheet @param {World} world @param {Context} context @param {number} head */
export function drawLines(sheet, world, context, head) {
  if (sheet.hidden || !world.moved) return;
  const [, , place, more] = sheet.children;
  const all = lines(world.history, world.moved.at, head);
  const some = all.slice(0, LISTED);
  const able = (world.role === "writer" || world.recording) && world.connection === "open";
  const focused = /** @type {any} */ (document.activeElement);
  list(place.lastElementChild, some, (l) => l.end.id, () => h("li", null, h("button", { type: "button" }, h("b"), h("span"), h("small"))), (li, l, i) => {
    const button = li.firstElementChild;
    const beside = l.beside && named(l.beside) !== named(l.first) ? named(l.beside) : "";
    text(button.children[0], i ? named(l.first) : msg`this line`);
    text(button.children[1], i ? (beside ? msg`at ${placeOf(l.first)}, instead of ${beside}` : msg`at ${placeOf(l.first)}`) : "");
    text(button.children[2], msg`to ${placeOf(l.end)}`);
    set(button, "aria-current", i ? null : "true");
    set(button, "disabled", !able);
    button.onclick = () => context.send({ kind: "go", moment: l.end.id });
  });
  if (focused !== document.activeElement && place.contains(focused)) focused.focus(); // its row moved
  text(more, all.length > LISTED ? counted(all.length - LISTED, "and {0} older line", "and {0} older lines") : "");
  return () => tree(place.firstElementChild, some, world);
}

/** The tree drawn small: one row a line, from where it leaves another to its end.
 * @param {HTMLCanvasElement} canvas @param {import("./moments.mjs").Line[]} all @param {World} world */
function tree(canvas, all, world) {
  canvas.style.height = `${all.length * ROW}px`;
  const [g] = fit(canvas, [TREE, all.length * ROW]);
  const most = Math.max(1, ...all.map((l) => l.to));
  const x = (/** @type {number} */ depth) => 7 + (depth / most) * (TREE - 18);
  const y = (/** @type {number} */ row) => row * ROW + ROW / 2;
  all.forEach((l, i) => {
    const start = x(Math.max(0, l.from - (i ? 1 : 0)));
    g.strokeStyle = css(i ? "--line-2" : "--ink");
    g.lineWidth = i ? 1.5 : 2;
    g.beginPath();
    if (i) g.moveTo(start, y(l.of));
    g.lineTo(start, y(i));
    g.lineTo(x(l.to), y(i));
    g.stroke();
    dot(g, x(l.to), y(i), 3, i === 0);
  });
  const at = placesOn(world, all[0]);
  if (at !== null) {
    g.fillStyle = css("--surface");
    dot(g, x(at), y(0), 4.5, false);
    g.stroke();
  }
}

/** How deep the run stands on its line. @param {World} world @param {import("./moments.mjs").Line} own */
function placesOn(world, own) {
  let depth = own.to;
  for (let node = own.end; node.id !== world.moved.at; depth--) {
    const up = node.parent === null ? undefined : world.history.get(node.parent);
    if (!up) return null;
    node = up;
  }
  return depth;
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} r @param {boolean} ink */
function dot(g, x, y, r, ink) {
  if (r < 4) g.fillStyle = css(ink ? "--ink" : "--ink-3");
  g.strokeStyle = css("--ink");
  g.lineWidth = 2;
  g.beginPath();
  g.arc(x, y, r, 0, 7);
  g.fill();
}
