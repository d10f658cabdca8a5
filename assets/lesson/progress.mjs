// @ts-check
/** How far each lesson is. A tab keeps all of its own walk; the browser keeps what was done, for later visits and other tabs. */

import { lasting, passing } from "../lib/storage.mjs";

/** @typedef {import("./types").Progress} Progress @typedef {import("./types").Kept} Kept @typedef {import("./types").Lesson} Lesson */

const LAST = "lookback-lesson";
const key = (/** @type {string} */ id) => `${LAST}-${id}`;

/** @returns {Progress} */
export const fresh = () => ({ step: 0, done: 0, steps: {} });

/** This tab goes on with its own; a new one begins where the last visit was. @param {Lesson} lesson @returns {Progress} */
export const load = (lesson) => stored(passing, lesson) ?? stored(lasting, lesson) ?? fresh();

/** @param {import("../lib/storage.mjs").Kept} storage @param {Lesson} lesson @returns {Progress | null} */
function stored(storage, { id, steps }) {
  try {
    return fitting(JSON.parse(storage.getItem(key(id)) ?? "null"), steps.length);
  } catch {
    return null;
  }
}

/** What was kept by an earlier page may be of another lesson by now. @param {any} kept @param {number} count of steps @returns {Progress | null} */
export function fitting(kept, count) {
  const whole = (/** @type {any} */ n, /** @type {number} */ most) => Number.isInteger(n) && n >= 0 && n <= most;
  if (!kept || !whole(kept.done, count) || !whole(kept.step, Math.min(kept.done, count - 1)) || typeof kept.steps !== "object" || !kept.steps) return null;
  return { step: kept.step, done: kept.done, steps: kept.steps };
}

/** @param {Lesson} lesson @param {Progress} progress */
export function save(lesson, progress) {
  for (const storage of [passing, lasting]) storage.setItem(LAST, lesson.id);
  passing.setItem(key(lesson.id), JSON.stringify(progress));
  lasting.setItem(key(lesson.id), JSON.stringify(remembered(progress, stored(lasting, lesson) ?? fresh())));
}

/** Of a walk what outlives its run: how far it came (another tab may have come further), what steps noted, what was written. What was answered and met
 * belongs to a run. @param {Progress} progress @param {Progress} before @returns {Progress} */
export function remembered({ step, done, steps }, before) {
  const lasts = Object.entries(steps).map(([at, { note, wrote, given }]) => [at, { ...(note && { note }), ...(wrote && { wrote }), ...(given && { given }) }]);
  return { step, done: Math.max(done, before.done), steps: { ...before.steps, ...Object.fromEntries(lasts.filter(([, kept]) => Object.keys(kept).length)) } };
}

/** Whether somebody walked it to its end in this browser. @param {Lesson} lesson */
export const walked = (lesson) => [passing, lasting].some((storage) => stored(storage, lesson)?.done === lesson.steps.length);

/** The lesson that was open last, here or in another tab, "" for none. */
export const last = () => passing.getItem(LAST) ?? lasting.getItem(LAST) ?? "";

/** To a step that was reached. @param {Progress} progress @param {number} step @param {number} count @returns {Progress} */
export const at = (progress, step, count) => (step >= 0 && step < count && step <= progress.done ? { ...progress, step } : progress);

/** Something more is kept of the step that is shown. @param {Progress} progress @param {Partial<Kept>} more @returns {Progress} */
export const keeping = (progress, more) => ({ ...progress, steps: { ...progress.steps, [progress.step]: { ...progress.steps[progress.step], ...more } } });

/** The step that is shown begins anew: what was said of it is forgotten; that it was done, and what it noted for later ones, is not. @param {Progress} progress @returns {Progress} */
export function again(progress) {
  const { note } = progress.steps[progress.step] ?? {};
  return { ...progress, steps: { ...progress.steps, [progress.step]: note ? { note } : {} } };
}

/** What the steps noted, later ones over earlier ones. @param {Progress} progress @returns {Record<string, number | string>} */
export const notes = (progress) => Object.assign({}, ...Object.values(progress.steps).map((kept) => kept.note ?? {}));
