/** States with channels, and kernels in their place: found by their axes, one channel at a time. */

import assert from "node:assert/strict";
import test from "node:test";

import * as kernels from "../../../assets/lib/states/kernels.mjs";
import * as tapes from "../../../assets/lib/states/tapes.mjs";
import view, { plot, said } from "../../../assets/views/kernel.mjs";
import { note } from "../../../assets/views/sentence.mjs";
import states from "../../../assets/views/states.mjs";
import { known, request, row, world } from "./world.mjs";

const tap = (path, axes, type = "hidden", more = {}) => ({ path, axes: axes.split(" "), shape: [], type, gradient: true, ...more });
const KERNEL = tap("parameter.kernel.layer0", "d l", "parameter", { shape: [3, 20], gradient: false });
const TAPS = [
  tap("ids", "b t", "ids"), tap("layer0.content", "b t d"), tap("layer0.step", "b t d"), tap("layer0.write_at", "b t n"), tap("layer0.kept", "b t d n", "coefficients"),
  tap("layer0.written", "b t d n"), tap("layer0.state", "b t d n", "state"), tap("layer0.output", "b t d"), tap("logits", "b t v", "logits"),
];
/** [b][t][d][n]: row, channel, unit as three digits. */
const STATE = [[0, 1, 2].map((t) => [0, 1, 2].map((d) => [0, 1].map((n) => 100 * t + 10 * d + n)))];

function channels(look = {}, taps = TAPS) {
  const base = world({}, { relation: "", layer: 0, head: 1, ...look });
  const made = { ...base, schema: { taps, formulas: [] }, opened: { ...base.opened, relations: [], scenario: { ...base.opened.scenario, config: {} } } };
  made.moved = { ...base.moved, sizes: { b: 1, t: 1, d: 3, n: 2 }, requests: [request({ source: null, target: [row("<bos>"), row("the"), row("cat", "new")] })] };
  made.values = (name, i) => {
    const wants = (name === "states" ? states : view).wants(made);
    if (!wants[i]) return [];
    if (wants[i].path === KERNEL.path) return [known(KERNEL.path, "d l", [[], Array.from({ length: 20 }, (_, l) => (l === 4 ? -0.9 : 0.1 * l))])];
    return wants[i].path === "layer0.state" ? [known("layer0.state", "b t d n", STATE)] : [known(wants[i].path, "b t d", [[[1, 2, 3], [4, 5, 6], [7, 8, 9]]])];
  };
  return made;
}

test("a state with channels has its vectors by channel, those that all channels share, and single numbers", () => {
  const [group] = tapes.groups(channels());
  assert.deepEqual([group.channel, group.tapes.map((t) => [t.letter, t.channel, t.single])], ["d", [["S", "d", false], ["a", "d", false], ["w", "d", false], ["Δ", "d", true], ["B", "", false], ["x", "d", true]]]);
  assert.deepEqual(tapes.channelOf(channels(), group), { at: 1, count: 3 });
  assert.deepEqual(tapes.channelOf(channels({ head: 9 }), group), { at: 2, count: 3 });
  assert.deepEqual(states.wants(channels())[0], { path: "layer0.state", index: { b: 0, d: 1 }, dtype: "f32" });
  assert.deepEqual(states.wants(channels())[4], { path: "layer0.write_at", index: { b: 0 }, dtype: "f32" });
});

test("numbers are those of the channel that is looked at", () => {
  const of = tapes.values(channels(), "states", 6);
  assert.deepEqual([of("layer0.state")(2, 1), of("layer0.step")(2, 0), of("layer0.step")(2, 1)], [211, 8, 8]);
  assert.deepEqual(tapes.lookAt(channels(), "t", 2, 1).layout, { columns: "n", rows: "", panels: "", index: { t: 2, d: 1 } });
});

test("a scan is no loop, and prefill says which of them it was", () => {
  const w = channels();
  Object.assign(w.moved, { phase: "prefill", stages: [{ name: "read", ms: 1, rows: 3, ops: [] }] });
  assert.equal(tapes.loops(w), true);
  assert.match(note(w).text, /one after another/);
  w.opened.scenario.config = { schedule: "scan" };
  assert.equal(tapes.loops(w), false);
  assert.match(note(w).text, /^One pass: 3 rows at once/);
});

test("a kernel stands in place of states when it is asked for, or where no state is made", () => {
  const has = [...TAPS, KERNEL];
  assert.deepEqual([kernels.inPlace(channels({}, has)), kernels.both(channels({}, has)), states.applies(channels({}, has))], [false, true, true]);
  assert.deepEqual([kernels.inPlace(channels({ show: "kernel" }, has)), states.applies(channels({ show: "kernel" }, has))], [true, false]);
  assert.equal(kernels.inPlace(channels({ show: "kernel" })), false, "a model without one");
  assert.equal(kernels.inPlace(channels({}, [tap("ids", "b t", "ids"), KERNEL])), true, "no state is made");
  assert.deepEqual(kernels.kernels(channels({}, has)), [{ path: KERNEL.path, name: "layer 1", channel: "d", channels: 3, lags: 20, formula: null }]);
});

test("the plot says what stands at each lag now, and the lag that weighs most", () => {
  const w = channels({ show: "kernel" }, [...TAPS, KERNEL]);
  const p = plot(w, kernels.kernels(w)[0], null);
  assert.deepEqual([p.values.length, p.names.slice(0, 4), p.newest], [16, ["cat", "the", "<bos>", ""], 2]);
  assert.equal(said(p), "lag 15: K = 1.50");
  assert.equal(said({ ...p, hover: 1 }), "lag 1, now row 1 the: K = 0.10");
  assert.deepEqual(view.table(w).rows[4], [4, "", -0.9]);
});
