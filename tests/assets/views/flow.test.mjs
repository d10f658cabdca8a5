import assert from "node:assert/strict";
import test from "node:test";

import { source } from "../../../assets/views/flow.mjs";

test("most of what flows has a row and a share; where nothing flows there is none", () => {
  assert.deepEqual(source([1, 3, 0]), { at: 1, share: 0.75 });
  assert.ok(Number.isNaN(source([0, 0]).share));
});
