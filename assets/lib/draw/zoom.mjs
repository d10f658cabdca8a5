// @ts-check
/** Where a pointer is on an element, on a stage that is zoomed as well. */

/** How much larger than its own pixels a person sees an element: on the stage of a class, more than 1 (css/projector.css). Asked there alone,
 * since to ask makes the browser bring the page's styles up to date. @param {any} element @returns {number} */
export function zoomOf(element) {
  const { page, mode } = globalThis.document?.documentElement?.dataset ?? {};
  return page === "class" || mode === "class" ? (element.currentCSSZoom ?? 1) : 1;
}

/** Where the pointer is on an element, and the element's size, in its own pixels: `clientX` and boxes count those of the window.
 * @param {Element} element @param {{clientX: number, clientY: number}} pointer */
export function spotOn(element, { clientX, clientY }) {
  const [box, zoom] = [element.getBoundingClientRect(), zoomOf(element)];
  return { x: (clientX - box.left) / zoom, y: (clientY - box.top) / zoom, width: box.width / zoom, height: box.height / zoom };
}

/** Where a pointer is on the element that it is on. `offsetX` and `offsetY` say so too, in its own pixels, but where it is zoomed in the window's.
 * @param {{target: any, clientX: number, clientY: number, offsetX: number, offsetY: number}} event @returns {{x: number, y: number}} */
export const pointedAt = (event) => (zoomOf(event.target) === 1 ? { x: event.offsetX, y: event.offsetY } : spotOn(event.target, event));
