// @ts-check
/** On paper: the stage, light, as large as one page lets it be, and what a page has to say beside it. */

import { h } from "../dom.mjs";
import { copyOf } from "../taking/picture.mjs";

/** The sides of a page within its margins, px of CSS (96 an inch): A4 and US letter both have them. */
const SIDES = { long: 976, short: 714 };

/** What is printed is a copy of the stage as the screen shows it: the rules for small screens would hold for a sheet of paper too, and its
 * canvases would be drawn for another layout. @param {HTMLElement} stage @param {(light: boolean) => void} paint at once, in light colours or as chosen
 * @param {() => {copy: HTMLElement, width: number, height: number} | null} [beside] what stands to the left of it */
export function onPrint(stage, paint, beside = () => null) {
  const paper = h("div", { class: "paper", "aria-hidden": "true" });
  const page = document.documentElement;
  addEventListener("beforeprint", () => {
    page.toggleAttribute("data-paper", true);
    const { copy, styles, width, height } = copyOf(stage, () => paint(true), true);
    const said = beside();
    const [wide, high] = [width + (said?.width ?? 0), Math.max(height, said?.height ?? 0)];
    const zoom = { landscape: fit(wide, high, SIDES.long, SIDES.short), portrait: fit(wide, high, SIDES.short, SIDES.long) };
    for (const [name, value] of Object.entries(zoom)) paper.style.setProperty(`--${name}`, String(value));
    paper.replaceChildren(h("style", null, styles), ...(said ? [said.copy] : []), copy);
    document.body.append(paper);
  });
  addEventListener("afterprint", () => {
    page.toggleAttribute("data-paper", false);
    paper.remove();
    paint(false);
  });
}

/** How much larger or smaller a stage of this size is on a page of that. @param {number} width @param {number} height @param {number} wide @param {number} high */
export const fit = (width, height, wide, high) => Math.min(wide / width, high / height, 1.4);
