// @ts-check
/** Pieces of a text (said.mjs) as elements. */

import { h } from "../lib/dom.mjs";

/** @typedef {import("./types").Said} Said */

/** What stands in an element now. @type {WeakMap<HTMLElement, string>} */
const written = new WeakMap();

/** Write a text, where it is not there yet. @param {HTMLElement} element @param {Said} said */
export function write(element, said) {
  const now = JSON.stringify(said);
  if (written.get(element) === now) return;
  written.set(element, now);
  element.replaceChildren(...said.map(piece));
}

/** @param {import("./types").Piece} piece @returns {Node} */
function piece(piece) {
  if (typeof piece !== "object") return document.createTextNode(String(piece));
  const { text, role } = piece;
  if (role === "m" || role === "e" || role === "f") return h("i", { class: `pv ${role}` });
  if (role === "b" || role === "i") return h(role, null, text);
  return h("b", { class: role === "mono" ? "mono" : `mono c-${role}` }, text);
}
