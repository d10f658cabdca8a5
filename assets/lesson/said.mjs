// @ts-check
/** Words of a lesson that mean something: parts`Row ${2} ${q("chat")} reads ${k("black")}.` */

import { shown } from "../lib/words.mjs";

/** @typedef {import("./types").Piece} Piece @typedef {import("./types").Said} Said */

/** A token in the hue of its role. @param {string} token */
export const q = (token) => ({ text: shown(token), role: /** @type {const} */ ("q") });
/** @param {string} token */
export const k = (token) => ({ text: shown(token), role: /** @type {const} */ ("k") });
/** @param {string} token */
export const d = (token) => ({ text: shown(token), role: /** @type {const} */ ("d") });
/** A value that was read, a weight. @param {string} text */
export const v = (text) => ({ text, role: /** @type {const} */ ("v") });
/** A gradient. @param {string} text */
export const g = (text) => ({ text, role: /** @type {const} */ ("g") });
/** A number without a role of its own. @param {string} text */
export const mono = (text) => ({ text, role: /** @type {const} */ ("mono") });
/** What is written on a control. @param {string} text */
export const b = (text) => ({ text, role: /** @type {const} */ ("b") });
/** @param {string} text */
export const i = (text) => ({ text, role: /** @type {const} */ ("i") });
/** Behind a number: measured, exact, by formula. */
export const measured = { text: "", role: /** @type {const} */ ("m") };
export const exact = { text: "", role: /** @type {const} */ ("e") };
export const formula = { text: "", role: /** @type {const} */ ("f") };

/** As the page's sentence has it: pieces with the hue of a role, or none. @param {Said} said @returns {import("../lib/types").World["question"]} */
export const hued = (said) => said.map((piece) => (typeof piece !== "object" ? { text: String(piece) } : "qkvdgp".includes(piece.role) ? /** @type {any} */ (piece) : { text: piece.text }));

/** As plain text. @param {Said} said */
export const plain = (said) => said.map((piece) => (typeof piece === "object" ? piece.text : String(piece))).join("");
