import assert from "node:assert/strict";
import test from "node:test";

import { Room } from "../../../assets/class/room.mjs";

/** A network and a clock that a test moves. */
class Around {
  sockets = [];
  timers = new Map();
  count = 0;
  random = () => 0.5;
  open = (url) => {
    const socket = { url, sent: [], closed: null, send: (text) => socket.sent.push(JSON.parse(text)), close: (code) => (socket.closed = code) };
    this.sockets.push(socket);
    return socket;
  };
  later = (act, ms) => {
    this.timers.set(++this.count, { act, ms });
    return this.count;
  };
  never = (timer) => this.timers.delete(timer);
  get socket() {
    return this.sockets.at(-1);
  }
  /** The one timer that waits is due. */
  due() {
    const [[key, { act, ms }]] = this.timers;
    this.timers.delete(key);
    act();
    return ms;
  }
  hear(message) {
    this.socket.onmessage({ data: JSON.stringify(message) });
  }
}

function joined() {
  const around = new Around();
  const heard = [];
  const states = [];
  const room = new Room({ address: "ws://here/ws/class", hello: () => ({ kind: "join", code: "KQ7-42V", name: "Ada" }), onMessage: (m) => heard.push(m), onState: (...s) => states.push(s), around });
  room.connect();
  around.socket.onopen();
  return { around, room, heard, states };
}

test("it says who it is first, and nothing else before that is answered", () => {
  const { around, room, heard } = joined();
  assert.deepEqual(around.socket.sent, [{ kind: "join", code: "KQ7-42V", name: "Ada" }]);
  assert.equal(room.send({ kind: "vote", option: 1 }), false);
  around.hear({ kind: "joined", code: "KQ7-42V", name: "Ada", token: "t", session: "s" });
  assert.equal(room.send({ kind: "vote", option: 1 }), true);
  assert.deepEqual(around.socket.sent.at(-1), { kind: "vote", option: 1 });
  assert.deepEqual(heard.map((m) => m.kind), ["joined"]);
});

test("after a cut it comes back by itself, later each time, and says who it is anew", () => {
  const { around, room, states } = joined();
  around.hear({ kind: "joined" });
  const delays = [1, 2, 3].map(() => {
    around.socket.onclose({ code: 1006, reason: "" });
    return around.due();
  });
  assert.deepEqual(delays, [400, 800, 1600]);
  assert.equal(room.send({ kind: "vote", option: 0 }), false, "a vote is not sent to nobody");
  around.socket.onopen();
  assert.equal(around.socket.sent[0].kind, "join");
  around.hear({ kind: "joined" });
  assert.deepEqual(states.at(-1), ["open", ""]);
  assert.equal(room.line.failures, 0);
});

test("a class that is not there (yet) after a restart is asked for again; a first refusal is the person's to read", () => {
  const { around, heard, states } = joined();
  const refused = { kind: "refused", errors: [{ field: "code", given: "x", allowed: "a class", message: "There is no class." }] };
  around.hear(refused);
  assert.equal(heard.length, 1);
  around.hear({ kind: "joined" });
  around.socket.onclose({ code: 1012, reason: "" });
  around.due();
  around.socket.onopen();
  around.hear(refused);
  assert.equal(heard.length, 2, "it is not told again");
  assert.deepEqual(states.at(-1), ["offline", "The class is not open now; it comes back with its teacher."]);
  assert.equal(around.due(), 3000);
  assert.equal(around.socket.sent.filter((m) => m.kind === "join").length, 2);
});

test("a place that another page took is not fought for, and a class that ended is left", () => {
  const { around, room, states } = joined();
  around.hear({ kind: "joined" });
  around.socket.onclose({ code: 4409, reason: "replaced" });
  assert.equal(states.at(-1)[0], "closed");
  assert.equal(around.timers.size, 0);
  room.connect();
  around.hear({ kind: "joined" });
  around.hear({ kind: "ended", reason: "ended", message: "over" });
  assert.equal(around.socket.closed, 1000);
  assert.equal(around.timers.size, 0);
});

test("silence is asked about, and a connection without a sign of life is dropped", () => {
  const { around, states } = joined();
  around.hear({ kind: "joined" });
  assert.equal(around.due(), 20000);
  assert.deepEqual(around.socket.sent.at(-1), { kind: "ping" });
  around.hear({ kind: "pong", n: 0 });
  around.due();
  assert.equal(around.due(), 10000);
  assert.equal(states.at(-1)[0], "offline");
});

test("what cannot be read is left out", (t) => {
  t.mock.method(console, "error", () => {});
  const { around, heard } = joined();
  around.socket.onmessage({ data: "{" });
  assert.deepEqual(heard, []);
});
