import assert from "node:assert/strict";
import test from "node:test";

import { allowed, parse } from "../../../assets/lib/numbers.mjs";

const rate = { low: 0, high: 1e7, above: true, whole: false, optional: false };
const size = { low: 1, high: 64, above: false, whole: true, optional: false };
const topK = { low: 1, high: null, above: false, whole: true, optional: true };

test("what is typed is read as the number that it is", () => {
  for (const [typed, value] of [["1e-4", 1e-4], ["1e6", 1e6], [".00001", 0.00001], [" 0.5 ", 0.5], ["2.", 2], ["+3E+2", 300]]) assert.equal(parse(typed, rate).value, value, typed);
  assert.deepEqual(["64", "64.0", "6e1"].map((typed) => parse(typed, size).value), [64, 64, 60]);
  assert.deepEqual(["", "5"].map((typed) => parse(typed, topK).value), [null, 5]);
});

test("what is no number, not whole, or out of range is refused with what was given and what is allowed", () => {
  for (const typed of ["1e999", "0", "-1", "1,5", "0x10", "1e", "3 4", "NaN", "", "1e8"]) {
    assert.equal(parse(typed, rate).value, undefined, typed);
    assert.match(parse(typed, rate).problem, /was given; allowed: a number above 0, at most 10000000\.$/);
  }
  assert.equal(parse("2.5", size).problem, "2.5 was given; allowed: a whole number from 1 to 64.");
  assert.equal(parse("", size).problem, "Nothing was given; allowed: a whole number from 1 to 64.");
  assert.equal(allowed(topK), "a whole number of at least 1, or nothing");
});
