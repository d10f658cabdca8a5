import assert from "node:assert/strict";
import test from "node:test";

import { allowed, parse, stepped } from "../../../assets/lib/numbers.mjs";

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

test("a number of a few is stepped through them, and of those only through what goes with the other fields", () => {
  const fit = (values, words = "") => ({ values, words });
  const width = { low: 16, high: 96, above: false, whole: true, optional: false, few: [16, 32, 48, 64, 96] };
  assert.deepEqual([stepped(32, 1, width), stepped(96, 1, width), stepped(64, -1, width, fit([16, 96])), stepped(96, -1, width, fit([96]))], [48, null, 16, null]);
  assert.equal(parse("33", width).problem, "33 was given; allowed: one of 16, 32, 48, 64, 96.");
  assert.equal(parse("32", width, fit([48, 96])).problem, "32 was given; allowed: 48, 96, with the other fields as they are.");
  assert.equal(parse("32", width, fit([48], "a divisor")).problem, "32 was given; allowed: a divisor.");
  assert.equal(parse("48", width, fit([48, 96])).value, 48);
});

test("steps end where the range ends, and a quantity of many magnitudes is stepped 1, 2, 5", () => {
  const log = { ...rate, logarithmic: true, step: 1 };
  assert.deepEqual([0.001, 0.002, 0.005, 0.0007].map((v) => stepped(v, 1, log)), [0.002, 0.005, 0.01, 0.001]);
  assert.deepEqual([0.001, 0.002, 0.0007, 1e-5].map((v) => stepped(v, -1, log)), [0.0005, 0.001, 0.0005, 5e-6]);
  const temperature = { low: 0.01, high: 100, above: false, whole: false, optional: false, step: 0.1 };
  assert.deepEqual([stepped(0.1, 1, temperature), stepped(0.05, -1, temperature), stepped(0.01, -1, temperature), stepped(100, 1, temperature)], [0.2, 0.01, null, null]);
  assert.deepEqual([stepped(null, 1, { ...topK, step: 1 }), stepped(null, -1, { ...topK, step: 1 })], [1, null]);
});
