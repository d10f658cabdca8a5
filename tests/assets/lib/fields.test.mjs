import assert from "node:assert/strict";
import test from "node:test";

import { Fields } from "../../../assets/lib/fields.mjs";

function fields() {
  const sent = [];
  const made = new Fields([{ id: {}, path: "seed", as: "number" }, { id: {}, path: "weights", as: "text" }], (path, value) => sent.push([path, value]));
  return { made, sent };
}

test("a choice is sent at once", () => {
  const { made, sent } = fields();
  made.put("weights", "random");
  assert.deepEqual(sent, [["weights", "random"]]);
});

test("a number that is stepped is sent once, when the steps have ended", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { made, sent } = fields();
  for (const value of [8, 9, 10]) {
    made.put("seed", value);
    t.mock.timers.tick(100);
  }
  assert.deepEqual(sent, []);
  t.mock.timers.tick(300);
  assert.deepEqual(sent, [["seed", 10]]);
});

test("a number that is typed waits for Enter, or until it is left, however slowly it is typed", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { made, sent } = fields();
  for (const [key, value] of [["1", 1], ["2", 12], ["Backspace", 1]]) {
    made.key(key);
    made.put("seed", value);
    t.mock.timers.tick(5000);
  }
  assert.deepEqual([sent, made.waiting.has("seed")], [[], true]);
  made.key("Enter");
  assert.deepEqual([sent, made.waiting.has("seed")], [[["seed", 1]], false]);
});

test("a value that arrives after Enter is not forgotten", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { made, sent } = fields();
  made.key("7");
  made.key("Enter");
  made.put("seed", 7);
  t.mock.timers.tick(400);
  assert.deepEqual(sent, [["seed", 7]]);
});
