/** A read of a run on its way to the bench: there it has the same weights and the same output, however many keys it has. */

import assert from "node:assert/strict";
import test from "node:test";

import { came, repeated } from "../../../assets/bench/came.mjs";
import { read } from "../../../assets/bench/read.mjs";
import { pack, unpack } from "../../../assets/lib/inspect/bench.mjs";
import { matrixAsBench, readAsBench } from "../../../assets/lib/inspect/tobench.mjs";
import { known, request, row, taps, world } from "../views/world.mjs";

const AT = "decoder.layer1.cross";

/** A decoder's row that reads n source rows by head 0, as a run would record it. */
function reading({ n, width = 3, bias = () => 0, divisor = Math.sqrt(width), more = [] }) {
  const wave = (/** @type {number} */ i) => Math.sin(1.7 * i + 0.3), vector = (/** @type {number} */ j) => Array.from({ length: width }, (_, c) => wave(j * width + c));
  const q = vector(99), K = Array.from({ length: n }, (_, j) => vector(j)), V = Array.from({ length: n }, (_, j) => vector(j + 200));
  const scores = K.map((k, j) => k.reduce((a, x, c) => a + x * q[c], 0) / divisor + bias(j)), exps = scores.map(Math.exp), sum = exps.reduce((a, x) => a + x, 0);
  const weights = exps.map((x) => x / sum), output = q.map((_, c) => weights.reduce((a, w, j) => a + w * V[j][c], 0));
  const rows = (/** @type {number[]} */ of) => [[[of, of, of]]]; // three target rows
  const all = [known(`${AT}.weights`, "b h t s", rows(weights)), known(`${AT}.scores`, "b h t s", rows(scores)), known(`${AT}.v`, "b h s e", [[V]]),
    known(`${AT}.mixed`, "b h t e", rows(output)), known(`${AT}.q`, "b h t e", rows(q)), known(`${AT}.k`, "b h s e", [[K]])];
  const source = Array.from({ length: n }, (_, j) => row(`w${j}`));
  return { w: world({ schema: { taps: [...taps, ...more] }, moved: { ...world().moved, requests: [request({ source })] }, values: (_, i) => (all[i] ? [all[i]] : []) }), q, weights };
}

const agrees = (/** @type {any} */ b) => assert.deepEqual(repeated(b, read(b)).map((c) => c.same), [true, true]);

test("a read of queries and keys is computed of them again", () => {
  const { w, q } = reading({ n: 4 }), b = readAsBench(w, "read");
  assert.deepEqual([b.mode, b.names, b.q.length, b.enters], ["scaled_dot", ["w0", "w1", "w2", "w3"], q.length, undefined]);
  agrees(b);
  assert.equal(readAsBench(reading({ n: 4, divisor: 1 }).w, "read").mode, "dot");
  assert.deepEqual(unpack(pack(b)), b);
});

test("where one score is more than a product, all stand as they were", () => {
  const b = readAsBench(reading({ n: 4, bias: (j) => (j === 3 ? 0.5 : 0) }).w, "read");
  assert.deepEqual([b.mode, b.q], ["supplied", [0]]);
  agrees(b);
  assert.match(came(b, read(b)), /scores are given/);
});

test("of more keys than it holds those with the least weight are one row, which adds the same", () => {
  const { w, weights } = reading({ n: 50, bias: (j) => j / 10 }), b = readAsBench(w, "read");
  assert.deepEqual([b.names.length, b.names.at(-1), b.from.gathered], [31, "20 other keys", 20]);
  assert.ok(Math.abs(read(b).weights.at(-1) - [...weights].sort((x, y) => x - y).slice(0, 20).reduce((a, x) => a + x, 0)) < 1e-6);
  agrees(b);
});

test("of wider values than it holds the first numbers stand there", () => {
  const b = readAsBench(reading({ n: 3, width: 100 }).w, "read");
  assert.deepEqual([b.V[0].length, b.from.wide, b.mode], [64, 100, "supplied"]);
  agrees(b);
});

test("a mask that is multiplied keeps masked keys in the sum, and the bench takes it so", () => {
  const { w } = reading({ n: 4, more: [{ ...taps[0], path: `${AT}.spread` }] });
  const hides = { program: "full", parameter: 0, cells: [{ query: 2, key: 1, visible: false }] };
  for (const relation of w.opened.relations) relation.masks = relation.masks.map((m) => ({ ...m, ...hides }));
  const b = readAsBench(w, "read");
  assert.deepEqual([b.enters, b.hidden], ["multiply", [false, true, false, false]]);
  assert.ok(Math.abs(read(b).weights[0] - b.from.weights[0]) < 1e-6 && read(b).weights[1] === 0);
});

test("a tensor is a memory, as much of it as there is room for, and what was not computed is said", () => {
  const b = matrixAsBench({ rows: 40, columns: 70, at: (r, c) => (r === 0 && c === 0 ? NaN : r + c / 100) });
  assert.deepEqual([b.K.length, b.K[0].length, b.from], [32, 64, { of: [40, 70], unknown: 1 }]);
  assert.equal(matrixAsBench({ rows: 2, columns: 2, at: () => NaN }), null);
  assert.equal(matrixAsBench({ rows: 1, columns: 1, at: () => Infinity }), null);
});
