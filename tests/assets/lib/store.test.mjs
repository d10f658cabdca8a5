import assert from "node:assert/strict";
import test from "node:test";

import { Block } from "../../../assets/lib/run/block.mjs";
import { Store } from "../../../assets/lib/run/store.mjs";
import { decode } from "../../../assets/lib/run/wire.mjs";
import { frame, values } from "./frames.mjs";

const KEY = '{"path":"p"}';

function watching() {
  const store = new Store();
  store.apply(decode(frame("moved", { at: 0, nodes: [] })));
  store.plan.set("view", [KEY]);
  store.watches([KEY], 1);
  return store;
}

test("a decode step's row widens the map; what it does not say is not known", () => {
  const store = watching();
  store.apply(decode(values(["b", "t", "t'"], [1, 2, 2], [1, 0, 0.25, 0.75], { keyframe: true })));
  store.apply(decode(values(["b", "t", "t'"], [1, 1, 3], [0.2, 0.3, 0.5], { start: { t: 2 } })));
  const [known] = store.world.values("view", 0);
  assert.deepEqual(known.shape, [1, 3, 3]);
  assert.equal(known.at(0, 1, 1), 0.75);
  assert.ok(Math.abs(known.at(0, 2, 2) - 0.5) < 1e-7);
  assert.ok(Number.isNaN(known.at(0, 0, 2)), "row 0 was computed before key 2 existed");
  assert.ok(Number.isNaN(known.at(0, 3, 0)) && Number.isNaN(known.at(0, -1, 0)), "outside of it nothing is known");
});

test("where binned pieces meet in a square the larger value holds; others take the place of what was there", () => {
  const store = watching();
  store.apply(decode(values(["t", "s"], [2, 2], [1, 5, 2, 3], { keyframe: true, bin: 2 })));
  store.apply(decode(values(["t", "s"], [1, 2], [4, 1], { start: { t: 1 }, bin: 2 })));
  const [known] = store.world.values("view", 0);
  assert.deepEqual([...known.data], [1, 5, 4, 3]);
  store.apply(decode(values(["t", "s"], [1, 2], [0, 0], { start: { t: 1 } })));
  assert.deepEqual([...known.data], [1, 5, 0, 0]);
});

test("a keyframe forgets what there was", () => {
  const store = watching();
  store.apply(decode(values(["t"], [3], [1, 2, 3], { keyframe: true })));
  store.apply(decode(values(["t"], [1], [9], { keyframe: true })));
  assert.deepEqual(store.world.values("view", 0)[0].shape, [1]);
});

test("values of another epoch or another watch are dropped and still acknowledged", () => {
  const store = watching();
  store.apply(decode(values(["t"], [1], [1], { keyframe: true, seq: 3 })));
  store.apply(decode(values(["t"], [1], [7], { epoch: 0, seq: 4 })));
  store.apply(decode(values(["t"], [1], [8], { mark: 0, seq: 5 })));
  assert.equal(store.world.values("view", 0)[0].at(0), 1);
  assert.deepEqual(store.drawn, [3, 4, 5]);
});

test("between a new epoch and its values the picture is not settled; old values go with the answer", () => {
  const store = watching();
  store.apply(decode(values(["t"], [1], [1], { keyframe: true })));
  store.apply(decode(frame("moved", { at: 1, nodes: [] }, { epoch: 2, seq: 2 })));
  assert.equal(store.unsettled, true);
  store.settle();
  assert.equal(store.unsettled, false);
  assert.deepEqual(store.world.values("view", 0), []);
});

test("a step is told at once, when its values are here; its checks follow", () => {
  const store = watching();
  const told = [];
  store.listen((parts) => told.push(parts));
  store.apply(decode(frame("moved", { at: 1, nodes: [] }, { seq: 2 })));
  assert.deepEqual(told, []);
  store.apply(decode(values(["t"], [1], [1], { seq: 2 })));
  assert.deepEqual(told, [["moved", "history", "notices", "values"]]);
  store.apply(decode(frame("checked", { at: 1, checks: [] }, { seq: 3 })));
  assert.deepEqual(told.slice(1), [["checked"]]);
});

test("a step without new values is told with its checks", () => {
  const store = watching();
  const told = [];
  store.listen((parts) => told.push(parts));
  store.apply(decode(frame("moved", { at: 1, nodes: [] }, { seq: 2 })));
  store.apply(decode(frame("checked", { at: 1, checks: [] }, { seq: 3 })));
  assert.deepEqual(told, [["moved", "history", "notices", "checked"]]);
});

test("a step that does not end is told after a moment, and with the answer", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const store = watching();
  const told = [];
  store.listen((parts) => told.push(parts[0]));
  store.apply(decode(frame("moved", { at: 1, nodes: [] }, { seq: 2 })));
  t.mock.timers.tick(100);
  assert.deepEqual(told, ["moved"]);
  store.apply(decode(frame("moved", { at: 2, nodes: [] }, { seq: 3 })));
  store.settle();
  assert.deepEqual(told, ["moved", "moved"]);
});

test("a glob gives several, and what is not watched any more is forgotten", () => {
  const store = watching();
  store.apply(decode(values(["t"], [1], [1], { keyframe: true, path: "layer0" })));
  store.apply(decode(values(["t"], [1], [2], { path: "layer1" })));
  assert.deepEqual(store.world.values("view", 0).map((k) => k.path), ["layer0", "layer1"]);
  store.watches(['{"path":"q"}'], 2);
  assert.deepEqual(store.world.values("view", 0), []);
});

test("history grows with moves, and a notice goes when the run moves on", () => {
  const store = watching();
  store.apply(decode(frame("history", { at: 0, nodes: [{ id: 0, parent: null }] })));
  store.apply(decode(frame("moved", { at: 0, nodes: [] })));
  store.apply(decode(frame("notice", { code: "diverged", message: "The loss is not a number.", offer: null })));
  assert.equal(store.world.notices.length, 1);
  store.apply(decode(frame("moved", { at: 1, nodes: [{ id: 1, parent: 0 }] })));
  assert.deepEqual([...store.world.history.keys()], [0, 1]);
  assert.equal(store.world.notices.length, 0);
});

test("a curve is appended to, from its first update on, or replaced", () => {
  const store = watching();
  const curve = (updates, loss, whole, validation = []) => store.apply(decode(frame("curve", { updates, loss, norm: loss, clipped: loss, validation, whole })));
  curve([1, 2, 3], [3, 2, 1], true, [[2, 9]]);
  curve([4], [0.5], false);
  curve([3], [7], false);
  assert.deepEqual([store.world.curve.updates, store.world.curve.loss], [[1, 2, 3], [3, 2, 7]]);
  assert.deepEqual(store.world.curve.validation, [[2, 9]]);
  curve([1], [1], true);
  assert.deepEqual(store.world.curve.updates, [1]);
});

test("a welcome that resumes keeps the place; one that does not begins anew", () => {
  const store = watching();
  store.apply(decode(frame("checked", { checks: [] }, { seq: 40 })));
  store.apply(decode(frame("welcome", { role: "reader", opened: true, resumed: true }, { seq: 0 })));
  assert.deepEqual([store.seq, store.world.role], [40, "reader"]);
  store.apply(decode(frame("welcome", { role: "writer", opened: true, resumed: false }, { seq: 0 })));
  assert.equal(store.seq, 0);
});

test("a block of one number and a block without rows", () => {
  const one = new Block("loss", "value", [], 1);
  one.put({ dtype: "F32", shape: [], data: Float32Array.from([4]) }, []);
  assert.equal(one.at(), 4);
  const none = new Block("w", "value", ["t", "s"], 1);
  none.put({ dtype: "F32", shape: [0, 3], data: new Float32Array(0) }, [0, 0]);
  none.put({ dtype: "F32", shape: [1, 3], data: Float32Array.from([1, 2, 3]) }, [0, 0]);
  assert.deepEqual([none.shape, none.at(0, 2)], [[1, 3], 3]);
});

test("what was measured belongs to its run: another one has moments of the same numbers", () => {
  const store = new Store();
  store.apply(decode(frame("analysis", { name: "cost", progress: 1, result: { moment: 0, macs: 5 } })));
  assert.equal(store.world.analysis.cost.result.macs, 5);
  store.apply(decode(frame("history", { at: 0, nodes: [{ id: 0, parent: null }] })));
  assert.deepEqual(store.world.analysis, {});
});
