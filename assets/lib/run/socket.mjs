// @ts-check
/** The one connection: messages with numbers, one reply each, credit, and coming back after a cut. Knows nothing of what it carries. */

import { msg } from "../language.mjs";
import { Line } from "./line.mjs";
import { decode } from "./wire.mjs";

/** @typedef {{ok: boolean, errors: any[]}} Reply */
/** @typedef {"connecting" | "open" | "offline" | "closed"} State */
/** @typedef {{text: string, again: boolean, answer: (reply: Reply) => void}} Waiting */

/** The largest message that the server takes, bytes. */
export const LARGEST = 64 * 1024;
const FIRST_DELAY = 250;
/** Codes after which trying again by itself cannot help (docs/wire.md). */
const FINAL = new Set([1003, 1007, 1008, 1009, 4400, 4409, 4429]);
const FORGOTTEN = 4404;

export class Socket {
  /**
   * @param {object} o
   * @param {() => string} o.address asked for each attempt: it names the session and the last event that was seen
   * @param {(frame: import("./wire.mjs").Frame) => void} o.onFrame
   * @param {(state: State, reason: string, retryAt: number) => void} o.onState
   * @param {() => boolean} [o.onForgotten] the server has no such session (any more); true: connect anew
   * @param {Partial<import("./line.mjs").Around>} [o.around] clock and network, replaced in tests
   */
  constructor({ address, onFrame, onState, onForgotten = () => true, around = {} }) {
    this.onFrame = onFrame;
    this.onState = onState;
    this.onForgotten = onForgotten;
    this.line = new Line({
      address, firstDelay: FIRST_DELAY, around, ping: () => JSON.stringify({ ping: this.line.around.now() }),
      onOpen: () => this.opened(), onData: (data) => this.received(data), onCut: (code, reason) => this.closed(code, reason),
    });
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    /** @type {State} */
    this.state = "connecting";
    /** Why it is closed, or since when it is cut (ms). */
    this.reason = "";
    this.number = 0;
  }

  /** Begin, or try again at once. */
  connect() {
    this.line.connect(() => this.become(this.line.failures ? "offline" : "connecting"));
  }

  /** @param {State} state @param {string} [reason] @param {number} [retryAt] */
  become(state, reason = this.reason, retryAt = 0) {
    this.state = state;
    this.reason = reason;
    this.onState(state, reason, retryAt);
  }

  opened() {
    this.line.failures = 0;
    this.become("open", "");
    for (const [number, entry] of [...this.waiting]) {
      if (entry.again) this.line.send(entry.text);
      else this.answer(number, { ok: false, errors: [] });
    }
  }

  /** @param {any} data */
  received(data) {
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

  /** @param {number} patience ms in which there must be a sign of life */
  probe(patience) {
    this.line.probe(patience);
  }

  /** Be done: nothing more is sent, heard or tried, and who waits for an answer goes on. */
  end() {
    this.state = "closed";
    this.line.end();
    this.answerAll({ ok: false, errors: [] });
  }

  /** The page lies still: a page that the browser keeps for the way back may not have a connection. */
  rest() {
    if (this.state !== "open") return;
    this.state = "connecting";
    this.line.end();
  }

  /** It is shown again. */
  wake() {
    if (this.state === "connecting") this.connect();
  }

  /** @param {number} code @param {string} reason */
  closed(code, reason) {
    const wasOffline = this.state === "offline";
    if (FINAL.has(code)) {
      this.become("closed", reason || msg`the server refuses this page`);
      return this.answerAll(notConnected(this.reason));
    }
    if (code === FORGOTTEN) {
      this.answerAll(notConnected(msg`the server does not have this run any more`));
      if (this.onForgotten()) this.connect();
      return;
    }
    const now = this.line.around.now();
    const delay = this.line.delay();
    this.become("offline", wasOffline ? this.reason : String(now), now + delay);
    this.line.wait(() => this.connect(), delay);
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
      if (this.state === "open") this.line.send(text);
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
    if (this.state === "open") this.line.send(JSON.stringify({ ack: seq }));
  }
}

/** What has a connection gives it up when its page is left, and has it again at once on the way back, so that nothing is told as lost.
 * @param {() => Iterable<Socket>} sockets */
export function resting(sockets) {
  addEventListener("pagehide", () => [...sockets()].forEach((socket) => socket.rest()));
  addEventListener("pageshow", ({ persisted }) => persisted && [...sockets()].forEach((socket) => socket.wake()));
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
