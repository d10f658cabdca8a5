// @ts-check
/** The world that views draw from: the latest event of each kind, the look, and recorded values merged from keyframes and deltas. */

import { lineEnd } from "../deck/moments.mjs";
import { Block } from "./block.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Known} Known @typedef {import("../types").Look} Look */
/** @typedef {import("../types").Selector} Selector @typedef {import("../types").Tensor} Tensor */
/** @typedef {import("./wire.mjs").Frame} Frame */

/** @returns {Look} */
export const firstLook = () => ({
  request: 0, relation: "", layer: 0, head: 0, show: "weights", scale: "linear", lock: null, path: null,
  editing: false, scope: "layer", pane: "gradient", theme: "auto", op: null, ribbon: "weight", gold: true, decision: "next", tree: true, chart: "curves", states: "", side: "value", layout: {}, stops: [], merge: null,
});

/** @returns {World} */
function firstWorld() {
  return {
    connection: "connecting", reason: "", role: "writer", recording: false, busy: false, asked: {}, behind: "", held: "", question: [],
    opened: null, schema: null, moved: null, history: new Map(),
    curve: { updates: [], loss: [], norm: [], clipped: [], validation: [], validated_every: 0, held_out: 0 },
    checked: null, playing: { playing: false, unit: "step", rate: 2 }, notices: [], refused: null, analysis: {},
    look: firstLook(), hover: null, people: null, values: () => [],
  };
}

/** How long listeners wait for the rest of a step, ms. */
const PATIENCE = 100;

/** Keeps the world and tells listeners which parts of it changed. */
export class Store {
  constructor() {
    this.world = firstWorld();
    this.world.values = (view, selector) => this.valuesOf(view, selector);
    this.session = "";
    this.epoch = -1;
    this.seq = -1;
    /** An epoch began and nothing of it was recorded yet: painting now would mix old values with new rows. */
    this.unsettled = false;
    /** While a step arrives: what listeners will be told of when all of it is here. @type {string[] | null} */
    this.arriving = null;
    /** @type {any} */
    this.patience = 0;
    /** Values frames that were taken in and not acknowledged yet. @type {number[]} */
    this.drawn = [];
    /** @type {((parts: string[]) => void)[]} */
    this.listeners = [];
    /** What each view wants, as the text of its selectors. @type {Map<string, string[]>} */
    this.plan = new Map();
    /** What the server sends now: pieces name a place in this list. @type {string[]} */
    this.inForce = [];
    /** The number of that list: values of another one are dropped. */
    this.mark = 0;
    /** What is known of a selector, by path and side. @type {Map<string, Map<string, Block>>} */
    this.blocks = new Map();
  }

  /** @param {(parts: string[]) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** Change parts of the world from this side (connection, busy, look, ...).
   * @param {Partial<World>} change */
  set(change) {
    Object.assign(this.world, change);
    this.tell(Object.keys(change));
  }

  /** @param {string[]} parts */
  tell(parts) {
    if (this.arriving) this.arriving.push(...parts);
    else for (const listener of this.listeners) listener(parts);
  }

  /** A step begins to arrive. It ends with its values, or with its checks where nothing new was watched; until then nothing is told, so that
   * one step is one picture. */
  arrives() {
    this.arriving ??= [];
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.arrived(), PATIENCE);
  }

  /** All of the step is here, or it takes too long. */
  arrived() {
    const parts = this.arriving;
    if (!parts) return;
    clearTimeout(this.patience);
    this.arriving = null;
    this.tell([...new Set(parts)]);
  }

  /** What is watched from now on: pieces of values with this mark name a place in this list. The rest is forgotten.
   * @param {string[]} selectors as text @param {number} mark */
  watches(selectors, mark) {
    this.inForce = selectors;
    this.mark = mark;
    this.blocks = new Map(selectors.map((key) => [key, this.blocks.get(key) ?? new Map()]));
  }

  /** @param {string} view @param {number} selector @returns {Known[]} */
  valuesOf(view, selector) {
    const key = this.plan.get(view)?.[selector];
    return key === undefined ? [] : [...(this.blocks.get(key)?.values() ?? [])];
  }

  /** Take in one frame. Values of another epoch are dropped (and still acknowledged).
   * @param {Frame} frame */
  apply(frame) {
    if (frame.kind === "pong") return;
    if (frame.kind === "values") return frame.event.fetched ? this.tell([]) : this.applyValues(frame);
    if (this.session && frame.session !== this.session) this.leave();
    this.session = frame.session;
    if (frame.kind === "welcome" && !frame.event.resumed) this.seq = 0;
    else this.seq = Math.max(this.seq, frame.seq);
    if (frame.epoch !== this.epoch) this.begin(frame.epoch);
    if (frame.kind === "moved") this.arrives();
    const parts = this.take(frame.kind, frame.event, frame);
    if (parts.length) this.tell(parts);
    if (frame.kind === "checked") this.arrived();
  }

  /** @param {number} epoch */
  begin(epoch) {
    this.unsettled ||= this.epoch >= 0;
    this.epoch = epoch;
  }

  /** Another run comes to this page: its epochs may have the same numbers. */
  leave() {
    this.blocks = new Map([...this.blocks.keys()].map((key) => [key, new Map()]));
    this.epoch = -1;
    this.unsettled = true;
  }

  /** The picture is whole again: the command was answered or its values came. */
  settle() {
    this.arrived();
    if (!this.unsettled) return;
    this.unsettled = false;
    for (const known of this.blocks.values()) for (const [key, block] of known) if (block.epoch !== this.epoch) known.delete(key);
    this.tell(["values"]);
  }

  /** @param {Frame} frame */
  applyValues(frame) {
    this.drawn.push(frame.seq);
    if (frame.epoch !== this.epoch || frame.event.mark !== this.mark) return this.tell([]);
    if (frame.event.keyframe) for (const known of this.blocks.values()) known.clear();
    for (const piece of frame.event.pieces) this.merge(piece, /** @type {Tensor} */ (frame.tensors.get(piece.array.tensor)), frame.epoch);
    this.unsettled = false;
    this.tell(["values"]);
    this.arrived();
  }

  /** @param {any} piece @param {Tensor} tensor @param {number} epoch */
  merge(piece, tensor, epoch) {
    const known = this.blocks.get(this.inForce[piece.selector]);
    if (!known) return;
    const key = `${piece.side} ${piece.path}`;
    let block = known.get(key);
    if (!block || block.epoch !== epoch || block.axes.join() !== piece.axes.join()) known.set(key, (block = new Block(piece.path, piece.side, piece.axes, epoch)));
    block.put(tensor, piece.axes.map((/** @type {string} */ axis) => piece.start?.[axis] ?? 0), piece.bin > 1);
  }

  /** What an event changes, as names of the world's parts.
   * @param {string} kind @param {any} event @param {Frame} frame @returns {string[]} */
  take(kind, event, frame) {
    const w = this.world;
    switch (kind) {
      case "opened":
        w.opened = event;
        w.notices = [];
        return ["opened", "notices"];
      case "schema":
        w.schema = event;
        return ["schema"];
      case "history":
        w.history = new Map(event.nodes.map((/** @type {any} */ n) => [n.id, n]));
        w.analysis = {}; // another run may have moments of the same numbers
        return ["history", "analysis"];
      case "moved":
        for (const node of event.nodes) w.history.set(node.id, node);
        w.moved = event;
        w.line = lineEnd(w, w.line);
        w.notices = w.notices.filter((n) => n.at === event.at || n.at === null);
        return ["moved", "history", "notices"];
      case "curve":
        w.curve = event.whole ? event : joined(w.curve, event);
        return ["curve"];
      case "checked":
        w.checked = event;
        return ["checked"];
      case "playing":
        w.playing = event;
        return ["playing"];
      case "notice":
        w.notices = [...w.notices.slice(-19), { ...event, at: w.moved?.at ?? null }];
        return ["notices"];
      case "analysis":
        w.analysis = { ...w.analysis, [event.name]: { ...event, tensors: frame.tensors } };
        return ["analysis"];
      case "welcome":
        w.role = event.role;
        return ["role"];
      case "reply":
        return [];
      default:
        return [kind];
    }
  }
}

/** @param {World["curve"]} old @param {any} more */
export function joined(old, more) {
  const keep = more.updates.length ? old.updates.findIndex((u) => u >= more.updates[0]) : -1;
  const cut = keep < 0 ? old.updates.length : keep;
  const validation = old.validation.filter(([u]) => !more.validation.length || u < more.validation[0][0]);
  return {
    updates: [...old.updates.slice(0, cut), ...more.updates],
    loss: [...old.loss.slice(0, cut), ...more.loss],
    norm: [...old.norm.slice(0, cut), ...more.norm],
    clipped: [...old.clipped.slice(0, cut), ...more.clipped],
    validated_every: more.validated_every, held_out: more.held_out,
    validation: [...validation, ...more.validation],
    written: [...(old.written ?? []).filter(([u]) => !more.written?.length || u < more.written[0][0]), ...(more.written ?? [])],
  };
}
