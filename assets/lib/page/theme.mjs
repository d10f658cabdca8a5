// @ts-check
/** Light, dark, or as the system says. The tokens of app.css and Mantine's own follow one attribute. */

import { forgetTheme } from "../canvas.mjs";
import { lasting } from "../storage.mjs";
import { onPrint } from "./printing.mjs";

/** @typedef {"auto" | "light" | "dark"} Theme */

const KEY = "lookback-theme";

/** @returns {Theme} */
export function remembered() {
  const value = lasting.getItem(KEY);
  return value === "light" || value === "dark" ? value : "auto";
}

/** Where the system forces its colours, canvases stand on its ground: then its side counts, whatever was chosen.
 * @param {Theme} theme @returns {"light" | "dark"} */
export const scheme = (theme) => (theme !== "auto" && !matchMedia("(forced-colors: active)").matches ? theme : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** The theme after this one, so that each click is seen. @param {Theme} theme @returns {Theme} */
export function following(theme) {
  /** @type {Theme[]} */
  const all = scheme("auto") === "dark" ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
  return all[(all.indexOf(theme) + 1) % all.length];
}

/** @param {Theme} theme */
export function remember(theme) {
  lasting.setItem(KEY, theme);
}

/** Call back when the system changes between light and dark.
 * @param {() => void} changed */
export function onSystemChange(changed) {
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) matchMedia(query).addEventListener("change", changed);
}

/** Of a page beside the stage: it follows the system, is light on paper, and what comes back takes the next theme.
 * @param {() => void} paint draws what has colours, at once */
export function theming(paint) {
  const themed = (light = false) => {
    document.documentElement.setAttribute("data-mantine-color-scheme", light ? "light" : scheme(remembered()));
    forgetTheme();
    paint();
  };
  onSystemChange(() => themed());
  onPrint(/** @type {HTMLElement} */ (document.querySelector(".stage")), themed);
  return () => {
    remember(following(remembered()));
    themed();
  };
}
