import assert from "node:assert/strict";
import test from "node:test";

import { cone, field, reached } from "../../../assets/lib/states/fields.mjs";

const layers = (kernel, ...dilations) => dilations.map((dilation, i) => ({ name: `layer${i}`, kernel, dilation }));

test("a field is what the formula says, and its holes stay holes", () => {
  assert.equal(reached(layers(5, 1, 1, 1, 1, 1, 1)).span, 25);
  const doubling = reached(layers(2, 1, 2, 4, 8));
  assert.deepEqual([doubling.span, doubling.backs.size], [16, 16]);
  const tripling = reached(layers(2, 1, 3));
  assert.deepEqual([[...tripling.backs].sort(), tripling.span], [[0, 1, 3, 4], 5]);
});

test("a cone widens from one row on top to the field below", () => {
  const seen = cone(layers(2, 1, 2));
  assert.deepEqual(seen.map((s) => [...s].sort()), [[0], [0, 2], [0, 1, 2, 3]]);
});

test("how far apart the rows of a window stand follows from what is kept", () => {
  const tap = (path, ...axes) => ({ path, axes, type: "hidden" });
  const schema = { taps: [tap("layer0.window", "b", "t", "k", "d"), tap("layer1.window", "b", "t", "k", "d")] };
  const kept = [{ path: "layer0.inputs", shape: [1, 2, 8] }, { path: "layer1.inputs", shape: [1, 8, 8] }];
  assert.deepEqual(field({ schema, moved: { sizes: { k: 3 }, kept } }).layers.map((l) => l.dilation), [1, 4]);
  assert.equal(field({ schema, moved: { sizes: { k: 3 }, kept: [] } }), null);
  assert.equal(field({ schema: { taps: [] }, moved: { sizes: { k: 3 }, kept } }), null);
});
