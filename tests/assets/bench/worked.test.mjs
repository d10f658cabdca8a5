import assert from "node:assert/strict";
import test from "node:test";

import { read } from "../../../assets/bench/read.mjs";
import { maskedRead, written } from "../../../assets/bench/worked.mjs";

test("numbers, rows and matrices are written in one line", () => {
  assert.deepEqual([written(33554432), written(0.2582737281), written([1, 0.5]), written([[1, 0], [1, 1]])], ["33,554,432", "0.2582737", "1 0.5", "1 0  |  1 1"]);
});

test("a printed mask opens as its narrowest row that reads two keys, of equal scores", () => {
  const bench = maskedRead([[1, 0, 0], [1, 1, 0], [1, 1, 1]]);
  assert.deepEqual([bench.hidden, read(bench).weights], [[false, false, true], [0.5, 0.5, 0]]);
});
