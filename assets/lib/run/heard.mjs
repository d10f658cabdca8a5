// @ts-check
/** Where the server's sentences become those of the page's language: once, as an event arrives. Names that mean something to the page (ids,
 * kinds, paths, tokens) are never touched. */

import { named } from "../language.mjs";

/** What of each kind of event is for people. @type {Record<string, (event: any) => void>} */
const PLACES = {
  reply: (event) => event.errors.forEach(problem),
  notice: (event) => put(event, "message"),
  checked: (event) => event.checks.forEach((/** @type {any} */ check) => put(check, "claim", "reason")),
  opened: (event) => event.relations.forEach((/** @type {any} */ relation) => put(relation, "title")),
  schema: (event) => event.formulas.forEach(formula),
  moved: (event) => event.nodes.forEach((/** @type {any} */ node) => put(node, "changed")),
  history: (event) => event.nodes.forEach((/** @type {any} */ node) => put(node, "changed")),
};

/** @param {{kind: string, event: any}} frame */
export const heard = (frame) => PLACES[frame.kind]?.(frame.event);

/** @param {any} place @param {...string} names */
function put(place, ...names) {
  for (const name of names) if (place[name]) place[name] = named(place[name]);
}

/** A refusal, also one that did not come by the socket. @param {any} one @returns {any} */
export function problem(one) {
  put(one, "message", "allowed");
  return one;
}

/** The words in a formula too, and in the line that is read out of it. @param {any} info */
function formula(info) {
  put(info, "means");
  info.mathml = mathematics(info.mathml);
  info.gradient = mathematics(info.gradient);
}

/** Words stand in `mtext` elements, with spaces that do not break, and in the alternative text, with common ones.
 * @param {string} mathml */
function mathematics(mathml) {
  const found = new Set([...mathml.matchAll(/<mtext>([^<]*)<\/mtext>/g)].map((text) => text[1].trim()));
  return [...found].filter(Boolean).reduce((all, words) => {
    const english = words.replaceAll("\u00a0", " ");
    const said = named(english);
    return said === english ? all : all.replaceAll(english, said).replaceAll(words, said.replaceAll(" ", "\u00a0"));
  }, mathml);
}
