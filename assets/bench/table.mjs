// @ts-check
/** The read written out: one line a row, one column an operation; every given number can be typed over. Its elements are made anew only when
 * the shape changes. */

import { h, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { figure, probability } from "../lib/words.mjs";
import { number, pasted, refusal } from "../lib/inspect/bench.mjs";
import { late, values } from "./read.mjs";

/** @typedef {import("./read.mjs").Bench} Bench @typedef {import("./read.mjs").Read} Read */
/** @typedef {{change: (next: Bench) => void, row: (j: number) => void, settle: () => void, refuse: (sentence: string) => void, paste: (name: string, at: [number, number], rows: number[][]) => void}} Acts */

/** What is not computed yet at this step. */
const LATER = "·";
/** More numbers in a row than this stand closer, with fewer digits; a title has all of them, and so has a field that one types in. */
const ROOMY = 5;
/** Characters that a field shows whole: a number of a row, and a score, which stands alone. */
const ROOM = { number: 6, score: 8 };
/** The step that a column appears at. A mask that is multiplied comes after the shares. */
const AT = { score: 1, exp: 3, weight: 4, parts: 5, read: 6 };
const AFTER = { ...AT, exp: 2, weight: 3 };
const short = (/** @type {number} */ x) => figure(x, 2);

export class Table {
  /** @param {HTMLElement} element @param {Acts} acts */
  constructor(element, acts) {
    this.element = element;
    this.acts = acts;
    this.shape = "";
    this.wide = false;
    /** @type {Map<string, HTMLInputElement>} by name and place, "K 2 0" */
    this.inputs = new Map();
    /** @type {any} */
    this.places = {};
    element.addEventListener("paste", (event) => this.pasted(event));
    element.addEventListener("keydown", (event) => this.keyed(event));
  }

  /** @param {Bench} b @param {Read} r @param {number} step @param {number} row the one that is looked at */
  draw(b, r, step, row) {
    const shape = [b.kind, b.mode === "supplied", b.names.length, b.q.length, b.g.length].join();
    if (shape !== this.shape) this.build(b, shape);
    this.wide = Math.max(b.q.length, b.g.length) > ROOMY;
    set(this.element, "data-wide", this.wide || null);
    for (const [name, input] of this.inputs) this.write(input, given(b, name));
    const p = this.places, after = late(b), at = after ? AFTER : AT, seen = (/** @type {number} */ from, /** @type {string} */ what) => (step >= from ? what : LATER);
    set(this.element, "data-after", after ? "" : null);
    const divided = b.mode === "scaled_dot" ? `q·k / √${b.q.length}` : b.mode === "dot" ? "q·k" : msg`typed`;
    text(p.scored, divided);
    text(p.power, r.top === 0 || !Number.isFinite(r.top) ? "eˢ" : `e^(s − ${short(r.top)})`);
    const sum = step >= at.weight ? `÷ ${short(r.sum)}` : msg`÷ sum`;
    text(p.divided, !after ? sum : b.enters === "multiply" ? `${sum} × M` : `${sum} × M ÷ ${step > at.weight ? short(r.left) : "Σ"}`);
    text(p.masked, after ? msg`× 1 or 0, after` : msg`0 or −∞`);
    b.names.forEach((_, j) => {
      const line = p.rows[j], hidden = b.hidden[j];
      line.element.className = `${hidden ? "off" : ""} ${j === row ? "cur" : ""}`;
      if (line.score) text(line.score, seen(at.score, short(r.scores[j])));
      const mask = after ? (hidden ? "0" : "1") : hidden ? "−∞" : "0", weight = after && step === at.weight ? r.shares[j] : r.weights[j];
      text(line.mask, mask);
      set(line.mask, "aria-label", `${msg`mask row ${j}`}: ${mask}`);
      set(line.mask, "aria-pressed", String(hidden));
      text(line.exp, seen(at.exp, hidden && !after ? "0" : short(r.exps[j])));
      text(line.weight, seen(at.weight, probability(weight)));
      line.bar.style.width = step >= at.weight ? `${weight * 100}%` : "0";
      numbers(line.parts, seen(at.parts, values(b)[j].map((x) => short(r.weights[j] * x)).join("  ")), this.wide);
    });
    text(p.sum, seen(at.exp, short(r.sum)));
    text(p.ones, seen(at.weight, short((after && step === at.weight ? r.shares : r.weights).reduce((a, w) => a + w, 0))));
    numbers(p.z, seen(at.read, r.z.map(short).join("  ")), this.wide);
  }

  /** @param {HTMLInputElement} input @param {number | string} value */
  write(input, value) {
    if (document.activeElement === input && input.dataset.typing) return;
    const room = input.dataset.name?.startsWith("typed") ? ROOM.score : ROOM.number;
    const shown = typeof value === "number" ? (this.wide ? typed(Number(value.toFixed(Math.abs(value) < 10 ? 2 : 1))) : fitting(value, room)) : value;
    if (input.value !== shown) input.value = shown;
    set(input, "title", typeof value === "number" && typed(value) !== shown ? typed(value) : null);
    input.removeAttribute("aria-invalid");
  }

  /** @param {Bench} b @param {string} shape */
  build(b, shape) {
    this.shape = shape;
    this.inputs.clear();
    /** @type {any} */
    const p = (this.places = { rows: [] });
    const head = (/** @type {any} */ title, /** @type {any} */ under, more = {}) => h("th", { scope: "col", ...more }, h("b", null, title), under);
    const key = b.kind === "h" ? [tag("K"), tag("V"), " H"] : [tag("K"), msg` keys`];
    const width = { class: "wide" };
    const headline = h("tr", null, h("td"),
      head(key, h("span", null, msg`type any number`), width), head(msg`score`, (p.scored = h("span"))), head(msg`mask`, (p.masked = h("span"))),
      head("exp", (p.power = h("span"))), head(h("span", { class: "c-v" }, msg`weight`), (p.divided = h("span"))),
      head([tag("V"), msg` values`], h("span", null, b.kind === "h" ? msg`same as H` : msg`type any number`), width),
      head(msg`weight × value`, h("span", null, b.g.length === 1 ? msg`1 number` : msg`${b.g.length} numbers`)));
    const query = h("tr", { class: "query" }, h("th", { scope: "row" }, tag("Q"), " q"),
      b.mode === "supplied" ? h("td", { class: "dim" }, msg`not needed: the scores are typed`) : this.cells("q", "qi", b.q.length),
      h("td", { colspan: 6, class: "note" }, msg`the query: one row that does the reading`));
    const rows = b.names.map((_, j) => this.row(b, j));
    const total = h("tr", { class: "tot" }, h("th", { scope: "row" }, msg`sum`), h("td"), h("td"), h("td"), (p.sum = h("td", { class: "mono" })), h("td", { class: "mono" }, h("span", { class: "wb" }), (p.ones = h("b"))),
      h("td", { class: "dim" }, msg`read z =`), (p.z = h("td", { class: "mono c-v parts" })));
    this.element.replaceChildren(h("thead", null, headline), h("tbody", null, query, rows, total));
  }

  /** @param {Bench} b @param {number} j */
  row(b, j) {
    const line = /** @type {any} */ ({});
    const supplied = b.mode === "supplied", apart = b.kind === "kv";
    const name = this.input(`name ${j}`, msg`name of row ${j}`, "name");
    line.score = supplied ? null : h("td", { class: "mono" });
    line.mask = h("button", { class: "mk", type: "button", onclick: () => this.acts.change({ ...this.b(), hidden: this.b().hidden.map((x, i) => (i === j ? !x : x)) }) });
    line.exp = h("td", { class: "mono" });
    line.bar = h("i");
    line.weight = h("b", { class: "c-v mono" });
    line.parts = h("td", { class: "mono parts" });
    line.element = h("tr", { "data-row": j, onclick: (/** @type {any} */ e) => !e.target.closest("input, button") && this.acts.row(j) },
      h("th", { scope: "row" }, h("span", { class: "c-k mono" }, `${j} `), name), supplied ? h("td", { class: "dim mono" }, "—") : this.cells(`K ${j}`, "ki", b.q.length),
      line.score ?? h("td", { class: "qi" }, this.input(`typed ${j}`, msg`score of row ${j}`)), h("td", null, line.mask), line.exp, h("td", null, h("span", { class: "wb" }, line.bar), line.weight),
      apart ? this.cells(`V ${j}`, "vi", b.g.length) : supplied ? this.cells(`K ${j}`, "vi", b.q.length) : h("td", { class: "dim" }, msg`H, row ${j}`), line.parts);
    this.places.rows[j] = line;
    return line.element;
  }

  /** @param {string} name "K 2" @param {string} kind @param {number} count */
  cells(name, kind, count) {
    const [what, j] = name.split(" ");
    const said = (/** @type {number} */ i) => (what === "q" ? msg`query, number ${i}` : what === "K" ? msg`key ${j}, number ${i}` : msg`value ${j}, number ${i}`);
    return h("td", { class: kind }, h("div", { class: "line" }, Array.from({ length: count }, (_, i) => this.input(`${name} ${i}`, said(i)))));
  }

  /** @param {string} name @param {string} label @param {string} [kind] */
  input(name, label, kind = "") {
    const input = h("input", {
      class: kind, "aria-label": label, autocomplete: "off", spellcheck: "false", "data-name": name, ...(kind ? { maxlength: 60 } : { inputmode: "decimal" }),
      onfocus: () => this.focused(input, name), oninput: () => this.typed(input, name, false), onchange: () => this.typed(input, name, true), onblur: () => { delete input.dataset.typing; this.acts.settle(); },
    });
    this.inputs.set(name, input);
    return input;
  }

  /** A number that stands shortened is whole while one is in it. @param {HTMLInputElement} input @param {string} name */
  focused(input, name) {
    const held = given(this.b(), name);
    if (input.title && typeof held === "number") Object.assign(input, { value: typed(held) }).dataset.typing = "1";
    const j = /^(?:K|V|typed|name) (\d+)/.exec(name);
    if (j) this.acts.row(Number(j[1]));
  }

  /** What was typed counts at once where it is a number; where it is none, the number before it stays and it is said when the field is left.
   * @param {HTMLInputElement} input @param {string} name @param {boolean} whole */
  typed(input, name, whole) {
    input.dataset.typing = "1";
    const value = name.startsWith("name") ? input.value : number(input.value);
    set(input, "aria-invalid", value === null ? "true" : null);
    if (value !== null) this.acts.change(put(this.b(), name, value));
    else if (whole) this.acts.refuse(refusal(input.getAttribute("aria-label") ?? name, input.value));
  }

  /** @param {ClipboardEvent} event */
  pasted(event) {
    const name = /** @type {any} */ (event.target).dataset?.name ?? "";
    const given = event.clipboardData?.getData("text") ?? "";
    const { rows, why } = pasted(given);
    if (name.startsWith("name") || !/[\s,;[]/.test(given.trim())) return;
    event.preventDefault();
    if (why) return this.acts.refuse(why);
    delete /** @type {any} */ (event.target).dataset.typing;
    const [what, a, c] = name.split(" ");
    this.acts.paste(what, what === "q" ? [0, Number(a)] : [Number(a), Number(c ?? 0)], rows);
  }

  /** Up and down go to the same number of the next row. @param {KeyboardEvent} event */
  keyed(event) {
    const by = event.key === "ArrowDown" || event.key === "Enter" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const name = /** @type {any} */ (event.target).dataset?.name;
    if (!by || !name) return;
    event.preventDefault();
    const [what, j, i] = name.split(" ");
    const next = what === "q" ? (by > 0 ? `K 0 ${j}` : "") : what === "K" && j === "0" && by < 0 ? `q ${i}` : [what, Number(j) + by, i].filter((x) => x !== undefined).join(" ");
    const found = this.inputs.get(next);
    found?.focus();
    found?.select();
  }

  /** @returns {Bench} */
  b() {
    return this.current?.() ?? /** @type {any} */ (null);
  }

  /** Told by the page. @type {(() => Bench) | undefined} */
  current;
}

/** As many as there is room for; the title has the others. @param {HTMLElement} cell @param {string} said @param {boolean} wide */
function numbers(cell, said, wide) {
  text(cell, said);
  set(cell, "title", wide ? said : null);
}

/** A number as a person types it, with a sign of its own. Pure. @param {number} x */
export const typed = (x) => String(x).replace("-", "−");

/** A number in a field: up to four decimals, as many as are seen whole. Pure. @param {number} x @param {number} [room] in characters */
export function fitting(x, room = ROOM.number) {
  const all = [4, 3, 2, 1].map((n) => typed(Number(x.toFixed(n))));
  return all.find((said) => said.length <= room) ?? all[3];
}

/** @param {string} letter */
const tag = (letter) => h("span", { class: `tag ${letter.toLowerCase()}` }, letter);

/** @param {Bench} b @param {string} name */
function given(b, name) {
  const [what, j, i] = name.split(" ");
  if (what === "name") return b.names[Number(j)];
  if (what === "typed" || what === "q" || what === "g") return b[what][Number(j)];
  return b[/** @type {"K" | "V"} */ (what)][Number(j)][Number(i)];
}

/** The bench with one other number or name. Pure. @param {Bench} b @param {string} name @param {any} value @returns {Bench} */
export function put(b, name, value) {
  const [what, j, i] = name.split(" ");
  const line = (/** @type {any[]} */ l, /** @type {number} */ n, /** @type {any} */ v) => l.map((x, k) => (k === n ? v : x));
  if (what === "name") return { ...b, names: line(b.names, Number(j), value) };
  if (what === "typed" || what === "q" || what === "g") return { ...b, [what]: line(b[what], Number(j), value) };
  const matrix = b[/** @type {"K" | "V"} */ (what)];
  return { ...b, [what]: line(matrix, Number(j), line(matrix[Number(j)], Number(i), value)) };
}
