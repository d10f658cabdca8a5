import assert from "node:assert/strict";
import test from "node:test";

import { Run } from "../../../assets/lib/run/run.mjs";
import { Store } from "../../../assets/lib/run/store.mjs";

test("changes that were sent stand in the world until each is answered", async () => {
  const store = new Store();
  store.set({ opened: { scenario: { seed: 7, masks: [] } } });
  const answers = [];
  const socket = { send: () => new Promise((resolve) => answers.push(resolve)) };
  const run = Object.assign(Object.create(Run.prototype), { store, socket, ahead: [], underway: { begun() {}, ended() {} }, changed() {} });
  const first = run.send({ kind: "change", fields: { masks: ["one"], seed: 1 } });
  const second = run.send({ kind: "change", fields: { masks: ["one", "two"] } });
  assert.deepEqual(store.world.asked, { masks: ["one", "two"], seed: 1 });
  answers[0]({ ok: true, errors: [] });
  await first;
  assert.deepEqual(store.world.asked, { masks: ["one", "two"] });
  answers[1]({ ok: false, errors: [{ field: "cancel" }] });
  await second;
  assert.deepEqual(store.world.asked, {}, "a refusal is an answer too");
});
