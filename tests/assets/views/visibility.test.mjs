import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { area, border, compile, count, equal, line, paint, programs, PROGRAMS, range, rectangles, rowNumbers, sameMasks, withMask } from "../../../assets/lib/map/visibility.mjs";
import { typed } from "../../../assets/lib/map/maskbar.mjs";

const worked = JSON.parse(readFileSync(new URL("../../../models/worked_numbers.json", import.meta.url)));
const mask = (program, parameter = 0, cells = [], every = 1, global_rows = []) => ({ program, parameter, cells, every, global_rows });
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
  assert.throws(() => compile(mask("diagonal")).allows(0, 0), /"diagonal" is unknown; known: full, causal, past, prefix, source_target, sliding, causal_sliding, block/);
  for (const p of PROGRAMS) compile(mask(p, 2)).allows(3, 1);
  assert.deepEqual(programs().map((p) => p.id), PROGRAMS);
});

test("the source ends where the request's own separator stands", () => {
  const rows = ["<bos>", "thank", "you", "→", "merci"].map((token) => ({ token }));
  assert.deepEqual([border(rows), border(rows.slice(0, 3))], [4, 0]);
  const m = compile(mask("source_target"), border(rows));
  assert.deepEqual([m.allows(0, 3), m.allows(1, 4), m.allows(4, 3), m.allows(4, 4)], [true, false, true, true]);
  assert.equal(compile(mask("source_target")).allows(0, 1), false, "no source ended: causal");
  assert.deepEqual(paint(mask("source_target"), [{ query: 0, key: 1 }], false), [{ query: 0, key: 1, visible: false }], "a cell is kept: its meaning depends on the request");
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

test("a dilated window with global rows, cell by cell", () => {
  const { allows } = compile(mask("causal_sliding", 3, [], 2, [0, 7]));
  for (let q = 0; q < 12; q++) {
    for (let k = 0; k < 12; k++) {
      const near = q - k <= 6 && (q - k) % 2 === 0;
      assert.equal(allows(q, k), k <= q && (near || [0, 7].includes(q) || [0, 7].includes(k)), `${q} ${k}`);
    }
  }
  assert.equal(compile(mask("sliding", 1, [], 1, [3])).allows(0, 3), true, "one that reads forward is read by all");
});

test("blocks read themselves", () => {
  assert.equal(count(mask("block", 3), 7, 7), 19);
  assert.equal(count(mask("causal_block", 3), 7, 7), 13);
});

test("painted cells are told as few rectangles and mean the same", () => {
  const places = [];
  for (let query = 2; query < 9; query++) for (let key = 1; key < 5; key++) places.push({ query, key });
  const cells = paint(mask("full"), [...places, { query: 20, key: 7 }], false);
  assert.deepEqual(cells, [{ query: 2, key: 1, visible: false, queries: 7, keys: 4 }, { query: 20, key: 7, visible: false }]);
  assert.equal(area(cells), 29);
  const shut = compile(mask("full", 0, cells));
  assert.deepEqual([shut.allows(8, 4), shut.allows(9, 4), shut.own(2, 1), shut.own(1, 1)], [false, true, false, undefined]);
  const hole = paint(mask("full", 0, cells), [{ query: 4, key: 2 }], true);
  assert.equal(area(hole), 28);
  assert.ok(equal(mask("full", 0, hole), mask("full", 0, [...cells, { query: 4, key: 2, visible: true }])) === false, "shown by you is not as the program says");
});

test("painting gives back to the program what null says", () => {
  const cells = paint(mask("causal"), [{ query: 1, key: 0 }], false);
  assert.deepEqual(paint(mask("causal", 0, cells), [{ query: 1, key: 0 }], null), []);
});

test("random grids come back from their rectangles", () => {
  let seed = 7;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let round = 0; round < 20; round++) {
    const at = Int8Array.from({ length: 63 }, () => Math.floor(next() * 3) - 1);
    const back = new Int8Array(63);
    for (const c of rectangles(at, 9, 7)) for (let q = 0; q < (c.queries ?? 1); q++) for (let k = 0; k < (c.keys ?? 1); k++) back[(c.query + q) * 7 + c.key + k] += c.visible ? 1 : -1;
    assert.deepEqual(back, at);
  }
});

test("masks that are written otherwise are the same", () => {
  const one = { relation: "cross", layer: null, program: "full", parameter: 0, cells: [{ query: 0, key: 0, visible: false, queries: 1, keys: 2 }] };
  const other = { ...one, every: 1, global_rows: [], cells: [{ query: 0, key: 0, visible: false }, { query: 0, key: 1, visible: false }] };
  assert.ok(sameMasks([one], [other]));
  assert.ok(!sameMasks([one], [{ ...other, every: 2 }]));
  assert.ok(!sameMasks([one], [{ ...other, layer: 1 }]));
});

test("typed ranges and rows say what is wrong with them", () => {
  assert.deepEqual([range("3", 9), range(" 3 - 7 ", 9), range("3–7", 9), range("", 9), range("all", 9)], [[3, 3], [3, 7], [3, 7], [0, 8], [0, 8]]);
  assert.match(range("x", 9), /“x” is no range/);
  assert.match(range("7-3", 9), /allowed: from 0 to 8/);
  assert.match(range("3-9", 9), /rows 3 to 9 are not there/);
  assert.deepEqual(rowNumbers("97, 0 97", 512), [0, 97]);
  assert.match(rowNumbers("0, 600", 512), /“600” is no row; allowed: numbers from 0 to 512/);
  assert.match(rowNumbers(Array.from({ length: 40 }, (_, i) => i).join(" "), 512), /at most 32/);
});

test("what is typed over the map is read whole, or refused with what was given and what is allowed", () => {
  assert.deepEqual([typed("every", " 3 ", "every").value, typed("parameter", "0", "r").value, typed("global_rows", "97, 0", "global").value], [3, 0, [0, 97]]);
  assert.equal(typed("every", "-1", "every").problem, "every: -1 was given; allowed: a whole number from 1 to 512. Nothing was changed.");
  assert.equal(typed("parameter", "", "r").problem, "r: Nothing was given; allowed: a whole number from 0 to 512. Nothing was changed.");
  assert.equal(typed("global_rows", "0, 1e9", "global").problem, "global: “1e9” is no row; allowed: numbers from 0 to 512. Nothing was changed.");
  for (const given of ["1e999", "NaN", "2.5", "😀"]) assert.match(typed("every", given, "every").problem, /was given; allowed/);
});
