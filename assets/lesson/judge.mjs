// @ts-check
/** What of a step is done, what its question waits for, and what is kept of it. Pure. */

import { msg, parts } from "../lib/language.mjs";
import { plain } from "./said.mjs";

/** @typedef {import("./types").Step} Step @typedef {import("./types").Kept} Kept @typedef {import("./types").Judged} Judged @typedef {import("./types").Progress} Progress */
/** @typedef {import("./types").Lesson} Lesson @typedef {import("./see.mjs").See} See */

/** Whether the run stands where a step begins, as the lesson opened it: what is asked and noted there must not be of a run that was changed before.
 * @param {Step} step @param {See} see */
export const stands = (step, see) => !step.at || (step.at.here(see) && see.untouched);

/** Whether the run stood where the step begins. @param {Kept} kept */
export const begun = (kept) => !!kept.from;

/** What a step keeps once it was looked at: where it began, and what was met once.
 * @param {Step} step @param {See} see @param {Kept} kept @returns {Kept} the same one, where nothing new is to be kept */
export function noted(step, see, kept) {
  if (!see.world.moved) return kept;
  if (!begun(kept)) return stands(step, see) ? { ...kept, from: { at: see.world.moved.at, step: see.step, phase: see.phase, updates: see.updates } } : kept;
  const met = step.checks.flatMap((check, i) => (check.once && !kept.met?.includes(i) && check.done(see) ? [i] : []));
  return met.length ? { ...kept, met: [...(kept.met ?? []), ...met] } : kept;
}

/** Whether its question can be answered now: asked, not answered, and what it asks for is not computed. @param {Step} step @param {See} see @param {Kept} kept */
export const asking = (step, see, kept) => !!step.predict && kept.said === undefined && begun(kept) && !step.predict.measured(see) && stands(step, see);

/** Why nothing computes on, "" where it may. @param {Step} step @param {See} see @param {Kept} kept */
export const held = (step, see, kept) => plain(question(step, see, kept));

/** The same in pieces. @param {Step} step @param {See} see @param {Kept} kept @returns {import("./types").Said} */
export const question = (step, see, kept) => (asking(step, see, kept) && step.predict ? parts`Answer first: ${step.predict.asks(see)}`.flat() : []);

/** Whether to offer the way to where the step begins: it did not begin, or its question can no longer be asked.
 * @param {Step} step @param {See} see @param {Kept} kept */
export const elsewhere = (step, see, kept) => !!step.at && (!begun(kept) || (!!step.predict && kept.said === undefined && !asking(step, see, kept)));

/** Whether a step that was never begun begins elsewhere: then who goes on is taken there. @param {Step} step @param {See} see @param {Kept} kept */
export const afar = (step, see, kept) => !!step.at && !begun(kept) && !stands(step, see);

/** Where it begins, for somebody who stands elsewhere, or there with a run that was changed. @param {Step} step @param {See} see */
export function begins(step, see) {
  const at = step.at?.says() ?? "";
  return step.at?.here(see) && !see.untouched ? msg`This step begins at ${at}, with no mask, setting or weight changed.` : msg`This step begins at ${at}.`;
}

/** All that has to be so, with what is so now. @param {Step} step @param {See} see @param {Kept} kept @returns {Judged[]} */
export function judged(step, see, kept) {
  const label = step.predict?.options(see).find((o) => o.key === kept.said)?.label;
  const question = step.predict ? [{ says: parts`you predicted`, now: label ?? msg`waiting`, mark: /** @type {const} */ (""), done: kept.said !== undefined }] : [];
  const rest = step.checks.map((check, i) => ({ says: check.says(see), now: check.now(see), mark: check.mark, done: begun(kept) && (!!kept.met?.includes(i) || check.done(see)) }));
  const text = step.write ? [{ says: parts`you wrote it`, now: kept.given ? msg`done` : msg`waiting`, mark: /** @type {const} */ (""), done: !!kept.given }] : [];
  return [...question, ...rest, ...text];
}

/** How far the lesson is, once the run was looked at: what is kept of the step that is shown, and how many are done.
 * @param {Lesson} lesson @param {(kept: Kept) => See} see @param {Progress} progress @returns {Progress} the same one, where nothing changed */
export function advanced(lesson, see, progress) {
  const step = lesson.steps[progress.step];
  const before = progress.steps[progress.step] ?? {};
  const kept = noted(step, see(before), before);
  const all = begun(kept) && judged(step, see(kept), kept).every((check) => check.done);
  const done = Math.max(progress.done, all ? progress.step + 1 : 0);
  const now = all && step.note ? noting(kept, step.note(see(kept))) : kept;
  if (now === before && done === progress.done) return progress;
  return { ...progress, done, steps: { ...progress.steps, [progress.step]: now } };
}

/** What a step noted, once it was done. @param {Kept} kept @param {Record<string, number | string>} note @returns {Kept} the same one, where it is noted already */
const noting = (kept, note) => (JSON.stringify(kept.note) === JSON.stringify(note) ? kept : { ...kept, note });

/** What one waits for, in a few words; once the step is done, where Next leads if that is not here. @param {Step} step @param {See} see @param {Kept} kept
 * @param {boolean} done @param {Step} [after] the step after it, where it was never begun */
export function waiting(step, see, kept, done, after) {
  if (done) return after && afar(after, see, {}) ? msg`Next opens ${after.at?.says() ?? ""}` : "";
  if (see.world.connection !== "open") return msg`not connected: the checks wait`;
  if (asking(step, see, kept)) return msg`waiting for your answer`;
  if (step.at && elsewhere(step, see, kept)) return msg`waits at ${step.at.says()}`;
  const left = judged(step, see, kept).filter((check) => !check.done);
  return left.length === 1 && step.write ? msg`waiting for your sentence` : msg`waiting for you`;
}
