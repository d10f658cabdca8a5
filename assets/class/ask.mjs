// @ts-check
/** The sheet in which the teacher makes a poll: about the next row, about the next token, or anything. */

import { h, hide, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { said } from "./pollbox.mjs";
import { inside, nextPoll, ownPoll, readPoll, words } from "./polls.mjs";

/** @typedef {import("./polls.mjs").Made} Made @typedef {"read" | "next" | "own"} Kind */

export class Ask {
  /** @param {{world: () => import("../lib/types").World, ask: (asked: import("./polls.mjs").Asked) => void}} o */
  constructor({ world, ask }) {
    this.world = world;
    this.ask = ask;
    /** @type {Kind} */
    this.kind = "read";
    this.kinds = h("div", { class: "ask-kinds", role: "radiogroup", "aria-label": msg`What to ask` },
      this.choice("read", msg`Who is read most?`, msg`about the row that the next step computes`), this.choice("next", msg`Which token comes next?`, msg`about what that row decides`), this.choice("own", msg`A question of your own`, msg`with answers that you type`));
    this.preview = h("p", { class: "poll-question" });
    this.options = h("p", { class: "ask-options" });
    this.question = h("input", { type: "text", class: "ask-field", id: "ask-question", maxlength: 200, autocomplete: "off", oninput: () => this.draw() });
    this.answers = h("textarea", { class: "ask-field", id: "ask-answers", rows: 4, oninput: () => this.draw() });
    this.own = h("div", { class: "ask-own" }, h("label", { for: "ask-question" }, msg`Question`), this.question, h("label", { for: "ask-answers" }, msg`Answers, one a line`), this.answers);
    this.why = h("p", { class: "note ask-why", role: "status" });
    this.go = h("button", { class: "btn step", type: "submit" }, msg`Ask the class`);
    this.dialog = h("dialog", { class: "take-panel class-ask", "aria-labelledby": "ask-title" },
      h("form", { method: "dialog", onsubmit: (/** @type {Event} */ e) => this.asked(e) },
        h("div", { class: "ph" }, h("h2", { class: "h", id: "ask-title" }, msg`Poll`), h("span", { class: "sp" }), h("button", { class: "btn sm", type: "button", onclick: () => this.dialog.close() }, msg`Close`)),
        this.kinds, this.preview, this.options, this.own, this.why, h("div", { class: "row" }, this.go)));
    this.dialog.addEventListener("click", (/** @type {MouseEvent} */ e) => e.target === this.dialog && this.dialog.close());
    document.body.append(this.dialog);
  }

  /** @param {Kind} kind @param {string} title @param {string} note */
  choice(kind, title, note) {
    const input = h("input", { type: "radio", name: "ask-kind", value: kind, checked: kind === this.kind, onchange: () => this.choose(kind) });
    return h("label", { class: "ask-kind" }, input, h("span", null, h("b", null, title), h("span", { class: "note" }, note)));
  }

  open() {
    this.draw();
    this.dialog.showModal();
  }

  /** @param {Kind} kind */
  choose(kind) {
    this.kind = kind;
    this.draw();
    if (kind === "own") this.question.focus();
  }

  /** @returns {Made} */
  made() {
    if (this.kind === "own") return ownPoll(this.question.value, this.answers.value);
    return this.kind === "read" ? readPoll(this.world()) : nextPoll(this.world());
  }

  draw() {
    const { asked, why } = this.made();
    const own = this.kind === "own";
    hide(this.own, !own);
    hide(this.preview, own || !asked);
    hide(this.options, own || !asked);
    if (asked && !own) {
      text(this.preview, words(asked));
      this.preview.append(h("span", { class: "note" }, ` ${inside(asked.about)}`));
      this.options.replaceChildren(...asked.options.map((o) => h("span", { class: asked.about?.kind === "read" ? "c-k" : "c-d" }, said(o))));
    }
    text(this.why, own && !this.question.value && !this.answers.value ? "" : why);
    set(this.go, "disabled", !asked);
  }

  /** @param {Event} event */
  asked(event) {
    event.preventDefault();
    const { asked } = this.made();
    if (!asked) return;
    this.ask(asked);
    this.dialog.close();
  }
}
