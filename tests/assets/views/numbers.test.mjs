/** What the inspector, the training views and the charts compute from recorded numbers. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { arithmetic, matrix, statistics } from "../../../assets/lib/arithmetic.mjs";
import { lines, lossSum } from "../../../assets/views/batch.mjs";
import { added, mark, positive, ticks } from "../../../assets/views/charts.mjs";
import inspector, { chosen, contract, search } from "../../../assets/views/inspector.mjs";
import { bars, clipping, default as trainingView, depths, niceMost } from "../../../assets/views/training.mjs";
import { known, request, row, taps, training, world } from "./world.mjs";

const worked = JSON.parse(readFileSync(new URL("../../fixtures/worked_numbers.json", import.meta.url)));

/** A world whose current row reads as many keys as there are scores. */
function reading(scores, hidden = []) {
  const w = world({ moved: { ...world().moved, requests: [request({ source: scores.map((_, i) => row(`k${i}`)) })] } });
  w.opened.relations[2].masks[1] = { program: "full", parameter: 0, own: true, cells: hidden.map((key) => ({ query: 2, key, visible: false })) };
  return w;
}

test("the arithmetic of a read is the softmax that the text prints", () => {
  const { scores, weights, atol } = worked.dot_read;
  const found = arithmetic(reading(scores), (_, k) => scores[k], (_, k) => weights[k]);
  found.lines.forEach((l, k) => assert.ok(Math.abs(l.exp / found.sum.exp - weights[k]) <= atol, `${l.exp / found.sum.exp} is not ${weights[k]}`));
  assert.deepEqual([found.top, found.key, found.lines.map((l) => l.on)], [1.5, 3, [false, false, false, true]]);
});

test("hidden keys take no part, and are listed with their score", () => {
  const found = arithmetic(reading([1, 5, 2], [1]), (_, k) => [1, 5, 2][k], (_, k) => [0.27, 0, 0.73][k]);
  assert.deepEqual(found.lines.map((l) => [l.state, l.score]), [["open", 1], ["user", 5], ["open", 2]]);
  assert.equal(found.top, 2);
  assert.ok(Math.abs(found.sum.exp - (1 + Math.exp(-1))) < 1e-12);
});

test("of many keys the largest are listed and the others summed", () => {
  const weight = (_, k) => (k === 20 ? 0.5 : 0.5 / 29);
  const found = arithmetic(reading(Array(30).fill(0)), () => 0, weight, 4);
  assert.equal(found.lines.length, 4);
  assert.ok(found.lines.some((l) => l.key === 20 && l.on));
  assert.equal(found.others.count, 26);
  assert.ok(Math.abs(found.sum.weight - 1) < 1e-12);
  assert.equal(arithmetic(reading([0]), () => NaN, () => NaN), null);
});

test("statistics count what is not finite apart", () => {
  assert.deepEqual(statistics([1, -3, NaN, Infinity, 5]), { count: 3, min: -3, max: 5, mean: 1, bad: 2 });
  assert.ok(Number.isNaN(statistics([NaN]).min));
});

test("a tap becomes a matrix by its axes, request and head picked", () => {
  const m = matrix(known("x", "b h t e", [[[[1, 2]], [[3, 4]]]]), 0, 1);
  assert.deepEqual([m.rows, m.columns, m.rowAxis, m.columnAxis, m.at(0, 1)], [1, 2, "t", "e", 4]);
  const line = matrix(known("ids", "b t", [[5, 6, 7]]), 4, 0);
  assert.deepEqual([line.rows, line.columns, line.at(0, 2)], [1, 3, 7]);
});

test("the inspector shows the weights of the read, or the chosen tap, with its contract", () => {
  assert.equal(chosen(world()).path, "decoder.layer1.cross.weights");
  const tap = chosen(world({}, { path: "logits" }));
  const said = Object.fromEntries(contract(tap, { b: 1, t: 1, v: 20 }));
  assert.equal(said.Axes, "b request × t target row × v vocabulary entry");
  assert.equal(said.Shape, "[1, 1, 20] float32");
  const parameter = taps.at(-1);
  const norms = { parameter_norms: [["decoder.layer1.cross.W_Q.weight", 0.5]] };
  assert.deepEqual(contract(parameter, {}, norms).at(-1), ["‖gradient‖", "0.5000"]);
  assert.deepEqual(contract(null, {}), []);
});

test("tensors are found by words of their path or type", () => {
  assert.deepEqual(search(taps, "layer1 mask").map((t) => t.path), ["decoder.layer1.cross.mask"]);
  assert.equal(search(taps, "  ").length, taps.length);
});

test("the inspector watches what it shows and no more", () => {
  assert.deepEqual(inspector.wants(world()).map((s) => s.path.split(".").at(-1)), ["weights", "scores", "v", "mixed"]);
  assert.deepEqual(inspector.wants(world({}, { path: "logits" })).map((s) => s.path.split(".").at(-1)), ["weights", "scores", "logits"]);
  assert.deepEqual(inspector.wants(training({}, { path: "logits" })).map((s) => s.side ?? "value"), ["value", "value", "value", "gradient"]);
});

test("depths are what each operation gives to the next, from the output back", () => {
  assert.deepEqual(depths(taps).map((d) => d.name), ["L2 cross", "L1 self", "embedding"]);
  const sides = trainingView.wants(training()).map((s) => [s.side, s.reduce ?? "none"]);
  assert.deepEqual(sides, [["gradient", "none"], ["gradient", "norm"], ["gradient", "norm"], ["gradient", "norm"]]);
});

test("parameters lie on a logarithmic scale, and what is not finite is marked", () => {
  const all = bars([["decoder.layer0.self.W_Q.weight", 1], ["decoder.layer0.self.W_Q.bias", 1e-6], ["head.weight", "NaN"]]);
  assert.deepEqual(all.map((b) => [b.name, b.finite]), [["head", false], ["L1 self W_Q bias", true], ["L1 self W_Q", true]]);
  assert.ok(all[2].share > 0.8 && all[2].share < 0.9);
  assert.equal(all[1].share, 0.01);
});

test("clipping in words, and a scale that reads well", () => {
  assert.deepEqual(clipping({ norm: 1.88, clip_factor: 0.5319 }, 1), { norm: "1.880", factor: "0.532", said: "1 / 1.880" });
  assert.equal(clipping({ norm: 0.4, clip_factor: 1 }, 1).said, "within 1");
  assert.equal(clipping({ norm: null, clip_factor: null }, 1).said, "after backward");
  assert.equal(clipping({ norm: 2, clip_factor: 1 }, null).said, "no limit");
  assert.deepEqual([niceMost([0.03, -0.07]), niceMost([4.2]), niceMost([NaN, 0])], [0.1, 5, 0]);
});

test("three masks of a training row are three things", () => {
  const all = lines(training({}, { request: 1, relation: "target_self", layer: 0 }));
  assert.deepEqual(all.map((l) => [l.open, l.keys, l.valid, l.counts]), [[1, 2, true, true], [2, 2, true, true], [2, 2, false, false]]);
  assert.ok(all.every((l) => !l.leak));
  const open = training({}, { relation: "target_self", layer: 0 });
  open.opened.relations[1].masks[0] = { program: "full", parameter: 0, cells: [], own: true };
  assert.deepEqual(lines(open).map((l) => l.leak), [true, true, false]);
});

test("a loss that is not a number is not a loss that is missing", () => {
  const rows = training().moved.train.rows.map((s) => s.map((r, i) => ({ ...r, loss: ["NaN", 1, null][i] })));
  assert.deepEqual(lines(training({ rows })).map((l) => l.loss), [NaN, 1, null]);
});

test("the loss is a mean over the rows that count", () => {
  assert.equal(lossSum(training().moved.train), "5 rows count");
  assert.equal(lossSum({ ...training().moved.train, loss: 0.78 }), "3.90 / 5 rows = 0.780");
  assert.equal(lossSum(null), "");
});

test("a logarithmic axis has few marks", () => {
  assert.deepEqual(ticks([0.03, 6, null]), [0.1, 1, 10]);
  assert.deepEqual(ticks([1.1, 4]), [0.5, 1, 2, 5]);
  assert.deepEqual(ticks([1e-7, 100]), [1e-7, 1e-4, 0.1, 100]);
  assert.deepEqual([ticks([5.361]), ticks([])], [[1, 10], []]);
});

test("a chart is continued, or set anew when the curve is another one", () => {
  const curve = (updates, loss) => ({ updates, loss, norm: loss, validation: [] });
  const first = mark(curve([1, 2], [5, 4]));
  assert.equal(added(first, curve([1, 2, 3], [5, 4, 3])), 2);
  assert.equal(added(first, curve([1, 2], [5, 4])), 2);
  assert.equal(added(first, curve([1], [5])), null);
  assert.equal(added(first, curve([1, 2], [5, 3.5])), null);
  assert.equal(added(mark(curve([], [])), curve([1], [5])), 0);
  assert.deepEqual(positive([1, 0, "NaN", "Infinity", 2]), [1, null, null, null, 2]);
});
