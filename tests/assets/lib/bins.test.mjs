import assert from "node:assert/strict";
import test from "node:test";

import { binFor, bins, STATES } from "../../../assets/lib/draw/bins.mjs";

const grid = (rows) => ({ state: (r, c) => (typeof rows[r][c] === "number" ? "ok" : rows[r][c]), value: (r, c) => rows[r][c] });
const binned = (rows, size, signed) => {
  const { state, value } = grid(rows);
  const b = bins(rows.length, rows[0].length, size, state, value, signed);
  return Array.from(b.states, (s, i) => (s < 2 ? Number(b.values[i].toFixed(3)) : STATES[s]));
};

test("a square shows its darkest cell", () => {
  assert.deepEqual(binned([[0.1, 0.7, 0.2], [0.3, 0, 0.4], [0.9, 0.5, 0.6]], 2), [0.7, 0.4, 0.9, 0.6]);
});

test("of signed numbers the darkest is the one farthest from 0", () => {
  assert.deepEqual(binned([[-3, 2], [1, 0]], 2, true), [-3]);
  assert.deepEqual(binned([[-3, 2], [1, 0]], 2), [2]);
});

test("a number goes before every form, and a form that a person made before the program's", () => {
  assert.deepEqual(binned([["model", 0.2], ["user", "off"]], 2), [0.2]);
  assert.deepEqual(binned([["model", "user"], ["padded", "off"]], 2), ["user"]);
  assert.deepEqual(binned([["model", "off"], ["later", "off"]], 2), ["off"]);
});

test("a cell that a person hid is noted though a number is shown", () => {
  const { state, value } = grid([["user", 0.4]]);
  assert.deepEqual([...bins(1, 2, 2, state, value).mine], [1]);
});

test("a number that is none wins in its square", () => {
  const nan = [[NaN, 0.2], [0.3, 0.1]];
  assert.deepEqual(bins(2, 2, 2, () => "ok", (r, c) => nan[r][c]).values, new Float32Array([NaN]));
  assert.deepEqual(bins(2, 2, 2, () => "ok", (r, c) => nan[1 - r][1 - c]).values, new Float32Array([NaN]));
});

test("squares of one cell are the map, and the last may be cut", () => {
  assert.deepEqual(binned([[0.1, "model"]], 1), [0.1, "model"]);
  assert.deepEqual(binned([[0.1, 0.2, 0.3]], 2), [0.2, 0.3]);
  assert.deepEqual([binFor(64, 65), binFor(66, 65), binFor(513, 65), binFor(5, 0)], [1, 2, 8, 8]);
});
