// @ts-check
/** What a tab keeps of its class, so that a reload finds it again. It goes with the tab. */

import { passing } from "../lib/storage.mjs";

/** `here`: this tab went to the run of the class, which another one began. @typedef {{as: "teacher", code: string, key: string, session: string, here: boolean}} Taught */
/** `own`: the session of the copy that he is in, "" while he follows; `base`: what the copy began with. @typedef {{as: "student", code: string, name: string, token: string, own: string, base: string}} Learnt */

const KEY = "lookback-class";

/** @param {Taught | Learnt | null} what */
export const keep = (what) => (what ? passing.setItem(KEY, JSON.stringify(what)) : passing.removeItem(KEY));

/** @returns {Taught | Learnt | null} */
export function kept() {
  try {
    const found = JSON.parse(passing.getItem(KEY) ?? "null");
    return found?.as === "teacher" || found?.as === "student" ? found : null;
  } catch {
    return null;
  }
}
