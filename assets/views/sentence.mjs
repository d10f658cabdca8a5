// @ts-check
/** One sentence: what just happened, read from the recording; and every state that the page can be in. Under it one small line more. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { reading, training } from "../lib/told/happened.mjs";
import { held } from "../lib/states/kept.mjs";
import { sourceOf } from "../lib/training/batches.mjs";
import { counted, msg } from "../lib/language.mjs";
import { looks } from "../lib/picture/looking.mjs";
import * as read from "../lib/reads.mjs";
import { cutShown } from "../lib/setup/cut.mjs";
import { offerName, place, state } from "../lib/told/states.mjs";
import { alone, gateSelectors, loops } from "../lib/states/tapes.mjs";
import { age, brief, bytes, figure, number, probability, requestName, shown } from "../lib/words.mjs";
import { destination, measured } from "./checks.mjs";
import { lasting } from "../lib/storage.mjs";

export { offerName, place } from "../lib/told/states.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** @typedef {import("../lib/told/states.mjs").Said} Said @typedef {import("../lib/told/states.mjs").Action} Action */

/** What the sentence slot says: a state of the page, what is asked before anything computes on, else what happened. Pure: `weight` gives the weights of the selected head, `now` the time in ms.
 * @param {World} world @param {(row: number, key: number) => number} weight @param {number} now @param {import("../lib/told/states.mjs").Clock} [clock]
 * @returns {Said} */
export function sentence(world, weight, now, clock) {
  return state(world, now, clock) ?? (world.question.length ? { parts: world.question, tone: "" } : null) ?? { parts: read.phase(world) === "train" ? training(world, weight) : reading(world, weight), tone: "" };
}

/** The small line under the sentence, the first of these that there is: a check that fails, the newest notice, what edits changed,
 * that one reads along, the clipping, that weights are random, what a word became, why there are so many steps.
 * What fails stands before what was changed: a line that is too long loses its end.
 * @param {World} world @returns {{text: string, tone: "" | "bad", action: Action | null}} */
export function note(world) {
  const notice = world.notices.at(-1);
  if (notice?.code === "diverged") return { text: notice.message, tone: "", action: null }; // its way back stands beside the sentence
  const failed = failing(world);
  if (failed) return { ...failed, text: `${failed.text} ${edited(world)}`.trim(), tone: "bad" };
  if (notice) return { text: notice.message, tone: "", action: notice.offer ? { name: offerName(notice.offer, world.history), command: notice.offer } : null };
  const first = edited(world) || along(world);
  if (first) return { text: first, tone: "", action: null };
  return { text: [clipping(world) || waiting(world) || weightsNote(world.opened?.weights, world.moved?.updates ?? 0, world.curve), uncounted(world)].filter(Boolean).join(" ") || unknownWords(world) || pace(world), tone: "", action: beforeUpdates(world) };
}

/** Out of training, the way back from what was trained here. @param {World} world @returns {Action | null} */
function beforeUpdates(world) {
  if (read.phase(world) === "train" || !world.moved?.updates) return null;
  return { name: world.opened.weights?.kind === "trained" ? msg`Back to the trained weights` : msg`Back to the random draw`, act: "before" };
}

/** A check that fails: its claim, its figure and the way to its place.
 * @param {World} world @returns {{text: string, action: Action | null} | null} */
function failing(world) {
  const check = world.checked?.checks.find((/** @type {any} */ c) => c.status === "fail");
  if (!check || !world.moved || world.moved.unreadable) return null;
  const look = destination(check.place, world.opened?.relations ?? []);
  return { text: msg`✕ This check fails: ${check.claim} (${measured(check)}).`, action: look && { name: msg`Show where`, look } };
}

/** What the edits at taps (and the masks) changed in the decision.
 * @param {World} world */
function edited(world) {
  const edits = (world.opened?.scenario?.edits ?? []).filter((/** @type {any} */ e) => e.enabled).length;
  const view = read.requestView(world);
  const lead = read.choice(view);
  const { unedited } = view ?? {};
  if (!unedited || !lead) return edits ? counted(edits, "{0} edit is on.", "{0} edits are on.") : "";
  const what = edits ? counted(edits, "{0} edit is on", "{0} edits are on") : msg`Masks are changed`;
  const before = shown(world.opened.vocabulary.target[unedited.choice] ?? "");
  const [now, then, kl] = [probability(lead.probability), probability(unedited.probability), figure(number(unedited.kl))];
  if (unedited.choice === lead.id) return msg`${what}: ${shown(lead.token)} stays first, ${now} where it had ${then} without (KL ${kl} nats).`;
  return msg`${what}: without, it would be ${before} at ${then}, not ${shown(lead.token)} at ${now} (KL ${kl} nats).`;
}

/** In a class its bar says so. @param {World} world */
const along = (world) => (world.recording ? msg`A recording: one can move in it and look at all of it.` : world.role === "reader" && !world.people ? msg`Reading along: what another page does is shown here.` : "");

/** @param {World} world */
function clipping(world) {
  const train = world.moved?.train;
  if (!train || train.clip_factor === null || train.norm === null || read.phase(world) !== "train") return "";
  const limit = world.opened?.scenario?.training?.clip_norm;
  const [factor, norm] = [number(train.clip_factor), figure(number(train.norm))];
  if (factor < 1) return msg`Gradient norm ${norm} is above ${limit}: this update is scaled by ${figure(factor)}.`;
  return limit === null ? msg`Gradient norm ${norm} is not clipped.` : msg`Gradient norm ${norm} is within ${limit}: not clipped.`;
}

/** Why not every row of the shown sequence counts in the loss.
 * @param {World} world */
function uncounted(world) {
  const own = read.trainRows(world), rows = own.filter((row) => !row.counts);
  const out = rows.length, name = requestName(read.request(world)), source = world.moved?.stage === "batch" ? sourceOf(world) : "";
  if (source) return `${source}.`;
  if (rows.some((row) => row.label !== "<pad>")) return msg`${name}: ${out} of ${own.length} rows do not count: given, or without a label.`;
  if (out) return msg`${name}: ${out} of ${own.length} rows do not count: their label is <pad>, nothing to predict.`;
  const all = read.phase(world) === "train" ? (world.moved?.train?.rows ?? []) : [];
  const elsewhere = all.flat().filter((/** @type {any} */ row) => !row.counts && row.label === "<pad>").length;
  return elsewhere ? counted(elsewhere, "In the other sequences {0} row does not count: its label is <pad>.", "In the other sequences {0} rows do not count: their label is <pad>.") : "";
}

/** Between the forward and the backward pass: what is held for it.
 * @param {World} world */
function waiting(world) {
  const bytesHeld = held(world).reduce((sum, h) => sum + h.bytes, 0);
  return bytesHeld && world.moved.train?.parameter_norms === null ? msg`${bytes(bytesHeld)} of recorded values are held until the backward pass has used them.` : "";
}

/** What to know of weights that did not come trained, and what the loss did since; nothing otherwise.
 * @param {any} weights @param {number} updates made to them here @param {World["curve"] | null} [curve] the loss of each @returns {string} */
export function weightsNote(weights, updates = 0, curve = null) {
  if (!weights) return "";
  const random = weights.source?.steps === undefined;
  const [first, last] = [0, -1].map((i) => number(curve?.loss.at(i) ?? NaN));
  const moved = curve && curve.updates.length > 1 && Number.isFinite(first) && Number.isFinite(last) ? ` ${msg`Loss ${figure(first, 2)} at update ${curve.updates[0]}, ${figure(last, 2)} at ${curve.updates.at(-1) ?? ""}.`}` : "";
  if (updates) return moved ? weightsNote(weights, updates) + moved : random ? counted(updates, "Weights: random, then {0} update here.", "Weights: random, then {0} updates here.") : counted(updates, "Weights: trained, then {0} update here.", "Weights: trained, then {0} updates here.");
  return random ? msg`Random weights: what is read means nothing yet.` : "";
}

/** @param {World} world */
function unknownWords(world) {
  const unknown = read.requestView(world)?.unknown ?? [];
  return unknown.length ? msg`Read as <unk>, because the vocabulary does not have it: ${unknown.map(shown).join(", ")}.` : "";
}

/** Why prefill is one step and decode many.
 * @param {World} world */
function pace(world) {
  if (cutShown(world)) return msg`An id only names a piece of the vocabulary: 400 is not twice as much as 200.`;
  const node = world.history.get(world.moved?.at ?? -1);
  if (node?.command === "join") return msg`Its prompt is known, so all of it ran in one call of its own. From here it takes one decision a step, like the others.`;
  if (node?.command === "leave") return msg`A request is a place in the batch, a token a step of the run: the others decide what they would have decided.`;
  const pass = world.moved?.stages?.findLast((/** @type {any} */ s) => s.ms !== null && s.rows);
  const prefilled = read.phase(world) === "prefill" ? pass?.rows > 1 && world.moved.stage !== "choose" : read.phase(world) === "decode" && world.moved?.step === 0;
  if (prefilled && loops(world)) return msg`All known rows ran in one call, one after another: each needs the state that the row before left.`;
  if (read.phase(world) === "decode" && world.moved?.step === 0) return msg`All known rows ran in one pass. From here one step a token: it must be decided before its row can run.`;
  if (!pass || world.moved.stage === "choose") return "";
  if (read.phase(world) === "prefill") return counted(pass.rows, "One pass: {0} row.", "One pass: {0} rows at once, because all of them are known and none waits for a decision.");
  if (read.phase(world) !== "decode" || read.closing(world)) return "";
  if (world.opened?.scenario?.policy?.execution === "full_prefix") return msg`One decision a step: the whole prefix is run again, ${pass.rows} rows.`;
  return newRow(world);
}

/** Why decoding takes a step for each row. It names the row that the token came from: the read that is shown is of the token's own row, which
 * decides the one after it. @param {World} world */
function newRow(world) {
  const view = read.requestView(world);
  const at = view?.decision_row ?? 0;
  const own = view?.target[at];
  if (at && own?.state === "new" && world.moved.requests.length === 1) return msg`One step a token: ${shown(own.token)} came from row ${at - 1}, and only then could its row run. Earlier rows are read from what is kept.`;
  return msg`One step a token: its row could not run before the token was decided. Earlier rows are read from what is kept.`;
}

const ROLE = { q: "c-q mono", k: "c-k mono", v: "c-v num", g: "c-g", d: "c-d mono", p: "c-p mono", dim: "dim" };
/** Letters from which a sentence is set smaller, so that it keeps its line; those of fixed width are wider. */
const LENGTHS = [84, 99, 112];
const MONO = new Set(["q", "k", "d", "p"]);
const STARTED = "lookback-start";

/** @type {import("../lib/types").View} */
export default {
  id: "sentence",
  title: "What just happened",
  slot: "sentence",
  phases: ["train", "prefill", "decode"],
  wants: (world) => (alone(world) ? gateSelectors(world) : looks(world)),

  mount(element) {
    element.append(
      h("div", { class: "say-line" }, h("p", { class: "say", "aria-live": "polite", "aria-atomic": "true" }), h("button", { class: "btn sm", type: "button", hidden: true })),
      h("div", { class: "say-note" }, h("p", { "aria-live": "polite" }), h("button", { class: "btn sm", type: "button", hidden: true })),
    );
  },

  draw(element, world, context) {
    const [[say, does], [under, also]] = [...element.children].map((line) => /** @type {any} */ (line.children));
    const said = sentence(world, read.readCells(world, "sentence"), Date.now(), clock(world));
    const whole = said.parts.map((p) => p.text).join("");
    const size = said.parts.reduce((sum, p) => sum + brief(p.text).length * (MONO.has(p.role ?? "") ? 1.25 : 1), said.action ? said.action.name.length + 6 : 0);
    for (const live of [say, under]) set(live, "aria-live", world.playing?.playing ? "off" : "polite");
    set(say, "data-tone", said.tone || null);
    set(say, "data-asks", said.parts === world.question ? "" : null);
    set(say, "data-length", String(LENGTHS.filter((n) => size > n).length));
    // Spaces of an earlier sentence stay, empty: an element that comes or goes makes the browser ask every :has() of the page again.
    /** @type {Said["parts"]} */
    const parts = [...said.parts, ...Array(Math.max(0, say.childElementCount - said.parts.length)).fill({ text: "" })];
    list(say, parts, (_, i) => i, () => h("span"), (span, p) => {
      set(span, "class", p.role ? ROLE[p.role] : null);
      text(span, brief(p.text));
    });
    set(say, "title", whole);
    button(does, said.action ?? null, world, context);
    const more = back(element, world) || note(world);
    text(under, brief(more.text));
    set(under, "title", more.text);
    set(under, "data-tone", more.tone || null);
    button(also, more.action ?? unlocking(world), world, context);
    set(also, "data-unlocks", !more.action && unlocking(world) ? "" : null);
    again(element, world, () => this.draw(element, world, context));
  },

  table: (world) => ({
    columns: [msg`what just happened`, msg`note`],
    rows: [[sentence(world, read.readCells(world, "sentence"), Date.now()).parts.map((p) => p.text).join(""), note(world).text]],
  }),
};

/** Where the inspector, whose bar says what is locked, is on another tab. @param {World} world @returns {Action | null} */
const unlocking = (world) => (world.look.lock && matchMedia("(max-width: 720px)").matches ? { name: msg`Locked on row ${world.look.lock.row}: unlock`, look: { lock: null, path: null } } : null);

/** @param {any} element @param {Action | null} action @param {World} world @param {Context} context */
function button(element, action, world, context) {
  hide(element, !action);
  if (!action) return;
  text(element, action.name);
  set(element, "data-act", action.act ?? null);
  element.disabled = !!action.command && (world.role === "reader" || world.connection !== "open");
  element.onclick = () => {
    if (action.command) context.send(action.command);
    if (action.look) context.look(action.look);
    if (action.dismiss) context.dismiss();
  };
}

/** How long the start took so far, and took the last time on this machine.
 * @param {World} world */
function clock(world) {
  const waited = performance.now();
  if (world.moved && !started) lasting.setItem(STARTED, String(Math.round(waited)));
  started ||= !!world.moved;
  return { waited, usual: Number(lasting.getItem(STARTED) ?? 0) };
}
let started = false;

/** When the connection went, and until when it is told that it came back, at which moment. @type {WeakMap<HTMLElement, {since: number, until: number, text: string, at?: number}>} */
const losses = new WeakMap();
const TELL_FOR = 6000;

/** For a moment after the connection came back: that it did, and after how long.
 * @param {HTMLElement} element @param {World} world @returns {ReturnType<typeof note> | null} */
function back(element, world) {
  const now = Date.now();
  const loss = losses.get(element);
  if (world.connection === "offline") losses.set(element, { since: Number(world.reason) || now, until: 0, text: "" });
  if (!loss || world.connection !== "open") return null;
  if (!loss.until) Object.assign(loss, { until: now + TELL_FOR, text: msg`Connected again after ${age(now - loss.since)}.`, at: world.moved?.at });
  const text = loss.at === world.moved?.at ? `${loss.text} ${msg`This is ${place(world)}.`}` : loss.text; // the run went on
  if (now < loss.until) return { text, tone: "", action: null };
  losses.delete(element);
  return null;
}

/** @type {WeakMap<HTMLElement, ReturnType<typeof setTimeout>>} */
const clocks = new WeakMap();

/** While the page waits, the time in the sentence goes on; what is told for a moment ends.
 * @param {HTMLElement} element @param {World} world @param {() => void} draw */
function again(element, world, draw) {
  clearTimeout(clocks.get(element));
  const waiting = world.connection === "offline" || !world.moved;
  if (waiting || losses.has(element)) clocks.set(element, setTimeout(draw, 1000));
}
