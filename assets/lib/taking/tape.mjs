// @ts-check
/** A saved run (docs/wire.md) in the place of a server: the same commands in, the same frames out, all from what was recorded. */

import { msg } from "../language.mjs";
import { reached } from "../deck/stops.mjs";
import { joined } from "../run/store.mjs";
import { Recorded } from "./recorded.mjs";
import { decode } from "../run/wire.mjs";

/** @typedef {import("../run/wire.mjs").Frame} Frame @typedef {import("../types").Selector} Selector @typedef {import("../run/socket.mjs").Reply} Reply */
/** @typedef {{opened: any, moved: any, checked: any, curve: any, notices: any[], values: Frame[], hole: boolean}} Moment */

const NOTHING = { updates: [], loss: [], norm: [], clipped: [], validation: [], validated_every: 0, held_out: 0, whole: true };

/** The frames of a packed run, as they follow each other. Throws an Error with a sentence when it is not whole.
 * @param {Uint8Array<ArrayBuffer>} packed @returns {Promise<Frame[]>} */
export async function unpackRun(packed) {
  let raw;
  try {
    raw = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  } catch {
    throw new Error(msg`This replay is not whole: the file ends too early. Copy or save it again.`);
  }
  const view = new DataView(raw);
  const frames = [];
  for (let at = 0; at < raw.byteLength; ) {
    const length = view.getUint32(at, true);
    frames.push(decode(raw.slice(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return frames;
}

/** The moments of a run, each with all that was said of it.
 * @param {Frame[]} frames */
function momentsOf(frames) {
  /** @type {Moment[]} */
  const moments = [];
  /** @type {any} */
  let opened = null;
  /** @type {any} */
  let curve = NOTHING;
  /** @type {Record<string, any>} */
  const once = {};
  for (const frame of frames) {
    const last = /** @type {Moment} */ (moments.at(-1));
    const { kind, event } = frame;
    if (kind === "opened") opened = event;
    else if (kind === "moved") moments.push({ opened, moved: { ...event, nodes: [] }, checked: null, curve, notices: [], values: [], hole: false });
    else if (kind === "curve") {
      curve = event.whole ? event : { ...joined(curve, event), whole: true };
      if (last) last.curve = curve;
    } else if (kind === "checked") last.checked = event;
    else if (kind === "notice") last.notices.push(event);
    else if (kind === "values") {
      last.values.push(frame);
      if (event.keyframe) last.hole = !event.pieces.length;
    } else once[kind] = event;
  }
  return { moments, history: once.history, schema: once.schema, shared: once.shared };
}

/** Plays a run to a page as the socket would. */
export class Tape {
  /** @param {{frames: Frame[], onFrame: (frame: Frame) => void, onState: (state: "open", reason: string) => void, around?: any}} o */
  constructor({ frames, onFrame, onState, around = { later: setTimeout.bind(globalThis), never: clearTimeout.bind(globalThis) } }) {
    const { moments, history, schema, shared } = momentsOf(frames);
    this.moments = moments;
    this.history = history;
    this.schema = schema;
    /** The scenario file of the run, as it was shared. */
    this.file = shared?.file ?? null;
    this.onFrame = onFrame;
    this.onState = onState;
    this.around = around;
    this.at = -1;
    /** @type {{selectors: Selector[], mark: number}} */
    this.watched = { selectors: [], mark: 0 };
    this.known = new Recorded(moments, schema?.taps ?? []);
    this.waiting = new Map();
    /** @type {any} */
    this.timer = null;
  }

  /** Begin where the run stood when it was saved. */
  connect() {
    this.onState("open", "");
    this.say("welcome", { role: "reader", opened: true, resumed: false });
    this.say("schema", this.schema);
    this.say("history", this.history);
    this.show(Math.max(0, this.moments.findIndex((m) => m.moved.at === this.history.at)));
  }

  /** @param {string} kind @param {any} event @param {Map<string, any>} [tensors] */
  say(kind, event, tensors = new Map()) {
    this.onFrame({ kind, session: "recording", epoch: 1, seq: 0, event, tensors });
  }

  /** Stand at a moment and tell all of it. @param {number} at */
  show(at) {
    const [before, now] = [this.moments[this.at], this.moments[at]];
    this.at = at;
    if (before?.opened !== now.opened) this.say("opened", now.opened);
    this.say("moved", now.moved);
    this.say("curve", now.curve);
    this.tellValues();
    for (const notice of now.notices) this.say("notice", notice);
    if (now.hole) this.say("notice", { code: "left_out", message: msg`The values of this moment are not in the recording, because the file would be too large.`, offer: null });
    this.say("checked", now.checked ?? { at: now.moved.at, checks: [] });
  }

  tellValues() {
    if (!this.watched.selectors.length) return;
    const { pieces, tensors } = this.known.pieces(this.at, this.watched.selectors);
    this.say("values", { at: this.moments[this.at].moved.at, keyframe: true, fetched: false, mark: this.watched.mark, pieces }, tensors);
  }

  /** A command, answered from the recording. @param {Record<string, any>} command @returns {Promise<Reply>} */
  async send(command) {
    const problem = this.carryOut(command);
    const reply = { ok: !problem, errors: problem ? [{ field: command.kind, given: command.kind, allowed: msg`what was recorded`, message: problem }] : [] };
    this.say("reply", { to: 0, ...reply });
    return reply;
  }

  /** @param {Record<string, any>} command @returns {string} why not, or nothing */
  carryOut(command) {
    if (!["watch", "fetch", "look", "share"].includes(command.kind) && this.timer) this.pause();
    switch (command.kind) {
      case "step":
        return this.go(this.next(command.unit), msg`The recording ends here. Its scenario file opens in Lookback, where the run can go on.`);
      case "back":
        return this.go(this.at - 1, msg`This is where the recording begins.`);
      case "go":
        return this.go(this.moments.findIndex((m) => m.moved.at === command.moment), msg`This moment is not in the recording.`);
      case "enter":
        return this.go(this.moments.findIndex((m) => m.moved.phase === command.phase), msg`This recording holds no ${command.phase}.`);
      case "play":
        return this.play(command);
      case "watch":
        this.watched = { selectors: command.selectors, mark: command.mark };
        this.tellValues();
        return "";
      case "fetch":
        return this.fetch(command.selector);
      case "pause":
      case "cancel":
      case "look":
      case "share":
        return "";
      default:
        return msg`This is a recording: there is no model here that could do this. Its scenario file opens in Lookback.`;
    }
  }

  /** Where a step leads: the next moment, or the next one at which a step ends. @param {string} unit */
  next(unit) {
    for (let i = this.at + 1; i < this.moments.length; i++) if (unit === "stage" || !this.moments[i].moved.stage) return i;
    return this.at + 1 < this.moments.length ? this.at + 1 : -1;
  }

  /** @param {number} at @param {string} otherwise */
  go(at, otherwise) {
    if (at < 0 || at >= this.moments.length) return otherwise;
    this.show(at);
    return "";
  }

  /** @param {Record<string, any>} command */
  play(command) {
    if (this.at >= this.moments.length - 1) return msg`The recording ends here.`;
    this.say("playing", { playing: true, unit: command.unit, rate: command.rate });
    const step = () => {
      const before = this.moments[this.at].moved;
      this.go(this.next(command.unit), "");
      const stop = reached(command.stops ?? [], { moved: before, op: null }, { moved: this.moments[this.at].moved, op: null });
      if (stop) this.say("notice", { code: "stopped", message: msg`Stopped where you asked.`, offer: null });
      if (stop || this.at >= this.moments.length - 1) this.pause();
      else this.timer = this.around.later(step, 1000 / command.rate);
    };
    this.timer = this.around.later(step, 1000 / command.rate);
    return "";
  }

  pause() {
    this.around.never(this.timer);
    this.timer = null;
    this.say("playing", { playing: false, unit: "step", rate: 2 });
  }

  /** @param {Selector} selector */
  fetch(selector) {
    const { pieces, tensors } = this.known.pieces(this.at, [selector]);
    this.say("values", { at: this.moments[this.at].moved.at, keyframe: true, fetched: true, mark: 0, pieces: pieces.map((p) => ({ ...p, selector: -1 })) }, tensors);
    return "";
  }

  ack() {}

  probe() {}
}
