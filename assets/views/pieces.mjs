// @ts-check
/** Text to pieces to ids: how the tokenizer cuts what was typed, before anything is read; the merges of byte pairs one after another;
 * and every tokenizer of the same texts beside each other, on one scale. */

import { h, list, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { cutShown, cutting } from "../lib/setup/cut.mjs";
import { bare, cutterOf, makes } from "../lib/setup/together.mjs";
import { figure, percent, requestName, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/setup/cut.mjs").Piece} Piece */
/** One tokenizer, as the server tells of it.
 * @typedef {{task: string, kind: import("../lib/setup/pieces.mjs").Kind, vocabulary: number, pieces: number[], unknown: string[][], measured: {bits?: number, pieces?: number, unknown?: number}}} Beside */

/** @param {Beside["kind"]} kind */
const kindName = (kind) => ({ word: msg`words`, character: msg`characters`, byte: msg`bytes`, bpe: msg`byte pairs` })[kind];

/** @type {import("../lib/types").View} */
export default {
  id: "pieces",
  title: "Text, pieces, ids",
  slot: "read",
  phases: ["prefill"],
  applies: cutShown,
  wants: () => [],

  mount(element, context) {
    const go = (/** @type {number} */ by) => () => merges(/** @type {any} */ (element.querySelector("input")), by, context);
    const arrow = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {number} */ by) => h("button", { class: "btn xs", type: "button", "aria-label": name, onclick: go(by) }, sign);
    element.append(
      h("div", { class: "cut" },
        h("div", { class: "seg tabs", role: "group", "aria-label": msg`Request` }),
        h("div", { class: "cut-body" }, h("div", { class: "cut-names", "aria-hidden": "true" }, h("span", null, msg`text`), h("span", null, msg`pieces`), h("span", null, msg`ids`)),
          h("ol", { class: "cut-text", tabindex: 0, "aria-label": msg`The text in pieces, each with its id` })),
        h("div", { class: "cut-merges" }, h("span", { class: "note" }, msg`merges`), arrow("‹", msg`One merge back`, -1),
          h("input", { type: "range", min: 0, step: 1, "aria-label": msg`Merges applied`, oninput: go(0) }), arrow("›", msg`One merge on`, 1), h("output", { class: "mono" }))),
      h("table", { class: "cut-beside" }, h("thead", null, h("tr", null, [msg`cut into`, msg`pieces`, msg`vocabulary`, msg`bits a character`].map((name, i) => h("th", { scope: "col" }, name, i === 3 && [" ", h("i", { class: "pv m", title: msg`measured` })])))), h("tbody")),
    );
  },

  draw(element, world, context) {
    const [cut, beside] = /** @type {any} */ (element.children);
    const [requests, body, steps] = cut.children;
    tabs(requests, world, context);
    const found = cutting(world);
    units(body.lastElementChild, found.pieces, found.characters);
    ranged(steps, found.steps.length, found.at, cutterOf(world.opened)?.kind === "bpe");
    rows(beside.lastElementChild, world, context);
  },

  table(world) {
    const columns = [msg`piece`, msg`id`, msg`text`, msg`typed`];
    const { pieces, characters } = cutting(world);
    const of = (/** @type {number} */ i) => characters.find((c) => c.from <= i && i < c.to)?.text ?? "";
    return { columns, rows: pieces.map((p, i) => [p.token, p.id, of(i), p.unknown ?? p.token]) };
  },
};

/** @param {HTMLInputElement} input @param {number} by @param {Context} context */
function merges(input, by, context) {
  const [at, most] = [Math.max(0, Math.min(Number(input.max), Number(input.value) + by)), Number(input.max)];
  context.look({ merge: at === most ? null : at });
}

/** @param {HTMLElement} element @param {World} world @param {Context} context */
function tabs(element, world, context) {
  const count = read.requestCount(world);
  element.hidden = count < 2;
  list(element, Array.from({ length: element.hidden ? 0 : count }), (_, i) => i, (_, i) => h("button", { type: "button", "aria-label": msg`Look at request ${requestName(i)}`, onclick: () => context.look({ request: i, lock: null }) }, requestName(i)), (button, _, i) => {
    set(button, "aria-pressed", String(i === read.request(world)));
  });
}

/** A column a character: its text, the pieces that make it, their ids. It is never parted at the end of a line.
 * @param {HTMLElement} element @param {Piece[]} pieces @param {import("../lib/setup/pieces.mjs").Character[]} characters */
function units(element, pieces, characters) {
  list(element, characters, (_, i) => i, () => h("li", null, h("span", { class: "cut-from", dir: "auto" }), h("span", { class: "cut-pieces" })), (li, c) => {
    const own = pieces.slice(c.from, c.to);
    set(li, "class", `${own.length > 1 ? "several" : ""}${c.whole ? "" : " broken"}` || null);
    set(li, "title", own.length > 1 ? makes(c) : own[0].unknown ? msg`${shown(own[0].unknown)} is not in the vocabulary` : null);
    text(li.firstElementChild, own[0].special ? "" : shown(c.text || (own[0].unknown ?? own[0].token)).replaceAll("‹U+000A›", "↵"));
    list(li.lastElementChild, own, (_, i) => i, () => h("span", { class: "cut-piece" }, h("b", { dir: "auto" }), h("small")), (span, p) => {
      set(span, "class", `cut-piece${p.special ? " special" : ""}${p.unknown ? " unknown" : ""}${p.fresh ? " fresh" : ""}`);
      text(span.firstElementChild, bare(p.token));
      text(span.lastElementChild, String(p.id));
    });
  });
}

/** @param {any} element @param {number} most @param {number} at @param {boolean} has */
function ranged(element, most, at, has) {
  set(element, "hidden", !has);
  const [, back, input, on, said] = element.children;
  set(input, "max", String(most));
  if (Number(input.value) !== at) input.value = String(at);
  set(input, "disabled", !most);
  set(back, "disabled", !at);
  set(on, "disabled", at === most);
  text(said, `${at}/${most}`);
}

/** @param {HTMLElement} element @param {World} world @param {Context} context */
function rows(element, world, context) {
  const all = /** @type {Beside[]} */ (world.opened?.task?.tokenizer?.beside ?? []);
  const able = world.role === "writer" && world.connection === "open";
  const at = read.request(world);
  list(element, all, (b) => b.task, () => h("tr", null, h("th", { scope: "row" }, h("button", { type: "button" })), h("td"), h("td"), h("td")), (tr, b) => {
    const [name, count, size, bits] = tr.children;
    const own = b.task === world.opened.scenario.task;
    const unknown = b.unknown[at]?.length ?? 0;
    set(tr, "class", own ? "on" : null);
    text(name.firstElementChild, kindName(b.kind));
    set(name.firstElementChild, "aria-pressed", String(own));
    set(name.firstElementChild, "disabled", !able);
    name.firstElementChild.onclick = () => own || context.send({ kind: "change", fields: { task: b.task } });
    text(count, unknown ? msg`${b.pieces[at] ?? 0}, ${unknown} unknown` : String(b.pieces[at] ?? 0));
    set(count, "class", unknown ? "unknown" : null);
    set(count, "title", unknown ? b.unknown[at].slice(0, 8).map(shown).join("  ") : null);
    text(size, b.vocabulary.toLocaleString("en"));
    text(bits, b.measured.bits !== undefined ? figure(b.measured.bits, 2) : b.measured.unknown !== undefined ? msg`${percent(b.measured.unknown)} unknown` : "–");
    set(bits, "title", b.measured.bits !== undefined ? msg`Measured on held-out texts, with their end: what the shipped weights of this architecture pay for a character. Fewer is better, whatever a piece is.` : b.measured.unknown !== undefined ? msg`That share of held-out words is unknown, so that no number of bits tells which word it was` : msg`Not measured for the weights of this architecture`);
  });
}
