// @ts-check
/** What drawings are made of: a canvas fitted to its box, measured in CSS pixels, and strokes on it. */

import { alpha, css, forgetColours } from "./colours.mjs";
import { forgetCut, noteCut } from "./whole.mjs";
import { zoomOf } from "./zoom.mjs";

/** The sizes of boxes that are drawn in, CSS pixels. To ask is to make the browser lay the page out, so it is asked for once and then
 * told; a box that changed after it was drawn bubbles the event "box". @type {WeakMap<Element, [number, number]>} */
const boxes = new WeakMap();
const observer = globalThis.ResizeObserver && new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const [width, height] = boxes.get(target) ?? [0, 0];
    boxes.set(target, [target.clientWidth, target.clientHeight]);
    if (width !== target.clientWidth || height !== target.clientHeight) target.dispatchEvent(new Event("box", { bubbles: true }));
  }
});

/** @param {HTMLElement} element @returns {[number, number]} width and height inside it */
export function boxOf(element) {
  const known = boxes.get(element);
  if (known?.[0] && known[1]) return known;
  const asked = /** @type {[number, number]} */ ([element.clientWidth, element.clientHeight]);
  if (observer) {
    boxes.set(element, asked);
    observer.observe(element);
  }
  return asked;
}

/** Give a canvas a height of its own, "40px".
 * @param {HTMLCanvasElement} canvas @param {string} height */
export function tall(canvas, height) {
  if (canvas.style.height === height) return;
  canvas.style.height = height;
  boxes.delete(canvas);
}

/** Pixels that a canvas gets for each CSS pixel, at least: more while a picture is taken. */
let least = 0;

/** @param {number} pixels */
export function sharpen(pixels) {
  least = pixels;
}

/** What draws instead of canvases' own pens, while a picture of shapes is taken; given a size it begins anew. @type {((canvas: HTMLCanvasElement, size?: [number, number]) => any) | null} */
let instead = null;
/** @param {typeof instead} pens */
export const drawWith = (pens) => void (instead = pens);

/** What draws on a canvas, as it is. @param {HTMLCanvasElement} canvas @returns {CanvasRenderingContext2D} */
export const penOf = (canvas) => instead?.(canvas) ?? canvas.getContext("2d");

/** Fit a canvas's pixels to its box, or to the size that it was just given, and clear it.
 * @param {HTMLCanvasElement} canvas @param {[number, number]} [size] @returns {[CanvasRenderingContext2D, number, number]} context, width, height in CSS pixels */
export function fit(canvas, size) {
  if (size) boxes.set(canvas, size);
  const [width, height] = boxOf(canvas);
  if (instead) return [instead(canvas, [width, height]), width, height];
  const scale = Math.max(least, (window.devicePixelRatio || 1) * zoomOf(canvas));
  const w = Math.max(1, Math.round(width * scale));
  const h = Math.max(1, Math.round(height * scale));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  forgetCut(canvas);
  return [g, width, height];
}

/** @param {CanvasRenderingContext2D} g @param {number} weight @param {number} size px @param {boolean} [mono] */
export function font(g, weight, size, mono = false) {
  g.font = lastFont = `${weight} ${size}px ${css(mono ? "--font-mono" : "--font-ui")}`;
}

/** The font that was set last: a context's own is slow to ask. */
let lastFont = "";

/** Begin a path round a box; fill or stroke it yourself.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r */
export function roundRect(g, x, y, w, h, r) {
  g.beginPath();
  g.roundRect(x, y, w, h, r);
}

/** @param {CanvasRenderingContext2D} g @param {string} text @param {number} x @param {number} y
 * @param {{weight?: number, size?: number, mono?: boolean, color?: string, align?: CanvasTextAlign}} [o] color: a token */
export function label(g, text, x, y, o = {}) {
  font(g, o.weight ?? 480, o.size ?? 12, o.mono);
  g.fillStyle = css(o.color ?? "--ink-2");
  g.textAlign = o.align ?? "left";
  g.textBaseline = "middle";
  g.fillText(text, x, y);
}

/** Texts that were cut, by font, width and text: measuring is slow, and a map that moves asks the same again and again.
 * @type {Map<string, string>} */
const cuts = new Map();

/** Forget what was read of the theme: colours, and texts cut in its fonts. */
export function forgetTheme() {
  forgetColours();
  cuts.clear();
}

/** Text cut to a width in the font that was set last, with an ellipsis.
 * @param {CanvasRenderingContext2D} g @param {string} text @param {number} width */
export function clip(g, text, width) {
  const key = `${lastFont} ${width} ${text}`;
  let found = cuts.get(key);
  if (found === undefined) {
    if (cuts.size > 4000) cuts.clear();
    cuts.set(key, (found = cut(g, text, width)));
  }
  return found;
}

/** @param {CanvasRenderingContext2D} g @param {string} text @param {number} width */
function cut(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && g.measureText(letters.join("") + "…").width > width) letters.pop();
  return letters.join("") + "…";
}

/** Diagonal lines: a masked place.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {string} color @param {number} [lineWidth] @param {number} [gap] */
export function hatch(g, x, y, w, h, color, lineWidth = 1, gap = 5) {
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.strokeStyle = color;
  g.lineWidth = lineWidth;
  g.beginPath();
  for (let i = -h; i < w; i += gap) {
    g.moveTo(x + i, y + h);
    g.lineTo(x + i + h, y);
  }
  g.stroke();
  g.restore();
}

/** A canvas that is on no page; one of the document where the browser has no other.
 * @param {number} width @param {number} height @returns {{canvas: OffscreenCanvas, g: OffscreenCanvasRenderingContext2D}} */
export function offscreen(width, height) {
  const canvas = /** @type {any} */ (globalThis.OffscreenCanvas ? new OffscreenCanvas(width, height) : Object.assign(document.createElement("canvas"), { width, height }));
  return { canvas, g: canvas.getContext("2d") };
}

/** @type {Map<string, CanvasPattern>} */
const patterns = new Map();

/** The thin hatch over any area at once: many masked places.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h */
export function hatched(g, x, y, w, h) {
  const color = css("--hatch");
  if (instead) return hatch(g, x, y, w, h, color, 0.8, 6);
  const fine = g.getTransform().a; // a tile in the screen's own pixels is copied, one that is scaled would be resampled
  let pattern = patterns.get(`${color} ${fine}`);
  if (!pattern) {
    const { canvas: tile, g: made } = offscreen(Math.round(6 * fine), Math.round(6 * fine));
    const t = /** @type {any} */ (made);
    t.scale(tile.width / 6, tile.height / 6);
    hatch(t, 0, 0, 6, 6, color, 0.8, 6);
    pattern = /** @type {CanvasPattern} */ (g.createPattern(tile, "repeat"));
    if (fine !== 1) pattern.setTransform(new DOMMatrix().scale(6 / tile.width));
    patterns.set(`${color} ${fine}`, pattern);
  }
  g.fillStyle = pattern;
  g.fillRect(x, y, w, h);
}

/** Dots: a padded place.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h @param {string} color */
export function dots(g, x, y, w, h, color) {
  g.fillStyle = color;
  for (let a = x + 3; a < x + w - 1; a += 5) for (let b = y + 3; b < y + h - 1; b += 5) g.fillRect(a, b, 1.2, 1.2);
}

/** A dashed outline: not known yet.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {number} [r] @param {string} [color] a token @param {number} [lineWidth] */
export function dashed(g, x, y, w, h, r = 3, color = "--line-2", lineWidth = 1) {
  g.setLineDash([3, 3]);
  g.strokeStyle = css(color);
  g.lineWidth = lineWidth;
  roundRect(g, x + 0.5, y + 0.5, w - 1, h - 1, r);
  g.stroke();
  g.setLineDash([]);
}

/** A cross: a blocked read, a number that is not finite.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} [size] @param {string} [color] a token */
export function cross(g, x, y, size = 4, color = "--ink-2") {
  g.strokeStyle = css(color);
  g.lineWidth = 1.8;
  g.beginPath();
  g.moveTo(x - size, y - size);
  g.lineTo(x + size, y + size);
  g.moveTo(x + size, y - size);
  g.lineTo(x - size, y + size);
  g.stroke();
}

/** A letter in its role's colour: hue never stands alone.
 * @param {CanvasRenderingContext2D} g @param {string} letter @param {string} role q k v p g d @param {number} x left @param {number} y middle */
export function tag(g, letter, role, x, y) {
  g.fillStyle = css(role === "d" ? "--d-fill" : `--${role}-wash`);
  roundRect(g, x, y - 8, 16, 16, 3);
  g.fill();
  label(g, letter, x + 8, y + 0.5, { weight: 650, size: 10.5, mono: true, color: role === "d" ? "--on-d" : `--${role}`, align: "center" });
}

/** One row of a strip as a box with its token. state says what is known of it, by form and never by hue.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w @param {number} h @param {string} text
 * @param {{role?: string, state?: "known" | "unknown" | "next" | "padded", on?: boolean, size?: number}} [o] */
export function chip(g, x, y, w, h, text, o = {}) {
  const role = o.role ?? "k";
  const state = o.state ?? "known";
  if (state === "unknown") dashed(g, x, y, w, h, 5, "--line-2", 1.2);
  else if (state === "next") dashed(g, x, y, w, h, 5, "--d", 1.8);
  else {
    g.fillStyle = css(`--${role}-wash`);
    roundRect(g, x, y, w, h, 5);
    g.fill();
    if (state === "padded") dots(g, x, y, w, h, css("--ink-3"));
    g.strokeStyle = o.on ? css(`--${role}`) : alpha(css(`--${role}-fill`), 0.5);
    g.lineWidth = o.on ? 2.2 : 1;
    roundRect(g, x, y, w, h, 5);
    g.stroke();
  }
  const color = state === "next" ? "--d" : o.on ? `--${role}` : state === "unknown" || state === "padded" ? "--ink-3" : "--ink";
  font(g, o.on ? 700 : 540, o.size ?? 14, true);
  const said = clip(g, text, w - 4);
  if (said !== text) noteCut(g, text, x, y, w, h);
  label(g, said, x + w / 2, y + h / 2 + 0.5, { weight: o.on ? 700 : 540, size: o.size ?? 14, mono: true, color, align: "center" });
}

/** A ribbon between two points, one above the other; its width is a quantity.
 * @param {CanvasRenderingContext2D} g @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1
 * @param {number} width @param {string} fill a colour */
export function ribbon(g, x0, y0, x1, y1, width, fill) {
  const m = (y0 + y1) / 2;
  const a = width / 2;
  g.beginPath();
  g.moveTo(x0 - a, y0);
  g.bezierCurveTo(x0 - a, m, x1 - a, m, x1 - a, y1);
  g.lineTo(x1 + a, y1);
  g.bezierCurveTo(x1 + a, m, x0 + a, m, x0 + a, y0);
  g.closePath();
  g.fillStyle = fill;
  g.fill();
}
