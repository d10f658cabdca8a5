// @ts-check
/** Which parameters are one object under several names, told as briefly as can be. Pure. */

import { above, leaf } from "../words.mjs";

/** @typedef {{name: string, owner: string, count: number}} One `name` is `owner`: a parameter, or a whole scope with so many of them */

/** Scopes instead of their parameters, where all of one are all of another.
 * @param {[string, string][]} same further name, first name @param {string[]} names of all objects @returns {One[]} */
export function ones(same, names) {
  const owner = new Map(same);
  const every = [...names, ...owner.keys()];
  /** Whether everything under one scope is the same thing under the other. @param {string} a @param {string} b */
  const whole = (a, b) => !!a && a !== b && every.every((n) => !n.startsWith(`${a}.`) || owner.get(n) === b + n.slice(a.length));
  /** @type {Map<string, One>} */
  const found = new Map();
  for (const [name, first] of same) {
    let [a, b] = [name, first];
    while (leaf(a) === leaf(b) && whole(above(a), above(b))) [a, b] = [above(a), above(b)];
    const known = found.get(a);
    if (known) known.count += 1;
    else found.set(a, { name: a, owner: b, count: 1 });
  }
  return [...found.values()];
}

/** The objects with all names that lead to them, the shared ones first. @param {One[]} list @returns {{owner: string, names: One[]}[]} */
export function byOwner(list) {
  /** @type {Map<string, One[]>} */
  const found = new Map();
  for (const one of list) found.set(one.owner, [...(found.get(one.owner) ?? []), one]);
  return [...found].map(([owner, names]) => ({ owner, names }));
}
