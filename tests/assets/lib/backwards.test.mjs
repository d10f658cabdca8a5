import assert from "node:assert/strict";
import test from "node:test";

import { height, made, reached, said, standOf, timeShown, ways } from "../../../assets/lib/training/backwards.mjs";
import { trainRow, training } from "../views/world.mjs";

const loop = { scope: "recurrence.layer0", states: ["hidden"], links: [0.5, 2, null], products: [1, 2, 1], bounds: [1, 2, 1], gradients: [0.1, 0.2, 0.4], signals: [0.1, 0.2, 0.4] };
const result = { moment: 3, request: 0, row: 2, losses: [1, 2, 3], ids: [1, 4, 5], scopes: [loop], truncate: 0 };

test("one goes forward through the rows and then back", () => {
  assert.deepEqual([0, 2, 3, 5].map((step) => standOf(step, 3)), [{ back: false, row: 0 }, { back: false, row: 2 }, { back: true, row: 2 }, { back: true, row: 0 }]);
  const [half, back] = [standOf(1, 3), standOf(4, 3)];
  assert.deepEqual([0, 1, 2].map((t) => made(half, t)), [true, true, false]);
  assert.deepEqual([0, 1, 2].map((t) => reached(half, t)), [false, false, false]);
  assert.deepEqual([0, 1, 2].map((t) => reached(back, t)), [false, true, true]);
});

test("what was measured belongs to a batch and a sequence", () => {
  const w = { ...training({ rows: [[trainRow("<bos>", "le"), trainRow("le", "chat"), trainRow("chat", "<eos>")]] }), analysis: { gradient_through_time: { result } } };
  const found = ways(w);
  assert.deepEqual([found.tokens, found.row], [["<bos>", "le", "chat"], 2]);
  assert.equal(ways({ ...w, moved: { ...w.moved, at: 4 } }), null);
  const of = (more) => ways({ ...w, analysis: { gradient_through_time: { result: { ...result, ...more } } } });
  assert.equal(of({ request: 1 }), null);
  assert.equal(of({ losses: [1, 2, 3, 4] }), null, "of a longer sequence");
  assert.match(said(found, found.loops[0], standOf(4, 3)), /row 1 le: 50% of the signal from <eos> is left after 1 link\./);
  assert.match(said(found, found.loops[0], standOf(3, 3)), /the loss of <eos> enters here/);
  assert.match(said(found, found.loops[0], standOf(1, 3)), /row 1 le makes state 1 from state 0/);
  assert.match(said(found, { ...loop, signals: [0.1, NaN, 0.4] }, standOf(4, 3)), /NaN of the signal/, "what is no number is not called nothing");
  assert.match(said(found, { ...loop, signals: [0.1, 0, 0.4] }, standOf(4, 3)), /nothing of the signal arrives/);
  assert.match(said({ ...found, truncate: 1 }, { ...loop, signals: [0, 0, 0.4] }, standOf(5, 3)), /cut off/);
  assert.equal(timeShown(w), false, "this model carries no state");
});

test("bars are logarithmic, and hold the largest bound", () => {
  assert.equal(height(loop, 10), 1);
  assert.equal(height(loop, 0), 0);
  assert.ok(Math.abs(height(loop, 0.1) - 0.5) < 1e-9);
  assert.equal(height({ ...loop, bounds: [1000, 1, null] }, 1000), 1);
});
