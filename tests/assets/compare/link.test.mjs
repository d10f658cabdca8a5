import assert from "node:assert/strict";
import test from "node:test";

import { apart, isComparison, pack, unpack } from "../../../assets/compare/link.mjs";

const catalogue = {
  architectures: [
    { id: "a", name: "A", tasks: ["one", "two"], phases: ["train", "decode"] }, { id: "b", name: "B", tasks: ["one"], phases: ["train", "decode"] },
    { id: "c", name: "C", tasks: ["two"], phases: ["decode"] }, { id: "d", name: "D", tasks: ["one"], phases: ["train", "prefill"] },
  ],
  tasks: [{ id: "one", name: "Task one" }, { id: "two", name: "Task two" }],
};
const comparison = { task: "one", models: ["a", "b"], configs: [{}, { layers: 2 }], weights: "random", source: ["x"], target: [], seed: 3, lead: "first", phase: "decode" };

test("a link carries a comparison", () => {
  assert.ok(isComparison(pack(comparison)));
  assert.deepEqual(unpack(pack(comparison), catalogue), comparison);
});

test("an older link says nothing of variants; what is none is refused", () => {
  const { configs, weights, ...older } = comparison;
  assert.deepEqual(unpack(pack(older), catalogue), { ...comparison, configs: [{}, {}], weights: "trained" });
  for (const wrong of [{ configs: [{}] }, { configs: [[], {}] }, { training: 3 }]) assert.throws(() => unpack(pack({ ...comparison, ...wrong }), catalogue), /configs|training/);
});

test("models that cannot share the input are named, and why", () => {
  assert.throws(() => unpack(pack({ ...comparison, models: ["a", "c"] }), catalogue), /C cannot share this input: it learns Task two/);
  assert.match(apart(catalogue.architectures[3], "one", catalogue.tasks), /D does not write/);
  assert.equal(apart(catalogue.architectures[0], "one", catalogue.tasks), "");
});

test("what is no comparison is refused in a sentence", () => {
  for (const [wrong, said] of [[{ models: ["a"] }, /2 to 4 models/], [{ task: "three" }, /task three/], [{ models: ["a", "z"] }, /architecture z/], [{ source: [1] }, /source, target/]])
    assert.throws(() => unpack(pack({ ...comparison, ...wrong }), catalogue), said);
  assert.throws(() => unpack("#c=%%%", catalogue), /cannot be read/);
});
