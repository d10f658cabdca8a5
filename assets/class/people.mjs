// @ts-check
/** Who is in the class and where they stand, in words and as marks of the timeline. Pure. */

import { area } from "../lib/map/visibility.mjs";
import { counted, msg } from "../lib/language.mjs";
import { placeOf } from "../lib/deck/sheets.mjs";
import { age, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Pin} Pin */
/** @typedef {{phase: "train" | "prefill" | "decode", step: number, label?: string}} Where */
/** @typedef {{name: string, state: "following" | "own" | "lost", where: Where | null, edits: number, seconds: number}} Person */

/** Where a run stands, as the others are told. @param {World} world @returns {Where | null} */
export function whereOf(world) {
  const { moved } = world;
  if (!moved) return null;
  const step = moved.phase === "train" ? (moved.train?.update ?? moved.step) : moved.step;
  return { phase: moved.phase, step, label: moved.phase === "train" ? "" : (world.history.get(moved.at)?.label ?? "").slice(0, 80) };
}

/** "decode 3", "prefill", "update 12". @param {Where} where @returns {string} */
export const placeWords = (where) => placeOf(/** @type {any} */ (where));

/** Beside a name: "decode 1 le, 2 edits". @param {Person} person @returns {string} */
export function doing({ where, edits }) {
  const at = where && [placeWords(where), where.label ? shown(where.label) : ""].filter(Boolean).join(" ");
  return [at, edits ? counted(edits, "{0} edit", "{0} edits") : ""].filter(Boolean).join(", ");
}

/** How long a person is in his state now. @param {Person} person @param {number} since ms since that was told @returns {string} */
export const lasting = (person, since) => age(person.seconds * 1000 + since);

/** Why a class is over, in the language of this page. @param {"ended" | "gone" | "removed" | undefined} reason as the server says it */
export const overWords = (reason) => (reason === "removed" ? msg`The teacher has taken you out of this class.` : reason === "ended" ? msg`The teacher has ended the class.` : reason === "gone" ? msg`The teacher has been away for 10 minutes; the class is over.` : msg`The class is over.`);

/** @param {Person[]} people */
export const grouped = (people) => ({
  following: people.filter((p) => p.state === "following"),
  own: people.filter((p) => p.state === "own"),
  lost: people.filter((p) => p.state === "lost"),
});

/** Where those who follow are: "19, all at decode 3". @param {Person[]} following @returns {string} */
export function together(following) {
  const places = new Set(following.map((p) => p.where && placeWords(p.where)));
  const [place] = places;
  return following.length > 1 && places.size === 1 && place ? msg`${following.length}, all at ${place}` : String(following.length);
}

/** How many stand at each step: a mark each. @param {Person[]} people @param {Where | null} here where the teacher is @returns {Pin[]} */
export function pinsOf(people, here) {
  /** @type {Map<string, {where: Where, count: number}>} */
  const at = new Map();
  for (const { state, where } of people) {
    if (state === "lost" || !where) continue;
    const key = `${where.phase} ${where.step}`;
    at.set(key, { where, count: (at.get(key)?.count ?? 0) + 1 });
  }
  return [...at.values()].map(({ where, count }) => ({
    phase: where.phase, step: where.step, text: String(count), title: msg`${counted(count, "{0} student", "{0} students")} at ${placeWords(where)}`,
    strong: where.phase === here?.phase && where.step === here?.step,
  }));
}

/** The teacher's mark, for who is on his own. @param {Where | null | undefined} where @returns {Pin[]} */
export const teachersPin = (where) => (where ? [{ phase: where.phase, step: where.step, text: msg`teacher`, title: msg`The teacher is at ${placeWords(where)}`, strong: true }] : []);

/** What a copy holds beside what it began with is an edit each: a cell of a mask, an intervention, another input.
 * @param {any} scenario @returns {{cells: number, taps: number, input: string}} */
export function heldIn(scenario) {
  const cells = (scenario.masks ?? []).reduce((/** @type {number} */ n, /** @type {any} */ mask) => n + area(mask.cells ?? []), 0);
  return { cells, taps: (scenario.edits ?? []).length, input: JSON.stringify([scenario.architecture, scenario.requests]) };
}

/** @param {any} scenario now @param {ReturnType<typeof heldIn>} base @returns {number} */
export function editsSince(scenario, base) {
  const now = heldIn(scenario);
  return Math.abs(now.cells - base.cells) + Math.abs(now.taps - base.taps) + Number(now.input !== base.input);
}
