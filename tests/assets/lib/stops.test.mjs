import assert from "node:assert/strict";
import test from "node:test";

import { fits, has, isStop, keyOf, label, reached, toggled, typedStop } from "../../../assets/lib/deck/stops.mjs";
import { row, training, world } from "../views/world.mjs";

const step = { kind: "step", phase: "decode", step: 3 };

test("a stop is set and removed, however its fields are ordered", () => {
  const same = { step: 3, kind: "step", phase: "decode" };
  assert.equal(keyOf(step), keyOf(same));
  assert.deepEqual(toggled([], step), [step]);
  assert.deepEqual(toggled([step], same), []);
  assert.equal(has([step], { ...step, step: 4 }), false);
});

test("what comes from a link is a stop or is left out", () => {
  for (const good of [step, { kind: "token", token: 0 }, { kind: "loss", side: "above", value: -1 }, { kind: "op", phase: "train", scope: "a.b" }, { kind: "stage", phase: "train", stage: "clip" }]) assert.equal(isStop(good), true);
  for (const bad of [null, 3, {}, { ...step, step: 0 }, { ...step, step: 1.5 }, { ...step, phase: "sleep" }, { kind: "token", token: -1 }, { kind: "loss", side: "beside", value: 1 }, { kind: "loss", side: "below", value: NaN }, { kind: "op", phase: "train", scope: "" }, { kind: "moon" }]) assert.equal(isStop(bad), false);
});

test("a typed stop is made or refused with what is allowed", () => {
  const w = world();
  w.opened.vocabulary = { source: [], target: ["<pad>", "chat", "noir"] };
  assert.deepEqual(typedStop(w, "step", " 12 "), { stop: { kind: "step", phase: "decode", step: 12 } });
  assert.deepEqual(typedStop(w, "token", "noir"), { stop: { kind: "token", token: 2 } });
  assert.deepEqual(typedStop(w, "below", "1e-2"), { stop: { kind: "loss", side: "below", value: 0.01 } });
  assert.deepEqual(typedStop(training(), "step", "3").stop, { kind: "step", phase: "train", step: 3 });
  for (const [kind, given] of [["step", "0"], ["step", "2.5"], ["step", ""], ["token", "chien"], ["above", "much"], ["below", ""]]) assert.match(typedStop(w, kind, given).problem, /allowed/);
});

test("a stop of another model is known not to fit, and every kind has a name", () => {
  const w = world();
  assert.equal(fits(w, { kind: "op", phase: "decode", scope: "decoder.layer1.cross" }), true);
  assert.equal(fits(w, { kind: "op", phase: "decode", scope: "decoder.layer9.cross" }), false);
  assert.equal(fits(w, { kind: "token", token: 20 }), false);
  const named = [step, { kind: "token", token: 1 }, { kind: "loss", side: "above", value: 0.5 }, { kind: "op", phase: "decode", scope: "decoder.layer1.cross" }, { kind: "stage", phase: "train", stage: "clip" }].map((s) => label(w, s));
  assert.deepEqual(named, ["after decode 3", "where w is chosen", "where the loss rises above 0.500", "Decode: at dec L2 cross", "Train: after Clip"]);
});

test("by operation a stop is reached where the server would reach it", () => {
  const w = world();
  const at = (more, op = null) => ({ moved: { ...w.moved, ...more }, op });
  const written = (...tokens) => [{ target: tokens.map((id) => row("w", "known", "model", { id })) }];
  const came = (stop, before, now) => reached([stop], before, now) !== null;
  assert.equal(came(step, at({ at: 2, step: 2 }), at({ at: 3, step: 3 })), true);
  assert.equal(came(step, at({ at: 2, step: 2 }), at({ at: 3, step: 3, stage: "choose" })), false);
  assert.equal(came(step, at({ at: 3, step: 3 }, "a"), at({ at: 3, step: 3 }, "b")), false, "the run did not move");
  const op = { kind: "op", phase: "decode", scope: "b" };
  assert.equal(came(op, at({}, "a"), at({}, "b")), true);
  assert.equal(came(op, at({}, "b"), at({}, "b")), false);
  const read = { kind: "stage", phase: "decode", stage: "read" };
  const stages = (...names) => ["choose", "read"].map((name) => ({ name, ms: names.includes(name) ? 1 : null }));
  assert.equal(came(read, at({ at: 2 }), at({ at: 3, stage: "choose", stages: stages("choose") })), false);
  assert.equal(came(read, at({ at: 3, stage: "choose", stages: stages("choose") }), at({ at: 4, stages: stages("choose", "read") })), true);
  const token = { kind: "token", token: 7 };
  assert.equal(came(token, at({ at: 2, requests: written(5) }), at({ at: 3, requests: written(5, 7) })), true);
  assert.equal(came(token, at({ at: 3, requests: written(5, 7) }), at({ at: 4, requests: written(5, 7, 6) })), false);
  const loss = { kind: "loss", side: "below", value: 1 };
  const lost = (id, value) => ({ moved: { ...training({ loss: value }).moved, at: id }, op: null });
  assert.deepEqual([came(loss, lost(1, 2), lost(2, 0.5)), came(loss, lost(2, 0.5), lost(3, 0.4)), came(loss, lost(1, 2), lost(2, "NaN"))], [true, false, false]);
});
