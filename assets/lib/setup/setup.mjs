// @ts-check
/** The set-up's fields: what they show follows the run, and before a change is made they say what it would be. */

import { objective } from "../answers.mjs";
import { h, set, text as put } from "../dom.mjs";
import { Field, same } from "./fields.mjs";
import { counted, msg, named } from "../language.mjs";
import { notAllowed } from "../numbers.mjs";
import { Previews } from "./previews.mjs";
import { Weights } from "./weights.mjs";

/** @typedef {import("../run/actions.mjs").Actions} Actions @typedef {import("../types").World} World @typedef {import("./fields.mjs").Description} Description */
/** @typedef {{seed: Description[], training: Description[], policy: Description[], config: Record<string, Description[]>}} Described */

const weightsField = () => ({ path: "weights", title: msg`Weights`, why: msg`shipped and trained, or drawn from the seed`, as: "choice", default: "trained" });
const choices = () => [{ value: "trained", label: msg`trained` }, { value: "random", label: msg`random` }];
/** Fields of the training that say what a batch is. */
const BATCH = new Set(["training.batch", "training.batch_size"]);

export class SetUp {
  /** @param {{actions: Actions, described: Described, element: (name: string) => any}} o */
  constructor({ actions, described, element }) {
    this.actions = actions;
    this.described = described;
    this.element = element;
    /** @type {Map<string, Field>} */
    this.fields = new Map();
    /** The architecture whose fields are on the page. */
    this.shown = "";
    /** What is typed or stepped in the variant and not set yet. @type {Record<string, any>} */
    this.draft = {};
    /** The variant that this would be, as it is asked for; null: the one in force. @type {any} */
    this.drafted = null;
    /** The variant in force, as it was asked for. */
    this.asked = "";
    /** What the server says of the variant in force. @type {import("./previews.mjs").Variant | null} */
    this.now = null;
    /** What it says of the draft. @type {import("./previews.mjs").Variant | null} */
    this.would = null;
    /** Parameters of the model in force, and of the one before it. */
    this.parameters = 0;
    this.before = 0;
    this.previews = new Previews((scenario, variant) => this.answered(scenario, variant));
    this.weights = new Weights(element("WEIGHTS"), (act) => this.backToWeights(act));
    this.build(described.training.filter((f) => !BATCH.has(f.path)), "TRAINING");
    this.build(described.training.filter((f) => BATCH.has(f.path)).reverse(), "BATCH");
    this.build(described.policy, "POLICY");
    this.build(described.seed, "SEED");
    this.newSeed();
    for (const group of ["training", "policy"]) this.laterOf(group);
    for (const more of disclosures()) more.addEventListener("toggle", () => this.laterOf(/** @type {string} */ (more.dataset.more)));
  }

  /** @param {Description[]} fields @param {string} place */
  build(fields, place) {
    const made = fields.map((about) => {
      const preview = about.path.startsWith("config.") ? (/** @type {any} */ value) => this.preview(about.path, value) : undefined;
      const field = new Field(about, { change: (value) => this.actions.field(about.path, value), preview });
      this.fields.set(about.path, field);
      if (about.more) set(field.element, "data-later", true);
      return field.element;
    });
    this.element(place).replaceChildren(...made);
  }

  /** Beside the seed: another one, drawn. */
  newSeed() {
    const draw = () => this.actions.field("seed", Math.floor(Math.random() * 10_000));
    const named = { title: msg`Another seed, drawn`, "aria-label": msg`New seed` };
    this.fields.get("seed")?.control.element.after(h("button", { class: "new-seed", type: "button", ...named, onclick: draw }, h("i", { class: "icon run", "aria-hidden": "true" })));
  }

  /** @param {string[]} parts of the world */
  changed(parts) {
    const { world } = this.actions;
    if (parts.includes("opened") && world.opened) this.opened(world);
    if (parts.some((p) => ["opened", "refused", "set-up"].includes(p))) this.show(); // a step changes nothing that is set here
    if (parts.includes("refused")) this.refusals(world.refused ?? []);
    if (parts.includes("opened") || parts.includes("moved")) this.tellWeights();
  }

  show() {
    const { scenario } = this.actions;
    if (!scenario) return;
    if (scenario.architecture !== this.shown) this.variantOf(scenario.architecture);
    const { opened } = this.actions.world;
    const early = scenario.architecture !== opened?.scenario.architecture; // what holds is of the one before, where one name may mean another thing
    for (const [path, field] of this.fields) {
      set(field.element, "data-off", !this.means(field));
      if (path === "weights" && opened) {
        field.show({ value: this.loaded(scenario), fitting: this.fitting(path), pending: scenario.weights !== opened.scenario.weights, changed: scenario.weights !== "trained" });
        continue;
      }
      const held = early && path.startsWith("config.") && scenario.config === opened?.scenario.config ? undefined : read(scenario, path);
      const value = held === undefined && early ? field.about.default : held;
      if (value !== undefined) field.show({ value, fitting: this.fitting(path), pending: !!opened && !same(read(scenario, path), read(opened.scenario, path)) });
    }
    this.changedLater();
    put(this.element("POLICY_LINE"), policyWords(scenario.policy));
    this.redraft();
    set(this.fields.get("training.batch_size")?.element ?? this.element("BATCH"), "hidden", scenario.training?.batch === "mine");
  }

  /** Whether a field means something beside the values of the others. @param {Field} field */
  means(field) {
    if (field.about.path.startsWith("training.mask_") && objective(this.actions.world) !== "masked") return false;
    const group = field.about.path.split(".")[0];
    const beside = { ...this.actions.scenario[group], ...(group === "config" ? this.draft : {}) };
    return Object.entries(field.about.when ?? {}).every(([name, needed]) => [needed].flat().includes(beside[name]));
  }

  /** Which weights the control says: those that are loaded, or that were chosen a moment ago. @param {any} scenario */
  loaded(scenario) {
    const { opened } = this.actions.world;
    return scenario.weights !== opened.scenario.weights ? scenario.weights : opened.weights.kind;
  }

  /** @param {string} path @returns {import("../numbers.mjs").Fitting | null} */
  fitting(path) {
    if (path === "weights") return this.now?.weights === "random" ? { values: ["random"], words: "" } : null;
    return (path.startsWith("config.") && this.now?.allowed[path.slice("config.".length)]) || null;
  }

  /** @param {string} architecture */
  variantOf(architecture) {
    for (const path of [...this.fields.keys()]) if (path.startsWith("config.")) this.fields.delete(path);
    this.shown = architecture;
    this.now = null;
    this.draft = {};
    this.build([...(this.described.config[architecture] ?? []), /** @type {any} */ ({ ...weightsField(), choices: choices() })], "VARIANT");
    this.laterOf("config");
    put(this.element("CHANGED"), this.actions.architecture(architecture)?.changed ?? "");
  }

  /** @param {World} world */
  opened(world) {
    if (world.opened.parameters !== this.parameters) {
      this.before = this.parameters;
      this.parameters = world.opened.parameters;
    }
    const whole = core(world.opened.scenario);
    if (JSON.stringify(whole) !== this.asked) {
      this.asked = JSON.stringify(whole);
      this.now = null;
      if (!world.recording) this.previews.ask(whole);
    }
    this.count();
  }

  /** A value of the variant that is not set yet. @param {string} path @param {any} value undefined: it is as it was */
  preview(path, value) {
    const name = path.slice("config.".length);
    if (value === undefined) delete this.draft[name];
    else this.draft[name] = value;
    this.redraft();
  }

  /** What is typed, or was sent and is not in force yet, may be another variant now: ask what it would be. */
  redraft() {
    const { opened } = this.actions.world;
    const { scenario } = this.actions;
    if (!opened) return;
    const config = { ...scenario.config, ...this.draft };
    const differs = scenario.architecture === opened.scenario.architecture && Object.keys(config).some((k) => !same(config[k], opened.scenario.config[k]));
    const drafted = differs ? core({ ...scenario, config }) : null;
    if (JSON.stringify(drafted) === JSON.stringify(this.drafted)) return;
    this.drafted = drafted;
    this.would = null;
    this.count();
    this.tellWeights();
    if (drafted) this.previews.ask(drafted);
  }

  /** @param {any} scenario that was asked for @param {import("./previews.mjs").Variant | null} variant */
  answered(scenario, variant) {
    const asked = JSON.stringify(scenario);
    if (asked === this.asked) this.now = variant;
    if (this.drafted && asked === JSON.stringify(this.drafted)) this.would = variant;
    this.show();
    this.count();
    this.tellWeights();
  }

  /** The count of parameters, of the draft while there is one, and how far it is from the model before. */
  count() {
    const place = this.element("COUNT");
    const { opened } = this.actions.world;
    if (!opened) return put(place, "");
    const known = this.drafted ? (this.would?.parameters ?? null) : opened.parameters;
    const than = this.drafted ? opened.parameters : this.before || opened.parameters;
    const all = known === null ? msg`counting parameters` : counted(known, "{0} parameter", "{0} parameters");
    const more = known === null || known === than ? "" : ` (${known > than ? "+" : "−"}${Math.abs(known - than).toLocaleString("en")})`;
    put(place, all + more);
    set(place, "data-draft", !!this.drafted);
    set(place, "title", more ? (this.drafted ? msg`What you set, against the model that is loaded` : msg`Against the model before`) : null);
  }

  tellWeights() {
    const { world } = this.actions;
    const leaves = !!this.drafted && this.would?.weights === "random" && world.opened?.weights.kind === "trained";
    this.weights.update(world, this.checkpoints(), leaves, this.described.config[this.shown] ?? []);
  }

  checkpoints() {
    return this.actions.architecture()?.checkpoints ?? [];
  }

  /** @param {import("./weights.mjs").Way["act"]} act */
  backToWeights(act) {
    const shipped = this.checkpoints().find((/** @type {any} */ c) => c.task === this.actions.scenario.task);
    if (act === "before") return this.actions.beforeUpdates();
    return this.actions.commands.change(act === "shipped" ? { config: shipped.config, weights: "trained" } : { weights: "trained" });
  }

  /** Why the server refused a value, beside its field. @param {any[]} errors */
  refusals(errors) {
    for (const [path, field] of this.fields) {
      const error = errors.find((e) => e.field === path);
      field.refuse(error ? notAllowed(error.given, error.allowed) : "");
    }
  }

  // ---- fields that wait under "More"

  /** @param {string} group */
  laterOf(group) {
    const more = disclosures().find((d) => d.dataset.more === group);
    const later = this.later(group);
    for (const field of later) set(field.element, "hidden", !more?.open);
    if (more) set(more, "hidden", !later.length);
    this.changedLater();
  }

  /** @param {string} group */
  later(group) {
    return [...this.fields.values()].filter((f) => f.about.more && f.about.path.startsWith(`${group}.`) && !BATCH.has(f.about.path));
  }

  /** "More" says how many of its fields are not at their defaults. */
  changedLater() {
    for (const more of disclosures()) {
      const group = /** @type {string} */ (more.dataset.more);
      const changed = this.later(group).filter((f) => !same(read(this.actions.scenario, f.about.path) ?? f.about.default, f.about.default)).length;
      const summary = /** @type {HTMLElement} */ (more.firstElementChild);
      put(summary, more.open ? msg`Less` : changed ? msg`More, ${changed} changed` : msg`More`);
      set(summary, "aria-label", `${summary.textContent}: ${groupName(group)}`);
    }
  }
}

/** @returns {HTMLDetailsElement[]} */
const disclosures = () => [...document.querySelectorAll("details")].filter((d) => d.dataset.more);

/** How tokens are decided, in a few words. @param {any} policy */
function policyWords({ kind, temperature, top_k, top_p, width, length_penalty }) {
  if (kind === "beam") return msg`beam ${width}, α ${length_penalty}`;
  const cut = kind === "sample" ? [top_k === null ? "" : `k ${top_k}`, top_p === 1 ? "" : `p ${top_p}`] : [];
  return [named(kind), `T ${temperature}`, ...cut].filter(Boolean).join(", ");
}

/** @param {string} group */
const groupName = (group) => /** @type {Record<string, string>} */ ({ config: msg`Variant`, training: msg`Training`, policy: msg`Decoding` })[group];

/** A field of the scenario by its path. @param {any} scenario @param {string} path */
const read = (scenario, path) => path.split(".").reduce((value, name) => value?.[name], scenario);

/** What decides what a model is. @param {any} scenario */
const core = ({ architecture, config, task, seed }) => ({ architecture, config, task, seed });
