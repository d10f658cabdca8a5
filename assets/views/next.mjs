// @ts-check
/** The decision: the distribution that the deciding row owns. Another token is chosen by a click, which makes a branch. */

import { h, list, set, text } from "../lib/dom.mjs";
import * as read from "../lib/reads.mjs";
import { number, plural, probability, requestName, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */

const SHOWN = 8;

/** The policy in a few words: "greedy, T 1", "sample, T 0.7, top 5, p 0.9".
 * @param {any} policy */
export function policyName(policy) {
  if (!policy) return "";
  const cuts = [policy.top_k ? `top ${policy.top_k}` : "", policy.top_p < 1 ? `p ${policy.top_p}` : ""].filter(Boolean);
  return [policy.kind, `T ${policy.temperature}`, ...cuts].join(", ");
}

/** The rows of the list: the largest candidates, always with the choice among them, and what is left.
 * `cut` says that sampling leaves this token out (top-k, top-p).
 * @param {any} view a RequestView @param {number} vocabulary @param {any} policy @param {number} [limit] */
export function distribution(view, vocabulary, policy, limit = SHOWN) {
  const all = view?.candidates ?? [];
  const top = all.slice(0, limit);
  const chosen = all.findIndex((/** @type {any} */ c) => c.id === view.choice);
  if (chosen >= limit) top[limit - 1] = all[chosen];
  const candidates = top.map((/** @type {any} */ c) => ({
    id: c.id, token: c.token, probability: number(c.probability), lead: c.id === view.choice, cut: policy?.kind === "sample" && c.policy_probability === 0,
  }));
  const sum = candidates.reduce((/** @type {number} */ a, /** @type {any} */ c) => a + c.probability, 0);
  return { candidates, others: Math.max(0, vocabulary - candidates.length), rest: Math.max(0, 1 - sum) };
}

/** The line under the list: what Step does, or how the request ended.
 * @param {any} view */
export function outcome(view) {
  if (!view) return "";
  if (view.finished === "eos") return "It ended with <eos>. Back, or a click on an earlier moment, goes on from there.";
  if (view.finished === "limit") return "It stopped at the limit. A larger limit lets it go on.";
  const lead = read.choice(view);
  return lead ? `Step takes ${shown(lead.token)}. Click another word to branch; this path is kept.` : "Step computes the first distribution.";
}

/** Probability of everything decided so far, with what it covers.
 * @param {any} view */
export function whole(view) {
  const written = view?.target?.filter((/** @type {any} */ r) => r.origin === "model" || r.origin === "chosen").length ?? 0;
  if (!written) return { value: "", covers: "nothing is decided yet" };
  const covers = view.finished === "eos" ? `${plural(written - 1, "token")} and <eos>` : `${plural(written, "token")}, without <eos>`;
  return { value: probability(Math.exp(number(view.log_probability))), covers };
}

/** @type {import("../lib/types").View} */
export default {
  id: "next",
  title: "Next token",
  slot: "next",
  phases: ["prefill", "decode"],
  wants: () => [],

  mount(element) {
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h" }, "Next token"), h("span", { class: "sp" }), h("span", { class: "note mono", "data-part": "policy" })),
      h("div", { class: "cands", role: "group", "aria-label": "Tokens by probability", "data-part": "list" }),
      h("div", { class: "cand rest" }, h("span", { class: "w" }), h("span"), h("span", { class: "n" })),
      h("p", { class: "note whole" }, "Whole output so far ", h("b", { class: "mono c-d" }), h("i", { class: "pv f", title: "formula: the product of what was chosen" }), h("span")),
      h("div", { class: "others", role: "group", "aria-label": "The other requests" }),
      h("p", { class: "note outcome" }),
    );
  },

  table(world) {
    const view = read.requestView(world);
    return {
      columns: ["id", "token", "logit", "probability", "probability under the policy"],
      rows: (view?.candidates ?? []).map((/** @type {any} */ c) => [c.id, c.token, c.logit, c.probability, c.policy_probability]),
    };
  },

  draw(element, world, context) {
    const [head, cands, rest, total, others, hint] = /** @type {any} */ (element.children);
    const view = read.requestView(world);
    const vocabulary = world.opened?.vocabulary?.target?.length ?? 0;
    const shares = distribution(view, vocabulary, world.opened?.scenario?.policy);
    const may = world.role === "writer" && world.connection === "open" && !!view && !view.finished;
    text(head.lastElementChild, policyName(world.opened?.scenario?.policy));
    const places = Array.from({ length: SHOWN }, (_, i) => shares.candidates[i] ?? null);
    list(cands, places, (_, i) => i, candidate, (button, c) => fill(button, c, may, () => choose(world, context, c)));
    text(rest.children[0], shares.candidates.length && shares.others ? plural(shares.others, "other") : "");
    text(rest.children[2], shares.candidates.length && shares.others ? probability(shares.rest) : "");
    const output = whole(view);
    text(total.children[0], output.value);
    total.children[1].hidden = !output.value;
    text(total.children[2], ` ${output.covers}`);
    otherRequests(others, world, context);
    text(hint, read.before(world, "logits") ? "The operations have not come to the distribution yet." : outcome(view));
  },
};

/** @returns {HTMLElement} */
const candidate = () => h("button", { class: "cand", type: "button" }, h("span", { class: "w" }), h("span", { class: "bar" }, h("i")), h("span", { class: "n" }), h("span", { class: "sr" }));

/** @param {any} button @param {any} c @param {boolean} may @param {() => void} onclick */
function fill(button, c, may, onclick) {
  set(button, "class", `cand${c?.lead ? " lead" : ""}${c?.cut ? " cut" : ""}${c ? "" : " none"}`);
  set(button, "disabled", !c || !may);
  set(button, "aria-pressed", c ? String(c.lead) : null);
  text(button.children[3], c ? ` is its probability${c.cut ? ", cut off by the policy" : ""}${c.lead ? ", taken by Step" : ""}` : "no candidate yet");
  set(button, "title", c?.cut ? "cut off by top-k or top-p; a click takes it all the same" : null);
  text(button.children[0], c ? shown(c.token) : "");
  const width = c ? `${Math.max(0, Math.min(1, c.probability)) * 100}%` : "0";
  const bar = button.children[1].firstElementChild;
  if (bar.style.width !== width) bar.style.width = width;
  text(button.children[2], c ? probability(c.probability) : "");
  button.onclick = c ? onclick : null;
}

/** @param {World} world @param {import("../lib/types").Context} context @param {any} c */
const choose = (world, context, c) => context.send({ kind: "choose", request: read.request(world), token: c.id });

/** Where there are several requests: what each of the others decides, and from which row.
 * @param {HTMLElement} element @param {World} world @param {import("../lib/types").Context} context */
function otherRequests(element, world, context) {
  const all = read.requests(world);
  const items = all.length < 2 ? [] : all.map((/** @type {any} */ view, /** @type {number} */ i) => ({ view, i })).filter((/** @type {any} */ o) => o.i !== read.request(world));
  list(element, items, (o) => o.i, () => h("button", { class: "link other", type: "button" }, h("b"), h("span"), h("b", { class: "mono c-d" }), h("span", { class: "n mono" })), (button, o) => {
    const lead = read.choice(o.view);
    const row = o.view.decision_row;
    text(button.children[0], requestName(o.i));
    text(button.children[1], o.view.finished ? ` finished (${o.view.finished})` : row === null ? " waits" : ` row ${row} ${shown(o.view.target[row]?.token ?? "")} →`);
    text(button.children[2], lead && !o.view.finished ? shown(lead.token) : "");
    text(button.children[3], lead && !o.view.finished ? probability(lead.probability) : "");
    set(button, "title", `Look at request ${requestName(o.i)}`);
    button.onclick = () => context.look({ request: o.i, lock: null });
  });
}
