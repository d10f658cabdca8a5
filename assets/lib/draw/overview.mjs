// @ts-check
/** All of a large map at once: squares of cells, the darkest cell of each, and the part that the map beside it shows. */

import { bins, binFor } from "./bins.mjs";
import { css, fit, hatched, label, place, pointedAt } from "../canvas.mjs";
import { h, set, text } from "../dom.mjs";
import { msg } from "../language.mjs";
import { picture } from "./thumbs.mjs";

/** @typedef {import("../map/pane.mjs").Pane} Pane @typedef {import("./camera.mjs").Window} Window */

const LEFT = 30;
const TOP = 16;
/** A square is at least so large, px. */
const LEAST = 3;

export class Overview {
  /** @param {Pane} pane whose map it is */
  constructor(pane) {
    this.pane = pane;
    this.canvas = h("canvas", { role: "img", class: "fill" });
    this.caption = h("figcaption", { class: "pane-said" }, h("b", null, msg`Overview`), h("span"));
    this.element = h("figure", { class: "overview", hidden: true }, this.caption, h("div", { class: "overview-room" }, this.canvas, (this.glass = h("div", { class: "lens", hidden: true }))));
    /** The squares in the colours of now. @type {{image: OffscreenCanvas, size: number, mine: [number, number][]} | null} */
    this.made = null;
    /** It is to be painted anew. */
    this.stale = true;
    /** px a cell */
    this.unit = 0;
    const go = (/** @type {PointerEvent} */ event) => {
      if (!this.unit) return;
      const { x, y } = pointedAt(event);
      this.pane.centre({ column: Math.floor((x - LEFT) / this.unit), row: Math.floor((y - TOP) / this.unit) });
    };
    this.canvas.onpointerdown = (/** @type {PointerEvent} */ event) => {
      this.canvas.setPointerCapture(event.pointerId);
      go(event);
    };
    this.canvas.onpointermove = (/** @type {PointerEvent} */ event) => event.buttons && go(event);
  }

  /** What the cells show changed. */
  forget() {
    this.made = null;
    this.stale = true;
  }

  /** @param {Window} window what the map beside it shows */
  paint(window) {
    if (!this.pane.sight || this.element.hidden) return;
    if (this.stale) this.all();
    this.lens(window);
  }

  /** All cells. */
  all() {
    const sight = /** @type {import("../map/pane.mjs").Sight} */ (this.pane.sight);
    const [g, width, height] = fit(this.canvas);
    const [rows, columns] = sight.size;
    this.unit = Math.min((width - LEFT - 3) / columns, (height - TOP - 3) / rows);
    if (this.unit <= 0) return;
    this.stale = false;
    const { image, size, mine } = (this.made ??= this.make(Math.max(1, Math.floor(Math.min(width - LEFT, height - TOP) / LEAST))));
    const [w, tall] = [columns * this.unit, rows * this.unit];
    text(this.caption.lastElementChild, size > 1 ? msg`, ${size} × ${size} cells a square: the darkest` : msg`, every cell`);
    set(this.canvas, "aria-label", msg`All ${rows} × ${columns} cells`);
    hatched(g, LEFT, TOP, w, tall);
    g.imageSmoothingEnabled = false;
    g.drawImage(image, 0, 0, columns / size, rows / size, LEFT, TOP, w, tall);
    g.fillStyle = css("--ink");
    const dot = Math.max(2, (size * this.unit) / 2);
    for (const [r, c] of mine) g.fillRect(LEFT + c * size * this.unit, TOP + r * size * this.unit, dot, dot);
    g.strokeStyle = css("--line-2");
    g.lineWidth = 1;
    g.strokeRect(LEFT - 0.5, TOP - 0.5, w + 1, tall + 1);
    this.ticks(g, rows, columns, width);
  }

  /** @param {number} most squares on a side */
  make(most) {
    const { showing, state, value, size: [rows, columns] } = /** @type {import("../map/pane.mjs").Sight} */ (this.pane.sight);
    const size = binFor(Math.max(rows, columns), most);
    const { scale } = showing;
    const b = bins(rows, columns, size, state, value, !!scale.diverging);
    /** Squares in which a cell was hidden that show a number all the same. @type {[number, number][]} */
    const mine = [];
    b.mine.forEach((is, i) => is && b.states[i] !== 2 && mine.push([Math.floor(i / b.columns), i % b.columns]));
    return { image: picture(b, (v) => place(v, scale), !!scale.diverging), size, mine };
  }

  /** @param {CanvasRenderingContext2D} g @param {number} rows @param {number} columns @param {number} width */
  ticks(g, rows, columns, width) {
    const { focus } = /** @type {import("../map/pane.mjs").Sight} */ (this.pane.sight);
    const at = (/** @type {number} */ i) => (i + 0.5) * this.unit;
    const marks = (/** @type {number} */ n, /** @type {number | undefined} */ own) => [0, Math.round(n / 2), n - 1].filter((i) => own === undefined || Math.abs(at(i) - at(own)) > 26);
    const small = { size: 10.5, mono: true, color: "--ink-3" };
    for (const i of marks(columns, focus?.column)) label(g, String(i), i === columns - 1 ? Math.min(width - 1, LEFT + at(i) + 6) : LEFT + at(i), 8, { ...small, align: i === columns - 1 ? "right" : "center" });
    for (const i of marks(rows, focus?.row)) label(g, String(i), LEFT - 5, TOP + at(i), { ...small, align: "right" });
    if (!focus) return;
    label(g, String(focus.column), LEFT + at(focus.column), 8, { ...small, weight: 680, color: "--k", align: "center" });
    label(g, String(focus.row), LEFT - 5, TOP + at(focus.row), { ...small, weight: 680, color: "--q", align: "right" });
  }

  /** The part in sight of the map beside it: an element, so that a map that moves repaints nothing here. @param {Window} window */
  lens({ row, column, rows, columns, shiftX, shiftY, cell, cellWidth }) {
    this.glass.hidden = this.unit <= 0;
    const { style } = this.glass;
    style.transform = `translate(${LEFT + (column + shiftX / cellWidth) * this.unit - 2}px, ${TOP + (row + shiftY / cell) * this.unit - 2}px)`;
    const [w, h] = [columns, rows].map((n) => `${Math.round(Math.max(6, n * this.unit)) + 4}px`);
    if (style.width !== w) style.width = w;
    if (style.height !== h) style.height = h;
  }
}
