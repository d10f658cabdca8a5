import assert from "node:assert/strict";
import test from "node:test";

import * as progress from "../../../assets/lesson/progress.mjs";

const lesson = { id: "x", steps: [{}, {}, {}] };

test("what was kept is found again, and what does not fit begins anew", () => {
  assert.deepEqual(progress.load(lesson), progress.fresh());
  const kept = { step: 1, done: 2, steps: { 1: { said: "a" } } };
  progress.save(lesson, kept);
  assert.deepEqual(progress.load(lesson), kept);
  assert.equal(progress.last(), "x");
  for (const bad of [null, 3, {}, { step: 0, done: 4, steps: {} }, { step: 2, done: 1, steps: {} }, { step: 3, done: 3, steps: {} }, { step: 0, done: 0, steps: null }])
    assert.equal(progress.fitting(bad, 3), null);
});

test("what outlives a run is how far one came, what was noted and written; another tab may have come further", () => {
  const walk = { step: 1, done: 2, steps: { 0: { from: { at: 1 }, said: "a", met: [0], note: { p: 1 } }, 1: { chosen: "b" }, 2: { wrote: "w", given: true } } };
  assert.deepEqual(progress.remembered(walk, progress.fresh()), { step: 1, done: 2, steps: { 0: { note: { p: 1 } }, 2: { wrote: "w", given: true } } });
  assert.deepEqual(progress.remembered(progress.fresh(), { step: 2, done: 3, steps: { 0: { note: { p: 1 } } } }), { step: 0, done: 3, steps: { 0: { note: { p: 1 } } } });
  const done = { id: "y", steps: [{}] };
  assert.equal(progress.walked(done), false);
  progress.save(done, { step: 0, done: 1, steps: {} });
  assert.equal(progress.walked(done), true);
});

test("only steps that were reached are opened", () => {
  const kept = { step: 1, done: 1, steps: {} };
  assert.equal(progress.at(kept, 0, 3).step, 0);
  assert.equal(progress.at(kept, 2, 3), kept);
  assert.equal(progress.at({ ...kept, done: 3 }, 3, 3).step, 1, "there is no fourth");
});

test("a step that begins anew forgets what was said, not that it was done", () => {
  const kept = progress.keeping({ step: 0, done: 1, steps: {} }, { chosen: "a", said: "a" });
  assert.deepEqual(progress.again(kept), { step: 0, done: 1, steps: { 0: {} } });
});
