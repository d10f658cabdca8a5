import assert from "node:assert/strict";
import test from "node:test";

import { weightsWords } from "../../../assets/lib/setup/weights.mjs";

const shipped = [{ task: "mt", config: { layers: 2, heads: 4 } }];
const world = ({ kind = "trained", source = { steps: 2000, loss: 0.000333 }, config = { heads: 4, layers: 2 }, task = "mt", updates = 0 }) => ({
  opened: { scenario: { seed: 7, task, config }, weights: { kind, source } }, moved: { updates },
});

test("trained weights say how they came about", () => {
  assert.deepEqual(weightsWords(world({}), shipped), { said: "Trained: 2,000 updates, loss 0.00033.", note: "Other variants begin untrained.", way: null });
});

test("trained weights say what they reached, and what limits them", () => {
  const source = { steps: 1, loss: 0.5, note: "One vector.", metrics: { exact: 0.25, exact_by_clauses: { 1: 0.75, 2: 0.125, 3: 0, 4: 0, 5: 0 }, alignment: { share: 0.5 } } };
  const found = weightsWords(world({ source }), shipped);
  assert.deepEqual([found.said, found.note], ["Trained: 1 update, loss 0.50. Held out: exact 0.75, 0.13, 0 for 1, 2, 3 clauses; alignment 0.50.", "One vector."]);
});

test("parts that were exchanged are said in the words of the set-up", () => {
  const source = { steps: 1, exchanged: { norm_kind: ["layer", "rms"], scaled: [true, false] } };
  const choices = [{ value: "layer", label: "LayerNorm" }, { value: "rms", label: "RMSNorm" }];
  const fields = [{ path: "config.norm_kind", title: "Normalisation", as: "choice", choices }, { path: "config.scaled", title: "Divide by √d", as: "switch" }];
  assert.equal(weightsWords(world({ source }), shipped, fields).note, "It learned with other parts (Normalisation: RMSNorm for LayerNorm, Divide by √d: off for on).");
});

test("what they had to reach stands beside what they reached", () => {
  const said = (metrics, required) => weightsWords(world({ source: { metrics, required } }), shipped).said;
  assert.equal(
    said({ exact: 0.98, exact_by_clauses: { 1: 1, 2: 0.5, 3: 0.25 }, alignment: { share: 0.9 } }, { exact: { at_least: 0.97 }, "exact_by_clauses.3": { at_most: 0.5 }, "alignment.share": { at_least: 0.88 } }),
    "Trained. Held out (required): exact 0.98 (≥\u00a00.97); exact 1.00, 0.50, 0.25 (≤\u00a00.50) for 1, 2, 3 clauses; alignment 0.90 (≥\u00a00.88).",
  );
  assert.equal(said({ validation_loss: 2.04 }, { validation_loss: { at_most: 2.2 } }), "Trained. Held out (required): loss 2.04 (≤\u00a02.20).");
  assert.equal(said({ validation_loss: 2.04 }, {}), "Trained.");
  assert.equal(said({ agreement: 0.989 }, { agreement: { at_least: 0.98 } }), "Trained. Held out (required): agreement 0.99 (≥\u00a00.98).");
  assert.equal(said({ induction: { right: 0.205 } }, { "induction.right": { at_most: 0.3 } }), "Trained. Held out (required): repeats right 0.20 (≤\u00a00.30).");
});

test("random weights offer the way to the trained ones, by themselves or with their variant", () => {
  const random = (more) => weightsWords(world({ kind: "random", source: { seed: 7 }, ...more }), shipped);
  assert.deepEqual([random({}).said, random({}).way?.act], ["Random, drawn from seed 7.", "trained"]);
  assert.equal(random({ config: { layers: 3, heads: 4 } }).way?.act, "shipped");
  assert.deepEqual([random({ task: "other" }).way, random({ task: "other" }).note], [null, "No trained ones are shipped for it."]);
});

test("weights that were changed here say how often and offer what was before", () => {
  const { said, way } = weightsWords(world({ updates: 1 }), shipped);
  assert.deepEqual([said, way], ["Changed here by 1 update.", { title: "Back to the trained weights", act: "before" }]);
  assert.equal(weightsWords(world({ updates: 12, kind: "random" }), shipped).way?.title, "Back to the random draw");
});
