// @ts-check
/** The connection to a class (docs/wire.md): who one is first, then small messages both ways; it comes back by itself after a cut. */

import { msg } from "../lib/language.mjs";
import { problem } from "../lib/run/heard.mjs";

/** @typedef {"connecting" | "open" | "offline" | "closed"} State */

const FIRST_DELAY = 400;
const LONGEST_DELAY = 8000;
/** A class that is not there (yet) after a restart of the server: asked for again after so long, ms. */
const AGAIN = 3000;
const QUIET = 20000;
const DEAD = 10000;
const FINAL = new Set([1000, 1003, 1007, 1008, 1009, 4400, 4404, 4409, 4429]);

const browser = {
  open: (/** @type {string} */ url) => new WebSocket(url),
  later: (/** @type {() => void} */ act, /** @type {number} */ ms) => setTimeout(act, ms),
  never: (/** @type {any} */ timer) => clearTimeout(timer),
  random: () => Math.random(),
};

export class Room {
  /**
   * @param {object} o
   * @param {string} o.address @param {() => Record<string, any>} o.hello says who this is, asked for each attempt
   * @param {(message: any) => void} o.onMessage all but pongs; `refused` has its errors in the page's language
   * @param {(state: State, reason: string) => void} o.onState
   * @param {Partial<typeof browser>} [o.around] clock and network, replaced in tests
   */
  constructor({ address, hello, onMessage, onState, around = {} }) {
    this.address = address;
    this.hello = hello;
    this.onMessage = onMessage;
    this.onState = onState;
    this.around = { ...browser, ...around };
    /** @type {any} */
    this.socket = null;
    /** @type {State} */
    this.state = "connecting";
    this.reason = "";
    /** The server knows who this is: on this connection, and ever. */
    this.seated = this.known = false;
    this.failures = 0;
    /** @type {any} */
    this.timer = null;
  }

  connect() {
    if (this.socket) return;
    this.around.never(this.timer);
    const socket = (this.socket = this.around.open(this.address));
    const mine = (/** @type {(event: any) => void} */ act) => (/** @type {any} */ event) => socket === this.socket && act(event);
    socket.onopen = mine(() => this.greet());
    socket.onmessage = mine((event) => this.received(event.data));
    socket.onclose = mine((event) => this.closed(event.code, event.reason));
  }

  greet() {
    this.socket?.send(JSON.stringify(this.hello()));
    this.listenOn();
  }

  /** @param {string} text */
  received(text) {
    this.listenOn();
    let message;
    try {
      message = JSON.parse(text);
    } catch (error) {
      return console.error("A message of the class could not be read:", error);
    }
    if (message.kind === "pong") return;
    if (message.kind === "refused") return this.refused(message);
    if (message.kind === "room" || message.kind === "joined") {
      [this.seated, this.known, this.failures] = [true, true, 0];
      this.become("open");
    }
    this.onMessage(message);
    if (message.kind === "ended") this.end();
  }

  /** @param {any} message who was known before waits: the class comes back with its teacher */
  refused(message) {
    for (const error of message.errors) problem(error);
    if (this.seated || !this.known) return this.onMessage(message);
    const gone = message.errors[0]?.field === "code";
    this.become("offline", gone ? msg`The class is not open now; it comes back with its teacher.` : (message.errors[0]?.message ?? ""));
    this.around.never(this.timer);
    this.timer = this.around.later(() => this.greet(), AGAIN);
  }

  /** Whether it was sent: without a connection a message is forgotten. @param {Record<string, any>} message */
  send(message) {
    if (this.seated && this.socket) this.socket.send(JSON.stringify(message));
    return this.seated;
  }

  /** Be done: nothing more is sent, heard or tried. */
  end() {
    const { socket } = this;
    [this.socket, this.seated] = [null, false];
    this.around.never(this.timer);
    socket?.close(1000);
  }

  /** @param {number} code @param {string} reason */
  closed(code, reason) {
    [this.socket, this.seated] = [null, false];
    this.around.never(this.timer);
    if (FINAL.has(code)) return this.become("closed", code === 4409 ? msg`Another page took this place.` : reason);
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.failures++) * (0.8 + 0.4 * this.around.random());
    this.become("offline", reason);
    this.timer = this.around.later(() => this.connect(), delay);
  }

  /** @param {State} state @param {string} [reason] */
  become(state, reason = "") {
    [this.state, this.reason] = [state, reason];
    this.onState(state, reason);
  }

  /** After a while of silence ask for a sign of life; without one the connection is dead. */
  listenOn() {
    this.around.never(this.timer);
    this.timer = this.around.later(() => this.probe(), QUIET);
  }

  probe() {
    this.socket?.send(JSON.stringify({ kind: "ping" }));
    this.timer = this.around.later(() => {
      const { socket } = this;
      this.closed(1006, "");
      socket?.close();
    }, DEAD);
  }
}
