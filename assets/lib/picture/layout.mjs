// @ts-check
/** Where a look at a picture lies on its canvas: the picture, its weights in numbers beside it in the same geometry, and a small one for each
 * word. Where there is little width the small ones lie below. Pure. */

/** @typedef {import("./looking.mjs").Box} Box @typedef {import("./looking.mjs").Grid} Grid */
/** place: null between two; row: null on the two large ones. @typedef {{row: number | null, place: number | null}} Under */
/** under: the word stands below its picture, else behind it. @typedef {Box & {room: number, under: boolean}} Small room: for the word, px */

/** Room for the names above, between the parts, and for a word below its picture, px. */
const [HEAD, GAP, WORD] = [17, 14, 15];
/** So many words have a place from the start, so that nothing moves while they come. */
const PLACES = 8;
/** From this width on the words have a column of their own, so wide. */
const [WIDE, COLUMN] = [460, 112];
/** From this width of it on it is two, with larger pictures. */
const TWICE = 190;

/** @param {number} width @param {number} height @param {number} rows @param {Grid} cut */
export function layout(width, height, rows, cut) {
  const wide = width >= WIDE;
  const low = wide ? 0 : WORD + HEAD + 40;
  const cell = Math.max(4, Math.floor(Math.min((height - HEAD - low - 2) / cut.lines, (width - GAP - 4 - (wide ? COLUMN + GAP : 0)) / 2 / cut.columns)));
  const [w, h] = [cell * cut.columns, cell * cut.lines];
  /** @type {Box} */
  const picture = { x: 1, y: HEAD, w, h };
  /** @type {Box} */
  const weights = { ...picture, x: picture.x + w + GAP };
  const beside = weights.x + w + GAP;
  const small = wide ? column(beside, width - beside, h, rows, cut) : strip(HEAD + h + 6 + HEAD, width, height, rows, cut);
  return { picture, weights, small, at: under({ picture, weights, small, rows, cut }), words: wide ? { x: beside, y: 0 } : { x: 1, y: HEAD + h + 6 } };
}

/** One below the other, in as many columns as they need; a word has what is left of its column.
 * @param {number} left @param {number} width @param {number} height @param {number} rows @param {Grid} cut @returns {(row: number) => Small} */
function column(left, width, height, rows, cut) {
  const lines = width < TWICE ? PLACES : PLACES / 2;
  const pitch = height / lines, step = width / Math.max(PLACES / lines, Math.ceil(rows / lines));
  const high = Math.max(4, Math.floor(Math.min(pitch - 4, ((step - 6) * cut.lines) / cut.columns))), w = Math.round((high * cut.columns) / cut.lines);
  return (row) => ({ x: Math.round(left + Math.floor(row / lines) * step) + 1, y: Math.round(HEAD + (row % lines) * pitch) + 2, w, h: high, room: step - w - 8, under: false });
}

/** Side by side. @param {number} top @param {number} width @param {number} height @param {number} rows @param {Grid} cut @returns {(row: number) => Small} */
function strip(top, width, height, rows, cut) {
  const step = width / Math.max(PLACES, rows);
  const h = Math.max(4, Math.floor(Math.min(height - top - WORD, ((step - 5) * cut.lines) / cut.columns))), w = Math.round((h * cut.columns) / cut.lines);
  return (row) => ({ x: Math.round(row * step) + 1, y: top, w, h, room: step, under: true });
}

/** What lies under a point, or null. @param {{picture: Box, weights: Box, small: (row: number) => Small, rows: number, cut: Grid}} o
 * @returns {(x: number, y: number) => Under | null} */
function under({ picture, weights, small, rows, cut }) {
  const inside = (/** @type {Box} */ b, /** @type {number} */ x, /** @type {number} */ y) => (x >= b.x && y >= b.y && x < b.x + b.w && y < b.y + b.h ? Math.floor(((y - b.y) / b.h) * cut.lines) * cut.columns + Math.floor(((x - b.x) / b.w) * cut.columns) : null);
  return (x, y) => {
    const place = inside(picture, x, y) ?? inside(weights, x, y);
    if (place !== null) return { row: null, place };
    for (let row = 0; row < rows; row++) {
      const found = inside(small(row), x, y);
      if (found !== null) return { row, place: found };
    }
    return null;
  };
}
