// @ts-check
/** A question of a lesson on the page: its options have empty bars from the start, and the run fills them. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { write } from "./pieces.mjs";

/** @typedef {import("./types").Question} Question @typedef {import("./types").Kept} Kept @typedef {import("./see.mjs").See} See */
/** @typedef {{choose: (key: string) => void, reveal: () => void}} Acts */

/** @param {number} step @param {Acts} acts @returns {HTMLFormElement} */
export function questionForm(step, acts) {
  const name = `lesson-question-${step}`;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    acts.reveal();
  };
  return h("form", { class: "pred", onsubmit: submit }, h("p", { class: "qq", id: name }),
    h("div", { class: "opts", role: "radiogroup", "aria-labelledby": name, onchange: (/** @type {any} */ e) => acts.choose(e.target.value) }),
    h("div", { class: "verdict" }, h("p", { class: "ruling", role: "status", tabindex: -1 }), h("div", { class: "row" }, h("button", { class: "btn sm", type: "submit" }), h("span", { class: "note" }))));
}

/** @param {HTMLFormElement} form @param {Question} question @param {See} see @param {Kept} kept @param {boolean} open it can be answered */
export function drawQuestion(form, question, see, kept, open) {
  const [asks, options, verdict] = /** @type {any} */ (form.children);
  const answered = kept.said !== undefined;
  const values = answered ? question.measured(see) : null;
  write(asks, [msg`Predict:`, " ", ...question.asks(see)]);
  set(form, "data-revealed", values ? "" : null);
  set(form, "data-answered", answered ? "" : null);
  const most = values ? Math.max(...values.filter(Number.isFinite)) : 0;
  list(options, question.options(see), (o) => o.key, (o) => option(o, asks.id), (label, o, i) => drawOption(label, { ...o, value: values?.[i], most, on: (kept.said ?? kept.chosen) === o.key, able: open, question }));
  const [ruling, ask] = verdict.children;
  write(ruling, values ? question.verdict(see, /** @type {string} */ (kept.said)) : []);
  hide(ask, !!values);
  drawAsk(ask, question, kept, open);
}

/** @param {any} line @param {Question} question @param {Kept} kept @param {boolean} open */
function drawAsk(line, question, kept, open) {
  const [button, note] = line.children;
  const answered = kept.said !== undefined;
  hide(button, answered);
  text(button, question.reveal !== "you" ? msg`Reveal` : msg`That is my answer`);
  button.disabled = !open || kept.chosen === undefined;
  text(note, answered ? msg`The bars fill when it is computed.` : question.reveal !== "you" ? msg`It is computed then, not before.` : msg`Then you do it.`);
}

/** @param {{key: string, label: string, role?: string}} o @param {string} name */
const option = (o, name) => h("label", { class: "opt" }, h("input", { type: "radio", name, value: o.key }), h("span", { class: o.role ? `w mono c-${o.role}` : "w" }), h("span", { class: "bar", "aria-hidden": "true" }, h("i")), h("span", { class: "n mono" }));

/** @param {any} label @param {{key: string, label: string, value: number | undefined, most: number, on: boolean, able: boolean, question: Question}} o */
function drawOption(label, o) {
  const [input, word, bar, number] = label.children;
  input.checked = o.on;
  input.disabled = !o.able;
  text(word, o.label);
  const there = o.value !== undefined && Number.isFinite(o.value);
  const share = there ? /** @type {number} */ (o.value) / Math.max(o.most, o.most <= 1 ? 1 : o.most) : 0;
  set(label, "data-most", there && o.value === o.most ? "" : null);
  set(bar, "data-role", o.question.bar ?? "v");
  bar.firstElementChild.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  text(number, there ? (o.question.shows?.(/** @type {number} */ (o.value)) ?? /** @type {number} */ (o.value).toFixed(2)) : "");
}
