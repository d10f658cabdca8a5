// @ts-check
/** What the run says to the teacher's question, once the row that was asked about is computed. */

import * as read from "../lib/reads.mjs";
import { measuredNext, measuredRead } from "./polls.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("./pollbox.mjs").Poll} Poll */

const NAME = "class";

/** What a question about a read watches, beside the views. @param {World} world @param {Poll | null} poll @returns {import("../lib/types").Selector[]} */
export function wanted(world, poll) {
  const about = poll?.about;
  const info = about?.kind === "read" && world.opened?.relations.find((/** @type {any} */ r) => r.name === about.relation);
  return info ? [{ path: read.tapsOf(world, info, about.layer).weights, index: { b: about.request, h: about.head }, dtype: "f32" }] : [];
}

/** The answer, or null while it is not known. @param {World} world @param {Poll} poll @returns {{option: number | null, measured: string} | null} */
export function answerOf(world, { about, options }) {
  if (about?.kind === "next") return measuredNext(world, about, options);
  if (about?.kind !== "read") return null;
  return measuredRead(world, about, options.length, read.cells(world.values(NAME, 0)[0], about.request, about.head));
}

/** @param {{registry: any, store: import("../lib/run/store.mjs").Store, poll: () => Poll | null}} o */
export const watches = ({ registry, store, poll }) => registry.also(NAME, () => wanted(store.world, poll()));
