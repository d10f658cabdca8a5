import assert from "node:assert/strict";
import test from "node:test";

import { change, maskName, maskSummary, painted, toggled } from "../../../assets/lib/maskbar.mjs";
import { cellFigure, cellState, numbered, readout, reserve, viewport } from "../../../assets/lib/maps.mjs";
import * as read from "../../../assets/lib/reads.mjs";
import map from "../../../assets/views/map.mjs";
import { request, row, world } from "./world.mjs";

const weights = [[0.9, 0.1, 0], [0.2, 0.3, 0.5], [0.1, 0.7, 0.2]];
const weight = (r, k) => weights[r]?.[k] ?? NaN;
const numbers = { weight, score: (r, k) => weight(r, k) * 10 };

/** The same world with one mask in both layers of the relation that is looked at. */
function masked(program, cells = [], look = {}) {
  const w = world({}, look);
  const info = read.relation(w).info;
  info.masks = info.masks.map(() => ({ program, parameter: 0, cells, own: false }));
  return w;
}

/** @returns the state of every cell of the map */
function states(w, ...more) {
  const at = read.relation(w);
  const [queries, keys] = [read.rows(w, at.info.query), read.rows(w, at.info.key)];
  const state = cellState(at.info, at.layer, queries, keys, weight, ...more);
  return (r, k) => state(r, k);
}

test("growing rows reserve places in steps, so that the scale stays", () => {
  assert.deepEqual([1, 5, 9, 17, 65, 129, 140].map((n) => reserve(n)), [8, 8, 12, 20, 80, 129, 140]);
});

test("a small map fills its room, a large one pans whole cells", () => {
  const small = viewport(340, 230, 5, 4, 0, 0);
  assert.deepEqual([small.rows, small.columns, small.width, small.height], [5, 4, 0, 0]);
  assert.ok(small.cellWidth > 30 && small.top === 30);
  const large = viewport(340, 230, 64, 64, 15 * 10, 15 * 20);
  assert.deepEqual([large.row, large.column, large.cell, large.cellWidth, large.top], [20, 10, 15, 15, 72]);
  assert.ok(large.width > 64 * 15 && large.height > 64 * 15);
  assert.equal(viewport(340, 230, 64, 64, 1e6, 1e6).row, 64 - large.rows);
  const end = viewport(328, 222, 128, 128, 0, 0);
  assert.deepEqual([viewport(328, 222, 128, 128, end.width - 328, end.height - 222)].map((w) => [w.row + w.rows, w.column + w.columns]), [[128, 128]]);
});

test("rows are numbered where their names repeat or not all are in sight", () => {
  assert.deepEqual(numbered(["le", "chat", "·", "·"], 0, 4), ["le", "chat", "·", "·"]);
  assert.deepEqual(numbered(["le", "le", "·"], 0, 3), ["0 le", "1 le", "·"]);
  assert.deepEqual(numbered(["a", "b", "c"], 1, 2), ["1 b", "2 c"]);
});

test("masked by the program, by you, padded, not computed, or a number", () => {
  const state = states(masked("causal", [{ query: 2, key: 1, visible: false }, { query: 0, key: 1, visible: true }]));
  assert.deepEqual([state(0, 0), state(0, 1), state(0, 2), state(2, 1), state(5, 0)], ["ok", "ok", "model", "user", "later"]);
});

test("a stroke is shown as if it were done, and later rows show their mask while editing", () => {
  const stroke = { cells: new Map([["1,1", {}]]), visible: false };
  assert.equal(states(masked("causal"), stroke)(1, 1), "user");
  assert.deepEqual([states(masked("causal"))(3, 4), states(masked("causal"), null, true)(3, 4)], ["later", "model"]);
});

test("padding hides keys and queries", () => {
  const view = request({ source: [row("the"), row("<pad>", "padded")] });
  const w = world({ moved: { ...world().moved, requests: [view] } });
  assert.deepEqual([states(w)(0, 0), states(w)(0, 1)], ["ok", "padded"]);
});

test("the read-out says which cell it is, and what is there", () => {
  const w = world();
  const ok = () => "ok";
  assert.deepEqual(readout(w, null, numbers, ok), ["query: target row 2 chat  key: source row 1 black", "newest  score 7.00 → weight 0.700 ◉"]);
  assert.equal(readout(w, { row: 0, column: 0 }, numbers, ok)[1], "preview  score 9.00 → weight 0.900 ◉");
  assert.equal(readout(w, { row: 0, column: 0 }, numbers, () => "user")[1], "preview  masked by you, weight 0");
  assert.equal(readout(world({}, { lock: { row: 1, key: 2 } }), null, numbers, ok)[0], "query: target row 1 le  key: source row 2 cat");
});

test("a number fits its cell", () => {
  assert.deepEqual([0.853, 0.998, 0.9999, 1, -1.5, 19.49, -123.4, 2.6e12, -4321].map(cellFigure), [".85", ".998", ">.999", "1.0", "−1.50", "19.5", "−123", "3e12", "−4e3"]);
});

test("what the mask allows is counted", () => {
  assert.equal(maskSummary(world({}, { relation: "target_self" })), "causal: 6 of 9 cells open");
  assert.equal(maskSummary(masked("causal", [{ query: 2, key: 0, visible: false }], { relation: "target_self" })), "causal: 5 of 9 cells open, 1 cell set by you");
  assert.equal(maskName({ program: "prefix", parameter: 3, cells: [] }), "prefix P = 3");
});

test("one stroke is one change, of the shown layer or of all", () => {
  const edit = painted([{ query: 0, key: 1 }, { query: 0, key: 2 }], false);
  const command = change(world(), edit);
  assert.equal(command.kind, "change");
  assert.deepEqual(command.fields.masks.map((m) => [m.relation, m.layer, m.cells.length]), [["cross", 1, 2]]);
  assert.deepEqual(change(world({}, { scope: "all" }), edit).fields.masks.map((m) => m.layer), [null]);
  assert.equal(change(world(), (m) => m), null);
});

test("a header hides its row or column, and a second time gives it back", () => {
  const cells = (w, line) => change(w, toggled(w, line))?.fields.masks[0]?.cells.map((c) => [c.query, c.key, c.visible]) ?? [];
  assert.deepEqual(cells(world(), { column: 1 }), [[0, 1, false], [1, 1, false], [2, 1, false]]);
  assert.deepEqual(cells(world(), { row: 2 }), [[2, 0, false], [2, 1, false], [2, 2, false]]);
  const hidden = [0, 1, 2].map((query) => ({ query, key: 1, visible: false }));
  assert.deepEqual(toggled(masked("full", hidden), { column: 1 })({ program: "full", parameter: 0, cells: hidden }).cells, []);
  const self = { relation: "target_self", layer: 0 };
  assert.deepEqual(cells(world({}, self), { column: 1 }), [[1, 1, false], [2, 1, false]]);
  const gone = [1, 2].map((query) => ({ query, key: 1, visible: false }));
  assert.deepEqual(toggled(masked("causal", gone, self), { column: 1 })({ program: "causal", parameter: 0, cells: gone }).cells, []);
});

test("in edit mode the read-out says what to do", () => {
  const w = world({}, { editing: true });
  assert.match(readout(w, null, numbers, () => "ok")[0], /^Click a cell, a row or a column/);
  assert.match(readout(w, { row: 0, column: 0 }, numbers, () => "ok")[0], /^query: target row 0/);
});

test("the map watches every head small and one head whole", () => {
  const wants = map.wants(world({}, { head: 1 }));
  assert.deepEqual(wants.map((s) => [s.path, s.dtype, s.index.h]), [
    ["decoder.layer1.cross.weights", "f32", 1], ["decoder.layer1.cross.scores", "f32", 1], ["decoder.layer*.cross.weights", "u8", undefined],
  ]);
});
