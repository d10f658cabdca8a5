// @ts-check
/** A source of numbers as the page holds it: its lines, and how the model's rows lie on it. Pure. */

import { STANDS } from "../setup/pixels.mjs";
import * as read from "../reads.mjs";

/** @typedef {import("../types").World} World @typedef {import("../setup/pixels.mjs").Lines} Lines */

/** What a task's source is made of, or null where it is words. @param {World} world @returns {{width: number, most: number, what: "picture" | "frames" | "sequence"} | null} */
export const features = (world) => world.opened?.task?.features ?? null;

/** Whether a view of its own shows what is read: a picture that words read, or frames that are labelled. @param {World} world @returns {boolean} */
export const isPictured = (world) => isLookedAt(world) || isLabelled(world);

/** @param {World} world */
export const isLookedAt = (world) => features(world)?.what === "picture" && (world.opened?.relations ?? []).some((/** @type {any} */ r) => r.key === "s" && r.query === "t");

/** @param {World} world */
export const isLabelled = (world) => features(world)?.what === "frames" && world.opened?.task?.objective === "ctc";

/** The numbers of the request (in training: of the sequence) that is looked at, as the scenario has them. @param {World} world @returns {Lines} */
export function given(world) {
  if (read.phase(world) !== "train") return world.opened?.scenario.requests[read.request(world)]?.features ?? [];
  const found = world.moved?.train?.features?.[read.request(world)];
  if (!found) return [];
  const [rows, width] = found.shape;
  return Array.from({ length: rows }, (_, r) => Array.from(found.data.subarray(r * width, (r + 1) * width)));
}

/** The same upright. @param {World} world @returns {Lines} */
export const picture = (world) => STANDS[features(world)?.what ?? "picture"].up(given(world));

/** How many lines and columns of places the model's rows make: they are named "line,column". Null where they are not.
 * @param {{token: string}[]} rows @returns {{lines: number, columns: number} | null} */
export function grid(rows) {
  const last = rows.findLast((r) => /^\d+,\d+$/.test(r.token));
  if (!last) return null;
  const [y, x] = last.token.split(",").map(Number);
  return { lines: y + 1, columns: x + 1 };
}
