/** The one sentence: in recorded runs of the real engine, at every step, and in every state of the page. */

import assert from "node:assert/strict";
import test from "node:test";

import { offerName, place } from "../../../assets/lib/told/states.mjs";
import * as read from "../../../assets/lib/reads.mjs";
import view, { note, sentence, weightsNote } from "../../../assets/views/sentence.mjs";
import { recorded, watching } from "../recorded/recorded.mjs";
import { node, request, row, training, world } from "./world.mjs";

const plain = (said) => said.parts.map((p) => p.text).join("");
const of = (w, now = 0, clock = undefined) => sentence(w, read.readCells(w, "sentence"), now, clock);
const heard = (name, commands, look) => plain(of(watching(recorded(name, commands, look), view)));
const noted = (name, commands) => note(recorded(name, commands)).text;
const weighed = (w, weights) => plain(sentence(w, (r, k) => weights[r]?.[k] ?? NaN, 0));

test("decoding: each step says who read whom and what leads, then the end and its probability", () => {
  const said = [0, 2, 3, 4, 5, 6].map((n) => heard("translation", n));
  assert.deepEqual(said, [
    "Layer 2 head 1: target row 0 <bos> takes 99% from the; le leads at >0.999.",
    "Layer 2 head 1: target row 1 le takes 90% from cat; chat leads at >0.999.",
    "Layer 2 head 1: target row 2 chat takes 96% from black; noir leads at 0.999.",
    "Layer 2 head 1: target row 3 noir takes 99.8% from sleeps; dort leads at >0.999.",
    "Layer 2 head 1: target row 4 dort takes 98% from sleeps; <eos> leads at >0.999.",
    "Finished: le chat noir dort <eos>; probability of it all 0.999.",
  ]);
  assert.match(noted("translation", 0), /^All known rows ran in one pass/);
  assert.match(noted("translation", 3), /^One step a token: chat came from row 1, and only then could its row run/);
});

test("each relation and layer has its own sentence; a read of its own row says so", () => {
  assert.match(heard("translation", 4, { relation: "source_self", layer: 0 }), /^Layer 1 head 1: source row 3 sleeps takes 49% from the, 30% from sleeps, itself;/);
  assert.match(heard("translation", 4, { relation: "target_self", layer: 1 }), /^Layer 2 head 1: target row 3 noir takes 59% from <bos>;/);
  assert.match(heard("translation", 4, { relation: "cross", layer: 0 }), /^Layer 1 head 1: target row 3 noir takes 35% each from the and sleeps;/);
});

test("at the op cursor it speaks of that operation, and of nothing after it", () => {
  assert.equal(heard("translation", 4, { op: "decoder.layer0.self" }), "Layer 1 head 1: target row 3 noir takes 40% from chat, 31% from noir, itself.");
  assert.equal(heard("translation", 4, { op: "decoder.layer1.ffn" }), "Decode 3, operation 7/9: L2 ffn changes each row on its own; no row reads another here.");
  assert.equal(heard("translation", 4, { op: "decoder.embedding" }), "Decode 3, operation 1/9: embedding turns each token and its position into a row.");
  assert.match(heard("translation", 4, { op: "logits" }), /dort leads at >0.999.$/);
  assert.match(heard("training", 2, { op: "decoder.layer0.self" }), /^Layer 1 head 1: target row \d+ \S+ spreads over \d+ rows, most from \S+: \d+%.$/);
  assert.match(heard("training", 4, { op: "decoder.layer1.ffn" }), /^Backward reaches L2 ffn: its output has a gradient of norm 0\.\d+\.$/);
});

test("masks: a row that reads itself alone, a key that you hid", () => {
  assert.match(heard("alone", 1), /^Layer 2 head 1: target row 6 big reads only itself: its mask allows no other row;/);
  assert.match(heard("hidden", 1), /takes 71% from black, 25% from the; noir leads at 0.924.$/);
  assert.match(heard("hidden", 1, { lock: { row: 1, key: 2 } }), /target row 1 le may not read cat: you hid it;/);
});

test("prefill of several requests: each is decided by its last valid row", () => {
  assert.equal(heard("two", 0), "One pass over 2 requests. Each is decided by its last valid row.");
  assert.equal(heard("two", 1), "A takes does from its row 3, B takes the from its row 5: each from its last valid row.");
  assert.equal(noted("two", 1), "One pass: 10 rows at once, because all of them are known and none waits for a decision.");
  assert.equal(heard("both", 2), "A takes le from its row 0, B takes merci from its row 0: each from its last valid row.");
});

test("a long read that is spread is called spread, with the rows that make most of it", () => {
  assert.match(heard("long", 1), /target row 120 \. spreads over 22 rows, most from row 88 sleeps: 11%; <eos> leads/);
});

const without = (rows) => `A: ${rows.filter((r) => !r.counts).length} of ${rows.length} rows do not count: their label is <pad>, nothing to predict.`;

test("training: the batch, the pass, the hardest row, the gradient, the clipping, the next batch", () => {
  const [{ train }, later] = [recorded("training", 5).moved, recorded("training", 7).moved.train.rows.flat()];
  const [all, rows] = [train.rows.flat(), train.rows[0]];
  const counted = rows.filter((r) => r.counts);
  const top = (field) => rows.indexOf(counted.reduce((best, r) => (r[field] > best[field] ? r : best)));
  const [worst, most] = [top("loss"), top("gradient")];
  const who = `A: hardest to predict is ${rows[worst].label}, in row ${worst} ${rows[worst].input}`;
  assert.deepEqual([0, 1, 2, 3, 4, 7].map((n) => heard("training", n)), [
    "Update 1: Step draws its batch.",
    `Update 1: 3 sequences, ${all.filter((r) => r.counts).length} of ${all.length} rows count in the loss.`,
    `Update 1: one pass computed all ${all.length} rows; ${all.filter((r) => r.counts).length} of them count in the loss.`,
    `${who}: loss ${rows[worst].loss.toFixed(2)}.`,
    worst === most ? `${who}; its logits have the largest gradient too.` : `${who}; the largest gradient is at the logits of row ${most} ${rows[most].input}.`,
    `Update 2: 3 sequences, ${later.filter((r) => r.counts).length} of ${later.length} rows count in the loss.`,
  ]);
  assert.equal(noted("training", 5), `Gradient norm ${train.norm.toFixed(3)} is above 1: this update is scaled by ${train.clip_factor.toFixed(3)}. ${without(rows)}`);
  assert.equal(noted("training", 7), `Weights: random, then 1 update here. In the other sequences ${later.filter((r) => !r.counts).length} rows do not count: their label is <pad>.`);
  assert.equal(noted("random", 1), "Random weights: what is read means nothing yet.");
});

test("two rows of a batch can be the hardest and the one with the largest gradient", () => {
  const rows = (gradients) => training().moved.train.rows.map((s) => s.map((r, i) => ({ ...r, loss: [0.2, 1.92, 0.5][i], gradient: gradients[i] })));
  assert.equal(plain(of(training({ loss: 1, rows: rows([0.9, 0.1, 0.2]) }))), "A: hardest to predict is chat, in row 1 le; the largest gradient is at the logits of row 0 <bos>.");
});

test("numbers that are none are told with their place and a way back", () => {
  const diverged = watching(recorded("diverged", 2), view);
  assert.equal(plain(of(diverged)), "Update 2: the gradient is not finite in dec embedding token weight. Paused before the update.");
  assert.deepEqual(of(diverged).action, { name: "Back to update 1", command: { kind: "go", moment: 1 } });
  assert.match(note(diverged).text, /^Update 2: the gradient norm is not a number/);
  const edited = watching(recorded("not_finite", 0), view);
  assert.equal(plain(of(edited)), "There is no distribution to choose from: decoder.layer0.self.scores is not finite.");
  assert.deepEqual(of(edited).action, { name: "Take the edits back", command: { kind: "change", fields: { edits: [] } } });
});

test("what is refused is told whole, and can be closed", () => {
  const w = watching(recorded("refused", 2), view);
  assert.deepEqual([of(w).tone, plain(of(w)), of(w).action], [
    "bad", "Nothing was changed: row 1 of request 0 may read no key in relation 'cross'; allow at least one cell in row 1.", { name: "Close", dismiss: true },
  ]);
});

test("shares: alike, spread, nothing, drawn", () => {
  assert.match(weighed(world(), [[], [], [0.45, 0.45, 0.1]]), /takes 45% each from the and black;/);
  assert.match(weighed(world(), [[], [], [0.26, 0.25, 0.25]]), /spreads over 3 rows, most from the: 26%;/);
  assert.match(weighed(world(), [[], [], [0, 0, 0]]), /chat reads nothing: its weights are all 0;/);
  assert.equal(weighed(world(), []), "Decode 2: after target row 2 chat, noir leads at 0.800.");
  const drawn = world({ moved: { ...world().moved, requests: [request({ choice: 5 })] } });
  drawn.opened.scenario.policy.kind = "sample";
  assert.match(weighed(drawn, [[], [], [0.1, 0.85, 0.05]]), /; dort is drawn at 0.150.$/);
});

test("states of the page: cold, offline, closed, empty, replaying", () => {
  const start = world({ opened: null, moved: null, connection: "connecting" });
  assert.equal(plain(of(start)), "Starting the model. The set-up is ready to edit.");
  assert.equal(plain(of(start, 0, { waited: 2400, usual: 3100 })), "Starting the model, 2 s so far; the last start took 3 s. The set-up is ready to edit.");
  const offline = of(world({ connection: "offline", reason: "1000" }), 13000);
  assert.deepEqual([plain(offline), offline.tone, offline.action.act], ["Connection lost. Showing decode 2, measured 12 s ago. Trying again by itself.", "warn", "retry"]);
  assert.equal(plain(of(world({ connection: "closed", reason: "The run x does not exist." }))), "This session is closed. The run x does not exist.");
  assert.equal(plain(of(world({ moved: { ...world().moved, requests: [request({ source: [] })] } }))), "Type a source sentence to begin.");
  const replay = { name: "replay", progress: 0.4, result: null };
  assert.equal(plain(of(world({ analysis: { replay }, busy: true }))), "Replaying … 40 %");
  const behind = of(world({ analysis: { bottleneck: { progress: 0.42 } }, behind: "bottleneck" }));
  assert.deepEqual([plain(behind), behind.action.command.kind], ["A measurement is running … 42 %. What you pressed waits for it.", "cancel"]);
});

test("between the stages of a decode step it says what Step does next", () => {
  const chosen = request({ candidates: [], choice: null, decision_row: null, target: [row("<bos>"), row("le", "unknown", "model")] });
  assert.equal(weighed(world({ moved: { ...world().moved, stage: "choose", requests: [chosen] } }), []), "Decode 2: le is chosen. Step reads its row.");
});

test("the note: a failing check with the way to it, a notice with its offer, what edits changed", () => {
  const check = { id: "rows_sum", claim: "rows sum to 1", status: "fail", measured: "max |Σ−1| 0.2", place: { path: "decoder.layer1.cross.weights", row: 2 } };
  const failed = note(world({ checked: { checks: [check] } }));
  assert.deepEqual([failed.text, failed.tone, failed.action.name, failed.action.look.lock], ["✕ This check fails: rows sum to 1 (max |Σ−1| 0.2).", "bad", "Show where", { row: 2, key: 0 }]);
  const offered = note(world({ notices: [{ message: "old" }, { code: "stopped", message: "new", offer: { kind: "go", moment: 1 } }] }));
  assert.deepEqual([offered.text, offered.action], ["new", { name: "Go back", command: { kind: "go", moment: 1 } }]);
  const edited = world({ moved: { ...world().moved, requests: [request({ unedited: { without: ["edits"], choice: 5, probability: 0.4, kl: 0.31, log_probability: -1 } })] } });
  edited.opened.scenario.edits = [{ enabled: true }, { enabled: false }];
  edited.opened.vocabulary.target[5] = "dort";
  assert.equal(note(edited).text, "1 edit is on: without, it would be dort at 0.400, not noir at 0.800 (KL 0.310 nats).");
  assert.match(note({ ...edited, checked: { checks: [check] } }).text, /^✕ This check fails: .* 1 edit is on: /, "a line that is too long loses its end, not what fails");
  assert.equal(weightsNote({ kind: "trained", source: { steps: 1 } }, 3), "Weights: trained, then 3 updates here.");
  const curve = (/** @type {any[]} */ loss) => /** @type {any} */ ({ updates: loss.map((_, i) => i + 1), loss });
  assert.equal(weightsNote({ kind: "random", source: {} }, 3, curve([5.5, 4, 3.25])), "Weights: random, then 3 updates here. Loss 5.50 at update 1, 3.25 at 3.");
  assert.equal(weightsNote({ kind: "random", source: {} }, 2, curve([5.5, "NaN"])), "Weights: random, then 2 updates here.");
  assert.deepEqual([0, 2].map((updates) => note(world({ moved: { ...world().moved, updates } })).action?.act), [undefined, "before"]);
  const history = new Map([[3, node(3, 0, "train", 411)]]);
  assert.deepEqual([offerName({ kind: "go", moment: 3 }, history), offerName({ kind: "undo" }, history)], ["Back to update 411", "Undo"]);
  assert.deepEqual([place(world()), place(training())], ["decode 2", "update 4"]);
});

test("while a question is open it is asked, unless something else must be known first", () => {
  const held = { held: "Answer first: what does le read?", question: [{ text: "Answer first: what does " }, { text: "le", role: "q" }, { text: " read?" }] };
  assert.deepEqual(of(world(held)), { parts: held.question, tone: "" });
  assert.match(plain(of(world({ ...held, connection: "offline", reason: "0" }))), /^Connection lost/);
  assert.equal(plain(of(world({ held: "The teacher steps and sets." }))), plain(of(world())), "who follows a class is told what happened");
});

test("it never says that a weight is the reason of a choice", () => {
  for (const name of ["translation", "two", "alone", "hidden", "random", "long"]) for (let n = 0; n < 4; n++) assert.doesNotMatch(heard(name, n), /\b(because|so that|therefore|explains|why)\b/);
});
