/** The inspector: what it looks at, its contract, tensors by their axes, the tree, which rows pushed and which decide, checks. */

import assert from "node:assert/strict";
import test from "node:test";

import { mixtureError, product, vectorAt } from "../../../assets/lib/inspect/arithmetic.mjs";
import * as about from "../../../assets/lib/inspect/inspected.mjs";
import { asked, walked } from "../../../assets/lib/inspect/pictures.mjs";
import { Scales } from "../../../assets/lib/inspect/scales.mjs";
import { lines, search, waysTo } from "../../../assets/lib/inspect/taptree.mjs";
import { arranged, layout, MOST, panelCount, picture, placed, selector, summary } from "../../../assets/lib/inspect/tensor.mjs";
import { Block } from "../../../assets/lib/run/block.mjs";
import checks, { destination, details, measured, summary as checksSummary } from "../../../assets/views/checks.mjs";
import inspector, { contract, locked } from "../../../assets/views/inspector.mjs";
import read from "../../../assets/views/inspector_read.mjs";
import { ahead, measured as contributions, nextSaid, pushes } from "../../../assets/views/inspector_push.mjs";
import values from "../../../assets/views/inspector_values.mjs";
import { deciding } from "../../../assets/views/inspector_which.mjs";
import { known, node, request, row, taps, training, world } from "./world.mjs";

const axes = (...pairs) => pairs.map(([axis, size]) => ({ axis, size }));

test("the inspector shows the weights of the read, or the chosen tap, with its contract", () => {
  assert.equal(about.chosen(world()).path, "decoder.layer1.cross.weights");
  const w = world({}, { path: "logits" });
  const { axes: said, rows } = contract(w, about.chosen(w));
  assert.deepEqual(said.map((a) => [a.role, a.said]), [["", "request 1"], ["q", "target 3"], ["d", "vocabulary entry ?"]]);
  assert.equal(Object.fromEntries(rows).Shape, "[1, 3, ?] fp32");
  assert.deepEqual(contract(world(), null), { axes: [], rows: [] });
});

test("axes stand in roles: who queries, who is read, what decides, what is learned", () => {
  const roles = (text) => text.split(" ").map((a, _, all) => about.roleOf(a, all));
  assert.deepEqual(roles("b h t s"), ["", "", "q", "k"]);
  assert.deepEqual(roles("b h s s'"), ["", "", "q", "k"]);
  assert.deepEqual(roles("b t v"), ["", "q", "d"]);
  assert.deepEqual(roles("out in"), ["p", "p"]);
});

test("a contract says who owns rows, how long they live, and what may be edited", () => {
  const w = world();
  const [weights, parameter] = [about.chosen(w), taps.at(-1)];
  assert.equal(about.ownerOf(w, weights), "target, one row for each token");
  assert.equal(about.lifetimeOf(w, weights), "only the newest row is computed; older rows stay for display");
  assert.equal(about.ownerOf(w, parameter), "none: one parameter, shared by every row");
  const owner = (/** @type {string} */ axes) => about.ownerOf(w, { ...weights, axes: axes.split(" ") });
  assert.deepEqual(["b h r s", "b r m", "b n", "b y x d", "n"].map(owner), [
    "hop, one row of weights each", "hop, one row each", "the request, one for all its rows", "places of the picture", "none",
  ]);
  assert.equal(about.nameOf(parameter), "W_Q");
  assert.deepEqual([weights, { type: "parameter" }, { type: "mask" }].map((t) => about.editOf(t)[0]), ["Edit…", "learned", "by Edit mask"]);
  assert.equal(about.ownerOf(training(), weights), "target; 1 of 6 inputs are padding");
});

test("a gradient is a side of a tensor in training, after backward; what an edit changed has a side before it", () => {
  const path = "decoder.layer1.cross.weights";
  const tap = taps.find((t) => t.path === path);
  assert.deepEqual(about.sides(world(), tap), ["value"]);
  assert.deepEqual(about.sides(training({ parameter_norms: [] }), tap), ["value", "gradient"]);
  const w = world();
  w.opened.scenario.edits = [{ path, enabled: true }, { path: "logits", enabled: false }];
  assert.deepEqual(about.sides(w, tap), ["value", "unedited"]);
  assert.equal(about.side(world({}, { side: "gradient" }), tap), "value");
  assert.equal(about.norm(0.0006), "6.0e-4");
});

test("the bar says what is locked", () => {
  assert.deepEqual(locked(world(), null), ["Following the newest read", "", ""]);
  assert.deepEqual(locked(world({}, { lock: { row: 2, key: 1 } }), null), ["Locked on", "row 2 × row 1", ""]);
  assert.deepEqual(locked(world({}, { path: "logits" }), { path: "logits", type: "logits", axes: [] }), ["Locked on", "logits", ""]);
});

test("by itself a tensor is panels of rows and columns, the request at its place", () => {
  const now = layout(axes(["b", 2], ["h", 4], ["t", 3], ["s", 5]), {}, { b: 1 });
  assert.deepEqual([now.panels.axis, now.rows.axis, now.columns.axis], ["h", "t", "s"]);
  assert.deepEqual(now.rest.map((a) => [a.axis, a.at]), [["b", 1]]);
  assert.deepEqual(selector("x", now, "value"), { path: "x", side: "value", index: { b: 1 }, dtype: "f32" });
  assert.equal(layout(axes(["b", 2], ["t", 3], ["d", 8])).panels, null, "requests are not panels by themselves");
  assert.equal(layout(axes(["one", 1])).columns, null);
});

test("axes change places when a person puts one where another was", () => {
  const all = axes(["h", 4], ["t", 3], ["s", 5]);
  const wish = placed(layout(all), "rows", "h", {});
  const now = layout(all, wish);
  assert.deepEqual([now.panels.axis, now.rows.axis, now.columns.axis], ["t", "h", "s"]);
  const flat = layout(all, placed(now, "panels", "", wish));
  assert.deepEqual([flat.panels, flat.rest[0].axis, flat.rest[0].at], [null, "t", 0]);
  assert.equal(layout(all, { panels: "", index: { h: 9 } }).rest[0].at, 3, "a place that is gone is the last one");
});

test("what is too large gives up its panels, then is binned or cut, and says so", () => {
  const map = layout(axes(["h", 4], ["t", 512], ["t'", 512]));
  assert.deepEqual([map.panels, map.bin, map.cut], [null, Math.ceil(Math.sqrt((512 * 512) / MOST)), 0]);
  assert.deepEqual([selector("x", map, "value").bin, selector("x", map, "value").dtype], [2, "f16"]);
  const matrix = layout(axes(["out", 1024], ["in", 1024]));
  assert.deepEqual([matrix.bin, matrix.cut, selector("x", matrix, "value").span], [1, MOST / 1024, { out: [0, MOST / 1024] }]);
});

test("a panel is a matrix, straight, turned, or of any axes", () => {
  const block = new Block("x", "value", ["h", "t", "e"], 0);
  block.put({ dtype: "F32", shape: [2, 2, 3], data: Float32Array.from({ length: 12 }, (_, i) => i) }, [0, 0, 0]);
  const plain = known("x", "h t e", [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]);
  for (const tensor of [block, plain]) {
    const all = axes(["h", 2], ["t", 2], ["e", 3]);
    const straight = layout(all);
    assert.equal(picture(tensor, straight, 1).at(1, 2), 11);
    assert.equal(picture(tensor, layout(all, { rows: "e", columns: "t" }), 1).at(2, 0), 8);
    assert.equal(picture(tensor, layout(all, { rows: "h", columns: "e", panels: "t" }), 1).at(0, 2), 5);
    assert.deepEqual(panelCount(straight, tensor), { shown: 2, all: 2 });
  }
});

test("NaN and infinity are counted apart from smallest, largest and mean", () => {
  const of = (numbers) => summary([{ rows: 1, columns: numbers.length, at: (_, c) => numbers[c] }]);
  assert.deepEqual(of([1, -3, NaN, Infinity, 5]), { count: 5, nan: 1, infinite: 1, min: -3, max: 5, mean: 1 });
  assert.ok(Number.isNaN(of([NaN]).min));
});

test("what a later row alone computed is no number of an earlier one; a NaN that came is one", () => {
  const block = new Block("bias", "value", ["t", "t'"], 0);
  const put = (row, ...numbers) => block.put({ dtype: "F32", shape: [1, numbers.length], data: Float32Array.from(numbers) }, [row, 0]);
  put(0, 1);
  put(1, NaN, 3);
  const m = picture(block, layout([{ axis: "t", size: 2 }, { axis: "t'", size: 2 }]), 0);
  assert.deepEqual([[0, 0], [0, 1], [1, 0], [1, 1]].map(([r, c]) => m.unknown(r, c)), [false, true, false, false]);
  assert.deepEqual(summary([m]), { count: 3, nan: 1, infinite: 0, min: 1, max: 3, mean: 2 });
});

test("panels stand so that cells are large", () => {
  assert.equal(arranged(300, 226, 4, { rows: 4, columns: 4 }, { caption: 15, row: 12 }).across, 2);
  const one = arranged(300, 226, 1, { rows: 1, columns: 64 }, { caption: 0, row: 18 });
  assert.deepEqual([one.across, one.tall], [1, 18]);
});

test("the keys walk over cells and from panel to panel", () => {
  const all = [{ rows: 2, columns: 2 }, { rows: 2, columns: 2 }];
  const at = (panel, r, column) => ({ panel, row: r, column });
  assert.deepEqual(walked(null, [1, 0], all), at(0, 0, 0));
  assert.deepEqual(walked(at(0, 1, 1), [0, 1], all), at(1, 1, 0));
  assert.deepEqual(walked(at(1, 0, 0), [0, -1], all), at(0, 0, 1));
  assert.deepEqual(walked(at(0, 0, 0), [-1, 0], all), at(0, 0, 0));
  assert.deepEqual(walked(at(1, 0, 1), [0, 1], all), at(1, 0, 1));
});

test("a cell says its place, its token and its number; of another request its own token", () => {
  const two = { moved: { ...world().moved, requests: [request(), request({ target: [row("<bos>"), row("un"), row("chien", "new")] })] } };
  const w = world(two);
  const numbers = known("x", "b t d", [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]);
  const told = (now, at, more = {}) => asked({ world: w, tap: { axes: ["b", "t", "d"], type: "hidden" }, now, all: [0, 1].map((p) => picture(numbers, now, p)), ...more }, { hover: null, at });
  const all = axes(["b", 2], ["t", 3], ["d", 2]);
  const cell = { panel: 0, row: 1, column: 1 };
  assert.equal(told(layout(all), cell), "t 1 le, model width 1: 4.0000 ◉");
  assert.equal(told(layout(all, { index: { b: 1 } }), cell), "t 1 un, model width 1: 10.00 ◉");
  assert.equal(told(layout(all, { panels: "b" }), { ...cell, panel: 1 }), "request 1, t 1 un, model width 1: 10.00 ◉");
  assert.match(told(layout(all, { rows: "b", columns: "t", panels: "d" }), cell), /^model width 0, request 1, target row 1: 9\.0000/);
  assert.deepEqual([told(layout(all), null), told(layout(all), cell, { all: [] })], ["Point at a cell, or press the arrow keys.", "not computed at this moment"]);
  assert.match(told({ ...layout(all), bin: 2 }, { panel: 0, row: 1, column: 0 }), /^target row 2–2, model width 0–1: /, "squares, the last one cut");
});

test("a scale stands for one tensor of one model until it is fitted", () => {
  const scales = new Scales();
  const w = (architecture) => world({ opened: { scenario: { architecture } } });
  const of = (w, name, max) => scales.of(w, name, max === null ? null : { max, diverging: false }).max;
  assert.deepEqual([of(w("a"), "x", null), of(w("a"), "x", 2), of(w("a"), "x", 5), of(w("a"), "y", 7)], [1, 2, 2, 7]);
  scales.fit("x");
  assert.deepEqual([of(w("a"), "x", 5), of(w("b"), "x", 3), of(w("a"), "y", 4)], [5, 3, 4]);
});

test("only what is shown is watched", () => {
  const paths = (view, w) => view.wants(w).map((s) => s.path.split(".").at(-1));
  assert.deepEqual(paths(read, world()), ["weights", "scores", "v", "mixed", "q", "k"]);
  assert.deepEqual([paths(values, world()), paths(read, world({}, { path: "logits" }))], [[], []]);
  assert.deepEqual(values.wants(world({}, { path: "logits" })), [{ path: "logits", side: "value", index: {}, dtype: "f32" }]);
  assert.equal(values.wants(training({ parameter_norms: [] }, { path: "logits", side: "gradient" }))[0].side, "gradient");
});

test("the shown tensor is a table, whole", () => {
  const w = world({ values: (view) => (view === "inspector_values" ? [known("logits", "b t v", [[[1, NaN], [3, 4]]])] : []) }, { path: "logits" });
  const { columns, rows } = inspector.table(w);
  assert.equal(columns.at(-1), "value logits");
  assert.equal(rows.length, 4);
  assert.deepEqual(rows.at(-1).slice(-3), [1, 1, 4]);
});

test("taps are found by path, type and axes, and stand in a tree", () => {
  const find = (query) => search(taps, query).map((t) => t.path);
  assert.deepEqual(find("layer1 mask"), ["decoder.layer1.cross.mask"]);
  assert.deepEqual(find("cross v"), ["decoder.layer1.cross.v"]);
  assert.deepEqual(find("t'"), ["decoder.layer0.self.scores", "decoder.layer0.self.weights"]);
  assert.deepEqual(find("vocabulary"), ["logits"]);
  assert.equal(find("  ").length, taps.length);
  const tree = lines(taps, new Set(["decoder"]));
  assert.deepEqual(tree.map((l) => [l.name, l.level, l.count]), [["decoder", 0, 16], ["layer1", 1, 8], ["embedding", 1, 1], ["layer0", 1, 7], ["logits", 0, 0], ["parameter", 0, 1]]);
  assert.deepEqual(lines(search(taps, "mask"), new Set(), true).map((l) => l.name), ["decoder", "layer1", "cross", "mask"]);
  assert.deepEqual(waysTo("a.b.c"), ["a", "a.b"]);
});

test("two thousand taps make few lines quickly", () => {
  const many = Array.from({ length: 2000 }, (_, i) => ({ path: `stack.layer${i % 50}.part${i}`, axes: ["b", "t", "d"], type: "hidden" }));
  assert.equal(lines(many, new Set(["stack"])).length, 51);
  assert.equal(search(many, "layer7 part").length, 40);
});

test("a score is told as a product only if it is one", () => {
  assert.deepEqual(product([1, 2, 3, 4], [1, 1, 1, 1], 5), { terms: [1, 2, 3, 4], dot: 10, divisor: 2, root: 4 });
  assert.equal(product([1, 2, 3, 4], [1, 1, 1, 1], 10).root, null);
  assert.equal(product([1, 2, 3, 4], [1, 1, 1, 1], 7), null, "something else is added");
  assert.equal(product([], [], 0), null);
});

test("weights times values are added up again", () => {
  const values = known("v", "b h s e", [[[[1, 0], [0, 2]]]]);
  const at = (key) => vectorAt(values, 0, 0, key);
  assert.deepEqual(at(1), [0, 2]);
  assert.deepEqual(mixtureError((k) => [0.5, 0.5][k], at, [0.5, 1], 2), { off: 0, factor: 1 });
  assert.deepEqual(mixtureError((k) => [0.5, 0.5][k], at, [0.5, 0.75], 2), { off: 0.25, factor: 1 });
  assert.deepEqual(mixtureError((k) => [0.5, 0.5][k], at, [1, 2], 2), { off: 0, factor: 2 }, "a context that grows with the root of its rows");
});

const push = { moment: 3, parameter: "W", request: 0, update: 4, by: "application", others: 0.1, whole: 1, rows: [0.2, 0.4, 0.1].map((norm, i) => ({ owner: "t", row: i, norm })) };
const pushing = (more = {}, look = {}) => {
  const w = training({ parameter_norms: [["W", 1]] }, { path: "parameter.W", ...look });
  w.history.set(3, node(3, 2, "train", 3));
  return { ...w, analysis: { row_contributions: { progress: 1, result: { ...push, ...more } } } };
};

test("contributions hold for their own parameter, sequence and update, as long as only steps follow", () => {
  assert.equal(contributions(pushing()).whole, 1);
  assert.equal(contributions(pushing({ update: 3 })), null);
  assert.equal(contributions(pushing({}, { request: 1 })), null);
  assert.equal(contributions(pushing({}, { path: "parameter.V" })), null);
  const later = pushing({ moment: 2 });
  assert.equal(contributions(later).whole, 1);
  later.history.set(3, node(3, 2, "train", 3, { command: "change" }));
  assert.equal(contributions(later), null);
});

test("the rows that pushed most are listed in their order", () => {
  const { lines: all, others } = pushes(pushing(), push, 2);
  assert.deepEqual([all.map((l) => [l.row, l.token, l.share]), others], [[[0, "<bos>", 0.5], [1, "le", 1]], 1]);
});

test("what comes next follows the stages", () => {
  const at = (stage, train = {}) => {
    const w = training(train);
    w.moved.stages = ["batch", "forward", "loss", "backward", "clip", "update"].map((name, i, all) => ({ name, ms: i < all.indexOf(stage) ? 1 : null, rows: 0, ops: [] }));
    return nextSaid(w, w.moved.train, 1, "sgd", 0.1);
  };
  assert.match(at("forward"), /forward/);
  assert.match(at("clip", { parameter_norms: [["W", 3], ["V", 4]] }), /above 1/);
  assert.match(at("clip", { parameter_norms: [["W", 0.3]] }), /within 1/);
  assert.equal(at("update"), "Next: update. SGD moves every parameter, learning rate 0.1.");
});

test("before the first update what comes next takes the one line that it has later", () => {
  const w = training();
  assert.equal(ahead(w, w.moved.train, "within 1", "Next."), "Within 1. Next.");
  w.moved = { ...w.moved, stage: "" };
  assert.equal(ahead(w, null, "after backward", "Next."), "Next.");
});

test("in a prefill the last valid row decides, not the last slot", () => {
  const short = request({ target: [row("<bos>"), row("<pad>", "padded")] });
  const w = world({ moved: { ...world().moved, phase: "prefill", requests: [short, request()] } });
  assert.deepEqual(deciding(w).map((l) => [l.length, l.row, l.token, l.slot, l.padded]), [[1, 0, "<bos>", 1, true], [3, 2, "chat", 2, false]]);
});

const check = (status, more = {}) => ({ id: "rows_sum", claim: "rows sum to 1", status, measured: "6e-8", provenance: "measured", reason: "", place: {}, ...more });

test("checks are summed up, say why they do not apply, and lead to where they fail", () => {
  assert.equal(checksSummary([]), "after the next step");
  assert.equal(checksSummary([check("pass"), check("fail")]), "1 of 2 fails");
  assert.equal(measured(check("does_not_apply", { reason: "no weights" })), "no weights");
  assert.match(details(check("does_not_apply", { reason: "no weights" })).join(" "), /^Does not apply: no weights\. Every row/);
  const to = destination({ path: "decoder.layer1.cross.weights", request: 0, head: 1, row: 2 }, world().opened.relations);
  assert.deepEqual([to.relation, to.layer, to.head, to.lock, to.path], ["cross", 1, 1, { row: 2, key: 0 }, null]);
  assert.deepEqual(destination({ path: "logits" }, world().opened.relations), { path: "logits" });
  assert.equal(checks.table(world({ checked: { checks: [check("pass")] } })).rows[0][2], "pass");
});

test("a vector, such as a bias, has its numbers, and so has a single number", () => {
  const bias = new Block("parameter.W.bias", "value", ["out"], 0);
  bias.put({ shape: [3], data: Float32Array.of(1, 2, 3) }, [0]);
  const drawn = picture(bias, layout([{ axis: "out", size: 3 }]), 0);
  assert.deepEqual([drawn.rows, drawn.columns, [0, 1, 2].map((c) => drawn.at(0, c)), drawn.unknown(0, 0)], [1, 3, [1, 2, 3], false]);
  const one = new Block("loss", "value", [], 0);
  one.put({ shape: [], data: Float32Array.of(5) }, []);
  assert.equal(picture(one, layout([]), 0).at(0, 0), 5);
});
