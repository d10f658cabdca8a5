// @ts-check
/** A press on an element of a row: let go where it was pressed it is a click, moved it carries the element to another place. */

/** Pixels that a press may move and still be a click. */
const STILL = 5;

/** @param {MouseEvent} press
 * @param {{row: HTMLElement, places: () => HTMLElement[], click: () => void, move: (to: number) => void}} o places: the elements that a thing may
 * be put before, the last one being the end; move: it was put before places[to] */
export function pressed(press, { row, places, click, move }) {
  /** @type {{boxes: DOMRect[], elements: HTMLElement[], to: number} | null} */
  let carried = null;
  const moved = (/** @type {MouseEvent} */ e) => {
    if (!carried && Math.hypot(e.clientX - press.clientX, e.clientY - press.clientY) < STILL) return;
    carried ??= begin(row, places());
    carried.to = placeAt(carried.boxes, e.clientX, e.clientY);
    carried.elements.forEach((element, i) => element.toggleAttribute("data-drop", i === carried?.to));
  };
  const end = (/** @type {boolean} */ done) => {
    removeEventListener("mousemove", moved);
    removeEventListener("mouseup", up);
    removeEventListener("keydown", escape, true);
    row.removeAttribute("data-carrying");
    for (const element of carried?.elements ?? []) element.removeAttribute("data-drop");
    if (done && carried) move(carried.to);
    else if (done) click();
  };
  const up = () => end(true);
  const escape = (/** @type {KeyboardEvent} */ e) => {
    if (e.key !== "Escape" || !carried) return;
    e.stopPropagation();
    end(false);
  };
  addEventListener("mousemove", moved);
  addEventListener("mouseup", up);
  addEventListener("keydown", escape, true);
}

/** @param {HTMLElement} row @param {HTMLElement[]} elements */
function begin(row, elements) {
  row.setAttribute("data-carrying", "");
  return { elements, boxes: elements.map((e) => e.getBoundingClientRect()), to: elements.length - 1 };
}

/** Before which box a point lies, in a row that wraps; the last box is the end. Pure.
 * @param {{left: number, right: number, top: number, bottom: number}[]} boxes @param {number} x @param {number} y */
export function placeAt(boxes, x, y) {
  const line = boxes.find((b) => y <= b.bottom) ?? boxes.at(-1);
  if (!line) return 0;
  const on = boxes.map((b, i) => ({ b, i })).filter(({ b }) => b.top === line.top);
  const before = on.find(({ b }) => x < (b.left + b.right) / 2);
  return before ? before.i : Math.min(boxes.length - 1, /** @type {any} */ (on.at(-1)).i + 1);
}
