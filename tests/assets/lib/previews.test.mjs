import assert from "node:assert/strict";
import test from "node:test";

import { Previews } from "../../../assets/lib/setup/previews.mjs";

/** Questions that a test answers when it likes. */
function asking() {
  const told = [];
  const open = [];
  const ask = (scenario) => new Promise((resolve, reject) => open.push({ scenario, resolve, reject }));
  return { previews: new Previews((scenario, variant) => told.push([scenario.n, variant?.parameters ?? null]), ask), told, open };
}

const answer = (parameters) => ({ parameters, weights: "random", allowed: {} });
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("one question is under way and only the newest waits", async () => {
  const { previews, told, open } = asking();
  for (const n of [1, 2, 3]) previews.ask({ n });
  assert.deepEqual(open.map((q) => q.scenario.n), [1]);
  open[0].resolve(answer(10));
  await settle();
  assert.deepEqual(told, [], "an answer to what is not asked any more is not told");
  assert.deepEqual(open.map((q) => q.scenario.n), [1, 3]);
  open[1].resolve(answer(30));
  await settle();
  assert.deepEqual(told, [[3, 30]]);
});

test("what was answered lately is told at once, and takes back a question that waits", async () => {
  const { previews, told, open } = asking();
  previews.ask({ n: 1 });
  open[0].resolve(answer(10));
  await settle();
  previews.ask({ n: 2 });
  previews.ask({ n: 3 });
  previews.ask({ n: 1 });
  assert.deepEqual(told, [[1, 10], [1, 10]]);
  open[1].resolve(answer(20));
  await settle();
  assert.deepEqual(open.length, 2, "3 is not asked");
});

test("a question that fails says that nothing is known, and may be asked again", async () => {
  const { previews, told, open } = asking();
  previews.ask({ n: 1 });
  open[0].reject(new Error("offline"));
  await settle();
  assert.deepEqual(told, [[1, null]]);
  previews.ask({ n: 1 });
  assert.equal(open.length, 2);
});
