import assert from "node:assert/strict";
import test from "node:test";

import { branches, callName, earlier, lookAt, operations, pass, path, settle, spoken, stages, steps } from "../../../assets/views/track.mjs";
import { node, training, world } from "./world.mjs";

const tree = (...nodes) => new Map(nodes.map((n) => [n.id, n]));
const start = node(0, null, "prefill", 0, { command: "open" });

test("the path goes through a moment, and on along what was done last", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1), node(3, 2, "decode", 2), node(4, 2, "decode", 2), node(5, 4, "decode", 3));
  assert.deepEqual(path(history, 1).map((n) => n.id), [0, 1, 2, 4, 5]);
  assert.deepEqual(path(history, 3).map((n) => n.id), [0, 1, 2, 3]);
  assert.deepEqual(branches(history, history.get(4)), [3]);
  assert.deepEqual(branches(history, start), []);
});

test("stages inside a step are one place, and edits of a step too", () => {
  const history = tree(start, node(1, 0, "prefill", 0, { stage: "encode" }), node(2, 1, "prefill", 1), node(3, 2, "prefill", 1, { command: "change" }), node(4, 3, "decode", 1));
  assert.deepEqual(pass(history, 4).map((b) => [b.node.id, b.all.length, b.state]), [[0, 1, "done"], [3, 2, "done"], [4, 1, "now"]]);
  assert.deepEqual(pass(history, 1).map((b) => [b.node.id, b.state]), [[0, "done"], [1, "now"], [3, "ahead"], [4, "ahead"]]);
  assert.deepEqual(pass(history, 2).map((b) => [b.node.id, b.state]), [[0, "done"], [2, "now"], [4, "ahead"]]);
});

test("a pass begins where its phase was entered and ends where it is entered again", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "train", 0, { command: "enter" }), node(3, 2, "train", 1), node(4, 3, "decode", 0, { command: "enter" }), node(5, 4, "decode", 1));
  assert.deepEqual(pass(history, 5).map((b) => b.node.id), [4, 5]);
  assert.deepEqual(pass(history, 1).map((b) => b.node.id), [0, 1]);
});

test("another text begins the line anew, with the way back to the earlier one", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1), node(3, 2, "prefill", 0, { command: "change" }), node(4, 3, "prefill", 1), node(5, 4, "prefill", 0, { command: "undo" }));
  assert.deepEqual(pass(history, 4).map((b) => [b.node.id, b.edits]), [[3, 0], [4, 0]]);
  assert.deepEqual(pass(history, 2).map((b) => b.node.id), [0, 1, 2]);
  assert.deepEqual([earlier(history, history.get(3)), earlier(history, start)], [2, null]);
  assert.deepEqual(pass(history, 5).map((b) => [b.node.id, b.edits]), [[5, 0]]);
  const w = world({ history, moved: { ...world().moved, at: 4, phase: "prefill", step: 1 } });
  assert.deepEqual(steps(w, 0).map((b) => b.earlier), [2, null]);
});

test("an edit marks its step until it is taken back", () => {
  const edited = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1), node(3, 2, "decode", 1, { command: "change" }));
  assert.deepEqual(pass(edited, 3).map((b) => b.edits), [0, 0, 1]);
  assert.deepEqual(pass(edited, 2).map((b) => b.edits), [0, 0, 0]);
  edited.set(4, node(4, 3, "decode", 1, { command: "undo" }));
  assert.deepEqual(pass(edited, 4).map((b) => [b.node.id, b.edits]), [[0, 0], [1, 0], [4, 0]]);
  const first = tree(start, node(1, 0, "prefill", 0, { command: "change" }));
  assert.deepEqual(pass(first, 1).map((b) => [b.node.id, b.edits]), [[1, 1]]);
});

test("a step says how many rows its call had", () => {
  const said = (more, stages = []) => callName(world({ moved: { ...world().moved, stages, ...more } }));
  const read = (rows) => [{ name: "read", ms: 2, rows, ops: [] }];
  assert.equal(callName(world()), "Decode 2: 1 new row");
  assert.equal(said({ ended: true }, read(1)), "Decode 2: no new row");
  assert.equal(said({ stage: "choose" }), "Decode 2: chosen, not read");
  assert.equal(said({ step: 0 }), "Decode 0: the prompt is read");
  assert.equal(said({ step: 0, phase: "prefill" }), "Prefill: not run yet");
  assert.equal(said({ step: 1, phase: "prefill" }, read(5)), "Prefill: 5 rows in one call");
});

test("a block is named by what stands in it and whether it can be gone to", () => {
  const block = (more) => spoken({ title: "Forward", token: "", node: null, state: "done", ...more });
  assert.deepEqual([block({}), block({ node: 3 }), block({ state: "now" }), block({ state: "todo", title: "" })], [["", ", done inside one step"], ["Go to ", ""], ["Here: ", ""], ["free", ", not run yet"]]);
});

test("blocks: a wide prefill, one place a token, free places until the end", () => {
  const w = world();
  const blocks = steps(w, 2);
  assert.deepEqual(blocks.map((b) => [b.title || b.token, b.state]), [["Prefill", "done"], ["le", "done"], ["chat", "now"], ["", "todo"], ["", "todo"]]);
  assert.ok(blocks[0].grow > blocks[1].grow);
  assert.equal(steps({ ...w, moved: { ...w.moved, ended: true } }).length, 3);
});

test("a branch is marked where it leaves", () => {
  const w = world();
  w.history.set(3, node(3, 1, "decode", 2, { label: "chien", command: "choose" }));
  assert.deepEqual(steps(w, 0).map((b) => b.others), [[], [], [3]]);
});

const timed = (...done) => ["batch", "forward", "loss", "backward", "clip", "update"].map((name, i) => ({ name, ms: done[i] ?? null, rows: 0, ops: [] }));

test("stages of an update: measured, the last one done is now, those without a moment cannot be gone to", () => {
  const w = training();
  w.history = tree(node(0, null, "train", 3, { command: "enter" }), node(1, 0, "train", 3, { stage: "batch" }), node(3, 1, "train", 3, { stage: "forward" }));
  w.moved.stages = timed(0.4, 5.1);
  assert.deepEqual(stages(w).map((b) => [b.title, b.note, b.state, b.node]), [
    ["Batch", "0.40 ms", "done", 1], ["Forward", "5.1 ms", "now", 3], ["Loss", "", "todo", null], ["Backward", "", "todo", null], ["Clip", "", "todo", null], ["Update", "", "todo", null],
  ]);
});

test("a whole update has its end as a moment", () => {
  const w = training();
  w.history = tree(node(0, null, "train", 3, { command: "enter" }), node(3, 0, "train", 4));
  w.moved.stages = timed(1, 1, 1, 1, 1, 1);
  assert.deepEqual(stages(w).map((b) => b.node), [null, null, null, null, null, 3]);
  assert.equal(stages(w).at(-1).state, "now");
});

test("after ten updates the widths of stages stay, until the run is reset", () => {
  const w = training();
  let held = { moments: 0, updates: [], sums: [] };
  const run = (update, ...ms) => {
    w.moved = { ...w.moved, train: { ...w.moved.train, update }, stages: timed(...ms) };
    held = settle(held, w);
    return stages(w, held).map((b) => b.grow);
  };
  assert.deepEqual(run(1, 1, 2), [1, 2, 0, 0, 0, 0]);
  assert.equal(held.updates.length, 0);
  for (let update = 1; update <= 10; update++) run(update, 1, update, 1, 1, 1, 1);
  assert.deepEqual(run(11, 9, 9, 9, 9, 9, 9), [1, 5.5, 1, 1, 1, 1]);
  w.history = new Map([...w.history].slice(0, 1));
  assert.deepEqual(run(1, 9, 9, 9, 9, 9, 9), [9, 9, 9, 9, 9, 9]);
});

test("operations of a step, and what choosing one makes the page look at", () => {
  const w = world();
  assert.deepEqual(operations(w).map((o) => o.name), ["embedding", "L1 self", "L2 cross", "decoder", "logits"]);
  assert.deepEqual(lookAt(w, "decoder.layer0.self"), { op: "decoder.layer0.self", relation: "target_self", layer: 0, path: null });
  assert.deepEqual(lookAt(w, "decoder.embedding"), { op: "decoder.embedding", path: "decoder.embedding.sum" });
  assert.deepEqual(lookAt(w, "logits"), { op: "logits", path: "logits" });
});
