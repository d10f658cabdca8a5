// @ts-check
/** The edge of a prefix on the map: a line that is dragged, or moved by the arrow keys, to give P another value. */

import { h, hide, set } from "../dom.mjs";
import { spotOn } from "../draw/zoom.mjs";
import { msg } from "../language.mjs";
import { change, edits } from "./masks.mjs";
import * as read from "../reads.mjs";
import { border } from "./visibility.mjs";

/** @typedef {import("./pane.mjs").Pane} Pane @typedef {import("../draw/camera.mjs").Window} Window */

/** What an arrow key adds to P. @type {Record<string, number>} */
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -5, PageDown: 5, Home: -1e6, End: 1e6 };

export class Prefix {
  /** @param {Pane} pane */
  constructor(pane) {
    this.pane = pane;
    this.element = h("div", { class: "prefix-edge", role: "slider", tabindex: 0, hidden: true, "aria-label": msg`Prefix P: rows before it read each other freely`, "aria-orientation": "horizontal", "aria-valuemin": 0 });
    /** P while it is dragged, else null. @type {number | null} */
    this.dragged = null;
    /** @type {Window | null} */
    this.window = null;
    const { element } = this;
    element.onpointerdown = (/** @type {PointerEvent} */ event) => {
      if (event.button) return;
      element.setPointerCapture(event.pointerId);
      this.drag(event);
    };
    element.onpointermove = (/** @type {PointerEvent} */ event) => this.dragged !== null && this.drag(event);
    element.onpointerup = () => this.drop();
    element.onpointercancel = () => {
      this.dragged = null;
      pane.soon();
    };
    element.onkeydown = (/** @type {KeyboardEvent} */ event) => {
      const by = KEYS[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      this.apply(this.within((this.now() ?? 0) + by));
    };
  }

  /** P of the shown mask, or null where it has no prefix. A source's own edge is one that can be taken from there. */
  now() {
    const { world } = this.pane;
    const at = read.relation(world);
    const mask = at && (at.info.masks[at.layer] ?? at.info.default);
    if (!at || !mask) return null;
    return mask.program === "prefix" ? mask.parameter : mask.program === "source_target" ? border(read.rows(world, at.info.key)) : null;
  }

  /** How many keys there are. */
  most() {
    const at = read.relation(this.pane.world);
    return at ? read.rows(this.pane.world, at.info.key).length : 0;
  }

  /** @param {number} p */
  within(p) {
    return Math.max(0, Math.min(this.most(), p));
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const { window } = this;
    if (!window) return;
    const { x } = spotOn(this.pane.pan.element, event);
    this.dragged = this.within(Math.round((x - window.left + window.shiftX) / window.cellWidth) + window.column);
    this.place(window);
  }

  drop() {
    const to = this.dragged;
    this.dragged = null;
    if (to !== null) this.apply(to);
  }

  /** @param {number} p */
  apply(p) {
    const command = change(this.pane.world, (mask) => ({ ...mask, program: "prefix", parameter: p }), true);
    if (command) this.pane.context.send(command);
    else this.pane.soon();
  }

  /** Where it stands now: called with each paint. @param {Window} window */
  place(window) {
    this.window = window;
    const { world } = this.pane;
    const p = this.dragged ?? this.now();
    const x = p === null ? -1 : (Math.min(p, this.most()) - window.column) * window.cellWidth - window.shiftX;
    const hidden = p === null || !this.pane.own || !edits(world) || x < 0 || x > window.columns * window.cellWidth;
    hide(this.element, hidden);
    if (hidden || p === null) return;
    set(this.element, "style", `left: ${Math.round(window.left + x)}px; top: ${this.pane.pan.element.offsetTop + window.top - 14}px; height: ${Math.round(window.rows * window.cell) + 14}px`);
    set(this.element, "data-label", `P = ${p}`);
    set(this.element, "aria-valuenow", String(p));
    set(this.element, "aria-valuemax", String(this.most()));
  }
}
