import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import test from "node:test";

import { labelled, one } from "../../../assets/lesson/asked.mjs";
import { advanced } from "../../../assets/lesson/judge.mjs";
import { lessons } from "../../../assets/lesson/lessons.mjs";
import { inPlace } from "../../../assets/lesson/lessons/bottleneck.mjs";
import { reach } from "../../../assets/lesson/lessons/gradient.mjs";
import { changed, left, rowOf } from "../../../assets/lesson/lessons/memory.mjs";
import { again, fresh, notes } from "../../../assets/lesson/progress.mjs";
import { See } from "../../../assets/lesson/see.mjs";
import { Store } from "../../../assets/lib/run/store.mjs";

const words = (text) => text.split(" ");

test("each lesson has a name of its own, is short, asks before it tells, and ends with a sentence of one's own", () => {
  assert.equal(new Set(lessons.map((lesson) => lesson.id)).size, lessons.length);
  for (const { id, steps } of lessons) {
    assert.ok(steps.length >= 4 && steps.length <= 6, `${id} has ${steps.length} steps`);
    assert.ok(steps.some((step) => step.predict), `${id} asks nothing`);
    assert.ok(steps.at(-1).write, `${id} ends without a sentence`);
    for (const step of steps) assert.ok(step.write || (step.at && step.checks.length), `${id}: a step that nothing completes`);
  }
});

test("a lesson says nothing of a run that is not there yet", () => {
  const { world } = new Store();
  world.values = () => [];
  for (const lesson of lessons) {
    lesson.wants?.(world);
    for (const step of lesson.steps) {
      const see = new See(world, lesson);
      for (const said of [step.title(), ...step.text(see)]) assert.ok(said.length);
      step.ring?.(see);
      if (step.at) assert.equal(step.at.here(see), false, `${lesson.id}: ${step.title()}`);
      assert.equal(step.predict?.measured(see) ?? null, null, `${lesson.id}: ${step.title()}`);
      step.predict?.options(see);
      for (const check of step.checks) {
        assert.equal(check.done(see), false, `${lesson.id}: ${step.title()}`);
        assert.equal(typeof check.now(see), "string");
      }
    }
  }
});

test("of options one comes true, the others have no number", () => {
  assert.deepEqual(one(["1", "8"], "8", 8), [NaN, 8]);
  assert.deepEqual(labelled(["a", "b"], ["A", "B"]), [{ key: "a", label: "A" }, { key: "b", label: "B" }]);
});

test("words are counted in their places, clause by clause", () => {
  const gold = words("le chat noir dort . le livre rouge est beau .");
  assert.deepEqual(inPlace(gold, words("le chat noir dort . le livre rouge est beau .")), [1, 1]);
  assert.deepEqual(inPlace(gold, words("le chat noir est noir . le beau livre est beau .")), [0.75, 0.6]);
  assert.deepEqual(inPlace(gold, words("le chat")), [0.5, 0]);
  assert.deepEqual(inPlace(gold, []), [0, 0]);
});

test("a share reaches back as far as no state before lacks it", () => {
  assert.equal(reach([0.001, 0.2, 0.05, 0.3, 1], 4, 0.1), 3);
  assert.equal(reach([0.4, 0.5, 1], 2, 0.1), 0);
  assert.equal(reach([null, 0.05, 1], 2, 0.1), 2);
});

test("a state: which numbers are others, and what is left of what a row wrote", () => {
  assert.equal(changed([1, 2, 3, 4], [1, 2.5, 3, 5]), 0.5);
  assert.equal(left([3, 4], []), 1);
  assert.equal(left([3, 4], [[0.5, 0.5], [0.5, 0.5]]), 0.25);
  const tape = { shape: [1, 2, 2, 2], at: (b, t, f, n) => 4 * t + 2 * f + n };
  assert.deepEqual(rowOf(tape, 1), [4, 5, 6, 7]);
  assert.equal(rowOf(tape, 2), null);
  assert.equal(rowOf({ ...tape, at: () => NaN }, 0), null);
});

test("what a step notes when it is done, later ones can say; beginning it again forgets the answer alone", () => {
  const world = { ...new Store().world, moved: { at: 1, phase: "decode", step: 1, updates: 0, requests: [] } };
  let done = false;
  const step = { title: () => "", text: () => [], checks: [{ says: () => [], done: () => done, now: () => "", mark: "" }], note: (see) => ({ step: see.step }) };
  const lesson = { id: "one", steps: [step] };
  const see = (kept) => new See(world, lesson, kept);
  const before = advanced(lesson, see, fresh());
  assert.deepEqual(notes(before), {});
  done = true;
  const after = advanced(lesson, see, before);
  assert.equal(after.done, 1);
  assert.deepEqual(notes(after), { step: 1 });
  assert.equal(advanced(lesson, see, after), after);
  assert.deepEqual(notes(again(after)), { step: 1 });
  assert.equal(new See(world, lesson, {}, notes(after)).note("step"), 1);
  assert.equal(new See(world, lesson).note("step"), null);
});

test("each file is in the list, under its name", () => {
  const files = readdirSync(new URL("../../../assets/lesson/lessons/", import.meta.url)).map((name) => name.replace(".mjs", ""));
  assert.deepEqual(lessons.map((l) => l.id).sort(), files.sort());
});
