/** What the views say in words: the decision, and the checks. */

import assert from "node:assert/strict";
import test from "node:test";

import { destination, measured, summary } from "../../../assets/views/checks.mjs";
import { distribution, outcome, policyName, whole } from "../../../assets/views/next.mjs";
import { candidate, request, row, world } from "./world.mjs";

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
