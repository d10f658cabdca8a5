import assert from "node:assert/strict";
import test from "node:test";

import charts from "../../../assets/views/charts.mjs";
import { error } from "../../../assets/lib/inspect/clauses.mjs";
import clauses from "../../../assets/views/clauses.mjs";
import { node, training } from "./world.mjs";

const result = { moment: 0, clauses: [1, 2], n: 24, families: [{ name: "Luong", architecture: "luong", own: true, exact: [1, 0.5] }] };

test("one standard error of a proportion", () => {
  assert.equal(error(0.5, 100), 0.05);
  assert.equal(error(1, 24), 0);
});

test("it takes the place of the curves where a run translates, and says its numbers with n", () => {
  const w = training({ history: new Map([[0, node(0, null, "train", 0, { command: "open" })]]) }, { chart: "clauses" });
  const shown = (task) => [charts, clauses].map((v) => v.applies({ ...w, opened: { ...w.opened, scenario: { ...w.opened.scenario, task } } }));
  assert.deepEqual(shown("translation"), [false, true]);
  assert.deepEqual(shown("dates"), [true, false]);
  const told = clauses.table({ ...w, moved: { ...w.moved, at: 0 }, analysis: { bottleneck: { result } } });
  assert.deepEqual(told.rows, [["this run (Luong)", 1, 1, 24, 0], ["this run (Luong)", 2, 0.5, 24, error(0.5, 24)]]);
  const later = { ...w, history: new Map([...w.history, [1, node(1, 0, "train", 1)]]), moved: { ...w.moved, at: 1 }, analysis: { bottleneck: { result } } };
  assert.equal(clauses.table(later).rows[0][0], "this run (Luong), before later updates");
});
