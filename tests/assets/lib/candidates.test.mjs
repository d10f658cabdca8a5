/** What is said of a distribution, of what stands beside it unedited, and of the output so far. */

import assert from "node:assert/strict";
import test from "node:test";

import { asTable, beside, difference, distribution, factorLine, factorTail, kept, listed, outcome, policyName, unedited, whole } from "../../../assets/lib/next/candidates.mjs";
import { requestView } from "../../../assets/lib/reads.mjs";
import { request, row, world } from "../views/world.mjs";

const WORDS = Array.from({ length: 20 }, (_, i) => `w${i}`);
const policy = (more = {}) => ({ kind: "greedy", temperature: 1, top_k: null, top_p: 1, limit: 32, execution: "cached", ...more });
const logits = (...p) => Float32Array.from(p, Math.log);
const few = (more = {}) => request({ logits: logits(0.1, 0.4, 0.3, 0.2), choice: 1, ...more });
const plain = (more = {}) => ({ without: ["edits"], log_probability: Math.log(0.9), choice: 2, probability: 0.6, kl: 0.1, logits: logits(0.1, 0.1, 0.6, 0.2), ...more });

test("all words stand in the order of their probability, and what Step takes leads", () => {
  const all = distribution(few(), WORDS, policy());
  assert.deepEqual(all.map((c) => [c.token, c.lead, c.cut]), [["w1", true, false], ["w2", false, false], ["w3", false, false], ["w0", false, false]]);
  assert.ok(Math.abs(all[0].probability - 0.4) < 1e-6);
  assert.deepEqual(distribution(request({ logits: null }), WORDS, policy()), []);
});

test("what Step takes is always listed, and what it would take unedited", () => {
  const all = distribution(request({ choice: 3 }), WORDS, policy());
  assert.deepEqual(listed(all, 4).map((c) => c.id), [7, 5, 0, 3]);
  assert.deepEqual(listed(all, 4, "", 9).map((c) => c.id), [7, 5, 3, 9]);
  assert.deepEqual(listed(all, 3, "W1").map((c) => c.id), [1, 10, 11]);
  assert.deepEqual(listed(distribution(few(), ["a", "xb", "b", "c"], policy()), 8, "b").map((c) => c.token), ["b", "xb"]);
});

test("only sampling cuts words off, and says what it leaves", () => {
  const [free, two] = [policy({ kind: "sample" }), policy({ kind: "sample", top_k: 2 })];
  assert.deepEqual(distribution(few(), WORDS, two).map((c) => c.cut), [false, false, true, true]);
  assert.deepEqual(distribution(few(), WORDS, policy({ top_k: 2 })).map((c) => c.cut), [false, false, false, false]);
  assert.equal(kept(distribution(few(), WORDS, free), free), null);
  const left = kept(distribution(few(), WORDS, two), two);
  assert.ok(left && left.count === 2 && Math.abs(left.share - 0.7) < 1e-6);
});

test("a draft of a policy leads only where it needs no draw", () => {
  assert.deepEqual(distribution(few({ choice: 3 }), WORDS, policy(), true).filter((c) => c.lead).map((c) => c.id), [1]);
  assert.deepEqual(distribution(few(), WORDS, policy({ kind: "sample" }), true).filter((c) => c.lead), []);
});

test("beside an edited distribution stands the unedited one, under the same temperature", () => {
  const view = few({ unedited: plain() });
  assert.ok(Math.abs(distribution(view, WORDS, policy())[0].unedited - 0.1) < 1e-6);
  const said = beside(view, WORDS, policy());
  const kl = 0.4 * Math.log(4) + 0.3 * Math.log(0.5);
  assert.deepEqual(said, { left: "without edits", token: "w2", probability: "0.600", kl: kl.toFixed(3), changed: true, choice: 2 });
  assert.notEqual(beside(view, WORDS, policy({ temperature: 2 })).kl, said.kl);
  assert.equal(beside(few(), WORDS, policy()), null);
  assert.equal(beside(few({ unedited: { without: ["masks"], log_probability: -1, logits: null } }), WORDS, policy()), null);
  assert.deepEqual([unedited(["masks"]), unedited(["edits", "masks"])], ["without your masks", "without edits and your masks"]);
  assert.deepEqual([0.12, -0.0031, 0.00004, 0].map(difference), ["+.120", "−.003", "+4e-5", "0"]);
});

test("policy, outcome and the whole output in words", () => {
  assert.equal(policyName(policy({ kind: "sample", temperature: 0.7, top_k: 5, top_p: 0.9 })), "sample, T 0.7, top 5, p 0.9");
  assert.equal(policyName(policy({ top_k: 5 })), "greedy, T 1");
  assert.deepEqual(outcome(request()), ["Step takes ", { token: "noir" }, ". Click another word to branch; this path is kept."]);
  assert.deepEqual(outcome(request(), { chosen: "dort" }), ["Step follows this line to ", { token: "dort" }, ", as chosen. The policy takes ", { token: "noir" }, "."]);
  assert.deepEqual(outcome(request(), { held: true }), ["Step takes ", { token: "noir" }, ", once the question is answered."]);
  assert.match(String(outcome(request({ finished: "limit" }))), /^It stopped at the limit/);
  assert.deepEqual(whole(request()), { value: "0.500", unedited: "", covers: "2 tokens, no <eos>", brief: "2 tokens" });
  assert.equal(whole(request({ unedited: plain() })).unedited, "0.900");
  const ended = whole(request({ finished: "eos" }));
  assert.deepEqual([ended.covers, ended.brief], ["1 token and <eos>", "1 + <eos>"]);
  assert.equal(whole(request({ log_p: null, target: [row("<bos>")] })).covers, "nothing is decided yet");
  assert.equal(factorLine(request()), "le −0.47 + chat −0.22 = −0.69 nats");
  assert.equal(factorLine(request({ log_p: null })), "");
  assert.deepEqual([99, 26, 1].map((room) => factorTail(request(), room)), [factorLine(request()), "… chat −0.22 = −0.69 nats", "… chat −0.22 = −0.69"]);
});

test("the table holds the whole vocabulary, not rounded", () => {
  const table = asTable(world());
  assert.equal(table.rows.length, 20);
  assert.equal(table.rows[0].length, table.columns.length);
  assert.deepEqual([table.rows[0][1], table.rows[0][7]], [7, true]);
  assert.equal(asTable(world({ opened: null })).rows.length, 0);
});

test("before the op cursor came to the logits there is no distribution", () => {
  const at = requestView(world({}, { op: "decoder.layer0.self" }));
  assert.deepEqual(distribution(at, WORDS, policy()), []);
  assert.equal(distribution(requestView(world()), WORDS, policy()).length, 20);
});
