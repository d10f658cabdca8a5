// @ts-check
/** Two fingers on a map: they spread or close to zoom, and move it. One finger is left to the browser (it pans), or to painting. */

import { spotOn } from "./zoom.mjs";

/** @typedef {{x: number, y: number}} Point */

/** @param {HTMLElement} element
 * @param {{begin: () => void, move: (factor: number, at: Point, by: Point) => void}} o begin: what one finger did is undone; move: since the last call, by
 * this factor around `at` (inside the element), shifted by `by` */
export function twoFingers(element, { begin, move }) {
  /** @type {{apart: number, at: Point} | null} */
  let last = null;
  element.addEventListener("touchstart", (event) => {
    last = event.touches.length === 2 ? pair(event.touches, element) : null;
    if (last) begin();
  }, { passive: true });
  element.addEventListener("touchmove", (event) => {
    if (!last || event.touches.length !== 2) return;
    event.preventDefault();
    const now = pair(event.touches, element);
    move(now.apart / last.apart, now.at, { x: now.at.x - last.at.x, y: now.at.y - last.at.y });
    last = now;
  }, { passive: false });
  for (const end of ["touchend", "touchcancel"]) element.addEventListener(end, () => (last = null), { passive: true });
}

/** @param {TouchList} touches @param {HTMLElement} element */
function pair(touches, element) {
  const [a, b] = [touches[0], touches[1]];
  const [one, other] = [spotOn(element, a), spotOn(element, b)];
  return { apart: Math.max(1, Math.hypot(one.x - other.x, one.y - other.y)), at: { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 } };
}
