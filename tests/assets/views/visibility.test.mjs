import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { compile, count, equal, line, paint, PROGRAMS, withMask } from "../../../assets/lib/visibility.mjs";

const worked = JSON.parse(readFileSync(new URL("../../fixtures/worked_numbers.json", import.meta.url)));
const mask = (program, parameter = 0, cells = []) => ({ program, parameter, cells });
const dense = (m, queries, keys) => Array.from({ length: queries }, (_, q) => Array.from({ length: keys }, (_, k) => Number(compile(m).allows(q, k))));

test("full, causal and prefix are the masks that the text prints", () => {
  assert.deepEqual(dense(mask("full"), 5, 5), worked.masks.full_5);
  assert.deepEqual(dense(mask("causal"), 5, 5), worked.masks.causal_5);
  assert.deepEqual(dense(mask("full"), 4, 3), worked.masks.cross_T4_S3);
  assert.deepEqual(dense(mask("prefix", 3), 5, 5), worked.masks.prefix_P3_T5);
});

test("a sliding window has as many cells as its formula says", () => {
  for (const { T, r, edges } of worked.sliding_window_edges.cases) assert.equal(count(mask("sliding", r), T, T), edges);
  assert.deepEqual(dense(mask("causal_sliding", 1), 4, 4), [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]);
});

test("an unknown program is refused with the ones that exist", () => {
  assert.throws(() => compile(mask("diagonal")).allows(0, 0), /"diagonal" is unknown; known: full, causal, past, prefix, sliding, causal_sliding/);
  for (const p of PROGRAMS) compile(mask(p.id, 2)).allows(3, 1);
});

test("cells overrule the program, a later one an earlier one", () => {
  const cells = [{ query: 1, key: 2, visible: true }, { query: 2, key: 0, visible: false }, { query: 1, key: 2, visible: false }];
  const m = compile(mask("causal", 0, cells));
  assert.deepEqual([m.allows(1, 2), m.allows(2, 0), m.allows(2, 1)], [false, false, true]);
  assert.deepEqual([m.own(2, 0), m.own(2, 1), m.program(2, 0)], [false, undefined, true]);
});

test("padding is counted out", () => {
  assert.equal(count(mask("causal"), 3, 3, (k) => k < 2), 5);
});

test("painting keeps only what differs from the program", () => {
  const places = [{ query: 0, key: 1 }, { query: 1, key: 0 }];
  const shut = paint(mask("causal"), places, false);
  assert.deepEqual(shut, [{ query: 1, key: 0, visible: false }]);
  assert.deepEqual(paint(mask("causal", 0, shut), [{ query: 1, key: 0 }], true), []);
});

test("a fast drag leaves no gap", () => {
  const cells = line({ query: 1, key: 1 }, { query: 4, key: 9 });
  assert.deepEqual([cells[0], cells.at(-1)], [{ query: 1, key: 1 }, { query: 4, key: 9 }]);
  for (let i = 1; i < cells.length; i++) assert.ok(Math.abs(cells[i].query - cells[i - 1].query) <= 1 && Math.abs(cells[i].key - cells[i - 1].key) <= 1);
  assert.deepEqual(line({ query: 2, key: 2 }, { query: 2, key: 2 }), [{ query: 2, key: 2 }]);
  assert.equal(line({ query: 0, key: 5 }, { query: 0, key: 0 }).length, 6);
});

const hide = (m) => ({ ...m, cells: paint(m, [{ query: 0, key: 1 }], false) });

test("an edit of one layer gives that layer a mask of its own, and taking it back removes it", () => {
  const one = withMask([], "cross", 1, mask("full"), hide);
  assert.deepEqual(one, [{ relation: "cross", layer: 1, ...mask("full", 0, [{ query: 0, key: 1, visible: false }]) }]);
  assert.deepEqual(withMask(one, "cross", 1, mask("full"), (m) => ({ ...m, cells: [] })), []);
});

test("an edit of all layers reaches layers of their own too, and leaves other relations alone", () => {
  const other = { relation: "target_self", layer: null, ...mask("sliding", 2) };
  const before = [other, { relation: "cross", layer: 1, ...mask("causal") }];
  const after = withMask(before, "cross", null, mask("full"), (m) => ({ ...m, cells: paint(m, [{ query: 1, key: 0 }], false) }));
  assert.equal(after.length, 3);
  assert.equal(after[0], other);
  assert.deepEqual(after.slice(1).map((m) => [m.layer, m.program, m.cells.length]), [[null, "full", 1], [1, "causal", 1]]);
});

test("a preset for all layers makes them the same", () => {
  const before = [{ relation: "cross", layer: 0, ...mask("causal") }, { relation: "cross", layer: null, ...mask("sliding", 1) }];
  assert.deepEqual(withMask(before, "cross", null, mask("full"), () => mask("prefix", 2), true), [{ relation: "cross", layer: null, ...mask("prefix", 2) }]);
  assert.deepEqual(withMask(before, "cross", null, mask("full"), () => mask("full"), true), []);
});

test("masks are equal by what they say", () => {
  assert.ok(equal(mask("causal", 3), mask("causal", 0)));
  assert.ok(!equal(mask("sliding", 3), mask("sliding", 2)));
  assert.ok(!equal(mask("full", 0, [{ query: 0, key: 0, visible: false }]), mask("full", 0, [{ query: 0, key: 1, visible: false }])));
});
