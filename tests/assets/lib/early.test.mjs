// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { early, keep } from "../../../assets/lib/run/early.mjs";
import { Socket } from "../../../assets/lib/run/socket.mjs";
import { lasting } from "../../../assets/lib/storage.mjs";

const page = /** @type {any} */ (globalThis);
const selectors = /** @type {any} */ ([{ path: "decoder.layer1.cross.weights" }]);

/** As the page's first lines leave it. @param {number} state of the connection */
function asked(state) {
  const sent = JSON.parse(lasting.getItem("lookback-opening") ?? "null");
  /** @type {any} */
  const socket = { readyState: state, texts: [], send(/** @type {string} */ text) { this.texts.push(text); }, close() { this.readyState = 3; } };
  page.lookbackEarly = { client: "1-2-3", socket, sent, heard: [{ data: "first" }] };
  return socket;
}

/** @param {any} made */
function connected(made) {
  /** @type {any[]} */
  const heard = [];
  const around = { open: made.open, later: () => 0, never: () => {} };
  const socket = new Socket({ address: () => "", onFrame: () => {}, onState: () => {}, around });
  socket.received = (data) => void heard.push(data);
  socket.connect();
  made.deliver();
  return { socket, heard };
}

test("what was asked before the scripts were read is heard, and not asked again", () => {
  keep(selectors, { seed: 1 });
  const wire = asked(1);
  const made = early({ seed: 1 });
  assert.deepEqual([made?.client, made?.selectors], ["1-2-3", selectors]);
  const { socket, heard } = connected(made);
  assert.deepEqual([socket.state, heard], ["open", ["first"]]);
  socket.send({ kind: "watch", selectors, mark: 1 });
  socket.send({ kind: "open", scenario: { seed: 1 }, log: [] });
  assert.deepEqual([wire.texts, socket.waiting.size], [[], 2], "both are waited for");
  socket.send({ kind: "step", unit: "step" });
  assert.equal(wire.texts.length, 1);
});

test("a connection that is still being made has asked nothing yet", () => {
  keep(selectors, { seed: 1 });
  const wire = asked(0);
  const { socket } = connected(early({ seed: 1 }));
  wire.readyState = 1;
  wire.onopen();
  socket.send({ kind: "watch", selectors, mark: 1 });
  assert.equal(wire.texts.length, 1);
});

test("a page that begins with something else begins anew", () => {
  keep(selectors, { seed: 1 });
  const wire = asked(1);
  assert.equal(early({ seed: 2 }), null);
  assert.equal(wire.readyState, 3);
  assert.equal(early({ seed: 1 }), null, "it is there once");
});
