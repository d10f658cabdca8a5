// @ts-check
/** A poll as it stands: its question, a row for each answer with its count, and what was measured. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { msg, parts } from "../lib/language.mjs";
import { inside, OTHER, pieces, right } from "./polls.mjs";

/** @typedef {import("./polls.mjs").Option} Option */
/** As the server tells it; `mine` to a student alone. @typedef {{question: string, options: Option[], about: any, open: boolean, counts: number[] | null, answered: number, of: number, shown: boolean, answer: number | null, measured: string, mine?: number | null}} Poll */

/** Signs of an answer that has its bar beside it; below a longer one. */
const LONG = 18;

export class PollBox {
  /** @param {{title: string, pick: (option: number) => void}} o pick: a row was chosen */
  constructor({ title, pick }) {
    this.pick = pick;
    this.note = h("span", { class: "note" });
    this.question = h("p", { class: "poll-question", id: "poll-question" });
    this.rows = h("div", { class: "poll-rows", role: "group", "aria-labelledby": "poll-question" });
    this.told = h("p", { class: "note poll-told" });
    this.below = h("div", { class: "row poll-below" });
    this.element = h("section", { class: "poll" }, h("div", { class: "hh" }, h("h2", { class: "h" }, title), this.note), this.question, this.rows, this.told, this.below);
  }

  /** @param {Poll} poll @param {{note: string, may: boolean, told: (Node | string)[]}} o may: a row can be chosen */
  draw(poll, { note, may, told }) {
    text(this.note, note);
    const where = inside(poll.about);
    this.ask(this.question, [...pieces(poll).map((p) => (typeof p === "string" ? p : h("b", { class: "mono c-q" }, p.token))), where && h("span", { class: "note" }, ` ${where}`)]);
    const most = Math.max(1, poll.answered, ...(poll.counts ?? []));
    set(this.rows, "data-long", poll.options.some((o) => said(o).length > LONG) ? "" : null);
    list(this.rows, poll.options, (_, i) => i, (_, i) => row(() => this.pick(i)), (element, option, i) => fill(element, option, poll, i, most, may));
    this.ask(this.told, told);
  }

  /** Put these into it, where they are not there yet. @param {HTMLElement} element @param {(Node | string | false | "")[]} what */
  ask(element, what) {
    const given = what.filter(Boolean);
    const next = h("p", null, ...given);
    if (next.innerHTML !== element.innerHTML) element.replaceChildren(...next.childNodes);
  }
}

/** @param {() => void} pick @returns {HTMLElement} */
const row = (pick) => h("button", { class: "pollrow", type: "button", onclick: pick }, h("span"), h("span", { class: "bar", "aria-hidden": "true" }, h("i")), h("span", { class: "n" }));

/** @param {any} element @param {Option} option @param {Poll} poll @param {number} i @param {number} most @param {boolean} may */
function fill(element, option, poll, i, most, may) {
  const [word, bar, n] = element.children;
  const count = poll.counts?.[i];
  text(word, said(option));
  set(word, "class", poll.about?.kind === "read" ? "c-k" : poll.about?.kind === "next" && option.key !== OTHER ? "c-d" : "plain");
  const width = `${((count ?? 0) / most) * 100}%`;
  if (bar.firstElementChild.style.width !== width) bar.firstElementChild.style.width = width;
  text(n, count === undefined ? "–" : String(count));
  set(element, "aria-pressed", poll.mine === undefined ? null : String(poll.mine === i));
  set(element, "data-right", poll.answer === i ? "" : null);
  set(element, "disabled", !may);
}

/** @param {Option} option @returns {string} */
export const said = (option) => (option.key === OTHER ? msg`another one` : option.text);

/** What an answer is: a key, a decision, or words of a person. @param {Poll} poll */
const hue = ({ about }) => (about?.kind === "read" ? "mono c-k" : about?.kind === "next" ? "mono c-d" : "");

/** "Measured: sleeps 0.79.", with its mark. @param {Poll} poll @returns {(Node | string)[]} */
export function measured(poll) {
  if (poll.answer === null && !poll.measured) return [];
  const word = poll.answer === null ? "" : said(poll.options[poll.answer]);
  const answer = h("b", { class: hue(poll) }, word);
  if (!poll.about?.kind) return parts`The teacher’s answer: ${answer}.`;
  const figure = h("span", null, h("b", { class: "mono c-v" }, poll.measured), h("i", { class: "pv m", title: msg`measured` }));
  return word ? parts`Measured: ${answer} ${figure}.` : parts`Measured: ${figure}.`;
}

/** @param {Poll} poll @returns {string} how many said so */
export const saidSo = (poll) => (poll.answer === null || !poll.answered ? "" : msg`${right(poll)} of ${poll.answered} said so.`);

/** What a student said, beside what was measured. @param {Poll} poll @returns {(Node | string)[]} */
export function verdict(poll) {
  const mine = poll.mine ?? null;
  if (mine === null) return poll.shown ? measured(poll) : [];
  const word = h("b", { class: hue(poll) }, said(poll.options[mine]));
  return [...parts`You said ${word}.`, " ", ...(poll.shown ? measured(poll) : poll.open ? [msg`You may change it until the answer is shown.`] : [])];
}

/** @param {PollBox} box @param {boolean} there */
export const showPoll = (box, there) => hide(box.element, !there);
