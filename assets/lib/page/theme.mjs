// @ts-check
/** Light, dark, or as the system says. The tokens of app.css and Mantine's own follow one attribute. */

/** @typedef {"auto" | "light" | "dark"} Theme */

const KEY = "lookback-theme";

/** @returns {Theme} */
export function remembered() {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "auto";
}

/** @param {Theme} theme @returns {"light" | "dark"} */
export const scheme = (theme) => (theme !== "auto" ? theme : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** @param {Theme} theme */
export function remember(theme) {
  localStorage.setItem(KEY, theme);
}

/** Call back when the system changes between light and dark.
 * @param {() => void} changed */
export function onSystemChange(changed) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
