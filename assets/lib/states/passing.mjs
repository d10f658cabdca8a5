// @ts-check
/** What the analysis `state_jacobian` said of the group that is looked at, as far as it still holds at this moment. Pure. */

import * as read from "../reads.mjs";
import { number } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("./tapes.mjs").Group} Group */
/** By row: norm of d state / d state before, and of the product since the locked row; null: none. @typedef {{norms: (number | null)[], products: (number | null)[], since: number | null}} Passed */

/** What the world was when a result came: it holds for rows that are still the same, under the same weights and edits.
 * @type {WeakMap<any, {schema: any, scenario: string, updates: number}>} */
const origins = new WeakMap();

/** @param {World} world */
function origin(world) {
  const { edits, config, weights, seed } = world.opened?.scenario ?? {};
  return { schema: world.schema, scenario: JSON.stringify([edits, config, weights, seed]), updates: world.moved?.updates ?? 0 };
}

/** @param {World} world @param {Group} group @returns {Passed | null} */
export function passed(world, group) {
  const result = world.analysis.state_jacobian?.result;
  const found = result?.scopes.find((/** @type {any} */ s) => s.scope === group.scope && s.owner === group.owner);
  if (!found || result.request !== read.request(world)) return null;
  const [now, then] = [origin(world), origins.get(result)];
  if (!then) origins.set(result, now);
  else if (then.schema !== now.schema || then.scenario !== now.scenario || then.updates !== now.updates) return null;
  if (read.phase(world) === "train" ? result.moment !== world.moved?.at : !same(world, result)) return null;
  const figures = (/** @type {any[]} */ all) => all.map((v) => (v === null ? null : number(v)));
  return { norms: figures(found.norms), products: figures(found.products), since: result.since };
}

/** Whether the rows that were measured are still those of this moment (there may be more of them now).
 * @param {World} world @param {any} result */
function same(world, result) {
  const rows = { t: read.rows(world, "t"), s: read.rows(world, "s") };
  return (/** @type {("s" | "t")[]} */ (["s", "t"])).every((owner) => (result.ids[owner] ?? []).every((/** @type {number} */ id, /** @type {number} */ i) => rows[owner][i]?.id === id));
}

/** Whether something is missing: rows that were not measured, or products since another row.
 * @param {World} world @param {Group} group @param {number} rows @param {number | null} since */
export function stale(world, group, rows, since) {
  const known = passed(world, group);
  return !known || known.norms.length < rows || (since !== null && known.since !== since);
}
