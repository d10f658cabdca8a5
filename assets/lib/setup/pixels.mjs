// @ts-check
/** What a pen does to a picture of numbers in 0..1: ink, paper, a stamp, a shape that is moved. Pure: each gives a new picture. */

/** Lines of numbers. @typedef {number[][]} Lines */

/** What a stroke of the pen leaves beside its middle: handwriting has soft edges. */
const EDGE = 0.45;

/** @param {Lines} lines @returns {Lines} */
export const copy = (lines) => lines.map((line) => [...line]);

/** @param {number} height @param {number} width @returns {Lines} */
export const blank = (height, width) => Array.from({ length: height }, () => Array(width).fill(0));

/** @param {Lines} lines */
export const empty = (lines) => lines.every((line) => line.every((v) => v <= 0));

/** Ink along a line from one pixel to another, darker in its middle. Outside the picture nothing happens.
 * @param {Lines} lines @param {[number, number]} from line and column @param {[number, number]} to @returns {Lines} */
export function ink(lines, from, to) {
  const made = copy(lines);
  for (const [y, x] of between(from, to)) {
    for (const [dy, dx, much] of [[0, 0, 1], [1, 0, EDGE], [-1, 0, EDGE], [0, 1, EDGE], [0, -1, EDGE]]) {
      if (made[y + dy]?.[x + dx] !== undefined) made[y + dy][x + dx] = Math.max(made[y + dy][x + dx], much);
    }
  }
  return made;
}

/** Paper along a line, as wide as ink is.
 * @param {Lines} lines @param {[number, number]} from @param {[number, number]} to @returns {Lines} */
export function wipe(lines, from, to) {
  const made = copy(lines);
  for (const [y, x] of between(from, to)) {
    for (const [dy, dx] of [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]) if (made[y + dy]?.[x + dx] !== undefined) made[y + dy][x + dx] = 0;
  }
  return made;
}

/** A smaller picture laid on this one; what hangs over the edge is cut off.
 * @param {Lines} lines @param {Lines} piece @param {number} y of its upper left corner @param {number} x @returns {Lines} */
export function stamp(lines, piece, y, x) {
  const made = copy(lines);
  piece.forEach((line, dy) => line.forEach((v, dx) => made[y + dy]?.[x + dx] !== undefined && (made[y + dy][x + dx] = Math.max(made[y + dy][x + dx], v))));
  return made;
}

/** How many pixels of ink of a piece would lie on the picture. @param {Lines} lines @param {Lines} piece @param {number} y @param {number} x */
export const within = (lines, piece, y, x) => piece.reduce((sum, line, dy) => sum + line.filter((v, dx) => v > 0 && lines[y + dy]?.[x + dx] !== undefined).length, 0);

/** The shape that a pixel belongs to: all ink that it reaches from neighbour to neighbour, corners too. Null on paper.
 * @param {Lines} lines @param {number} y @param {number} x @returns {{rest: Lines, piece: Lines, y: number, x: number} | null} what is left, the shape, and where it stood */
export function shape(lines, y, x) {
  if (!(lines[y]?.[x] > 0)) return null;
  const [rest, taken] = [copy(lines), /** @type {[number, number, number][]} */ ([])];
  const ahead = [[y, x]];
  while (ahead.length) {
    const [r, c] = /** @type {number[]} */ (ahead.pop());
    if (!(rest[r]?.[c] > 0)) continue;
    taken.push([r, c, rest[r][c]]);
    rest[r][c] = 0;
    for (let dr = -1; dr <= 1; dr++) for (let dc = -1; dc <= 1; dc++) ahead.push([r + dr, c + dc]);
  }
  const [top, left] = [Math.min(...taken.map((t) => t[0])), Math.min(...taken.map((t) => t[1]))];
  const piece = blank(Math.max(...taken.map((t) => t[0])) - top + 1, Math.max(...taken.map((t) => t[1])) - left + 1);
  for (const [r, c, v] of taken) piece[r - top][c - left] = v;
  return { rest, piece, y: top, x: left };
}

/** Where a stamp that was not dragged goes: the middle of the first quarter without ink, else of the first.
 * @param {Lines} lines @param {Lines} piece @returns {[number, number]} line, column */
export function free(lines, piece) {
  const [high, wide] = [lines.length >> 1, (lines[0]?.length ?? 0) >> 1];
  const quarters = [[0, 0], [0, wide], [high, 0], [high, wide]];
  const clear = quarters.find(([y, x]) => lines.slice(y, y + high).every((line) => line.slice(x, x + wide).every((v) => v <= 0))) ?? quarters[0];
  return [clear[0] + ((high - piece.length) >> 1), clear[1] + ((wide - piece[0].length) >> 1)];
}

/** @param {[number, number]} from @param {[number, number]} to @returns {[number, number][]} every pixel on the way (Bresenham), both ends too */
function between([y0, x0], [y1, x1]) {
  const steps = Math.max(Math.abs(y1 - y0), Math.abs(x1 - x0), 1);
  return Array.from({ length: steps + 1 }, (_, i) => [Math.round(y0 + ((y1 - y0) * i) / steps), Math.round(x0 + ((x1 - x0) * i) / steps)]);
}

/** Frames (rows in time, numbers from the lowest band) as a picture (lines from the highest).
 * @param {Lines} frames @returns {Lines} */
export const upright = (frames) => (frames[0] ?? []).map((_, band, all) => frames.map((frame) => frame[all.length - 1 - band]));

/** And back. @param {Lines} picture @returns {Lines} */
export const asFrames = (picture) => (picture[0] ?? []).map((_, t) => picture.map((_line, i) => picture[picture.length - 1 - i][t]));

/** A sequence of single numbers as the square picture that it was read from, line by line; a line alone where it makes no square.
 * @param {Lines} rows @returns {Lines} */
export function folded(rows) {
  const side = Math.sqrt(rows.length);
  const wide = rows[0]?.length === 1 && Number.isInteger(side) ? side : rows.length;
  return Array.from({ length: rows.length / wide || 0 }, (_, y) => rows.slice(y * wide, (y + 1) * wide).map((row) => row[0]));
}

/** How each kind of source stands upright as a picture, and how it lies again. */
export const STANDS = {
  picture: { up: copy, down: copy },
  frames: { up: upright, down: asFrames },
  sequence: { up: folded, down: (/** @type {Lines} */ lines) => lines.flat().map((v) => [v]) },
};
