// @ts-check
/** The rows of the comparison: what each model reads, how far it reaches, what it chooses, what it keeps. */

import { h, list, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import { Field, labelOf, same } from "../lib/setup/fields.mjs";
import { whole } from "../lib/read/evenness.mjs";
import { banks, total } from "../lib/states/kept.mjs";
import { bytes, duration, figure, leaf, number, probability, shown } from "../lib/words.mjs";
import { drawDepth, drawLine, drawReach } from "./drawings.mjs";
import { apart, FEWEST, MOST } from "./link.mjs";
import { column, drawMap, drawReads } from "./reading.mjs";

/** @typedef {import("./columns.mjs").Column} Column */
/** @typedef {{architectures: any[], tasks: any[], replace: (i: number, id: string) => void, remove: (i: number) => void, add: () => void, open: (c: Column) => void, fields: Record<string, any[]>, vary: (i: number, name: string, value: any) => void, task: () => string, changed: () => void}} Acts */

/** The rows of each phase. @type {Record<"train" | "decode", string[]>} */
const ROWS = {
  decode: ["model", "reads", "sofar", "reach", "chooses", "keeps"],
  train: ["model", "loss", "gradient", "depth", "keeps"],
};
/** All parts of a column's world. */
export const ALL = "all";
/** The parts that each row shows: it is drawn when one of them changed. @type {Record<string, string[]>} */
const SHOWS = {
  model: ["opened"], reads: ["opened", "moved", "values"], sofar: ["opened", "moved", "values"], reach: ["opened", "moved", "analysis"], chooses: ["opened", "moved"],
  keeps: ["moved"], loss: ["curve"], gradient: ["curve"], depth: ["schema", "values"],
};
/** Rows in which a column shows the others too. */
const ACROSS = new Set(["chooses", "loss", "gradient", "depth"]);
/** Rows that are drawn: the newest. */
const NEWEST = 7;
/** @param {number} i */
export const letter = (i) => String.fromCharCode(65 + i);

/** What a row is called, and how it is to be read. @param {string} row @returns {[string, string]} */
function named(row) {
  const names = /** @type {Record<string, [string, string]>} */ ({
    model: [msg`Model`, ""], reads: [msg`Reads now`, msg`width = weight, mean of heads, last layer`], sofar: [msg`Read so far`, msg`a line per target row; H: entropy of the newest`],
    reach: [msg`Reach`, msg`gradient of log p(choice); same test for all`], chooses: [msg`Chooses`, msg`and p of what it chose, by step`],
    keeps: [msg`Keeps, costs`, msg`between calls; this call`], loss: [msg`Loss`, msg`nats a row, the others in grey`], gradient: [msg`Gradient`, msg`norm of all, before clipping`],
    depth: [msg`Gradient by layer`, msg`at what each layer gives; first sequence`],
  });
  return names[row];
}

export class Grid {
  /** @param {HTMLElement} element @param {Acts} acts */
  constructor(element, acts) {
    this.element = element;
    this.acts = acts;
    this.shape = "";
    /** @type {Map<string, any>} by row and column */
    this.cells = new Map();
    /** The controls of each column's set-up. @type {WeakMap<Column, Field[]>} */
    this.fields = new WeakMap();
    /** @type {any} */
    this.adding = null;
  }

  /** @param {Column[]} columns @param {"train" | "decode"} phase */
  draw(columns, phase) {
    const shape = [phase, this.acts.task(), ...columns.map((c) => c.client)].join();
    if (shape !== this.shape) this.build(columns, phase, shape);
    this.fill(columns, phase);
    set(this.adding, "disabled", columns.length >= MOST);
    set(this.adding, "title", columns.length >= MOST ? msg`At most ${MOST} models stand side by side` : null);
  }

  /** What changed. First all that is DOM, then the canvases: one that sets its font makes the browser bring the page's styles up to date.
   * @param {Column[]} columns @param {"train" | "decode"} phase */
  fill(columns, phase) {
    const due = (/** @type {string} */ row, /** @type {Column} */ c) => c.due.some((part) => part === ALL || SHOWS[row].includes(part));
    const rows = (/** @type {Column} */ c) => ROWS[phase].filter((row) => (ACROSS.has(row) ? columns.some((x) => due(row, x)) : due(row, c)));
    const pictures = columns.flatMap((c, i) => rows(c).map((row) => (/** @type {any} */ (this))[row](this.cells.get(`${row} ${i}`), c, i, columns)));
    if (phase !== "train" && columns.some((c) => due("sofar", c))) this.evenness(columns);
    for (const picture of pictures) picture?.();
    for (const c of columns) c.due = [];
  }

  /** @param {Column[]} columns @param {"train" | "decode"} phase @param {string} shape */
  build(columns, phase, shape) {
    this.shape = shape;
    for (const c of columns) c.due = [ALL];
    this.cells.clear();
    this.element.style.setProperty("--columns", String(columns.length));
    set(this.element, "data-shown", phase);
    const rows = ROWS[phase].map((row) => {
      const [title, note] = named(row);
      const mark = { reach: h("i", { class: "tag g" }, "∇"), chooses: h("i", { class: "tag d" }, "→") }[row] ?? null;
      const head = h("div", { class: "lab" }, h("b", null, title, " ", mark), h("span", null, note), row === "model" ? (this.adding = h("button", { class: "btn sm", type: "button", onclick: () => this.acts.add() }, msg`Add a model`)) : null);
      return h("div", { class: `compare-row ${row}` }, head, columns.map((c, i) => {
        const cell = h("div", { class: "cell" }, this.filled(row, c, i, columns.length));
        this.cells.set(`${row} ${i}`, cell);
        return cell;
      }));
    });
    this.element.replaceChildren(...rows);
  }

  /** @param {string} row @param {Column} c @param {number} i @param {number} count @returns {any[]} */
  filled(row, c, i, count) {
    const canvas = (/** @type {string} */ name) => h("canvas", { role: "img", "aria-label": name });
    if (row === "model") return [h("span", { class: "who" }, h("b", { class: "letter" }, letter(i)), h("i", { class: "glyph", "aria-hidden": "true" })), this.select(c, i), h("small"), h("small", { class: "varied" }), h("span", { class: "row" }, h("button", { class: "link small", type: "button", onclick: () => this.acts.open(c) }, msg`Open as a stage`), h("button", { class: "link small", type: "button", disabled: count <= FEWEST, onclick: () => this.acts.remove(i) }, msg`Remove`)), this.variant(c, i)];
    if (row === "chooses") return [h("ol", { class: "choices" }), canvas(msg`probability of what was chosen, by step`)];
    if (row === "keeps") return [h("p", { class: "facts" }), h("p", { class: "facts" }), h("p", { class: "facts dim" })];
    if (row === "sofar") return [canvas(named(row)[0]), h("p", { class: "evenness" })];
    return [canvas(named(row)[0])];
  }

  /** The fields of its set-up, folded. @param {Column} c @param {number} i */
  variant(c, i) {
    const fields = this.acts.fields[c.architecture].map((/** @type {any} */ about) => new Field(about, { change: (value) => this.acts.vary(i, nameOf(about), value) }));
    this.fields.set(c, fields);
    return h("details", { class: "setup" }, h("summary", { class: "link small" }, msg`Variant`), h("dl", null, fields.map((f) => f.element)));
  }

  /** @param {Column} c @param {number} i */
  select(c, i) {
    const families = [...new Set(this.acts.architectures.map((a) => a.family))];
    const option = (/** @type {any} */ a) => {
      const why = apart(a, this.acts.task(), this.acts.tasks);
      return h("option", { value: a.id, disabled: !!why, title: why || null, selected: a.id === c.architecture }, a.name);
    };
    const groups = families.map((f) => h("optgroup", { label: f }, this.acts.architectures.filter((a) => a.family === f).map(option)));
    return h("select", { "aria-label": msg`Model ${letter(i)}`, onchange: (/** @type {any} */ e) => this.acts.replace(i, e.target.value) }, groups);
  }

  /** @param {any} cell @param {Column} c */
  model(cell, c) {
    const spec = this.acts.architectures.find((a) => a.id === c.architecture), opened = c.world.opened;
    const config = opened?.scenario.config ?? c.config;
    const mask = spec?.glyph ?? "";
    set(cell.firstChild.lastChild, "style", mask ? `mask-image: ${mask}; -webkit-mask-image: ${mask}` : null);
    for (const f of this.fields.get(c) ?? []) f.show({ value: config[nameOf(f.about)] ?? f.about.default });
    const others = this.acts.fields[c.architecture].filter((/** @type {any} */ f) => nameOf(f) in config && !same(config[nameOf(f)], f.default));
    const task = opened && opened.scenario.task !== this.acts.task() ? this.acts.tasks.find((t) => t.id === opened.scenario.task)?.name : "";
    const kind = !opened ? "" : opened.weights.kind === "trained" ? msg`trained weights` : msg`random weights`;
    text(cell.children[2], [/\b(?:19|20)\d\d\b/.exec(spec?.paper ?? "")?.[0] ?? "", opened ? msg`${opened.parameters.toLocaleString("en")} parameters` : "", kind, task].filter(Boolean).join(" · "));
    text(cell.children[3], others.map((/** @type {any} */ f) => `${f.title} ${labelOf(f, config[nameOf(f)])}`).join(" · "));
    set(cell.children[2], "title", spec?.paper ?? null);
  }

  /** What a column has to draw its reads from. @param {Column} c */
  shownRows(c) {
    const at = c.relation(), request = c.request(), rows = c.rows();
    const row = c.unread ? -1 : (request?.decision_row ?? rows.length - 1);
    return { at, request, rows, keys: c.keys(), row, weight: c.weights() };
  }

  /** @param {any} cell @param {Column} c */
  reads(cell, c) {
    const { at, request, rows, keys, row, weight } = this.shownRows(c);
    const kept = [...new Set((c.world.moved?.kept ?? []).map((/** @type {any} */ k) => leaf(k.path)))].join(", ");
    const known = at && keys.some((/** @type {any} */ _, /** @type {number} */ j) => Number.isFinite(weight(row, j)));
    const largest = known ? keys.reduce((/** @type {number} */ best, /** @type {any} */ _, /** @type {number} */ j) => (weight(row, j) > (best < 0 ? -1 : weight(row, best)) ? j : best), -1) : -1;
    const lead = request?.candidates.find((/** @type {any} */ x) => x.id === request.choice);
    const [window, first] = newest(rows);
    const vector = !at && request?.source && row >= 0;
    const words = !c.world.opened ? "…" : c.unread ? msg`nothing is read yet` : vector ? msg`everything must fit through here` : at ? (known ? "" : msg`nothing is read yet`) : msg`no choice of where to look: all goes through ${kept || "…"}`;
    set(cell.firstChild, "aria-label", largest < 0 ? words : msg`reads ${keys[largest]?.token ?? ""} with weight ${probability(weight(row, largest), 2)}`);
    return () => drawReads(cell.firstChild, { keys, rows: window, row: row - first, weight: (r, j) => weight(r + first, j), words, chosen: lead?.token ?? "", chance: lead?.probability ?? NaN, largest, vector: vector ? msg`one vector` : "" });
  }

  /** @param {any} cell @param {Column} c */
  sofar(cell, c) {
    const { at, request, rows, keys, row, weight } = this.shownRows(c), allowed = c.allowed();
    const [window, first] = newest(rows);
    return () => drawMap(cell.firstChild, { keys, rows: window, row: row - first, weight: (r, j) => weight(r + first, j), allowed: (r, j) => allowed(r + first, j), instead: at ? "" : request?.source ? msg`reads the one vector` : msg`reads its state alone` });
  }

  /** How evenly the newest row of each reads, and who most. @param {Column[]} columns */
  evenness(columns) {
    const all = columns.map((c) => {
      const { row, keys } = this.shownRows(c), allowed = c.allowed();
      return { of: row < 0 ? null : c.evenness(row), count: keys.filter((/** @type {any} */ _, /** @type {number} */ key) => allowed(row, key)).length };
    });
    const [most, next] = all.flatMap(({ of }, i) => (of ? [{ i, bits: of.bits }] : [])).sort((a, b) => b.bits - a.bits);
    all.forEach(({ of, count }, i) => {
      const line = this.cells.get(`sofar ${i}`).lastChild, evenest = next && most.i === i && figure(most.bits, 2) !== figure(next.bits, 2);
      const sum = of && !whole(of) ? ` · ${msg`of w ÷ ${figure(of.sum, 2)}`}` : "";
      const said = of ? msg`H ${figure(of.bits, 2)} bits ◉ · 2^H = ${figure(of.rows, 2)} of ${count} rows` + sum + (evenest ? ` · ${msg`most even`}` : "") : "";
      text(line, columns[i].relation() || !columns[i].world.opened ? said : msg`H does not apply: no row is read by weights`);
      set(line, "title", of ? msg`Entropy of what the newest row reads: 0 bits for one row alone, ${figure(Math.log2(count), 2)} bits for all ${count} alike. 2^H: the rows that it reads in effect.` : null);
    });
  }

  /** @param {any} cell @param {Column} c */
  reach(cell, c) {
    const found = c.reach(), { request, keys, rows } = this.shownRows(c), source = found?.rows.s;
    const norms = (source ?? found?.rows.t ?? []).map(number);
    set(cell, "data-empty", found ? null : c.unread ? msg`nothing is read yet` : c.world.moved?.ended ? msg`nothing is chosen: it has ended` : c.world.opened ? msg`being measured` : "…");
    return () => drawReach(cell.firstChild, source ? (request?.source ?? []) : (request?.target ?? []), norms, source ? "k" : "q", (width) => column(width, keys.length, newest(rows)[0].length));
  }

  /** @param {any} cell @param {Column} c @param {number} i @param {Column[]} columns */
  chooses(cell, c, i, columns) {
    const request = c.request(), top = (request?.candidates ?? []).slice(0, 3);
    list(cell.firstChild, top, (_, at) => at, () => h("li", null, h("span", { class: "mono" }), h("span", { class: "bar" }, h("i")), h("b", { class: "mono" })), (line, x) => {
      set(line, "data-on", x.id === request.choice ? "true" : null);
      text(line.children[0], shown(x.token));
      line.children[1].firstChild.style.width = `${x.probability * 100}%`;
      text(line.children[2], probability(x.probability, 2));
    });
    set(cell.firstChild, "data-empty", top.length ? null : request?.finished === "limit" ? msg`ended at the limit` : request?.finished ? msg`ended with <eos>` : c.unread ? msg`nothing is read yet` : "…");
    const line = (/** @type {Column} */ x) => Array.from(x.request()?.log_p?.data ?? x.request()?.log_p ?? [], (v) => Math.exp(number(v)));
    return () => drawLine(cell.lastChild, { own: line(c), others: columns.filter((_, n) => n !== i).map(line), low: 0, high: 1, role: "d", format: (v) => String(v), ends: ends(c, request) });
  }

  /** @param {any} cell @param {Column} c */
  keeps(cell, c) {
    const { moved } = c.world, all = banks(moved?.kept ?? []), { now, perRow } = total(all), train = moved?.phase === "train";
    const names = [...new Set(all.flatMap((b) => b.lines.map((l) => l.name)))].join(", ");
    fact(cell.children[0], !moved ? "" : train ? msg`nothing between updates but the weights` : names);
    fact(cell.children[1], !moved || train ? "" : msg`${`${bytes(now)} =`} now, ${perRow ? `+${bytes(perRow)} ƒ` : msg`nothing`} per further row`);
    this.cost(cell.lastChild, moved);
  }

  /** @param {HTMLElement} line @param {any} moved */
  cost(line, moved) {
    const rows = moved?.stages.reduce((/** @type {number} */ sum, /** @type {any} */ s) => sum + s.rows, 0) ?? 0;
    fact(line, moved && !rows ? msg`no row computed in this step` : moved ? `${duration(moved.forward_ms)} ◉ · ${counted(rows, "{0} row computed", "{0} rows computed")}` : "");
  }

  /** @param {any} cell @param {Column} c @param {number} i @param {Column[]} columns */
  loss(cell, c, i, columns) {
    const line = (/** @type {Column} */ x) => x.world.curve.loss.map(number).filter(Number.isFinite);
    const all = columns.flatMap(line);
    set(cell.firstChild, "aria-label", line(c).length ? msg`loss ${figure(line(c).at(-1) ?? NaN)}` : msg`no update yet`);
    set(cell, "data-empty", all.length ? null : msg`no update yet`);
    return () => drawLine(cell.firstChild, { own: line(c), others: columns.filter((_, n) => n !== i).map(line), low: 0, high: Math.max(1e-6, ...all), role: "ink" });
  }

  /** @param {any} cell @param {Column} c @param {number} i @param {Column[]} columns */
  gradient(cell, c, i, columns) {
    const line = (/** @type {Column} */ x) => x.world.curve.norm.map(number).filter(Number.isFinite);
    const all = columns.flatMap(line);
    set(cell, "data-empty", all.length ? null : msg`no update yet`);
    return () => drawLine(cell.firstChild, { own: line(c), others: columns.filter((_, n) => n !== i).map(line), low: 0, high: Math.max(1e-6, ...all), role: "g" });
  }

  /** @param {any} cell @param {Column} c @param {number} i @param {Column[]} columns */
  depth(cell, c, i, columns) {
    const all = columns.flatMap((x) => x.gradients()).filter((v) => v > 0), own = c.gradients();
    const known = own.filter(Number.isFinite);
    set(cell.firstChild, "aria-label", known.length ? msg`gradient ${figure(known[0], 2)} at the first layer, ${figure(known.at(-1) ?? NaN, 2)} at the last` : msg`no update yet`);
    set(cell, "data-empty", known.length ? null : msg`no update yet`);
    return () => drawDepth(cell.firstChild, { own, names: c.depths().map((d) => d.name), low: Math.min(...all), high: Math.max(...all) });
  }
}

/** One line, whatever it says. @param {any} line @param {string} said */
function fact(line, said) {
  text(line, said);
  set(line, "title", said || null);
}

/** A field's name in the config. @param {{path: string}} about */
const nameOf = (about) => about.path.replace("config.", "");

/** The first and the newest token that a model chose, once there are two. @param {Column} c @param {any} request @returns {string[]} */
function ends(c, request) {
  const prompt = (c.world.opened?.scenario.requests[0].target.length ?? 0) + 1, made = (request?.log_p?.data ?? request?.log_p ?? []).length;
  return made > 1 ? [0, made - 1].map((i) => shown(request.target[prompt + i]?.token ?? "")) : [];
}

/** The rows that have room, and the number of the first of them. @template T @param {T[]} rows @returns {[T[], number]} */
const newest = (rows) => [rows.slice(-NEWEST), Math.max(0, rows.length - NEWEST)];
