// @ts-check
/** What a tab keeps of its class, so that a reload finds it again; and the copies that a student made. All of it goes with the tab. */

import { passing } from "../lib/storage.mjs";

/** @typedef {{as: "teacher", code: string, key: string, session: string}} Taught */
/** `own`: the session of the copy that he is in, "" while he follows; `base`: what the copy began with. @typedef {{as: "student", code: string, name: string, token: string, own: string, base: string}} Learnt */
/** @typedef {{session: string, at: string}} Copy */

const KEY = "lookback-class";
const COPIES = "lookback-copies";
const MOST = 12;

/** @param {Taught | Learnt | null} what */
export const keep = (what) => (what ? passing.setItem(KEY, JSON.stringify(what)) : passing.removeItem(KEY));

/** @returns {Taught | Learnt | null} */
export function kept() {
  const found = read(KEY);
  return found?.as === "teacher" || found?.as === "student" ? found : null;
}

/** The newest first. @returns {Copy[]} */
export const copies = () => (Array.isArray(read(COPIES)) ? read(COPIES) : []);

/** @param {Copy} copy */
export function keepCopy(copy) {
  passing.setItem(COPIES, JSON.stringify([copy, ...copies().filter((c) => c.session !== copy.session)].slice(0, MOST)));
}

/** @param {string} key @returns {any} */
function read(key) {
  try {
    return JSON.parse(passing.getItem(key) ?? "null");
  } catch {
    return null;
  }
}
