// @ts-check
/** A source of numbers that a person draws: a picture, or frames as a spectrogram shows them. Pen, eraser, a hand that moves shapes, and
 * stamps (digits) that are dragged onto it or laid down with a click. */

import { css, fit, rgb } from "../canvas.mjs";
import { h, list, set, text as put } from "../dom.mjs";
import { counted, msg } from "../language.mjs";
import { blank, copy, empty, free, ink, shape, stamp, STANDS, wipe, within } from "./pixels.mjs";

/** @typedef {import("./pixels.mjs").Lines} Lines @typedef {{width: number, most: number, what: "picture" | "frames" | "sequence"}} Features
 * @typedef {{name: string, lines: Lines}} Stamp @typedef {"draw" | "erase" | "move"} Tool
 * @typedef {{at: [number, number], piece: Lines | null, rest: Lines, from: [number, number]}} Stroke */

/** Frames of silence that are laid behind a stamp. */
const GAP = 2;
/** Most that a picture is wide on the page, and that frames are, px. */
const WIDE = 216;

export class Drawing {
  /** @param {{name: string, stamps: Stamp[], change: () => void, undo: () => void}} o change: the numbers are others now */
  constructor({ name, stamps, change, undo }) {
    this.change = change;
    this.stamps = stamps;
    /** What the scenario holds. @type {Lines} */
    this.features = [];
    /** @type {Features} */
    this.kind = { width: 1, most: 1, what: "picture" };
    /** The same upright, as it is drawn. @type {Lines} */
    this.lines = [];
    /** @type {Tool} */
    this.tool = "draw";
    /** @type {Stroke | null} */
    this.stroke = null;
    this.disabled = false;
    this.canvas = h("canvas", { class: "drawing", tabindex: 0, role: "img" });
    const tools = [["draw", msg`draw`], ["erase", msg`erase`], ["move", msg`move`]];
    this.tools = h("div", { class: "seg", role: "group", "aria-label": msg`What the pointer does` }, tools.map(([tool, said]) => h("button", { type: "button", "data-value": tool, onclick: () => this.choose(/** @type {Tool} */ (tool)) }, said)));
    this.clear = h("button", { class: "link small", type: "button", onclick: () => this.set(this.blank()) }, msg`Clear`);
    this.back = h("button", { class: "link small", type: "button", title: "Ctrl+Z", onclick: undo }, msg`Undo`);
    this.tray = h("div", { class: "stamps", role: "group", "aria-label": msg`Digits: drag one onto the picture, or press it` });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.note = h("p", { class: "note" });
    this.element = h("div", { class: "drawing-field" }, this.canvas, h("div", { class: "drawing-tools" }, this.tools, h("span", { class: "sp" }), this.back, this.clear), this.tray, this.note, this.problem);
    this.rename(name);
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.onpointerdown = (/** @type {PointerEvent} */ e) => {
      if (this.disabled || e.button) return;
      canvas.setPointerCapture(e.pointerId);
      this.begin(this.pixel(e));
    };
    canvas.onpointermove = (/** @type {PointerEvent} */ e) => this.stroke && this.go(this.pixel(e));
    canvas.onpointerup = () => this.end();
    canvas.onpointercancel = () => this.cancel();
    canvas.onkeydown = (/** @type {KeyboardEvent} */ e) => e.key === "Escape" && this.cancel();
    canvas.addEventListener("box", () => this.paint());
  }

  /** @param {string} name */
  rename(name) {
    this.name = name;
    set(this.canvas, "aria-label", name);
  }

  /** @param {Lines} features what the scenario holds @param {Features} kind @param {boolean} disabled */
  update(features, kind, disabled) {
    const same = this.shown && JSON.stringify(features) === JSON.stringify(this.features) && kind.what === this.kind.what;
    this.kind = kind;
    this.disabled = disabled;
    for (const button of [...this.tools.children, this.clear, this.back]) set(button, "disabled", disabled);
    this.choose(this.tool);
    this.drawTray();
    if (same || this.stroke) return;
    this.shown = true;
    this.features = features;
    this.lines = this.upright(features);
    this.tell("");
    this.draw();
  }

  /** @param {Lines} features */
  upright(features) {
    return STANDS[this.kind.what].up(features);
  }

  /** @param {Tool} tool */
  choose(tool) {
    this.tool = tool;
    for (const button of this.tools.children) set(button, "aria-pressed", String(/** @type {any} */ (button).dataset.value === tool));
    set(this.canvas, "data-tool", tool);
  }

  /** Nothing on it: a white picture, or as many frames of silence. */
  blank() {
    return blank(this.lines.length, this.lines[0]?.length ?? 1);
  }

  /** The numbers are others now: shown at once, and told. @param {Lines} lines */
  set(lines) {
    this.lines = lines;
    this.features = STANDS[this.kind.what].down(lines);
    this.tell("");
    this.draw();
    this.change();
  }

  // ---- the pointer

  /** The pixel under the pointer; it may lie outside. @param {{clientX: number, clientY: number}} e @returns {[number, number]} */
  pixel(e) {
    const box = this.canvas.getBoundingClientRect();
    return [Math.floor(((e.clientY - box.top) / box.height) * this.lines.length), Math.floor(((e.clientX - box.left) / box.width) * (this.lines[0]?.length ?? 1))];
  }

  /** @param {[number, number]} at */
  begin(at) {
    const found = this.tool === "move" ? shape(this.lines, ...at) : null;
    if (this.tool === "move" && !found) return this.tell(msg`Press on ink: the shape that it belongs to moves.`);
    this.stroke = { at, piece: found?.piece ?? null, rest: found?.rest ?? copy(this.lines), from: found ? [found.y - at[0], found.x - at[1]] : at };
    this.tell("");
    this.go(at);
  }

  /** @param {[number, number]} at */
  go(at) {
    const s = /** @type {Stroke} */ (this.stroke);
    if (s.piece) this.lines = stamp(s.rest, s.piece, at[0] + s.from[0], at[1] + s.from[1]);
    else this.lines = (this.tool === "erase" ? wipe : ink)(this.lines, s.at, at);
    s.at = at;
    this.paint();
  }

  end() {
    const s = this.stroke;
    this.stroke = null;
    if (!s) return;
    const outside = s.piece && !within(s.rest, s.piece, s.at[0] + s.from[0], s.at[1] + s.from[1]);
    if (outside) return this.cancelled(msg`It was let go outside the picture: nothing was changed.`);
    if (JSON.stringify(this.lines) !== JSON.stringify(this.upright(this.features))) this.set(this.lines);
  }

  cancel() {
    this.stroke = null;
    this.cancelled("");
  }

  /** As it was. @param {string} said */
  cancelled(said) {
    this.lines = this.upright(this.features);
    this.tell(said);
    this.draw();
  }

  // ---- stamps

  drawTray() {
    set(this.tray, "hidden", !this.stamps.length);
    list(this.tray, this.stamps, (s) => s.name, (s) => this.stampButton(s), (button) => set(button, "disabled", this.disabled));
  }

  /** @param {Stamp} s */
  stampButton(s) {
    const button = h("button", { type: "button", class: "stamp", "aria-label": msg`Lay down ${s.name}`, title: msg`${s.name}: drag it onto the picture, or press it` }, h("canvas", { width: 16, height: 16, "aria-hidden": "true" }));
    let dragged = false;
    button.onpointerdown = (/** @type {PointerEvent} */ e) => {
      button.setPointerCapture(e.pointerId);
      dragged = false;
    };
    button.onpointermove = (/** @type {PointerEvent} */ e) => {
      if (!button.hasPointerCapture(e.pointerId) || this.disabled) return;
      const at = this.pixel(e);
      dragged ||= Math.abs(e.movementX) + Math.abs(e.movementY) > 0;
      this.stroke = { at, piece: s.lines, rest: this.upright(this.features), from: [-(s.lines.length >> 1), -(s.lines[0].length >> 1)] };
      this.go(at);
    };
    button.onpointerup = () => dragged && this.end();
    button.onpointercancel = () => this.cancel();
    button.onclick = () => !dragged && this.lay(s);
    small(button.firstElementChild, s.lines);
    return button;
  }

  /** A stamp that was pressed: into a free quarter of a picture; behind the frames that are there. @param {Stamp} s */
  lay(s) {
    this.stroke = null;
    if (this.kind.what !== "frames") return this.set(stamp(this.lines, s.lines, ...free(this.lines, s.lines)));
    const [height, wide] = [this.lines.length, s.lines[0].length];
    const before = empty(this.lines) ? blank(height, GAP) : this.lines;
    if (before[0].length + wide + GAP > this.kind.most) return this.tell(msg`There is no room for another: ${before[0].length} of at most ${this.kind.most} frames are there. Clear first.`);
    this.set(stamp(before.map((line) => [...line, ...Array(wide + GAP).fill(0)]), s.lines, (height - s.lines.length) >> 1, before[0].length));
  }

  // ---- showing

  draw() {
    const [y, x] = [this.lines.length, this.lines[0]?.length ?? 0];
    const frames = this.kind.what === "frames";
    const width = Math.min(WIDE, x * (frames ? 6 : 15));
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${Math.max(24, frames ? y * 5 : Math.min(WIDE, (width * y) / Math.max(1, x)))}px`;
    put(this.note, empty(this.lines) ? msg`Nothing is on it yet: draw, or lay down a digit.` : this.kind.what === "frames" ? counted(x, "{0} frame", "{0} frames") : msg`${y} × ${x} pixels`);
    this.paint();
  }

  paint() {
    const [g, width, height] = fit(this.canvas, [parseFloat(this.canvas.style.width), parseFloat(this.canvas.style.height)]);
    pixels(g, this.lines, 0, 0, width, height);
  }

  /** @param {string} problem */
  tell(problem) {
    put(this.problem, problem);
    set(this.problem, "hidden", !problem);
  }
}

/** Numbers 0..1 as ink on paper. @param {CanvasRenderingContext2D} g @param {Lines} lines @param {number} x @param {number} y @param {number} width @param {number} height */
export function pixels(g, lines, x, y, width, height) {
  const [paper, dark] = [rgb(css("--surface")), rgb(css("--ink"))];
  const [rows, columns] = [lines.length, lines[0]?.length ?? 0];
  const edge = (/** @type {number} */ i, /** @type {number} */ of, /** @type {number} */ size) => Math.round((i * size) / of);
  g.fillStyle = css("--surface");
  g.fillRect(x, y, width, height);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const v = Math.min(1, lines[r][c]);
      if (!(v > 0)) continue;
      g.fillStyle = `rgb(${paper.map((p, i) => Math.round(p + (dark[i] - p) * v)).join()})`;
      const [left, top] = [edge(c, columns, width), edge(r, rows, height)];
      g.fillRect(x + left, y + top, edge(c + 1, columns, width) - left, edge(r + 1, rows, height) - top);
    }
  }
}

/** A stamp's picture in black; setup.css turns it for a dark page. @param {any} canvas @param {Lines} lines */
function small(canvas, lines) {
  const g = canvas.getContext("2d");
  lines.forEach((line, y) => line.forEach((v, x) => {
    g.fillStyle = `rgba(0,0,0,${v})`;
    g.fillRect(x * 2, y * 2, 2, 2);
  }));
}
