// @ts-check
/** Three hints for the first minute: told in one strip, each with a number that stands at what it speaks of. What was done is crossed
 * off; dismissed they never come again by themselves. */

import { h, set } from "./dom.mjs";
import { msg } from "./language.mjs";
import { alone } from "./tapes.mjs";

/** @typedef {import("./store.mjs").Store} Store */

const KEY = "lookback-hints";

/** What each hint says, and the elements that carry its number. */
const HINTS = [
  { said: () => msg`Step reads one row more.`, at: "#step, #step-phone" },
  { said: () => msg`Click a word to change it.`, at: "#requests .request:first-child > .hh + .note + .chips-field > .chips-box" },
  { said: () => msg`Edit mask: hide a cell.`, at: "#slot-map" },
];

export class Hints {
  /** @param {HTMLElement} place @param {Store} store */
  constructor(place, store) {
    this.place = place;
    this.store = store;
    this.items = HINTS.map(({ said }, i) => h("li", null, h("b", { class: "hint-mark", "aria-hidden": "true" }, i + 1), said()));
    place.append(h("ol", { "aria-label": msg`First hints` }, this.items), h("button", { class: "link small", type: "button", onclick: () => this.dismiss() }, msg`Got it`));
    /** What the run was when the hints appeared: what differs later was done. @type {any[] | null} */
    this.first = null;
    this.begun = false;
    store.listen((parts) => parts.some((p) => p === "moved" || p === "opened") && this.changed());
    this.changed();
  }

  /** On a first visit they appear once a run is there. */
  changed() {
    const { world } = this.store;
    this.items[2].hidden = alone(world); // nothing is read, so there is no mask
    if (this.first) return this.cross();
    if (this.begun || !world.moved) return;
    this.begun = true;
    if (localStorage.getItem(KEY) !== "dismissed" && world.role === "writer") this.show();
  }

  show() {
    localStorage.removeItem(KEY);
    this.first = done(this.store);
    for (const item of this.items) item.removeAttribute("data-done");
    this.mark(true);
    this.place.hidden = false;
  }

  dismiss() {
    localStorage.setItem(KEY, "dismissed");
    this.first = null;
    this.mark(false);
    this.place.hidden = true;
  }

  /** @param {boolean} on */
  mark(on) {
    HINTS.forEach(({ at }, i) => {
      for (const element of document.querySelectorAll(at)) set(/** @type {HTMLElement} */ (element), "data-hint", on && !this.items[i].hidden && !this.items[i].hasAttribute("data-done") ? i + 1 : null);
    });
  }

  cross() {
    const now = done(this.store);
    this.items.forEach((item, i) => now[i] !== this.first?.[i] && set(item, "data-done", true));
    this.mark(true);
    if (this.items.every((item) => item.hidden || item.hasAttribute("data-done"))) this.dismiss();
  }
}

/** What the three hints speak of, as values that change when they are done. @param {Store} store */
function done({ world }) {
  const { scenario } = world.opened ?? {};
  return [world.history.size > 1, JSON.stringify(scenario?.requests), JSON.stringify(scenario?.masks)];
}
