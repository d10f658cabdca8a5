// @ts-check
/** A large map as a small one: squares of cells, each with one state and its darkest cell. Pure. */

/** @typedef {import("./heatmap.mjs").CellState} CellState */

/** Which state a square shows that holds several: the first of these. @type {CellState[]} */
export const STATES = ["ok", "unused", "user", "off", "later", "padded", "model"];
const ORDER = /** @type {Record<CellState, number>} */ (Object.fromEntries(STATES.map((state, i) => [state, i])));

/** rows, columns: of squares. size: cells on a side. values: the darkest cell of each that holds a number (NaN wins: it is one that is no
 * number). states: its place in STATES. mine: whether a person hid a cell of it.
 * @typedef {{rows: number, columns: number, size: number, values: Float32Array, states: Uint8Array, mine: Uint8Array}} Bins */

/** @param {number} rows @param {number} columns of cells @param {number} size
 * @param {(row: number, column: number) => CellState} state @param {(row: number, column: number) => number} value
 * @param {boolean} [signed] the darkest is the one farthest from 0 @returns {Bins} */
export function bins(rows, columns, size, state, value, signed = false) {
  const [tall, wide] = [Math.ceil(rows / size), Math.ceil(columns / size)];
  const values = new Float32Array(tall * wide);
  const states = new Uint8Array(tall * wide).fill(STATES.length);
  const mine = new Uint8Array(tall * wide);
  for (let r = 0; r < rows; r++) {
    const line = Math.floor(r / size) * wide;
    for (let c = 0; c < columns; c++) {
      const at = line + Math.floor(c / size);
      const order = ORDER[state(r, c)];
      if (order === 2) mine[at] = 1;
      if (order > states[at]) continue;
      const v = order < 2 ? value(r, c) : 0;
      if (order < states[at] || (signed ? Math.abs(v) > Math.abs(values[at]) : v > values[at]) || v !== v) values[at] = values[at] !== values[at] && order === states[at] ? NaN : v;
      states[at] = order;
    }
  }
  return { rows: tall, columns: wide, size, values, states, mine };
}

/** The smallest power of two with which so many cells fit into so many squares. @param {number} cells @param {number} most */
export const binFor = (cells, most) => 2 ** Math.max(0, Math.ceil(Math.log2(cells / Math.max(1, most))));
