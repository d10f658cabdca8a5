// @ts-check
/** How the timeline is moved by hand: scrolled, panned by the wheel, dragged through its moments. */

import { spotOn } from "../draw/zoom.mjs";

/** @typedef {import("../types").World} World */
/** @typedef {{world: World | null, left: number, blocks: import("./blocks.mjs").Block[]}} Kept */

/** @param {any} track @param {Kept} kept @param {() => void} redraw */
export function pans(track, kept, redraw) {
  track.addEventListener("scroll", () => {
    if (kept.left === track.scrollLeft) return;
    kept.left = track.scrollLeft;
    redraw();
  }, { passive: true });
  track.addEventListener("wheel", (/** @type {WheelEvent} */ event) => {
    if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY) || track.scrollWidth <= track.clientWidth) return;
    event.preventDefault();
    track.scrollLeft += event.deltaY;
  });
}

/** A drag along the blocks goes through their moments. (A finger pans, as everywhere.)
 * @param {any} track @param {Kept} kept @param {(world: World) => boolean} able @param {(moment: number) => Promise<void>} go */
export function drags(track, kept, able, go) {
  /** @type {{x: number, moved: boolean} | null} */
  let drag = null;
  track.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0 || event.pointerType === "touch" || !kept.world || !able(kept.world)) return;
    drag = { x: event.clientX, moved: false };
  });
  track.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (!event.buttons) drag = null; // it was let go elsewhere
    if (!drag || (!drag.moved && Math.abs(event.clientX - drag.x) < 6)) return;
    if (!drag.moved) track.setPointerCapture(event.pointerId);
    drag.moved = true;
    const x = spotOn(track, event).x + kept.left;
    const nodes = kept.blocks.filter((b) => b.node !== null);
    const near = nodes.findLast((b) => b.left <= x) ?? nodes[0];
    if (near?.node !== null && near && near.state !== "now") go(near.node);
  });
  track.addEventListener("pointerup", () => (drag = null));
  track.addEventListener("pointercancel", () => (drag = null));
}
