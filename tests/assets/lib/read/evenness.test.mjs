import assert from "node:assert/strict";
import test from "node:test";

import { evenness, whole } from "../../../../assets/lib/read/evenness.mjs";

const near = (given, expected) => assert.ok(Math.abs(given - expected) < 1e-12, `${given} is not ${expected}`);

test("entropy worked by hand: a half and two quarters are 1.5 bits, which is 2.83 rows in effect", () => {
  const { bits, rows, sum } = evenness([0.5, 0.25, 0.25]); // 0.5 * 1 + 0.25 * 2 + 0.25 * 2
  near(bits, 1.5);
  near(rows, 2 * Math.SQRT2);
  assert.equal(sum, 1);
});

test("one row alone is 0 bits and 1 row; n alike are log2 n bits and n rows; what is not known counts as none", () => {
  assert.deepEqual(evenness([0, 1, 0]), { bits: 0, rows: 1, sum: 1 });
  assert.deepEqual(evenness([0.25, NaN, 0.25, 0.25, 0.25]), { bits: 2, rows: 4, sum: 1 });
});

test("coefficients that sum to less are taken as shares of their sum, and that is known", () => {
  const half = evenness([0.25, 0.125, 0.125]);
  near(half.bits, 1.5);
  assert.equal(whole(half), false);
  assert.equal(whole(evenness([0.5, 0.5])), true);
});

test("nothing read, nothing known and negative numbers have no entropy", () => {
  for (const weights of [[], [0, 0], [NaN, NaN], [0.5, -0.5, 1], [Infinity, 1]]) assert.equal(evenness(weights), null);
});
