/** What is kept: banks from any architecture's state, places row by row, bytes, and what they are compared with. */

import assert from "node:assert/strict";
import test from "node:test";

import { banks, fixedState, held, shelves, total, work } from "../../../assets/lib/states/kept.mjs";
import view, { sorts } from "../../../assets/views/memory.mjs";
import { recorded } from "../recorded/recorded.mjs";

const brief = (all) => all.map((b) => [b.owner, b.grows, b.lines.map((l) => `${l.role}${l.layer}`).join(" "), b.bytes]);

test("a recorded decode step: the source is kept fixed, a token adds one row in every layer", () => {
  const w = recorded("translation", 4);
  const all = banks(w.moved.kept);
  assert.deepEqual(brief(all), [["s", false, "m-1 k0 v0 k1 v1", 5120], ["t", true, "k0 v0 k1 v1", 4096]]);
  assert.deepEqual(total(all), { now: 9216, perRow: 1024, rows: 4 });
  assert.equal(total(all).perRow, total(banks(recorded("translation", 5).moved.kept)).now - total(all).now, "the next step costs what was said");
  assert.deepEqual(shelves(w).map((s) => [s.title, s.note, s.places.length, s.reserved]), [["Source cache", "5.0 KiB, fixed", 4, 4], ["Target cache", "4.0 KiB, +1.0 KiB a row", 4, 6]]);
});

test("several requests: each has its shelf where they fit, and the next write may lie over padding", () => {
  assert.deepEqual(shelves(recorded("two", 1)).map((s) => [s.title, s.note]), [["Request A", "next write: row 4, over padding"], ["Request B", "next write: row 6"]]);
  assert.deepEqual(shelves(recorded("both", 2, { request: 1 })).map((s) => s.title), ["B: Source cache", "B: Target cache"]);
});

test("rows that are not written yet are spoken of only where some are to come, and one row is one row", () => {
  const w = recorded("translation", 4);
  const [source, target] = shelves(w);
  assert.equal(sorts(w, [source, target]), "layer over layer; dashed rows are not written yet");
  assert.equal(sorts(w, [source]), "the source stays; the rest is overwritten at every step");
  w.moved = { ...w.moved, kept: [{ path: "L1.newest", axes: ["b", "k", "d"], shape: [1, 1, 2], bytes: 8, grows: false, bytes_per_row: 0 }] };
  assert.deepEqual(shelves(w).map((s) => s.note), ["newest 1 row, 8 B, fixed"]);
});

test("a beam shows what one hypothesis keeps, so that nothing moves when one becomes several", () => {
  const w = recorded("two", 1);
  w.opened = { ...w.opened, scenario: { ...w.opened.scenario, policy: { ...w.opened.scenario.policy, kind: "beam" } } };
  w.moved = { ...w.moved, phase: "decode" };
  assert.deepEqual(shelves(w).map((s) => s.title), ["Request A"]);
});

test("the source has its place before it is read, so that nothing moves when it is kept", () => {
  const titles = (step) => shelves(recorded("both", step)).map((s) => s.title);
  assert.deepEqual(titles(0), ["A: Source rows", "A: Target cache"]);
  assert.deepEqual(titles(1), ["A: Source cache", "A: Target cache"]);
  assert.deepEqual(shelves(recorded("both", 0)).map((s) => s.note), ["not computed yet", "next write: row 0"]);
});

test("work of a prefill pass: rows that ran, rows that are real, rows that decide", () => {
  assert.deepEqual([0, 1].map((n) => work(recorded("two", n))), [{ run: 0, used: 0, decide: 0 }, { run: 12, used: 10, decide: 2 }]);
  assert.deepEqual(work(recorded("both", 2)), { run: 10, used: 8, decide: 2 });
});

test("a state of fixed size comes from the running configuration; without anything that grows there is nothing to compare", () => {
  assert.deepEqual(fixedState(recorded("translation", 4)), { floats: 128, layers: 2, width: 64, bytes: 512 });
  assert.deepEqual(fixedState(recorded("two", 1)).bytes, 1024);
  const still = recorded("translation", 4);
  still.moved = { ...still.moved, kept: still.moved.kept.filter((k) => !k.grows) };
  assert.equal(fixedState(still), null);
});

test("a recurrent state, of whatever name, needs nothing new", () => {
  const w = recorded("two", 3);
  const kept = [
    { path: "layer0.h", axes: ["b", "n"], shape: [2, 32], bytes: 256, grows: false, bytes_per_row: 0 },
    { path: "layer0.c", axes: ["b", "n"], shape: [2, 32], bytes: 256, grows: false, bytes_per_row: 0 },
    { path: "layer1.keys", axes: ["b", "g", "t'", "e"], shape: [2, 1, 5, 8], bytes: 320, grows: true, bytes_per_row: 64 },
  ];
  w.moved = { ...w.moved, kept };
  assert.deepEqual(brief(banks(kept)), [["", false, "m0 m0", 512], ["t", true, "k1", 320]]);
  assert.deepEqual(shelves(w).filter((s) => s.owner === "").map((s) => [s.title, s.note]), [["A: State", "256 B, fixed"]]);
  assert.deepEqual(total([]), { now: 0, perRow: 0, rows: 0 });
});

test("training: what is held for the backward pass is counted from the recorded values themselves", () => {
  const w = recorded("training", 4);
  const all = held(w);
  assert.deepEqual(all.map((h) => h.op), w.moved.stages[1].ops);
  const { b, t, d, v } = w.moved.sizes;
  assert.equal(all.find((h) => h.op === "logits").bytes, b * t * v * 4);
  assert.equal(all.find((h) => h.op === "decoder.embedding").bytes, 3 * b * t * d * 4, "token, position, sum");
  assert.deepEqual([held(recorded("training", 1)), held(recorded("translation", 3))], [[], []]);
});

test("the table lists every kept tensor with its bytes", () => {
  const { columns, rows } = view.table(recorded("translation", 4));
  assert.deepEqual([columns.length, rows.length, rows[0].slice(0, 4)], [6, 9, ["encoder.memory", "b s d", "1 × 4 × 64", 1024]]);
  assert.equal(rows.reduce((sum, r) => sum + r[3], 0), 9216);
});
