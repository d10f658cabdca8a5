// @ts-check
/** Which weights are loaded, in plain words, and the way back to the shipped ones. */

import { set, text as put, h } from "../dom.mjs";
import { counted, msg, named } from "../language.mjs";
import { figure } from "../words.mjs";
import { labelOf } from "./fields.mjs";

/** @typedef {import("../types").World} World */
/** @typedef {{title: string, act: "trained" | "shipped" | "before"}} Way back: choose the trained ones; the shipped variant with them; the moment before
 * the first update */
/** @typedef {{at_least?: number, at_most?: number}} Bounds */
/** @typedef {{task: string, config: Record<string, any>}} Checkpoint @typedef {import("./fields.mjs").Description} Description */

/** What is loaded, and either the way back to what was shipped or what one should know of it.
 * @param {World} world @param {Checkpoint[]} checkpoints of this architecture @param {Description[]} [fields] of its variant
 * @returns {{said: string, note: string, way: Way | null}} */
export function weightsWords(world, checkpoints, fields = []) {
  const found = whatIsLoaded(world, checkpoints, fields);
  return world.recording ? { ...found, way: null } : found;
}

/** @param {World} world @param {Checkpoint[]} checkpoints @param {Description[]} fields @returns {ReturnType<typeof weightsWords>} */
function whatIsLoaded(world, checkpoints, fields) {
  const { scenario, weights } = world.opened;
  const updates = world.moved?.updates ?? 0;
  if (updates) {
    const title = weights.kind === "trained" ? msg`Back to the trained weights` : msg`Back to the random draw`;
    return { said: counted(updates, "Changed here by {0} update.", "Changed here by {0} updates."), note: "", way: { title, act: "before" } };
  }
  if (weights.kind === "trained") return { said: trained(weights.source), note: exchanged(weights.source, fields), way: null };
  const said = msg`Random, drawn from seed ${scenario.seed}.`;
  const shipped = checkpoints.filter((c) => c.task === scenario.task);
  if (!shipped.length) return { said, note: msg`No trained ones are shipped for it.`, way: null };
  const fits = shipped.some((c) => JSON.stringify(sorted(c.config)) === JSON.stringify(sorted(scenario.config)));
  return { said, note: "", way: fits ? { title: msg`Load the trained weights`, act: "trained" } : { title: msg`Back to the variant that is trained`, act: "shipped" } };
}

/** @param {Record<string, any>} source of trained weights @returns {string} */
function trained({ steps, loss, metrics = {}, required = {} }) {
  const how = [steps !== undefined && counted(steps, "{0} update", "{0} updates"), loss !== undefined && msg`loss ${Number(loss).toPrecision(2)}`];
  const said = how.filter(Boolean).join(", ");
  return [said ? msg`Trained: ${said}.` : msg`Trained.`, reached(metrics, required)].filter(Boolean).join(" ");
}

/** What it reached on examples that it was not trained on, of what is measured for its task, and in brackets what it had to reach.
 * @param {Record<string, any>} metrics @param {Record<string, Bounds>} required by the dotted name of a metric @returns {string} */
function reached({ exact, exact_by_clauses: clauses, alignment, accuracy, agreement, induction, hop_cosine: alike, closers, phone_error_rate: phones, validation_loss: loss }, required) {
  const parts = [
    exact !== undefined && (!clauses || required.exact) && msg`exact ${share(exact)}` + bounds(required.exact),
    clauses && msg`exact ${[1, 2, 3].map((n) => share(clauses[n]) + bounds(required[`exact_by_clauses.${n}`])).join(", ")} for 1, 2, 3 clauses`,
    alignment && msg`alignment ${share(alignment.share)}` + bounds(required["alignment.share"]),
    phones !== undefined && msg`wrong sounds ${share(phones)}` + bounds(required.phone_error_rate),
    accuracy !== undefined && msg`right ${share(accuracy)}` + bounds(required.accuracy),
    agreement !== undefined && msg`agreement ${share(agreement)}` + bounds(required.agreement),
    induction && msg`repeats right ${share(induction.right)}` + bounds(required["induction.right"]),
    alike !== undefined && msg`cosine of two hops ${share(alike)}` + bounds(required.hop_cosine),
    closers && msg`closing brackets ${share(closers.right)}` + bounds(required["closers.right"]),
    required.validation_loss && msg`loss ${share(loss)}` + bounds(required.validation_loss),
  ].filter(Boolean).join("; ");
  return parts && (Object.keys(required).length ? msg`Held out (required): ${parts}.` : msg`Held out: ${parts}.`);
}

/** @param {number} x */
const share = (x) => figure(x, 2);

/** @param {Bounds | undefined} bounds on a metric @returns {string} behind its number */
const bounds = ({ at_least: low, at_most: high } = {}) => {
  const said = [low !== undefined && `≥\u00a0${share(low)}`, high !== undefined && `≤\u00a0${share(high)}`].filter(Boolean);
  return said.length ? ` (${said.join(", ")})` : "";
};

/** What limits it, or what was put in the place of parts that were there while it learned, in the words of the set-up. @param {Record<string, any>} source @param {Description[]} fields @returns {string} */
function exchanged({ exchanged = {}, note = "" }, fields) {
  if (note) return named(note);
  const parts = Object.entries(exchanged).map(([name, [made, here]]) => {
    const about = fields.find((f) => f.path === `config.${name}`);
    return about ? msg`${about.title}: ${labelOf(about, here)} for ${labelOf(about, made)}` : name;
  });
  return parts.length ? msg`It learned with other parts (${parts.join(", ")}).` : msg`Other variants begin untrained.`;
}

/** @param {Record<string, any>} config */
const sorted = (config) => Object.fromEntries(Object.entries(config).sort());

export class Weights {
  /** @param {HTMLElement} place @param {(act: Way["act"]) => void} goBack */
  constructor(place, goBack) {
    this.said = h("p", { class: "note", id: "weights-line" });
    this.note = h("p", { class: "note" });
    this.way = h("button", { class: "link small", type: "button", onclick: () => this.act && goBack(this.act) });
    /** @type {Way["act"] | null} */
    this.act = null;
    /** As large as what was said before the first update: then nothing moves with it. Not read, as it is said in what is drawn beside an element. */
    this.room = h("div", { class: "note room" });
    place.append(h("div", { class: "weights" }, this.room, h("div", null, this.said, this.note, this.way)));
  }

  /** @param {World} world @param {Checkpoint[]} checkpoints @param {boolean} leaves a variant is being set that no trained weights fit
   * @param {Description[]} fields of the variant */
  update(world, checkpoints, leaves, fields) {
    if (!world.opened) return;
    const { said, note, way } = weightsWords(world, checkpoints, fields);
    const before = weightsWords({ ...world, moved: null }, checkpoints, fields);
    set(this.room, "data-said", before.said);
    set(this.room, "data-note", before.way?.title ?? before.note);
    put(this.said, said);
    put(this.note, leaves ? msg`This one has no trained weights.` : note);
    this.act = leaves ? null : (way?.act ?? null);
    put(this.way, way?.title ?? "");
    set(this.way, "hidden", !this.act);
    set(this.note, "hidden", !!this.act);
    set(this.note, "data-tone", leaves ? "warn" : null);
    set(this.said, "title", history(world.opened.weights.source ?? {}));
  }
}

/** How weights came about, as a tooltip. @param {Record<string, any>} source */
const history = ({ command, seed }) => (command ? (seed === undefined ? command : msg`${command}, seed ${seed}`) : null);
