import assert from "node:assert/strict";
import test from "node:test";

import { ahead, outcome, text, tree, treeShown } from "../../../assets/lib/next/beams.mjs";
import { distribution } from "../../../assets/lib/next/candidates.mjs";
import { request, world } from "../views/world.mjs";

const WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "le", "la", "chat", "dort"];
const steps = [
  { kept: 2, tokens: [4, 5, 6], parents: [0, 0, 0], log_p: [-0.1, -1, -5], scores: [-0.1, -1, -5] },
  { kept: 2, tokens: [6, 7, 7], parents: [1, 1, 0], log_p: [-1.5, -2, -9], scores: [-1.3, -1.8, -8] },
  { kept: 2, tokens: [2, -1], parents: [1, 0], log_p: [-2.1, "-Infinity"], scores: [-1.7, -3] },
];

/** A beam of two that dropped its first leader at the second step. */
function searching(more = {}, look = {}) {
  const w = world({}, look);
  const policy = { kind: "beam", width: 2, length_penalty: 0.6, temperature: 1, top_k: null, top_p: 1 };
  const beams = { width: 2, steps, winner: null, ahead: [[6, 7], []], ...more };
  return { ...w, opened: { ...w.opened, scenario: { ...w.opened.scenario, policy }, vocabulary: { source: [], target: WORDS } }, moved: { ...w.moved, beams, requests: [request(), request()] } };
}

test("what goes on, and the way to the hypothesis that is looked at", () => {
  const found = tree(searching({}, { request: 0 }), 1);
  assert.deepEqual(found.twigs.map((s) => s.map((t) => t.alive)), [[false, true, false], [true, true, false], [true, true]]);
  assert.deepEqual(found.twigs.map((s) => s.findIndex((t) => t.on)), [1, 1, 0]);
  assert.deepEqual([text(found, 0), text(found, 1)], ["la dort <eos>", "la chat"]);
  assert.deepEqual(found.twigs[2].map((t) => [t.stays, t.logP]), [[false, -2.1], [true, -Infinity]]);
  assert.equal(tree(searching(), 0).twigs[0].length, 2, "dropped ones are left out where there is no room");
  assert.equal(tree(world(), 1), null);
});

test("the tree stands in the place of the map while a beam decodes", () => {
  assert.equal(treeShown(searching()), true);
  assert.equal(treeShown(searching({}, { tree: false })), false);
  assert.equal(treeShown(world()), false);
});

test("the words that Step keeps lead; what becomes of a hypothesis is said", () => {
  const w = searching();
  const leads = distribution({ ...request(), logits: new Float32Array(8) }, WORDS, w.opened.scenario.policy, false, ahead(w, 0)).filter((c) => c.lead);
  assert.deepEqual(leads.map((c) => c.token), ["chat", "dort"]);
  assert.match(outcome(w, request()), /keeps it with chat, dort/);
  assert.match(outcome(searching({}, { request: 1 }), request()), /drops it/);
  assert.match(outcome(searching({}, { request: 1 }), request({ finished: "eos" })), /has ended/);
  assert.match(outcome(searching({ winner: 1 }, { request: 1 }), request({ finished: "eos" })), /best score/);
  assert.match(outcome(searching({ winner: 1 }, { request: 0 }), request({ finished: "eos" })), /Hypothesis B/);
});
