import assert from "node:assert/strict";
import test from "node:test";

import { written } from "../../../assets/bench/worked.mjs";

test("numbers, rows and matrices are written in one line", () => {
  assert.deepEqual([written(33554432), written(0.2582737281), written([1, 0.5]), written([[1, 0], [1, 1]])], ["33,554,432", "0.2582737", "1 0.5", "1 0  |  1 1"]);
});
