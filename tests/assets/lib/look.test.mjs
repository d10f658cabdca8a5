import assert from "node:assert/strict";
import test from "node:test";

import { fitting, shared, taken } from "../../../assets/lib/run/look.mjs";
import { firstLook } from "../../../assets/lib/run/store.mjs";

const opened = { scenario: { requests: [{}, {}] }, relations: [{ name: "self", layers: 1, heads: 2 }, { name: "cross", layers: 3, heads: 4 }] };

test("only what is a look is taken from outside; the theme stays one's own", () => {
  const given = { head: 2, layer: -1, relation: "cross", scale: "cubic", lock: { row: 1, key: 0 }, theme: "dark", junk: 1, path: null, editing: "yes", op: "a.b" };
  assert.deepEqual(taken(given), { head: 2, relation: "cross", lock: { row: 1, key: 0 }, path: null, op: "a.b" });
  for (const nothing of [null, 7, "x", [], undefined]) assert.deepEqual(taken(nothing), {});
});

test("a value that is too long, or none of those that there are, is left out", () => {
  const long = "x".repeat(201);
  assert.deepEqual(taken({ relation: long, path: long, op: long, states: "u", side: "both", merge: -1 }), {});
  const whole = { relation: "x".repeat(64), path: "x".repeat(200), op: "x".repeat(200), states: "s", side: "gradient", merge: 0 };
  assert.deepEqual(taken(whole), whole);
});

test("a layout names axes of its slots and places of the others", () => {
  const taking = (layout) => taken({ layout }).layout;
  for (const good of [{}, { rows: "t", columns: "s" }, { index: { b: 0 } }]) assert.equal(taking(good), good);
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`a${i}`, 0]));
  for (const bad of [null, 3, { rows: 3 }, { depth: "t" }, { rows: "x".repeat(17) }, { index: null }, { index: { b: -1 } }, { index: many }]) assert.equal(taking(bad), undefined);
});

test("what is shared can be taken back whole", () => {
  const look = { ...firstLook(), relation: "cross", layer: 2, lock: { row: 0, key: 1 } };
  assert.deepEqual({ ...taken(shared(look)), theme: "auto" }, look);
});

test("a first look takes the last relation and its last layer", () => {
  const { relation, layer, head } = fitting(firstLook(), opened);
  assert.deepEqual([relation, layer, head], ["cross", 2, 0]);
});

test("a look stays inside what was opened", () => {
  const { relation, layer, head, request } = fitting({ ...firstLook(), relation: "self", layer: 5, head: 7, request: 9 }, opened);
  assert.deepEqual([relation, layer, head, request], ["self", 0, 1, 1]);
});

test("in training one looks at any sequence of the batch", () => {
  const at = (phase, batch) => fitting({ ...firstLook(), request: 9 }, { ...opened, scenario: { phase, requests: [{}, {}], training: { batch, batch_size: 6 } } }).request;
  assert.deepEqual([at("train", "task"), at("train", "mine"), at("decode", "task")], [5, 1, 1]);
});

test("another architecture's relation lets go of the lock and the tensor", () => {
  const look = fitting({ ...firstLook(), relation: "gone", lock: { row: 3, key: 3 }, path: "x", scale: "log" }, opened);
  assert.deepEqual([look.relation, look.lock, look.path, look.scale], ["cross", null, null, "log"]);
});

test("where there are no reads, whose states are looked at is kept; a relation that is gone is not", () => {
  const bare = { scenario: { requests: [{}] }, relations: [] };
  const at = (relation) => (({ relation, layer, pane }) => [relation, layer, pane])(fitting({ ...firstLook(), relation, layer: 2, pane: "time" }, bare));
  assert.deepEqual([at("s"), at("t"), at("cross")], [["s", 2, "time"], ["t", 2, "time"], ["", 0, "time"]]);
});

test("an architecture without reads has a look too", () => {
  assert.equal(fitting(firstLook(), { scenario: { requests: [{}] }, relations: [] }).lock, null);
});
