// @ts-check
/** The connection to a class (docs/wire.md): who one is first, then small messages both ways; it comes back by itself after a cut. */

import { msg } from "../lib/language.mjs";
import { problem } from "../lib/run/heard.mjs";
import { Line } from "../lib/run/line.mjs";

/** @typedef {"connecting" | "open" | "offline" | "closed"} State */

const FIRST_DELAY = 400;
/** A class that is not there (yet) after a restart of the server: asked for again after so long, ms. */
const AGAIN = 3000;
const FINAL = new Set([1000, 1003, 1007, 1008, 1009, 4400, 4404, 4409, 4429]);

export class Room {
  /**
   * @param {object} o
   * @param {string} o.address @param {() => Record<string, any>} o.hello says who this is, asked for each attempt
   * @param {(message: any) => void} o.onMessage all but pongs; `refused` has its errors in the page's language
   * @param {(state: State, reason: string) => void} o.onState
   * @param {Partial<import("../lib/run/line.mjs").Around>} [o.around] clock and network, replaced in tests
   */
  constructor({ address, hello, onMessage, onState, around = {} }) {
    this.hello = hello;
    this.onMessage = onMessage;
    this.onState = onState;
    this.line = new Line({
      address: () => address, firstDelay: FIRST_DELAY, around, ping: () => JSON.stringify({ kind: "ping" }),
      onOpen: () => this.greet(), onData: (text) => this.received(text), onCut: (code, reason) => this.closed(code, reason),
    });
    /** @type {State} */
    this.state = "connecting";
    this.reason = "";
    /** The server knows who this is: on this connection, and ever. */
    this.seated = this.known = false;
    globalThis.addEventListener?.("online", () => this.state === "offline" && this.connect());
    globalThis.addEventListener?.("offline", () => this.line.probe(2000));
  }

  connect() {
    this.line.connect();
  }

  greet() {
    this.line.send(JSON.stringify(this.hello()));
    this.line.listenOn();
  }

  /** @param {string} text */
  received(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch (error) {
      return console.error("A message of the class could not be read:", error);
    }
    if (message.kind === "pong") return;
    if (message.kind === "refused") return this.refused(message);
    if (message.kind === "room" || message.kind === "joined") {
      [this.seated, this.known, this.line.failures] = [true, true, 0];
      this.become("open");
    }
    if (message.kind === "ended") this.ended(message);
    else this.onMessage(message);
  }

  /** @param {any} message */
  ended(message) {
    this.onMessage(message);
    this.end();
  }

  /** @param {any} message who was known before waits: the class comes back with its teacher */
  refused(message) {
    for (const error of message.errors) problem(error);
    if (this.seated || !this.known) return this.onMessage(message);
    if (message.errors[0]?.field === "token") return this.ended({ kind: "ended", reason: "removed" });
    const gone = message.errors[0]?.field === "code";
    this.become("offline", gone ? msg`The class is not open now; it comes back with its teacher.` : (message.errors[0]?.message ?? ""));
    this.line.wait(() => this.greet(), AGAIN);
  }

  /** Whether it was sent: without a connection a message is forgotten. @param {Record<string, any>} message */
  send(message) {
    if (this.seated) this.line.send(JSON.stringify(message));
    return this.seated;
  }

  /** Be done: nothing more is sent, heard or tried. */
  end() {
    this.seated = false;
    this.line.end();
  }

  /** @param {number} code @param {string} reason */
  closed(code, reason) {
    this.seated = false;
    if (FINAL.has(code)) return this.become("closed", code === 4409 ? msg`Another page took this place.` : reason);
    this.become("offline", reason);
    this.line.wait(() => this.connect(), this.line.delay());
  }

  /** @param {State} state @param {string} [reason] */
  become(state, reason = "") {
    [this.state, this.reason] = [state, reason];
    this.onState(state, reason);
  }
}
