// @ts-check
/** The page of who teaches: the class follows the run of this page. */

import { h, hide, set, text } from "../lib/dom.mjs";
import { copied } from "../lib/copying.mjs";
import { counted, msg, parts } from "../lib/language.mjs";
import { Ask } from "./ask.mjs";
import { bar, button, gap, sentence } from "./bar.mjs";
import { keep } from "./kept.mjs";
import { heldElsewhere } from "../lib/run/claim.mjs";
import { answerOf, watches } from "./measuring.mjs";
import { pinsOf, whereOf } from "./people.mjs";
import { meant } from "./polls.mjs";
import { measured, PollBox, saidSo, showPoll } from "./pollbox.mjs";
import { Room } from "./room.mjs";
import { PeopleBox } from "./side.mjs";
import { pin, Telling } from "./telling.mjs";

export class Teaching {
  /** @param {{page: any, address: string, joinAt: string, code?: string, key?: string, session?: string, over: () => void}} o joinAt: the address that students open; session: the run of the class, where it is known */
  constructor({ page, address, joinAt, code = "", key = "", session = "", over }) {
    /** @type {any} */
    this.page = page;
    this.joinAt = joinAt;
    this.code = code;
    this.key = key;
    this.session = session;
    this.over = over;
    this.store = /** @type {import("../lib/run/store.mjs").Store} */ (page.store);
    /** What the server told last. @type {any} */
    this.told = null;
    this.trouble = "";
    /** An answer is on its way to the server. */
    this.answering = false;
    /** What is asked before it is done: null nothing, "" whether to end the class, else whom to take out. @type {string | null} */
    this.asks = null;
    /** Another tab of this browser has the run of the class. */
    this.elsewhere = false;
    /** What the button that copies the link says, once it did. */
    this.linked = "";
    page.run.key = key;
    this.room = new Room({ address, hello: () => this.hello(), onMessage: (m) => this.heard(m), onState: (_, reason) => this.state(reason) });
    this.telling = new Telling({ store: this.store, send: (m) => this.room.send(m) });
    this.ask = new Ask({ world: () => this.store.world, ask: (asked) => this.room.send({ kind: "poll", ...asked }) });
    this.people = new PeopleBox((name) => this.asking(name));
    this.box = new PollBox({ title: msg`Poll`, pick: (option) => this.answered({ option, measured: "" }) });
    this.showing = h("button", { class: "btn sm", type: "button", onclick: () => this.room.send({ kind: "show", shown: !this.told.poll.shown }) });
    this.box.below.append(this.showing, button(msg`Ask again`, () => this.room.send({ kind: "again" }), "sm"), button(msg`Remove`, () => this.room.send({ kind: "clear" }), "sm"));
    this.nobody = h("section", null, h("p", { class: "note" }));
    this.fill();
    watches({ registry: page.registry, store: this.store, poll: () => this.told?.poll ?? null });
    this.store.listen((parts) => this.changed(parts));
    this.changed(["role"]);
    this.draw();
  }

  fill() {
    const note = h("section", null, h("p", { class: "note" }, msg`Names are typed by students and vanish when the class ends; press one to take somebody out. Counts in the timeline show where everyone is.`));
    /** @type {any} */ (document.getElementById("class-side")).replaceChildren(this.box.element, ...this.people.elements, this.nobody, note);
    document.documentElement.dataset.class = "teacher";
  }

  hello() {
    const { code, key, session } = this;
    return { kind: "open", session, ...(key ? { code, key } : {}) };
  }

  /** @param {string[]} parts */
  changed(parts) {
    if (parts.includes("role") || parts.includes("opened")) this.ran();
    if (parts.includes("moved")) this.pins();
    if (parts.includes("opened") && this.told) this.drawPoll();
    if (parts.includes("moved") || parts.includes("values")) this.measure();
  }

  /** The run is there: the class opens, unless it follows another run than this page has now. Where another page took it over, only a person takes it back. */
  ran() {
    const { session } = this.page.run;
    if (!session || !this.store.world.opened) return;
    this.session ||= session;
    if (session === this.session) this.room.state !== "closed" && this.room.connect();
    else if (!this.room.known) this.looksElsewhere();
    this.draw();
  }

  /** Whether another tab has the run of the class: this one is a copy of it, as a browser makes one. */
  async looksElsewhere() {
    this.elsewhere = await heldElsewhere(this.session);
    this.draw();
  }

  /** This tab goes to the run of the class. */
  here() {
    this.keepIt(true);
    this.page.run.moveTo({ session: this.session, role: "writer" });
    this.draw();
  }

  /** @param {boolean} here whether this tab goes to the run of the class by itself, when it is loaded again */
  keepIt(here) {
    const { code, key, session } = this;
    keep({ as: "teacher", code, key, session, here });
  }

  /** The class goes to the run of this page. */
  take() {
    this.session = this.page.run.session;
    if (this.room.line.carries) this.room.greet();
    else this.room.connect();
    this.draw();
  }

  /** @param {any} message */
  heard(message) {
    if (message.kind === "room") this.opened(message);
    else if (message.kind === "class") this.classed(message);
    else if (message.kind === "ended") this.ended(message.message);
    else if (message.kind === "refused") this.state(message.errors.map((/** @type {any} */ e) => e.message).join(" "));
  }

  /** @param {any} message */
  opened({ code, key, session }) {
    Object.assign(this, { code, key, session, trouble: "" });
    const { run } = this.page;
    this.keepIt(run.aside);
    const fresh = run.key !== key || this.store.world.role !== "writer";
    run.key = key;
    if (fresh) this.rejoin();
    this.telling.now(true);
    this.draw();
  }

  /** The run's connection says who this page is; what is under way is answered first. */
  rejoin() {
    if (this.page.run.open) setTimeout(() => this.rejoin(), 50);
    else this.page.run.again();
  }

  /** @param {string} trouble */
  state(trouble) {
    this.trouble = trouble;
    this.draw();
  }

  /** @param {any} message */
  classed(message) {
    const asked = (/** @type {any} */ poll) => JSON.stringify([poll?.question, poll?.about]);
    const other = asked(this.told?.poll) !== asked(message.poll);
    this.told = message;
    this.answering = false;
    this.people.told(message.people);
    this.pins();
    this.drawPoll();
    this.draw();
    if (other) this.page.registry.choose();
    this.measure();
  }

  /** The run is asked, while its answer is not known. */
  measure() {
    const poll = this.told?.poll;
    const answer = poll && !this.answering && poll.answer === null && !poll.measured ? answerOf(this.store.world, poll) : null;
    if (answer) this.answered(answer);
    this.answering = !!answer || this.answering;
  }

  pins() {
    pin(this.store, "teacher", pinsOf(this.told?.people ?? [], whereOf(this.store.world)));
  }

  /** @param {{option: number | null, measured: string}} answer */
  answered(answer) {
    if (this.told?.poll) this.room.send({ kind: "answer", ...answer });
  }

  drawPoll() {
    const { poll } = this.told;
    showPoll(this.box, !!poll);
    if (!poll) return;
    const own = !poll.about?.kind;
    const waits = own ? msg`Press an answer to mark it as the right one.` : meant(this.store.world, poll.about) ? msg`Measured when the step is made.` : msg`This question is about another run than the one that is shown now: it is not measured.`;
    const note = msg`${poll.answered} of ${poll.of} answered`;
    this.box.draw(poll, { note, may: own, told: poll.answer === null && !poll.measured ? [waits] : [...measured(poll), " ", saidSo(poll)] });
    text(this.showing, poll.shown ? msg`Answer shown` : msg`Show the answer`);
    set(this.showing, "aria-pressed", String(poll.shown));
  }

  draw() {
    const { people = [] } = this.told ?? {};
    hide(this.nobody, people.length > 0 || !this.code);
    text(this.nobody.firstElementChild, msg`Nobody is here yet. Students open ${this.joinAt} and type ${this.code}.`);
    if (!this.told) showPoll(this.box, false);
    bar("teacher", ...this.barParts());
  }

  /** @returns {any[]} */
  barParts() {
    const { run } = this.page;
    if (run.session && this.session && run.session !== this.session)
      return [sentence(this.elsewhere ? msg`This class is taught in another tab.` : msg`The class follows another run than this page has now.`), gap(), button(msg`Leave the class`, () => this.leave()),
        button(this.elsewhere ? msg`Teach here` : msg`Back to its run`, () => this.here(), this.elsewhere ? "solid" : ""), !this.elsewhere && button(msg`Take the class to this run`, () => this.take(), "solid")];
    if (!this.code) return [sentence(this.trouble || msg`The class opens`), gap(), this.trouble && button(msg`Try again`, () => this.take(), "solid")];
    if (this.asks !== null) return this.question(this.asks);
    const { following = 0, own = 0, lost = 0 } = this.told ?? {};
    const count = (/** @type {number} */ n, /** @type {string} */ words) => h("span", { class: "pbar-count" }, h("b", { class: "big2" }, String(n)), " ", h("small", null, words));
    return [
      h("span", { class: "pbar-join" }, h("small", null, parts`Join at ${h("b", null, this.joinAt)}`)), h("span", { class: "code", "aria-label": msg`Code: ${this.code}` }, this.code), this.copying(), h("span", { class: "vr", "aria-hidden": "true" }),
      this.room.state === "open" ? [count(following, msg`following`), count(own, msg`on their own`), count(lost, msg`lost`)] : sentence(this.room.state === "closed" ? this.trouble || msg`The server closed the class.` : msg`Not connected to the class, trying again`),
      gap(), this.large(), this.room.state === "closed" ? button(msg`Teach here`, () => this.room.connect(), "") : button(msg`Call all back`, () => this.call(), "", !this.room.seated), button(msg`Poll`, () => this.ask.open(), "", !this.room.seated), button(msg`End class`, () => this.asking(""), "solid"),
    ];
  }

  copying() {
    const copy = async () => {
      const there = new URL(`class?code=${this.code}`, document.baseURI).href;
      const done = await copied(there);
      this.page.say(done ? msg`The link is copied.` : there);
      this.linked = done ? msg`Copied` : "";
      this.draw();
    };
    return button(this.linked || msg`Copy link`, copy, "quiet");
  }

  /** The stage alone, for a projector (css/projector.css). */
  large() {
    const { dataset } = document.documentElement;
    const turn = () => {
      const address = new URL(location.href);
      if (dataset.mode) delete dataset.mode;
      else dataset.mode = "class";
      if (dataset.mode) address.searchParams.set("mode", "class");
      else address.searchParams.delete("mode");
      history.replaceState(history.state, "", address);
      this.page.registry.repaint();
      this.draw();
    };
    const made = button(msg`Large`, turn, "quiet hide-phone");
    set(made, "aria-pressed", String(!!dataset.mode));
    set(made, "title", msg`The stage alone, larger: for a projector`);
    return made;
  }

  /** @param {string} name of whom to take out; "": the class is to end */
  question(name) {
    const there = this.told?.people.length ?? 0;
    const ends = there ? counted(there, "End the class for {0} student?", "End the class for {0} students?") : msg`End the class?`;
    const out = msg`Take ${name} out of the class? What is seen there stays there.`;
    return [sentence(name ? out : ends), gap(), button(msg`Go on`, () => this.asking(null)), name ? button(msg`Take out`, () => this.remove(name), "solid") : button(msg`End class`, () => this.end(), "solid")];
  }

  /** @param {string | null} what */
  asking(what) {
    this.asks = what;
    this.draw();
    if (what) /** @type {any} */ (document.querySelector("#class-bar .btn"))?.focus();
  }

  /** @param {string} name */
  remove(name) {
    this.room.send({ kind: "remove", name });
    this.asking(null);
  }

  call() {
    this.room.send({ kind: "call" });
    this.page.say(msg`Everyone is called back.`);
  }

  end() {
    this.asks = null;
    if (!this.room.send({ kind: "end" })) this.ended("");
  }

  /** This tab forgets the class, which goes on elsewhere. */
  leave() {
    keep(null);
    location.assign("class");
  }

  /** @param {string} why */
  ended(why) {
    this.room.end();
    keep(null);
    this.page.run.key = "";
    this.store.set({ people: null });
    this.page.say(why || msg`The class is over.`);
    this.over();
  }
}
