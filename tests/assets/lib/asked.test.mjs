import assert from "node:assert/strict";
import test from "node:test";

import { Run } from "../../../assets/lib/run/run.mjs";
import { Store } from "../../../assets/lib/run/store.mjs";

/** The end of a run that sends, with a socket that a test answers: what was sent, what was refused, how often the address was to follow. */
function sending(...replies) {
  const store = new Store();
  store.set({ opened: { scenario: { seed: 7, requests: [{}] }, relations: [] } });
  const [sent, seen] = [[], { changed: 0 }];
  const socket = { send: (command, how) => (sent.push([command.kind, how.again]), Promise.resolve(replies.shift() ?? { ok: true, errors: [] })) };
  const underway = { begun: (name) => (seen.begun = name), ended: (name) => (seen.ended = name) };
  return { run: Object.assign(Object.create(Run.prototype), { store, socket, underway, ahead: [], early: {}, bar: { changed: () => seen.changed++ } }), store, sent, seen };
}
const no = (...fields) => ({ ok: false, errors: fields.map((field) => ({ field, message: field })) });

test("a refusal is told, but for what a person cancelled and what who asked tells", async () => {
  const { run, store } = sending(no("cancel"), no("measure"), no("measure"), no("seed"));
  await run.send({ kind: "step" });
  await run.send({ kind: "analyse", name: "cost" }, true);
  assert.equal(store.world.refused, null);
  await run.send({ kind: "analyse", name: "cost" });
  assert.equal(store.world.refused[0].field, "measure");
  await run.send({ kind: "step" }, true);
  assert.equal(store.world.refused[0].field, "seed");
});

test("a command that is done takes the refusal away and moves the address; a measurement leaves both", async () => {
  const { run, store, seen } = sending();
  store.set({ refused: [{ field: "seed" }] });
  await run.send({ kind: "analyse", name: "cost" });
  assert.deepEqual([store.world.refused?.length, seen], [1, { changed: 0, begun: "cost", ended: "cost" }]);
  await run.send({ kind: "step" });
  assert.deepEqual([store.world.refused, seen], [null, { changed: 1, begun: "", ended: "" }]);
});

test("what only asks is not under way, and a watch is not sent again after a break", async () => {
  const { run, sent, seen } = sending(no("watch"));
  await run.send({ kind: "watch", selectors: [] });
  await run.send({ kind: "fetch" });
  assert.deepEqual([sent, seen], [[["watch", false], ["fetch", true]], { changed: 0 }]);
});

test("a change before there is a run waits until it is opened", async () => {
  const { run, store, sent } = sending();
  store.world.opened = null;
  assert.equal((await run.send({ kind: "change", fields: { seed: 1 } })).ok, true);
  await run.send({ kind: "change", fields: { task: "dates" } });
  assert.deepEqual([sent, run.early], [[], { seed: 1, task: "dates" }]);
});

test("another architecture begins with its own look; one that joins takes the look that others left", () => {
  const { run, store } = sending();
  const opened = (architecture, view = {}) => ({ scenario: { architecture, requests: [{}] }, relations: [{ name: "self", layers: 1, heads: 2 }, { name: "cross", layers: 3, heads: 4 }], view });
  const at = () => [store.world.look.relation, store.world.look.head];
  run.opened(opened("gpt", { relation: "self", head: 1 }));
  assert.deepEqual(at(), ["cross", 0]);
  run.joining = true;
  run.opened(opened("gpt", { relation: "self", head: 1 }));
  assert.deepEqual(at(), ["self", 1]);
  run.joining = false;
  run.opened(opened("gpt"));
  assert.deepEqual(at(), ["self", 1], "the same once more");
  run.opened(opened("mamba"));
  assert.deepEqual(at(), ["cross", 0]);
});

test("a writer's own look stands; a reader follows, and who joins follows once", () => {
  const { run, store } = sending();
  run.viewed({ head: 3 });
  assert.equal(store.world.look.head, 0);
  store.world.opened = null;
  Object.assign(run, { joining: true });
  run.viewed({ head: 3 });
  assert.deepEqual([store.world.look.head, run.joining], [3, false]);
  run.viewed({ head: 4 });
  assert.equal(store.world.look.head, 3);
  store.world.role = "reader";
  run.viewed({ head: 4 });
  assert.equal(store.world.look.head, 4);
});

test("changes that were sent stand in the world until each is answered", async () => {
  const store = new Store();
  store.set({ opened: { scenario: { seed: 7, masks: [] } } });
  const answers = [];
  const socket = { send: () => new Promise((resolve) => answers.push(resolve)) };
  const run = Object.assign(Object.create(Run.prototype), { store, socket, ahead: [], underway: { begun() {}, ended() {} }, bar: { changed() {} } });
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

test("without a link the first run is asked for in the turn of the welcome, so that an answer which came early finds it", (t) => {
  t.after(() => delete globalThis.location);
  globalThis.location = /** @type {any} */ ({ hash: "" });
  const asked = [];
  const run = Object.assign(Object.create(Run.prototype), { store: new Store(), first: {}, bar: { follow: async () => false }, commands: { open: async () => (asked.push("open"), { ok: true, errors: [] }) } });
  run.openFirst();
  assert.deepEqual(asked, ["open"]);
});
