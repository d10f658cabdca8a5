// @ts-check
/** Views: load them, put each into its slot, watch what the shown ones want, and paint in an animation frame what changed. */

import { forgetTheme } from "../canvas.mjs";
import { h, hide } from "../dom.mjs";
import { msg, named } from "../language.mjs";
import { long } from "../reads.mjs";

/** @typedef {import("../types").View} View @typedef {import("../types").World} World @typedef {import("../types").Context} Context */
/** @typedef {import("../types").Selector} Selector */
/**
 * @typedef {object} Placed one view on the page
 * @property {View} view @property {HTMLElement} element @property {HTMLElement | null} menu @property {boolean} shown @property {boolean} mounted
 * @property {Set<string>} reads the parts of the world that its last draw read @property {boolean} dirty @property {number} width as it was last, unless hidden @property {string} failed
 */

const MOST_SELECTORS = 64;
/** What is painted in the first frame after a step, alone, so that this frame is short: the maps; where there are none, who read whom and what is said
 * of it. All else follows in the next frame. */
const FIRST = ["map", "read sentence"].map((slots) => new Set(slots.split(" ")));
/** Views that fill the room that the others leave: drawn after them, they are drawn once. */
const FILLING = new Set(["read", "map", "next", "training", "charts"]);
/** How long a new epoch may keep the page from painting, ms. */
const PATIENCE = 100;

/** Import every view; one that cannot be loaded is told and left out.
 * @param {string[]} addresses @param {(address: string) => Promise<{default: View}>} [load] @returns {Promise<View[]>} */
export async function loadViews(addresses, load = (address) => import(address)) {
  const loaded = await Promise.allSettled(addresses.map((address) => load(address)));
  return loaded.flatMap((result, i) => {
    if (result.status === "fulfilled" && result.value.default?.id) return [result.value.default];
    console.error(`The view ${addresses[i]} could not be loaded:`, result.status === "rejected" ? result.reason : "it exports no view");
    return [];
  });
}

export class Registry {
  /**
   * @param {object} o
   * @param {import("../run/store.mjs").Store} o.store @param {Context} o.context
   * @param {(selectors: Selector[]) => void} o.watch called with what the shown views want, when that changes
   * @param {(seq: number) => void} o.drawn called when values frames are on the page, with the newest's number
   * @param {(placed: Placed) => HTMLElement | null} [o.menu] the button of a view's own menu
   * @param {(slot: string) => HTMLElement | null} [o.slot]
   */
  constructor({ store, context, watch, drawn, menu = () => null, slot = (name) => document.getElementById(`slot-${name}`) }) {
    this.store = store;
    this.context = context;
    this.watch = watch;
    this.drawn = drawn;
    this.menu = menu;
    this.slot = slot;
    /** @type {Placed[]} */
    this.placed = [];
    /** Those who are no views and ask for values too, under their own name in `world.values`. @type {{id: string, wants: () => Selector[]}[]} */
    this.others = [];
    this.waiting = false;
    /** The last frame left views to the next one. */
    this.owed = false;
    /** Boxes changed: no step, and all of it is one picture. */
    this.moves = false;
    this.watched = "";
    /** @type {Selector[]} */
    this.selectors = [];
    /** What the views want may have changed. */
    this.asks = false;
    this.chosen = "";
    this.unsettledSince = 0;
    store.listen((parts) => this.changed(parts));
  }

  /** @param {View[]} views */
  place(views) {
    const resize = new ResizeObserver((entries) => this.resized(entries));
    const fills = (/** @type {View} */ view) => Number(FILLING.has(view.slot));
    for (const view of [...views].sort((a, b) => fills(a) - fills(b))) {
      const slot = this.slot(view.slot);
      if (!slot) {
        console.error(`The view ${view.id} names the slot ${view.slot}, which the page does not have.`);
        continue;
      }
      view.title = named(view.title);
      const element = h("section", { id: `view-${view.id}`, class: `view view-${view.slot}`, "aria-label": view.title, hidden: true });
      slot.appendChild(element);
      /** @type {Placed} */
      const placed = { view, element, menu: null, shown: false, mounted: false, reads: new Set(), dirty: true, width: 0, failed: "" };
      placed.menu = this.menu(placed);
      if (placed.menu) slot.insertBefore(placed.menu, element); // it lies where the view begins
      this.placed.push(placed);
      resize.observe(element);
      element.addEventListener("box", () => {
        placed.dirty = this.moves = true;
        this.ask();
      });
    }
    this.changed(["opened"]);
  }

  /** Paint everything anew (a theme, a size, fonts that came). */
  repaint() {
    forgetTheme();
    for (const p of this.placed) p.dirty = true;
    this.ask();
  }

  /** A view is as high as what it draws; boxes inside it that are not tell it themselves ("box"). @param {ResizeObserverEntry[]} entries */
  resized(entries) {
    for (const { target, contentRect: { width } } of entries) {
      const p = this.placed.find(({ element }) => element === target);
      if (!p || !width || p.width === width) continue;
      if (p.width) p.dirty = true; // else it was hidden, and drawn since
      p.width = width;
    }
    if (this.placed.some((p) => p.shown && p.dirty)) this.ask();
  }

  /** @param {string} id @param {() => Selector[]} wants */
  also(id, wants) {
    this.others.push({ id, wants });
    this.asks = true;
    this.ask();
  }

  /** @param {string[]} parts */
  changed(parts) {
    if (parts.includes("opened") || parts.includes("look") || parts.includes("schema") || (parts.includes("moved") && this.moment() !== this.chosen)) this.choose();
    else if (parts.includes("moved") && long(this.store.world)) this.asks = true;
    for (const p of this.placed) if (!p.dirty) p.dirty = parts.some((part) => p.reads.has(part));
    this.ask();
  }

  /** @returns {any} */
  phase() {
    const { world } = this.store;
    return world.moved?.phase ?? world.opened?.scenario.phase ?? "";
  }

  /** What decides which views are shown: the phase, and whether its first step was done. */
  moment() {
    return `${this.phase()} ${!this.store.world.moved?.step}`;
  }

  /** Which views are shown, and what they want. */
  choose() {
    const phase = this.phase();
    this.chosen = this.moment();
    for (const p of this.placed) {
      const due = phase ? p.view.phases.includes(phase) : p.view.slot === "sentence"; // the sentence tells what one waits for
      const shown = due && (p.view.applies?.(this.store.world) ?? true);
      if (shown !== p.shown) p.dirty = true;
      p.shown = shown;
      hide(p.element, !shown);
      if (p.menu) p.menu.hidden = !shown;
    }
    this.asks = true;
    this.ask();
  }

  /** A new connection watches nothing yet. @param {Selector[]} known what the views will want */
  rewatch(known = []) {
    this.watched = "";
    if (known.length) this.ensure(new Map(known.map((s) => [JSON.stringify(s), s])));
    this.choose();
  }

  /** Plan whose values go to which view, and watch them if that is something else than before. */
  plan() {
    if (!this.store.world.opened || !this.store.world.moved) return;
    this.asks = false;
    /** @type {Map<string, Selector>} */
    const union = new Map();
    this.store.plan = new Map();
    const asked = this.placed.filter((p) => p.shown).map((p) => ({ id: p.view.id, wants: () => this.wants(p) }));
    for (const { id, wants } of [...asked, ...this.others]) {
      const all = wants().map((s) => /** @type {[string, Selector]} */ ([JSON.stringify(s), s]));
      all.forEach(([key, selector]) => union.set(key, selector));
      this.store.plan.set(id, all.map(([key]) => key));
    }
    this.ensure(union);
  }

  /** @param {Map<string, Selector>} union all that is to be watched, by its text */
  ensure(union) {
    const text = [...union.keys()].join();
    if (text === this.watched) return;
    this.watched = text;
    if (union.size > MOST_SELECTORS) console.error(`The views want ${union.size} selectors; allowed: ${MOST_SELECTORS}. The last are left out.`);
    this.selectors = [...union.values()].slice(0, MOST_SELECTORS);
    this.watch(this.selectors);
  }

  /** @param {Placed} p @returns {Selector[]} */
  wants(p) {
    try {
      return p.view.wants(this.store.world) ?? [];
    } catch (error) {
      this.fail(p, error);
      return [];
    }
  }

  ask() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.frame());
  }

  /** @param {boolean} [whole] paint all that is due now */
  frame(whole = this.owed) {
    this.waiting = false;
    if (this.asks) this.plan();
    if (this.held()) return this.ask();
    const due = this.placed.filter((p) => p.shown && p.dirty);
    const now = whole || this.moves || !due.some((p) => p.mounted && p.view.slot !== "sentence") ? due : first(due);
    this.owed = now.length < due.length;
    this.moves = false;
    this.paint(now);
    if (this.owed) return this.ask();
    const drawn = this.store.drawn.splice(0);
    if (drawn.length) this.drawn(Math.max(...drawn));
  }

  /** First all that is DOM, then the canvases: a canvas that sets its font makes the browser bring the page's styles up to date.
   * @param {Placed[]} due */
  paint(due) {
    const pictures = due.map((p) => ({ p, paint: this.draw(p) }));
    for (const { p, paint } of pictures) if (typeof paint === "function") this.attempt(p, paint);
  }

  /** Between a new epoch and its first values the old picture stays, for a moment. A visit that asked for its run before its scripts were read shows
   * nothing before its first values (app/ui/parts.py). */
  held() {
    const page = globalThis.document?.documentElement?.dataset;
    if (page && "early" in page) {
      if (!this.store.drawn.length) return true;
      delete page.early;
    }
    if (!this.store.unsettled) {
      this.unsettledSince = 0;
      return false;
    }
    this.unsettledSince ||= performance.now();
    return performance.now() - this.unsettledSince < PATIENCE;
  }

  /** Paint one view at once, its canvases too. @param {Placed} p */
  drawNow(p) {
    const paint = this.draw(p);
    if (typeof paint === "function") this.attempt(p, paint);
  }

  /** @param {Placed} p @returns {void | (() => void)} what paints its canvases */
  draw(p) {
    p.dirty = false;
    p.reads = new Set();
    return this.attempt(p, () => {
      if (!p.mounted || p.failed) this.mount(p);
      return p.view.draw(p.element, watched(this.store.world, p.reads), this.context);
    });
  }

  /** @template T @param {Placed} p @param {() => T} act @returns {T | void} */
  attempt(p, act) {
    try {
      return act();
    } catch (error) {
      this.fail(p, error);
    }
  }

  /** @param {Placed} p */
  mount(p) {
    p.element.replaceChildren();
    p.mounted = true;
    p.failed = "";
    p.view.mount?.(p.element, this.context);
  }

  /** A view's error is shown in its own place, and nowhere else.
   * @param {Placed} p @param {unknown} error */
  fail(p, error) {
    console.error(`The view ${p.view.id} failed:`, error);
    p.failed = String(error);
    p.dirty = false;
    const again = () => {
      p.dirty = true;
      this.ask();
    };
    p.element.replaceChildren(
      h("p", { class: "view-error", role: "alert" }, msg`“${p.view.title}” could not be drawn: ${p.failed}. The rest of the page goes on.`, " ",
        h("button", { class: "btn sm", type: "button", onclick: again }, msg`Draw again`)),
    );
    p.reads = new Set(["opened"]);
  }
}

/** @param {Placed[]} due @returns {Placed[]} what does not wait for the next frame */
function first(due) {
  return FIRST.map((slots) => due.filter((p) => slots.has(p.view.slot))).find((now) => now.length) ?? due;
}

/** The world, noting which of its parts are read.
 * @param {World} world @param {Set<string>} reads @returns {World} */
function watched(world, reads) {
  return new Proxy(world, {
    get(target, part) {
      reads.add(/** @type {string} */ (part));
      return target[/** @type {keyof World} */ (part)];
    },
  });
}
