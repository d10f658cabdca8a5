/** What lies outside a window that the architecture draws by itself: the mask opens it, and it is not read. */

import assert from "node:assert/strict";
import test from "node:test";

import { arithmetic } from "../../../assets/lib/inspect/arithmetic.mjs";
import { cellState } from "../../../assets/lib/map/maps.mjs";
import * as read from "../../../assets/lib/reads.mjs";
import { keyReads } from "../../../assets/lib/read/ribbons.mjs";
import { outside } from "../../../assets/lib/read/windows.mjs";
import { request, row, world } from "./world.mjs";

const weight = (_, k) => [0, 0.25, 0.75][k];
const score = (_, k) => [9, 1, 1 + Math.log(3)][k];

/** Three open keys, of which the window leaves two. */
function near(edits = []) {
  const w = world({ moved: { ...world().moved, requests: [request({ source: [0, 1, 2].map((i) => row(`k${i}`)) })] } });
  w.schema = { ...w.schema, taps: [...w.schema.taps, { path: "decoder.layer1.cross.window", axes: ["b", "t", "s"], type: "mask" }] };
  w.opened.scenario = { ...w.opened.scenario, edits };
  return w;
}

test("the arithmetic sums what is inside the window alone", () => {
  const found = arithmetic(near(), score, weight);
  assert.deepEqual(found.lines.map((l) => l.state), ["model", "open", "open"]);
  assert.ok(found.lines.slice(1).every((l) => Math.abs(l.exp / found.sum.exp - l.weight) < 1e-12), "not the softmax of what is inside");
});

test("a ribbon and a cell of the map are closed there", () => {
  const w = near(), at = read.relation(w), { row: asks } = read.focus(w);
  assert.deepEqual(keyReads(w, weight, asks).map((r) => r.state), ["model", "open", "open"]);
  const state = cellState(at.info, at.layer, read.rows(w, "t"), read.rows(w, "s"), weight, null, false, false, outside(w, at.info, at.layer, weight));
  assert.deepEqual([0, 1, 2].map((k) => state(asks, k)), ["off", "ok", "ok"]);
});

test("a weight that was set to 0 by hand is not taken for the window's, and without a window nothing is outside", () => {
  const w = near(), at = read.relation(w), { weights } = read.tapsOf(w, at.info, at.layer);
  const set = near([{ enabled: true, path: weights, index: [0, 0, 2, 0], action: "set", value: 0 }]);
  assert.equal(outside(set, at.info, at.layer, weight)(2, 0), false);
  assert.equal(outside(world(), at.info, at.layer, weight)(2, 0), false);
});
