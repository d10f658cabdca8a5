// @ts-check
/** Changing the page's language: the server renders it (app/ui/language.py), so the page is loaded again. The run, what is looked at and
 * the keyboard's place stay. */

import { passing } from "../storage.mjs";

const COOKIE = "lookback-language";
const YEAR = 365 * 24 * 3600;
const BACK = "lookback-spoke";

/** @param {string} language */
export function speak(language) {
  if (!language) return;
  document.cookie = `${COOKIE}=${language}; path=/; max-age=${YEAR}; samesite=lax`;
  const address = new URL(location.href);
  address.searchParams.delete("lang"); // it would have the last word
  history.replaceState(history.state, "", address);
  passing.setItem(BACK, "1");
  location.reload();
}

/** After that: the keys go on where they were. @param {HTMLElement | null} button that was pressed */
export function spoke(button) {
  if (!passing.getItem(BACK)) return;
  passing.removeItem(BACK);
  button?.focus();
}
