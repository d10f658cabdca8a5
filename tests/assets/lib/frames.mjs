// @ts-check
/** Frames as the server writes them, and a websocket that a test plays by hand. */

const WIDTH = { U8: 1, BOOL: 1, F16: 2, F32: 4, I32: 4 };

/** One frame in the safetensors layout. `tensors`: name -> [dtype, shape, typed array].
 * @param {string} kind @param {any} event @param {{session?: string, epoch?: number, seq?: number, tensors?: Record<string, any>}} [about]
 * @returns {ArrayBuffer} */
export function frame(kind, event, { session = "s", epoch = 1, seq = 1, tensors = {} } = {}) {
  /** @type {Record<string, any>} */
  const header = { __metadata__: { kind, session, epoch: String(epoch), seq: String(seq), event: JSON.stringify(event) } };
  const parts = [];
  let at = 0;
  for (const [name, [dtype, shape, data]] of Object.entries(tensors)) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] };
    if (bytes.length !== shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, WIDTH[/** @type {"U8"} */ (dtype)])) throw new Error("the test's tensor has another size");
    parts.push(bytes);
    at += bytes.length;
  }
  let text = new TextEncoder().encode(JSON.stringify(header));
  text = new TextEncoder().encode(JSON.stringify(header) + " ".repeat((8 - (text.length % 8)) % 8));
  const whole = new Uint8Array(8 + text.length + at);
  new DataView(whole.buffer).setBigUint64(0, BigInt(text.length), true);
  whole.set(text, 8);
  let place = 8 + text.length;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole.buffer;
}

/** A values frame of one piece in fp32.
 * @param {string[]} axes @param {number[]} shape @param {number[]} numbers @param {any} [more] */
export const values = (axes, shape, numbers, { start = {}, keyframe = false, epoch = 1, seq = 1, mark = 1, path = "p", side = "value", selector = 0, bin = 1 } = {}) =>
  frame("values", { at: 0, keyframe, fetched: false, mark, pieces: [{ selector, path, side, axes, start, bin, array: { tensor: "x", low: 0, high: 1 } }] },
    { epoch, seq, tensors: { x: ["F32", shape, Float32Array.from(numbers)] } });

/** A clock and a network that stand still until the test moves them. */
export class Around {
  constructor() {
    this.time = 1000;
    /** @type {{at: number, act: () => void}[]} */
    this.timers = [];
    /** @type {any[]} */
    this.sockets = [];
    this.now = () => this.time;
    this.random = () => 0.5;
    this.later = (/** @type {() => void} */ act, /** @type {number} */ ms) => {
      const timer = { at: this.time + ms, act };
      this.timers.push(timer);
      return timer;
    };
    this.never = (/** @type {any} */ timer) => {
      this.timers = this.timers.filter((t) => t !== timer);
    };
    this.open = (/** @type {string} */ url) => {
      const socket = { url, sent: /** @type {any[]} */ ([]), send: (/** @type {string} */ text) => socket.sent.push(JSON.parse(text)), close: () => {} };
      this.sockets.push(socket);
      return socket;
    };
  }

  get socket() {
    return this.sockets.at(-1);
  }

  /** @param {number} ms */
  pass(ms) {
    const until = this.time + ms;
    for (;;) {
      const due = this.timers.filter((t) => t.at <= until).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.never(due);
      this.time = due.at;
      due.act();
    }
    this.time = until;
  }

  /** @param {string} kind @param {any} event @param {any} [about] */
  hear(kind, event, about) {
    this.socket.onmessage({ data: frame(kind, event, about) });
  }
}
