// @ts-check
/** A picture of what a page beside the stage shows: all of it, also what is scrolled out of sight. */

import { save } from "./files.mjs";
import { pngOf, svgOf } from "./picture.mjs";

/** @param {HTMLElement} element @param {{name: string, caption: string, redraw: () => void}} of name: of the file, without its ending; redraw paints the canvases at once */
export async function savePicture(element, { name, caption, redraw }) {
  const { scrollLeft, scrollTop } = element;
  element.scrollTo(0, 0);
  try {
    save(`${name}.png`, await pngOf(await svgOf(element, caption, redraw)));
  } finally {
    element.scrollTo(scrollLeft, scrollTop);
  }
}
