/** Edits at taps: where they point and what they say. */

import assert from "node:assert/strict";
import test from "node:test";

import * as lib from "../../../assets/lib/inspect/edits.mjs";
import { effect } from "../../../assets/views/edits.mjs";
import { request, row, training, world } from "../views/world.mjs";

const WEIGHTS = "decoder.layer1.cross.weights";
const edit = (more = {}) => ({ path: WEIGHTS, index: [0, 0, 2, 1], action: "set", value: 0, donor: null, enabled: true, ...more });
const withEdits = (...edits) => {
  const w = world();
  return { ...w, opened: { ...w.opened, scenario: { ...w.opened.scenario, edits } } };
};
const weight = (r, k) => [0.1, 0.7, 0.2][k];

test("what the page looks at becomes a place in a tensor", () => {
  assert.deepEqual(lib.cellTarget(world({}, { lock: { row: 1, key: 2 } }), weight), { path: WEIGHTS, axes: ["b", "h", "t", "s"], index: [0, 0, 1, 2] });
  assert.deepEqual(lib.cellTarget(world({}, { head: 1 }), weight).index, [0, 1, 2, 1], "the newest row and its largest read");
  assert.deepEqual(lib.headTarget(world({}, { head: 1 })), { path: "decoder.layer1.cross.mixed", axes: ["b", "h", "t", "e"], index: [null, 1, null, null] });
  assert.deepEqual(lib.tensorTarget(world({}, { path: "decoder.embedding.sum" })).index, [0, 2, null]);
  assert.deepEqual(lib.tensorTarget(world({}, { path: "decoder.layer1.cross.k" })).index, [0, 0, 2, null]);
  assert.equal(lib.tensorTarget(world({}, { path: "parameter.nothing" })), null);
  const loop = world({}, { path: "r.layer0.forget", lock: { row: 0, key: 1 } });
  loop.opened.relations = [];
  loop.schema = { taps: [{ path: "r.layer0.forget", axes: ["b", "t", "n"], type: "gate", editable: true }] };
  assert.deepEqual(lib.tensorTarget(loop).index, [0, 0, null], "the row that is locked, where there are no reads");
  const masked = withEdits();
  assert.equal(lib.heading([], masked), "none");
  masked.opened.scenario.masks = [{ relation: "cross" }];
  assert.equal(lib.heading([], masked), "masks changed on the map");
  assert.equal(lib.heading([edit()], masked), "1 on; masks changed on the map");
});

test("an edit is said with its rows, their tokens and what it does", () => {
  const w = world();
  assert.equal(lib.words(w, edit()), "L2 cross weights, H1, row 2 chat, key 1 black = 0");
  assert.equal(lib.words(w, edit({ path: "decoder.layer1.cross.mixed", index: [null, 1], action: "scale" })), "L2 cross mixed, H2 × 0");
  assert.equal(lib.words(w, edit({ path: "logits", index: [0, 7, 3], value: -1.5 })), "logits, row 7, v 3 = −1.500");
  const donor = { source: ["thank", { special: "<unk>" }], target: ["merci"], row: 1 };
  assert.equal(lib.words(w, edit({ path: "decoder.embedding.sum", index: [0, 1], action: "patch", donor })), "embedding sum, row 1 le ← row 1 of “thank <unk> → <bos> merci”");
});

test("an edit of a row that is not there says that it waits", () => {
  assert.equal(lib.waits(world(), edit()), "");
  assert.equal(lib.waits(world(), edit({ index: [0, 0, 9] })), "no target row 9 yet");
  assert.equal(lib.waits(world(), edit({ index: [2, 0, 1] })), "no request C here");
});

test("edits are added, switched and removed; a second one at the same place takes the first one's", () => {
  const [one, other] = [edit(), edit({ index: [0, 1, 2, 1] })];
  assert.deepEqual(lib.withEdit([one, other], edit({ value: 0.5 })), [other, edit({ value: 0.5 })]);
  assert.equal(lib.withEdit([one], edit({ action: "scale" })).length, 2);
  assert.deepEqual(lib.switched([one, other], 1).map((e) => e.enabled), [true, false]);
  assert.deepEqual(lib.without([one, other], 0), [other]);
  assert.deepEqual([lib.tally([]), lib.tally([one, edit({ enabled: false })])], ["0 on", "1 on, 1 off"]);
});

test("one goes to the cell of an edited weight, and to the tensor of any other edit", () => {
  assert.deepEqual(lib.lookAt(world(), edit()), { request: 0, head: 0, relation: "cross", layer: 1, op: null, lock: { row: 2, key: 1 }, path: null });
  assert.deepEqual(lib.lookAt(world(), edit({ path: "decoder.embedding.sum", index: [null, 1] })), { op: null, lock: null, path: "decoder.embedding.sum" });
});

test("a donor is what a request reads now, padding and the word in place of <unk> included", () => {
  const source = [row("the"), row("<unk>", "known", "person", { text: "zebra" }), row("<pad>", "padded", "special")];
  const target = [row("<bos>", "known", "special"), row("<unk>", "new", "model"), row("dort", "unknown", "model")];
  const w = world({ moved: { ...world().moved, requests: [request({ source, target })] } });
  assert.deepEqual(lib.donorOf(w, 0), { source: ["the", "zebra"], target: [{ special: "<unk>" }] });
  assert.equal(lib.donorOf(training(), 0), null);
  assert.deepEqual(lib.moments(w).map((m) => m.name), ["moment 1, Decode 1: le", "moment 0, Decode 0"]);
});

test("what edits did is said of each request, and of the loss in training", () => {
  assert.equal(effect(world()), "");
  const plain = { without: ["edits"], log_probability: -1, choice: 5, probability: 0.5, kl: 0.25, logits: Float32Array.of(0) };
  const edited = world({ moved: { ...world().moved, requests: [request({ unedited: plain })] } });
  assert.equal(effect(edited), "Against the unedited run (without edits): KL 0.250 nats ƒ, the choice changed.");
  assert.equal(effect(training({ loss: 2.5, unedited_loss: 2.25 })), "Loss 2.500 ◉, unedited 2.250 ◉: difference 0.250 nats a row.");
  assert.equal(effect(training({ loss: 2.5 })), "");
});

test("the table holds every edit", () => {
  const table = lib.asTable(withEdits(edit(), edit({ enabled: false, index: [null, 1] })));
  assert.deepEqual(table.rows.map((r) => [r[1], r[3], r[5]]), [[true, "0 0 2 1", 0], [false, "* 1", 0]]);
  assert.equal(table.rows[0].length, table.columns.length);
});
