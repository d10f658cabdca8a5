// @ts-check
/** The requests of the scenario: for each its source and its known target prefix as chips. */

import { Chips } from "./chips.mjs";
import { h, set, text as put } from "./dom.mjs";
import { text } from "./text.mjs";

/** @typedef {import("./types").World} World */

const MOST = 8;

export class Requests {
  /** @param {HTMLElement} element @param {(requests: any[]) => void} change */
  constructor(element, change) {
    this.change = change;
    this.rows = h("div", { class: "requests" });
    this.add = h("button", { class: "link", type: "button", onclick: () => this.change([...this.now(), this.now().at(-1)]) }, `+ ${text.addRequest}`);
    element.replaceChildren(this.rows, this.add);
    /** @type {{element: HTMLElement, source: Chips | null, target: Chips}[]} */
    this.fields = [];
    /** @type {boolean | null} whether the architecture has a source */
    this.reads = null;
  }

  /** @param {World} world */
  update(world) {
    if (!world.opened) return;
    const { scenario, vocabulary } = world.opened;
    const reads = vocabulary.source !== null;
    if (reads !== this.reads || scenario.requests.length !== this.fields.length) this.build(scenario.requests.length, reads);
    this.reads = reads;
    const off = world.role === "reader" || world.connection !== "open";
    this.fields.forEach((field, i) => {
      field.source?.update(scenario.requests[i].source ?? [], vocabulary.source, off);
      field.target.update(scenario.requests[i].target, vocabulary.target, off);
    });
    set(this.add, "disabled", off || this.fields.length >= MOST);
  }

  /** @param {number} count @param {boolean} reads */
  build(count, reads) {
    this.fields = Array.from({ length: count }, (_, i) => this.field(i, count, reads));
    this.rows.replaceChildren(...this.fields.map((f) => f.element));
  }

  /** @param {number} i @param {number} count @param {boolean} reads */
  field(i, count, reads) {
    const of = count > 1 ? `, ${text.request(i).toLowerCase()}` : "";
    const what = reads ? text.prefix : text.prompt;
    const source = reads ? new Chips({ name: text.source + of, role: "k", least: 1, change: () => this.change(this.now()) }) : null;
    const target = new Chips({ name: what + of, role: "q", fixed: ["<bos>"], least: 0, change: () => this.change(this.now()) });
    const remove = h("button", { class: "link", type: "button", "aria-label": `${text.removeRequest} ${text.request(i)}`, onclick: () => this.change(this.now().filter((_, j) => j !== i)) }, text.removeRequest);
    const element = h("div", { class: "request" },
      count > 1 && h("div", { class: "hh" }, h("b", { class: "h3" }, text.request(i)), remove),
      source && [h("p", { class: "note" }, h("i", { class: "tag k" }, "K"), ` ${text.source}`), source.element],
      h("p", { class: "note" }, h("i", { class: "tag q" }, "Q"), ` ${what}`), target.element);
    return { element, source, target };
  }

  /** The requests as they are shown. @returns {any[]} */
  now() {
    return this.fields.map((f) => (f.source ? { source: f.source.tokens, target: f.target.tokens } : { target: f.target.tokens }));
  }
}

/** Which weights are loaded, in one line.
 * @param {HTMLElement} element @param {World} world */
export function weightsLine(element, world) {
  const weights = world.opened?.weights;
  if (!weights) return;
  const { source = {}, kind: built } = weights;
  const updates = world.moved?.updates ?? 0;
  const kind = updates ? "changed" : built;
  const made = built === "random" ? [`seed ${source.seed}`, source.reason] : [source.steps && `${source.steps} steps`, source.loss && `loss ${Number(source.loss).toPrecision(2)}`];
  const here = updates ? `${updates} ${updates === 1 ? "update" : "updates"} here` : "";
  const count = text.parameters(world.opened.parameters);
  put(element, [`${text[/** @type {"trained"} */ (kind)]}: ${made.filter(Boolean).join(", ")}`, here, count].filter(Boolean).join("; "));
  set(element, "title", source.command ?? null);
}
