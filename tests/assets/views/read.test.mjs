/** The strips and their ribbons: what is drawn of recorded reads, and where. */

import assert from "node:assert/strict";
import test from "node:test";

import { overview, scrollTo } from "../../../assets/lib/draw/minimap.mjs";
import { at, description, passes, shownFor, table as passTable } from "../../../assets/lib/read/passes.mjs";
import { placeAt } from "../../../assets/lib/read/pointing.mjs";
import * as read from "../../../assets/lib/reads.mjs";
import { keyReads, lengthSelectors, places, quantity, reserved, strongest } from "../../../assets/lib/read/ribbons.mjs";
import { layout } from "../../../assets/lib/read/strips.mjs";
import view, { scene } from "../../../assets/views/read.mjs";
import { recorded, watching } from "../recorded/recorded.mjs";
import { request, row, world } from "./world.mjs";

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);
const drawn = (name, commands, look, width = 808, height = 170) => scene(watching(recorded(name, commands, look), view), width, height);

test("a recorded read: its ribbons sum to 1 and the widest is the sentence's", () => {
  const s = drawn("translation", 4);
  near(s.reads.reduce((sum, r) => sum + r.amount, 0), 1);
  assert.deepEqual([s.row, s.keys[s.top].token, s.queries.map((q) => q.kind)], [3, "sleeps", ["known", "known", "known", "new", "next", "unknown"]]);
});

test("weight × value: the same quantity is drawn and printed, and the widest ribbon is the longest value vector", () => {
  const w = watching(recorded("translation", 4, { ribbon: "value" }), view);
  const weight = read.readCells(w, "read");
  const { amount, most, said } = quantity(w, weight, w.values("read", 1)[0]);
  const lengths = w.values("read", 1)[0];
  assert.equal(lengthSelectors(w)[0].path, "decoder.layer1.cross.values");
  for (let k = 0; k < 4; k++) near(amount(3, k), weight(3, k) * lengths.at(0, lengths.shape[1] - 1, k));
  near(most, Math.max(...[0, 1, 2, 3].map((k) => lengths.at(0, lengths.shape[1] - 1, k))));
  assert.equal(said(1.108), "1.11");
  assert.deepEqual(lengthSelectors(recorded("translation", 4)), []);
});

test("keys are read, hidden by you, masked by the program, padded, not known, or no number", () => {
  const states = (name, n, look) => drawn(name, n, look).reads.map((r) => r.state);
  assert.deepEqual(states("hidden", 1), ["open", "open", "user", "open"]);
  assert.deepEqual(states("alone", 1), ["model", "model", "model", "model", "model", "model", "open"]);
  assert.deepEqual(states("both", 2, { request: 1 }), ["open", "open", "padded", "padded"]);
  assert.deepEqual(states("not_finite", 0), ["nan", "nan", "nan", "nan"]);
  const w = world({}, { relation: "target_self", lock: { row: 1, key: 0 } });
  w.opened.relations[1].masks[1] = { program: "causal", parameter: 0, cells: [{ query: 1, key: 0, visible: false }], own: true };
  assert.deepEqual(keyReads(w, () => 0.5, 1).map((r) => [r.state, r.weight]), [["user", 0], ["open", 0.5], ["model", 0]]);
});

test("a row that is pointed at shows its read; a hover of the map does the same", () => {
  const w = watching(recorded("translation", 4), view);
  w.hover = { row: 1, key: 2 };
  const s = scene(w, 808, 170);
  assert.deepEqual([s.row, s.preview, s.keys[s.top].token], [1, true, "cat"]);
});

test("a point on a key is that key for the row; on a query, that row with what it reads most", () => {
  const s = drawn("translation", 4);
  const { geo } = s;
  assert.deepEqual(placeAt(s, geo.middle(0), geo.top + 5, 0), { row: 3, key: 0 });
  assert.deepEqual(placeAt(s, geo.middle(2), geo.bottom + 5, 0), { row: 2, key: 1 });
  assert.equal(placeAt(s, geo.middle(4), geo.bottom + 5, 0), null, "a decision reads nothing yet");
  assert.equal(placeAt(s, 4, geo.top + 5, 0), null);
});

test("the query strip ends with the decision and one place that is not known", () => {
  assert.deepEqual(places(world(), "t").map((p) => [p.kind, p.token]), [["known", "<bos>"], ["known", "le"], ["new", "chat"], ["next", "noir"], ["unknown", ""]]);
  assert.equal(places(world(), "s").length, 3);
  const chosen = request({ target: [row("<bos>"), row("le", "unknown", "model")], finished: "eos" });
  assert.deepEqual(places(world({ moved: { ...world().moved, requests: [chosen] } }), "t").map((p) => p.kind), ["known", "next"]);
  const early = world({}, { op: "decoder.layer0.self" });
  assert.deepEqual(places(early, "t").map((p) => p.kind), ["known", "known", "new", "unknown"], "before the logits nothing is decided");
});

test("slots keep their width while rows are written", () => {
  const slots = [2, 3, 4, 5, 6].map((n) => drawn("translation", n).geo.slot);
  assert.equal(new Set(slots).size, 1);
  assert.equal(reserved(recorded("translation", 2), { query: "t", key: "s" }), 8);
});

test("a strip that does not fit pans under a map of all rows, with a place for a key out of sight", () => {
  const short = layout(808, 170, 6, 8);
  assert.deepEqual([short.long, short.left, short.top], [false, 128, 14]);
  const s = drawn("long", 1);
  assert.deepEqual([s.geo.long, s.geo.left > 128 + s.geo.slot, s.geo.width > 121 * s.geo.slot], [true, true, true]);
  const o = overview(s.geo, 808, 123, 20 * s.geo.slot);
  near(o.from, 20);
  near(o.to, 20 + (808 - s.geo.left) / s.geo.slot);
  const scrolled = scrollTo(o, s.geo, o.x + o.width * (60 / 123));
  near(scrolled / s.geo.slot + (o.to - o.from) / 2, 60);
  assert.equal(layout(362, 170, 6).gutter, 0);
});

test("prefill of several requests: a strip each, and the row that decides is the last valid one", () => {
  const w = watching(recorded("two", 1), view);
  assert.ok(shownFor(w));
  const o = passes(w, 808, 170);
  assert.deepEqual(o.lines.map((l) => [l.name, l.rows.length, l.valid, l.decides, l.lead.token]), [["A", 6, 4, 3, "does"], ["B", 6, 6, 5, "the"]]);
  assert.deepEqual(at(o, o.gutter + 2.5 * o.slot, 14 + o.block + 4), { request: 1, row: 2 });
  assert.equal(at(o, o.gutter + 5.5 * o.slot, 18), null, "padding is no row");
  assert.equal(description(o), "Request A: 4 of 6 valid; row 3 cat decides does. Request B: 6 of 6 valid; row 5 and decides the.");
  assert.deepEqual(passTable(o).rows.map((r) => r.slice(0, 5)), [["A", 6, 4, 3, "does"], ["B", 6, 6, 5, "the"]]);
  assert.ok(!shownFor(watching(recorded("both", 2), view)), "with a source, the two strips of one request say more");
  assert.equal(passes(watching(recorded("two", 0), view), 808, 170).lines[0].lead, null);
});

test("the table holds the read of the current row, unrounded", () => {
  const w = watching(recorded("hidden", 1), view);
  const { columns, rows } = view.table(w);
  assert.deepEqual(columns.slice(0, 6), ["query row", "query", "key row", "key", "state", "weight"]);
  assert.deepEqual(rows.map((r) => [r[0], r[1], r[3], r[4]]), [[1, "le", "the", "read"], [1, "le", "black", "read"], [1, "le", "cat", "masked by you"], [1, "le", "sleeps", "read"]]);
  near(rows.reduce((sum, r) => sum + r[5], 0), 1);
  assert.equal(strongest(keyReads(w, read.readCells(w, "read"), 1)), 1);
});
