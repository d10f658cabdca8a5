// @ts-check
/** Formulas as elements, made once for each text. */

/** @type {Map<string, Element>} */
const made = new Map();

/** @param {string} mathml of the server @returns {Node} */
export function math(mathml) {
  let element = made.get(mathml);
  if (!element) made.set(mathml, (element = new DOMParser().parseFromString(mathml, "application/xml").documentElement));
  return document.importNode(element, true);
}
