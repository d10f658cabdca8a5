// @ts-check
/** One model of the comparison: its own session on the server, what it said, and what it reads. */

import { commands } from "../lib/run/commands.mjs";
import { Socket } from "../lib/run/socket.mjs";
import { Store } from "../lib/run/store.mjs";
import { evenness } from "../lib/read/evenness.mjs";
import { depths } from "../lib/training/gradients.mjs";
import * as read from "../lib/reads.mjs";
import { placeOf, START, whyNot } from "./said.mjs";

const VIEW = "compare";
/** Parts of its world that are shown. */
const SHOWN = new Set(["connection", "opened", "schema", "moved", "values", "curve", "analysis"]);

export class Column {
  /** @param {string} architecture @param {Record<string, any>} config fields that differ from the defaults @param {(c: Column, parts: string[]) => void} changed called with the parts of its world that changed, of those that are shown */
  constructor(architecture, config, changed) {
    this.architecture = architecture;
    this.config = config;
    this.changed = changed;
    this.store = new Store();
    this.session = "";
    /** Why it cannot run, as a sentence. */
    this.problem = "";
    /** The moment whose reach was asked for last. */
    this.asked = -1;
    this.client = crypto.randomUUID();
    this.watched = "";
    /** Fields to open with, until it is opened. @type {any} */
    this.wanted = null;
    this.share = "";
    this.closed = false;
    /** Parts of its world that changed since it was drawn. @type {string[]} */
    this.due = [];
    /** A step of it is on its way. */
    this.awaited = false;
    this.socket = new Socket({
      address: () => this.address(),
      onFrame: (frame) => this.frame(frame),
      onState: (state) => this.store.set({ connection: state }),
      onForgotten: () => { this.session = ""; return true; },
    });
    this.commands = commands((command) => this.socket.send(command));
    this.store.listen((parts) => {
      if (parts.includes("moved")) this.awaited = false;
      const seen = parts.filter((part) => SHOWN.has(part));
      if (seen.length) changed(this, seen);
    });
  }

  get world() {
    return this.store.world;
  }

  address() {
    const url = new URL("ws", document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("client", this.client);
    if (this.session) url.searchParams.set("session", this.session);
    if (this.session && this.store.seq > 0) {
      url.searchParams.set("after", String(this.store.seq));
      url.searchParams.set("epoch", String(this.store.epoch));
    }
    return url.href;
  }

  /** @param {any} scenario @returns {Promise<boolean>} */
  async open(scenario) {
    this.wanted = scenario;
    this.socket.connect();
    const reply = await this.commands.open(scenario);
    this.problem = reply.ok || !reply.errors[0] ? "" : whyNot(reply.errors[0]);
    if (reply.ok) await this.watch();
    this.changed(this, ["opened"]);
    return reply.ok;
  }

  close() {
    this.closed = true;
    this.socket.end();
  }

  /** @param {import("../lib/run/wire.mjs").Frame} frame */
  frame(frame) {
    if (this.closed) return;
    this.store.apply(frame);
    if (frame.kind === "welcome") {
      this.session = frame.session;
      if (!frame.event.opened && this.wanted && this.world.opened) this.commands.open(this.wanted); // it was forgotten: again
    }
    if (frame.kind === "shared") this.share = frame.event.link;
    if (frame.kind === "reply") this.store.settle();
    for (const seq of this.store.drawn.splice(0)) this.socket.ack(seq);
  }

  /** The read that is compared: of the source where there is one, else of the rows before; in its last layer.
   * @returns {{info: any, layer: number} | null} */
  relation() {
    const all = this.world.opened?.relations ?? [];
    const info = all.find((/** @type {any} */ r) => r.query === "t" && r.key === "s") ?? all.findLast((/** @type {any} */ r) => r.query === "t") ?? null;
    return info ? { info, layer: info.layers - 1 } : null;
  }

  /** What each layer gives to the next, from the input up, as far as a gradient reaches it. */
  depths() {
    return depths(this.world.schema?.taps ?? []).filter((d) => /\d/.test(d.scope)).reverse();
  }

  /** In training, by layer from the input up: the norm of the gradient that reaches the rows it gives (of the first sequence); NaN: not known.
   * @returns {number[]} */
  gradients() {
    const first = this.relation() ? 1 : 0;
    return this.depths().map((_, i) => {
      const known = this.world.values(VIEW, first + i)[0];
      return known ? Math.hypot(...Array.from({ length: known.shape[1] }, (__, t) => known.at(0, t)).filter((v) => !Number.isNaN(v))) : NaN;
    });
  }

  /** Watch the weights of all heads of that read, and in training the gradient at each layer. */
  async watch() {
    const at = this.relation();
    /** @type {import("../lib/types").Selector[]} */
    const selectors = at ? [{ path: read.tapsOf(this.world, at.info, at.layer).weights, index: { b: 0 }, dtype: "f32" }] : [];
    if (this.world.moved?.phase === "train") selectors.push(...this.depths().map((d) => ({ path: d.path, side: /** @type {const} */ ("gradient"), index: { b: 0 }, dtype: /** @type {const} */ ("f32"), reduce: /** @type {const} */ ("norm") })));
    const text = selectors.map((s) => JSON.stringify(s));
    this.store.plan.set(VIEW, text);
    this.store.watches(text, this.store.mark + 1);
    await this.commands.watch(selectors, this.store.mark);
  }

  /** Mean weight over the heads by (row, key); NaN where it is not known. @returns {(row: number, key: number) => number} */
  weights() {
    const at = this.relation();
    const known = this.world.values(VIEW, 0)[0];
    if (!at || !known) return () => NaN;
    const heads = Array.from({ length: at.info.heads }, (_, head) => read.cells(known, 0, head));
    return (row, key) => heads.reduce((sum, w) => sum + w(row, key), 0) / heads.length;
  }

  /** Whether anything is read yet: before the prefill nothing is. */
  get unread() {
    return placeOf(this) === START;
  }

  /** The rows that are known, or will be read first. @returns {import("../lib/reads.mjs").Row[]} */
  rows() {
    return (this.request()?.target ?? []).filter((/** @type {any} */ r) => this.unread || r.state !== "unknown");
  }

  /** The rows that are read: of the source, else all that are known. @returns {import("../lib/reads.mjs").Row[]} */
  keys() {
    const at = this.relation();
    return at && at.info.key !== "s" ? this.rows() : (this.request()?.source ?? this.rows());
  }

  /** Which key rows a row may read, by the mask of that read. @returns {(row: number, key: number) => boolean} */
  allowed() {
    const at = this.relation();
    if (!at) return () => false;
    const mask = read.visibility(at.info, at.layer, this.keys());
    return (row, key) => mask.allows(row, key);
  }

  /** How evenly one row reads, by the weights that are shown. @param {number} row */
  evenness(row) {
    const weight = this.weights();
    return this.relation() ? evenness(this.keys().map((_, key) => weight(row, key))) : null;
  }

  /** @returns {any} the one request */
  request() {
    return this.world.moved?.requests?.[0] ?? null;
  }

  /** What was measured of this moment's choice, or null. */
  reach() {
    const found = this.world.analysis.choice_reach?.result;
    return found && !this.unread && found.moment === this.world.moved?.at ? found : null;
  }

  /** Ask for the reach of the choice that stands. */
  ask() {
    const { moved, connection } = this.world;
    if (!moved || moved.phase === "train" || moved.ended || this.unread || connection !== "open" || this.asked === moved.at) return;
    this.asked = moved.at;
    const token = this.request()?.choice;
    this.commands.analyse("choice_reach", { request: 0, ...(token === null || token === undefined ? {} : { token }) });
  }
}
