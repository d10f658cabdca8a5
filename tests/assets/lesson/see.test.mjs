import assert from "node:assert/strict";
import test from "node:test";

import { See, wants } from "../../../assets/lesson/see.mjs";
import { full, known, request, row, world } from "../views/world.mjs";

const READ = { relation: "cross", layer: 1, head: 0 };
const lesson = { id: "x", steps: [], reads: [READ], wants: () => [{ path: "logits" }] };
const weights = known("decoder.layer1.cross.weights", "b h t s", [[[[0.9, 0.1, 0], [0.1, 0.2, 0.7], [0.05, 0.9, 0.05]]]]);

test("it asks for the reads that a lesson names, then for what else it wants", () => {
  assert.deepEqual(wants(lesson, world()), [{ path: "decoder.layer1.cross.weights", index: { b: 0, h: 0 }, dtype: "f32" }, { path: "logits" }]);
  const values = (id, i) => (id === "lesson" && i === 1 ? [weights] : []);
  assert.deepEqual(new See(world({ values }), lesson).values(0), [weights]);
});

test("a row's weights are those that were recorded, and none while it is not computed", () => {
  const see = new See(world({ values: (id, i) => (id === "lesson" && i === 0 ? [weights] : []) }), lesson);
  assert.deepEqual(see.weights(READ, 2), [0.05, 0.9, 0.05]);
  assert.deepEqual(see.most(READ, 1), { key: 2, token: "cat", weight: 0.7 });
  assert.equal(see.weights(READ, 3), null);
  assert.equal(see.weights({ ...READ, head: 1 }, 2), null, "it was not asked for");
  assert.equal(new See(world(), lesson).most(READ, 2), null, "it did not come yet");
});

test("what is decided, and what it would be without a mask", () => {
  const see = new See(world(), lesson);
  assert.equal(see.lead().id, 7);
  assert.equal(see.words().length, 20);
  assert.ok(Math.abs(see.words()[0].probability - 0.8) < 1e-6);
  assert.deepEqual([see.deciding(), see.tokens(), see.tokens("s")], [2, ["<bos>", "le", "chat"], ["the", "black", "cat"]]);
  const one = request({ target: [row("<bos>")], decision_row: null, logits: null, candidates: [] });
  const before = new See(world({ moved: { ...world().moved, requests: [one] } }), lesson);
  assert.deepEqual([before.lead(), before.deciding()], [null, -1]);
  assert.ok(Number.isNaN(before.p("noir")));
});

test("cells hidden by hand, with the layers that hide them, and what a row may still read", () => {
  const base = world();
  const hides = { ...full, cells: [{ query: 2, key: 1, visible: false }] };
  const relations = base.opened.relations.map((r) => (r.name === "cross" ? { ...r, masks: [r.masks[0], { ...hides, own: true }] } : r));
  const see = new See({ ...base, opened: { ...base.opened, relations } }, lesson);
  assert.deepEqual(see.hidden("cross"), [{ query: 2, key: 1, layers: [1] }]);
  assert.deepEqual([see.reads("cross", 1, 2), see.reads("cross", 0, 2)], [{ open: 2, of: 3 }, { open: 3, of: 3 }]);
  assert.deepEqual(see.hidden("target_self"), [], "what comes later is hidden by the program");
});

test("bytes that are kept, and what one more row adds", () => {
  const kept = [{ path: "a", bytes: 100, grows: false, bytes_per_row: 25 }, { path: "b", bytes: 60, grows: true, bytes_per_row: 20 }];
  assert.deepEqual(new See(world({ moved: { ...world().moved, kept } }), lesson).kept_bytes, { now: 160, row: 20 });
});
