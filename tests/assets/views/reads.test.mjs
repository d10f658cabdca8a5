import assert from "node:assert/strict";
import test from "node:test";

import { within } from "../../../assets/lib/draw/pan.mjs";
import * as read from "../../../assets/lib/reads.mjs";
import { causal, known, request, row, training, world } from "./world.mjs";

test("what is looked at is held inside what there is", () => {
  const at = read.relation(world({}, { layer: 9, head: -3 }));
  assert.deepEqual([at.info.name, at.layer, at.head], ["cross", 1, 0]);
  assert.equal(read.relation(world({}, { relation: "gone" })).info.name, "cross");
  assert.equal(read.relation(world({ opened: null })), null);
  assert.equal(read.request(world({}, { request: 5 })), 0);
});

test("while the op cursor stands on a read, that read is shown", () => {
  const at = read.relation(world({}, { op: "decoder.layer0.self" }));
  assert.deepEqual([at.info.name, at.layer], ["target_self", 0]);
  assert.equal(read.relation(world({}, { op: "logits" })).info.name, "cross");
});

test("the page follows the deciding row, or the locked one", () => {
  assert.deepEqual(read.focus(world()), { row: 2, key: null, locked: false });
  assert.deepEqual(read.focus(world({}, { lock: { row: 1, key: 0 } })), { row: 1, key: 0, locked: true });
  assert.equal(read.focus(world({}, { relation: "source_self" })).row, 2);
});

test("a padded batch: the last valid row decides, and padding is no known row", () => {
  const view = request({ target: [row("<bos>"), row("le"), row("<pad>", "padded")], decision_row: 1 });
  const w = world({ moved: { ...world().moved, requests: [view] } });
  assert.equal(read.focus(w).row, 1);
  assert.equal(read.lastKnown(read.rows(w, "t")), 1);
});

test("what a row decides: the next token, the choice, the label", () => {
  const w = world();
  assert.deepEqual([0, 1, 2, 3].map((i) => read.decides(w, "t", i)), ["le", "chat", "noir", ""]);
  assert.equal(read.decides(w, "s", 1), "");
  assert.equal(read.decides(training(), "t", 1), "chat");
});

test("in training the rows are those of the chosen sequence, and the hardest is followed", () => {
  const rows = training().moved.train.rows.map((sequence) => sequence.map((r, i) => ({ ...r, loss: r.counts ? [0.5, 2, 1][i] : 9, gradient: 0.1 })));
  const w = training({ rows }, { request: 1 });
  assert.deepEqual(read.rows(w, "t").map((r) => r.state), ["known", "known", "padded"]);
  assert.deepEqual(read.rows(w, "s").map((r) => r.token), ["thanks", "<pad>"]);
  assert.equal(read.hardest(w), 1);
  assert.equal(read.hardest(training()), null);
});

test("a read's taps are found by what they are", () => {
  const w = world();
  assert.deepEqual(read.tapsOf(w, read.relation(w).info, 1), {
    scores: "decoder.layer1.cross.scores", weights: "decoder.layer1.cross.weights", value: "decoder.layer1.cross.v", output: "decoder.layer1.cross.mixed",
    query: "decoder.layer1.cross.q", keys: "decoder.layer1.cross.k", values: "decoder.layer1.cross.v",
    mixed: "decoder.layer1.cross.v", mixture: "decoder.layer1.cross.mixed",
  });
  const self = read.relation(world({}, { relation: "target_self", layer: 0 }));
  assert.equal(read.tapsOf(w, self.info, 0).value, "decoder.layer0.self.v");
  assert.deepEqual(read.tapsOf(world({ schema: null }), self.info, 0), { scores: "decoder.layer0.self.scores", weights: "decoder.layer0.self.weights", query: null, keys: null, value: null, values: null, output: null, mixed: null, mixture: null });
  const kept = { ...w, schema: { taps: [...w.schema.taps, { path: "decoder.layer1.cross.values", axes: ["b", "h", "s", "e"], type: "state" }] } };
  assert.equal(read.tapsOf(kept, read.relation(w).info, 1).values, "decoder.layer1.cross.values", "what is kept is what the read sees");
});

test("only the selected request, layer and head are watched in full precision", () => {
  assert.deepEqual(read.readSelectors(world({}, { head: 1 })), [
    { path: "decoder.layer1.cross.weights", index: { b: 0, h: 1 }, dtype: "f32" }, { path: "decoder.layer1.cross.scores", index: { b: 0, h: 1 }, dtype: "f32" },
  ]);
});

test("cells of a picked head lie at its index or at the only one", () => {
  const values = known("w", "b h t s", [[[[1, 2], [3, 4]]]]);
  assert.equal(read.cells(values, 3, 2)(1, 0), 3);
  assert.ok(Number.isNaN(read.cells(values, 0, 0)(5, 0)));
  assert.ok(Number.isNaN(read.cells(undefined, 0, 0)(0, 0)));
  const whole = known("w", "b h t s", [[[[1]], [[7]]]]);
  assert.equal(read.cells(whole, 0, 1)(0, 0), 7);
});

test("reads come largest first, without what is hidden or not known", () => {
  const weights = [0.2, 0, NaN, 0.8];
  assert.deepEqual(read.reads((_, k) => weights[k], 0, 4), [{ key: 3, weight: 0.8 }, { key: 0, weight: 0.2 }]);
});

test("a relation's mask is asked by layer", () => {
  const info = { masks: [causal], default: { program: "full", parameter: 0, cells: [] } };
  assert.deepEqual([read.visibility(info, 0).allows(0, 1), read.visibility(info, 1).allows(0, 1)], [false, true]);
});

test("scrolling moves as little as it must", () => {
  assert.deepEqual([within(100, 50, 110, 140), within(100, 50, 80, 90), within(100, 50, 160, 180), within(0, 50, -20, 10)], [100, 80, 130, 0]);
});
