// @ts-check
/** The decision: the distribution that the deciding row owns, and how a token is taken from it. Another token is chosen by a click, which makes a
 * branch; another policy is shown while its controls are dragged. Where something is edited, what it was unedited stands beside. */

import * as beam from "../lib/next/beams.mjs";
import { chosenNext } from "../lib/deck/moments.mjs";
import { label, objective, title, writes } from "../lib/answers.mjs";
import * as say from "../lib/next/candidates.mjs";
import { boxOf } from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import { drawPolicybar, policybar } from "../lib/next/policybar.mjs";
import * as read from "../lib/reads.mjs";
import { probability, requestName, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/next/candidates.mjs").Candidate} Candidate */
/** @typedef {import("../lib/next/policy.mjs").Policy} Policy */

/** What only this page knows: the policy under the hand, what is searched, and what the factors were scrolled for.
 * @typedef {{draft: Policy | null, query: string, open: boolean, seen: string, again: () => void}} State */
/** @type {WeakMap<HTMLElement, State>} */
const states = new WeakMap();

/** Where nothing is written, nothing is drawn: the most probable, at temperature 1. */
const PLAIN = /** @type {Policy} */ ({ kind: "greedy", temperature: 1, top_k: null, top_p: 1 });

/** Characters of the line of factors that fit beside its name. */
const FACTORS = 28;

/** Rows of the list: of one request, of each of two, of the one that is looked at among more, whose others are one line each. Whole rows, as many as
 * the room holds. @param {World} world @param {HTMLElement} room @param {boolean} open what a policy does is seen in more rows than there is room for */
function rowsOf(world, room, open) {
  const views = read.requests(world);
  const [most, least, shared] = views.length < 2 ? [16, 2, 1] : views.length < 3 ? [3, 1, 2] : [3, 1, 1];
  if (open || narrow()) return Math.min(most, 8); // they scroll there
  const heads = views.length < 2 ? 0 : views.length * 26;
  const unused = low() ? 0 : views.filter((v) => v.unused).length * 47;
  return Math.max(least, Math.min(most, world.opened.vocabulary.target.length, Math.floor((boxOf(room)[1] - FIND - heads - unused) / shared / (views.length < 2 && !views[0]?.unedited?.logits ? 22 : 20))));
}

const narrow = () => matchMedia("(max-width: 720px)").matches;

/** Under an open policy the rows scroll: whole ones are in sight, and what is taken is among them.
 * @param {any} blocks @param {HTMLElement} room @param {boolean} open */
function whole(blocks, room, open) {
  const first = blocks.querySelector(".cand");
  const high = first ? parseFloat(getComputedStyle(first).height) : 0;
  const most = open && high && !narrow() && blocks.childElementCount < 2 ? `${Math.max(2, Math.floor((boxOf(room)[1] - (low() ? 4 : FIND)) / high)) * high}px` : "";
  if (blocks.style.maxHeight !== most) blocks.style.maxHeight = most;
  const lead = blocks.querySelector(".block.on .cand.lead");
  const shows = `${most} ${lead?.firstElementChild.textContent}`;
  if (blocks.dataset.shows === shows) return; // a person may have scrolled
  blocks.dataset.shows = shows;
  if (most && lead) blocks.scrollTop = Math.max(0, lead.offsetTop - blocks.firstElementChild.offsetTop + high - parseFloat(most));
}

/** Where the window is low, Read alone says what the padding would say. */
const low = () => matchMedia("(max-height: 790px)").matches;

/** The field under the list, px. */
const FIND = 25;

/** @type {import("../lib/types").View} */
export default {
  id: "next",
  title: "Next token",
  slot: "next",
  phases: ["prefill", "decode"],
  applies: (world) => world.look.decision !== "score" || !writes(world),
  wants: () => [],
  table: say.asTable,

  mount(element, context) {
    /** @type {State} */
    const state = { draft: null, query: "", open: false, seen: "", again: () => {} };
    states.set(element, state);
    const show = (/** @type {Policy | null} */ draft) => {
      state.draft = draft;
      state.again();
    };
    const take = async (/** @type {Policy} */ policy) => {
      show(policy);
      await context.send({ kind: "change", fields: { policy } });
      if (state.draft === policy) show(null);
    };
    const toggle = () => {
      state.open = !state.open;
      state.again();
    };
    element.append(
      h("div", { class: "ph" }, h("h2", { class: "h" }), h("span", { class: "sp" }),
        h("button", { class: "link mono policy", type: "button", "aria-controls": "policybar", title: msg`How a token is taken`, onclick: toggle }, h("span"), h("i", { class: "caret", "aria-hidden": "true" }))),
      h("div", { class: "room" }, h("div", { class: "blocks" }), h("div", { class: "cand find" }, search(state), h("span", { class: "n" }))),
      h("p", { class: "note beside", hidden: true }, h("span"), h("span")),
      h("div", { id: "policybar", hidden: true }, policybar(show, take)),
      h("div", { class: "whole" }, h("p", { class: "note" }, h("span", null, msg`Output`), h("b", { class: "mono c-d" }), h("i", { class: "pv f", title: msg`formula: the product of what was chosen` }), h("span", { class: "covers" }),
          h("button", { class: "link tree", type: "button", hidden: true, title: msg`The tree of the beam in the place of the map`, onclick: () => context.look({ tree: true }) }, msg`Tree`),
          h("button", { class: "link score", type: "button", title: msg`How probable is a text that you give?`, onclick: () => context.look({ decision: "score" }) }, msg`Score…`)),
        h("p", { class: "note" }, h("span", null, msg`log p`), h("span", { class: "mono factors", tabindex: 0, role: "group", "aria-label": msg`log p of each token, and their sum` }))),
      h("p", { class: "note outcome" }, h("span"), h("b", { class: "mono c-d" }), h("span"), h("b", { class: "mono c-d" }), h("span")),
    );
  },

  draw(element, world, context) {
    const [head, room, beside, policy, total, hint] = /** @type {any} */ (element.children);
    const [blocks, find] = room.children;
    const state = /** @type {State} */ (states.get(element));
    state.again = () => void this.draw(element, world, context)?.();
    const inForce = writes(world) ? world.opened?.scenario?.policy : PLAIN;
    if (!world.opened || !inForce) return;
    text(head.firstElementChild, title(world));
    set(head.lastElementChild, "hidden", !writes(world));
    set(total.querySelector(".score"), "hidden", !writes(world));
    const how = state.draft ?? inForce;
    const words = world.opened.vocabulary.target;
    const view = read.requestView(world);
    const all = say.distribution(view, words, how, !!state.draft, beam.ahead(world, read.request(world)));
    const able = world.role === "writer" && world.connection === "open" && !world.held;
    set(policy, "title", world.held || null);
    set(element, "data-open", state.open ? "" : null);
    set(element, "data-beam", beam.searches(world) ? "" : null);
    set(element, "data-edited", view?.unedited?.logits ? "" : null);
    text(head.lastElementChild.firstElementChild, say.policyName(how));
    set(head.lastElementChild, "aria-expanded", String(state.open));
    hide(policy, !state.open);
    hide(total, state.open);
    set(total, "data-later", read.phase(world) === "prefill" && writes(world) ? "" : null); // nothing is written there, but its place is kept
    hide(hint, state.open || (read.requestCount(world) > 1 && !beam.searches(world)));
    hide(total.querySelector(".tree"), !beam.searches(world) || world.look.tree);
    if (state.open && writes(world)) drawPolicybar(policy.firstElementChild, how, words.length, able, say.kept(all, how));
    drawBeside(beside, say.beside(view, words, how));
    if (writes(world)) output(total, view, how.kind === "beam" ? 1 : how.temperature);
    else said(total, world, view);
    const pieces = read.before(world, "logits") ? [msg`The operations have not come to the distribution yet.`] : beam.searches(world) ? [beam.outcome(world, view)] : say.outcome(view, { fixed: world.recording || !!world.people?.follows, broken: !!world.moved?.unreadable, held: world.question.length > 0, chosen: chosenNext(world)?.label });
    [...hint.children].forEach((part, i) => text(part, typeof pieces[i] === "object" ? pieces[i].token : (pieces[i] ?? "")));
    const rows = rowsOf(world, room, state.open); // what stands under it is there: it has the room that it will have
    requests(blocks, world, context, state, how, rows);
    rest(find, all, rows, state);
    const seen = `${world.moved?.at} ${read.request(world)}`;
    if (state.open || blocks.style.maxHeight) queueMicrotask(() => whole(blocks, room, state.open)); // when all is drawn
    if (seen === state.seen) return;
    state.seen = seen;
    queueMicrotask(() => void (total.lastElementChild.lastElementChild.scrollLeft = 1e6)); // the newest factors and the sum, when all is drawn: it lays the page out
  },
};

/** What is said of the whole source, and the label that it was given. @param {any} element @param {World} world @param {any} view */
function said(element, world, view) {
  const [output, line] = element.children;
  text(output.children[0], objective(world) === "ctc" ? msg`Collapsed` : msg`Says`);
  text(output.children[1], view?.output?.map(shown).join(" ") ?? "");
  hide(output.children[2], true);
  text(output.children[3], "");
  set(output, "title", objective(world) === "ctc" ? msg`The most probable label of each frame, repetitions taken together and blanks left out` : null);
  hide(line, objective(world) === "masked"); // what is right is not typed there
  text(line.firstElementChild, msg`label`);
  text(line.lastElementChild, label(world, read.request(world)) || "–");
  set(line, "title", msg`What is right, where it is known`);
}

/** @param {State} state */
function search(state) {
  const input = h("input", { type: "search", class: "search", placeholder: msg`another word…`, "aria-label": msg`Search the vocabulary; Enter takes the first`, spellcheck: "false", autocomplete: "off" });
  input.oninput = () => {
    state.query = input.value.slice(0, 60);
    state.again();
  };
  input.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const first = /** @type {any} */ (input.closest(".view"))?.querySelector(".block.on .cand:enabled");
    if (event.key === "Enter" && state.query && first) first.click();
    else if (event.key !== "Escape" || !state.query) return;
    clear(state, input);
  };
  return input;
}

/** @param {State} state @param {any} input */
function clear(state, input) {
  input.value = state.query = "";
  state.again();
}

/** One block a request: which row decides, then its candidates. Requests that are not looked at are one line where there are more than two.
 * @param {HTMLElement} element @param {World} world @param {Context} context @param {State} state @param {Policy} how @param {number} rows */
function requests(element, world, context, state, how, rows) {
  const words = world.opened.vocabulary.target;
  const at = read.request(world);
  const all = read.requests(world).map((view, i) => ({ view, i })).filter(({ view, i }) => view.left == null || i === at); // who left decides nothing
  list(element, all, ({ i }) => i, block, (node, { view, i }) => {
    const on = i === at;
    const limit = on || all.length < 3 ? rows : 0;
    const found = say.listed(limit ? say.distribution(view, words, how, !!state.draft, beam.ahead(world, i)) : [], limit, on ? state.query : "", view.unedited?.choice);
    const able = world.role === "writer" && world.connection === "open" && !view.finished && !beam.searches(world) && writes(world) && !world.held;
    set(node, "class", `block${on ? " on" : ""}`);
    blockHead(node.children[0], view, i, all.length, limit === 0, () => context.look({ request: i, lock: null }));
    const choose = (/** @type {Candidate} */ c) => {
      state.query = /** @type {any} */ (element.closest(".view")).querySelector(".find input").value = "";
      context.send({ kind: "choose", request: i, token: c.id });
    };
    list(node.children[1], Array.from({ length: limit }, (_, n) => found[n] ?? null), (_, n) => n, candidate, (button, c) => fill(button, c, able, () => choose(c), world.held));
    unused(node.children[2], view);
  });
}

const block = () => h("div", { class: "block" }, h("button", { class: "link other", type: "button" }, h("b"), h("span"), h("span", { class: "mono c-q" }), h("b", { class: "mono c-d" }), h("span", { class: "n mono" })),
  h("div", { class: "cands", role: "group", "aria-label": msg`Tokens by probability` }), h("p", { class: "note unused", hidden: true }));

/** @param {any} head @param {any} view @param {number} i @param {number} count of requests @param {boolean} alone it stands for its candidates @param {() => void} look */
function blockHead(head, view, i, count, alone, look) {
  hide(head, count < 2);
  const lead = read.choice(view);
  const row = view.decision_row;
  const from = row === null ? "" : `${row} ${shown((view.output ? view.source : view.target)?.[row]?.token ?? "")}`;
  text(head.children[0], requestName(i));
  text(head.children[1], view.left != null ? msg`left after step ${view.left}` : view.finished ? msg`finished (${finished(view)})` : row === null ? (view.output ? msg`says` : msg`waits`) : alone ? msg`row` : msg`from row`);
  text(head.children[2], from);
  text(head.children[3], alone && lead ? `→ ${shown(lead.token)}` : "");
  text(head.children[4], alone && lead ? probability(lead.probability) : "");
  set(head, "title", msg`Look at request ${requestName(i)}`);
  head.onclick = look;
}

/** @param {any} view that has ended by itself */
const finished = (view) => (view.finished === "eos" ? "<eos>" : msg`limit`);

/** What the padding after a shorter prompt would say. @param {any} element @param {any} view */
function unused(element, view) {
  hide(element, !view.unused || low());
  if (view.unused) text(element, msg`Its physical last row, <pad>, would say ${shown(view.unused.token)} ${probability(view.unused.probability)} ◉: never used.`);
}

/** @returns {HTMLElement} */
const candidate = () => h("button", { class: "cand", type: "button" }, h("span", { class: "w" }), h("span", { class: "bar" }, h("i"), h("s")), h("span", { class: "n" }), h("span", { class: "n delta" }), h("span", { class: "sr" }));

/** @param {any} button @param {Candidate | null} c @param {boolean} may @param {() => void} onclick @param {string} held why nothing can be chosen now */
function fill(button, c, may, onclick, held) {
  const delta = c?.unedited === null || !c ? "" : say.difference(c.probability - /** @type {number} */ (c.unedited));
  set(button, "class", `cand${c?.lead ? " lead" : ""}${c?.cut ? " cut" : ""}${c ? "" : " none"}`);
  set(button, "disabled", !c || !may);
  set(button, "aria-pressed", c ? String(c.lead) : null);
  text(button.children[4], c ? described(c) : msg`no candidate`);
  set(button, "title", held && c ? held : c?.cut ? msg`cut off by top-k or top-p; a click takes it all the same` : null);
  text(button.children[0], c ? shown(c.token) : "");
  const [solid, ghost] = button.children[1].children;
  width(solid, c ? c.probability : 0);
  width(ghost, c?.unedited ?? 0);
  text(button.children[2], c ? probability(c.probability) : "");
  text(button.children[3], delta);
  button.onclick = c ? onclick : null;
}

/** @param {any} element @param {number} share */
function width(element, share) {
  const value = `${Math.max(0, Math.min(1, share)) * 100}%`;
  if (element.style.width !== value) element.style.width = value;
}

/** @param {Candidate} c */
function described(c) {
  const more = [c.unedited === null ? "" : msg`unedited ${probability(c.unedited)}`, c.cut ? msg`cut off by the policy` : "", c.lead ? msg`taken by Step` : ""].filter(Boolean);
  return [msg`is its probability`, ...more].join(", ");
}

/** What the words that are not listed hold, beside the field that finds them.
 * @param {any} element @param {Candidate[]} all @param {number} limit @param {State} state */
function rest(element, all, limit, state) {
  const [input, number] = element.children;
  const found = say.listed(all, all.length, state.query).length;
  const listed = say.listed(all, limit);
  const other = all.reduce((sum, c) => sum + (listed.includes(c) ? 0 : c.probability), 0);
  set(input, "placeholder", all.length > listed.length ? counted(all.length - listed.length, "{0} other: search", "{0} others: search") : msg`search a word`);
  set(input, "disabled", !all.length);
  text(number, !all.length ? "" : state.query ? counted(found, "{0} found", "{0} found") : probability(other));
}

/** @param {any} element @param {ReturnType<typeof say.beside>} found */
function drawBeside(element, found) {
  set(element, "hidden", !found);
  if (!found) return;
  text(element.children[0], found.changed ? msg`unedited ${found.token} ${found.probability}: changed` : msg`unedited ${found.token} ${found.probability}: the same`);
  text(element.children[1], msg`KL ${found.kl} nats ƒ, ${found.left}`);
  set(element, "title", msg`Same rows and weights, dashed in the bars. KL divergence of the edited distribution p from the unedited q: sum of p log(p / q), under the temperature, before top-k and top-p.`);
  set(element, "data-changed", found.changed ? "" : null);
}

/** Probability of the whole output so far, and its factors. @param {any} element @param {any} view @param {number} temperature */
function output(element, view, temperature) {
  const [said, line] = element.children;
  const found = say.whole(view);
  text(said.children[0], msg`Output`);
  text(said.children[1], found.value);
  hide(said.children[2], !found.value);
  text(said.children[3], found.unedited ? msg`was ${found.unedited}` : found.brief);
  set(said, "title", found.unedited ? msg`Probability of all that was decided, at temperature 1: ${found.covers}. Without the edits and masks of yours it was ${found.unedited}.` : msg`Probability of all that was decided, at temperature 1: ${found.covers}`);
  hide(line, false);
  text(line.firstElementChild, temperature === 1 ? msg`log p` : msg`log p, T 1`); // not by the temperature that draws
  text(line.lastElementChild, say.factorTail(view, FACTORS) || "–");
  set(line, "title", say.factorLine(view));
}
