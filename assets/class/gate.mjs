// @ts-check
/** Before the class: start one, or join one with its code and a name. */

import { h, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";

export class Gate {
  /** @param {{code: string, name: string, start: () => void, join: (code: string, name: string) => void}} o code: of the address, where it has one */
  constructor({ code, name, start, join }) {
    this.code = this.field("class-code", msg`Code`, { value: code, placeholder: "ABC-23D", autocapitalize: "characters", class: "gate-code" });
    this.name = this.field("class-name", msg`Your name, as the teacher sees it`, { value: name, autocapitalize: "words" });
    this.go = h("button", { class: "btn step", type: "submit" }, msg`Join the class`);
    this.wrong = h("p", { class: "gate-wrong", role: "alert" });
    const asked = (/** @type {Event} */ event) => {
      event.preventDefault();
      const [typed, named] = [this.code.input.value.trim(), this.name.input.value.trim()];
      if (!typed || !named) return this.refused([...(typed ? [] : [{ field: "code", message: msg`Type the code that the teacher shows.` }]), ...(named ? [] : [{ field: "name", message: msg`Type a name; the teacher sees it.` }])]);
      this.busy(true);
      join(typed, named);
    };
    const form = h("form", { class: "gate-part", novalidate: true, onsubmit: asked }, h("h2", { class: "h" }, msg`Join a class`),
      h("p", { class: "note" }, msg`You follow the teacher’s run on your own screen, answer questions, and may go off on your own.`),
      this.code.element, this.name.element, this.wrong, this.go, h("p", { class: "note" }, msg`The name is kept while the class lasts, and nowhere longer.`));
    const begin = h("div", { class: "gate-part" }, h("h2", { class: "h" }, msg`Start a class`),
      h("p", { class: "note" }, msg`You step; everyone sees the same step on a screen of their own. They join with a code and a name, answer your questions, and you see where each of them is.`),
      this.begin = h("button", { class: "btn step", type: "button", onclick: start }, location.hash.startsWith("#s=") ? msg`Start a class with this run` : msg`Start a class`));
    this.element = h("div", { class: "class-gate" }, code ? [form] : [form, begin]);
    /** @type {any} */ (document.querySelector(".main")).append(this.element);
    (code ? this.name : this.code).input.focus();
  }

  /** @param {string} id @param {string} title @param {Record<string, any>} more */
  field(id, title, more) {
    const input = h("input", { id, type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-wrong`, ...more });
    const wrong = h("span", { class: "gate-wrong", id: `${id}-wrong` });
    return { input, wrong, element: h("div", { class: "gate-field" }, h("label", { for: id }, title), input, wrong) };
  }

  /** @param {boolean} busy */
  busy(busy) {
    set(this.go, "disabled", busy);
    set(this.begin, "disabled", busy);
  }

  /** What the server did not take, at its field. @param {any[]} errors */
  refused(errors) {
    this.busy(false);
    const of = (/** @type {string} */ field) => errors.find((e) => e.field === field);
    for (const [field, { input, wrong }] of /** @type {[string, any][]} */ ([["code", this.code], ["name", this.name]])) {
      text(wrong, of(field)?.message ?? "");
      set(input, "aria-invalid", of(field) ? "true" : null);
    }
    text(this.wrong, errors.filter((e) => e.field !== "code" && e.field !== "name").map((e) => e.message).join(" "));
    (of("code") ? this.code : of("name") ? this.name : null)?.input.focus();
  }

  end() {
    this.element.remove();
  }
}
