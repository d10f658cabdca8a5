import assert from "node:assert/strict";
import test from "node:test";

import { curves, end } from "../../../assets/lib/inspect/crossings.mjs";
import { count, largest, lines, slope, terms } from "../../../assets/lib/inspect/costs.mjs";

const found = {
  macs: 8388608, sequential: 2, longest: 1, bytes: 2048, bytes_per_row: 512, ms: 1.5, loops: {}, cells: { visible: 15, all: 25 }, ways: [{ unit: "layers" }],
  next: { macs: 20500, sequential: 2, ms: 0.4 }, terms: { n: 128, d: 512, k: 3, r: 17, values: { self_attention: 8388608, recurrent: 33554432, convolutional: 100663296, restricted: 1114112 }, crossovers: { recurrent: 512, convolutional: 1536, restricted: 17 } },
};

test("counts are short and never rounded to nothing", () => {
  assert.deepEqual([512, 9999, 20500, 8388608, 2147483648].map(count), ["512", "9,999", "20.5 k", "8.39 M", "2.15 G"]);
});

test("four costs and the time each have a line of their own", () => {
  const said = lines(found);
  assert.deepEqual(said.map((l) => l.value), ["8.39 M MAC", "2", "1 layer", "2.0 KiB", "1.5 ms"]);
  assert.match(said[0].note, /one further row 20.5 k; masks let 15 of 25 cells through/);
  assert.equal(said[4].mark, "m");
});

test("the papers' terms say where they cross, and are formulas", () => {
  const said = terms(found);
  assert.match(said[1].note, /less from n = 512/);
  assert.ok(said.every((l) => l.mark === "f"));
  assert.deepEqual(terms({ terms: {} }), []);
});

test("the terms are drawn where they cross: there two are the same, and beyond it full attention costs more", () => {
  const lines = curves(found.terms), attention = lines[0];
  assert.deepEqual(lines.map((l) => l.at(128)), Object.values(found.terms.values));
  for (const l of lines.slice(1)) {
    assert.equal(attention.at(l.crosses), l.at(l.crosses));
    assert.ok(attention.at(2 * l.crosses) > l.at(2 * l.crosses));
  }
  assert.equal(end(found.terms, lines), 4096);
});

test("operations with the most work keep their order", () => {
  assert.deepEqual(largest([["a", 1], ["b", 9], ["c", 3]], 2), [["b", 9], ["c", 3]]);
});

test("growth is the slope of the last doublings", () => {
  const point = (n, macs, bytes) => ({ n, macs, sequential: 2, longest: 1, bytes, ms: 1, terms: {} });
  const sweep = [point(8, 64, 4), point(16, 256, 4), point(32, 1024, 4)];
  assert.deepEqual([slope(sweep, "macs"), slope(sweep, "bytes")], ["n^2.0", "constant"]);
});
