// @ts-check
/** All of a large map at once: squares of cells, the darkest cell of each, and the part that the map beside it shows. */

import { bins, binFor } from "./bins.mjs";
import { alpha, css, fit, hatched, label, place, roundRect } from "./canvas.mjs";
import { h, set, text } from "./dom.mjs";
import { msg } from "./language.mjs";
import { picture } from "./thumbs.mjs";

/** @typedef {import("./pane.mjs").Pane} Pane @typedef {import("./camera.mjs").Window} Window */

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
    this.element = h("figure", { class: "overview", hidden: true }, this.caption, h("div", { class: "overview-room" }, this.canvas));
    /** The squares in the colours of now. @type {{image: OffscreenCanvas, size: number, mine: [number, number][]} | null} */
    this.made = null;
    /** px a cell */
    this.unit = 0;
    const go = (/** @type {PointerEvent} */ event) => {
      if (!this.unit) return;
      this.pane.centre({ column: Math.floor((event.offsetX - LEFT) / this.unit), row: Math.floor((event.offsetY - TOP) / this.unit) });
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
  }

  /** @param {Window} window what the map beside it shows */
  paint(window) {
    const { sight } = this.pane;
    if (!sight || this.element.hidden) return;
    const [g, width, height] = fit(this.canvas);
    const [rows, columns] = sight.size;
    this.unit = Math.min((width - LEFT - 3) / columns, (height - TOP - 3) / rows);
    if (this.unit <= 0) return;
    const { image, size, mine } = (this.made ??= this.make(Math.max(1, Math.floor((Math.min(width - LEFT, height - TOP)) / LEAST))));
    const [w, tall] = [columns * this.unit, rows * this.unit];
    text(this.caption.lastElementChild, size > 1 ? msg`, ${size} × ${size} cells a square: the darkest` : msg`, every cell`);
    set(this.canvas, "aria-label", msg`All ${rows} × ${columns} cells; in sight are rows ${window.row} to ${window.row + window.rows - 1}, keys ${window.column} to ${window.column + window.columns - 1}`);
    hatched(g, LEFT, TOP, w, tall);
    g.imageSmoothingEnabled = false;
    g.drawImage(image, 0, 0, columns / size, rows / size, LEFT, TOP, w, tall);
    g.fillStyle = css("--ink");
    for (const [r, c] of mine) g.fillRect(LEFT + c * size * this.unit, TOP + r * size * this.unit, Math.max(2, (size * this.unit) / 2), Math.max(2, (size * this.unit) / 2));
    g.strokeStyle = css("--line-2");
    g.lineWidth = 1;
    g.strokeRect(LEFT - 0.5, TOP - 0.5, w + 1, tall + 1);
    this.ticks(g, rows, columns);
    this.lens(g, window);
  }

  /** @param {number} most squares on a side */
  make(most) {
    const { showing, state, value, size: [rows, columns] } = /** @type {import("./pane.mjs").Sight} */ (this.pane.sight);
    const size = binFor(Math.max(rows, columns), most);
    const { scale } = showing;
    const b = bins(rows, columns, size, state, value, !!scale.diverging);
    /** Squares in which a cell was hidden that show a number all the same. @type {[number, number][]} */
    const mine = [];
    b.mine.forEach((is, i) => is && b.states[i] !== 2 && mine.push([Math.floor(i / b.columns), i % b.columns]));
    return { image: picture(b, (v) => place(v, scale), !!scale.diverging), size, mine };
  }

  /** @param {CanvasRenderingContext2D} g @param {number} rows @param {number} columns */
  ticks(g, rows, columns) {
    const { focus } = /** @type {import("./pane.mjs").Sight} */ (this.pane.sight);
    const at = (/** @type {number} */ i) => (i + 0.5) * this.unit;
    const marks = (/** @type {number} */ n, /** @type {number | undefined} */ own) => [0, Math.round(n / 2), n - 1].filter((i) => own === undefined || Math.abs(at(i) - at(own)) > 26);
    const small = { size: 10.5, mono: true, color: "--ink-3" };
    for (const i of marks(columns, focus?.column)) label(g, String(i), LEFT + at(i), 8, { ...small, align: "center" });
    for (const i of marks(rows, focus?.row)) label(g, String(i), LEFT - 5, TOP + at(i), { ...small, align: "right" });
    if (!focus) return;
    label(g, String(focus.column), LEFT + at(focus.column), 8, { ...small, weight: 680, color: "--k", align: "center" });
    label(g, String(focus.row), LEFT - 5, TOP + at(focus.row), { ...small, weight: 680, color: "--q", align: "right" });
  }

  /** The part in sight of the map beside it. @param {CanvasRenderingContext2D} g @param {Window} window */
  lens(g, { row, column, rows, columns }) {
    const [x, y, w, h] = [LEFT + column * this.unit, TOP + row * this.unit, Math.max(6, columns * this.unit), Math.max(6, rows * this.unit)];
    g.fillStyle = alpha(css("--ink"), 0.05);
    g.fillRect(x, y, w, h);
    for (const [color, line] of /** @type {[string, number][]} */ ([["--surface", 4.5], ["--ink", 2]])) {
      g.strokeStyle = css(color);
      g.lineWidth = line;
      roundRect(g, x - 1, y - 1, w + 2, h + 2, 3);
      g.stroke();
    }
  }
}
