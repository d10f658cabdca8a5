import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { came, repeated } from "../../../assets/bench/came.mjs";
import { examples } from "../../../assets/bench/examples.mjs";
import { byDifference, derivatives, jacobian, read } from "../../../assets/bench/read.mjs";
import { isBench, number, pack, pasted, resized, unpack } from "../../../assets/lib/inspect/bench.mjs";
import { leadsTo } from "../../../assets/lib/inspect/tobench.mjs";

const printed = JSON.parse(readFileSync(new URL("../../../models/worked_numbers.json", import.meta.url), "utf8"));
const named = (/** @type {string} */ id) => examples().find((e) => e.id === id).bench;
const near = (/** @type {number[]} */ a, /** @type {number[]} */ b, /** @type {number} */ atol) => {
  assert.equal(a.length, b.length);
  a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) <= atol, `${a} is not ${b} within ${atol}`));
};

test("the dot read of the text", () => {
  const p = printed.dot_read, b = named("dot_read"), r = read(b);
  assert.deepEqual([b.K, b.q], [p.H, p.q]);
  near(r.scores, p.scores, p.atol);
  near(r.weights, p.weights, p.atol);
  near(r.z, p.context, p.atol);
});

test("the read of supplied scores", () => {
  const p = printed.qkv_read, b = named("qkv_read"), r = read(b);
  assert.deepEqual([b.V, b.typed], [p.V, p.scores]);
  near(r.weights, p.weights, p.atol);
  near(r.z, p.output, p.atol);
});

test("the reads with given weights, row by row", () => {
  const p = printed.weighted_read_supplied_weights;
  p.alpha.forEach((alpha, i) => {
    const b = named(`weighted_read_${i}`), r = read(b);
    assert.deepEqual(b.K, p.H);
    near(r.weights, alpha, 1e-12);
    near(r.z, p.context[i], p.atol);
  });
  assert.deepEqual(p.H[3], p.fixed_context);
});

test("every derivative is what differences of the loss are", () => {
  for (const [mode, enters] of [["dot"], ["scaled_dot"], ["supplied"], ["dot", "multiply"], ["scaled_dot", "renormalise"]]) {
    const b = { ...named("cat"), mode, enters }, r = read(b), d = derivatives(b, r);
    d.scores.forEach((x, j) => near([x], [byDifference(b, r, j)], 1e-9));
    const by = (/** @type {(c: any, e: number) => void} */ change) => {
      const at = (/** @type {number} */ e) => { const c = structuredClone(b); change(c, e); return read(c).loss; };
      return (at(1e-5) - at(-1e-5)) / 2e-5;
    };
    d.q.forEach((x, c) => near([x], [by((n, e) => { n.q[c] += e; })], 1e-9));
    d.keys.forEach((k, j) => k.forEach((x, c) => near([x], [by((n, e) => { n.K[j][c] += e; })], 1e-9)));
    d.values.forEach((v, j) => v.forEach((x, c) => near([x], [by((n, e) => { n.V[j][c] += e; })], 1e-9)));
  }
});

test("a column of the Jacobian sums to 0, and a hidden row has none", () => {
  const J = jacobian(named("cat"), read(named("cat")));
  J[0].forEach((_, j) => assert.ok(Math.abs(J.reduce((a, line) => a + line[j], 0)) < 1e-15));
  assert.ok(J[3].every((x) => Math.abs(x) === 0));
});

test("a mask that is multiplied leaves masked rows in the sum, and a division gives back what they took", () => {
  const b = { ...named("cat"), mode: "supplied", typed: [1, 2, 3, 4].map(Math.log), V: [[1], [2], [3], [-4]], g: [1], hidden: [false, true, true, false] };
  const multiply = read({ ...b, enters: "multiply" }); // shares of tenths
  near(multiply.weights, [0.1, 0, 0, 0.4], 1e-12);
  near([multiply.left, ...multiply.z], [0.5, -1.5], 1e-12);
  near(derivatives({ ...b, enters: "multiply" }, multiply).scores, [0.25, 0.3, 0.45, -1], 1e-12); // a masked score moves what is read
  near(jacobian({ ...b, enters: "multiply" }, multiply)[0], [0.09, -0.02, -0.03, -0.04], 1e-12);
  near(read({ ...b, enters: "renormalise" }).weights, read(b).weights, 1e-12);
  near(read(b).weights, [0.2, 0, 0, 0.8], 1e-12);
});

test("what came out of a run says whether it is read the same here, and what is left out", () => {
  const b = { ...named("cat"), from: { weights: read(named("cat")).weights, output: read(named("cat")).z } }, said = (/** @type {any} */ x) => came(x, read(x));
  assert.deepEqual(repeated(b, read(b)).map((c) => c.same), [true, true]);
  assert.equal(said(b), "A read of a run.");
  assert.match(said({ ...b, mode: "supplied", typed: read(b).scores }), /scores are given as they were/);
  assert.match(said({ ...b, from: { ...b.from, gathered: 9, wide: 128 } }), /9 keys with little weight .* first 3 of 128 numbers/);
  assert.match(said({ ...b, from: { ...b.from, output: [0, 0, 0] } }), /after the sum/);
  assert.match(said({ ...b, from: { weights: [0.1, 0, 0, 0] } }), /Left out: what the run did to its weights beside the softmax, up to 0\.\d\d/);
  assert.match(said({ ...named("dot_read"), from: { of: [40, 64], unknown: 3 } }), /first 4 of its 40 rows stand here, 2 of 64 numbers of each\. 3 numbers .* stand as 0/);
  assert.throws(() => unpack(pack({ ...b, from: { weights: [1] } })), /holds no read: from/);
});

test("large scores do not overflow, and where all rows are hidden nothing is read", () => {
  const b = { ...named("cat"), mode: "supplied", typed: [1e6, 1e6, -1e6, 0] };
  near(read(b).weights, [0.5, 0.5, 0, 0], 0);
  const r = read({ ...b, hidden: [true, true, true, true] });
  assert.deepEqual([r.weights, r.z], [[0, 0, 0, 0], [0, 0, 0]]);
});

test("numbers: what is one, and what is not", () => {
  assert.deepEqual(["1", "-.5", "−2", " 3e2 ", "1e6"].map(number), [1, -0.5, -2, 300, 1e6]);
  assert.deepEqual(["", "abc", "NaN", "1e308", "Infinity", "0x10", "1,5", "1e7"].map(number), Array(8).fill(null));
});

test("a matrix is pasted from a sheet, a list or a print of an array", () => {
  const rows = [[1, 2], [3, -4.5]];
  for (const text of ["1\t2\n3\t-4.5\n", "[[1, 2], [3, -4.5]]", "array([[ 1. ,  2. ],\n       [ 3. , -4.5]])", "1 2; 3 -4.5"]) assert.deepEqual(pasted(text).rows, rows, text);
  assert.match(pasted("1 two 3").why, /^The pasted text was given two; allowed: a number/);
  assert.match(pasted("[[1, nan], [2, 3]]").why, /was given nan; allowed/);
  assert.deepEqual(pasted("1 2\n3\n4 5"), { rows: [], why: "The pasted text has 1 numbers in row 1; allowed: 2, as in row 0. Nothing was changed." });
});

test("another shape keeps what there was", () => {
  const b = resized(named("cat"), 5, 2, 4);
  assert.deepEqual([b.q, b.K[0], b.V[0], b.K[4], b.g.length, b.names.length, b.hidden[3], b.hidden[4]], [[1.2, 0.4], [0.2, -0.4], [0.1, 0.2, -0.3, 0], [0, 0], 4, 5, true, false]);
});

test("a link carries a bench, and a broken one says so", () => {
  const b = named("cat"), link = pack(b);
  assert.ok(isBench(link));
  assert.deepEqual(unpack(link), b);
  assert.throws(() => unpack(link.slice(0, 60)), /cannot be read/);
  assert.throws(() => unpack(pack({ ...b, K: [[1]] })), /holds no read: K/);
  assert.throws(() => unpack(pack({ ...b, q: [1e308, 0, 0] })), /holds no read: q/);
});

test("where the bench cannot hold a read its link opens nothing else and says why", () => {
  const link = /** @type {any} */ ({ attributes: {}, firstChild: null, textContent: "", setAttribute(n, v) { this.attributes[n] = v; }, removeAttribute(n) { delete this.attributes[n]; }, getAttribute(n) { return this.attributes[n] ?? null; } });
  globalThis.document = /** @type {any} */ ({ documentElement: { hasAttribute: () => false } });
  const said = [], event = { stopped: false, preventDefault() { this.stopped = true; } };
  let made = null;
  leadsTo(link, true, () => made, (why) => said.push(why));
  link.onclick(event);
  assert.ok(event.stopped && said[0].startsWith("The bench cannot take this"));
  made = named("cat");
  const free = { preventDefault: () => assert.fail() };
  link.onclick(free);
  assert.ok(isBench(link.href.slice("bench".length)));
  delete globalThis.document;
});
