// @ts-check
/** How far each lesson is, kept in this browser. */

import { lasting } from "../lib/storage.mjs";

/** @typedef {import("./types").Progress} Progress @typedef {import("./types").Kept} Kept @typedef {import("./types").Lesson} Lesson */

const LAST = "lookback-lesson";
const key = (/** @type {string} */ id) => `${LAST}-${id}`;

/** @returns {Progress} */
export const fresh = () => ({ step: 0, done: 0, steps: {} });

/** @param {Lesson} lesson @returns {Progress} */
export function load(lesson) {
  try {
    return fitting(JSON.parse(lasting.getItem(key(lesson.id)) ?? "null"), lesson.steps.length);
  } catch {
    return fresh();
  }
}

/** What was kept by an earlier page may be of another lesson by now. @param {any} kept @param {number} count of steps @returns {Progress} */
export function fitting(kept, count) {
  const whole = (/** @type {any} */ n, /** @type {number} */ most) => Number.isInteger(n) && n >= 0 && n <= most;
  if (!kept || !whole(kept.done, count) || !whole(kept.step, Math.min(kept.done, count - 1)) || typeof kept.steps !== "object" || !kept.steps) return fresh();
  return { step: kept.step, done: kept.done, steps: kept.steps };
}

/** @param {Lesson} lesson @param {Progress} progress */
export function save(lesson, progress) {
  lasting.setItem(LAST, lesson.id);
  lasting.setItem(key(lesson.id), JSON.stringify(progress));
}

/** The lesson that was open last, "" for none. */
export const last = () => lasting.getItem(LAST) ?? "";

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
