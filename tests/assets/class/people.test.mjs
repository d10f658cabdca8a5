import assert from "node:assert/strict";
import test from "node:test";

import { doing, editsSince, grouped, heldIn, lasting, pinsOf, teachersPin, together, whereOf } from "../../../assets/class/people.mjs";
import { covers, pinned } from "../../../assets/lib/deck/pins.mjs";
import { laid, steps } from "../../../assets/lib/deck/blocks.mjs";
import { line, pass } from "../../../assets/lib/deck/moments.mjs";
import { reasons } from "../../../assets/lib/deck/reasons.mjs";
import { training, world } from "../views/world.mjs";

const person = (name, state, where, more = {}) => ({ name, state, where, edits: 0, seconds: 10, ...more });
const decode = (step, label = "") => ({ phase: "decode", step, label });

test("where a run stands, as the others are told", () => {
  assert.deepEqual(whereOf(world()), { phase: "decode", step: 2, label: "chat" });
  assert.equal(whereOf(training()).phase, "train");
  assert.equal(whereOf({ ...world(), moved: null }), null);
});

test("people by what they do, where, and for how long", () => {
  const all = [person("Ada", "following", decode(3)), person("Bao", "own", decode(1, "le"), { edits: 2 }), person("Cleo", "lost", null), person("Elif", "following", decode(3))];
  const { following, own, lost } = grouped(all);
  assert.deepEqual([following, own, lost].map((g) => g.map((p) => p.name)), [["Ada", "Elif"], ["Bao"], ["Cleo"]]);
  assert.equal(doing(own[0]), "decode 1 le, 2 edits");
  assert.equal(doing(lost[0]), "");
  assert.equal(lasting(person("x", "own", null, { seconds: 170 }), 10_000), "3 min");
  assert.equal(together(following), "2, all at decode 3");
  assert.equal(together([...following, person("Hana", "following", decode(2))]), "3");
});

test("marks count who stands at a step; who is lost stands nowhere", () => {
  const pins = pinsOf([person("a", "following", decode(2)), person("b", "own", decode(2)), person("c", "own", { phase: "prefill", step: 1 }), person("d", "lost", decode(2))], decode(2));
  assert.deepEqual(pins.map((p) => [p.phase, p.step, p.text, p.strong, p.title]), [["decode", 2, "2", true, "2 students at decode 2"], ["prefill", 1, "1", false, "1 student at prefill"]]);
  assert.deepEqual(teachersPin(null), []);
});

test("a mark lies on the block of its step, also where the run has not come; in training at the same update", () => {
  const w = world();
  const { blocks } = laid(steps(w, pass(line(w.history, 2)), 7), 900);
  const at = (where) => [...pinned({ ...w, people: { follows: false, over: false, pins: teachersPin(where) } }, blocks).keys()];
  assert.deepEqual(at(decode(1)), ["d1"]);
  assert.deepEqual(at(decode(5)), ["d5"]);
  assert.deepEqual(at({ phase: "prefill", step: 1 }), ["prefill"]);
  assert.deepEqual(at({ phase: "train", step: 4 }), []);
  assert.deepEqual(pinned(w, blocks).size, 0, "no class, no marks");
});

test("a mark that would cover the word of its block hangs under it", () => {
  const [pin] = teachersPin(decode(1));
  assert.equal(covers({ width: 70, token: "le", title: "" }, pin), true);
  assert.equal(covers({ width: 90, token: "le", title: "" }, { ...pin, text: "3" }), false);
});

test("edits are what a copy holds beside what it began with", () => {
  const cell = (query, key) => ({ query, key, visible: false });
  const scenario = { architecture: "a", requests: [{ source: ["x"] }], masks: [], edits: [] };
  const base = heldIn(scenario);
  assert.equal(editsSince(scenario, base), 0);
  assert.equal(editsSince({ ...scenario, masks: [{ cells: [cell(1, 1), cell(2, 1)] }], edits: [{}] }, base), 3);
  assert.equal(editsSince({ ...scenario, requests: [{ source: ["y"] }] }, base), 1);
});

test("who follows is told why Step is the teacher's", () => {
  const reader = (people) => reasons({ ...world(), role: "reader", people }).step;
  assert.match(reader({ follows: true, over: false, pins: [] }), /^The teacher steps/);
  assert.match(reader({ follows: false, over: true, pins: [] }), /^The class is over/);
  assert.match(reader({ follows: false, over: false, pins: [] }), /^Read only: another page/);
});
