// @ts-check
/** The page of a student: it follows the teacher's run as a reader, or is on its own with a copy of it. */

import { h, hide, text } from "../lib/dom.mjs";
import { msg, parts } from "../lib/language.mjs";
import { shared } from "../lib/run/look.mjs";
import { keepCopy } from "../lib/taking/copies.mjs";
import { bar, button, gap, sentence } from "./bar.mjs";
import { keep } from "./kept.mjs";
import { editsSince, heldIn, overWords, placeWords, teachersPin, whereOf } from "./people.mjs";
import { PollBox, showPoll, verdict } from "./pollbox.mjs";
import { words } from "./polls.mjs";
import { rightsList, section } from "./side.mjs";
import { pin, Telling } from "./telling.mjs";

/** @typedef {"follow" | "own" | "ended"} Mode */

const RIGHTS = () => ({
  follow: /** @type {[string, string, boolean][]} */ ([[msg`hover and read numbers`, msg`yours`, true], [msg`lock a cell`, msg`yours`, true], [msg`step and play`, msg`teacher`, false], [msg`mask and input`, msg`teacher`, false]]),
  own: /** @type {[string, string, boolean][]} */ ([[msg`step and play`, msg`yours`, true], [msg`mask and input`, msg`yours`, true], [msg`teacher sees your step`, msg`yes`, true], [msg`teacher sees your edits`, msg`count only`, false]]),
});

export class Learning {
  /** @param {{page: any, room: import("./room.mjs").Room, kept: import("./kept.mjs").Learnt, session: string, leave: () => void}} o session: the teacher's run */
  constructor({ page, room, kept, session, leave }) {
    /** @type {any} */
    this.page = page;
    this.leave = leave;
    this.room = room;
    this.kept = kept;
    this.session = session;
    this.store = /** @type {import("../lib/run/store.mjs").Store} */ (page.store);
    /** @type {Mode} */
    this.mode = kept.own ? "own" : "follow";
    /** @type {any} */
    this.told = null;
    this.why = "";
    this.note = "";
    this.telling = new Telling({ store: this.store, send: (m) => this.mode !== "ended" && room.send(m), more: () => this.doing() });
    this.box = new PollBox({ title: msg`Poll from the teacher`, pick: (option) => room.send({ kind: "vote", option }) });
    this.rights = section("rights-box", "");
    this.foot = h("section", null, h("p", { class: "note" }), button(msg`Leave the class`, () => this.leaving(), "sm quiet"));
    /** @type {any} */ (document.getElementById("class-side")).replaceChildren(this.box.element, this.rights, this.foot);
    showPoll(this.box, false);
    this.store.listen((parts) => parts.some((p) => ["moved", "connection", "role", "opened"].includes(p)) && this.changed());
    this.begin();
    this.turn();
  }

  /** The run that this page begins with. */
  begin() {
    const { run } = this.page;
    const own = this.kept.own;
    Object.assign(run, { aside: true, guest: own || this.session, role: own ? "writer" : "reader" });
    run.begin();
  }

  /** @returns {Record<string, any>} */
  doing() {
    const own = this.mode === "own";
    const { opened } = this.store.world;
    return { own, edits: own && opened && this.kept.base ? Math.min(9999, editsSince(opened.scenario, JSON.parse(this.kept.base))) : 0 };
  }

  /** @param {any} message */
  heard(message) {
    if (message.kind === "joined") this.joined(message);
    else if (message.kind === "class") this.classed(message);
    else if (message.kind === "called") this.called();
    else if (message.kind === "ended") this.ended(overWords(message.reason), message.reason === "removed");
    else if (message.kind === "refused") this.say(message.errors.map((/** @type {any} */ e) => e.message).join(" "));
  }

  /** @param {any} message */
  joined({ name, token, session }) {
    Object.assign(this.kept, { name, token });
    this.save();
    this.follows(session);
    this.telling.now(true);
    this.draw();
  }

  /** The class may have gone to another run. @param {string} session */
  follows(session) {
    if (session === this.session) return;
    this.session = session;
    if (this.mode === "follow") this.page.run.moveTo({ session, role: "reader" });
  }

  /** @param {any} message */
  classed(message) {
    const before = this.told?.poll;
    this.told = message;
    this.follows(message.session);
    const { poll } = message;
    if (poll && (!before || before.question !== poll.question || (poll.open && !before.open))) this.page.say(msg`Poll from the teacher: ${words(poll)}`);
    if (poll?.shown && !before?.shown) this.page.say(verdict(poll).map((p) => (typeof p === "string" ? p : (p.textContent ?? ""))).join(""));
    this.draw();
  }

  /** @param {string} sentence heard, and read in the bar until the next one */
  say(sentence) {
    this.note = sentence;
    this.page.say(sentence);
    this.draw();
  }

  // ---- on one's own and back

  /** A run of one's own begins, from the teacher's as it stands. */
  async own() {
    const file = await this.copy();
    if (!file) return this.say(msg`The run could not be copied. Try again.`);
    this.mode = "own";
    this.kept.base = JSON.stringify(heldIn(file.scenario));
    this.page.run.moveTo({ session: "", role: "writer", copy: file });
    this.turn();
  }

  /** The run as it stands, or null. @returns {Promise<any>} */
  async copy() {
    const { run } = this.page;
    const reply = await run.commands.share(shared(this.store.world.look));
    return reply.ok ? run.shared.file : null;
  }

  /** What is seen becomes a run of one's own, on this very page. */
  async stay() {
    const copy = await this.copy();
    if (copy) this.page.run.moveTo({ session: "", role: "writer", copy });
  }

  /** To the teacher's run; the copy stays with this tab. */
  back() {
    this.keepOwn();
    this.kept.own = "";
    this.mode = "follow";
    this.page.run.copy = null;
    this.page.run.moveTo({ session: this.session, role: "reader" });
    this.turn();
  }

  keepOwn() {
    const where = whereOf(this.store.world);
    if (this.kept.own && where) keepCopy({ session: this.kept.own, at: placeWords(where) });
  }

  called() {
    if (this.mode !== "own") return;
    this.back();
    this.say(msg`The teacher called everyone back. Your copy is kept: Share, My copies.`);
  }

  /** @param {string} why @param {boolean} removed the class goes on without him, and he sees no more of it */
  ended(why, removed) {
    if (removed && this.mode === "follow") this.stay();
    this.mode = "ended";
    this.why = why;
    keep(null);
    this.keepOwn();
    this.page.say(this.why);
    this.turn();
  }

  leaving() {
    this.room.send({ kind: "leave" });
    this.room.end();
    this.keepOwn();
    keep(null);
    this.leave();
  }

  save() {
    if (this.mode !== "ended") keep(this.kept);
  }

  turn() {
    this.note = "";
    document.documentElement.dataset.class = this.mode === "follow" ? "follower" : this.mode;
    this.save();
    this.changed();
  }

  changed() {
    const { run } = this.page;
    if (this.mode === "own" && run.session && run.session !== this.kept.own) {
      this.kept.own = run.session;
      this.save();
      this.telling.now();
    }
    this.draw();
  }

  // ---- drawing

  draw() {
    const { mode } = this;
    pin(this.store, mode, mode === "own" ? teachersPin(this.told?.teacher.where) : []);
    this.drawPoll();
    const own = mode === "own";
    hide(this.rights, mode === "ended");
    if (this.rights.dataset.mode !== mode) this.rights.replaceChildren(...section("", own ? msg`Your copy` : msg`What you can do`, rightsList(RIGHTS()[own ? "own" : "follow"])).childNodes);
    this.rights.dataset.mode = mode;
    hide(this.foot.lastElementChild, mode === "ended");
    text(this.foot.firstElementChild, own ? msg`Going back drops you at the teacher’s step. Your copy stays under Share, My copies, as long as this tab is open.` : mode === "follow" ? msg`If the teacher pauses, you keep this step. If the link drops, numbers fade and their age is shown.` : msg`What you see stays until you leave this page.`);
    bar(mode === "own" ? "own" : "follow", ...this.barParts());
  }

  drawPoll() {
    const poll = this.told?.poll;
    showPoll(this.box, !!poll);
    if (!poll) return;
    const open = poll.open && !poll.shown;
    const note = open ? msg`${poll.answered} of ${poll.of} answered` : msg`closed`;
    this.box.draw(poll, { note, may: open && this.mode !== "ended" && this.room.seated, told: verdict(poll) });
  }

  /** @returns {any[]} */
  barParts() {
    const dot = h("span", { class: "live", "data-state": this.room.seated && this.store.world.connection === "open" ? "open" : "offline", "aria-hidden": "true" });
    if (this.mode === "ended") return [sentence(h("b", null, this.why), " ", h("span", { class: "dim" }, msg`What you see stays.`)), gap(), button(msg`Join another class`, this.leave), button(msg`Keep this run`, () => this.keepRun(), "solid")];
    const cut = this.cut();
    const code = h("small", { class: "mono hide-phone" }, this.kept.code);
    if (this.mode === "own") return [sentence(...this.ownWords(), cut && h("span", { class: "dim" }, ` ${cut}`)), gap(), h("small", { class: "dim hide-phone" }, msg`Your edits stay in a copy`), button(msg`Back to the teacher`, () => this.back(), "solid")];
    const say = cut ? [h("b", null, cut)] : this.note ? [h("b", null, this.note)] : [h("b", null, msg`Following the teacher.`), " ", h("span", { class: "dim" }, this.rule())];
    return [dot, sentence(...say), gap(), code, this.room.state === "closed" ? button(msg`Come back here`, () => this.room.connect(), "solid") : button(msg`Explore on my own`, () => this.own(), "solid", !!cut)];
  }

  rule() {
    return this.told && !this.told.teacher.here ? msg`The teacher’s page is not connected; you keep this step.` : msg`Same step, same lock. Step and Play are theirs.`;
  }

  /** @returns {any[]} */
  ownWords() {
    const mine = whereOf(this.store.world);
    const theirs = this.told?.teacher.where;
    const own = h("b", null, msg`On your own`);
    return [...(mine ? parts`${own} at ${placeWords(mine)}.` : [own]), " ", theirs ? h("span", { class: "dim" }, msg`The teacher is at ${placeWords(theirs)}.`) : ""];
  }

  /** What is not connected now, or "". */
  cut() {
    if (this.room.state === "closed") return this.room.reason || msg`The server closed the class.`;
    if (this.room.known && !this.room.seated) return this.room.reason || msg`Not connected to the class, trying again`;
    return this.store.world.connection === "offline" ? msg`Connection lost, trying again` : "";
  }

  /** What is seen, as a run of one's own on the stage. */
  async keepRun() {
    const { run } = this.page;
    const own = run.role === "writer" ? run.session : "";
    if (own) return location.assign(`./?session=${own}`);
    await run.commands.share(shared(this.store.world.look));
    if (run.shared.link) return location.assign(`./${run.shared.link}`);
    run.moveTo({ session: "", role: "writer", copy: run.shared.file });
  }
}
