import assert from "node:assert/strict";
import test from "node:test";

import { Store } from "../../../assets/lib/run/store.mjs";
import { Underway } from "../../../assets/lib/run/underway.mjs";

const PATIENCE = 150;

function begun(t, ...names) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const store = new Store();
  const underway = new Underway(store);
  for (const name of names) underway.begun(name);
  return { underway, said: () => [underway.open, store.world.busy, store.world.behind], wait: () => t.mock.timers.tick(PATIENCE) };
}

test("a command shows as under way when it takes long, until it is answered", (t) => {
  const { underway, said, wait } = begun(t, "");
  assert.deepEqual(said(), [1, false, ""]);
  wait();
  assert.deepEqual(said(), [1, true, ""]);
  underway.ended("");
  assert.deepEqual(said(), [0, false, ""]);
  underway.begun("");
  underway.ended("");
  wait();
  assert.deepEqual(said(), [0, false, ""], "a quick one is never shown");
});

test("of two, the run is busy until both are answered", (t) => {
  const { underway, said, wait } = begun(t, "", "");
  wait();
  underway.ended("");
  assert.deepEqual(said(), [1, true, ""]);
  underway.ended("");
  assert.deepEqual(said(), [0, false, ""]);
});

test("a command says behind which measurement it waits; measurements wait behind nothing", (t) => {
  const { underway, said, wait } = begun(t, "cost", "tiles");
  wait();
  assert.deepEqual(said(), [2, true, ""]);
  underway.begun("");
  assert.deepEqual(said(), [3, true, ""], "not before it takes long");
  wait();
  assert.deepEqual(said(), [3, true, "cost"]);
  underway.ended("cost");
  assert.deepEqual(said(), [2, true, "tiles"]);
  underway.ended("tiles");
  assert.deepEqual(said(), [1, true, ""]);
});
