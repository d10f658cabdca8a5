// @ts-check
/** What opens under the timeline where one decodes: a lane for each request over the steps, who joins, who leaves, and what each holds. */

import { writes } from "../answers.mjs";
import { h, list, set, text } from "../dom.mjs";
import { counted, msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { Chips } from "../setup/chips.mjs";
import { bytes, figure, shown } from "../words.mjs";
import { lanes } from "./turns.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context @typedef {import("./turns.mjs").Lane} Lane @typedef {import("./turns.mjs").Cell} Cell */

const MOST = 8; // requests at once
const LONGEST = 512; // tokens; what an architecture holds the server says

/** The request that is written for joining: a copy of the last one of the set-up, until somebody changes it. */
class Draft {
  constructor() {
    this.of = "";
    /** @type {any} */
    this.request = { target: [] };
    const change = () => void (this.request = { ...this.request, ...(this.request.source ? { source: this.source.tokens } : {}), target: this.target.tokens });
    this.source = new Chips({ name: msg`Source of the request that joins`, role: "k", fixed: [], least: 1, change });
    this.target = new Chips({ name: msg`Prompt of the request that joins`, role: "q", fixed: ["<bos>"], least: 0, change });
  }

  /** @param {World} world @param {boolean} off */
  update(world, off) {
    const { scenario, vocabulary, task } = world.opened;
    const last = scenario.requests.at(-1);
    const of = JSON.stringify([scenario.architecture, scenario.task, last]);
    if (of !== this.of) Object.assign(this, { of, request: structuredClone(last) });
    const { specials } = vocabulary;
    this.source.element.hidden = !this.request.source;
    if (this.request.source) this.source.update(this.request.source, vocabulary.source ?? null, off, LONGEST, specials.source ?? undefined);
    this.target.update(this.request.target, vocabulary.target ?? null, off, LONGEST, specials.target, task?.tokenizer);
  }

  /** As a request of the scenario. */
  get asked() {
    return Object.fromEntries(Object.entries(this.request).filter(([, value]) => value !== null));
  }
}

/** @type {WeakMap<HTMLElement, Draft>} */
const drafts = new WeakMap();

/** @returns {any[]} */
export function lanesSheet() {
  const draft = new Draft();
  const form = h("div", { class: "joins" }, draft.source.element, draft.target.element,
    h("div", { class: "row" }, h("button", { class: "btn sm", type: "button" }, msg`Join`), h("span", { class: "note" })));
  drafts.set(form, draft);
  return [h("div", { class: "ph" }, h("h2", { class: "h" }, msg`Requests in the batch`), h("span", { class: "sub" })),
    h("div", { class: "lanes-pan", tabindex: 0, role: "group", "aria-label": msg`A line for each request, a column for each step` }, h("table", { class: "lanes" }, h("thead", null, h("tr")), h("tbody"))),
    h("div", { class: "row" }, h("button", { class: "switch", type: "button", role: "switch", "aria-label": msg`What has ended leaves by itself` }, h("i")), h("span", { class: "note" }, msg`what has ended leaves by itself`), h("span", { class: "sp" }), h("span", { class: "note alone" }), h("button", { class: "btn xs", type: "button" })),
    h("h3", { class: "h3" }, msg`A request that joins now`), form];
}

/** The button that opens it, and the sheet. @param {any} opener @param {World} world @param {Context} context */
export function drawLanes({ button, sheet }, world, context) {
  const count = read.presentCount(world);
  const off = read.phase(world) !== "decode" || !writes(world);
  set(button, "disabled", off); // its place stays
  text(button.lastElementChild, String(count));
  set(button, "aria-label", counted(count, "{0} request in the batch", "{0} requests in the batch"));
  set(button, "title", msg`Who is in the batch; let a request join or leave`);
  if (off && !sheet.hidden) {
    sheet.hidden = true;
    set(button, "aria-expanded", "false");
  }
  if (sheet.hidden || !world.moved) return;
  const [head, pan, more, , form] = sheet.children;
  const found = lanes(world);
  const able = world.role === "writer" && world.connection === "open";
  const searching = world.opened.scenario.policy.kind === "beam";
  const between = able && !world.moved.stage && !searching;
  text(head.lastElementChild, searching ? msg`a beam follows one request` : world.moved.stage ? msg`a token is chosen; step to read it, then one can join or leave` : msg`each takes one decision a step, at a row of its own`);
  table(pan.firstElementChild, found, world, context, between);
  follow(pan, found.steps, world.moved.at);
  below(more, world, context, able, count);
  join(form, world, context, between, count);
}

/** @param {any} element @param {{steps: number, lanes: Lane[]}} found @param {World} world @param {Context} context @param {boolean} may */
function table(element, { steps, lanes: all }, world, context, may) {
  const columns = ["name", ...Array.from({ length: steps + 2 }, (_, i) => i), "rows", "leave"];
  list(element.children[0].children[0], columns, (c) => c, (c) => h("th", { scope: "col", class: typeof c === "string" ? c : null }), (th, c) => text(th, heading(c, steps)));
  list(element.children[1], all, (l) => l.request, row, (tr, l) => {
    const [name, places, held, leave] = parts(tr, l.cells.length);
    set(tr, "class", l.here ? (l.request === read.request(world) ? "on" : null) : "gone");
    const look = name.firstElementChild;
    text(look, l.name);
    set(look, "aria-label", msg`Look at request ${l.name}`);
    set(look, "aria-pressed", String(l.request === read.request(world)));
    look.onclick = () => context.look({ request: l.request, lock: null });
    l.cells.forEach((c, i) => fill(places[i], c, i > steps));
    text(held, l.here ? `${counted(l.rows, "{0} row", "{0} rows")}, ${bytes(l.bytes)}${l.off === null ? "" : `, Δ ${figure(l.off)}`}` : msg`freed`);
    set(held, "title", msg`Target rows that it has and its share of the bytes that are kept; Δ: the largest difference of a logit from the same request alone`);
    const button = leave.firstElementChild;
    button.hidden = !l.here;
    set(button, "aria-label", msg`Let request ${l.name} leave`);
    set(button, "disabled", !may || all.filter((other) => other.here).length < 2);
    button.onclick = () => context.send({ kind: "leave", request: l.request });
  });
}

const row = () => h("tr", null, h("th", { scope: "row" }, h("button", { type: "button", class: "btn xs" })), h("td", { class: "rows mono" }), h("td", null, h("button", { type: "button", class: "btn xs" }, msg`Leave`)));

/** A row's name, so many cells, what it holds, and the way out. @param {any} tr @param {number} count @returns {[any, any[], any, any]} */
function parts(tr, count) {
  while (tr.children.length < count + 3) tr.insertBefore(h("td"), tr.children[tr.children.length - 2]);
  while (tr.children.length > count + 3) tr.children[tr.children.length - 3].remove();
  const [name, ...rest] = tr.children;
  return [name, rest.slice(0, -2), rest.at(-2), rest.at(-1)];
}

/** @param {string | number} column @param {number} steps */
function heading(column, steps) {
  if (column === "name" || column === "leave") return "";
  if (column === "rows") return msg`holds`;
  return column === 0 ? msg`prompt` : Number(column) > steps ? msg`next` : String(column);
}

/** @param {any} td @param {Cell} c @param {boolean} ahead */
function fill(td, c, ahead) {
  set(td, "class", `lane ${c.kind}${ahead ? " ahead" : ""}`);
  text(td, c.kind === "reads" ? counted(Number(c.text), "{0} row", "{0} rows") : c.kind === "left" ? msg`left` : shown(c.text));
  set(td, "title", said(c));
}

/** @param {Cell} c */
function said(c) {
  if (c.kind === "reads") return msg`its prompt is read, in one call of its own`;
  if (c.kind === "holds") return msg`it holds its rows and takes no step`;
  if (c.kind === "left") return msg`its rows are freed`;
  return c.text ? shown(c.text) : null;
}

/** The newest step in sight, once a moment. @param {any} pan @param {number} steps @param {number} at */
function follow(pan, steps, at) {
  const name = `${at} ${steps}`;
  if (pan.dataset.at === name) return;
  pan.dataset.at = name;
  queueMicrotask(() => (pan.scrollLeft = pan.scrollWidth));
}

/** Whether what has ended stays, and the check against each request alone.
 * @param {any} element @param {World} world @param {Context} context @param {boolean} able @param {number} count */
function below(element, world, context, able, count) {
  const [leaves, , , alone, measure] = element.children;
  const { policy } = world.opened.scenario;
  set(leaves, "aria-checked", String(policy.ended === "leaves"));
  set(leaves, "disabled", !able);
  leaves.onclick = () => context.send({ kind: "change", fields: { policy: { ...policy, ended: policy.ended === "leaves" ? "stays" : "leaves" } } });
  const check = (world.checked?.checks ?? []).find((/** @type {any} */ c) => c.id === "batch_equals_alone");
  const doing = world.analysis.batch_equals_alone;
  text(alone, check && count > 1 && check.status !== "pending" ? `${check.status === "fail" ? "✕ " : ""}${check.claim}: ${check.measured} ◉` : "");
  set(alone, "title", check?.reason || null);
  text(measure, msg`the same as alone?`);
  set(measure, "disabled", !able || count < 2 || (doing && doing.progress < 1));
  measure.onclick = () => context.send({ kind: "analyse", name: "batch_equals_alone", arguments: {} });
}

/** @param {any} form @param {World} world @param {Context} context @param {boolean} may @param {number} count */
function join(form, world, context, may, count) {
  const draft = /** @type {Draft} */ (drafts.get(form));
  const off = !may || count >= MOST;
  draft.update(world, off);
  const [button, note] = form.lastElementChild.children;
  set(button, "disabled", off);
  set(button, "aria-label", msg`Join: read this request on its own, then decode it with the others`);
  text(note, count >= MOST ? msg`${MOST} requests are in the batch: let one leave first` : draft.request.features ? msg`with the picture or sound of the last request of the set-up` : msg`read on its own at once; then it decodes with the others`);
  button.onclick = async () => {
    const next = world.moved.requests.length;
    const reply = await context.send({ kind: "join", request: draft.asked });
    if (reply.ok) context.look({ request: next, lock: null });
  };
}
