/** Exchanged parts: RoPE's dials, the curves beyond the trained rows, mean and deviation, who is one object, tiles. */

import assert from "node:assert/strict";
import test from "node:test";

import { apart, beyond } from "../../../assets/lib/inspect/beyond.mjs";
import { byOwner, ones } from "../../../assets/lib/inspect/identity.mjs";
import { dials, ratesOf, short, spread, turning } from "../../../assets/lib/inspect/rotating.mjs";
import { byPlace, moments, rowsOf } from "../../../assets/lib/inspect/spreads.mjs";
import { measured as curves } from "../../../assets/views/inspector_rotation.mjs";
import { measured, runs, span } from "../../../assets/views/inspector_tiles.mjs";
import { known, node, taps, world } from "./world.mjs";

test("each pair has its angle at a row, and says whether it gets round in the trained rows", () => {
  const [fast, slow] = dials([1, 0.01], 3, 1, 32);
  assert.deepEqual([fast.query, fast.key, fast.round], [3, 1, true]);
  assert.deepEqual([slow.query, slow.round], [0.03, false]);
  assert.equal(short(slow.wave), "628");
  assert.deepEqual([short(6.28), short(62832), short(3.2e7)], ["6.3", "63k", "32M"]);
  assert.deepEqual(spread([0, 1, 2, 3, 4, 5, 6], 3), [0, 3, 6]);
});

test("rates are those of the request, and a model that turns nothing has none", () => {
  assert.deepEqual(ratesOf(known("x.rates", "b p", [[1, 0.1], [2, 0.2]]), 1), [2, 0.2]);
  assert.deepEqual(ratesOf(undefined, 0), []);
  assert.equal(turning(world()), null);
  const rope = world({ schema: { taps: [...taps, { ...taps[0], path: "decoder.layer1.cross.rates" }] } });
  assert.equal(turning(rope).angles, "decoder.layer1.cross.angles");
});

test("the curves say which scaling loses least at the end, and names do not lie on each other", () => {
  const found = { trained: 32, rows: 128, factor: 4, curves: { none: [[0, 1], [120, 4]], ntk: [[0, 1], [120, 1.5]] } };
  assert.match(beyond(found, "none"), /128 rows \(32 trained, factor 4\) the loss is 4\.00 as set here; least with NTK-aware: 1\.50/);
  assert.deepEqual(apart([10, 11, 40], 12), [10, 22, 40]);
});

test("curves stand while the weights are those that were measured", () => {
  const analysis = { extrapolation: { result: { moment: 1 } } };
  const stood = (at, ...more) => curves(world({ analysis, history: new Map([node(0, null, "train", 0, { command: "open" }), node(1, 0, "train", 1), ...more].map((n) => [n.id, n])), moved: { at } }));
  assert.equal(stood(1).moment, 1);
  assert.equal(stood(2, node(2, 1, "train", 1, { stage: "forward" })).moment, 1);
  assert.equal(stood(3, node(2, 1, "decode", 0, { command: "enter" }), node(3, 2, "decode", 1)).moment, 1);
  assert.equal(stood(2, node(2, 1, "train", 2)), null);
  assert.equal(stood(0), null, "before it");
  assert.equal(curves(world({})), null);
});

test("mean and deviation of a row and of a place", () => {
  assert.deepEqual(moments([1, 3]), { mean: 2, deviation: 1 });
  const rows = rowsOf(known("x", "b t d", [[[1, 3], [5, 3], [NaN, NaN]]]), 0);
  assert.deepEqual(rows.map((r) => r.row), [0, 1]);
  assert.deepEqual(byPlace(rows), { mean: [3, 3], deviation: [2, 0] });
});

test("shared parameters are told as scopes where all of one are all of another", () => {
  const names = ["a.layer0.W.weight", "a.layer0.W.bias", "a.layer0.n.weight", "e.weight"];
  const depth = names.slice(0, 3).map((n) => [n.replace("layer0", "layer1"), n]);
  assert.deepEqual(ones([...depth, ["head.weight", "e.weight"]], names), [{ name: "a.layer1", owner: "a.layer0", count: 3 }, { name: "head", owner: "e", count: 1 }]);
  const partly = [["a.layer1.W.weight", "a.layer0.W.weight"], ["a.layer1.W.bias", "a.layer0.W.bias"]];
  assert.deepEqual(byOwner(ones(partly, [...names, "a.layer1.n.weight"])), [{ owner: "a.layer0.W", names: [{ name: "a.layer1.W", owner: "a.layer0.W", count: 2 }] }]);
});

test("a measurement of tiles belongs to one read of one moment", () => {
  const args = { path: "decoder.layer0.self", tile: 4, request: 0, head: 1, row: 2 };
  const w = world({ analysis: { tiles: { result: { ...args, moment: 2 } } } });
  assert.ok(measured(w, args));
  assert.equal(measured(w, { ...args, tile: 2 }), null);
  const keys = ["a", "b", "c"].map((token) => ({ token }));
  assert.deepEqual([span(keys, 0, 2), span(keys, 1, 2)], ["0–1 a … b", "2 c"]);
});

test("what a row kept tile by tile ends where its call did", () => {
  const known = (/** @type {number[]} */ shape, /** @type {(...at: number[]) => number} */ at) => [{ shape, at }];
  const sums = [1, 2.5, 0];
  const values = [known([1, 2, 3, 4], () => 3), known([1, 2, 3, 4], (b, h, i) => sums[i]), known([1, 2, 3, 4, 2], (b, h, i, t, e) => e)];
  assert.deepEqual(runs(values, 0, 1, 2), [{ maximum: 3, sum: 1, output: [0, 1] }, { maximum: 3, sum: 2.5, output: [0, 1] }]);
  assert.deepEqual(runs([[], [], []], 0, 0, 0), []);
});
