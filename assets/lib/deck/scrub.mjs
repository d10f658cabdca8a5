// @ts-check
/** The whole line in one bar: where the run stands, what of it the timeline shows, where branches leave; drag or keys go there. */

import { h, list, set } from "../dom.mjs";

/** What the bar shows: so many places, the moment and the name of each, where the run stands; seen: the first and the last that the
 * timeline shows; over: where each place lies, from 0 to 1, so that it stands over its block; null: all are as far from each other.
 * @typedef {{over: number[] | null, count: number, moment: (i: number) => number, said: (i: number) => string, at: number, seen: [number, number], marks: {at: number, kind: "pass" | "fork" | "stop"}[], able: boolean}} Shown */

/** @param {{name: () => string, go: (id: number) => Promise<void>}} o go resolves when nothing waits any more @returns {{element: HTMLElement, show: (shown: Shown) => void}} */
export function scrubber({ name, go }) {
  const [seen, done, mark, marks] = [h("i", { class: "scrub-seen" }), h("i", { class: "scrub-done" }), h("i", { class: "scrub-mark" }), h("span", { class: "scrub-marks" })];
  const ground = h("span", { class: "scrub-ground" }, h("span", { class: "scrub-rail" }, done), seen, marks, mark);
  const element = h("div", { class: "scrub", role: "slider", tabindex: 0 }, ground);
  /** @type {Shown} */
  let now = { over: null, count: 0, moment: () => 0, said: () => "", at: 0, seen: [0, 0], marks: [], able: false };
  /** Where a person has dragged to, until it is shown. @type {number | null} */
  let wanted = null;
  /** @type {DOMRect | null} */
  let box = null;

  const to = (/** @type {number} */ index) => {
    const place = Math.max(0, Math.min(now.count - 1, index));
    if (!now.able || !now.count || place === (wanted ?? now.at)) return;
    wanted = place;
    paint();
    go(now.moment(place)).then(() => {
      if (wanted !== place || box) return;
      wanted = null;
      paint();
    });
  };
  const paint = () => {
    const share = (/** @type {number} */ i) => 100 * placeOf(now, i);
    const at = wanted ?? now.at;
    style(mark, "left", `${share(at)}%`);
    style(done, "width", `${share(at)}%`);
    style(seen, "left", `${share(now.seen[0])}%`);
    style(seen, "width", `${share(now.seen[1]) - share(now.seen[0])}%`);
    list(marks, now.marks, (m) => `${m.kind} ${m.at}`, () => h("i"), (i, m) => {
      set(i, "class", `at-${m.kind}`);
      style(i, "left", `${share(m.at)}%`);
    });
    set(element, "aria-valuenow", at + 1);
    const said = now.count ? now.said(at) : "";
    set(element, "aria-valuetext", said);
    set(element, "title", said);
  };
  const under = (/** @type {PointerEvent} */ event) => box && to(nearest(now, (event.clientX - box.left) / Math.max(1, box.width)));
  element.onpointerdown = (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    box = ground.getBoundingClientRect();
    element.setPointerCapture(event.pointerId);
    under(event);
  };
  element.onpointermove = under;
  element.onpointerup = element.onpointercancel = () => {
    box = null;
    if (wanted === now.at) wanted = null;
  };
  element.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const at = wanted ?? now.at;
    const next = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - 10, PageUp: at + 10, Home: 0, End: now.count - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    to(next);
  };
  return {
    element,
    show(shown) {
      now = shown;
      if (!box && wanted === now.at) wanted = null;
      set(element, "aria-label", name());
      set(element, "aria-valuemin", 1);
      set(element, "aria-valuemax", Math.max(1, now.count));
      set(element, "aria-disabled", now.able ? null : "true");
      paint();
    },
  };
}

/** Where a place lies on the bar, from 0 to 1. Pure. @param {Pick<Shown, "over" | "count">} shown @param {number} i */
export const placeOf = ({ over, count }, i) => over?.[i] ?? (count > 1 ? i / (count - 1) : 0);

/** The place that is nearest to a point of the bar. Pure. @param {Pick<Shown, "over" | "count">} shown @param {number} at from 0 to 1 */
export function nearest(shown, at) {
  if (!shown.over) return Math.round(at * (shown.count - 1));
  return shown.over.reduce((best, x, i) => (Math.abs(x - at) < Math.abs(placeOf(shown, best) - at) ? i : best), 0);
}

/** @param {any} element @param {string} name @param {string} value */
function style(element, name, value) {
  if (element.style[name] !== value) element.style[name] = value;
}
