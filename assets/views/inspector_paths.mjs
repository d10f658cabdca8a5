// @ts-check
/** The paths that collapse to what the frames say: the best of them, all of them together by the forward algorithm, and the label beside. */

import { label } from "../lib/answers.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { bestPaths, differences, pathCount, textLog } from "../lib/picture/ctc.mjs";
import { headSelector, labelNames, logsOf } from "../lib/picture/heads.mjs";
import { bestPath, named, runs, spoken } from "../lib/picture/labels.mjs";
import { isLabelled } from "../lib/picture/source.mjs";
import * as read from "../lib/reads.mjs";
import { figure, probability } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */
/** said, whole: of a path, in short and in full; share: of all paths that spell the text. @typedef {{said: string, whole: string, log: number, share: number}} Line */
/** other: the label, where it is another text. @typedef {{spelt: string, lines: Line[], all: number, count: number, other: {spelt: string, log: number} | null}} Paths */

const NAME = "inspector_paths";
const SHOWN = 4;

/** Pure. @param {number[][]} logs log p of each frame and label @param {string[]} names @param {string[]} given the label's tokens, or none @returns {Paths | null} */
export function paths(logs, names, given) {
  if (!logs.length) return null;
  const first = bestPath(logs);
  const said = spoken(first).map((run) => run.label);
  const all = textLog(logs, said);
  const lines = bestPaths(logs, said, SHOWN).map(({ path, log }, i) => ({ said: i ? apart(first, path, names) : runs(path, names), whole: runs(path, names), log, share: Math.exp(log - all) }));
  const wanted = given.map((token) => names.indexOf(token));
  const other = given.length && !wanted.includes(-1) && wanted.join() !== said.join() ? { spelt: given.join(""), log: textLog(logs, wanted) } : null;
  return { spelt: said.map((v) => names[v]).join("") || "∅", lines, all, count: pathCount(logs.length, said), other };
}

/** Where a path leaves the best one: "frame 12: ∅ → 4". @param {number[]} best @param {number[]} path @param {string[]} names */
function apart(best, path, names) {
  const found = differences(best, path);
  const each = found.slice(0, 2).map(({ from, to, was, is }) => `${from === to ? from : `${from}–${to}`}: ${named(was, names)} → ${named(is, names)}`);
  return each.join(", ") + (found.length > 2 ? " …" : "");
}

/** @param {World} world */
const here = (world) => paths(logsOf(world, NAME, 0), labelNames(world), label(world, read.request(world)).split(" ").filter(Boolean));

/** @param {number} n */
const many = (n) => (n < 1e6 ? n.toLocaleString("en") : n.toExponential(1).replace("+", ""));

/** The rows of the table: best paths, all others, the sum, the label. @param {Paths} found @returns {{said: string, whole: string, log: number, share: string, kind: string}[]} */
function rows({ lines, all, count, other, spelt }) {
  const top = lines.map((l, i) => ({ ...l, share: probability(l.share), kind: i ? "" : "best" }));
  const rest = Math.max(0, 1 - lines.reduce((sum, l) => sum + l.share, 0)), left = Math.max(0, count - lines.length);
  const others = { said: left ? msg`${many(left)} others` : msg`no others`, whole: "", log: left && rest > 1e-12 ? all + Math.log(rest) : NaN, share: left ? probability(rest) : "", kind: "dim" };
  const sum = { said: msg`all paths`, whole: msg`${spelt}: the sum of all its paths, by the forward algorithm`, log: all, share: "1", kind: "sum" };
  const blank = { said: "", whole: "", log: NaN, share: "", kind: "empty" };
  const another = other ? { said: msg`label ${other.spelt}, all`, whole: msg`${other.spelt}: the sum of all its paths, by the forward algorithm`, log: other.log, share: "", kind: "label" } : blank;
  return [...top, ...Array(SHOWN - top.length).fill(blank), others, sum, another];
}

/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "Paths that spell a text",
  slot: "checks",
  phases: ["prefill"],
  applies: isLabelled,
  wants: (world) => [headSelector(world)],

  mount(element) {
    element.append(h("div", { class: "insp paths" },
      h("div", { class: "hh" }, h("h2", { class: "h" }, h("span"), " ", h("b", { class: "mono c-d" })), h("span", { class: "note" })),
      h("table", { class: "which" }, h("thead", null, h("tr", null, h("th", { scope: "col" }, msg`path`), h("th", { scope: "col" }, msg`log p`, h("i", { class: "pv f" })), h("th", { scope: "col" }, msg`of all`, h("i", { class: "pv f" })))), h("tbody")),
      h("p", { class: "note" })));
  },

  draw(element, world) {
    const [head, table, note] = /** @type {any} */ (element.firstElementChild).children;
    const found = here(world);
    text(head.firstChild.firstChild, found ? msg`Paths that spell` : msg`Paths that spell a text`);
    text(head.firstChild.lastChild, found?.spelt ?? "");
    text(head.lastChild, found ? (found.count === 1 ? msg`1 path` : msg`${many(found.count)} paths`) : "");
    const empty = Array.from({ length: SHOWN + 3 }, () => ({ said: "", whole: "", log: NaN, share: "", kind: "empty" }));
    list(table.lastChild, found ? rows(found) : empty, (_, i) => i, () => h("tr", null, h("td"), h("td", { class: "mono" }), h("td", { class: "mono" })), (tr, l) => {
      set(tr, "class", l.kind || null);
      [l.said, Number.isFinite(l.log) ? figure(l.log, 4) : l.kind === "label" ? "−∞" : "", l.share].forEach((said, i) => text(tr.children[i], said));
      set(tr.firstChild, "title", l.whole || null);
    });
    text(note, found ? msg`A path is a label or blank at every frame. p(${found.spelt}) = ${probability(Math.exp(found.all))} is the sum over all its paths.` : msg`The frames are not read yet.`);
  },

  table(world) {
    const found = here(world);
    return { columns: [msg`path`, msg`log p`, msg`share`], rows: found ? [...found.lines.map((l) => [l.whole, l.log, l.share]), [msg`all paths`, found.all, 1], ...(found.other ? [[msg`label ${found.other.spelt}, all`, found.other.log, null]] : [])] : [] };
  },
};
