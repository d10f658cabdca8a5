import assert from "node:assert/strict";
import { test } from "node:test";

import { carried, carryOf, fading, largest, left, selectors, write } from "../../../assets/lib/states/carrying.mjs";
import * as tapes from "../../../assets/lib/states/tapes.mjs";
import { apart, asked, found, rounding } from "../../../assets/lib/states/ways.mjs";
import view, { byPlace, ofUnit } from "../../../assets/views/inspector_carried.mjs";
import { known, request, row, world } from "./world.mjs";

const tap = (path, axes, type = "hidden") => ({ path, axes: axes.split(" "), shape: [], dtype: "float32", owner: "target row", type, lifetime: "this call", editable: true, gradient: true });
const factor = (name, less = false) => ({ name, less });
const carry = (more) => ({ scope: "layer*", state: "state", kept: factor("kept"), written: [factor("written")], made: [], pairs: false, shown: null, read: "", ...more });

/** A model without reads, of three rows; `values` by name: axes and numbers. */
function model(declared, values, look = {}, more = {}) {
  const base = world({}, { relation: "", layer: 0, head: 0, ...look });
  const taps = Object.entries(values).map(([name, [axes]]) => tap(`layer0.${name}`, axes, name === declared.state ? "state" : axes.includes("n") ? "coefficients" : "hidden"));
  const rows = [row("a"), row("b"), row("c", "new", "model")];
  const made = {
    ...base, schema: { taps, carries: [declared] }, opened: { ...base.opened, relations: [], vocabulary: { source: null, target: [] }, scenario: { ...base.opened.scenario, config: more.config ?? {} } },
    moved: { ...base.moved, sizes: { b: 1, t: 1, n: 2, d: 2 }, requests: [request({ source: null, target: rows })] }, analysis: more.analysis ?? {},
  };
  made.values = (_, i) => {
    const path = selectors(made)[i]?.path;
    const value = values[path?.slice("layer0.".length)];
    return value ? [known(path, value[0], value[1])] : [];
  };
  return made;
}

/** One channel of two, one place of the state alone is not 0: written 1, 2, 4; kept 0.5 each time. */
const HALVES = { kept: ["b t d n", [[[[0.5, 0.1], [9, 9]], [[0.5, 0.1], [9, 9]], [[0.5, 0.1], [9, 9]]]]], written: ["b t d n", [[[[1, 0], [9, 9]], [[2, 0], [9, 9]], [[4, 0], [9, 9]]]]], state: ["b t d n", [[[[1, 0], [9, 9]], [[2.5, 0], [9, 9]], [[5.25, 0], [9, 9]]]]] };

test("what is left of a write is multiplied by every later row, and all of it is the state", () => {
  const c = carried(model(carry(), HALVES), "inspector_carried");
  const { rows, off } = left(c);
  assert.deepEqual(rows.map((r) => r.there), [[0.25, 0], [1, 0], [4, 0]]);
  assert.deepEqual(rows.map((r) => r.left), [0.25, 0.5, 1]);
  assert.equal(rows.reduce((sum, r) => sum + r.share, 0), 1);
  assert.equal(off, 0);
});

test("a pair turns as a complex number, from one kernel for all rows", () => {
  // Ā = i: what was real is imaginary one row later, then minus what it was
  const turned = { kept: ["d n", [[0, 1]]], written: ["d n", [[1, 0]]], input: ["b t d", [[[1], [2], [3]]]], state: ["b t d n", [[[[1, 0]], [[2, 1]], [[2, 2]]]]] };
  const w = model(carry({ pairs: true, written: [factor("written"), factor("input")] }), turned);
  const c = carried(w, "inspector_carried");
  assert.deepEqual(left(c).rows.map((r) => r.there.map((v) => v + 0)), [[-1, 0], [0, 2], [3, 0]]);
  assert.equal(left(c).off, 0);
  const shown = byPlace(write(c, 2), true, -1);
  assert.deepEqual(shown.head, ["n", "S₋₁", "Ā S₋₁", "B̄", "+ B̄u", "S"]);
  assert.deepEqual(shown.lines.map((l) => l.cells), [["0 re", "2.000", "−1.000", "1.000", "3.000", "2.000"], ["0 im", "1.000", "2.000", "0", "0", "2.000"]]);
  assert.equal(shown.note, "u 3.000");
});

test("a matrix joins places; its powers are followed", () => {
  const joined = { kept: ["d n n'", [[[0, 1], [2, 0]]]], written: ["d n", [[1, 0]]], input: ["b t d", [[[1], [1], [1]]]], state: ["b t d n", [[[[1, 0]], [[1, 2]], [[3, 2]]]]] };
  const c = carried(model(carry({ written: [factor("written"), factor("input")] }), joined), "inspector_carried");
  assert.deepEqual(left(c).rows.map((r) => r.there), [[2, 0], [0, 2], [1, 0]]);
  assert.equal(left(c).off, 0);
  assert.deepEqual(write(c, 2).carried, [2, 2]);
});

/** Forget 0.5, input 1, candidate 2 and one unit of 4: a gate in place of a channel. */
const LSTM = { forget: ["b t n", [[[0.5, 1], [0.5, 1], [0.5, 1]]]], input: ["b t n", [[[1, 1], [1, 1], [1, 1]]]], candidate: ["b t n", [[[2, 4], [2, 4], [2, 4]]]], output: ["b t n", [[[1, 1], [1, 1], [1, 1]]]], cell: ["b t n", [[[2, 4], [3, 8], [3.5, 12]]]], hidden: ["b t n", [[[0.9, 1], [0.9, 1], [0.9, 1]]]] };
const GATED = carry({ state: "cell", kept: factor("forget"), written: [factor("input"), factor("candidate")], shown: ["hidden", "output"] });

test("an LSTM's cell is told by its unit: terms, their sum, and what is shown of it", () => {
  const w = model(GATED, LSTM, { lock: { row: 1, key: 0 } });
  const c = carried(w, "inspector_carried");
  assert.deepEqual(ofUnit(write(c, 1), 0).lines.map((l) => l.cells), [["f · c₋₁", "0.50 × 2.00", "1.000"], ["i · g", "1.00 × 2.00", "2.000"], ["c", "sum", "3.000"], ["h = o · tanh c", "1.00 × 1.00", "0.900"]]);
  assert.deepEqual(left(c, 0).rows.map((r) => [r.left, r.there[0]]), [[0.25, 0.5], [0.5, 1], [1, 2]]);
  assert.deepEqual(left(c, 1).rows.map((r) => r.left), [1, 1, 1]);
  assert.deepEqual([fading(c, 0, 0), fading(c, 1, 0), fading(c, 2, 0)], [[0.5, 0.25], [0.5], []]);
  assert.equal(left(c).off, 0);
  assert.deepEqual(view.table(w).rows[1], [0, "a", 1, 4, 4, left(c).rows[0].left, left(c).rows[0].share]);
});

test("an update gate keeps what it does not write", () => {
  const gru = { update: ["b t n", [[[0.25, 1], [0.25, 1], [0.25, 1]]]], candidate: ["b t n", [[[4, 1], [4, 1], [4, 1]]]], hidden: ["b t n", [[[1, 1], [1.75, 1], [2.3125, 1]]]] };
  const c = carried(model(carry({ state: "hidden", kept: factor("update", true), written: [factor("update"), factor("candidate")] }), gru), "inspector_carried");
  assert.deepEqual(left(c).rows.map((r) => r.there[0]), [0.5625, 0.75, 1]);
  assert.equal(write(c, 2).keeps, "(1−z)");
});

test("a state of zeros has no shares, and without a declaration there is nothing to show", () => {
  const zeros = { ...HALVES, written: ["b t d n", [[[[0, 0]], [[0, 0]], [[0, 0]]]]], state: ["b t d n", [[[[0, 0]], [[0, 0]], [[0, 0]]]]] };
  assert.equal(left(carried(model(carry(), zeros), "inspector_carried")).rows.every((r) => Number.isNaN(r.share)), true);
  const other = model(carry({ scope: "other*" }), HALVES);
  assert.equal(carryOf(other, tapes.shown(other)), null);
  assert.equal(view.applies(other), false);
  assert.deepEqual(view.table(other).rows, []);
});

test("the largest shares in their order, the chosen row among them", () => {
  const rows = [0.1, 0.5, -0.6, 0.2, 0.8].map((share, row) => ({ row, token: "", there: [], wrote: [], left: 1, share }));
  assert.deepEqual(largest(rows, 3).lines.map((r) => r.row), [2, 4]);
  assert.equal(largest(rows, 3).others.count, 3);
  assert.equal(largest(rows, 3).others.share.toFixed(2), "0.80");
  assert.deepEqual(largest(rows, 3, 0).lines.map((r) => r.row), [0, 4]);
  assert.deepEqual(largest(rows, 5).others, { count: 0, share: 0 });
});

test("two ways: what is asked, and only what was measured of just that counts", () => {
  const declared = carry({ read: "read" });
  const values = { ...HALVES, read: ["b t d", [[[1, 2], [3, 4], [5, 6]]]] };
  const result = { moment: 2, request: 0, path: "layer0.read", channel: 1, ways: [{ schedule: "scan", steps: 1, values: [1, 2] }, { schedule: "loop", steps: 2, values: [1, 2.5] }] };
  const w = model(declared, values, { head: 1 }, { config: { schedule: "scan" }, analysis: { schedules: { result } } });
  assert.deepEqual(asked(w), { request: 0, path: "layer0.read", channel: 1 });
  assert.equal(found(w), result);
  assert.deepEqual(apart(result.ways), [0, 0.5]);
  assert.equal(rounding(result.ways), 2.5 * 2 ** -24);
  assert.equal(found({ ...w, look: { ...w.look, head: 0 } }), null);
  assert.equal(found({ ...w, moved: { ...w.moved, at: 3 } }), null);
  assert.equal(asked(model(declared, values)), null, "one way only");
});
