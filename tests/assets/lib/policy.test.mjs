/** The policy in the page: the same numbers as app/session/policy.py gives. */

import assert from "node:assert/strict";
import test from "node:test";

import { cut, divergence, ranked, tempered } from "../../../assets/lib/next/policy.mjs";
import { SLIDERS } from "../../../assets/lib/next/policybar.mjs";

const policy = (more = {}) => ({ kind: "sample", temperature: 1, top_k: null, top_p: 1, limit: 32, execution: "cached", ...more });
const close = (a, b) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) < 1e-9, `${x} is not ${b[i]} at ${i}`));
const LOGITS = [0, Math.log(4), Math.log(3), Math.log(2)]; // 0.1 0.4 0.3 0.2

test("a temperature divides the logits, however large they are", () => {
  close(tempered(LOGITS, 1), [0.1, 0.4, 0.3, 0.2]);
  close(tempered(LOGITS, 0.5), [1 / 30, 16 / 30, 9 / 30, 4 / 30]);
  close(tempered([1e4, 1e4], 0.01), [0.5, 0.5]);
});

test("top-k keeps so many, top-p the smallest set that reaches p, and what is left sums to 1", () => {
  const p = tempered(LOGITS, 1);
  close(cut(p, policy({ top_k: 2 })), [0, 4 / 7, 3 / 7, 0]);
  close(cut(p, policy({ top_p: 0.4 })), [0, 1, 0, 0]);
  close(cut(p, policy({ top_p: 0.41 })), [0, 4 / 7, 3 / 7, 0]);
  close(cut(p, policy({ top_k: 3, top_p: 0.99 })), [0, 4 / 9, 3 / 9, 2 / 9]);
  close(cut(p, policy()), [0.1, 0.4, 0.3, 0.2]);
  close(cut(p, policy({ kind: "greedy", top_k: 3 })), [0, 1, 0, 0]);
  assert.deepEqual(ranked([1, 3, 3, 2]), [1, 2, 3, 0]);
});

test("the divergence is that of the first from the second", () => {
  const [p, q] = [[0.1, 0.4, 0.3, 0.2], [0.25, 0.25, 0.25, 0.25]];
  const expected = p.reduce((sum, x, i) => sum + x * Math.log(x / q[i]), 0);
  close([divergence(LOGITS, [0, 0, 0, 0], 1)], [expected]);
  assert.notEqual(divergence(LOGITS, [0, 0, 0, 0], 1), divergence([0, 0, 0, 0], LOGITS, 1));
  assert.equal(divergence(LOGITS, LOGITS, 3), 0);
});

test("a slider stands where its policy is, and its ends are 'all'", () => {
  for (const value of [0.1, 0.5, 1, 2, 10]) assert.equal(SLIDERS.temperature.value(SLIDERS.temperature.at(policy({ temperature: value }), 100), 100), value);
  for (const value of [1, 5, 20, 80]) assert.equal(SLIDERS.top_k.value(SLIDERS.top_k.at(policy({ top_k: value }), 100), 100), value);
  assert.equal(SLIDERS.top_k.value(SLIDERS.top_k.high(100), 100), null);
  assert.equal(SLIDERS.top_k.at(policy(), 100), SLIDERS.top_k.high(100));
  assert.equal(SLIDERS.top_k.at(policy({ top_k: 5000 }), 100), SLIDERS.top_k.high(100));
  assert.equal(SLIDERS.top_p.value(SLIDERS.top_p.at(policy({ top_p: 0.9 }), 100), 100), 0.9);
});
