import assert from "node:assert/strict";
import test from "node:test";

import cost from "../../../assets/views/cost.mjs";
import draft from "../../../assets/views/draft.mjs";
import flow, { source } from "../../../assets/views/flow.mjs";
import { world } from "./world.mjs";

test("most of what flows has a row and a share; where nothing flows there is none", () => {
  assert.deepEqual(source([1, 3, 0]), { at: 1, share: 0.75 });
  assert.ok(Number.isNaN(source([0, 0]).share));
});

test("what was measured of another request, or at another moment, is not shown as this one's", () => {
  const results = { gradient_flow: { first: 0, norms: { t: [[1]] } }, cost: { macs: 4, rows: 1, sweep: [] }, draft_verify: { rounds: [{ proposed: ["a"], kept: 1, own: null }] } };
  const measured = (moment, request) => Object.fromEntries(Object.entries(results).map(([name, result]) => [name, { progress: 1, result: { moment, request, ...result } }]));
  const rows = (moment, request) => [flow, cost, draft].map((view) => view.table(world({ analysis: measured(moment, request) })).rows.length);
  assert.deepEqual([rows(2, 0), rows(2, 1), rows(1, 0)], [[1, 1, 1], [0, 0, 0], [0, 0, 0]]);
});
