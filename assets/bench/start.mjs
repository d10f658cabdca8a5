// @ts-check
/** The read bench: what is typed, the step it is shown up to, and its drawing. A page of its own; a link holds all that was typed. */

import { copied } from "../lib/copying.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import { msg, parts } from "../lib/language.mjs";
import { acting } from "../lib/page/acting.mjs";
import { sayWhole } from "../lib/draw/whole.mjs";
import { speak } from "../lib/page/speak.mjs";
import { theming } from "../lib/page/theme.mjs";
import { figure, percent } from "../lib/words.mjs";
import { drawJacobian, drawScores, drawSweep } from "./drawings.mjs";
import { examples } from "./examples.mjs";
import { came } from "./came.mjs";
import { apart, Inspector, question } from "./inspector.mjs";
import { derivatives, jacobian, late, read } from "./read.mjs";
import { isBench, isNamed, MOST, number, pack, pasted, refusal, resized, unpack } from "../lib/inspect/bench.mjs";
import { fitting, put, Table, typed } from "./table.mjs";
import { taking } from "./taking.mjs";
import { workedNumbers } from "./worked.mjs";

/** @typedef {import("./read.mjs").Bench} Bench */

const LAST = 6;
const PLAY = 700; // ms a step
const ASK = 250; // ms of rest before the server is asked
const place = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const canvas = (/** @type {string} */ id) => /** @type {HTMLCanvasElement} */ (place(id));
/** @param {Bench} b */
const steps = (b) => (late(b) ? [msg`type`, "q·K", "exp", msg`÷ sum`, b.enters === "multiply" ? msg`× mask` : msg`× mask ÷ Σ`, "× V", msg`Σ read`]
  : [msg`type`, "q·K", msg`+ mask`, "exp", msg`÷ sum`, "× V", msg`Σ read`]);

const first = examples()[0];
const page = {
  bench: first.bench, example: first.id, row: 2, step: LAST, playing: 0, refused: "",
  server: /** @type {{status: "pass" | "fail" | "pending", measured: string}} */ ({ status: "pending", measured: "…" }),
  asked: /** @type {any} */ (0), linked: /** @type {any} */ (0),
};

const inspector = new Inspector(place);
const table = new Table(place("bench-table"), { change, settle: draw, row: (j) => { page.row = j; draw(); }, refuse, paste });
table.current = () => page.bench;

/** What a person changed is no longer what a run made. @param {Bench} next */
function change({ from, ...next }) {
  show(next);
}

/** @param {Bench} next */
function show(next) {
  page.bench = next;
  page.row = Math.min(page.row, next.names.length - 1);
  page.refused = "";
  clearTimeout(page.asked);
  clearTimeout(page.linked);
  page.server = { status: "pending", measured: "…" };
  page.asked = setTimeout(ask, ASK);
  page.linked = setTimeout(() => history.replaceState(null, "", pack(page.bench)), ASK);
  draw();
}

/** @param {string} sentence */
function refuse(sentence) {
  page.refused = sentence;
  draw();
}

/** What was pasted, from this place on; rows that are missing are added. @param {string} what @param {[number, number]} at @param {number[][]} rows */
function paste(what, [j0, i0], rows) {
  const b = page.bench, wide = Math.max(...rows.map((r) => r.length)) + i0, tall = what === "q" ? b.names.length : j0 + rows.length;
  if (tall > MOST.rows || wide > MOST.width) return refuse(msg`The pasted text makes ${tall} rows of ${wide} numbers; allowed: at most ${MOST.rows} rows of ${MOST.width} numbers.`);
  const own = what === "typed" ? 1 : what === "q" || what === "K" ? b.q.length : b.g.length;
  const keys = what === "K" || what === "q" ? Math.max(b.q.length, wide) : b.q.length, values = what === "V" ? Math.max(own, wide) : b.g.length;
  let next = resized(b, Math.max(b.names.length, tall), keys, values);
  rows.forEach((line, j) => line.forEach((x, i) => {
    next = put(next, what === "q" ? `q ${i0 + i}` : what === "typed" ? `typed ${j0 + j}` : `${what} ${j0 + j} ${i0 + i}`, x);
  }));
  change(next);
}

async function ask() {
  const asked = page.bench;
  if (asked.hidden.every(Boolean)) return;
  try {
    const answer = await fetch("api/read", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question(asked)) });
    const found = await answer.json();
    if (page.bench !== asked) return;
    if (!answer.ok) page.server = { status: "fail", measured: found.errors?.[0]?.message ?? String(answer.status) };
    else {
      const off = apart(asked, found);
      page.server = { status: off <= 1e-12 ? "pass" : "fail", measured: `|Δ| ${figure(off, 1)}` };
    }
  } catch {
    page.server = { status: "pending", measured: msg`not reached` };
  }
  draw();
}

/** On from the last step is the first one again: the page opens with the whole read. @param {number} by */
function step(by) {
  page.step = by > 0 && page.step === LAST ? 0 : Math.max(0, Math.min(LAST, page.step + by));
  draw();
}

function play() {
  if (page.playing) stop();
  else {
    if (page.step === LAST) page.step = 0;
    page.playing = window.setInterval(() => (step(1), page.step === LAST && stop()), PLAY);
    draw();
  }
}

function stop() {
  clearInterval(page.playing);
  page.playing = 0;
  draw();
}

/** @param {string} id */
function open(id) {
  const found = examples().find((e) => e.id === id);
  if (!found) return;
  page.example = id;
  page.row = 0;
  show(found.bench);
}

/** A read that is no example, at the row that it takes most from. @param {Bench} bench */
function take(bench) {
  const { weights } = read(bench);
  page.example = "";
  page.row = weights.indexOf(Math.max(...weights));
  show(bench);
}

/** @param {"rows" | "keys" | "values"} what @param {number} by */
function resize(what, by) {
  const b = page.bench, next = { rows: b.names.length, keys: b.q.length, values: b.g.length };
  next[what] = Math.max(1, Math.min(what === "rows" ? MOST.rows : MOST.width, next[what] + by));
  change(resized(b, next.rows, next.keys, next.values));
}

/** @param {string} kind */
function kind(kind) {
  const b = page.bench;
  change(resized({ ...b, kind: /** @type {any} */ (kind) }, b.names.length, b.q.length, kind === "h" ? b.q.length : (b.V[0]?.length ?? 1)));
}

/** One thing that the read is about, in a sentence. */
function said() {
  const b = page.bench, r = read(b), dim = (/** @type {any} */ words) => h("span", { class: "dim" }, words);
  if (page.refused) return [h("span", { class: "refused" }, page.refused)];
  if (b.hidden.every(Boolean)) return [msg`Every row is masked, so there is nothing to read.`, " ", dim(msg`Unmask at least one row.`)];
  const after = b.enters === "multiply" ? msg`masked rows get 0, and keep their part of the sum` : msg`masked rows get 0, and the others are divided by what is left`;
  const shares = [msg`scores become positive numbers`, msg`they are divided by their sum`];
  const why = [msg`type any number into q, K or V`, msg`each key meets the query`, ...(late(b) ? [...shares, after] : [msg`masked rows get −∞`, ...shares]), msg`each value is multiplied by its weight`];
  if (page.step < LAST) return parts`Step ${page.step} of ${LAST}, ${h("b", null, steps(b)[page.step])}: ${why[page.step]}.`;
  const top = r.weights.indexOf(Math.max(...r.weights)), hidden = b.hidden.filter(Boolean).length;
  const taken = [h("b", { class: "c-v" }, percent(r.weights[top])), h("span", null, String(top), isNamed(b, top) ? [" ", h("b", { class: "c-k mono" }, b.names[top])] : [])];
  if (!hidden) return parts`The query takes ${taken[0]} from row ${taken[1]}.`;
  if (b.enters === "multiply") return parts`The query takes ${taken[0]} from row ${taken[1]}; masked rows took ${percent(1 - r.left)} of the sum, and nobody gets it.`;
  if (late(b)) return parts`The query takes ${taken[0]} from row ${taken[1]}; masked rows took ${percent(1 - r.left)} of the sum, which is divided out.`;
  if (hidden === 1) return parts`The query takes ${taken[0]} from row ${taken[1]}; row ${b.hidden.indexOf(true)} is masked and weighs exactly 0.`;
  return parts`The query takes ${taken[0]} from row ${taken[1]}; ${hidden} rows are masked and weigh exactly 0.`;
}

let words = "";
function draw() {
  const b = page.bench, r = read(b), d = derivatives(b, r);
  const sentence = said(), key = sentence.map((x) => (x instanceof Node ? x.textContent : String(x))).join("");
  if (key !== words) {
    words = key;
    place("bench-say").replaceChildren(...sentence.map((x) => (x instanceof Node ? x : document.createTextNode(String(x)))));
  }
  list(place("bench-track"), steps(b), (_, i) => i, (name, i) => h("li", null, h("button", { type: "button", onclick: () => { page.step = i; draw(); } }, name)), (element, name, i) => {
    text(element.firstChild, name);
    element.className = `${i < page.step ? "done" : i === page.step ? "now" : "todo"}`;
    set(element.firstChild, "aria-current", i === page.step ? "step" : null);
  });
  text(place("bench-where"), steps(b)[page.step]);
  set(place("bench-back"), "disabled", page.step === 0);
  set(place("bench-step"), "title", page.step === LAST ? msg`Once more, from the first step` : null);
  set(place("bench-play"), "aria-pressed", String(!!page.playing));
  document.documentElement.toggleAttribute("data-playing", !!page.playing);
  for (const button of document.querySelectorAll("[data-kind], [data-mode], [data-enters]")) {
    const { kind: k, mode: m, enters: e } = /** @type {HTMLElement} */ (button).dataset;
    set(/** @type {HTMLElement} */ (button), "aria-pressed", String(k ? k === b.kind : m ? m === b.mode : e === (b.enters ?? "additive")));
  }
  const sizes = { rows: b.names.length, keys: b.q.length, values: b.g.length };
  for (const [name, size] of Object.entries(sizes)) text(place(`bench-${name}`), String(size));
  set(place("bench-values").parentElement ?? place("bench-values"), "hidden", b.kind === "h");
  table.draw(b, r, page.step, page.row);
  const most = drawJacobian(canvas("bench-jacobian"), b, jacobian(b, r), page.row);
  text(place("bench-low"), `−${figure(most, 2)}`);
  text(place("bench-high"), `+${figure(most, 2)}`);
  drawScores(canvas("bench-scores"), b, d.scores, page.row);
  const [low, high] = drawSweep(canvas("bench-sweep"), b, r, page.row);
  text(place("bench-swept"), msg`row ${page.row}, ${figure(low, 1)} to ${figure(high, 1)}`);
  gradients(b);
  text(place("bench-gsum"), figure(Math.abs(d.scores.reduce((a, x) => a + x, 0)) < 1e-12 ? 0 : d.scores.reduce((a, x) => a + x, 0)));
  inspector.draw(b, r, page.row, page.server);
  const chosen = examples().find((e) => e.id === page.example);
  text(place("bench-jrule"), b.enters === "multiply" ? "Mᵢ pᵢ (δᵢⱼ − pⱼ)" : "wᵢ (δᵢⱼ − wⱼ)");
  text(place("bench-srule"), b.enters === "multiply" ? "pⱼ (Mⱼ g·vⱼ − g·z)" : "wⱼ (g·vⱼ − g·z)");
  text(place("bench-note"), chosen && same(chosen.bench, b) ? chosen.note : "");
  text(place("bench-came"), b.from ? came(b, r) : "");
  const picker = /** @type {HTMLSelectElement} */ (place("bench-examples"));
  if (picker.options.length === 0) fillPicker(picker);
  picker.value = chosen && same(chosen.bench, b) ? chosen.id : "";
}

/** Reads to begin from, and everything that the texts print. @param {HTMLSelectElement} picker */
function fillPicker(picker) {
  const printed = (picker.dataset.worked ?? "").split(" ").map((name) => h("option", { value: `worked:${name}` }, name.replaceAll("_", " ")));
  picker.append(h("option", { value: "" }, msg`Your own numbers`), ...examples().map((e) => h("option", { value: e.id }, e.name)), h("optgroup", { label: msg`Worked numbers` }, printed));
}

/** @param {HTMLSelectElement} picker */
function pick(picker) {
  const [kind, name] = picker.value.split(":");
  if (kind !== "worked") return open(picker.value);
  void showWorked(name);
  draw(); // the read that stands there is still the same
}

/** @param {string} [name] the entry to begin at */
const showWorked = (name) => workedNumbers((read) => (typeof read === "string" ? open(read) : take(read)), name);

/** @param {Bench} a @param {Bench} b */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The numbers of g. @param {Bench} b */
function gradients(b) {
  list(place("bench-g"), b.g, (_, i) => i, (_, i) => h("input", { "aria-label": msg`g, number ${i}`, inputmode: "decimal", autocomplete: "off", onchange: (/** @type {any} */ e) => {
    const value = number(e.target.value);
    if (value === null) refuse(refusal(msg`g, number ${i}`, e.target.value));
    else change(put(page.bench, `g ${i}`, value));
  } }), (input, x) => {
    if (document.activeElement !== input) input.value = fitting(x);
    set(input, "title", typed(x));
  });
}

const copy = () => copied(location.origin + location.pathname + pack(page.bench)).then((done) => text(place("bench-copied"), done ? msg`Copied` : ""));

/** @type {Record<string, (what: string) => void>} */
const acts = {
  worked: () => showWorked(), back: () => { stop(); step(-1); }, step: () => { stop(); step(1); }, play, theme: theming(draw), kind, speak: () => speak(place("language").dataset.language ?? ""),
  mode: (mode) => change({ ...page.bench, mode: /** @type {any} */ (mode) }),
  enters: (enters) => change({ ...page.bench, enters: enters === "additive" ? undefined : /** @type {any} */ (enters) }),
  more: (what) => resize(/** @type {any} */ (what), 1), fewer: (what) => resize(/** @type {any} */ (what), -1),
  take: taking(place("bench-take"), { bench: () => page.bench, stage: /** @type {any} */ (document.querySelector(".bench .stage")), copy, redraw: draw, refuse }),
};
acting(acts);
sayWhole(document);
place("bench-examples").addEventListener("change", (event) => pick(/** @type {HTMLSelectElement} */ (event.target)));
addEventListener("hashchange", () => location.hash !== pack(page.bench) && follow());
addEventListener("paste", (event) => {
  if (/** @type {any} */ (event.target).closest?.("input")) return;
  const text = /** @type {ClipboardEvent} */ (event).clipboardData?.getData("text") ?? "";
  const { rows, why } = pasted(text);
  if (rows.length > 1) paste("K", [0, 0], rows);
  else if (why && /^[\s[(]*[-+−.]?\d/.test(text)) refuse(why); // it begins like a matrix
});
document.addEventListener("box", () => draw());

function follow() {
  if (!isBench(location.hash)) return show(page.bench);
  try {
    take(unpack(location.hash));
  } catch (error) {
    show(page.bench);
    refuse(/** @type {Error} */ (error).message);
  }
}

document.fonts.ready.then(draw);
follow();
Object.assign(window, { lookbackBench: page });
document.documentElement.dataset.ready = "";
