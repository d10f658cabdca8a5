// @ts-check
/** A canvas that stays in place while a long input moves under it: native scrolling, drawing only what is seen. */

import { boxOf, fit } from "../canvas.mjs";
import { h } from "../dom.mjs";

/** left, top: how far it is scrolled (asking the element makes the browser lay the page out); width, height: of the ground.
 * @typedef {{element: HTMLElement, space: HTMLElement, canvas: HTMLCanvasElement, left: number, top: number, width: number, height: number, redraw: () => void, followed: Record<string, string>}} Pan */

/** @param {Record<string, any>} attributes of the canvas @param {string} [className] @returns {Pan} */
export function pan(attributes, className = "") {
  const canvas = h("canvas", { ...attributes, class: "pan-canvas" });
  const space = h("div", { class: "pan-space" }, canvas);
  const element = h("div", { class: `pan ${className}`, tabindex: attributes.tabindex === undefined ? 0 : null }, space);
  const made = { element, space, canvas, left: 0, top: 0, width: 0, height: 0, redraw: () => {}, followed: {} };
  let waiting = false;
  const redraw = () => {
    waiting = false;
    made.redraw();
  };
  const scrolled = () => {
    if (made.left === element.scrollLeft && made.top === element.scrollTop) return;
    [made.left, made.top] = [element.scrollLeft, element.scrollTop];
    if (!waiting) requestAnimationFrame(redraw);
    waiting = true;
  };
  element.addEventListener("scroll", scrolled, { passive: true });
  return made;
}

/** Make the ground as large as its content; 0: as large as what is seen, so that nothing is scrolled.
 * @param {Pan} p @param {number} width @param {number} [height] */
export function ground(p, width, height = 0) {
  [p.width, p.height] = [Math.ceil(width), Math.ceil(height)];
  if (!p.width) p.left = 0;
  if (!p.height) p.top = 0;
  pixels(p.space.style, "minWidth", p.width);
  pixels(p.space.style, "minHeight", p.height);
}

/** Fit the canvas to what is seen and clear it.
 * @param {Pan} p @returns {[CanvasRenderingContext2D, number, number, number, number]} context, width, height, scrolled right, scrolled down */
export function seen(p) {
  const size = boxOf(p.element);
  pixels(p.canvas.style, "width", size[0]);
  pixels(p.canvas.style, "height", size[1]);
  return [...fit(p.canvas, size), p.left, p.top];
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
  const [width, height] = boxOf(p.element);
  const left = x ? held(within(p.left, width, x.left, x.right), p.width - width) : p.left;
  const top = y ? held(within(p.top, height, y.top, y.bottom), p.height - height) : p.top;
  if (left === p.left && top === p.top) return;
  [p.left, p.top] = [left, top];
  // When everything of this frame is drawn: a scroll in the middle would lay the page out once more.
  queueMicrotask(() => p.element.scrollTo(p.left, p.top));
}

/** Scroll there, as far as there is something.
 * @param {Pan} p @param {number} left @param {number} top */
export function moveTo(p, left, top) {
  const [width, height] = boxOf(p.element);
  [p.left, p.top] = [held(left, p.width - width), held(top, p.height - height)];
  p.element.scrollTo(p.left, p.top);
}

/** @param {number} scroll @param {number} most */
const held = (scroll, most) => Math.round(Math.max(0, Math.min(scroll, most)));

/** Where to scroll so that from..to is seen, moving as little as possible. Pure.
 * @param {number} scroll @param {number} room @param {number} from @param {number} to */
export function within(scroll, room, from, to) {
  if (from < scroll) return Math.max(0, from);
  if (to > scroll + room) return to - room;
  return scroll;
}
