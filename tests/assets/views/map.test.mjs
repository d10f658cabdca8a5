import assert from "node:assert/strict";
import test from "node:test";

import { anchored, scales, viewport } from "../../../assets/lib/draw/camera.mjs";
import { block, change, maskName, maskSummary, painted, reset, toggled } from "../../../assets/lib/map/masks.mjs";
import { cellFigure, cellState, edited, mapTable, numbered, readout, reserve } from "../../../assets/lib/map/maps.mjs";
import { LARGEST } from "../../../assets/lib/map/visibility.mjs";
import { isLarge, pair } from "../../../assets/lib/map/modes.mjs";
import * as read from "../../../assets/lib/reads.mjs";
import map from "../../../assets/views/map.mjs";
import { full, request, row, trainRow, training, world } from "./world.mjs";

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
  assert.deepEqual([1, 5, 9, 17, 65, 129, 140, 513, 600].map((n) => reserve(n)), [6, 6, 12, 20, 80, 129, 160, 513, 600]);
});

test("a small map fills its room, a large one pans by the pixel", () => {
  const small = viewport(340, 230, 5, 4, 0, 0);
  assert.deepEqual([small.rows, small.columns, small.width, small.height], [5, 4, 0, 0]);
  assert.ok(small.cellWidth > 30 && small.top === 27);
  const large = viewport(340, 230, 64, 64, 15 * 10 + 4, 15 * 20);
  assert.deepEqual([large.row, large.column, large.shiftX, large.shiftY, large.cell, large.cellWidth], [20, 10, 4, 0, 15, 15]);
  assert.deepEqual([large.width, large.height], [122 + 64 * 15 + 2, large.top + 64 * 15 + 2]);
  const end = viewport(340, 230, 64, 64, 1e6, 1e6);
  assert.deepEqual([end.row + end.rows, end.column + end.columns], [64, 64], "scrolled to the end, the last is seen");
});

test("a low map keeps its height for cells: numbers lie above them instead of names that stand", () => {
  assert.deepEqual([140, 230, 320].map((height) => viewport(340, height, 6, 36, 0, 0).top), [22, 48, 72]);
  assert.equal(viewport(340, 140, 6, 4, 0, 0).top, 27, "wide cells have room for names");
});

test("what nearly fits is shown whole, with smaller cells", () => {
  const window = viewport(340, 230, 18, 20, 0, 0);
  assert.deepEqual([window.rows, window.columns, window.width, window.height], [18, 20, 0, 0]);
  assert.ok(window.cell < 15);
});

test("a zoom leaves the cell under the pointer where it is, and ends at the whole map and at large cells", () => {
  const [least, most] = scales(340, 230, 512, 512);
  const whole = viewport(340, 230, 512, 512, 0, 0, least);
  assert.deepEqual([whole.rows, whole.columns, whole.width, whole.height], [512, 512, 0, 0]);
  assert.equal(viewport(340, 230, 512, 512, 0, 0, most).cell, 64);
  const scroll = { left: 1500, top: 3000 };
  const [before, after] = [1, 1.5].map((scale) => viewport(340, 230, 512, 512, scroll.left, scroll.top, scale));
  const point = { x: 200, y: 150 };
  const to = anchored(before, after, point, scroll);
  const under = (w, s) => [(s.left + point.x - w.left) / w.cellWidth, (s.top + point.y - w.top) / w.cell].map((n) => n.toFixed(6));
  assert.deepEqual(under(after, to), under(before, scroll));
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

test("outside a window is another form than what comes later, and a cell that was hidden in vain is the program's", () => {
  const state = states(masked("causal_sliding", [{ query: 2, key: 0, visible: false }, { query: 1, key: 0, visible: false, queries: 1, keys: 2 }]));
  assert.deepEqual([state(2, 0), state(0, 1), state(1, 1), state(2, 2)], ["off", "model", "user", "ok"]);
});

test("a number that is none is shown where one came", () => {
  const bad = (r, k) => (r === 1 && k === 0 ? NaN : 0.5);
  const at = read.relation(world());
  const rows = read.rows(world(), "t");
  const state = (came) => cellState(at.info, at.layer, rows, rows, bad, null, false, () => came)(1, 0);
  assert.deepEqual([state(false), state(true)], ["later", "ok"]);
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
  const late = world({ moved: { ...world().moved, requests: [request({ target: [row("<bos>"), row("<pad>", "padded")] })] } });
  assert.deepEqual([states(late)(0, 0), states(late)(1, 0)], ["ok", "unused"], "a padded row is computed and thrown away");
});

test("the read-out says which cell it is, and what is there", () => {
  const w = world();
  const ok = () => "ok";
  const said = readout(w, null, numbers, ok);
  assert.deepEqual([said.query, said.key, said.status, said.figures], ["query: target row 2 chat", "key: source row 1 black", "newest", "score 7.00 → weight 0.700 ◉"]);
  assert.equal(readout(w, { row: 0, column: 0 }, numbers, ok).figures, "score 9.00 → weight 0.900 ◉");
  assert.equal(readout(w, { row: 0, column: 0 }, numbers, () => "user").figures, "masked by you, weight 0");
  assert.equal(readout(w, { row: 0, column: 0 }, numbers, ok, () => true).figures, "score 9.00 → weight 0.900 ◉, edited");
  const locked = readout(world({}, { lock: { row: 1, key: 2 } }), null, numbers, ok);
  assert.deepEqual([locked.query, locked.status], ["query: target row 1 le", "locked"]);
});

test("a number that an edit set has a mark, while the edit is on", () => {
  const edit = { path: "decoder.layer1.cross.weights", index: [0, null, 2, 1], action: "set", value: 0.5, enabled: true };
  const marks = (more, look = {}) => {
    const w = world({}, look);
    w.opened.scenario.edits = [{ ...edit, ...more }];
    const marked = edited(w);
    return marked && [marked(2, 1), marked(2, 0)];
  };
  assert.deepEqual(marks({}), [true, false]);
  assert.deepEqual(marks({ path: "decoder.layer1.cross.scores", index: [] }), [true, true]);
  assert.equal(marks({ enabled: false }), null);
  assert.equal(marks({ index: [0, 1, 2, 1] }), null, "another head's");
  assert.equal(marks({}, { layer: 0 }), null, "another layer's");
});

test("a number fits its cell", () => {
  assert.deepEqual([0.853, 0.998, 0.9999, 1, -1.5, 19.49, -123.4, 2.6e12, -4321].map(cellFigure), [".85", ".998", ">.999", "1.0", "−1.50", "19.5", "−123", "3e12", "−4e3"]);
});

test("what the mask allows is counted", () => {
  assert.equal(maskSummary(world({}, { relation: "target_self" })), "causal: 6 of 9 cells open");
  const around = world({}, { relation: "source_self", layer: 0 });
  Object.assign(around.opened.relations[0], { masks: [{ ...full, program: "sliding", parameter: 1, global_rows: [0, 9] }] });
  assert.match(maskSummary(around), /: 9 cells, bound 15; a layer reaches 1 row; 9 in all$/, "3 (2 · 1 + 1 + 2 · 1): row 9 is not there");
  assert.equal(maskSummary(masked("causal", [{ query: 2, key: 0, visible: false }], { relation: "target_self" })), "causal: 5 of 9 cells open, 1 cell set by you");
  assert.equal(maskName({ program: "prefix", parameter: 3, cells: [] }), "prefix P = 3");
  assert.equal(maskName({ program: "causal_sliding", parameter: 16, cells: [], every: 2, global_rows: [0, 97] }), "causal sliding r = 16, every 2, global rows 0, 97");
});

test("one stroke is one change, of the shown layer or of all", () => {
  const edit = painted([{ query: 0, key: 1 }, { query: 0, key: 2 }], false);
  const command = change(world(), edit);
  assert.equal(command.kind, "change");
  assert.deepEqual(command.fields.masks.map((m) => [m.relation, m.layer, m.cells.length]), [["cross", 1, 1]], "two cells beside each other are one rectangle");
  assert.deepEqual(change(world({}, { scope: "all" }), edit).fields.masks.map((m) => m.layer), [null]);
  assert.equal(change(world(), (m) => m), null);
  const asked = { masks: command.fields.masks };
  assert.deepEqual(change(world({ asked }), painted([{ query: 2, key: 2 }], false)).fields.masks[0].cells.length, asked.masks[0].cells.length + 1, "it begins from what was asked and is not answered yet");
  assert.equal(change(world({ asked }), edit), null);
});

test("a header hides its row or column, and a second time gives it back", () => {
  const cells = (w, line) => change(w, toggled(w, line))?.fields.masks[0]?.cells.map((c) => [c.query, c.key, c.queries, c.keys, c.visible]) ?? [];
  assert.deepEqual(cells(world(), { column: 1 }), [[0, 1, LARGEST + 1, 1, false]], "rows to come as well");
  assert.deepEqual(cells(world(), { row: 2 }), [[2, 0, 1, 3, false]]);
  const hidden = [0, 1, 2].map((query) => ({ query, key: 1, visible: false }));
  assert.deepEqual(toggled(masked("full", hidden), { column: 1 })({ program: "full", parameter: 0, cells: hidden }).cells, []);
  const self = { relation: "target_self", layer: 0 };
  assert.deepEqual(cells(world({}, self), { column: 1 }), [[1, 1, LARGEST, 1, false]]);
  const gone = [1, 2].map((query) => ({ query, key: 1, visible: false }));
  assert.deepEqual(toggled(masked("causal", gone, self), { column: 1 })({ program: "causal", parameter: 0, cells: gone }).cells, []);
});

test("a column hidden for rows to come is counted by the rows that are there", () => {
  const w = masked("full", [{ query: 0, key: 1, visible: false, queries: LARGEST + 1, keys: 1 }]);
  assert.match(maskSummary(w), /3 cells set by you, later rows too/);
});

test("in edit mode the read-out says what to do", () => {
  const w = world({}, { editing: true });
  assert.match(readout(w, null, numbers, () => "ok").note, /^Drag paints/);
  assert.match(readout(w, { row: 0, column: 0 }, numbers, () => "ok").query, /^query: target row 0/);
});

test("a block of cells is one rectangle, and the architecture's own mask comes back", () => {
  const hidden = change(world(), painted(block([0, 2], [1, 2]), false)).fields.masks;
  assert.deepEqual(hidden.map((m) => m.cells), [[{ query: 0, key: 1, visible: false, queries: 3, keys: 2 }]]);
  const w = world();
  w.opened.scenario.masks = hidden;
  assert.deepEqual(reset(w).fields.masks, []);
  assert.equal(reset(world()), null);
  const same = hidden.map((m) => ({ ...m, cells: m.cells.map((c) => ({ ...c })) }));
  w.opened.scenario.masks = same;
  assert.equal(change(w, painted(block([0, 2], [1, 2]), false)), null, "nothing would change");
});

test("the map watches every head small and one head whole", () => {
  const wants = map.wants(world({}, { head: 1 }));
  assert.deepEqual(wants.map((s) => [s.path, s.dtype, s.index.h]), [
    ["decoder.layer1.cross.weights", "f32", 1], ["decoder.layer1.cross.scores", "f32", 1], ["decoder.layer*.cross.weights", "u8", undefined],
  ]);
});

/** A long run: 320 target rows. */
function long(look = {}) {
  const target = Array.from({ length: 320 }, () => row("cat"));
  return world({ moved: { ...world().moved, requests: [request({ target, decision_row: 319 })] } }, { relation: "target_self", ...look });
}

test("of a long run the small maps are squares and the scores those near by, until scores are shown", () => {
  const [weights, scores, all] = map.wants(long());
  assert.deepEqual([weights.span, scores.span, all.bin], [undefined, { t: [192, 384] }, 8]);
  assert.deepEqual(map.wants(long({ show: "scores" }))[1].span, undefined);
});

test("two requests of a prefill stand side by side and are both watched", () => {
  const moved = { ...world().moved, phase: "prefill", requests: [request(), request(), request()] };
  assert.deepEqual([0, 1, 2].map((at) => pair(world({ moved }, { request: at }))), [[0, 1], [0, 1], [1, 2]]);
  assert.deepEqual(map.wants(world({ moved }, { request: 1 })).map((s) => s.index.b), [1, 1, 1, 0, 0]);
  assert.equal(pair(training()), null);
});

test("the table has every cell with its numbers and what the mask says", () => {
  const { columns, rows } = mapTable(masked("causal", [{ query: 2, key: 0, visible: false }]), numbers);
  assert.equal(columns.length, 7);
  assert.deepEqual(rows.length, 9);
  assert.deepEqual(rows[0], [0, "<bos>", 0, "the", 0.9, 9, "open"]);
  assert.deepEqual([rows[1][6], rows[6][6]], ["masked by program", "masked by you"]);
});

test("what was large in a training stays so with a shorter batch, and not in another phase", () => {
  const long = training({ rows: [Array.from({ length: 60 }, () => trainRow("le", "chat"))] }, { relation: "target_self", layer: 0 });
  const short = training({}, { relation: "target_self", layer: 0 });
  const kept = { of: "", large: false };
  assert.deepEqual([short, long, short, world({ moved: { ...world().moved, phase: "prefill" } }), short].map((w) => isLarge(w, kept)), [false, true, true, false, false]);
});
