// @ts-check
/** The one connection: messages with numbers, one reply each, credit, and coming back after a cut. Knows nothing of what it carries. */

import { msg } from "../language.mjs";
import { decode } from "./wire.mjs";

/** @typedef {{ok: boolean, errors: any[]}} Reply */
/** @typedef {"connecting" | "open" | "offline" | "closed"} State */
/** @typedef {{text: string, again: boolean, answer: (reply: Reply) => void}} Waiting */

/** The largest message that the server takes, bytes. */
export const LARGEST = 64 * 1024;
const FIRST_DELAY = 250;
const LONGEST_DELAY = 8000;
const QUIET = 20000;
const DEAD = 10000;
/** Codes after which trying again by itself cannot help (docs/wire.md). */
const FINAL = new Set([1003, 1007, 1008, 1009, 4400, 4409, 4429]);
const FORGOTTEN = 4404;

const browser = {
  open: (/** @type {string} */ url) => new WebSocket(url),
  later: (/** @type {() => void} */ f, /** @type {number} */ ms) => setTimeout(f, ms),
  never: (/** @type {any} */ timer) => clearTimeout(timer),
  now: () => Date.now(),
  random: () => Math.random(),
};

export class Socket {
  /**
   * @param {object} o
   * @param {() => string} o.address asked for each attempt: it names the session and the last event that was seen
   * @param {(frame: import("./wire.mjs").Frame) => void} o.onFrame
   * @param {(state: State, reason: string, retryAt: number) => void} o.onState
   * @param {() => boolean} [o.onForgotten] the server has no such session (any more); true: connect anew
   * @param {Partial<typeof browser>} [o.around] clock and network, replaced in tests
   */
  constructor({ address, onFrame, onState, onForgotten = () => true, around = {} }) {
    this.address = address;
    this.onFrame = onFrame;
    this.onState = onState;
    this.onForgotten = onForgotten;
    this.around = { ...browser, ...around };
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    /** @type {State} */
    this.state = "connecting";
    /** Why it is closed, or since when it is cut (ms). */
    this.reason = "";
    this.number = 0;
    this.failures = 0;
    /** @type {any} */
    this.socket = null;
    /** @type {any} */
    this.timer = null;
  }

  /** Begin, or try again at once. */
  connect() {
    if (this.socket) return;
    this.around.never(this.timer);
    this.become(this.failures ? "offline" : "connecting");
    const socket = (this.socket = this.around.open(this.address()));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.opened();
    socket.onmessage = (/** @type {any} */ message) => this.received(message.data);
    socket.onclose = (/** @type {any} */ event) => socket === this.socket && this.closed(event.code, event.reason);
  }

  /** @param {State} state @param {string} [reason] @param {number} [retryAt] */
  become(state, reason = this.reason, retryAt = 0) {
    this.state = state;
    this.reason = reason;
    this.onState(state, reason, retryAt);
  }

  opened() {
    this.failures = 0;
    this.become("open", "");
    for (const [number, entry] of [...this.waiting]) {
      if (entry.again) this.socket.send(entry.text);
      else this.answer(number, { ok: false, errors: [] });
    }
    this.listenOn();
  }

  /** @param {any} data */
  received(data) {
    this.listenOn();
    let frame;
    try {
      frame = decode(data);
    } catch (error) {
      console.error("A frame could not be read:", error);
      return;
    }
    this.onFrame(frame);
    if (frame.kind === "reply") this.answer(frame.event.to, { ok: frame.event.ok, errors: frame.event.errors });
  }

  /** After a while of silence ask for a sign of life; without one the connection is dead. */
  listenOn() {
    this.around.never(this.timer);
    this.timer = this.around.later(() => this.probe(DEAD), QUIET);
  }

  /** @param {number} patience ms */
  probe(patience) {
    if (this.state !== "open") return;
    this.around.never(this.timer);
    this.socket.send(JSON.stringify({ ping: this.around.now() }));
    this.timer = this.around.later(() => this.drop("no answer"), patience);
  }

  /** Give the connection up and come back. @param {string} why */
  drop(why) {
    const socket = this.socket;
    this.closed(1006, why);
    socket?.close();
  }

  /** Be done: nothing more is sent, heard or tried, and who waits for an answer goes on. */
  end() {
    const socket = this.socket;
    this.socket = null;
    this.state = "closed";
    this.around.never(this.timer);
    this.answerAll({ ok: false, errors: [] });
    socket?.close(1000);
  }

  /** @param {number} code @param {string} reason */
  closed(code, reason) {
    const wasOffline = this.state === "offline";
    this.socket = null;
    this.around.never(this.timer);
    if (FINAL.has(code)) {
      this.become("closed", reason || msg`the server refuses this page`);
      return this.answerAll(notConnected(this.reason));
    }
    if (code === FORGOTTEN) {
      this.answerAll(notConnected(msg`the server does not have this run any more`));
      if (this.onForgotten()) this.connect();
      return;
    }
    const now = this.around.now();
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.failures++) * (0.8 + 0.4 * this.around.random());
    this.become("offline", wasOffline ? this.reason : String(now), now + delay);
    this.timer = this.around.later(() => this.connect(), delay);
  }

  /** Send a command; resolves with its reply. Never throws. `again`: send it anew after a cut.
   * @param {Record<string, any>} command @param {{again?: boolean}} [how] @returns {Promise<Reply>} */
  send(command, { again = true } = {}) {
    if (this.state === "offline" || this.state === "closed") return Promise.resolve(notConnected(this.reason));
    const number = ++this.number;
    const text = JSON.stringify({ seq: number, command });
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > LARGEST) return Promise.resolve(tooLong(command.kind, bytes));
    return new Promise((resolve) => {
      this.waiting.set(number, { text, again, answer: resolve });
      if (this.state === "open") this.socket.send(text);
    });
  }

  /** @param {number} number @param {Reply} reply */
  answer(number, reply) {
    const entry = this.waiting.get(number);
    this.waiting.delete(number);
    entry?.answer(reply);
  }

  /** @param {Reply} reply */
  answerAll(reply) {
    for (const number of [...this.waiting.keys()]) this.answer(number, reply);
  }

  /** Credit for one values frame that was drawn. @param {number} seq */
  ack(seq) {
    if (this.state === "open") this.socket.send(JSON.stringify({ ack: seq }));
  }
}

/** @param {string} why @returns {Reply} */
function notConnected(why) {
  const message = msg`Not connected to the server; this was not done. It is tried again by itself.`;
  return { ok: false, errors: [{ field: "connection", given: /^\d+$/.test(why) ? "offline" : why, allowed: msg`an open connection`, message }] };
}

/** @param {string} kind @param {number} bytes @returns {Reply} */
function tooLong(kind, bytes) {
  const message = msg`This is too long to send: ${bytes} bytes; allowed: ${LARGEST}. Use fewer or shorter tokens.`;
  return { ok: false, errors: [{ field: kind, given: `${bytes} bytes`, allowed: msg`at most ${LARGEST} bytes`, message }] };
}
