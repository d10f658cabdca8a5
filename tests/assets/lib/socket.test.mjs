import assert from "node:assert/strict";
import test from "node:test";

import { Socket } from "../../../assets/lib/run/socket.mjs";
import { Around } from "./frames.mjs";

function connected(more = {}) {
  const around = new Around();
  const states = [];
  const frames = [];
  let address = 0;
  const socket = new Socket({ address: () => `ws://here/${address++}`, onFrame: (f) => frames.push(f.kind), onState: (s, reason, at) => states.push([s, reason, at]), around, ...more });
  socket.connect();
  around.socket.onopen();
  return { around, socket, states, frames };
}

const cut = (around, code = 1006, reason = "") => around.socket.onclose({ code, reason });

test("each command has a number that grows, and resolves with its own reply", async () => {
  const { around, socket } = connected();
  const [first, second] = [socket.send({ kind: "step" }), socket.send({ kind: "back" })];
  assert.deepEqual(around.socket.sent, [{ seq: 1, command: { kind: "step" } }, { seq: 2, command: { kind: "back" } }]);
  around.hear("reply", { to: 2, ok: false, errors: [{ message: "no" }] });
  around.hear("reply", { to: 1, ok: true, errors: [] });
  assert.deepEqual(await first, { ok: true, errors: [] });
  assert.deepEqual(await second, { ok: false, errors: [{ message: "no" }] });
});

test("after a cut it comes back later and later, at most every 8 s, and says since when", () => {
  const { around, states } = connected();
  const delays = [];
  for (let i = 0; i < 8; i++) {
    cut(around);
    const [state, since, at] = states.at(-1);
    assert.deepEqual([state, since], ["offline", "1000"]);
    delays.push(at - around.time);
    around.pass(at - around.time);
  }
  assert.deepEqual(delays, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
  assert.equal(around.sockets.length, 9);
  around.socket.onopen();
  assert.equal(states.at(-1)[0], "open");
});

test("what was not answered is sent again with the same number; a watch is not", async () => {
  const { around, socket } = connected();
  const step = socket.send({ kind: "step" });
  const watch = socket.send({ kind: "watch", selectors: [] }, { again: false });
  cut(around);
  around.pass(250);
  around.socket.onopen();
  assert.deepEqual(around.socket.sent, [{ seq: 1, command: { kind: "step" } }]);
  assert.deepEqual(await watch, { ok: false, errors: [] });
  around.hear("reply", { to: 1, ok: true, errors: [] });
  assert.equal((await step).ok, true);
});

test("a page that lies still has no connection, tells of no cut, and has one at once when it is shown again", async () => {
  const { around, socket, states } = connected();
  const step = socket.send({ kind: "step" });
  const first = around.socket;
  let closed = 0;
  first.close = () => closed++;
  socket.rest();
  first.onclose({ code: 1006, reason: "" });
  const back = socket.send({ kind: "back" });
  assert.deepEqual([closed, around.sockets.length, first.sent.length], [1, 1, 1]);
  socket.wake();
  socket.wake();
  assert.equal(around.sockets.length, 2);
  around.socket.onopen();
  assert.deepEqual(around.socket.sent.map((sent) => sent.command.kind), ["step", "back"]);
  assert.ok(!states.some(([state]) => state === "offline"));
  around.hear("reply", { to: 1, ok: true, errors: [] });
  around.hear("reply", { to: 2, ok: true, errors: [] });
  assert.deepEqual([(await step).ok, (await back).ok], [true, true]);
});

test("a page that was refused stays refused on the way back", () => {
  const { around, socket } = connected();
  cut(around, 4409, "another tab");
  socket.rest();
  socket.wake();
  assert.deepEqual([socket.state, around.sockets.length], ["closed", 1]);
});

test("offline a command is refused at once, in words", async () => {
  const { around, socket } = connected();
  cut(around);
  const reply = await socket.send({ kind: "step" });
  assert.equal(reply.ok, false);
  assert.match(reply.errors[0].message, /Not connected/);
});

test("before the first connection commands wait", () => {
  const around = new Around();
  const socket = new Socket({ address: () => "ws://here", onFrame: () => {}, onState: () => {}, around });
  socket.connect();
  socket.send({ kind: "open" });
  assert.deepEqual(around.socket.sent, []);
  around.socket.onopen();
  assert.equal(around.socket.sent.length, 1);
});

test("a message that the server would not take is not sent", async () => {
  const { around, socket } = connected();
  const reply = await socket.send({ kind: "change", fields: { text: "é".repeat(40000) } });
  assert.equal(reply.ok, false);
  assert.match(reply.errors[0].message, /allowed: 65536/);
  assert.deepEqual(around.socket.sent, []);
});

test("some closing codes are final: the reason is kept, waiting commands are answered, nothing is tried again", async () => {
  const { around, socket, states } = connected();
  const step = socket.send({ kind: "step" });
  cut(around, 4429, "too many sessions; come back in 5 minutes");
  assert.deepEqual(states.at(-1).slice(0, 2), ["closed", "too many sessions; come back in 5 minutes"]);
  assert.equal((await step).ok, false);
  around.pass(60000);
  assert.equal(around.sockets.length, 1);
});

test("a session that the server forgot: asked what to do, then anew at once or not at all", () => {
  const again = connected({ onForgotten: () => true });
  cut(again.around, 4404, "no such session");
  assert.equal(again.around.sockets.length, 2);
  const stay = connected({ onForgotten: () => false });
  cut(stay.around, 4404, "no such session");
  assert.equal(stay.around.sockets.length, 1);
});

test("silence is asked about, and without an answer the connection is given up", () => {
  const { around, states } = connected();
  around.pass(20000);
  assert.deepEqual(Object.keys(around.socket.sent[0]), ["ping"]);
  around.hear("pong", { n: 1 });
  around.pass(19000);
  assert.equal(states.at(-1)[0], "open");
  around.pass(1000);
  around.pass(10000);
  assert.equal(states.at(-1)[0], "offline");
});

test("a frame that cannot be read is told and the connection goes on", (t) => {
  const { around, frames } = connected();
  const told = t.mock.method(console, "error", () => {});
  around.socket.onmessage({ data: new ArrayBuffer(4) });
  around.hear("pong", { n: 1 });
  assert.equal(told.mock.callCount(), 1);
  assert.deepEqual(frames, ["pong"]);
});

test("credit goes out while it is open", () => {
  const { around, socket } = connected();
  socket.ack(12);
  assert.deepEqual(around.socket.sent, [{ ack: 12 }]);
  cut(around);
  socket.ack(13);
  assert.equal(around.sockets.at(-1).sent.length, 1);
});

test("a connection that is ended answers who waits and never comes back, even when it was cut before", async () => {
  const { around, socket } = connected();
  const step = socket.send({ kind: "step" });
  cut(around);
  socket.end();
  assert.deepEqual(await step, { ok: false, errors: [] });
  around.pass(60000);
  assert.equal(around.sockets.length, 1);
  assert.equal((await socket.send({ kind: "step" })).ok, false);
});
