// @ts-check
/** The controls of the policy: while one is dragged the distribution follows on the page; when it is let go it takes effect. */

import { h, hide, set, text } from "../dom.mjs";
import { counted, msg } from "../language.mjs";
import { percent } from "../words.mjs";

/** @typedef {import("./policy.mjs").Policy} Policy */

const MOST_LIMIT = 128;
/** Sliders of a beam; the others belong to a distribution. */
const BEAM = new Set(["width", "length_penalty"]);
/** Where the slider of top-k can stand: every small number, then wider; past the vocabulary it means all. */
const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 80, 120, 200, 500, 1000];

/** What each slider's position means, and where it stands for a policy. Pure.
 * @type {Record<string, {low: number, high: (vocabulary: number) => number, value: (at: number, vocabulary: number) => any, at: (policy: Policy, vocabulary: number) => number, said: (policy: Policy) => string}>} */
export const SLIDERS = {
  temperature: { low: -20, high: () => 20, value: (at) => Number((10 ** (at / 20)).toPrecision(2)), at: (p) => Math.round(20 * Math.log10(p.temperature)), said: (p) => String(p.temperature) },
  top_k: { low: 0, high: (v) => places(v), value: (at, v) => (at >= places(v) ? null : COUNTS[at]), at: (p, v) => COUNTS.slice(0, places(v)).filter((n) => n < (p.top_k ?? Infinity)).length, said: (p) => (p.top_k === null ? msg`all` : String(p.top_k)) },
  top_p: { low: 1, high: () => 100, value: (at) => at / 100, at: (p) => Math.round(p.top_p * 100), said: (p) => String(p.top_p) },
  width: { low: 1, high: () => 8, value: (at) => at, at: (p) => p.width, said: (p) => String(p.width) },
  length_penalty: { low: 0, high: () => 20, value: (at) => at / 10, at: (p) => Math.round(p.length_penalty * 10), said: (p) => String(p.length_penalty) },
  limit: { low: 1, high: () => MOST_LIMIT, value: (at) => at, at: (p) => p.limit, said: (p) => String(p.limit) },
};

/** @param {number} vocabulary positions before "all" */
const places = (vocabulary) => COUNTS.filter((n) => n < vocabulary).length;

const titles = () => ({
  temperature: ["T", msg`Temperature: logits are divided by it`], top_k: ["top-k", msg`At most so many words can be drawn`],
  width: [msg`width`, msg`So many hypotheses are kept`], length_penalty: ["α", msg`Length penalty: 0 compares log P itself, more favours longer texts`],
  top_p: ["top-p", msg`The smallest set of words that reaches this probability can be drawn`], limit: [msg`limit`, msg`A request ends after so many tokens`],
});

/** @param {(policy: Policy) => void} show a policy that is not in force yet @param {(policy: Policy) => void} take it is let go
 * @returns {any} */
export function policybar(show, take) {
  const bar = h("div", { class: "policybar", role: "group", "aria-label": msg`How a token is taken` });
  const next = (/** @type {Partial<Policy>} */ change) => ({ .../** @type {any} */ (bar).policy, ...change });
  const kinds = [["greedy", msg`greedy`, msg`Take the most probable word`], ["sample", msg`sample`, msg`Draw a word by its probability; the draw is keyed by the seed`], ["beam", msg`beam`, msg`Keep several hypotheses; the best whole text wins`]];
  bar.append(h("div", { class: "row" },
    h("div", { class: "seg", role: "group", "aria-label": msg`Greedy, sampling or beam` },
      kinds.map(([kind, name, title]) => h("button", { type: "button", "data-kind": kind, title, onclick: () => take(next({ kind: /** @type {any} */ (kind) })) }, name))),
    h("span", { class: "note kept" })));
  for (const [name, [label, title]] of Object.entries(titles())) {
    const input = h("input", { type: "range", step: 1, "aria-label": title, "data-policy": name });
    const read = () => next({ [name]: SLIDERS[name].value(Number(input.value), /** @type {any} */ (bar).vocabulary) });
    input.oninput = () => show(read());
    input.onchange = () => take(read());
    bar.append(h("label", { class: "slide", title }, h("span", null, label), input, h("output", { class: "mono" })));
  }
  return bar;
}

/** @param {any} bar from `policybar` @param {Policy} policy shown @param {number} vocabulary @param {boolean} able
 * @param {{count: number, share: number} | null} kept what the cuts leave */
export function drawPolicybar(bar, policy, vocabulary, able, kept) {
  Object.assign(bar, { policy, vocabulary });
  for (const button of bar.querySelectorAll("[data-kind]")) {
    set(button, "aria-pressed", String(button.dataset.kind === policy.kind));
    set(button, "disabled", !able);
  }
  text(bar.querySelector(".kept"), policy.kind === "greedy" ? msg`the largest alone` : policy.kind === "beam" ? msg`the best whole text` : kept ? msg`${counted(kept.count, "{0} word", "{0} words")} of ${percent(kept.share)}` : msg`all words`);
  for (const input of bar.querySelectorAll("[data-policy]")) {
    const name = input.dataset.policy;
    const slider = SLIDERS[name];
    set(input, "min", slider.low);
    set(input, "max", slider.high(vocabulary));
    const at = String(slider.at(policy, vocabulary));
    if (input.value !== at) input.value = at;
    hide(input.parentElement, (policy.kind === "beam") !== BEAM.has(name) && name !== "limit");
    set(input, "disabled", !able || (policy.kind === "greedy" && name.startsWith("top")));
    set(input, "aria-valuetext", slider.said(policy));
    text(input.nextElementSibling, slider.said(policy));
  }
}
