// @ts-check
/** What is said of a distribution: its candidates, what stands beside them unedited, and the output so far. Pure. */

import { writes } from "../answers.mjs";
import { counted, msg, parts } from "../language.mjs";
import { cut, divergence, ranked, tempered } from "./policy.mjs";
import * as read from "../reads.mjs";
import { figure, number, probability, shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("./policy.mjs").Policy} Policy */
/**
 * @typedef {object} Candidate
 * @property {number} id @property {string} token @property {number} logit
 * @property {number} probability under the temperature, before the cuts @property {number} drawn after them; 0 where cut off
 * @property {number | null} unedited the same without edits; null where nothing is edited
 * @property {boolean} lead Step takes it @property {boolean} cut sampling leaves it out
 */

/** The policy in a few words: "greedy, T 1", "sample, T 0.7, top 5, p 0.9".
 * @param {any} policy */
export function policyName(policy) {
  if (!policy) return "";
  if (policy.kind === "beam") return msg`beam ${policy.width}, α ${policy.length_penalty}`;
  const cuts = policy.kind === "greedy" ? [] : [policy.top_k ? msg`top ${policy.top_k}` : "", policy.top_p < 1 ? `p ${policy.top_p}` : ""].filter(Boolean);
  return [policy.kind === "greedy" ? msg`greedy` : msg`sample`, `T ${policy.temperature}`, ...cuts].join(", ");
}

/** All words of the vocabulary with their numbers, the most probable first; none where nothing is decided here.
 * @param {any} view a RequestView @param {string[]} words @param {Policy} policy the one to show @param {boolean} [draft] it is not in force yet
 * @param {number[] | null} [ahead] with which tokens a beam keeps it
 * @returns {Candidate[]} */
export function distribution(view, words, policy, draft = false, ahead = null) {
  if (!view?.logits) return [];
  const p = tempered(view.logits, policy.temperature);
  const drawn = cut(p, policy);
  const plain = view.unedited?.logits ? tempered(view.unedited.logits, policy.temperature) : null;
  const order = ranked(p);
  const lead = draft ? (policy.kind === "greedy" ? order[0] : -1) : ahead ? null : view.choice;
  return order.map((id) => ({
    id, token: words[id] ?? String(id), logit: view.logits[id], probability: p[id], drawn: drawn[id], unedited: plain?.[id] ?? null,
    lead: ahead && !draft ? ahead.includes(id) : id === lead, cut: policy.kind === "sample" && drawn[id] === 0,
  }));
}

/** The rows of the list: the most probable, always with what Step takes and what it would take unedited among them. With a query, the words that
 * begin with it, then those that hold it.
 * @param {Candidate[]} all @param {number} limit @param {string} [query] @param {number | null} [plain] the unedited choice */
export function listed(all, limit, query = "", plain = null) {
  const text = query.trim().toLowerCase();
  if (text) {
    const at = (/** @type {Candidate} */ c) => c.token.toLowerCase().indexOf(text);
    return [...all.filter((c) => at(c) === 0), ...all.filter((c) => at(c) > 0)].slice(0, limit);
  }
  const top = all.slice(0, limit);
  const wanted = all.filter((c, rank) => rank >= limit && (c.lead || c.id === plain));
  return [...top.slice(0, limit - wanted.length), ...wanted];
}

/** How many words are left after the cuts, and what they hold together: null where nothing is cut.
 * @param {Candidate[]} all @param {Policy} policy */
export function kept(all, policy) {
  if (policy.kind !== "sample" || !all.some((c) => c.cut)) return null;
  const left = all.filter((c) => !c.cut);
  return { count: left.length, share: left.reduce((sum, c) => sum + c.probability, 0) };
}

/** The line under the list: what Step does, or how the request ended, in pieces: words, and the token that is taken.
 * @param {any} view @param {{fixed?: boolean, broken?: boolean, held?: boolean, chosen?: string}} [so] fixed: nothing else can be chosen (a recording, or one
 * follows a class); broken: its numbers are none; held: a question is open; chosen: what was chosen here before, on the line that Step follows @returns {(string | {token: string})[]} */
export function outcome(view, { fixed = false, broken = false, held = false, chosen = "" } = {}) {
  if (broken) return [msg`There is no distribution to choose from. Go back, or take the edit back.`];
  const lead = view && !view.output && !view.finished && read.choice(view);
  if (!lead) return [ended(view)];
  const taken = { token: shown(lead.token) };
  if (chosen) return parts`Step follows this line to ${{ token: shown(chosen) }}, as chosen. The policy takes ${taken}.`;
  if (held) return parts`Step takes ${taken}, once the question is answered.`;
  return fixed ? parts`The policy takes ${taken}.` : parts`Step takes ${taken}. Click another word to branch; this path is kept.`;
}

/** @param {any} view that takes nothing next @returns {string} */
function ended(view) {
  if (!view) return "";
  if (view.output) return view.answers.length ? msg`It says the most probable. Nothing is drawn or fed back.` : msg`No word is masked. Put <mask> in place of one.`;
  if (view.finished === "eos") return msg`It ended with <eos>. Back, or a click on an earlier moment, goes on from there.`;
  if (view.finished === "limit") return msg`It stopped at the limit. A larger limit lets it go on.`;
  return msg`Step computes the first distribution.`;
}

/** What was decided so far, token by token, with log p of each (nats, the model's own distribution).
 * @param {any} view @returns {{token: string, logP: number}[]} */
export function factors(view) {
  const own = (view?.target ?? []).filter((/** @type {any} */ r) => r.origin === "model" || r.origin === "chosen");
  return own.flatMap((/** @type {any} */ r, /** @type {number} */ i) => (view.log_p && i < view.log_p.length ? [{ token: r.token, logP: view.log_p[i] }] : []));
}

/** Probability of everything decided so far, with what it covers, and that in few words. It is the model's own, whatever the temperature.
 * @param {any} view */
export function whole(view) {
  const count = factors(view).length;
  if (!count) return { value: "", unedited: "", covers: msg`nothing is decided yet`, brief: msg`nothing yet` };
  const tokens = (/** @type {number} */ n) => counted(n, "{0} token", "{0} tokens");
  const covers = view.finished === "eos" ? msg`${tokens(count - 1)} and <eos>` : msg`${tokens(count)}, no <eos>`;
  const brief = view.finished === "eos" ? `${count - 1} + <eos>` : tokens(count);
  const said = (/** @type {any} */ logP) => probability(Math.exp(number(logP)));
  return { value: said(view.log_probability), unedited: view.unedited ? said(view.unedited.log_probability) : "", covers, brief };
}

/** The factors in one line: "le −0.02 + chat −0.14 = −0.16 nats".
 * @param {any} view */
export function factorLine(view) {
  const all = factors(view);
  if (!all.length) return "";
  return `${all.map((f) => `${shown(f.token)} ${figure(f.logP, 2)}`).join(" + ")} = ${msg`${figure(number(view.log_probability), 2)} nats`}`;
}

/** As much of the end of that line as so many characters hold: the newest factors and the sum.
 * @param {any} view @param {number} room @returns {string} */
export function factorTail(view, room) {
  const all = factorLine(view).split(" + ");
  const from = (/** @type {number} */ i) => (i ? "… " : "") + all.slice(i).join(" + ");
  const fitting = [...all.keys()].map(from).find((said) => said.length <= room);
  return fitting ?? from(all.length - 1).replace(/ \p{L}+$/u, ""); // its unit stands in the title
}

/** What is left away in "unedited", in words. @param {string[]} without */
export function unedited(without) {
  if (without.length > 1) return msg`without edits and your masks`;
  return without[0] === "masks" ? msg`without your masks` : msg`without edits`;
}

/** What stands beside a changed distribution, in words; null where nothing is edited or decided.
 * @param {any} view @param {string[]} words @param {Policy} policy the one to show */
export function beside(view, words, policy) {
  const plain = view?.unedited;
  if (!plain?.logits || !view.logits) return null;
  const p = tempered(plain.logits, policy.temperature);
  const kl = divergence(view.logits, plain.logits, policy.temperature);
  return {
    left: unedited(plain.without), token: shown(words[plain.choice] ?? ""), probability: probability(p[plain.choice]), kl: figure(kl),
    changed: plain.choice !== view.choice, choice: plain.choice,
  };
}

/** A difference of two probabilities: "+.120", "−.003", "+4e-5", "0". @param {number} value */
export function difference(value) {
  if (!value) return "0";
  const said = Math.abs(value) < 0.0005 ? Math.abs(value).toExponential(0) : Math.abs(value).toFixed(3).replace(/^0/, "");
  return `${value > 0 ? "+" : "−"}${said}`;
}

/** The distribution as a table. @param {World} world @returns {import("../types").Table} */
export function asTable(world) {
  const view = read.requestView(world);
  const policy = writes(world) ? world.opened?.scenario?.policy : /** @type {Policy} */ ({ kind: "greedy", temperature: 1, top_k: null, top_p: 1 });
  const all = policy && world.opened ? distribution(view, world.opened.vocabulary.target, policy) : [];
  return {
    columns: [msg`token`, "id", "logit", msg`probability`, msg`after top-k and top-p`, msg`unedited`, msg`difference`, msg`taken`],
    rows: all.map((c) => [c.token, c.id, c.logit, c.probability, c.drawn, c.unedited, c.unedited === null ? null : c.probability - c.unedited, c.lead]),
  };
}
