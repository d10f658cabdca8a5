// @ts-check
/** One map of reads in its place: what it stands on, which part of it is in sight, and painting that. */

import { bins } from "../draw/bins.mjs";
import { anchored, scales, viewport } from "../draw/camera.mjs";
import * as draw from "../canvas.mjs";
import { h, set, text } from "../dom.mjs";
import { gestures } from "./gestures.mjs";
import { msg } from "../language.mjs";
import { cellFigure, cellState, edited, extent, numbered } from "./maps.mjs";
import { follow, ground, moveTo, pan, seen } from "../draw/pan.mjs";
import * as read from "../reads.mjs";
import { edits } from "./masks.mjs";
import { outside } from "../read/windows.mjs";
import { Prefix } from "./prefix.mjs";
import { picture } from "../draw/thumbs.mjs";
import { requestName, shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context @typedef {import("../canvas.mjs").CellState} CellState */
/** @typedef {import("./gestures.mjs").Place} Place @typedef {import("./maps.mjs").Numbers} Numbers @typedef {import("../draw/camera.mjs").Window} Window */
/** What the cells show: their numbers, the scale and what is drawn of them.
 * @typedef {{number: Numbers & {shown: (r: number, k: number) => number}, scale: {max?: number, diverging?: boolean, decades?: number}, mask: boolean, gold?: (row: number, key: number) => boolean}} Showing */
/** What it stands on since the last draw.
 * @typedef {object} Sight
 * @property {{info: any, layer: number, head: number}} at @property {Showing} showing @property {(row: number, key: number) => number} value
 * @property {(row: number, key: number) => CellState} state @property {((row: number, key: number) => boolean) | null} marked @property {[number, number]} size rows, columns
 * @property {Place | null} focus the locked cell, or the newest row's largest read @property {Map<number, HTMLCanvasElement | OffscreenCanvas>} pictures by cells a pixel
 * @property {{rows: string[], columns: string[]}} [names]
 */

/** So many cells are drawn one by one, while the map rests and while it moves; more come from a picture. */
const MOST_RESTING = 900;
const MOST_MOVING = 120;
/** How long nothing moves before it rests, ms. */
const REST = 120;

export class Pane {
  /** @param {string} className of its scrolling place @param {() => void} told called when what it shows under the pointer changed @param {Context} context */
  constructor(className, told, context) {
    this.pan = pan({ role: "application", tabindex: 0, "aria-roledescription": msg`map`, "aria-label": msg`Map`, "aria-describedby": "map-readout" }, className);
    this.caption = h("figcaption", { class: "pane-said", hidden: true });
    this.prefix = new Prefix(this);
    this.element = h("figure", { class: "pane" }, this.caption, this.pan.element, this.prefix.element);
    this.context = context;
    this.told = told;
    /** @type {World} */
    this.world = /** @type {any} */ (null);
    /** The cell under the pointer or the keys. @type {Place | null} */
    this.hover = null;
    /** What is being painted; visible null: given back to the program. @type {{cells: Map<string, {query: number, key: number}>, visible: boolean | null, last: {query: number, key: number}} | null} */
    this.stroke = null;
    /** A pointer that may move the map. @type {{x: number, y: number, far: boolean} | null} */
    this.drag = null;
    /** 1: as the map chooses. */
    this.scale = 1;
    /** A stroke changed what the cells show. */
    this.changed = false;
    /** @type {Sight | null} */
    this.sight = null;
    /** Called with the window after each paint. @type {(window: Window) => void} */
    this.panned = () => {};
    /** The cell, and the row or column whose label is, under a point. @type {(event: MouseEvent) => Place | null} */
    this.at = () => null;
    /** @type {(event: MouseEvent) => {row: number} | {column: number} | null} */
    this.header = () => null;
    this.waiting = false;
    /** It shows the request that the page looks at. */
    this.own = true;
    this.moving = false;
    /** @type {any} */
    this.rest = 0;
    this.pan.redraw = () => this.moves();
    gestures(this);
  }

  /** Say what is here to a screen reader: set by whoever owns the read-out. */
  speak() {}

  /** What a draw found: everything that is no canvas, and where the cells get what they show.
   * @param {World} world @param {Showing} showing */
  prepare(world, showing) {
    this.world = world;
    const at = read.relation(world);
    this.sight = at && { at, showing, ...this.cells(at, showing), size: extent(world, at.info), focus: this.marked(showing.number.weight), marked: edited(world), pictures: new Map() };
    this.changed = false;
    if (!at) return;
    const { width, height } = this.window();
    ground(this.pan, width, height);
    const keys = edits(world) ? msg`X changes the mask of a cell, R of its row, C of its column.` : "";
    const request = read.requestCount(world) > 1 ? msg`request ${requestName(read.request(world))}, ` : "";
    set(this.pan.canvas, "aria-label", `${request}${msg`${at.info.title}, layer ${at.layer + 1} head ${at.head + 1}. Arrow keys move, Enter locks, plus and minus zoom.`} ${keys}`);
  }

  /** @param {{info: any, layer: number}} at @param {Showing} showing */
  cells({ info, layer }, { number, mask }) {
    const { world } = this;
    const value = mask ? () => 1 : number.shown;
    return { value, state: cellState(info, layer, read.rows(world, info.query), read.rows(world, info.key), value, this.stroke, mask || world.look.editing, number.came, outside(world, info, layer, number.weight)) };
  }

  /** Where nothing is locked, the newest row's largest read is marked. @param {(row: number, key: number) => number} weight */
  marked(weight) {
    const { lock } = this.world.look;
    if (lock) return { row: lock.row, column: lock.key };
    const at = read.relation(this.world);
    const { row } = read.focus(this.world);
    const top = at ? read.reads(weight, row, read.rows(this.world, at.info.key).length)[0] : undefined;
    return top ? { row, column: top.key } : null;
  }

  /** @returns {Window} */
  window(scale = this.scale) {
    const [rows, columns] = /** @type {Sight} */ (this.sight).size;
    return viewport(...draw.boxOf(this.pan.element), rows, columns, this.pan.left, this.pan.top, scale);
  }

  /** Where the keys begin. @returns {Place} */
  start() {
    return this.sight?.focus ?? { row: Math.max(0, read.focus(this.world).row), column: 0 };
  }

  /** Another cell, or none, is under the pointer or the keys: it lights up in every view. @param {Place | null} place */
  point(place) {
    this.hover = place;
    if (this.own) this.context.hover(place && { row: place.row, key: place.column });
    this.redraw();
  }

  /** What is pointed at here or, of the request that the page looks at, elsewhere. @returns {Place | null} */
  pointed() {
    const elsewhere = this.own && this.world.hover;
    return this.hover ?? (elsewhere ? { row: elsewhere.row, column: elsewhere.key } : null);
  }

  /** What is pointed at or painted changed. */
  redraw() {
    if (this.sight && this.changed) Object.assign(this.sight, this.cells(this.sight.at, this.sight.showing), { pictures: new Map() });
    this.changed = false;
    this.told();
    this.soon();
  }

  /** Paint in the next frame. */
  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  /** The map moves: it is drawn with fewer strokes until it rests. */
  moves() {
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.moving = false;
      this.soon();
    }, REST);
    this.soon();
  }

  /** The cells in sight. */
  paint() {
    const { sight } = this;
    if (!sight || !draw.boxOf(this.pan.element)[0]) return;
    this.follows();
    seen(this.pan);
    const window = this.window();
    const { row, column } = window;
    const { showing, value, state, marked } = sight;
    const geo = draw.cellMap(this.pan.canvas, {
      ...this.labels(window), rows: window.rows, columns: window.columns, left: window.left, top: window.top, right: 2, bottom: 2, origin: window,
      cellWidth: window.cellWidth, cellHeight: window.cell, shiftX: window.shiftX, shiftY: window.shiftY, values: !showing.mask, format: cellFigure, scale: showing.scale,
      value: (r, c) => value(r + row, c + column), state: (r, c) => state(r + row, c + column), marked: marked ? (r, c) => marked(r + row, c + column) : undefined,
      gold: showing.gold && ((r, c) => !!showing.gold?.(r + row, c + column)),
      most: this.moving ? MOST_MOVING : MOST_RESTING, afar: () => this.picture(Math.min(window.cell, window.cellWidth)), rail: this.rail(window), selected: inWindow(sight.focus, window), hover: inWindow(this.pointed(), window),
    });
    this.find(geo, window);
    this.prefix.place(window);
    this.panned(window);
  }

  /** @param {import("../draw/heatmap.mjs").Geometry} geo @param {Window} window */
  find(geo, { row, column }) {
    this.at = (event) => {
      const { x, y } = draw.pointedAt(event);
      const found = geo.at(x, y);
      return found ? { row: found.row + row, column: found.column + column } : null;
    };
    this.header = (event) => {
      const { x, y } = draw.pointedAt(event);
      const [down, across] = [geo.at(geo.left, y), geo.at(x, geo.top)];
      if (x < geo.left && down) return { row: down.row + row };
      return y < geo.top && across ? { column: across.column + column } : null;
    };
  }

  /** The whole map as a picture, for cells of this size: one pixel a cell, or a square of cells and its darkest. @param {number} cell px */
  picture(cell) {
    const sight = /** @type {Sight} */ (this.sight);
    const size = cell >= 1 ? 1 : 2 ** Math.ceil(Math.log2(1 / cell));
    let image = sight.pictures.get(size);
    if (!image) sight.pictures.set(size, (image = this.squares(size)));
    return { image, size };
  }

  /** @param {number} size cells on a side of a square */
  squares(size) {
    const { showing, state, value, size: [rows, columns] } = /** @type {Sight} */ (this.sight);
    const { scale } = showing;
    return picture(bins(rows, columns, size, state, value, !!scale.diverging), (v) => draw.place(v, scale), !!scale.diverging);
  }

  /** In prefill the row that decides has a rail. @param {Window} window */
  rail(window) {
    const row = read.phase(this.world) === "prefill" && this.sight?.at.info.query === "t" ? read.requestView(this.world)?.decision_row : null;
    return row === null || row === undefined ? undefined : row - window.row;
  }

  /** @param {Window} window */
  labels(window) {
    const { world } = this;
    const sight = /** @type {Sight} */ (this.sight);
    const { info } = sight.at;
    const queries = read.rows(world, info.query);
    const { rows, columns } = (sight.names ??= names(world, info, sight.size));
    const decides = read.phase(world) === "train" || info.query === "s" ? -1 : (read.requestView(world)?.decision_row ?? -1);
    const note = (/** @type {number} */ i) => (queries[i]?.state === "padded" ? msg`unused` : window.notes || i === decides ? arrow(shown(read.decides(world, info.query, i))) : "");
    return {
      rowLabels: numbered(rows, window.row, window.rows),
      rowNotes: window.cell < 9 ? undefined : Array.from({ length: window.rows }, (_, i) => note(i + window.row)),
      columnLabels: numbered(columns, window.column, window.columns),
    };
  }

  /** Scroll to the newest read when it changes: what a person scrolled to afterwards stays. */
  follows() {
    const { sight, world } = this;
    if (sight?.focus) this.bring(sight.focus, "read", `${world.moved?.at} ${world.look.relation} ${sight.focus.row} ${sight.focus.column}`);
  }

  /** Bring a cell into sight. @param {Place} cell @param {string} [what] @param {string} [value] */
  bring(cell, what = "cursor", value = `${cell.row} ${cell.column}`) {
    const { cell: tall, cellWidth, left, top } = this.window();
    follow(this.pan, what, value, { left: (cell.column - 1) * cellWidth, right: (cell.column + 2) * cellWidth + left }, { top: (cell.row - 1) * tall, bottom: (cell.row + 2) * tall + top });
  }

  /** @param {number} dx @param {number} dy px */
  moveBy(dx, dy) {
    this.moveTo(this.pan.left + dx, this.pan.top + dy);
  }

  /** @param {number} left @param {number} top px */
  moveTo(left, top) {
    moveTo(this.pan, left, top);
    this.moves();
  }

  /** Put a cell into the middle of what is in sight. @param {Place} cell */
  centre(cell) {
    const { cell: tall, cellWidth, left, top } = this.window();
    const [width, height] = draw.boxOf(this.pan.element);
    this.moveTo((cell.column + 0.5) * cellWidth - (width - left) / 2, (cell.row + 0.5) * tall - (height - top) / 2);
  }

  /** What a zoom goes around: the marked cell if it is in sight, else the middle. @param {Window} window @param {number} width @param {number} height */
  middle(window, width, height) {
    const { focus } = /** @type {Sight} */ (this.sight);
    const [x, y] = focus ? [window.left + (focus.column + 0.5) * window.cellWidth - this.pan.left, window.top + (focus.row + 0.5) * window.cell - this.pan.top] : [-1, -1];
    return x >= window.left && x < width && y >= window.top && y < height ? { x, y } : { x: (window.left + width) / 2, y: (window.top + height) / 2 };
  }

  /** Larger or smaller, around a point that stays where it is. @param {number} factor 0: as the map chooses @param {{x: number, y: number}} [around] */
  zoom(factor, around) {
    if (!this.sight) return;
    const [width, height] = draw.boxOf(this.pan.element);
    const [least, most] = scales(width, height, ...this.sight.size);
    const before = this.window();
    this.scale = factor ? Math.max(least, Math.min(most, this.scale * factor)) : 1;
    const after = this.window();
    const to = anchored(before, after, around ?? this.middle(before, width, height), this.pan);
    ground(this.pan, after.width, after.height);
    this.moveTo(to.left, to.top);
  }
}

/** What rows and columns are called. @param {World} world @param {any} info @param {[number, number]} size */
function names(world, info, [tall, wide]) {
  const [queries, keys] = [read.rows(world, info.query), read.rows(world, info.key)];
  const chosen = queries.at(-1)?.state === "unknown"; // and has its name already
  const next = info.query === "t" && !chosen ? read.choice(read.requestView(world)) : null;
  const query = (/** @type {number} */ i) => (queries[i] ? shown(queries[i].token) : i === queries.length && next ? `${shown(next.token)}?` : "·");
  return { rows: Array.from({ length: tall }, (_, i) => query(i)), columns: Array.from({ length: wide }, (_, i) => (keys[i] ? shown(keys[i].token) : "·")) };
}

/** @param {string} token */
const arrow = (token) => (token ? `→${token === "<blank>" ? "∅" : token}` : "");

/** @param {Place | null} at @param {{row: number, column: number}} window */
const inWindow = (at, window) => (at ? { row: at.row - window.row, column: at.column - window.column } : null);
