// @ts-check
/** What the run says to the teacher's question: a view without a picture, since views are given recorded values. */

import * as read from "../lib/reads.mjs";
import { measuredNext, measuredRead } from "./polls.mjs";

/** @typedef {import("../lib/types").World} World */

/** @param {() => import("./pollbox.mjs").Poll | null} poll @param {(answer: {option: number | null, measured: string}) => void} found @returns {import("../lib/types").View} */
export const measuring = (poll, found) => ({
  id: "class-measured",
  title: "Class",
  slot: /** @type {any} */ ("class"),
  phases: ["prefill", "decode"],

  wants(world) {
    const about = poll()?.about;
    const info = about?.kind === "read" && infoOf(world, about.relation);
    return info ? [{ path: read.tapsOf(world, info, about.layer).weights, index: { b: about.request, h: about.head }, dtype: "f32" }] : [];
  },

  draw(_element, world) {
    const asked = poll();
    const { moved } = world;
    if (!asked?.about || asked.answer !== null || !moved) return;
    const { about, options } = asked;
    const known = about.kind === "read" ? world.values("class-measured", 0)[0] : undefined;
    const answer = about.kind === "read" ? measuredRead(world, about, options.length, read.cells(known, about.request, about.head)) : about.kind === "next" ? measuredNext(world, about, options) : null;
    if (answer) found(answer);
  },
});

/** @param {World} world @param {string} name */
const infoOf = (world, name) => world.opened?.relations.find((/** @type {any} */ r) => r.name === name);
