import assert from "node:assert/strict";
import test from "node:test";

import { agreement, gold, ofRequest } from "../../../assets/lib/map/gold.mjs";
import { request, row, training, world } from "../views/world.mjs";

const LINKS = [[0, 0], [1, 2], [2, 1]]; // the black cat: le chat noir
const known = (w, target) => ({ ...w, opened: { ...w.opened, gold: [{ target, links: LINKS }] } });
const cells = (found) => [...(found ?? [])].map(([row, keys]) => [row, [...keys]]);

test("gold links lie at the row that predicts the word, as far as rows are there", () => {
  const w = known(world(), ["le", "chat", "noir"]);
  assert.deepEqual(cells(gold(w)), [[0, [0]], [2, [1]], [1, [2]]]);
  const early = { ...w, moved: { ...w.moved, requests: [request({ target: [row("<bos>")] })] } };
  assert.deepEqual(cells(gold(early)), [[0, [0]]]);
});

test("after a word that is not the gold one, no row has a gold word to predict", () => {
  const other = [row("<bos>"), row("la"), row("chat")];
  const w = known(world(), ["le", "chat", "noir"]);
  assert.deepEqual(cells(gold({ ...w, moved: { ...w.moved, requests: [request({ target: other })] } })), [[0, [0]]]);
});

test("hypotheses of a beam are all of the one request", () => {
  const w = known(world({}, { request: 1 }), ["le", "chat", "noir"]);
  const beam = { ...w, moved: { ...w.moved, requests: [request(), request()] } };
  assert.equal(ofRequest(beam), beam.opened.gold[0]);
});

test("only where a target reads a source, and where it is known; in training it comes with the batch", () => {
  assert.equal(gold(world()), null);
  assert.equal(gold(known(world({}, { relation: "target_self" }), ["le"])), null);
  assert.deepEqual(cells(gold(training({ gold: [[[0, 0], [1, 1]], []] }))), [[0, [0]], [1, [1]]]);
});

test("a row agrees when its largest weight lies on one of its gold links; rows without numbers do not count", () => {
  const found = new Map([[0, new Set([0])], [1, new Set([1, 2])], [2, new Set([0])], [3, new Set([0])]]);
  const weights = [[0.6, 0.4, 0], [0.1, 0.2, 0.7], [0.1, 0.8, 0.1]];
  assert.deepEqual(agreement(found, (r, k) => weights[r]?.[k] ?? NaN, 3), { agree: 2, of: 3 });
});
