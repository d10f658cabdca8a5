import assert from "node:assert/strict";
import test from "node:test";

import { answered, label, objective, otherRows, saidAt, saying, title, writes } from "../../../assets/lib/answers.mjs";
import { steps } from "../../../assets/lib/deck/blocks.mjs";
import * as read from "../../../assets/lib/reads.mjs";
import { places } from "../../../assets/lib/read/ribbons.mjs";
import { lossSum } from "../../../assets/lib/training/batches.mjs";

const row = (token) => ({ token, id: 1, state: "known", origin: "person", text: null });
/** A world of two masks over three words; the second mask is surer than the first. */
const world = (more = {}) => ({
  look: { request: 0, relation: "self", layer: 0, head: 0, lock: null, op: null },
  history: new Map(),
  opened: {
    task: { objective: "masked", rows: {} }, scenario: { phase: "prefill", requests: [{ source: [], target: ["German"] }] },
    vocabulary: { source: ["a", "b", "c"], target: ["a", "b", "c"] }, relations: [{ name: "self", query: "s", key: "s", layers: 1, heads: 1, masks: [] }],
  },
  moved: {
    phase: "prefill", step: 1, stages: [], sizes: {},
    requests: [{
      source: [row("x"), row("<mask>"), row("<mask>")], target: [], finished: "", decision_row: 1, choice: 2, candidates: [], output: ["c", "b"],
      answers: [[1, 2], [2, 1]], logits: [0, 0, Math.log(2), 0, Math.log(8), 0], unedited: null,
    }],
  },
  ...more,
});

test("the first mask is looked at, and another one when its row is locked", () => {
  const one = world();
  assert.equal(objective(one), "masked");
  assert.ok(!writes(one) && saying(one) === "s" && title(one) === "Token at this mask");
  const first = read.requestView(one);
  assert.deepEqual([first.decision_row, read.choice(first).token, read.choice(first).probability.toFixed(3)], [1, "c", "0.500"]);
  const locked = read.requestView({ ...one, look: { ...one.look, lock: { row: 2, key: 0 } } });
  assert.deepEqual([locked.decision_row, read.choice(locked).token, read.choice(locked).probability.toFixed(3)], [2, "b", "0.800"]);
  assert.equal(answered(one, one.moved.requests[0]), first, "the same view while nothing changes");
});

test("a masked row says its own word, other rows say nothing, and no row follows the last", () => {
  const one = world();
  assert.deepEqual([0, 1, 2].map((i) => read.decides(one, "s", i)), ["", "c", "b"]);
  assert.equal(saidAt(one, one.moved.requests[0], 0), "");
  assert.equal(read.newest(one, "s"), 1);
  assert.deepEqual(places(one, "s").map((p) => p.kind), ["known", "known", "known"]);
});

test("of frames the first that is no blank is looked at", () => {
  const one = world();
  one.opened.task.objective = "ctc";
  one.moved.requests[0].answers = [[0, 0], [1, 2]];
  assert.equal(read.requestView(one).decision_row, 1);
});

test("hops have rows of their own, and the class comes after them", () => {
  const one = world();
  Object.assign(one.opened.task, { objective: "class", rows: { r: 2 } });
  one.moved.requests[0] = { ...one.moved.requests[0], answers: [[null, 1]], logits: [0, 1, 0], choice: 1, decision_row: null, candidates: [{ id: 1, token: "b", probability: 0.6 }] };
  assert.deepEqual(otherRows(one, "r").map((r) => r.state), ["unknown", "unknown"]);
  one.moved.sizes.r = 2;
  assert.deepEqual(places(one, "r").map((p) => `${p.token} ${p.kind}`), ["hop1 known", "hop2 known", "b next"]);
  assert.equal(label(one, 0), "German");
});

test("the whole input is one block, and no step follows it", () => {
  const kinds = steps(world(), [], 5).map((b) => `${b.kind} ${b.title}`);
  assert.deepEqual(kinds, ["prefill Whole input"]);
});

test("a penalty stands beside the mean of the rows", () => {
  const train = { rows: [[{ counts: true }], [{ counts: true }]], loss: 3.5, penalties: [["penalty", 1.5]] };
  assert.equal(lossSum(train), "4.00 / 2 rows = 2.000; + penalty 1.500 = 3.500");
});
