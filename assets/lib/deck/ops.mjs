// @ts-check
/** The operations inside a step, and what the page looks at when the cursor stands on one. Pure. */

import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { capital, opName, severalStacks } from "../words.mjs";

/** @typedef {import("../types").World} World */

/** Scopes with short names, in the order in which they ran.
 * @param {World} world @returns {{path: string, name: string}[]} */
export function operations(world) {
  const all = read.operations(world);
  const several = severalStacks(all);
  return all.map((path) => ({ path, name: opName(path, several) }));
}

/** Where the run stands: "Decode 3".
 * @param {World} world @returns {string} */
export function place(world) {
  const { moved } = world;
  const phase = read.phase(world);
  if (phase === "train") return msg`Update ${moved?.train?.update ?? moved?.step ?? 0}`;
  return phase === "decode" ? msg`Decode ${moved?.step ?? 0}` : msg`Prefill`;
}

/** Inside which step. @param {World} world @returns {string} */
export function inside(world) {
  const { moved } = world;
  if (read.phase(world) === "train") return msg`Inside update ${moved?.train?.update ?? moved?.step ?? 0}`;
  return read.phase(world) === "decode" ? msg`Inside decode ${moved?.step ?? 0}` : msg`Inside prefill`;
}

/** What stands before the chips: which step they are inside, or why there are none.
 * @param {World} world @returns {string} */
export function callName(world) {
  const { moved } = world;
  if (!moved) return "";
  if (read.operations(world).length) return inside(world);
  if (read.phase(world) === "train") return moved.stages.some((/** @type {any} */ s) => s.ms !== null) ? inside(world) : msg`${place(world)}: not begun`;
  if (moved.stage === "choose") return msg`${place(world)}: chosen, not read`;
  return read.closing(world) ? msg`${place(world)}: no new row` : msg`${place(world)}: not run yet`;
}

/** What a chosen operation makes the page look at: its relation and layer where it is a read, and it as the op cursor.
 * @param {World} world @param {string} scope */
export function lookAt(world, scope) {
  const found = read.readAt(world.opened?.relations ?? [], scope);
  if (found) return { op: scope, relation: found.info.name, layer: found.layer, path: null };
  return { op: scope, path: read.lastTap(world, scope) };
}

/** The look without the op cursor: what it alone made the page look at goes with it.
 * @param {World} world @returns {{op: null, path?: null}} */
export function lookAway(world) {
  const { op, path } = world.look;
  return op && path && path === read.lastTap(world, op) ? { op: null, path: null } : { op: null };
}

/** The operation that the page looks at, whether or not the cursor stands on it: the view mark.
 * @param {World} world @param {string[]} all @returns {string | null} */
export function seen(world, all) {
  const { path } = world.look;
  if (path) return all.filter((scope) => path === scope || path.startsWith(`${scope}.`)).sort((a, b) => b.length - a.length)[0] ?? null;
  const at = read.relation(world);
  const scope = at && read.scope(at.info, at.layer);
  return all.find((s) => s === scope) ?? null;
}

/** @param {string} stage @returns {string} as a block says it */
export const stageName = (stage) => ({ batch: msg`Batch`, forward: msg`Forward`, loss: msg`Loss`, backward: msg`Backward`, clip: msg`Clip`, update: msg`Update`, pieces: msg`Pieces`, encode: msg`Encode`, read: msg`Read`, choose: msg`Choose` })[stage] ?? capital(stage);
