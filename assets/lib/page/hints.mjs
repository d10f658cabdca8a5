// @ts-check
/** Three hints for the first minute, one after the other: each with a number that also stands at what it speaks of. What was done gives
 * way to the next; dismissed they never come again by themselves. */

import { h, hide, set } from "../dom.mjs";
import { msg } from "../language.mjs";
import { PAGE } from "../run/addressbar.mjs";
import { alone } from "../states/tapes.mjs";
import { lasting } from "../storage.mjs";

/** @typedef {import("../run/store.mjs").Store} Store */

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
    this.next = h("button", { class: "link small", type: "button", onclick: () => this.pass() }, msg`Next`);
    place.append(h("ol", { "aria-label": msg`First hints` }, this.items), this.next, h("button", { class: "link small", type: "button", onclick: () => this.dismiss() }, msg`Got it`));
    /** What the run was when the hints appeared: what differs later was done. @type {any[] | null} */
    this.first = null;
    this.begun = false;
    /** Which hint is marked, and whether one follows. */
    this.marked = "";
    store.listen((parts) => parts.some((p) => p === "moved" || p === "opened") && this.changed(parts.includes("opened")));
    this.changed();
  }

  /** On a first visit they appear once a run is there. @param {boolean} [anew] the page may have other places now */
  changed(anew = false) {
    const { world } = this.store;
    if (anew) this.marked = "";
    if (this.first) return this.cross();
    if (this.begun || !world.moved) return;
    this.begun = true;
    if (lasting.getItem(KEY) !== "dismissed" && world.role === "writer" && !PAGE) this.show();
  }

  show() {
    lasting.removeItem(KEY);
    this.first = done(this.store);
    for (const item of this.items) item.removeAttribute("data-done");
    this.mark(true);
    hide(this.place, false);
  }

  dismiss() {
    lasting.setItem(KEY, "dismissed");
    this.first = null;
    this.mark(false);
    hide(this.place, true);
  }

  /** Go on to the next hint, though this one was not done. */
  pass() {
    set(this.items[this.left()[0]], "data-done", true);
    this.mark(true);
  }

  /** Which hints are not done; where nothing is read there is no mask. */
  left() {
    return HINTS.map((_, i) => i).filter((i) => !this.items[i].hasAttribute("data-done") && !(i === 2 && alone(this.store.world)));
  }

  /** @param {boolean} on */
  mark(on) {
    const [now, then] = on ? this.left() : [];
    if (this.marked === `${now} ${then}`) return; // to look for their places costs more than a view
    this.marked = `${now} ${then}`;
    hide(this.next, then === undefined);
    HINTS.forEach(({ at }, i) => {
      hide(this.items[i], i !== now);
      for (const element of document.querySelectorAll(at)) set(/** @type {HTMLElement} */ (element), "data-hint", i === now ? i + 1 : null);
    });
  }

  cross() {
    const now = done(this.store);
    this.items.forEach((item, i) => now[i] !== this.first?.[i] && set(item, "data-done", true));
    if (this.left().length) this.mark(true);
    else this.dismiss();
  }
}

/** What the three hints speak of, as values that change when they are done. @param {Store} store */
function done({ world }) {
  const { scenario } = world.opened ?? {};
  return [world.history.size > 1, JSON.stringify(scenario?.requests), JSON.stringify(scenario?.masks)];
}
