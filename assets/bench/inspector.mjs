// @ts-check
/** One row spelled out, the derivatives, and the checks of the bench. */

import { h, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { figure, probability } from "../lib/words.mjs";
import { byDifference, derivatives, divisor, dot, late, read, values } from "./read.mjs";
import { repeated } from "./came.mjs";

/** @typedef {import("./read.mjs").Bench} Bench @typedef {import("./read.mjs").Read} Read */
/** @typedef {{name: string, status: "pass" | "fail" | "pending", measured: string, mark: "m" | "e"}} Check */

const short = (/** @type {number} */ x) => figure(x, 2);
/** A factor of a product, as short as it can be said: "1.2", "−.3". @param {number} x */
const factor = (x) => short(x).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace(/^(−?)0\./, "$1.");
const MOST = 4;
/** Two terms of a dot product, and how many more there are. */
const terms = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.slice(0, MOST).map((x, i) => `${factor(x)}×${factor(b[i])}`).join(" + ") + (a.length > MOST ? ` + … (${a.length})` : "");
const few = (/** @type {number[]} */ l) => l.slice(0, MOST).map(short).join("  ") + (l.length > MOST ? " …" : "");

/** How row j comes to its weight. Pure. @param {Bench} b @param {Read} r @param {number} j @returns {[string, string, string][]} */
function spelled(b, r, j) {
  const typed = b.mode === "supplied";
  return [
    ["q·k", typed ? msg`not needed` : terms(b.q, b.K[j]), typed ? "—" : short(r.dots[j])],
    [msg`score`, typed ? msg`typed` : b.mode === "scaled_dot" ? `${short(dot(b.q, b.K[j]))} / ${short(divisor(b))}` : msg`as it is`, short(r.scores[j])],
    ["exp", b.hidden[j] && !late(b) ? msg`masked: e^−∞` : `e^(${short(r.scores[j])} − ${short(r.top)})`, short(r.exps[j])],
    [msg`weight`, `${short(r.exps[j])} / ${short(r.sum)}${late(b) ? ` × ${Number(!b.hidden[j])}` : ""}${b.enters === "renormalise" ? ` / ${short(r.left)}` : ""}`, probability(r.weights[j])],
    [msg`in z₀`, `${probability(r.weights[j])} × ${short(values(b)[j][0])}`, figure(r.weights[j] * values(b)[j][0])],
  ];
}

/** @param {Bench} b @param {Read} r @param {number} j @returns {[string, string, string][]} */
function derived(b, r, j) {
  const d = derivatives(b, r), part = b.mode === "scaled_dot" ? ` / √${b.q.length}` : "";
  const typed = b.mode === "supplied";
  return [
    [msg`score`, b.enters === "multiply" ? "p(Mg·v − g·z)" : "w (g·v − g·z)", figure(d.scores[j])],
    ["v", "w g", few(d.values[j])],
    ["q", typed ? msg`not needed` : `Σ ∂s k${part}`, typed ? "0" : few(d.q)],
    ["k", typed ? msg`not needed` : `∂s q${part}`, typed ? "0" : few(d.keys[j])],
  ];
}

/** @param {Bench} b @param {Read} r @param {{status: "pass" | "fail" | "pending", measured: string}} server what the server says of the same read @returns {Check[]} */
export function checks(b, r, server) {
  const off = Math.abs(r.weights.reduce((a, w) => a + w, 0) - 1);
  const d = derivatives(b, r).scores, sum = Math.abs(d.reduce((a, x) => a + x, 0));
  const size = Math.max(1e-300, ...d.map(Math.abs));
  const apart = Math.max(...d.map((x, j) => Math.abs(x - byDifference(b, r, j))));
  const hidden = b.hidden.filter(Boolean).length, zero = b.hidden.filter((x, j) => x && r.weights[j] === 0).length;
  const good = (/** @type {boolean} */ x) => /** @type {"pass" | "fail"} */ (x ? "pass" : "fail");
  return [
    { name: msg`weights sum to 1`, status: good(off < 1e-12), measured: off < 0.01 ? `|Σ − 1| ${figure(off, 1)}` : `Σ ${figure(1 - off, 2)}`, mark: "m" },
    { name: msg`masked rows weigh 0`, status: good(zero === hidden), measured: msg`${zero} of ${hidden}`, mark: "e" },
    { name: msg`∂ scores sum to 0`, status: good(sum <= 1e-12 * Math.max(1, size)), measured: figure(sum, 1), mark: "m" },
    { name: msg`finite difference`, status: good(apart <= 1e-6 * Math.max(1, size)), measured: `|Δ| ${figure(apart, 1)}`, mark: "m" },
    { name: msg`the server reads the same`, ...server, mark: "m" },
    ...repeated(b, r).map((c) => ({ name: c.name, status: good(c.same), measured: `|Δ| ${figure(c.off, 1)}`, mark: /** @type {const} */ ("m") })),
  ];
}

export class Inspector {
  /** @param {(id: string) => HTMLElement} place */
  constructor(place) {
    this.place = place;
  }

  /** @param {Bench} b @param {Read} r @param {number} row @param {{status: "pass" | "fail" | "pending", measured: string}} server */
  draw(b, r, row, server) {
    const all = b.hidden.every(Boolean);
    text(this.place("bench-row"), `${row}`);
    text(this.place("bench-row-name"), b.names[row]);
    text(this.place("bench-shape"), `[1, ${b.g.length}] fp64`);
    const root = b.mode === "scaled_dot" ? ` / √${b.q.length}` : "";
    text(this.place("bench-scale"), late(b) ? `${root}) ⊙ M${b.enters === "multiply" ? "" : " ÷ Σ"} ` : `${root} + M) `);
    this.table("bench-spelled", [msg`step`, msg`arithmetic`, msg`value`], all ? [] : spelled(b, r, row), 3);
    this.table("bench-derived", [msg`loss by`, msg`rule`, msg`value`], all ? [] : derived(b, r, row), 0);
    list(this.place("bench-checks"), all ? [] : checks(b, r, server), (c) => c.name, () => h("li", { class: "check" }, h("i", { class: "sign" }), h("span"), h("span", { class: "mono" }), h("i")), (line, c) => {
      set(line, "data-status", c.status);
      text(line.children[1], c.name);
      text(line.children[2], c.measured);
      line.children[3].className = `pv ${c.mark}`;
    });
  }

  /** @param {string} id @param {string[]} head @param {string[][]} rows @param {number} on the line that stands out */
  table(id, head, rows, on) {
    const element = this.place(id);
    if (!element.firstChild) element.append(h("thead", null, h("tr", null, head.map((x) => h("th", { scope: "col" }, x)))), h("tbody"));
    list(/** @type {HTMLElement} */ (element.lastChild), rows, (_, i) => i, () => h("tr", null, h("td"), h("td"), h("td", { class: "mono" })), (line, cells, i) => {
      line.className = i === on ? "sel" : "";
      cells.forEach((x, n) => text(line.children[n], x));
    });
  }
}

/** The read again, for who compares. @param {Bench} b */
export const question = (b) => ({
  ...(b.mode === "supplied" ? { scores: b.typed, keys: null, query: null } : { keys: b.K, query: b.q, scores: null }),
  values: values(b), score: b.mode, visible: b.hidden.map((x) => !x), mask: b.enters ?? "additive",
});

/** How far the server's answer lies from ours. Pure. @param {Bench} b @param {{weights: number[], context: number[]}} answer */
export function apart(b, answer) {
  const r = read(b);
  return Math.max(...r.weights.map((w, j) => Math.abs(w - answer.weights[j])), ...r.z.map((z, c) => Math.abs(z - answer.context[c]) / Math.max(1, Math.abs(z))));
}
