// @ts-check
/** A canvas that stays in place while a long input moves under it: native scrolling, drawing only what is seen. */

import { fit } from "./canvas.mjs";
import { h } from "./dom.mjs";

/** @typedef {{element: HTMLElement, space: HTMLElement, canvas: HTMLCanvasElement, redraw: () => void, followed: Record<string, string>}} Pan */

/** @param {Record<string, any>} attributes of the canvas @param {string} [className] @returns {Pan} */
export function pan(attributes, className = "") {
  const canvas = h("canvas", { ...attributes, class: "pan-canvas" });
  const space = h("div", { class: "pan-space" }, canvas);
  const element = h("div", { class: `pan ${className}`, tabindex: attributes.tabindex === undefined ? 0 : null }, space);
  const made = { element, space, canvas, redraw: () => {}, followed: {} };
  element.addEventListener("scroll", () => requestAnimationFrame(() => made.redraw()), { passive: true });
  return made;
}

/** Make the ground as large as its content; 0: as large as what is seen.
 * @param {Pan} p @param {number} width @param {number} [height] */
export function ground(p, width, height = 0) {
  pixels(p.space.style, "minWidth", Math.ceil(width));
  pixels(p.space.style, "minHeight", Math.ceil(height));
}

/** Fit the canvas to what is seen and clear it.
 * @param {Pan} p @returns {[CanvasRenderingContext2D, number, number, number, number]} context, width, height, scrolled right, scrolled down */
export function seen(p) {
  pixels(p.canvas.style, "width", p.element.clientWidth);
  pixels(p.canvas.style, "height", p.element.clientHeight);
  return [...fit(p.canvas), p.element.scrollLeft, p.element.scrollTop];
}

/** @param {any} style @param {string} name @param {number} value */
function pixels(style, name, value) {
  const text = `${value}px`;
  if (style[name] !== text) style[name] = text;
}

/** Bring a place into view, once for each value of what it follows: what a person scrolled to afterwards stays.
 * @param {Pan} p @param {string} what @param {string} value @param {{left: number, right: number} | null} x @param {{top: number, bottom: number} | null} [y] */
export function follow(p, what, value, x, y = null) {
  if (p.followed[what] === value) return;
  p.followed[what] = value;
  const e = p.element;
  if (x) e.scrollLeft = within(e.scrollLeft, e.clientWidth, x.left, x.right);
  if (y) e.scrollTop = within(e.scrollTop, e.clientHeight, y.top, y.bottom);
}

/** Where to scroll so that from..to is seen, moving as little as possible. Pure.
 * @param {number} scroll @param {number} room @param {number} from @param {number} to */
export function within(scroll, room, from, to) {
  if (from < scroll) return Math.max(0, from);
  if (to > scroll + room) return to - room;
  return scroll;
}
