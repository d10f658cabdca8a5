// @ts-check
/** The requests of the scenario: for each its source and its known target prefix as chips. */

import { Chips } from "./chips.mjs";
import { h, set, text as put } from "./dom.mjs";
import { text } from "./text.mjs";

/** @typedef {import("./types").World} World */

const MOST = 8;

/** @typedef {{element: HTMLElement, head: HTMLElement, what: HTMLElement, source: Chips | null, target: Chips}} Row */

export class Requests {
  /** @param {HTMLElement} element @param {(requests: any[]) => Promise<any> | void} change resolves when it is answered */
  constructor(element, change) {
    this.change = change;
    this.rows = h("div", { class: "requests" });
    this.add = h("button", { class: "link", type: "button", onclick: () => this.send([...this.now(), this.now().at(-1)]) }, `+ ${text.addRequest}`);
    element.replaceChildren(this.rows, this.add);
    /** @type {Row[]} */
    this.fields = [];
    /** @type {boolean | null} whether the architecture has a source */
    this.reads = null;
    /** Changes that were not answered yet: what the server says meanwhile is older than what is shown. */
    this.pending = 0;
    /** @type {World | null} */
    this.world = null;
  }

  /** @param {World} world */
  update(world) {
    this.world = world;
    if (!world.opened) return;
    const { scenario, vocabulary } = world.opened;
    const reads = vocabulary.source !== null;
    const fits = reads === this.reads && scenario.requests.length === this.fields.length;
    if (this.pending && reads === this.reads) return;
    if (!fits) this.build(scenario.requests.length, reads);
    this.reads = reads;
    const off = world.role === "reader" || world.connection !== "open";
    const name = !reads && !learned(world) ? text.prompt : learned(world) ? text.learned : text.prefix;
    this.fields.forEach((field, i) => {
      this.name(field, i, name);
      field.source?.update(scenario.requests[i].source ?? [], vocabulary.source, off);
      field.target.update(scenario.requests[i].target, vocabulary.target, off);
    });
    set(this.add, "disabled", off || this.fields.length >= MOST);
  }

  /** Rows that stay are kept, so that an edit in one goes on.
   * @param {number} count @param {boolean} reads */
  build(count, reads) {
    const kept = reads === this.reads ? this.fields.slice(0, count) : [];
    this.fields = Array.from({ length: count }, (_, i) => kept[i] ?? this.field(i, reads));
    const gone = [...this.rows.children].filter((child) => !this.fields.some((f) => f.element === child));
    for (const child of gone) child.remove();
    this.rows.append(...this.fields.slice(kept.length).map((f) => f.element));
  }

  /** @param {number} i @param {boolean} reads @returns {Row} */
  field(i, reads) {
    const change = () => this.send(this.now());
    const source = reads ? new Chips({ name: text.source, role: "k", least: 1, change }) : null;
    const target = new Chips({ name: text.prefix, role: "q", fixed: ["<bos>"], least: 0, change });
    const remove = h("button", { class: "link", type: "button", "aria-label": `${text.removeRequest} request ${text.request(i)}`, onclick: () => this.send(this.now().filter((_, j) => j !== i)) }, text.removeRequest);
    const head = h("div", { class: "hh" }, h("b", { class: "h3" }, text.request(i)), remove);
    const what = h("span");
    const element = h("div", { class: "request" }, head,
      source && [h("p", { class: "note" }, h("i", { class: "tag k" }, "K"), ` ${text.source}`), source.element],
      h("p", { class: "note" }, h("i", { class: "tag q" }, "Q"), " ", what), target.element);
    return { element, head, what, source, target };
  }

  /** @param {Row} field @param {number} i @param {string} name of the target */
  name(field, i, name) {
    const more = this.fields.length > 1;
    set(field.head, "hidden", !more);
    put(field.what, name);
    const of = more ? `, ${text.request(i)}` : "";
    field.source?.rename(text.source + of);
    field.target.rename(name + of);
  }

  /** The requests as they are shown. @returns {any[]} */
  now() {
    return this.fields.map((f) => (f.source ? { source: f.source.tokens, target: f.target.tokens } : { target: f.target.tokens }));
  }

  /** @param {any[]} requests */
  async send(requests) {
    this.pending++;
    await this.change(requests);
    if (--this.pending === 0 && this.world) this.update(this.world);
  }
}

/** Whether the model learns the requests' targets. @param {World} world */
const learned = (world) => (world.moved?.phase ?? world.opened.scenario.phase) === "train" && world.opened.scenario.training.batch === "mine";

/** Which weights are loaded, in one line: as they were built, and what was done to them here.
 * @param {HTMLElement} element @param {World} world */
export function weightsLine(element, world) {
  const weights = world.opened?.weights;
  if (!weights) return;
  const { source = {}, kind } = weights;
  const updates = world.moved?.updates ?? 0;
  const known = [
    source.steps !== undefined && text.steps(source.steps), source.loss !== undefined && `loss ${Number(source.loss).toPrecision(2)}`,
    source.seed !== undefined && `seed ${source.seed}`,
  ].filter(Boolean).join(", ");
  const why = kind === "random" && source.reason ? `: ${source.reason}` : "";
  const here = updates ? `, then ${text.updates(updates)}` : "";
  put(element, `${text[/** @type {"trained"} */ (kind)]}${known && ` (${known})`}${here}${why}; ${text.parameters(world.opened.parameters)}`);
  set(element, "title", source.command ?? null);
}
