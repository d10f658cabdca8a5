// @ts-check
/** A picture of what a page beside the stage shows: all of it, also what is scrolled out of sight. */

import { save } from "./files.mjs";
import { pngOf, svgOf } from "./picture.mjs";

/** @typedef {"png" | "svg"} Kind */

/** @param {HTMLElement} element @param {{name: string, caption: string, redraw: () => void}} of name: of the file, without its ending; redraw paints the canvases at once
 * @param {Kind} [kind] */
export async function savePicture(element, { name, caption, redraw }, kind = "png") {
  const { scrollLeft, scrollTop } = element;
  element.scrollTo(0, 0);
  try {
    const svg = await svgOf(element, caption, redraw, kind === "svg");
    save(`${name}.${kind}`, kind === "png" ? await pngOf(svg) : new Blob([svg.text], { type: "image/svg+xml" }));
  } finally {
    element.scrollTo(scrollLeft, scrollTop);
  }
}
