// @ts-check
/** One page's run: its session, its connection, and every command that leaves this page. */

import { claim } from "./claim.mjs";
import { commands } from "./commands.mjs";
import { early, keep } from "./early.mjs";
import { heard } from "./heard.mjs";
import { before } from "../deck/moments.mjs";
import { msg, named } from "../language.mjs";
import { AddressBar, PAGE } from "./addressbar.mjs";
import { isLink } from "./link.mjs";
import { opens, whole } from "./opening.mjs";
import { fitting, shared, taken } from "./look.mjs";
import { Socket, resting } from "./socket.mjs";
import { Underway } from "./underway.mjs";

/** @typedef {import("./socket.mjs").Reply} Reply @typedef {import("./store.mjs").Store} Store @typedef {import("../types").Look} Look */

const LOOK_AFTER = 200;
/** Commands that ask or mirror: they change nothing that a link holds, and a refusal of theirs is no news. */
const ASKING = new Set(["watch", "fetch", "look", "share"]);
/** What computes on: all that waits while the page asks something first (`held`). */
const COMPUTING = new Set(["step", "choose", "join", "leave", "enter", "change", "redo", "play"]);

export class Run {
  /** @param {{store: Store, first: any, onWelcome: (known: import("../types").Selector[]) => void}} o first: the scenario of a first visit; onWelcome: watch anew, what is known */
  constructor({ store, first, onWelcome }) {
    this.store = store;
    this.first = first;
    /** What is done in it before anything is shown, as a link has it. @type {any[]} */
    this.log = [];
    this.onWelcome = onWelcome;
    const address = new URLSearchParams(location.search);
    this.guest = address.get("session") ?? "";
    this.role = address.get("role") === "reader" ? "reader" : "writer";
    /** Neither the address nor the tab keeps this run: it is another page's, or one of several on this page. */
    this.aside = !!this.guest;
    /** Who holds it may write where others may not: of a class (docs/wire.md). */
    this.key = "";
    /** What a run that begins here opens with, in place of what the address holds. @type {import("./opening.mjs").Content | null} */
    this.copy = null;
    /** The connection that was made before these scripts were read. */
    this.asked = early(first);
    this.fresh = false;
    this.client = this.asked?.client ?? crypto.getRandomValues(new Uint32Array(3)).join("-");
    this.commands = commands((command) => this.send(command));
    /** Commands of the person that were not answered yet. */
    this.underway = new Underway(store);
    /** Changes of the scenario that were sent and not answered yet, oldest first. @type {Record<string, any>[]} */
    this.ahead = [];
    /** What a person set before a run was there. @type {Record<string, any>} */
    this.early = {};
    /** What waits a moment, so that many changes are told once. @type {any} */
    this.lookTimer = 0;
    this.bar = new AddressBar(this);
    /** The server tells what the page looked at; after that the page tells the server. */
    this.joining = false;
    /** The run as it was shared last, as a link and as a file. */
    this.shared = { link: "", file: /** @type {any} */ (null) };
    this.session = "";
    /** Of the run that is shown. */
    this.architecture = "";
    this.socket = new Socket({
      address: () => this.address(),
      onFrame: (frame) => this.frame(frame),
      onState: (state, reason) => this.state(state, reason),
      onForgotten: () => this.forget(),
      around: this.asked ? { open: this.asked.open } : {},
    });
  }

  /** Join the session that this tab had, or begin one. */
  async begin() {
    this.session = this.guest || (await claim(this.bar.session()));
    addEventListener("online", () => this.socket.connect());
    addEventListener("offline", () => this.socket.probe(2000));
    resting(() => [this.socket]);
    addEventListener("popstate", () => this.bar.travelled());
    this.socket.connect();
    this.asked?.deliver();
  }

  address() {
    const { store } = this;
    const url = new URL("ws", document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("client", this.client);
    if (this.session) url.searchParams.set("session", this.session);
    if (this.session && store.seq > 0) {
      url.searchParams.set("after", String(store.seq));
      url.searchParams.set("epoch", String(store.epoch));
    }
    if (this.role === "reader") url.searchParams.set("role", "reader");
    if (this.key) url.searchParams.set("key", this.key);
    return url.href;
  }

  /** Leave this run for another one, on this very page; the picture of this one stands until the other is there.
   * @param {{session: string, role: "reader" | "writer", copy?: import("./opening.mjs").Content | null}} to session: "" begins one, with what copy holds */
  moveTo({ session, role, copy = null }) {
    this.socket.end();
    clearTimeout(this.lookTimer);
    Object.assign(this, { session, guest: session, role, copy, aside: true, ahead: [], early: {}, architecture: "" });
    this.store.seq = 0;
    this.store.set({ refused: null, hover: null });
    this.socket.connect();
  }

  /** The same run over another connection, which says who this page is (`key`). */
  again() {
    this.socket.end();
    this.socket.connect();
  }

  /** The server does not have this session: begin another one; what the link holds comes back. */
  forget() {
    if (this.guest) {
      this.socket.become("closed", msg`The run ${this.guest} does not exist (any more).`);
      return false;
    }
    [this.session, this.store.seq] = ["", 0];
    this.bar.forget();
    return true;
  }

  /** @param {import("../types").World["connection"]} connection @param {string} reason */
  state(connection, reason) {
    const { refused } = this.store.world;
    const over = connection === "open" && refused?.every((/** @type {any} */ e) => e.field === "connection"); // it said that there is none
    this.store.set({ connection, reason: named(reason), ...(over ? { refused: null } : {}) });
  }

  /** @param {import("./wire.mjs").Frame} frame */
  frame(frame) {
    heard(frame);
    this.store.apply(frame);
    if (frame.kind === "welcome") this.welcome(frame);
    else if (frame.kind === "opened") this.opened(frame.event);
    else if (frame.kind === "viewed") this.viewed(frame.event.view);
    else if (frame.kind === "shared") this.bar.linked((this.shared = frame.event).link);
    else if (frame.kind === "reply") this.store.settle();
    else if (frame.kind === "playing" && !frame.event.playing) this.bar.changed();
  }

  /** @param {import("./wire.mjs").Frame} frame */
  welcome(frame) {
    const known = this.session === frame.session;
    this.session = frame.session;
    if (this.aside) this.guest = this.session;
    else this.bar.remember();
    if (!known) claim(this.session);
    this.joining = frame.event.opened && !frame.event.resumed;
    this.onWelcome(this.asked?.selectors ?? []);
    this.asked = null;
    if (!frame.event.opened && frame.event.role === "writer") this.openFirst();
    else if (frame.event.opened) this.bar.changed(); // so that the address says where the run stands
  }

  /** @param {any} event */
  opened(event) {
    if (Object.keys(this.early).length) this.commands.change(this.early);
    this.early = {};
    const view = this.joining || this.store.world.role === "reader" ? taken(event.view) : {};
    const { look } = this.store.world;
    const other = !!this.architecture && this.architecture !== event.scenario.architecture; // another model: its own first look
    this.architecture = event.scenario.architecture;
    this.store.set({ look: fitting({ ...look, ...(other ? { relation: "" } : {}), ...view }, event, this.store.world.moved) });
  }

  /** @param {any} view */
  viewed(view) {
    if (!this.joining && this.store.world.role === "writer") return;
    this.joining = false;
    const { look, opened } = this.store.world;
    const next = { ...look, ...taken(view) };
    this.store.set({ look: opened ? fitting(next, opened, this.store.world.moved) : next });
  }

  /** What the address holds, else the first scenario; the page is alive either way. Without a link it is sent in this very turn: its answer may
   * be delivered next (early.mjs). */
  async openFirst() {
    if (this.copy) return void (await opens(this, this.copy));
    if (isLink(location.hash) && (await this.bar.follow())) return;
    const { refused } = this.store.world;
    const reply = await this.commands.open(this.first, this.log);
    if (reply.ok && refused) this.store.set({ refused });
    this.fresh = reply.ok;
  }

  /** Values are painted; the first of a new run are asked for at once the next time. @param {import("../types").Selector[]} selectors */
  painted(selectors) {
    if (this.fresh && !PAGE) keep(selectors, this.first);
    this.fresh = false;
  }

  /** Every command of the page goes through here.
   * @param {Record<string, any>} command @param {boolean} [there] see `Context` @returns {Promise<Reply>} */
  async send(command, there = false) {
    if (command.kind === "change" && !this.store.world.opened) return this.later(command.fields);
    const sent = () => this.socket.send(command, { again: command.kind !== "watch" });
    const send = command.kind === "open" ? () => sent().then(whole) : sent;
    if (ASKING.has(command.kind)) return send();
    if (this.waits(command)) return this.answerFirst(command.kind);
    if (command.kind === "change") this.awaits([...this.ahead, command.fields]);
    const settled = () => command.kind === "change" && this.awaits(this.ahead.filter((fields) => fields !== command.fields));
    return this.during(send, settled, command.kind === "analyse" ? command.name : "", there);
  }

  /** Whether this computes on, and something is asked first. Back, and to any moment before this one, is free. @param {Record<string, any>} command */
  waits({ kind, moment }) {
    const { held, history, moved } = this.store.world;
    return !!held && (COMPUTING.has(kind) || (kind === "go" && !before(history, moved.at).some((node) => node.id === moment)));
  }

  /** @param {string} given @returns {Reply} */
  answerFirst(given) {
    const errors = [{ field: "question", given, allowed: msg`going back`, message: this.store.world.held }];
    this.refuse(errors);
    return { ok: false, errors };
  }

  /** Something of the person's that is under way until it is answered, and what its answer means.
   * @param {() => Promise<Reply>} act @param {() => void} [settled] @param {string} [analysis] the page may ask for one by itself: no sign that the
   * person went on, so a refusal stays to be read
   * @param {boolean} [there] see `Context` @returns {Promise<Reply>} */
  async during(act, settled = () => {}, analysis = "", there = false) {
    this.underway.begun(analysis);
    const reply = await act().finally(() => this.underway.ended(analysis));
    settled();
    if (reply.ok) {
      if (analysis) return reply;
      if (this.store.world.refused) this.store.set({ refused: null });
      this.bar.changed();
    } else if (reply.errors.some((e) => e.field !== "cancel" && !(there && e.field === "measure"))) this.refuse(reply.errors);
    return reply;
  }

  /** @param {Record<string, any>[]} changes that were sent and not answered yet */
  awaits(changes) {
    this.ahead = changes;
    this.store.world.asked = Object.assign({}, ...changes);
    this.store.tell(["set-up"]);
  }

  /** A change of a run that is not there yet is made when it is. @param {Record<string, any>} fields @returns {Reply} */
  later(fields) {
    Object.assign(this.early, fields);
    this.store.tell(["set-up"]);
    return { ok: true, errors: [] };
  }

  /** How many of them. */
  get open() {
    return this.underway.open;
  }

  /** @param {any[]} errors */
  refuse(errors) {
    this.store.set({ refused: errors });
  }

  /** Change what the page looks at; others see it, and a reload finds it again.
   * @param {Partial<Look>} change */
  look(change) {
    const { look, opened, role } = this.store.world;
    const next = { ...look, ...change };
    if (JSON.stringify(next) === JSON.stringify(look)) return;
    this.store.set({ look: opened ? fitting(next, opened, this.store.world.moved) : next });
    if (role !== "writer") return;
    clearTimeout(this.lookTimer);
    this.lookTimer = setTimeout(() => {
      this.lookTimer = 0;
      if (this.store.world.connection === "open") this.commands.look(shared(this.store.world.look));
      this.bar.changed();
    }, LOOK_AFTER);
  }
}
