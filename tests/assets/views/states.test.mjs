import assert from "node:assert/strict";
import { test } from "node:test";

import { chain as chainOf, at as placeAt } from "../../../assets/lib/states/chains.mjs";
import { passed, stale } from "../../../assets/lib/states/passing.mjs";
import { sharesOf } from "../../../assets/lib/states/stateshares.mjs";
import { bands, readout, spotAt } from "../../../assets/lib/states/statestrips.mjs";
import * as tapes from "../../../assets/lib/states/tapes.mjs";
import { axis } from "../../../assets/lib/draw/timeaxis.mjs";
import chain from "../../../assets/views/chain.mjs";
import { sentence } from "../../../assets/views/sentence.mjs";
import { walked } from "../../../assets/lib/states/pointing.mjs";
import states, { tops, widen } from "../../../assets/views/states.mjs";
import { known, request, row, world } from "./world.mjs";

const tap = (path, axes, type = "hidden") => ({ path, axes: axes.split(" "), shape: [], dtype: "float32", owner: "target row", type, lifetime: "this call", editable: true, gradient: true });
const LSTM = ["input", "forget", "output", "candidate"];
const lstm = (scope, owner) => [...LSTM.map((name) => tap(`${scope}.${name}`, `b ${owner} n`)), ...["cell", "hidden"].map((name) => tap(`${scope}.${name}`, `b ${owner} n`, "state"))];

/** Three rows and two units: forget 0.9 0.5, input 0.2 0.4, the rest 0.1 with the row's number. */
const NUMBERS = { forget: [[[0.8, 0.4], [0.9, 0.5], [1, 0.5]]], input: [[[0.2, 0.4], [0.2, 0.4], [0.1, 0.3]]] };
const numbers = (path) => NUMBERS[path.slice(path.lastIndexOf(".") + 1)] ?? [[[0, 0.1], [1, 1.1], [-2, 2.1]]];

/** A language model with one LSTM; `more` taps; answers every selector of a view with the numbers above. */
function recurrent(more = {}, look = {}, taps = [tap("ids", "b t", "ids"), tap("token", "b t d"), ...lstm("recurrence.layer0", "t"), tap("logits", "b t v", "logits")]) {
  const base = world({}, { relation: "", layer: 0, ...look });
  const made = { ...base, schema: { taps }, opened: { ...base.opened, relations: [], vocabulary: { source: null, target: base.opened.vocabulary.target }, scenario: { ...base.opened.scenario, config: {}, ...more.scenario } } };
  const rows = [row("<bos>", "known", "special"), row("the"), row("cat", "new", "model")];
  made.moved = { ...base.moved, sizes: { b: 1, t: 1, n: 2, d: 4 }, requests: [request({ source: null, target: rows, ...more.request })], ...more.moved };
  made.values = (view, i) => {
    const wants = (view === "states" ? states : view === "chain" ? chain : { wants: tapes.gateSelectors }).wants(made);
    return wants[i] ? [known(wants[i].path, "b t n", numbers(wants[i].path))] : [];
  };
  return { ...made, ...more.world };
}

test("tapes are found by axes and types: carried first, then gates, then what they let in", () => {
  const [group] = tapes.groups(recurrent());
  assert.deepEqual(group.tapes.map((t) => t.letter), ["c", "h", "f", "i", "g", "o"]);
  assert.deepEqual(group.tapes.map((t) => [t.carried, t.gate]), [[true, false], [true, false], [false, true], [false, true], [false, false], [false, true]]);
  assert.deepEqual([group.scope, group.owner, group.name], ["recurrence.layer0", "t", "layer 1"]);
});

test("an encoder's tapes are groups of their own; two directions are told apart", () => {
  const all = tapes.groups(recurrent({}, {}, [...lstm("encoder.layer0", "s"), ...lstm("encoder.backwards.layer0", "s"), ...lstm("decoder.layer0", "t")]));
  assert.deepEqual(all.map((g) => [g.owner, g.name]), [["s", "layer 1"], ["s", "backwards layer 1"], ["t", "layer 1"]]);
});

test("where nothing is carried, what each row makes is shown, and its window", () => {
  const w = recurrent({ moved: { sizes: { b: 1, t: 1, n: 2, k: 2 } } }, {}, [tap("ids", "b t", "ids"), tap("window.token", "b t k d"), tap("hidden", "b t n"), tap("logits", "b t v", "logits")]);
  assert.deepEqual(tapes.groups(w).map((g) => g.tapes.map((t) => t.path)), [["hidden"]]);
  assert.equal(tapes.windowSize(w), 2);
  assert.equal(tapes.loops(w), false);
  assert.equal(states.applies(w) && chain.applies(w), true);
  assert.equal(states.applies(world()) || chain.applies(world()), false, "with reads the map has its place");
});

test("how much is kept is the forget gate's mean, or the update gate's as the Config reads it", () => {
  const w = recurrent();
  const of = tapes.values(w, "chain", 2);
  const group = tapes.shown(w);
  assert.equal(tapes.mean(tapes.keeping(w, group), of, 2, 1).toFixed(3), "0.700");
  assert.equal(tapes.mean(tapes.writing(w, group), of, 2, 1).toFixed(3), "0.300");
  const gru = [tap("r.layer0.reset", "b t n"), tap("r.layer0.update", "b t n"), tap("r.layer0.candidate", "b t n"), tap("r.layer0.hidden", "b t n", "state")];
  const gate = (update) => {
    const world = recurrent({ scenario: { config: { update } } }, {}, gru);
    return tapes.keeping(world, tapes.shown(world)).of(0.9);
  };
  assert.equal(gate("carries"), 0.9);
  assert.equal(gate("writes").toFixed(3), "0.100");
  const tanh = recurrent({}, {}, [tap("r.layer0.hidden", "b t n", "state")]);
  assert.equal(tapes.keeping(tanh, tapes.shown(tanh)), null);
});

test("the sentence: what is read, what was kept, what leads; a locked row; no gate; a window", () => {
  const said = (w) => sentence(w, () => NaN, 0).parts.map((p) => p.text).join("");
  assert.equal(said(recurrent()), "Row 2 cat reads only the state; the forget gates kept 75% of the cell; noir leads at 0.800.");
  assert.match(said(recurrent({}, { lock: { row: 0, key: 1 } })), /^Row 0 <bos> begins from a state of zeros; after row 2 cat, noir leads/);
  assert.match(said(recurrent({}, {}, [tap("r.layer0.hidden", "b t n", "state")])), /^Row 2 cat reads only the state; noir/);
  const window = (k) => recurrent({ moved: { sizes: { k, n: 2 } } }, {}, [tap("window.token", "b t k d"), tap("hidden", "b t n")]);
  assert.match(said(window(2)), /^Row 2 cat reads only the newest 2 rows, from the on; /);
  assert.match(said(window(5)), /^Row 2 cat reads every row so far, each by its place: the window holds 5; /);
});

test("before the op cursor reaches the loop its newest row is not computed, and nothing is said of it", () => {
  const moved = { stages: [{ name: "read", ms: 1, rows: 1, ops: ["token", "recurrence.layer0", "logits"] }] };
  const w = recurrent({ moved }, { op: "token" });
  assert.equal(tapes.computed(w, tapes.shown(w), 2), false);
  assert.equal(tapes.computed(w, tapes.shown(w), 1), true);
  assert.equal(chainOf(w, 800, 180, tapes.values(w, "chain", 2)).target.last, 1);
});

test("one axis: what fits is spread, what does not pans, and the chain's rows are found under the pointer", () => {
  assert.equal(axis(600, 6, 6).long, false);
  assert.equal(axis(600, 30, 6).long, true);
  const w = recurrent();
  const c = chainOf(w, 600, 180, tapes.values(w, "chain", 2));
  assert.deepEqual(placeAt(c, c.geo.middle(1), c.y.top + 4, 0), { owner: "t", row: 1 });
  assert.equal(placeAt(c, c.geo.middle(3), c.y.top + 4, 0), null, "what is decided has no state yet");
});

test("of a source: its chain, the summary and how it is handed over, in the words of the Config", () => {
  const source = [row("the", "known"), row("cat", "known")];
  const taps = [...lstm("encoder.layer0", "s"), tap("encoder.summary", "b n", "state"), tap("encoder.initial0", "b n", "state"), tap("decoder.summary", "b n", "state"), ...lstm("decoder.layer0", "t")];
  const kept = [{ path: "encoder.summary", axes: ["b", "n"], shape: [1, 2], bytes: 8, grows: false, bytes_per_row: 0 }];
  const w = recurrent({ request: { source }, scenario: { config: { reduction: "final", delivery: "both", reverse: true } }, moved: { kept } }, {}, taps);
  assert.deepEqual(tapes.summary(w), { from: "last", made: "the last state", start: true, every: true, handed: ["as first state", "in every step"], kept: true, width: 2, path: "encoder.summary" });
  const c = chainOf(w, 800, 180, tapes.values(w, "chain", 4));
  assert.deepEqual([c.source.at, c.target.at, c.source.back], [0, 4, true]);
});

test("bands: all units where they fit, else so many that each can be seen; the pointer finds tape, row and unit", () => {
  assert.equal(bands(300, 1, 64, false).units, 64);
  const y = bands(280, 6, 64, true);
  assert.equal(y.units, Math.floor(y.band / 3));
  const group = tapes.shown(recurrent());
  const s = { geo: axis(600, 4, 6), tapes: group.tapes, names: ["a", "b", "c"], columns: ["ok", "ok", "ok", "later"], value: (k, t, u) => k + t / 10 + u / 100, first: 3, units: y.units, width: 64, y, passes: { norms: [null, 0.5, 0.25], products: [], most: 1 } };
  assert.deepEqual(spotAt(s, s.geo.middle(1), y.top + 2 * y.each + 1, 0), { tape: 2, row: 1, unit: 3 });
  assert.equal(spotAt(s, s.geo.middle(3), y.top, 0), null);
  assert.deepEqual(readout(s, { tape: 0, row: 1, unit: 3 }, "locked").slice(0, 4), ["locked", "row 1 b, unit 3: ", "c = 0.13 ◉", "  ‖J‖ 0.50 ◉"]);
});

test("norms hold for the rows that were measured, as long as those and the weights are the same", () => {
  const group = { scope: "recurrence.layer0", owner: "t" };
  const result = { moment: 2, request: 0, since: null, ids: { t: [9, 9], s: null }, scopes: [{ ...group, states: ["cell", "hidden"], order: "forward", norms: [null, 0.5], products: [null, null] }] };
  const w = recurrent({ world: { analysis: { state_jacobian: { progress: 1, result } } } });
  assert.deepEqual(passed(w, group).norms, [null, 0.5]);
  assert.equal(stale(w, group, 2, null), false);
  assert.equal(stale(w, group, 3, null), true, "a row came");
  assert.equal(stale(w, group, 2, 1), true, "products since another row");
  assert.equal(passed({ ...w, moved: { ...w.moved, updates: 3 } }, group), null, "other weights");
  const other = { ...w.moved.requests[0], target: [row("<bos>", "known", "special"), row("dog", "known", "person", { id: 4 })] };
  assert.equal(passed({ ...w, moved: { ...w.moved, requests: [other] } }, group), null, "other rows");
});

test("tables: every number of the strips, and of the chain what each row writes, keeps and decides", () => {
  const w = recurrent();
  const t = states.table(w);
  assert.deepEqual(t.columns.slice(0, 5), ["row", "token", "unit", "recurrence.layer0.cell", "recurrence.layer0.hidden"]);
  assert.equal(t.rows.length, 6);
  assert.deepEqual(t.rows[3].slice(0, 6), [1, "the", 1, 1.1, 1.1, 0.5]);
  assert.deepEqual(chain.table(w).rows[1].map((v) => (typeof v === "number" ? Number(v.toFixed(3)) : v)), ["target", 1, "the", 0.3, 0.7, "cat"]);
});

test("how much of a state stays, fades and is written are lengths of vectors", () => {
  const named = (name) => ({ name, channel: "f" });
  const values = [[[3, 4], [6, 8]], [[0, 0], [1, 0.5]], [[3, 4], [0, 2]]]; // state, kept, written of two rows
  const at = (tape, row, unit) => values[tape][row][unit];
  const [first, second, later] = sharesOf(["state", "kept", "written"].map(named), ["ok", "ok", "later"], at, 2);
  assert.deepEqual([first, later], [{ before: 0, kept: 0, written: 5 }, null]);
  assert.deepEqual([second.before, second.kept.toFixed(4), second.written], [5, Math.sqrt(13).toFixed(4), 2]);
  assert.equal(sharesOf([named("state"), named("written")], ["ok"], at, 2), null);
});

test("the scale of states widens where a state leaves it, by what is known and no gate; strips of a channel end at their own largest", () => {
  const columns = /** @type {any[]} */ (["ok", "ok", "later"]);
  const each = [[[0.5, -9], [3, 1], [70, 0]], [[40, 0], [0, 0], [0, 0]]].map((rows) => (/** @type {number} */ row, /** @type {number} */ unit) => rows[row][unit]);
  const stage = { most: 1, tops: [] };
  assert.deepEqual(widen(stage, [{}, { gate: true }], columns, each, 2), [10, 10]);
  assert.deepEqual(widen({ most: 1, tops: [] }, [{}, {}], columns, [each[0], () => 0.3], 2), [10, 1], "one that lies in -1..1 keeps its scale");
  stage.most = 9.2; // as "fit" sets it
  widen(stage, [{}, { gate: true }], columns, each, 2);
  assert.equal(stage.most, 9.2);
  assert.deepEqual(tops(stage, columns, each, 2), [9, 40]);
});

test("the keys walk over rows that are computed and over units, from tape to tape", () => {
  const s = { tapes: [{}, {}], width: 4, columns: ["padded", "ok", "ok", "later"] };
  const to = (tape, row, unit, ...by) => (({ tape, row, unit }) => [tape, row, unit])(walked(s, { tape, row, unit }, by));
  assert.deepEqual([to(0, 1, 2, 1, 0), to(0, 2, 2, 1, 0), to(0, 0, 2, -1, 0)], [[0, 2, 2], [0, 2, 2], [0, 0, 2]]);
  assert.deepEqual([to(0, 1, 3, 0, 1), to(1, 1, 3, 0, 1), to(0, 1, 1, 0, 4)], [[1, 1, 0], [1, 1, 3], [1, 1, 0]]);
  assert.deepEqual([to(1, 1, 0, 0, -1), to(0, 1, 0, 0, -1)], [[0, 1, 3], [0, 1, 0]]);
});
