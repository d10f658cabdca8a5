import assert from "node:assert/strict";
import test from "node:test";

import { laid, settle, shares, stages, steps, timed } from "../../../assets/lib/deck/blocks.mjs";
import { line, pass } from "../../../assets/lib/deck/moments.mjs";
import { node, request, row, training, world } from "../views/world.mjs";

const tree = (...nodes) => new Map(nodes.map((n) => [n.id, n]));
const blocks = (w, places = 0) => steps(w, pass(line(w.history, w.moved.at)), places);
const without = (w) => ({ ...w, opened: { ...w.opened, vocabulary: { source: null, target: [] } } });

test("the source once, the prompt in one call, one place a token, free places", () => {
  const found = blocks(world(), 5);
  assert.deepEqual(found.map((b) => [b.kind, b.title || b.token, b.state, b.size]), [
    ["encode", "Encode source", "done", 3], ["prefill", "Prefill", "done", 1], ["decode", "le", "done", 1], ["decode", "chat", "now", 1], ["decode", "", "todo", 1], ["decode", "", "todo", 1], ["decode", "", "todo", 1],
  ]);
  assert.deepEqual([found[0].note, found[1].note], ["3 rows, once", "1 row, one call"]);
  assert.equal(blocks(without(world())).some((b) => b.kind === "encode"), false, "no source, no encoding");
});

test("two requests say their rows as a product", () => {
  const w = world();
  w.moved = { ...w.moved, requests: [request(), request({ target: [row("<bos>", "known", "special"), row("un"), row("<pad>", "padded", "special")] })] };
  assert.deepEqual(blocks(w).slice(0, 2).map((b) => b.note), ["2 × 3 rows, once", "2 × 3 rows, one call"]);
});

test("a request that joins or leaves is a block of its own, after its step", () => {
  const w = world();
  w.history.set(3, node(3, 2, "decode", 2, { command: "join", label: "1" }));
  w.history.set(4, node(4, 3, "decode", 2, { command: "leave", label: "0" }));
  w.history.set(5, node(5, 4, "decode", 3, { label: "un" }));
  const came = request({ target: [row("<bos>", "known", "special"), row("un", "new")], joined: 2, left: null });
  w.moved = { ...w.moved, at: 4, requests: [request({ joined: null, left: 2, finished: "left" }), came] };
  const found = blocks(w);
  assert.deepEqual(found.slice(1, 6).map((b) => [b.kind, b.title || b.token, b.note, b.state]), [
    ["prefill", "Prefill", "1 row, one call", "done"], ["decode", "le", "", "done"], ["decode", "chat", "", "done"], ["join", "B joins", "prefill of 2 rows", "done"], ["leave", "A leaves", "its rows are freed", "now"],
  ]);
  const [narrow, wide] = [blocks(world()), found].map((b) => laid(b, 700).blocks.find((x) => x.kind === "decode").width);
  assert.equal(narrow, wide, "a turn changes no other width");
  w.history = new Map([[0, node(0, null, "decode", 0, { command: "open" })], [1, node(1, 0, "decode", 0, { command: "join", label: "1" })]]);
  w.moved = { ...w.moved, at: 1, step: 0 };
  assert.deepEqual(blocks(w).slice(0, 3).map((b) => [b.kind, b.state]), [["encode", "done"], ["prefill", "done"], ["join", "now"]], "before the first step it belongs to the same pass");
});

test("entered as prefill the start and the encoding are places of their own", () => {
  const w = world();
  w.history = tree(node(0, null, "prefill", 0, { command: "enter" }), node(1, 0, "prefill", 0, { stage: "encode" }), node(2, 1, "prefill", 1));
  const at = (id, more) => {
    w.moved = { ...w.moved, at: id, phase: "prefill", ...more };
    return blocks(w).slice(0, 3).map((b) => [b.kind, b.node, b.state]);
  };
  assert.deepEqual(at(0, { step: 0 }), [["start", 0, "now"], ["encode", 1, "ahead"], ["prefill", 2, "ahead"]]);
  assert.deepEqual(at(1, { step: 0, stage: "encode" }), [["start", 0, "done"], ["encode", 1, "now"], ["prefill", 2, "ahead"]]);
  assert.deepEqual(at(2, { step: 1, stage: "" }), [["start", 0, "done"], ["encode", 1, "done"], ["prefill", 2, "now"]]);
});

test("a token that is chosen and not read stands at its own place", () => {
  const w = world();
  w.history.set(3, node(3, 2, "decode", 2, { stage: "choose", label: "noir" }));
  w.moved = { ...w.moved, at: 3, stage: "choose" };
  assert.deepEqual(blocks(w).slice(-3).map((b) => [b.key, b.token, b.state, b.note]), [["d3", "noir", "now", "not read yet"], ["d4", "", "todo", ""], ["d5", "", "todo", ""]]);
});

test("after the end nothing is free", () => {
  const w = world();
  w.moved = { ...w.moved, ended: true };
  assert.deepEqual(blocks(w, 4).map((b) => b.state), ["done", "done", "done", "now", "never", "never"]);
});

test("a branch is marked where it leaves, the way to an earlier pass at the first block", () => {
  const w = world();
  w.history.set(3, node(3, 1, "decode", 2, { label: "chien", command: "choose" }));
  assert.deepEqual(blocks(w).slice(0, 4).map((b) => b.others.map((n) => n.id)), [[], [], [], [3]]);
  w.history = tree(node(0, null, "decode", 0, { command: "open" }), node(1, 0, "decode", 1), node(2, 1, "prefill", 0, { command: "enter" }));
  w.moved = { ...w.moved, at: 2, phase: "prefill", step: 0 };
  assert.equal(blocks(w)[0].earlier, 1);
});

test("a free step can be stopped at too", () => {
  const w = world();
  assert.deepEqual(blocks(w).at(-1).stop, { kind: "step", phase: "decode", step: 4 });
});

test("widths do not depend on how many steps were taken", () => {
  const w = world();
  const widths = (more) => laid(blocks({ ...w, ...more }, 7), 806).blocks.map((b) => [b.left, b.width]).slice(0, 9);
  const [few, many] = [widths({}), widths({ history: tree(...w.history.values(), ...Array.from({ length: 20 }, (_, i) => node(i + 3, i + 2, "decode", i + 3))) })];
  assert.deepEqual(few, many);
  const [encode, prefill, decode] = [few[0][1], few[1][1], few[2][1]];
  assert.ok(encode > 2.8 * decode && encode < 3.2 * decode, "three rows are three times as wide as one step");
  assert.ok(prefill > decode);
  assert.ok(few.at(-1)[0] + few.at(-1)[1] <= 806);
});

const timedStages = (...done) => ["batch", "forward", "loss", "backward", "clip", "update"].map((name, i) => ({ name, ms: done[i] ?? null, rows: 0, ops: [] }));

test("stages of an update: done, now, to do; each that is a moment can be gone to", () => {
  const w = training();
  w.history = tree(node(0, null, "train", 3, { command: "enter" }), node(1, 0, "train", 3, { stage: "batch" }), node(2, 1, "train", 3, { stage: "forward" }));
  w.moved = { ...w.moved, at: 2, stage: "forward", stages: timedStages(0.4, 5.1) };
  const found = stages(w);
  assert.deepEqual(found.map((b) => [b.title, b.state, b.node]).slice(0, 3), [["Batch", "done", 1], ["Forward", "now", 2], ["Loss", "todo", null]]);
  assert.deepEqual(found[1].stop, { kind: "stage", phase: "train", stage: "forward" });
});

test("after ten updates the widths of stages stay, until the run is reset; inside an update they do not move", () => {
  const w = training();
  let held = { moments: 0, updates: [], sums: [] };
  const run = (update, ...ms) => {
    w.moved = { ...w.moved, train: { ...w.moved.train, update }, stages: timedStages(...ms) };
    held = settle(held, w);
    return stages(w, undefined, held).map((b) => b.size);
  };
  assert.deepEqual(run(1, 1, 2), [0, 0, 0, 0, 0, 0], "nothing is known of the others");
  for (let update = 1; update <= 10; update++) run(update, 1, update, 1, 1, 1, 1);
  assert.deepEqual(run(11, 9, 9, 9, 9, 9, 9), [1, 5.5, 1, 1, 1, 1]);
  assert.deepEqual(run(12, 9), [1, 5.5, 1, 1, 1, 1]);
  w.history = new Map([...w.history].slice(0, 1));
  assert.deepEqual(run(1, 9, 9, 9, 9, 9, 9), [9, 9, 9, 9, 9, 9]);
});

test("room is shared in proportion, and nobody gets less than the least", () => {
  assert.deepEqual(shares([0, 0, 0], 300, 60), [100, 100, 100]);
  assert.deepEqual(shares([1, 1, 8], 300, 60), [60, 60, 180]);
  assert.deepEqual(shares([0.1, 5, 4.9], 306, 60).map(Math.round), [60, 124, 122]);
  const w = training();
  w.moved = { ...w.moved, stages: timedStages(1, 1, 1, 1, 1, 1) };
  const placed = timed(stages(w), 806);
  assert.ok(Math.abs(placed.blocks.at(-1).left + placed.blocks.at(-1).width - 806) < 1e-6);
});
