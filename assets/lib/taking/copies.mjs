// @ts-check
/** The copies of a teacher's run that this tab went off with: their sessions, the newest first. They are found as long as the tab is open. */

import { passing } from "../storage.mjs";

/** @typedef {{session: string, at: string}} Copy at: where it was left, in words */

const COPIES = "lookback-copies";
const MOST = 12;

/** @returns {Copy[]} */
export function copies() {
  try {
    const found = JSON.parse(passing.getItem(COPIES) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

/** @param {Copy} copy */
export const keepCopy = (copy) => passing.setItem(COPIES, JSON.stringify([copy, ...copies().filter((c) => c.session !== copy.session)].slice(0, MOST)));
