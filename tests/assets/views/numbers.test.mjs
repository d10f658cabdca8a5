/** What the inspector computes from recorded numbers. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { arithmetic } from "../../../assets/lib/inspect/arithmetic.mjs";
import { known, request, row, taps, training, world } from "./world.mjs";

const worked = JSON.parse(readFileSync(new URL("../../../models/worked_numbers.json", import.meta.url)));

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

test("where the mask is multiplied after the softmax, hidden keys stand in its sum", () => {
  const w = reading([1, 5, 2], [1]);
  w.schema = { ...w.schema, taps: [...w.schema.taps, { path: "decoder.layer1.cross.spread", axes: ["b", "h", "t", "s"], type: "probabilities" }] };
  const shares = [1, 5, 2].map((s) => Math.exp(s - 5)), total = shares.reduce((a, b) => a + b);
  const found = arithmetic(w, (_, k) => [1, 5, 2][k], (_, k) => (k === 1 ? 0 : shares[k] / total));
  assert.deepEqual([found.after, found.top, found.lines.map((l) => l.exp)], [true, 5, shares]);
  assert.ok(Math.abs(found.sum.exp - total) < 1e-12 && Math.abs(found.sum.weight - (1 - 1 / total)) < 1e-12, "what key 1 took is missing from the weights");
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
