// @ts-check
/** The lesson on the page: its head with how far one is, its steps of which one is open, and the way on. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { msg, parts } from "../lib/language.mjs";
import * as judge from "./judge.mjs";
import { write } from "./pieces.mjs";
import { drawQuestion, questionForm } from "./question.mjs";

/** @typedef {import("./types").Lesson} Lesson @typedef {import("./types").Step} Step @typedef {import("./types").Kept} Kept @typedef {import("./types").Judged} Judged @typedef {import("./see.mjs").See} See */
/** @typedef {import("./question.mjs").Acts & {go: (step: number) => void, next: () => void, begin: () => void, write: (text: string) => void, ask: () => void, give: () => void}} Acts */
/** @typedef {{lesson: Lesson, number: number, following: Lesson | null, see: See, kept: Kept, step: number, done: number, going: boolean, after?: Step}} State going: to where the step begins */

export class Panel {
  /** @param {HTMLElement} place @param {Acts} acts */
  constructor(place, acts) {
    this.acts = acts;
    this.title = h("h2", { id: "lesson-title" });
    this.count = h("span", { class: "note mono" });
    this.bar = h("div", { class: "prog", role: "progressbar", "aria-labelledby": "lesson-title", "aria-valuemin": 0 });
    this.fold = h("button", { class: "btn sm lesson-fold", type: "button", "aria-expanded": "true", "aria-controls": "lesson-body", onclick: () => this.folded() });
    this.steps = h("ol", { class: "lsteps" });
    this.body = h("div", { class: "lesson-body", id: "lesson-body" }, this.steps);
    this.back = h("button", { class: "btn sm", type: "button", onclick: () => acts.go(this.shown - 1) }, h("i", { class: "icon back", "aria-hidden": "true" }), msg`Back`);
    this.wait = h("span", { class: "note", role: "status" });
    this.next = h("button", { class: "btn", type: "button", onclick: () => acts.next() });
    this.foot = h("footer", { class: "lesson-foot" }, this.back, this.wait, this.next);
    place.replaceChildren(h("header", { class: "lesson-head" }, h("div", { class: "row" }, this.title, h("span", { class: "sp" }), this.count, this.fold), this.bar), this.body, this.foot);
    /** The step that is open. */
    this.shown = -1;
    /** Its parts. @type {any} */
    this.open = null;
  }

  /** @param {State} state */
  draw(state) {
    const { lesson, step, done, see } = state;
    const count = lesson.steps.length;
    text(this.title, lesson.title());
    text(this.count, msg`${step + 1} of ${count}`);
    text(this.fold, this.fold.getAttribute("aria-expanded") === "true" ? msg`Fold` : msg`Unfold`);
    this.progress(step, done, count);
    const fresh = this.shown !== step;
    this.shown = step;
    list(this.steps, lesson.steps, (_, i) => i, (_, i) => this.line(i), (line, one, i) => this.drawLine(line, one, i, state));
    this.drawFoot(state, see);
    if (fresh) this.reveal(this.steps.children[step]);
  }

  /** The open step from its name on, where it does not fit below what stands before it. @param {any} line */
  reveal(line) {
    const [box, place] = [this.body.getBoundingClientRect(), line.getBoundingClientRect()];
    if (place.top < box.top || place.bottom > box.bottom) this.body.scrollTop += place.top - box.top - 2;
  }

  /** @param {number} step @param {number} done @param {number} count */
  progress(step, done, count) {
    set(this.bar, "aria-valuemax", count);
    set(this.bar, "aria-valuenow", Math.min(done, count));
    set(this.bar, "aria-valuetext", msg`${done} of ${count} steps done`);
    const kinds = Array.from({ length: count }, (_, i) => (i === step ? (i < done ? "now" : "half") : i < done ? "done" : ""));
    list(this.bar, kinds, (_, i) => i, () => h("i"), (mark, kind) => set(mark, "class", kind));
  }

  /** @param {number} i */
  line(i) {
    const name = h("button", { class: "lname", type: "button", onclick: () => this.acts.go(i) });
    return h("li", { class: "lstep" }, h("span", { class: "n", "aria-hidden": "true" }), h("div", { class: "lmain" }, h("h3", null, name), h("div", { class: "lbody", hidden: true })));
  }

  /** @param {any} line @param {Step} one @param {number} i @param {State} state */
  drawLine(line, one, i, { step, done, see, kept, going }) {
    const [mark, main] = line.children;
    const [head, body] = main.children;
    const now = i === step;
    set(line, "class", `lstep ${now ? "now" : i < done ? "done" : "todo"}`);
    set(line, "aria-current", now ? "step" : null);
    text(mark, i < done && !now ? "" : String(i + 1));
    set(mark, "data-done", i < done && !now ? "" : null);
    text(head.firstElementChild, one.title());
    head.firstElementChild.disabled = i > done;
    hide(body, !now);
    if (!now) return void (body.childElementCount && body.replaceChildren());
    if (!body.childElementCount) body.append(...this.parts(one, i));
    this.drawStep(one, see, kept, done > i, going);
  }

  /** The parts of the open step: all of them are there from the start. @param {Step} one @param {number} i */
  parts(one, i) {
    const { acts } = this;
    const begin = h("div", { class: "lbegin", hidden: true }, h("p", { class: "note" }), h("button", { class: "btn sm", type: "button", onclick: () => acts.begin() }, msg`Go there`));
    const again = one.at && h("button", { class: "link small lagain", type: "button", onclick: () => acts.begin() }, msg`Begin this step again`);
    const area = one.write && h("textarea", { class: "ltext", rows: 3, maxlength: 600, oninput: (/** @type {any} */ e) => acts.write(e.target.value) });
    const ours = one.write && h("div", { class: "pred lours" }, h("p", { class: "qq" }), h("button", { class: "btn sm", type: "button", onclick: () => acts.give() }, msg`Compare with ours`), h("p", { class: "ruling", role: "status" }));
    const end = h("div", { class: "lend" }, h("p", { class: "qq" }), h("p", { class: "ruling", role: "status" }), h("button", { class: "link small", type: "button", onclick: () => this.hint() }, msg`Show a hint`));
    this.open = { text: h("div", { class: "ltexts" }), begin, form: one.predict && questionForm(i, acts), asks: one.write && h("p", { class: "qq", id: "lesson-asks" }), area, ours, checks: h("ul", { class: "task" }), end, again, hinted: false, done: false, seen: false };
    if (area) set(area, "aria-labelledby", "lesson-asks");
    const { text: texts, form, asks, checks } = this.open;
    return [texts, begin, form, asks, area, ours, checks, end, again].filter(Boolean);
  }

  /** @param {Step} one @param {See} see @param {Kept} kept @param {boolean} done @param {boolean} going */
  drawStep(one, see, kept, done, going) {
    const { text: texts, begin, again, form, checks } = this.open;
    list(texts, one.text(see), (_, i) => i, () => h("p"), (p, said) => write(p, said));
    const away = !done && !going && judge.elsewhere(one, see, kept);
    const off = see.world.connection !== "open";
    hide(begin, !away);
    text(begin.firstElementChild, judge.begins(one, see));
    begin.lastElementChild.disabled = off;
    if (again) again.disabled = off || away;
    if (one.predict) drawQuestion(form, one.predict, see, kept, judge.asking(one, see, kept) && !off);
    if (one.write) this.drawWriting(one.write, see, kept);
    const judged = judge.judged(one, see, kept);
    list(checks, judged, (_, i) => i, () => h("li", { class: "lcheck" }, h("i", { class: "lmark", "aria-hidden": "true" }), h("span"), h("span", { class: "now mono" }, h("span"), h("i", { class: "pv" })), h("span", { class: "sr" })), drawCheck);
    this.drawEnd(one, see, done, done && judged.every((check) => check.done));
  }

  /** @param {import("./types").Writing} writing @param {See} see @param {Kept} kept */
  drawWriting(writing, see, kept) {
    const { asks, area, ours } = this.open;
    write(asks, writing.asks(see));
    if (area !== document.activeElement && area.value !== (kept.wrote ?? "")) area.value = kept.wrote ?? "";
    const [head, button, ruling] = ours.children;
    text(head, kept.given ? msg`Ours` : msg`Nothing grades it.`);
    hide(button, kept.given);
    button.disabled = !(kept.wrote ?? "").trim();
    write(ruling, kept.given ? writing.ours(see) : []);
  }

  /** What a run that has left the place would say of it is not said: what was said there stays, after a reload a word that it was done.
   * @param {Step} one @param {See} see @param {boolean} done @param {boolean} holds it is so now */
  drawEnd(one, see, done, holds) {
    const [head, ruling, hint] = this.open.end.children;
    text(head, done ? msg`Done` : msg`Checked as you go`);
    const now = done && !this.open.done && this.open.seen;
    Object.assign(this.open, { done, seen: true });
    if (now) queueMicrotask(() => this.open.end.scrollIntoView?.({ block: "nearest" }));
    hide(this.open.end, !one.verdict && !one.hint);
    hide(hint, done || !one.hint || this.open.hinted);
    if (holds) this.open.said = one.verdict?.(see) ?? [];
    write(ruling, done ? (this.open.said ?? parts`This was done; the run stands elsewhere now.`) : this.open.hinted ? (one.hint?.(see) ?? []) : []);
  }

  hint() {
    this.open.hinted = true;
    this.acts.ask();
  }

  /** @param {State} state @param {See} see */
  drawFoot({ lesson, step, done, kept, following, after }, see) {
    const over = step === lesson.steps.length - 1;
    const is = done > step;
    this.back.disabled = step === 0;
    text(this.wait, judge.waiting(lesson.steps[step], see, kept, is, after));
    text(this.next, !over ? msg`Next` : following ? msg`Next lesson` : msg`To the stage`);
    this.next.disabled = !is;
    set(this.next, "class", is ? "btn step" : "btn");
  }

  /** On a phone the panel gives way to the stage. */
  folded() {
    const open = this.fold.getAttribute("aria-expanded") !== "true";
    set(this.fold, "aria-expanded", String(open));
    text(this.fold, open ? msg`Fold` : msg`Unfold`);
    document.documentElement.toggleAttribute("data-lesson-folded", !open);
  }

  /** To the name of the open step, after a person went on. */
  focusStep() {
    const name = this.steps.children[this.shown]?.querySelector(".lname");
    name?.focus({ preventScroll: true });
    name?.scrollIntoView({ block: "nearest" });
  }

  focusRuling() {
    const ruling = this.open.form?.querySelector(".ruling");
    ruling?.focus({ preventScroll: true });
    ruling?.scrollIntoView?.({ block: "nearest" });
  }
}

/** @param {any} line @param {Judged} check */
function drawCheck(line, { says, now, mark, done }) {
  set(line, "data-done", done ? "" : null);
  write(line.children[1], says);
  const [value, from] = line.children[2].children;
  text(value, now);
  set(from, "class", `pv ${/\d/.test(now) ? mark : ""}`); // "waiting" was not measured
  text(line.children[3], done ? msg`done` : msg`not yet`);
}
