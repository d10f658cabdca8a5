// @ts-check
/** Words that a canvas had no room for: where they stand, so that the pointer over one says it whole. */

import { pointedAt } from "./zoom.mjs";

/** @typedef {{x: number, y: number, w: number, h: number, text: string}} Cut in px of the canvas */
/** @type {WeakMap<HTMLCanvasElement, Cut[]>} */
const known = new WeakMap();

/** What was drawn on a canvas is cleared.
 * @param {HTMLCanvasElement} canvas */
export function forgetCut(canvas) {
  if (known.get(canvas)?.length) known.set(canvas, []);
}

/** A word was drawn shorter than it is. The box is in the units of the drawing, moved as that is.
 * @param {CanvasRenderingContext2D} g @param {string} text @param {number} x @param {number} y @param {number} w @param {number} h */
export function noteCut(g, text, x, y, w, h) {
  const { a, d, e, f } = g.getTransform();
  const ratio = a || 1;
  const all = known.get(g.canvas) ?? [];
  known.set(g.canvas, all);
  all.push({ x: x + e / ratio, y: y + f / (d || 1), w, h, text });
}

/** The whole word under a point of a canvas. @param {HTMLCanvasElement} canvas @param {number} x @param {number} y px */
export const cutAt = (canvas, x, y) => known.get(canvas)?.find((c) => x >= c.x && x <= c.x + c.w && y >= c.y && y <= c.y + c.h)?.text ?? "";

/** What elements say of themselves because they are cut. @type {WeakMap<Element, string>} */
const whole = new WeakMap();

/** A text that ends in an ellipsis says itself whole, unless it says something else. @param {Element | null} element what is pointed at */
function sayText(element) {
  for (let e = element, up = 0; e instanceof HTMLElement && up < 3; e = e.parentElement, up++) {
    if (e.title !== (whole.get(e) ?? "")) return; // it says something else
    const style = getComputedStyle(e);
    const short = (e.scrollWidth > e.clientWidth + 1 && style.textOverflow === "ellipsis") || (e.scrollHeight > e.clientHeight + 1 && style.webkitLineClamp !== "none");
    if (!short && !e.title) continue;
    e.title = short ? (e.textContent ?? "").trim() : "";
    whole.set(e, e.title);
    return;
  }
}

/** Every canvas and every text of a page says on hover what it had no room for. @param {Document} page */
export function sayWhole(page) {
  page.addEventListener("pointerover", (event) => event.pointerType !== "touch" && sayText(/** @type {Element} */ (event.target)), { passive: true });
  page.addEventListener("pointermove", (event) => {
    const canvas = /** @type {any} */ (event.target);
    if (!(canvas instanceof HTMLCanvasElement) || event.pointerType === "touch") return;
    const { x, y } = pointedAt(event);
    const text = cutAt(canvas, x, y);
    if (canvas.title !== text) canvas.title = text;
  }, { passive: true });
}
