// @ts-check
/** A websocket that comes back: a sign of life after silence, another try after each cut, later each time. Knows nothing of what it carries. */

const LONGEST_DELAY = 8000;
const QUIET = 20000;
const DEAD = 10000;

const browser = {
  open: (/** @type {string} */ url) => new WebSocket(url),
  later: (/** @type {() => void} */ act, /** @type {number} */ ms) => setTimeout(act, ms),
  never: (/** @type {any} */ timer) => clearTimeout(timer),
  now: () => Date.now(),
  random: () => Math.random(),
};
/** Clock and network, replaced in tests. @typedef {typeof browser} Around */

export class Line {
  /** @param {object} o
   * @param {() => string} o.address asked for each attempt
   * @param {number} o.firstDelay ms after which a cut is tried again first
   * @param {() => string} o.ping what asks for a sign of life
   * @param {() => void} o.onOpen @param {(data: any) => void} o.onData @param {(code: number, reason: string) => void} o.onCut
   * @param {Partial<Around>} [o.around] */
  constructor({ address, firstDelay, ping, onOpen, onData, onCut, around = {} }) {
    this.address = address;
    this.firstDelay = firstDelay;
    this.ping = ping;
    this.onOpen = onOpen;
    this.onData = onData;
    this.onCut = onCut;
    this.around = { ...browser, ...around };
    /** Attempts since it carried last. */
    this.failures = 0;
    /** @type {any} */
    this.socket = null;
    /** It is open. */
    this.carries = false;
    /** @type {any} */
    this.timer = null;
  }

  /** Begin, or try again at once; not where there is a connection. @param {() => void} [begins] */
  connect(begins = () => {}) {
    if (this.socket) return;
    this.around.never(this.timer);
    begins();
    const socket = (this.socket = this.around.open(this.address()));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket === this.socket && this.opened();
    socket.onmessage = (/** @type {any} */ message) => socket === this.socket && this.received(message.data);
    socket.onclose = (/** @type {any} */ event) => socket === this.socket && this.cut(event.code, event.reason);
  }

  opened() {
    this.carries = true;
    this.onOpen();
    this.listenOn();
  }

  /** @param {any} data */
  received(data) {
    this.listenOn();
    this.onData(data);
  }

  /** @param {string} text */
  send(text) {
    this.socket?.send(text);
  }

  /** After a while of silence ask for a sign of life; without one the connection is dead. */
  listenOn() {
    this.wait(() => this.probe(DEAD), QUIET);
  }

  /** @param {number} patience ms */
  probe(patience) {
    if (!this.carries) return;
    this.send(this.ping());
    this.wait(() => this.drop("no answer"), patience);
  }

  /** Give the connection up and come back. @param {string} why */
  drop(why) {
    const { socket } = this;
    this.cut(1006, why);
    socket?.close();
  }

  /** Be done: nothing more is sent, heard or tried. */
  end() {
    const { socket } = this;
    this.leave();
    socket?.close(1000);
  }

  /** @param {number} code @param {string} reason */
  cut(code, reason) {
    this.leave();
    this.onCut(code, reason);
  }

  leave() {
    [this.socket, this.carries] = [null, false];
    this.around.never(this.timer);
  }

  /** The one thing that is waited for: an earlier one is not, any more. @param {() => void} act @param {number} ms */
  wait(act, ms) {
    this.around.never(this.timer);
    this.timer = this.around.later(act, ms);
  }

  /** @returns {number} how long to wait before the next attempt, ms: about twice as long each time */
  delay() {
    return Math.min(LONGEST_DELAY, this.firstDelay * 2 ** this.failures++) * (0.8 + 0.4 * this.around.random());
  }
}
