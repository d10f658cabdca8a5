// @ts-check
/** How probable a text is that a person gives: log p of each token, teacher-forced, and of <eos>; their sum. Measured when asked for. */

import { writes } from "../lib/answers.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { ofRequest } from "../lib/map/gold.mjs";
import * as read from "../lib/reads.mjs";
import { textOf } from "../lib/setup/together.mjs";
import { figure, number, probability, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** What was asked: the text, and what the answer depends on. @typedef {{asked: string, running: boolean, problem: string}} Own */

/** @type {WeakMap<HTMLElement, Own>} */
const owns = new WeakMap();
const NAME = "score_text";

/** What an answer depends on beside the text: where one of these changes, it is an answer about something else. Pure. @param {World} world */
const depends = (world) => {
  const { architecture, config, task, seed, weights, requests, masks, edits } = world.opened?.scenario ?? {};
  return JSON.stringify([architecture, config, task, seed, weights, requests, masks, edits, world.moved?.updates, read.request(world)]);
};

/** Each token with its number, and the word that was more probable, if any. Pure.
 * @param {any} result @param {string[]} words of the target vocabulary */
export const tokens = (result, words) =>
  result.tokens.map((/** @type {string} */ token, /** @type {number} */ i) => ({
    token, logP: number(result.log_p[i]), rank: result.rank[i],
    best: result.rank[i] > 1 ? msg`${result.rank[i] - 1} more probable; most of all ${shown(words[result.best[i]] ?? "")}, log p ${figure(number(result.best_log_p[i]), 2)}` : "",
  }));

/** What the whole covers, and its probability. Pure. @param {any} result */
export const sum = (result) => {
  return msg`p ${probability(Math.exp(number(result.total)))} with <eos>`;
};

/** What is said of words that the vocabulary does not have. Pure. @param {string[]} unknown */
export const unknownWords = (unknown) => (unknown.length ? msg`Not in the vocabulary, scored as <unk>: ${unknown.join(", ")}.` : "");

/** @type {import("../lib/types").View} */
export default {
  id: "score",
  title: "Score a text",
  slot: "next",
  phases: ["prefill", "decode"],
  applies: (world) => world.look.decision === "score" && writes(world),
  wants: () => [],

  mount(element, context) {
    owns.set(element, { asked: "", running: false, problem: "" });
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h" }, msg`Score a text`), h("span", { class: "sp" }),
        h("button", { class: "link", type: "button", onclick: () => context.look({ decision: "next" }) }, msg`Next token`)),
      h("form", { class: "row" }, h("input", { class: "number text", type: "text", maxlength: 4000, spellcheck: "false", autocomplete: "off", "aria-label": msg`Text to score` }), h("button", { class: "btn sm" }, msg`Score`)),
      h("p", { class: "note problem", role: "alert" }),
      h("ul", { class: "factors-list", tabindex: 0, "aria-label": msg`log p by token` }),
      h("p", { class: "note unknown" }),
      h("p", { class: "note score-sum" }, h("b", { class: "mono" }), h("i", { class: "pv m", title: msg`measured` }), h("span")),
      h("p", { class: "note walk" }, h("span"), h("button", { class: "btn sm", type: "button", hidden: true, title: msg`Take these tokens one by one in Decode: each keeps its number` }, msg`Step through it`)),
    );
    const form = /** @type {any} */ (element.querySelector("form"));
    form.onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      void ask(element, form.elements[0].value, context);
    };
  },

  draw(element, world, context) {
    const own = /** @type {Own} */ (owns.get(element));
    worlds.set(element, world);
    const [, form, problem, ul, unknown, line, hint] = /** @type {any} */ (element.children);
    const able = world.role === "writer" && world.connection === "open";
    const gold = textOf(world.opened, ofRequest(world)?.target ?? []);
    set(form.elements[0], "placeholder", gold || msg`a text of the target`);
    for (const control of form.elements) set(control, "disabled", !able || own.running);
    text(problem, own.problem);
    hide(problem, !own.problem);
    const result = own.asked === depends(world) && !own.running && !own.problem ? world.analysis[NAME]?.result : null;
    factors(ul, result ? tokens(result, world.opened.vocabulary.target) : []);
    hide(unknown, !result?.unknown.length);
    text(unknown, result ? unknownWords(result.unknown) : "");
    hide(line, !result);
    text(line.firstElementChild, result ? msg`${figure(number(result.total), 2)} nats` : "");
    text(line.lastElementChild, result ? sum(result) : "");
    text(hint.firstElementChild, result ? "" : asks(world));
    hide(hint.lastElementChild, !result);
    set(hint.lastElementChild, "disabled", !able);
    hint.lastElementChild.onclick = () => void walked(result, context);
  },

  table(world) {
    const result = world.analysis[NAME]?.result;
    const all = result ? tokens(result, world.opened.vocabulary.target) : [];
    return { columns: [msg`token`, msg`log p (nats)`, msg`rank`], rows: all.map((/** @type {any} */ t) => [t.token, t.logP, t.rank]) };
  },
};

/** The world of the last draw. @type {WeakMap<HTMLElement, World>} */
const worlds = new WeakMap();

/** One line a token: its bar is as long as it is improbable. @param {any} element @param {ReturnType<typeof tokens>} all */
function factors(element, all) {
  const most = Math.max(1, ...all.map((/** @type {any} */ t) => -t.logP).filter(Number.isFinite));
  list(element, all, (_, i) => i, () => h("li", null, h("span", { class: "mono w" }), h("span", { class: "bar" }, h("i")), h("span", { class: "mono n" }), h("span", { class: "rank" })), (li, t) => {
    text(li.children[0], shown(t.token));
    li.children[1].firstElementChild.style.width = `${Math.min(100, (-t.logP / most) * 100)}%`;
    text(li.children[2], figure(t.logP, 2));
    text(li.children[3], t.rank > 1 ? `#${t.rank}` : "");
    set(li, "title", t.best || null);
  });
}

/** What will be measured. @param {World} world */
function asks(world) {
  const known = (world.opened?.scenario?.requests?.[read.request(world)]?.target.length ?? 0) > 0;
  const given = world.opened?.vocabulary.source ? (known ? msg`given this source and the known target` : msg`given this source`) : msg`given this prompt`;
  return msg`The probability of a text ${given}: each token is given, whatever the model would take. <eos> counts.`;
}

/** An empty field scores what stands in it: the right answer where one is known. @param {HTMLElement} element @param {string} typed @param {Context} context */
async function ask(element, typed, context) {
  const own = /** @type {Own} */ (owns.get(element));
  const world = /** @type {World} */ (worlds.get(element));
  const request = read.request(world);
  const target = typed.trim() ? typed : textOf(world.opened, ofRequest(world)?.target ?? []);
  Object.assign(own, { asked: depends(world), running: true, problem: "" });
  const reply = await context.send({ kind: "analyse", name: NAME, arguments: { request, text: target } });
  Object.assign(own, { running: false, problem: reply.ok ? "" : reply.errors.map((e) => e.message).join(" ") });
  element.dispatchEvent(new Event("box"));
}

/** From the start of decode, each token as if a person had clicked it. @param {any} result @param {Context} context */
async function walked(result, context) {
  await context.send({ kind: "enter", phase: "decode" });
  for (const token of result.ids) if (!(await context.send({ kind: "choose", request: result.request, token })).ok) return;
}
