/** What the training views compute: rows of the batch, gradients by parameter and by position, scales, bins, curves. */

import assert from "node:assert/strict";
import test from "node:test";

import { columnAt, columns, forms, lines, lossSum, ownInputs } from "../../../assets/lib/training/batches.mjs";
import { ahead, axis, finite, positive, thinned, tickText } from "../../../assets/lib/training/curves.mjs";
import { binned, binOf, clipping, depths, extremes, groups, niceMost, normSoFar, powers, share, vanishes, widened } from "../../../assets/lib/training/gradients.mjs";
import batch, { tops } from "../../../assets/views/batch.mjs";
import charts, { leakWords, valueWords } from "../../../assets/views/charts.mjs";
import view from "../../../assets/views/training.mjs";
import { taps, trainRow, training } from "./world.mjs";

const parameter = (name) => ({ path: `parameter.${name}`, axes: [], shape: [2, 2], type: "parameter", gradient: true });
const names = ["decoder.embedding.token.weight", "decoder.layer0.self.W_Q.weight", "decoder.layer0.self.W_Q.bias", "decoder.layer1.cross.W_Q.weight", "head.weight"];
const norms = [0.3, 0.1, 0.2, 0.5, 0.4];
const stages = [{ name: "forward", ms: 1, rows: 3, ops: ["decoder.embedding", "decoder.layer0.self", "decoder.layer1.cross", "logits"] }, { name: "backward", ms: 1, rows: 0, ops: ["logits", "decoder.layer1.cross", "decoder.layer0.self", "decoder.embedding"] }];

/** A world whose update has come as far as `train` says. */
function updating(train = {}, look = {}) {
  const w = training(train, look);
  const back = train.parameter_norms;
  return { ...w, schema: { taps: [...taps.filter((t) => t.type !== "parameter"), ...names.map(parameter)] }, moved: { ...w.moved, stages: stages.slice(0, back ? 2 : 1) } };
}
const known = { parameter_norms: names.map((n, i) => [n, norms[i]]) };

test("parameters stand in groups, from the output back to the input, a weight before its bias", () => {
  const all = groups(updating(known));
  assert.deepEqual(all.map((g) => g.name), ["head", "L2 cross", "L1 self", "embedding"]);
  assert.deepEqual(all[2].parameters.map((p) => [p.name, p.value]), [["W_Q", 0.1], ["W_Q bias", 0.2]]);
  assert.equal(all[2].value, Math.hypot(0.1, 0.2));
});

test("before backward nothing is told, and every parameter keeps its place", () => {
  const all = groups(updating());
  assert.equal(all.flatMap((g) => g.parameters).length, names.length);
  assert.ok(all.every((g) => g.value === null && !g.whole && g.moved === null));
  assert.deepEqual(normSoFar(all), { norm: null, whole: false });
});

test("at the op cursor the gradients come from the output back, and the norm so far is a lower bound", () => {
  const at = (op) => groups(updating({ ...known, norm: 9, clip_factor: 0.1, parameter_moves: names.map((n) => [n, 0.01, 1]) }, { op }));
  assert.deepEqual(at("logits").map((g) => g.whole), [true, false, false, false]);
  assert.deepEqual(at("decoder.layer0.self").map((g) => g.whole), [true, true, true, false]);
  assert.ok(at("decoder.layer0.self").every((g) => g.moved === null));
  const sofar = normSoFar(at("decoder.layer1.cross"));
  assert.deepEqual(sofar, { norm: Math.hypot(0.4, 0.5), whole: false });
  assert.deepEqual(Object.values(clipping({}, 0.5, sofar)), ["norm so far", "0.640", "≤ 0.781", "above 0.5 already: it will be clipped"]);
  assert.equal(clipping({}, 5, sofar).said, "a lower bound");
  const unused = groups(updating({ parameter_norms: known.parameter_norms.slice(1) }));
  assert.ok(normSoFar(unused).whole, "a parameter that the batch does not use has no gradient to wait for");
  assert.ok(at("decoder.embedding").every((g) => g.whole && g.moved !== null));
});

test("what the update moved is a share of what was there; from 0 it is none", () => {
  const [, , self] = groups(updating({ ...known, parameter_moves: [["decoder.layer0.self.W_Q.weight", 0.03, 3], ["decoder.layer0.self.W_Q.bias", 0.04, 0]] }));
  assert.deepEqual(self.parameters.map((p) => p.moved), [0.01, NaN]);
  assert.equal(self.moved, 0.05 / 3);
});

test("the clip in words: next, done, none, not finite", () => {
  const say = (train, limit, norm = 1.88) => Object.values(clipping(train, limit, { norm, whole: true })).slice(1).join(" | ");
  assert.equal(say({ norm: null, clip_factor: null }, 1), "1.880 | 0.532 | 1 / 1.880, next");
  assert.equal(say({ norm: 1.88, clip_factor: 0.53 }, 1), "1.880 | 0.530 | 1 / 1.880");
  assert.equal(say({ norm: 0.5, clip_factor: 1 }, 1), "0.500 | 1.000 | within 1");
  assert.equal(say({ norm: 0.5, clip_factor: 1 }, null), "0.500 | 1.000 | no limit");
  assert.equal(say({ norm: NaN, clip_factor: null }, 1), "NaN | none | not finite: no update");
  assert.equal(clipping({ norm: null }, 1, { norm: null, whole: false }).said, "after backward");
});

test("depths are what each operation gives on, from the output back; each owner has its own", () => {
  assert.deepEqual(depths(taps).map((d) => d.path), ["decoder.layer1.cross.output", "decoder.layer0.self.output", "decoder.embedding.sum"]);
  assert.deepEqual(depths(taps).map((d) => d.name), ["L2 cross", "L1 self", "embedding"]);
  assert.deepEqual(depths(taps, "s"), []);
});

test("a recurrent model: the backward pass says which operation a parameter belongs to, and in which order", () => {
  const t = (path, axes, reached, more = {}) => ({ path, axes: axes.split(" "), type: "hidden", gradient: true, reached, ...more });
  const p = (path, reached) => ({ ...parameter(path), reached });
  const schema = [
    t("encoder.token", "b s d", 6), t("encoder.annotations", "b s m", 4), t("decoder.token", "b t d", 3), t("logits", "b t v", 0, { type: "logits" }),
    t("encoder.forwards.layer0.hidden", "b s n", 5, { type: "state" }), t("decoder.layer0.hidden", "b t n", 1, { type: "state" }), t("decoder.cross.weights", "b h t s", 2, { type: "weights" }),
    p("source.weight", 6), p("forwards.layers.0.W.weight", 5), p("forwards.layers.0.W.bias", 5), p("decoder.layers.0.U.weight", 2), p("read.scorer.W.weight", 2), p("head.weight", 0),
  ];
  assert.deepEqual(depths(schema).map((d) => [d.path, d.name]), [["decoder.layer0.hidden", "L1 state"], ["decoder.token", "tokens"]]);
  assert.deepEqual(depths(schema, "s").map((d) => d.path), ["encoder.annotations", "encoder.forwards.layer0.hidden", "encoder.token"]);
  const all = groups({ ...updating(), schema: { taps: schema } });
  assert.deepEqual(all.map((g) => [g.key, g.parameters.map((q) => q.name)]), [
    ["logits", ["head"]], ["decoder.layer0", ["U"]], ["decoder.cross", ["read scorer W"]], ["encoder.forwards.layer0", ["W", "W bias"]], ["encoder", ["source"]],
  ]);
});

test("a parameter of one stack stands with it, though another stack reads what it makes first", () => {
  const t = (path, axes, reached) => ({ path, axes: axes.split(" "), type: "hidden", gradient: true, reached });
  const schema = [t("encoder.summary", "b n", -1), t("decoder.token", "b t d", 2), t("decoder.summary", "b n", 1), t("logits", "b t v", 0), { ...parameter("encoder.V.weight"), reached: 1 }, { ...parameter("decoder.head.weight"), reached: 0 }];
  const all = groups({ ...updating(), schema: { taps: schema } });
  assert.deepEqual(all.map((g) => [g.key, g.parameters.map((q) => q.name)]), [["logits", ["decoder head"]], ["encoder", ["V"]]]);
});

test("the view asks for the gradient of one head's scores, and norms by position", () => {
  const wants = view.wants(training());
  assert.deepEqual(wants.map((s) => [s.side, s.reduce ?? "none"]), [["gradient", "none"], ...depths(taps).map(() => ["gradient", "norm"])]);
  assert.deepEqual(wants[0].index, { b: 0, h: 0 });
});

test("scales: rounded, whole powers of ten, and only ever widened", () => {
  assert.deepEqual([0.061, 0.2, 999, 0].map((v) => niceMost([v])), [0.1, 0.2, 1000, 0]);
  assert.deepEqual(powers([0.3, 0.02, 0.004]), { low: -3, high: 0 });
  assert.deepEqual(powers([0.3, ...Array(20).fill(0.1), 1e-11]), { low: -3, high: 0 });
  assert.deepEqual(powers([5], { low: -3, high: 0 }), { low: -3, high: 1 });
  assert.deepEqual(powers([1e-9], { low: -3, high: 0 }), { low: -3, high: 0 });
  assert.equal(powers([0, NaN, Infinity]), null);
  assert.deepEqual([share(1, { low: -2, high: 0 }), share(0.1, { low: -2, high: 0 }), share(0, { low: -2, high: 0 }), share(1e-9, { low: -2, high: 0 })], [1, 0.5, 0, 0.012]);
  assert.deepEqual([widened(0, [0.3]), widened(0.5, [0.3]), widened(0.5, [0.7])], [0.5, 0.5, 1]);
});

test("where it is largest, and smallest without being nothing", () => {
  const grid = [[0.5, -2, 0], [NaN, 1e-7, Infinity]];
  const { largest, smallest, zeros } = extremes(2, 3, (r, c) => grid[r][c]);
  assert.deepEqual([largest, smallest, zeros], [{ row: 0, column: 1, value: -2 }, { row: 1, column: 1, value: 1e-7 }, 1]);
  assert.deepEqual(extremes(1, 1, () => NaN), { largest: null, smallest: null, zeros: 0 });
});

test("a long map in bins keeps the largest size with its sign, and what is not finite before all", () => {
  assert.deepEqual([binOf(7, 10), binOf(129, 40), binOf(512, 40)], [1, 4, 16]);
  const grid = [[1, -3, 0, 0], [2, 0.5, NaN, 4], [0, 0, 9, 9]];
  const map = binned({ rows: 3, columns: 4, value: (r, c) => grid[r][c], state: (r, c) => (r === 2 && c > 1 ? "padded" : "ok") }, 2, 2);
  assert.deepEqual([map.rows, map.columns], [2, 2]);
  assert.deepEqual([map.value(0, 0), map.value(0, 1), map.value(1, 0)], [-3, NaN, 0]);
  assert.deepEqual([map.state(1, 0), map.state(1, 1)], ["ok", "padded"]);
});

test("three masks of a training row are three things", () => {
  const all = lines(training({}, { request: 1, relation: "target_self", layer: 0 }));
  assert.deepEqual(all.map((l) => [l.open, l.valid, l.counts]), [[1, true, true], [2, true, true], [2, false, false]]);
  assert.deepEqual(lines(training({}, { request: 1, relation: "source_self", layer: 0 })).map((l) => l.open), [1, 2, 2], "where source rows are looked at, what target rows may read of each other");
  assert.ok(all.every((l) => !l.leak));
  const open = training({}, { relation: "target_self", layer: 0 });
  open.opened.relations[1].masks[0] = { program: "full", parameter: 0, cells: [], own: false };
  assert.deepEqual(lines(open).map((l) => l.leak), [true, true, false]);
});

test("a loss that is not a number stays one", () => {
  const rows = training().moved.train.rows.map((s) => s.map((r, i) => ({ ...r, loss: ["NaN", 1, null][i] })));
  assert.deepEqual(lines(training({ rows })).map((l) => l.loss), [NaN, 1, null]);
});

test("the loss is a sum over the rows that count", () => {
  assert.equal(lossSum(training().moved.train), "5 of 6 rows count");
  assert.equal(lossSum({ ...training().moved.train, loss: 0.78 }), "3.90 / 5 rows = 0.780");
  assert.deepEqual(training().moved.train.rows.map(forms), ["ccc", "ccp"]);
  assert.equal(forms([trainRow("a", "b", { counts: false })]), "n");
});

test("a full bar is the largest of the rows that count", () => {
  const rows = [trainRow("a", "b", { loss: 0.2, gradient: 0.01 }), trainRow("b", "c", { loss: 0.5, gradient: 0.02 }), trainRow("c", "<pad>", { loss: 21.6, gradient: 3, counts: false })];
  assert.deepEqual(tops(lines(training({ rows: [rows] }))), { loss: 0.5, gradient: 0.02 });
});

test("columns: real rows wide, padded ones narrow where room is short, and all of it is reached", () => {
  const all = [true, true, true, false, false].map((valid) => ({ valid, counts: valid }));
  assert.deepEqual(columns(all, 520).x, [0, 104, 208, 312, 416, 520]);
  const short = columns(all, 220);
  assert.deepEqual([short.x, short.width], [[0, 176 / 3, 352 / 3, 176, 198, 220], 220]);
  assert.equal(columns(all, 100).width, 3 * 68 + 2 * 22);
  assert.deepEqual([-1, 0, 60, 219, 220].map((at) => columnAt(short.x, at)), [-1, 0, 1, 4, -1]);
});

test("every view gives its numbers as a table", () => {
  const table = batch.table(training({ loss: 1 }));
  assert.equal(table.rows.length, 6);
  assert.ok(table.rows.every((r) => r.length === table.columns.length));
  assert.deepEqual(table.rows[5].slice(0, 4), ["B", 2, "<pad>", "gold"]);
  assert.deepEqual(view.table(updating(known)).rows[0], ["head.weight", 0.4, null]);
  const curve = { updates: [9, 10], loss: [2, "NaN"], norm: [3, 4], clipped: [1, 1], validation: [[10, 2.5]], validated_every: 10, held_out: 16 };
  assert.deepEqual(charts.table({ ...training(), curve }).rows, [[9, 2, 3, 1, null], [10, NaN, 4, 1, 2.5]]);
  assert.equal(valueWords(curve, { show: "norm", hover: null, broken: null }), "update 10: 4.000 → 1.000");
  assert.equal(valueWords(curve, { show: "loss", hover: 9, broken: 11 }), "update 9: 2.000");
  assert.match(valueWords(curve, { show: "loss", hover: 10, broken: null }), /NaN, validation 2.500$/);
  assert.equal(valueWords({ ...curve, updates: [] }, { show: "loss", hover: null, broken: null }), "–");
  assert.equal(valueWords(curve, { show: "loss", hover: null, broken: 11 }), "update 11: diverged");
  const leaking = { ...curve, written: /** @type {[number, number, number, number][]} */ ([[10, 3.84, 0.17, 0.53]]) };
  assert.deepEqual(charts.table({ ...training(), curve: leaking }).rows.map((r) => r[5]), [NaN, 3.84]);
  assert.equal(leakWords(leaking.written[0]), "Leakage: 53% right with the label in sight, 17% as it writes (3.840 nats).");
});

test("what an axis cannot show leaves a gap", () => {
  assert.deepEqual(positive([1, 0, -1, "NaN", "Infinity", 2]), [1, null, null, null, null, 2]);
  assert.deepEqual(finite([1, 0, -1, "NaN", "Infinity"]), [1, 0, -1, null, null]);
});

test("marks of an axis span its values and stay few", () => {
  assert.deepEqual(axis([0.6, 4], true), { marks: [0.5, 1, 2, 5], range: [Math.log10(0.5), Math.log10(5)] });
  for (const values of [[1e-6, 50], [0.9, 1], [1, 1], [1e-30, 1e30], [3, 4.9]]) {
    const { marks, range } = axis(values, true);
    assert.ok(marks.length >= 1 && marks.length <= 5, `${values}: ${marks}`);
    assert.ok(range[0] <= Math.log10(Math.min(...values)) && range[1] >= Math.log10(Math.max(...values)), `${values}: ${range}`);
  }
  assert.deepEqual(axis([0.2, 3.9], false).range, [0, 4]);
  assert.deepEqual(axis([null], true), { marks: [], range: [-1, 1] });
  assert.deepEqual([0, 0.001, 5, 1e-7, 20000].map(tickText), ["0", "0.001", "5", "1e-7", "20000"]);
});

test("the axis of updates keeps room ahead", () => {
  assert.deepEqual([1, 8, 9, 95, 100, 412, 1900].map(ahead), [10, 10, 15, 100, 150, 500, 2000]);
});

test("a long curve keeps its peaks, in their order", () => {
  const x = Array.from({ length: 5000 }, (_, i) => i + 1);
  const y = x.map((u) => (u === 1234 ? 99 : u === 1240 ? -7 : u === 3000 ? null : 1));
  const thin = thinned(x, y, 100);
  assert.ok(thin.x.length <= 202 && thin.y.includes(99) && thin.y.includes(-7));
  assert.deepEqual([...thin.x].sort((a, b) => a - b), thin.x);
  assert.equal(thin.x.at(-1), 5000);
  assert.deepEqual(thinned([1, 2], [3, 4]), { x: [1, 2], y: [3, 4] });
});

test("inputs of the model's own are told, and how many they are", () => {
  const rows = [[trainRow("<bos>", "le", { gold: null }), trainRow("la", "chat", { gold: "le" }), trainRow("chat", "<eos>", { gold: "chat" })]];
  assert.equal(ownInputs({ gold_share: 0.5, rows }), "→ own: 2 of 3, ε 0.50");
  assert.equal(ownInputs({ gold_share: 1, rows }), "");
  const w = training({ rows, gold_share: 0.5 });
  assert.deepEqual(lines(w).map((l) => l.gold), [null, "le", "chat"]);
});

test("a gradient that must be 0 is told from one that is small", () => {
  const group = { key: "a", name: "a", value: 1, whole: true, moved: null, parameters: [] };
  const parameter = (path, value) => ({ path, name: path, value, moved: null });
  group.parameters = [parameter("a.W_K.weight", 1), parameter("a.W_K.bias", 1e-9), parameter("a.W_Q.bias", 1e-9)];
  assert.deepEqual(group.parameters.map((p) => vanishes(p, group)), [false, true, false]);
  assert.equal(vanishes(parameter("a.W_K.bias", 0.01), group), false, "where something else follows the scores it need not be 0");
  assert.equal(vanishes(parameter("a.W_K.bias", null), group), false);
});
