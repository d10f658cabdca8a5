import assert from "node:assert/strict";
import test from "node:test";

import { callName, lookAt, lookAway, operations, seen } from "../../../assets/lib/deck/ops.mjs";
import { underEachOther } from "../../../assets/lib/deck/blocks.mjs";
import { lineEnd } from "../../../assets/lib/deck/moments.mjs";
import view, { spoken } from "../../../assets/views/track.mjs";
import { node, world } from "./world.mjs";

test("before the operations stands the step that they are inside, or why there are none", () => {
  const said = (more, stages = []) => callName(world({ moved: { ...world().moved, stages, ...more } }));
  const read = [{ name: "read", ms: 2, rows: 1, ops: ["a"] }];
  assert.equal(callName(world()), "Inside decode 2");
  assert.equal(said({ ended: true }, read), "Decode 2: no new row");
  assert.equal(said({ stage: "choose" }), "Decode 2: chosen, not read");
  assert.equal(said({ step: 0, phase: "prefill" }), "Prefill: not run yet");
  assert.equal(said({ step: 1, phase: "prefill" }, read), "Inside prefill");
});

test("a block is named by what stands in it and whether it can be gone to", () => {
  const block = (more) => spoken({ title: "Forward", token: "", node: null, state: "done", ...more });
  assert.deepEqual([block({}), block({ node: 3 }), block({ state: "now" }), block({ state: "todo", title: "" })], [["", ", done inside one step"], ["Go to ", ""], ["Here: ", ""], ["free", ", not run yet"]]);
});

test("operations of a step, and what choosing one makes the page look at", () => {
  const w = world();
  assert.deepEqual(operations(w).map((o) => o.name), ["embedding", "L1 self", "L2 cross", "decoder", "logits"]);
  assert.deepEqual(lookAt(w, "decoder.layer0.self"), { op: "decoder.layer0.self", relation: "target_self", layer: 0, path: null });
  assert.deepEqual(lookAt(w, "decoder.embedding"), { op: "decoder.embedding", path: "decoder.embedding.sum" });
  assert.deepEqual(lookAt(w, "logits"), { op: "logits", path: "logits" });
});

test("the cursor takes with it what it alone made the page look at", () => {
  assert.deepEqual(lookAway(world({}, { op: "decoder.embedding", path: "decoder.embedding.sum" })), { op: null, path: null });
  assert.deepEqual(lookAway(world({}, { op: "decoder.embedding", path: "logits" })), { op: null });
});

test("the view mark stands on the operation that the page looks at, with and without a cursor", () => {
  const all = operations(world()).map((o) => o.path);
  assert.equal(seen(world(), all), "decoder.layer1.cross");
  assert.equal(seen(world({}, { path: "decoder.layer0.self.scores" }), all), "decoder.layer0.self");
  assert.equal(seen(world({}, { layer: 0 }), all), null, "this step did not run it");
});

test("the followed line is left when the run goes elsewhere", () => {
  const w = world();
  w.history.set(3, node(3, 1, "decode", 2));
  assert.equal(lineEnd(w, undefined), 2);
  assert.equal(lineEnd({ ...w, moved: { ...w.moved, at: 1 } }, 2), 2);
  assert.equal(lineEnd({ ...w, moved: { ...w.moved, at: 3 } }, 2), 3);
  assert.equal(lineEnd({ ...w, moved: { ...w.moved, at: 1 } }, 99), 3, "a run begun anew has other moments");
});

test("as a table: every moment", () => {
  const found = view.table(world());
  assert.deepEqual(found.columns.slice(0, 3), ["moment", "parent", "phase"]);
  assert.deepEqual(found.rows[2], [2, 1, "decode", 2, "", "chat", ""]);
});

test("tokens of several requests stand under each other, as many as there is room for", () => {
  assert.equal(underEachOther("le·merci", 2), "le\nmerci");
  assert.equal(underEachOther("a·b·c·d·e", 5), "a\nb\n+3");
  assert.equal(underEachOther("a·b", 1), "a·b"); // one request's own token
});
