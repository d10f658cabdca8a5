import assert from "node:assert/strict";
import test from "node:test";

import { bestPaths, differences, logSoftmax, pathCount, textLog } from "../../../assets/lib/picture/ctc.mjs";
import { held, spoken } from "../../../assets/lib/picture/labels.mjs";
import { paths } from "../../../assets/views/inspector_paths.mjs";

/** Every sequence of labels, and what each says when repetitions and blanks are dropped: no dynamic programming. */
function every(frames, labels) {
  let all = [[]];
  for (let t = 0; t < frames; t++) all = all.flatMap((path) => Array.from({ length: labels }, (_, v) => [...path, v]));
  return all;
}
const says = (path) => path.filter((v, t) => v && v !== path[t - 1]).join();

// Fixed scores without a pattern: sines of unequal steps.
const scores = Array.from({ length: 6 }, (_, t) => Array.from({ length: 4 }, (_, v) => 2 * Math.sin(1.7 * t + 2.3 * v * v)));
const logs = scores.map(logSoftmax);
const logOf = (path) => path.reduce((sum, v, t) => sum + logs[t][v], 0);

test("the forward algorithm is the sum over every path, for texts with and without a repeated label, and the empty one", () => {
  for (const text of [[], [1], [1, 2], [2, 2], [3, 1, 3], [1, 1, 1]]) {
    const own = every(6, 4).filter((path) => says(path) === text.join());
    const sum = own.reduce((all, path) => all + Math.exp(logOf(path)), 0);
    assert.ok(Math.abs(Math.exp(textLog(logs, text)) - sum) < 1e-12, `${text}`);
    assert.equal(pathCount(6, text), own.length, `${text}`);
  }
});

test("the chances of all texts are one", () => {
  const texts = [...new Set(every(6, 4).map(says))].map((said) => (said ? said.split(",").map(Number) : []));
  assert.ok(Math.abs(texts.reduce((sum, text) => sum + Math.exp(textLog(logs, text)), 0) - 1) < 1e-12);
});

test("the best paths are the best of every path, in their order", () => {
  for (const text of [[], [2], [2, 2], [1, 3, 2]]) {
    const own = every(6, 4).filter((path) => says(path) === text.join()).map((path) => ({ path, log: logOf(path) })).sort((a, b) => b.log - a.log).slice(0, 5);
    const found = bestPaths(logs, text, 5);
    assert.deepEqual(found.map((f) => f.path), own.map((f) => f.path));
    found.forEach((f, i) => assert.ok(Math.abs(f.log - own[i].log) < 1e-12));
  }
});

test("a text that is too long for its frames has no path", () => {
  assert.equal(textLog(logs.slice(0, 2), [1, 1]), -Infinity, "two alike need a blank between them");
  assert.equal(pathCount(2, [1, 1]), 0);
  assert.deepEqual(bestPaths(logs.slice(0, 2), [1, 1], 3), []);
});

test("scores so far apart that a chance is 0 in doubles still have a logarithm", () => {
  assert.deepEqual(logSoftmax([0, -2000]), [0, -2000]);
});

test("paths are compared by the frames where they differ", () => {
  assert.deepEqual(differences([0, 0, 1, 0], [0, 0, 1, 0]), []);
  assert.deepEqual(differences([0, 0, 0, 1], [0, 1, 1, 1]), [{ from: 1, to: 2, was: 0, is: 1 }]);
  assert.deepEqual(differences([0, 1, 2], [1, 0, 2]), [{ from: 0, to: 0, was: 0, is: 1 }, { from: 1, to: 1, was: 1, is: 0 }]);
});

test("a path collapses: repeats merge, then blanks go", () => {
  const path = [0, 0, 3, 3, 0, 3, 1, 1];
  assert.deepEqual(held(path).map((r) => [r.label, r.from, r.to]), [[0, 0, 1], [3, 2, 3], [0, 4, 4], [3, 5, 5], [1, 6, 7]]);
  assert.deepEqual(spoken(path).map((r) => r.label), [3, 3, 1]);
});

test("the panel tells the best path whole, others by where they leave it, and the label where it is another text", () => {
  const names = ["<blank>", "a", "b", "c"], found = paths(logs, names, ["c", "c"]);
  const best = logs.map((row) => row.indexOf(Math.max(...row)));
  assert.equal(found.spelt, spoken(best).map((r) => names[r.label]).join(""));
  assert.ok(Math.abs(found.lines[0].log - logOf(best)) < 1e-12);
  const frame = Number(/^(\d+)/.exec(found.lines[1].said)[1]);
  assert.match(found.lines[1].said, new RegExp(`^${frame}: ${best[frame] ? names[best[frame]] : "∅"} → `));
  assert.ok(Math.abs(found.lines[0].share - Math.exp(found.lines[0].log - found.all)) < 1e-12);
  assert.deepEqual(found.other, { spelt: "cc", log: textLog(logs, [3, 3]) });
  assert.equal(paths(logs, names, [...found.spelt]).other, null);
  assert.equal(paths([], names, []), null);
});
