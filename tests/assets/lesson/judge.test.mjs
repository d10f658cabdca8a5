import assert from "node:assert/strict";
import test from "node:test";

import * as judge from "../../../assets/lesson/judge.mjs";
import { b, hued, q } from "../../../assets/lesson/said.mjs";
import { See } from "../../../assets/lesson/see.mjs";
import { world } from "../views/world.mjs";

const check = (done, more = {}) => ({ says: () => ["it"], done: (see) => done(see), now: (see) => String(see.step), mark: "", ...more });
const at = { says: () => "decode 2", here: (see) => see.step === 2, start: { scenario: {} } };
const moved = (more) => ({ ...world().moved, ...more });
const see = (more = {}) => new See(world(more), { id: "x", steps: [] });
const later = () => see({ moved: moved({ step: 3, at: 3 }) });

test("a step begins where it says, and keeps where that was", () => {
  const step = { at, checks: [] };
  assert.deepEqual(judge.noted(step, later(), {}), {});
  assert.deepEqual(judge.noted(step, see(), {}), { from: { at: 2, step: 2, phase: "decode", updates: 0 } });
  const kept = judge.noted(step, see(), {});
  assert.equal(judge.noted(step, later(), kept), kept, "it is not begun again");
  assert.equal(judge.elsewhere(step, later(), {}), true);
  assert.equal(judge.elsewhere(step, later(), kept), false, "from there one may go on");
});

test("a check is live, and stays done only where it says so", () => {
  const live = { checks: [check((s) => s.step === 3)] };
  const once = { checks: [check((s) => s.step === 3, { once: true })] };
  const begun = judge.noted(once, see(), {});
  const met = judge.noted(once, later(), begun);
  assert.deepEqual(met.met, [0]);
  assert.equal(judge.judged(once, see(), met)[0].done, true);
  assert.deepEqual([later(), see()].map((s) => judge.judged(live, s, begun)[0].done), [true, false]);
  assert.equal(judge.judged(live, later(), {})[0].done, false, "a step that did not begin has nothing done");
});

const question = (measured) => ({ asks: () => ["which?"], options: () => [{ key: "a", label: "A" }], measured, reveal: "step", verdict: () => [] });

test("a question is open while it is begun, not answered and not computed, and then nothing computes on", () => {
  const step = { at, checks: [], predict: question((s) => (s.step === 3 ? [1] : null)) };
  const begun = judge.noted(step, see(), {});
  assert.equal(judge.held(step, see(), begun), "Answer first: which?");
  assert.equal(judge.held(step, see(), {}), "", "not before it begins");
  assert.equal(judge.held(step, see(), { ...begun, said: "a" }), "");
  assert.equal(judge.held(step, later(), begun), "", "what is computed cannot be asked");
  assert.equal(judge.elsewhere(step, later(), begun), true, "but there is a way back");
  assert.deepEqual(judge.judged(step, see(), { ...begun, said: "a" })[0], { says: ["you predicted"], now: "A", mark: "", done: true });
});

test("the sentence of the stage asks it, with the hue of each token and no other", () => {
  const predict = { ...question(() => null), asks: () => ["what does ", q("le"), " read, ", b("first"), "?"] };
  const step = { at, checks: [], predict };
  const said = hued(judge.question(step, see(), judge.noted(step, see(), {})));
  assert.deepEqual(said, [{ text: "Answer first: " }, { text: "what does " }, { text: "le", role: "q" }, { text: " read, " }, { text: "first" }, { text: "?" }]);
  assert.deepEqual(hued(judge.question(step, see(), {})), []);
});

test("a lesson goes on when all is done at once, and what was done stays so", () => {
  const lesson = { steps: [{ checks: [check((s) => s.step === 3), check(() => true)] }, { checks: [] }] };
  let progress = { step: 0, done: 0, steps: {} };
  progress = judge.advanced(lesson, () => see(), progress);
  assert.equal(progress.done, 0);
  progress = judge.advanced(lesson, () => later(), progress);
  assert.equal(progress.done, 1);
  assert.equal(judge.advanced(lesson, () => see(), progress), progress, "nothing new is kept");
});

test("what one waits for is said", () => {
  const step = { at, checks: [check(() => false)], predict: question(() => null) };
  const begun = judge.noted(step, see(), {});
  assert.equal(judge.waiting(step, see(), begun, false), "waiting for your answer");
  assert.equal(judge.waiting(step, later(), {}, false), "waits at decode 2");
  assert.equal(judge.waiting(step, see({ connection: "offline" }), begun, false), "not connected: the checks wait");
  assert.equal(judge.waiting(step, see(), begun, true), "");
  assert.equal(judge.waiting(step, see(), begun, true, step), "", "the next one begins here");
  assert.equal(judge.waiting(step, later(), begun, true, step), "Next opens decode 2");
  const write = { checks: [], write: {} };
  assert.equal(judge.waiting(write, see(), judge.noted(write, see(), {}), false), "waiting for your sentence");
});

test("a step begins in the run that the lesson opened, not in one that was changed there", () => {
  const step = { at, checks: [check(() => true)], predict: question(() => null) };
  const changed = (scenario, more = {}) => see({ opened: { ...world().opened, scenario: { ...world().opened.scenario, ...scenario } }, moved: moved(more) });
  const greedy = world().opened.scenario.policy;
  const all = [changed({ masks: [{}] }), changed({ edits: [{}] }), changed({ policy: { ...greedy, kind: "sample" } }), changed({ policy: { ...greedy, temperature: 2 } }), changed({}, { updates: 1 })];
  for (const one of all) {
    assert.deepEqual(judge.noted(step, one, {}), {});
    assert.equal(judge.elsewhere(step, one, {}), true);
    assert.equal(judge.begins(step, one), "This step begins at decode 2, with no mask, setting or weight changed.");
  }
  const training = changed({}, { updates: 1, phase: "train" });
  assert.equal(judge.stands(step, training), true, "weights change in training");
  assert.equal(judge.begins(step, later()), "This step begins at decode 2.");
});
