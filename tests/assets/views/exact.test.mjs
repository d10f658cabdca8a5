import assert from "node:assert/strict";
import test from "node:test";

import clauses from "../../../assets/views/clauses.mjs";
import exact from "../../../assets/views/exact.mjs";
import { training } from "./world.mjs";

test("in prefill and decode the same measurement stands among the checks, where a run translates", () => {
  const w = training();
  const of = (task) => ({ ...w, opened: { ...w.opened, scenario: { ...w.opened.scenario, task } } });
  assert.deepEqual(["translation", "dates"].map((task) => exact.applies(of(task))), [true, false]);
  assert.deepEqual(exact.phases, ["prefill", "decode"]);
  assert.equal(exact.table, clauses.table);
});
