// @ts-check
/** The requests of the scenario: for each its source, as chips or as a drawing, and its known target prefix as chips. */

import { Chips } from "./chips.mjs";
import { Drawing } from "./drawing.mjs";
import { objective, writes } from "../answers.mjs";
import { h, hide, set, text as put } from "../dom.mjs";
import { msg } from "../language.mjs";
import { choice } from "../reads.mjs";
import { nameOf, visible } from "./tokens.mjs";
import { probability, requestName } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("./tokens.mjs").Token} Token @typedef {{source?: Token[], features?: number[][], target: Token[]}} Request */
/** @typedef {{element: HTMLElement, head: HTMLElement, title: HTMLElement, remove: HTMLElement, what: HTMLElement, source: Chips | null, drawing: Drawing | null, target: Chips, written: HTMLElement}} Row */

const MOST = 8;

export class Requests {
  /** @param {HTMLElement} element @param {() => any} scenario as it is set, also before a run is there
   * @param {() => {largest_rows: number, largest_source: number}} limits of the architecture
   * @param {(requests: Request[]) => Promise<any> | void} change resolves when it is answered
   * @param {(said: string) => void} effect told what a change did to the next token
   * @param {{stamps: () => import("./drawing.mjs").Stamp[], undo: () => void}} pen what a drawing needs: stamps of the task that is set, the way back */
  constructor(element, scenario, limits, change, effect, pen) {
    this.pen = pen;
    this.scenario = scenario;
    this.limits = limits;
    this.change = change;
    this.effect = effect;
    this.rows = h("div", { class: "requests" });
    this.add = h("button", { class: "link small", type: "button", title: msg`Another request beside these, a copy of the last`, onclick: () => this.copy(this.fields.length - 1) }, msg`+ Add a request`);
    element.replaceChildren(this.rows, this.add);
    /** @type {Row[]} */
    this.fields = [];
    /** What the source is: words, numbers with their task, or nothing. @type {string | null} */
    this.form = null;
    /** What the page must know of the task. @type {any} */
    this.task = null;
    /** Changes that were not answered yet: what the server says meanwhile is older than what is shown. */
    this.pending = 0;
    /** @type {World | null} */
    this.world = null;
  }

  /** @param {World} world */
  update(world) {
    this.world = world;
    const scenario = world.opened?.scenario ?? this.scenario();
    const vocabulary = world.opened?.vocabulary ?? { source: scenario.requests[0].source ? undefined : null };
    const { specials } = vocabulary;
    this.task = world.opened?.task ?? null;
    const numbers = this.task?.features ?? null;
    const what = numbers || scenario.requests[0].features ? `numbers ${scenario.task}` : vocabulary.source === null ? "nothing" : "words";
    const form = [what, ...(writes(world) ? [] : [this.task.objective, this.task.opening])].join(" ");
    const fits = form === this.form && scenario.requests.length === this.fields.length;
    if (this.pending && form === this.form) return;
    if (!fits) this.build(scenario.requests.length, form);
    this.form = form;
    const off = world.role === "reader" || world.connection !== "open";
    const name = !writes(world) ? msg`Label` : world.opened && learned(world) ? msg`Target (to be learned)` : form === "nothing" ? msg`Prompt` : msg`Known target prefix`;
    const { largest_rows, largest_source } = this.limits();
    this.fields.forEach((field, i) => {
      this.name(field, i, name);
      if (numbers) field.drawing?.update(scenario.requests[i].features ?? [], numbers, off);
      field.source?.update(scenario.requests[i].source ?? [], vocabulary.source ?? null, off, largest_source - (this.task?.opening ? 1 : 0), specials?.source ?? undefined);
      field.target.update(scenario.requests[i].target, vocabulary.target ?? null, off, objective(world) === "class" ? 1 : largest_rows - 1, specials?.target, this.task?.tokenizer);
      hide(field.written, objective(world) === "masked");
    });
    set(this.add, "disabled", off || this.fields.length >= MOST);
  }

  /** Rows that stay are kept, so that an edit in one goes on.
   * @param {number} count @param {string} form */
  build(count, form) {
    const kept = form === this.form ? this.fields.slice(0, count) : [];
    this.fields = Array.from({ length: count }, (_, i) => kept[i] ?? this.field(form));
    const gone = [...this.rows.children].filter((child) => !this.fields.some((f) => f.element === child));
    for (const child of gone) child.remove();
    this.rows.append(...this.fields.slice(kept.length).map((f) => f.element));
  }

  /** @param {string} form @returns {Row} */
  field(form) {
    const change = () => this.send(this.now());
    const at = () => this.fields.findIndex((f) => f.element === element);
    const next = (this.task?.objective ?? "next_token") === "next_token";
    const drawing = form.startsWith("numbers") ? new Drawing({ name: msg`Source`, stamps: this.pen.stamps(), change, undo: this.pen.undo }) : null;
    const source = form.startsWith("words") ? new Chips({ name: msg`Source`, role: "k", fixed: this.task?.opening ? [this.task.opening] : [], least: 1, change }) : null;
    const target = new Chips({ name: msg`Known target prefix`, role: "q", fixed: next ? ["<bos>"] : [], least: 0, change });
    const copy = h("button", { class: "link small", type: "button", title: msg`A copy of this request after it`, onclick: () => this.copy(at()) }, msg`Duplicate`);
    const remove = h("button", { class: "link small", type: "button", onclick: () => this.send(this.now().filter((_, j) => j !== at())) }, msg`Remove`);
    const title = h("b", { class: "h3" });
    const head = h("div", { class: "hh" }, title, h("span", null, copy, remove));
    const what = h("span");
    const written = h("div", null, h("p", { class: "note" }, h("i", { class: "tag q" }, "Q"), " ", what), target.element);
    const element = h("div", { class: "request" }, head,
      (source || drawing) && [h("p", { class: "note" }, h("i", { class: "tag k" }, "K"), ` ${msg`Source`}`), (source ?? drawing)?.element],
      written);
    return { element, head, title, remove, what, source, drawing, target, written };
  }

  /** @param {Row} field @param {number} i @param {string} name of the target */
  name(field, i, name) {
    const more = this.fields.length > 1;
    const letter = requestName(i);
    set(field.head, "hidden", !more);
    put(field.title, letter);
    set(field.remove, "aria-label", msg`Remove request ${letter}`);
    put(field.what, name);
    (field.source ?? field.drawing)?.rename(more ? msg`Source, ${letter}` : msg`Source`);
    field.target.rename(more ? `${name}, ${letter}` : name);
  }

  /** The requests as they are shown. @returns {Request[]} */
  now() {
    return this.fields.map((f) => ({ ...(f.source && { source: f.source.tokens }), ...(f.drawing && { features: f.drawing.features }), target: f.target.tokens }));
  }

  /** @param {number} i */
  copy(i) {
    const all = this.now();
    if (all.length < MOST) this.send([...all.slice(0, i + 1), all[i], ...all.slice(i + 1)]);
  }

  /** @param {Request[]} requests */
  async send(requests) {
    const before = this.world?.opened?.scenario.requests ?? [];
    const leads = this.leads();
    this.pending++;
    await this.change(requests);
    if (--this.pending > 0 || !this.world) return;
    this.update(this.world);
    if (before.length === requests.length) this.effect(effectOf(requests.findIndex((r, i) => JSON.stringify(r) !== JSON.stringify(pick(before[i], r))), leads, this.leads()));
  }

  /** What each request would take next. @returns {any[]} */
  leads() {
    const { moved } = this.world ?? {};
    return (moved?.requests ?? []).map((/** @type {any} */ view) => choice(view) && { ...choice(view), at: `${moved.phase} ${moved.step} ${view.decision_row}` });
  }

  /** Why the server does not take a token, under its field. @param {any[]} errors */
  refusals(errors) {
    for (const { field, given, allowed } of errors) {
      const [group, i, side] = field.split(".");
      const row = group === "requests" ? this.fields[Number(i)] : undefined;
      const box = side === "features" ? row?.drawing : side === "source" ? row?.source : row?.target;
      box?.tell(msg`${visible(String(given && typeof given === "object" ? nameOf(given) : given)).slice(0, 80)} was given; allowed: ${allowed}. Nothing was changed.`);
    }
  }
}

/** Whether the model learns the requests' targets. @param {World} world */
const learned = (world) => (world.moved?.phase ?? world.opened.scenario.phase) === "train" && world.opened.scenario.training.batch === "mine";

/** As much of a request as another one has. @param {any} request @param {Request} like */
const pick = (request, like) => Object.fromEntries(Object.keys(like).map((name) => [name, request[name]]));

/** What a change of a request did to its next token, in words; empty where there is nothing to compare: another row or step decided
 * then. Pure.
 * @param {number} i the request @param {any[]} before the candidate that each would take @param {any[]} after */
export function effectOf(i, before, after) {
  const [old, now] = [before[i], after[i]];
  if (!old || !now || old.at !== now.at) return "";
  const [was, is] = [probability(old.probability), probability(now.probability)];
  if (old.id === now.id) return msg`Next token: ${visible(old.token)}, ${was} before this change, ${is} after it.`;
  return msg`Next token: ${visible(old.token)} ${was} before this change, ${visible(now.token)} ${is} after it.`;
}
