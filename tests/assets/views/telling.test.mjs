/** What the views say in words: the sentence, the decision, checks, memory. */

import assert from "node:assert/strict";
import test from "node:test";

import { destination, measured, summary } from "../../../assets/views/checks.mjs";
import { bankNote, banks, total } from "../../../assets/views/memory.mjs";
import { distribution, outcome, policyName, whole } from "../../../assets/views/next.mjs";
import { keyReads, places } from "../../../assets/views/read.mjs";
import { layout } from "../../../assets/lib/strips.mjs";
import { note, offerName, place, sentence, weightsNote } from "../../../assets/views/sentence.mjs";
import * as read from "../../../assets/lib/reads.mjs";
import { candidate, request, row, training, world } from "./world.mjs";

const none = () => NaN;
const weight = (r, k) => (r === 2 ? [0.1, 0.85, 0.05][k] : r === 1 ? [0.3, 0.3, 0.4][k] : NaN);
const said = (w, weights = weight, now = 0) => sentence(w, weights, now).parts.map((p) => p.text).join("");
const at = (more) => ({ ...world().moved, ...more });

test("the sentence says who read whom, and what leads", () => {
  assert.equal(said(world()), "Layer 2 head 1: target row 2 chat takes 85% from black; noir leads at 0.800.");
  assert.equal(said(world({}, { lock: { row: 1, key: 0 } })), "Layer 2 head 1: target row 1 le takes 30% from the; noir leads at 0.800.");
  assert.equal(said(world({}, { relation: "target_self" }), (r, k) => [0.1, 0.1, 0.8][k]), "Layer 2 head 1: target row 2 chat takes 80% from chat, itself; noir leads at 0.800.");
});

test("without recorded weights it says what is known", () => {
  assert.equal(said(world(), none), "Decode 2: noir leads at 0.800.");
  const view = request({ candidates: [], choice: null, decision_row: null });
  assert.equal(said(world({ moved: at({ requests: [view] }) }), none), "Decode 2: nothing is computed yet. Step reads the known rows.");
});

test("a distribution that cannot be read is named, with the way back", () => {
  const w = world({ moved: at({ unreadable: "decoder.embedding.token", ended: true, requests: [request({ candidates: [], choice: null })] }) });
  assert.equal(said(w, none), "There is no distribution to choose from: decoder.embedding.token is not finite. Go back, or take the edit back.");
  assert.deepEqual(note(w).offer, { kind: "back" });
});

test("while a run is replayed, nothing is said of where it stands", () => {
  const replay = { name: "replay", progress: 0.4, result: null };
  assert.equal(said(world({ analysis: { replay }, busy: true })), "Replaying … 40 %");
  assert.equal(said(world({ analysis: { replay }, moved: null })), "Replaying … 40 %");
  assert.match(said(world({ analysis: { replay: { ...replay, progress: 1 } }, busy: true })), /^Layer 2/);
});

test("at the op cursor nothing is said of what comes after it", () => {
  const self = world({}, { op: "decoder.layer0.self" });
  assert.equal(said(self, (r, k) => [0.1, 0.1, 0.8][k]), "Layer 1 head 1: target row 2 chat takes 80% from chat, itself.");
  assert.equal(said(world({}, { op: "decoder.embedding" }), none), "Decode 2: embedding is computed, operation 1 of 5.");
  assert.match(said(world({}, { op: "logits" })), /noir leads at 0.800/);
  assert.deepEqual(distribution(read.requestView(self), 20, {}).candidates, []);
  assert.deepEqual(places(self, "t").map((p) => p.kind), ["known", "known", "new", "unknown"]);
  const value = read.told(self, self.opened.relations[2], 1, () => 0.5);
  assert.deepEqual([value(1, 0), value(2, 0)], [0.5, NaN]);
});

test("a token that is chosen and not read yet is named", () => {
  const view = request({ candidates: [], choice: null, decision_row: null, target: [row("<bos>"), row("le", "unknown", "model")] });
  assert.equal(said(world({ moved: at({ stage: "choose", requests: [view] }) }), none), "Decode 2: le is chosen. Step reads its row.");
});

test("the end is told with the probability of the whole output", () => {
  const target = [row("<bos>", "known", "special"), row("le", "known", "model"), row("<eos>", "unknown", "model")];
  const moved = (finished) => at({ ended: true, requests: [request({ finished, target, candidates: [], choice: null, decision_row: null })] });
  assert.equal(said(world({ moved: moved("eos") })), "Finished: le <eos>; probability of it all 0.500.");
  assert.match(said(world({ moved: moved("limit") })), /^Stopped at the limit: le/);
});

test("prefill of a batch: each request is decided by its last valid row", () => {
  const two = [request({ decision_row: 1 }), request({ decision_row: 2, choice: 5 })];
  assert.equal(said(world({ moved: at({ phase: "prefill", step: 1, requests: two }) })), "A takes noir from its row 1, B dort from its row 2: each by its last valid row.");
});

test("training: batch, loss, gradient", () => {
  const stages = (rows) => ({ ...training(), moved: { ...training().moved, stages: [{ name: "batch", ms: 1, rows: 0, ops: [] }, { name: "forward", ms: rows && 2, rows, ops: [] }] } });
  assert.equal(said(stages(0)), "Update 4: 2 sequences, 5 of 6 rows count in the loss.");
  assert.equal(said(stages(6)), "Update 4: one pass computed all 6 rows; 5 of them count in the loss.");
  const filled = (gradients) => training({ loss: 1, rows: training().moved.train.rows.map((s) => s.map((r, i) => ({ ...r, loss: [0.2, 1.92, 0.5][i], gradient: gradients?.[i] ?? null }))) });
  assert.equal(said(filled()), "A, row 1 le found chat hardest: loss 1.92.");
  assert.equal(said(filled([0.1, 0.9, 0.2])), "A, row 1 le found chat hardest and has the largest gradient.");
  assert.equal(said(filled([0.9, 0.1, 0.2])), "A, row 1 le found chat hardest; row 0 <bos> has the largest gradient.");
});

test("the states of the app use the same slot", () => {
  assert.equal(said(world({ opened: null, moved: null, connection: "connecting" })), "Starting the model. The set-up is ready to edit.");
  assert.equal(said(world({ connection: "offline", reason: "1000" }), weight, 13000), "Connection lost. Showing decode 2, 12 s old. Trying again by itself.");
  const refused = [{ message: "Row 2 may read no key; allow one." }, { message: "more" }];
  const state = sentence(world({ refused }), weight, 0);
  assert.deepEqual([state.tone, state.parts[0].text], ["bad", "Row 2 may read no key; allow one. (and 1 more)"]);
  assert.equal(said(world({ moved: at({ requests: [request({ source: [] })] }) })), "Type a source sentence to begin.");
  assert.match(said(training({}, {})), /^Update 4/);
  assert.match(said({ ...training(), notices: [{ code: "diverged", message: "the loss is NaN" }] }), /^Training diverged at update 4/);
});

test("the note: the newest notice with its offer, the clipping, the weights", () => {
  const offer = { kind: "go", moment: 3 };
  assert.deepEqual(note(world({ notices: [{ message: "old" }, { message: "new", offer }] })), { text: "new", offer });
  assert.equal(note(training({ norm: 1.88, clip_factor: 0.53 })).text, "Gradient norm 1.880 is above 1: this update is scaled by 0.530.");
  assert.equal(note(training({ norm: 0.5, clip_factor: 1 })).text, "Gradient norm 0.500 is within 1: not clipped.");
  assert.equal(weightsNote({ kind: "trained", source: { steps: 2000, loss: 0.03, seed: 7 } }), "Weights: trained (2,000 steps, loss 0.030, seed 7).");
  assert.equal(weightsNote({ kind: "random", source: { seed: 7 } }), "Weights: random (seed 7).");
  assert.equal(weightsNote({ kind: "trained", source: { steps: 1 } }, 3), "Weights: changed here; before that trained (1 step), then 3 updates here.");
  assert.equal(weightsNote({ kind: "random", source: { seed: 7 } }, 1), "Weights: changed here; before that random (seed 7), then 1 update here.");
  const history = new Map([[3, { phase: "train", step: 411 }]]);
  assert.deepEqual([offerName(offer, history), offerName(offer, new Map()), offerName({ kind: "undo" }, history)], ["Back to update 411", "Go back", "Undo"]);
  assert.deepEqual([place(world()), place(training())], ["decode 2", "update 4"]);
});

test("the choice is always in the list, and the rest is what is left", () => {
  const many = Array.from({ length: 10 }, (_, i) => candidate(i, `w${i}`, 0.1 - i * 0.005));
  const shares = distribution(request({ candidates: many, choice: 9 }), 100, { kind: "greedy" }, 4);
  assert.deepEqual(shares.candidates.map((c) => [c.id, c.lead]), [[0, false], [1, false], [2, false], [9, true]]);
  assert.equal(shares.others, 96);
  assert.ok(Math.abs(shares.rest - (1 - 0.1 - 0.095 - 0.09 - 0.055)) < 1e-12);
});

test("only sampling cuts candidates off", () => {
  const view = request({ candidates: [candidate(7, "noir", 0.8, 1), candidate(5, "dort", 0.2, 0)] });
  assert.deepEqual(distribution(view, 9, { kind: "sample" }).candidates.map((c) => c.cut), [false, true]);
  assert.deepEqual(distribution(view, 9, { kind: "greedy" }).candidates.map((c) => c.cut), [false, false]);
});

test("policy, outcome and the whole output in words", () => {
  assert.equal(policyName({ kind: "sample", temperature: 0.7, top_k: 5, top_p: 0.9 }), "sample, T 0.7, top 5, p 0.9");
  assert.match(outcome(request()), /^Step takes noir/);
  assert.match(outcome(request({ finished: "limit" })), /^It stopped at the limit/);
  assert.deepEqual(whole(request()), { value: "0.500", covers: "2 tokens, without <eos>" });
  assert.equal(whole(request({ finished: "eos" })).covers, "1 token and <eos>");
  assert.equal(whole(request({ target: [row("<bos>")] })).covers, "nothing is decided yet");
});

test("checks are summed up, and a failing one points to its place", () => {
  const check = (status) => ({ status });
  assert.equal(summary([check("pass"), check("pass"), check("does_not_apply")]), "2 hold");
  assert.equal(summary([check("pass"), check("pending")]), "1 check pending");
  assert.equal(summary([check("fail"), check("pending")]), "1 of 2 fails");
  assert.deepEqual([measured({ status: "pass", measured: "0 of 0 tensors" }), measured({ status: "pass", measured: "60 of 60 tensors" })], ["nothing yet", "60 of 60 tensors"]);
  const { relations } = world().opened;
  assert.deepEqual(destination({ path: "decoder.layer1.cross.weights", row: 2, head: 1 }, relations), { relation: "cross", layer: 1, head: 1, lock: { row: 2, key: 0 }, op: null, path: null });
  assert.deepEqual(destination({ path: "logits" }, relations), { path: "logits" });
  assert.equal(destination({}, relations), null);
});

test("what is kept is counted by whose rows it is and whether it grows", () => {
  const kept = [
    { path: "encoder.memory", axes: ["b", "s", "d"], shape: [1, 5, 64], bytes: 1280, grows: false, bytes_per_row: 0 },
    { path: "decoder.layer0.cross.keys", axes: ["b", "h", "s", "e"], shape: [1, 4, 5, 16], bytes: 1280, grows: false, bytes_per_row: 0 },
    { path: "decoder.layer0.self.keys", axes: ["b", "h", "t'", "e"], shape: [1, 4, 3, 16], bytes: 768, grows: true, bytes_per_row: 256 },
    { path: "decoder.layer0.self.values", axes: ["b", "h", "t'", "e"], shape: [1, 4, 3, 16], bytes: 768, grows: true, bytes_per_row: 256 },
  ];
  const all = banks(kept);
  assert.deepEqual(all.map((b) => [b.owner, b.grows, b.roles, b.bytes]), [["s", false, ["p", "k"], 2560], ["t", true, ["k", "v"], 1536]]);
  assert.deepEqual(total(all), { now: 4096, perRow: 512, rows: 3 });
  assert.equal(bankNote(all[1]), "1.5 KiB, +512 B/row");
  assert.equal(bankNote(all[0]), "2.5 KiB, fixed");
  assert.deepEqual(total([]), { now: 0, perRow: 0, rows: 0 });
});

test("the query strip ends with the decision and one place that is not known", () => {
  assert.deepEqual(places(world(), "t").map((p) => [p.kind, p.token]), [["known", "<bos>"], ["known", "le"], ["new", "chat"], ["next", "noir"], ["unknown", ""]]);
  assert.equal(places(world(), "s").length, 3);
  const chosen = request({ target: [row("<bos>"), row("le", "unknown", "model")], finished: "eos" });
  assert.deepEqual(places(world({ moved: at({ requests: [chosen] }) }), "t").map((p) => p.kind), ["known", "next"]);
});

test("keys are open, hidden by the program or by you", () => {
  const w = world({}, { relation: "target_self", lock: { row: 1, key: 0 } });
  w.opened.relations[1].masks[1] = { program: "causal", parameter: 0, cells: [{ query: 1, key: 0, visible: false }], own: true };
  assert.deepEqual(keyReads(w, () => 0.5, 1).map((r) => r.state), ["user", "open", "model"]);
});

test("strips share their width until slots are as small as a token", () => {
  const few = layout(900, 170, 6);
  assert.deepEqual([few.slot, few.left, few.ids], [92, 128, true]);
  const many = layout(900, 130, 64);
  assert.deepEqual([many.slot, many.ids, many.chip], [62, false, 24]);
  assert.ok(many.width > 64 * 62);
  assert.equal(layout(390, 170, 6).left, 0);
});
