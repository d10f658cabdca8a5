// @ts-check
/** What is said of a whole source, where nothing is written: a class, the words at masks, the labels of frames. Pure. */

import { msg } from "./language.mjs";

/** @typedef {import("./types").World} World */

/** What the task is about: "next_token", "masked", "class" or "ctc". @param {World} world @returns {string} */
export const objective = (world) => world.opened?.task?.objective ?? "next_token";

/** Whether there are target rows: only next tokens are written. @param {World} world */
export const writes = (world) => objective(world) === "next_token";

/** Whose rows own what is said. @param {World} world @returns {"s" | "t"} */
export const saying = (world) => (writes(world) ? "t" : "s");

/** Which of a request's answers the page looks at: that of the locked row, else the first that says something.
 * @param {World} world @param {any} view */
function at(world, view) {
  const { lock, relation } = world.look;
  const info = world.opened?.relations?.find((/** @type {any} */ r) => r.name === relation) ?? world.opened?.relations?.at(-1);
  const row = lock && (!info || info.query === "s") ? lock.row : -1;
  const locked = view.answers.findIndex((/** @type {any} */ [owner]) => owner === row);
  if (locked >= 0) return locked;
  return Math.max(0, objective(world) === "ctc" ? view.answers.findIndex((/** @type {any} */ [, id]) => id !== 0) : 0);
}

/** @type {WeakMap<any, Map<number, any>>} */
const kept = new WeakMap();

/** A request as the page looks at it: with the numbers of one of its answers. @param {World} world @param {any} view @returns {any} */
export function answered(world, view) {
  if (!view || (view.answers?.length ?? 0) < 2 || !view.logits) return view;
  const i = at(world, view);
  let known = kept.get(view);
  if (!known) kept.set(view, (known = new Map()));
  if (!known.has(i)) known.set(i, one(view, i, world.opened?.vocabulary?.target ?? []));
  return known.get(i);
}

/** @param {any} view @param {number} i @param {string[]} words */
function one(view, i, words) {
  const width = view.logits.length / view.answers.length;
  const own = (/** @type {any} */ all) => all?.slice(i * width, (i + 1) * width) ?? null;
  const [row, choice] = view.answers[i];
  const logits = own(view.logits);
  const candidates = [{ id: choice, token: words[choice] ?? "", logit: logits[choice], probability: share(logits, choice) }];
  const plain = own(view.unedited?.logits);
  const unedited = view.unedited && { ...view.unedited, logits: plain, choice: plain ? plain.indexOf(Math.max(...plain)) : null };
  return { ...view, logits, choice, decision_row: row, candidates, unedited };
}

/** The softmax at one place. @param {ArrayLike<number>} logits @param {number} id */
function share(logits, id) {
  let [most, sum] = [-Infinity, 0];
  for (let v = 0; v < logits.length; v++) most = Math.max(most, logits[v]);
  for (let v = 0; v < logits.length; v++) sum += Math.exp(logits[v] - most);
  return Math.exp(logits[id] - most) / sum;
}

/** What a row says of itself, "" where it decides nothing. @param {World} world @param {any} view @param {number} row */
export function saidAt(world, view, row) {
  const found = view?.answers?.find((/** @type {any} */ [owner]) => owner === row);
  return found ? (world.opened?.vocabulary?.target?.[found[1]] ?? "") : "";
}

/** The label that a request was given, or "". @param {World} world @param {number} request */
export function label(world, request) {
  const given = writes(world) ? [] : (world.opened?.scenario?.requests?.[request]?.target ?? []);
  return given.map((/** @type {any} */ t) => (typeof t === "string" ? t : t.special)).join(" ");
}

/** What a distribution is of. @param {World} world */
export function title(world) {
  switch (objective(world)) {
    case "class": return msg`Class`;
    case "masked": return msg`Token at this mask`;
    case "ctc": return msg`Label of this frame`;
    default: return msg`Next token`;
  }
}

/** Rows of an owner that is neither source nor target. @param {World} world @param {string} owner */
export function otherRows(world, owner) {
  const count = world.opened?.task?.rows?.[owner] ?? 0;
  const known = world.moved?.sizes?.[owner] ? "known" : "unknown";
  return Array.from({ length: count }, (_, i) => ({ token: msg`hop${i + 1}`, id: -1, state: known, origin: "special", text: null }));
}
