/** What the views say in words: the decision, and the checks. */

import assert from "node:assert/strict";
import test from "node:test";

import { destination, measured, summary } from "../../../assets/views/checks.mjs";
import { world } from "./world.mjs";

test("checks are summed up, and a failing one points to its place", () => {
  const check = (status) => ({ status });
  assert.equal(summary([check("pass"), check("pass"), check("does_not_apply")]), "2 hold");
  assert.equal(summary([check("pass"), check("pending")]), "1 check pending");
  assert.equal(summary([check("fail"), check("pending")]), "1 of 2 fails");
  assert.deepEqual([measured({ status: "pass", measured: "0 of 0 tensors" }), measured({ status: "pass", measured: "60 of 60 tensors" })], ["nothing yet", "60 of 60 tensors"]);
  const { relations } = world().opened;
  assert.deepEqual(destination({ path: "decoder.layer1.cross.weights", row: 2, head: 1 }, relations), { relation: "cross", layer: 1, head: 1, lock: { row: 2, key: 0 }, op: null, path: null });
  assert.deepEqual(destination({ path: "logits" }, relations), { path: "logits" });
  assert.equal(destination({}, relations), null);
});
