// @ts-check
/** The bar of a class under the top bar: what holds now, and what one can do about it. */

import { h } from "../lib/dom.mjs";

const place = () => /** @type {HTMLElement} */ (document.getElementById("class-bar"));

/** Show what is in the bar, where it is something else than before; a button keeps the focus if its place has one again.
 * @param {"" | "teacher" | "follow" | "own"} kind @param {any[]} children */
export function bar(kind, ...children) {
  const at = place();
  const next = h("div", { class: `pbar ${kind}` }, ...children);
  const old = at.firstElementChild;
  if (old && old.className === next.className && old.innerHTML === next.innerHTML && off(old) === off(next)) return moveListeners(next, old);
  const focused = old?.contains(document.activeElement) ? [...old.querySelectorAll("button")].indexOf(/** @type {any} */ (document.activeElement)) : -1;
  at.replaceChildren(next);
  if (focused >= 0) (next.querySelectorAll("button")[focused] ?? next.querySelector("button"))?.focus();
}

/** Which of its buttons cannot be pressed. @param {Element} element */
const off = (element) => [...element.querySelectorAll("button")].map((b) => Number(b.disabled)).join("");

/** @param {Element} from @param {Element} to the same, which stays */
function moveListeners(from, to) {
  const all = to.querySelectorAll("button");
  from.querySelectorAll("button").forEach((button, i) => (all[i].onclick = button.onclick));
}

/** @param {string} words @param {() => void} act @param {string} [kind] @param {boolean} [disabled] */
export const button = (words, act, kind = "", disabled = false) => h("button", { class: `btn ${kind}`, type: "button", onclick: act, disabled }, words);

export const gap = () => h("span", { class: "sp" });

/** @param {...any} children */
export const sentence = (...children) => h("span", { class: "pbar-say", role: "status" }, ...children);
