import assert from "node:assert/strict";
import test from "node:test";

import { measureWhenIdle } from "../../../assets/lib/run/measuring.mjs";
import { world } from "../views/world.mjs";

const REST = 900;

/** A view that is drawn with this world, as often as a test says; what it sent, each with how to answer it. */
function drawn(t, more = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sent = [];
  const context = { send: (command, there) => new Promise((answer) => sent.push({ ...command, there, answer: (errors = []) => answer({ ok: !errors.length, errors }) })) };
  const now = world(more);
  const name = t.name; // what is measured is known by its name, for the page's whole life
  return { now, sent, draw: (wanted = true, small = true, args = {}, there = false) => measureWhenIdle(now, context, name, args, wanted, small, there), rest: () => t.mock.timers.tick(REST) };
}

test("what is small is measured once the run rests, once at each moment", async (t) => {
  const { now, sent, draw, rest } = drawn(t);
  draw();
  t.mock.timers.tick(REST - 1);
  draw(); // drawn again, it does not wait anew
  assert.equal(sent.length, 0);
  t.mock.timers.tick(1);
  assert.deepEqual([sent[0].kind, sent[0].name, sent[0].there], ["analyse", t.name, false]);
  assert.equal(draw().running, true);
  await sent[0].answer();
  draw();
  rest();
  assert.deepEqual([sent.length, draw().running], [1, false]);
  now.moved = { ...now.moved, at: 3 };
  draw();
  rest();
  assert.equal(sent.length, 2, "another moment");
});

for (const [why, more, asked] of [
  ["it is not wanted", {}, [false, true]],
  ["it is large", {}, [true, false]],
  ["this page only reads", { role: "reader" }, []],
  ["there is no connection", { connection: "retrying" }, []],
  ["the run plays", { playing: { playing: true } }, []],
  ["a command is under way", { busy: true }, []],
])
  test(`nothing is measured by itself while ${why}`, (t) => {
    const { sent, draw, rest } = drawn(t, more);
    draw(...asked);
    rest();
    assert.equal(sent.length, 0);
  });

test("what waits is given up when the run goes on, also where the view is gone", (t) => {
  const { now, sent, draw, rest } = drawn(t);
  draw();
  now.busy = true;
  draw();
  now.busy = false;
  rest();
  assert.equal(sent.length, 0);
  draw();
  now.moved = { ...now.moved, at: 4 };
  rest();
  assert.equal(sent.length, 0);
});

test("a person measures what is large; its progress and its failure are told while they hold", async (t) => {
  const { now, sent, draw } = drawn(t);
  const done = draw(true, false, { rows: 8 }, true).start();
  assert.deepEqual([sent[0].arguments, sent[0].there], [{ rows: 8 }, true]);
  now.analysis = { [t.name]: { progress: 0.4 } };
  const told = (args = { rows: 8 }) => (({ running, progress, failed }) => [running, progress, failed])(draw(true, false, args));
  assert.deepEqual(told(), [true, 0.4, ""]);
  assert.deepEqual(told({ rows: 9 }), [false, 0, ""], "another measurement");
  now.analysis = { [t.name]: { progress: 1 } };
  assert.deepEqual(told(), [true, 0, ""]);
  sent[0].answer([{ field: "cancel", message: "no" }, { field: "measure", message: "it failed" }]);
  await done;
  assert.deepEqual(told(), [false, 0, "it failed"]);
  assert.deepEqual(told({ rows: 9 }), [false, 0, ""]);
});
