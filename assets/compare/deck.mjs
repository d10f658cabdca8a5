// @ts-check
/** The deck of the comparison: what is pressed, where the clock stands, its track, the input, the sentence below, and the line of the status. */

import { h, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { textOf } from "../lib/setup/together.mjs";
import { nameOf } from "../lib/setup/tokens.mjs";
import { exampleOf } from "./examples.mjs";
import { ended, phaseOf, placed, said, START, stepOf } from "./said.mjs";

/** @typedef {import("./clock.mjs").Clock} Clock @typedef {import("./clock.mjs").Page} Page */

/** Steps that the track has places for; and how many it has from the start. */
export const LONGEST = 24, PLACES = 8;

export const place = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

/** @param {Page} page @param {Clock} clock */
export function drawDeck(page, clock) {
  const { columns } = page, step = stepOf(page), phase = phaseOf(page), done = columns.every(ended);
  speak(page);
  press({ ...page.now, phase });
  set(place("compare-back"), "disabled", !clock.behind);
  set(place("compare-step"), "disabled", done);
  set(place("compare-step"), "title", done ? msg`All models have ended. Go back to choose another token.` : null);
  document.documentElement.toggleAttribute("data-playing", !!page.playing);
  text(place("compare-where"), phase === "train" ? msg`update ${step}` : phase === "prefill" ? msg`prefill` : msg`step ${step}`);
  track(page, clock);
  input(page);
  status(page);
}

let words = "";
/** @param {Page} page */
function speak(page) {
  const sentence = said(page), key = sentence.map((x) => (x instanceof Node ? x.textContent : String(x))).join("");
  if (key !== words) place("compare-say").replaceChildren(...sentence.map((x) => (x instanceof Node ? x : document.createTextNode(String(x)))));
  words = key;
}

/** @param {import("./link.mjs").Comparison} now */
function press(now) {
  for (const button of document.querySelectorAll("[data-value]")) {
    const { act, value } = /** @type {HTMLElement} */ (button).dataset;
    set(/** @type {HTMLElement} */ (button), "aria-pressed", String(value === now[/** @type {"phase" | "lead" | "weights"} */ (act)]));
  }
}

/** @param {Page} page @param {Clock} clock */
function track(page, clock) {
  const step = stepOf(page), first = page.now.phase === "train" ? 0 : START;
  const places = Array.from({ length: Math.min(LONGEST, Math.max(PLACES, step + 2)) - first }, (_, i) => i + first);
  list(place("compare-track"), places, (i) => i, (i) => h("li", null, h("button", { type: "button", onclick: () => clock.go(i) }, h("b"), h("span"))), (element, i) => {
    const told = placed(page, i), state = i < step ? "done" : i === step ? "now" : "todo", button = element.firstChild;
    element.className = first < 0 && i < 1 ? `${state} call${i ? "" : " wide"}` : state;
    text(button.firstChild, told.text);
    text(button.lastChild, told.note);
    set(button, "title", told.title || null);
    set(button, "aria-label", i > 0 || first === 0 ? msg`step ${i}` + (told.text ? ` ${told.text}` : "") : null);
    set(button, "aria-current", i === step ? "step" : null);
  });
  if (step !== sighted) sight(step);
}

/** The place that was brought into sight last. */
let sighted = 0;
/** Where the track is wider than its room, the place and the next one are in sight. @param {number} step */
function sight(step) {
  sighted = step;
  const all = place("compare-track"), { offsetLeft, offsetWidth } = all.querySelector(".now") ?? all;
  if (offsetLeft + 2 * offsetWidth > all.scrollLeft + all.clientWidth + all.offsetLeft || offsetLeft < all.scrollLeft + all.offsetLeft) all.scrollLeft = offsetLeft - all.offsetLeft - all.clientWidth + 2 * offsetWidth;
}

/** @param {Page} page */
function input({ now, columns }) {
  const field = place("compare-text");
  text(place("compare-side"), now.source ? msg`source` : msg`prompt`);
  if (document.activeElement !== field) field.value = now.source ? now.source.map(nameOf).join(" ") : textOf(columns.find((c) => c.world.opened)?.world.opened, now.target.map(nameOf)).replaceAll("\n", " ");
  place("compare-presets").value = exampleOf(now);
}

/** @param {Page} page */
function status({ columns }) {
  const states = columns.map((c) => c.world.connection), all = states.every((s) => s === "open");
  set(place("compare-live"), "data-state", all ? "open" : states.includes("closed") ? "closed" : "connecting");
  const ms = columns.reduce((sum, c) => sum + (c.world.moved?.forward_ms ?? 0), 0);
  const device = columns[0]?.world.opened?.device ?? "";
  text(place("compare-status"), all && device && !ms ? msg`PyTorch, ${device.toUpperCase()}` : all && device ? msg`PyTorch, ${device.toUpperCase()}, ${ms.toFixed(ms < 10 ? 1 : 0)} ms for this step of all models` : states.includes("closed") ? msg`the server refuses this page` : msg`Connecting`);
}
