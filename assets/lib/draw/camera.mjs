// @ts-check
/** Which part of a map is in sight, at which size. Pure. */

/** Cells are not drawn smaller than this unless a person zooms out, or all of them are in sight at little less: the map pans. */
const SMALLEST = 15;
const NEARLY = 9;
/** Nor larger than this, or than this share of a very large page. */
const LARGEST = 46;
const SHARE = 1 / 8;
/** A map that is lower than this has no room for names that stand on end, px. */
const LOW = 150;
/** In one that is lower than this names have little, and of so many columns that they are known by their numbers less, px. */
const SHORT = 300;
const MANY = 48;
/** How large a cell may be zoomed to, px high. */
const CLOSEST = 64;

/**
 * @typedef {object} Window
 * @property {number} left @property {number} top room for the labels
 * @property {number} cell @property {number} cellWidth size of a cell, px
 * @property {boolean} notes whether there is room for what every row decides
 * @property {number} row @property {number} column the first in sight @property {number} rows @property {number} columns how many, cut ones included
 * @property {number} shiftX @property {number} shiftY how much of the first is cut off, px
 * @property {number} width @property {number} height of the whole map, 0 where it fits
 */

/** @param {number} width seen @param {number} height @param {number} rows @param {number} columns @param {number} scrollLeft @param {number} scrollTop
 * @param {number} [scale] 1: as the map chooses @returns {Window} */
export function viewport(width, height, rows, columns, scrollLeft, scrollTop, scale = 1) {
  const narrow = width < 300;
  const left = narrow ? 82 : 122;
  const slim = height < LOW ? 22 : height >= SHORT ? 72 : columns > MANY ? 32 : 48; // numbers alone, or names that stand on end
  const flat = height < SHORT ? 27 : 30; // names that lie
  const room = Math.max(SMALLEST, width - left - 2);
  const largest = Math.max(LARGEST, Math.min(width, height) * SHARE);
  const wide = Math.min(room / columns, largest * 1.5);
  const cellWidth = chosen(wide) * scale;
  const top = cellWidth < 30 ? slim : flat;
  const cell = chosen(Math.min((height - (wide < 30 ? slim : flat) - 2) / rows, largest)) * scale;
  const [x, y] = [along(scrollLeft, room, cellWidth, columns), along(scrollTop, height - top - 2, cell, rows)];
  return {
    left, top, cell, cellWidth, notes: !narrow, row: y.first, column: x.first, rows: y.count, columns: x.count, shiftX: x.shift, shiftY: y.shift,
    width: x.fits ? 0 : left + columns * cellWidth + 2, height: y.fits ? 0 : top + rows * cell + 2,
  };
}

/** The size of a cell, from that with which all fit. @param {number} fitting */
const chosen = (fitting) => (fitting >= NEARLY ? fitting : SMALLEST);

/** One axis: the first cell in sight, how many, and how much of the first is cut off.
 * @param {number} scroll @param {number} room @param {number} cell @param {number} count */
function along(scroll, room, cell, count) {
  const fits = count * cell <= room + 0.5;
  const at = fits ? 0 : Math.max(0, Math.min(scroll, count * cell - room));
  const first = Math.min(Math.max(0, count - 1), Math.floor(at / cell + 1e-6));
  const shift = Math.max(0, at - first * cell);
  return { fits, first, shift, count: Math.max(1, Math.min(count - first, Math.ceil((room + shift) / cell - 1e-6))) };
}

/** Between which scales a map may be zoomed: all of it in sight, to cells that are easy to touch.
 * @param {number} width @param {number} height @param {number} rows @param {number} columns @returns {[number, number]} */
export function scales(width, height, rows, columns) {
  const plain = viewport(width, height, rows, columns, 0, 0);
  const whole = Math.min((width - plain.left - 2) / columns / plain.cellWidth, (height - 74) / rows / plain.cell);
  return [Math.max(1e-3, Math.min(1, whole)), Math.max(1, CLOSEST / plain.cell)];
}

/** Where to scroll so that what lies under a point stays there when a window becomes another one.
 * @param {Window} before @param {Window} after @param {{x: number, y: number}} point @param {{left: number, top: number}} scroll */
export function anchored(before, after, point, scroll) {
  const x = (scroll.left + point.x - before.left) / before.cellWidth;
  const y = (scroll.top + point.y - before.top) / before.cell;
  return { left: Math.max(0, x * after.cellWidth - (point.x - after.left)), top: Math.max(0, y * after.cell - (point.y - after.top)) };
}
