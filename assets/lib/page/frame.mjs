// @ts-check
/** The page's own frame: what its controls show follows the run; where-am-I, status, flyouts and tabs. */

import { h, set, text as put } from "../dom.mjs";
import { Cold } from "./cold.mjs";
import { Gallery } from "../setup/gallery.mjs";
import { counted, msg } from "../language.mjs";
import { listenToFlyouts } from "./flyouts.mjs";
import { place, stageName } from "../deck/ops.mjs";
import { reasons } from "../deck/reasons.mjs";
import { able } from "../deck/undoing.mjs";
import { Requests } from "../setup/requests.mjs";
import { SetUp } from "../setup/setup.mjs";
import { broken } from "../told/states.mjs";

/** @typedef {import("../run/actions.mjs").Actions} Actions @typedef {import("./told.mjs").Told} Told @typedef {import("../types").World} World */

export class Frame {
  /** @param {{actions: Actions, ids: Record<string, string>, fields: import("../setup/setup.mjs").Described, told: Told}} o ids, fields: from app/ui/ids.py and controls.py */
  constructor({ actions, ids, fields, told }) {
    this.actions = actions;
    this.store = actions.store;
    this.ids = ids;
    this.told = told;
    this.setUp = new SetUp({ actions, described: fields, element: (name) => this.element(name) });
    this.gallery = new Gallery(this.element("SEARCH"), actions.catalogue, (id) => actions.choose(id));
    this.requests = new Requests(this.element("REQUESTS"), () => actions.scenario, () => actions.architecture().capabilities, (requests) => actions.requests(requests), (said) => this.effect(said), { stamps: () => actions.task()?.stamps ?? [], undo: () => actions.undo() });
    /** What the last change of an input did, and the moment that it did it at. */
    this.did = { said: "", at: -1 };
    /** Not all phases are offered. */
    this.fewer = false;
    /** @type {Cold | null} until the first values are here */
    this.cold = new Cold(this.element("COLD"));
    this.examples();
    this.store.listen((parts) => this.changed(parts));
    listenToFlyouts();
    this.changed(["opened", "moved", "playing", "connection"]);
  }

  /** @param {string} name @returns {any} */
  element(name) {
    return document.getElementById(this.ids[name]);
  }

  /** On a phone: what the deck has beside the phases and the line. */
  deckMore() {
    const button = /** @type {any} */ (document.querySelector(".deck-more"));
    set(button, "aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
  }

  /** @param {string[]} parts */
  changed(parts) {
    const has = (/** @type {string[]} */ ...names) => names.some((n) => parts.includes(n));
    const { world } = this.store;
    if (this.cold && world.moved) this.warm();
    if (has("opened", "moved", "role", "connection", "refused", "set-up")) this.requests.update(world);
    if (has("refused")) this.requests.refusals(world.refused ?? []);
    this.setUp.changed(parts);
    if (has("opened", "refused", "set-up", "moved")) this.input();
    if (has("opened")) this.phases(world);
    if (has("moved", "refused")) this.told.tell(this.ids.PHASE, { value: world.moved?.phase ?? this.actions.scenario.phase });
    if (has("opened", "moved", "playing", "connection", "role", "unit", "held", "people")) this.deck(world);
    if (has("unit")) document.documentElement.dataset.unit = this.actions.unit;
    if (has("busy")) document.documentElement.toggleAttribute("data-busy", world.busy);
    if (has("opened", "moved", "connection", "role", "notices", "people")) this.status(world);
    if (has("role", "connection", "opened", "people")) this.may(world);
    if (has("opened", "moved", "role", "connection", "history")) this.undoing(world);
    if (has("look")) this.tellTheme(world.look.theme);
  }

  /** The phases that the architecture has on this task. @param {World} world */
  phases(world) {
    const has = world.opened?.task?.phases;
    const all = [["train", msg`Train`], ["prefill", msg`Prefill`], ["decode", msg`Decode`]].map(([value, label]) => ({ value, label }));
    if (has && (has.length < 3 || this.fewer)) this.told.tell(this.ids.PHASE, { data: all.filter((p) => has.includes(p.value)) });
    this.fewer = !!has && has.length < 3;
  }

  /** Undo and Redo are offered where they can do something. @param {World} world */
  undoing(world) {
    const can = able(world);
    set(this.element("UNDO"), "disabled", !can.undo);
    set(this.element("REDO"), "disabled", !can.redo);
  }

  warm() {
    this.cold?.end();
    this.cold = null;
  }

  /** @param {"auto" | "light" | "dark"} theme */
  tellTheme(theme) {
    const words = { auto: msg`Theme`, light: msg`Light`, dark: msg`Dark` };
    const names = { auto: msg`Theme: automatic`, light: msg`Theme: light`, dark: msg`Theme: dark` };
    put(this.element("THEME").querySelector(".words"), words[theme]);
    set(this.element("THEME"), "aria-label", names[theme]);
  }

  /** What the input is: its title, its place among the task's examples, and what to look at or what its last change did. */
  input() {
    const { scenario, catalogue } = this.actions;
    if (!scenario) return;
    this.gallery.show(scenario.architecture);
    const now = this.actions.presetNow();
    this.told.tell(this.ids.PRESET, { value: now });
    const task = catalogue.tasks.find((/** @type {any} */ t) => t.id === scenario.task);
    const [kind, ...more] = (task?.name ?? "").split(", ");
    const train = (this.store.world.moved?.phase ?? scenario.phase) === "train";
    const { batch, batch_size } = scenario.training ?? {};
    const drawn = train && batch === "task";
    set(this.element("REQUESTS"), "hidden", drawn);
    set(this.element("EXAMPLE"), "hidden", drawn);
    const size = batch === "mine" ? scenario.requests.length : batch_size;
    put(this.element("INPUT_TITLE"), train ? counted(size, "Batch: {0} sequence", "Batch: {0} sequences") : msg`Input: ${more.join(", ") || kind}`);
    const note = this.did.at === this.store.world.moved?.at ? this.did.said : "";
    put(this.element("PRESET_NOTE"), drawn ? msg`Drawn anew for each update, from the task and the seed.` : note || this.actions.presetNote());
  }

  /** @param {string} said what a change of the input did to the next token */
  effect(said) {
    this.did = { said, at: this.store.world.moved?.at };
    this.input();
  }

  /** One click to the task's next example. */
  examples() {
    const place = this.element("EXAMPLE");
    const button = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {string} */ name) =>
      h("button", { type: "button", title: name, "aria-label": name, onclick: () => this.actions.nextExample(by) }, sign);
    place.className = "stepper";
    place.append(button(-1, "‹", msg`The example before`), button(1, "›", msg`The next example`));
  }

  /** What this page may do at all: a reader's controls are disabled, and a page without a run offers a new one.
   * @param {World} world */
  may(world) {
    const reads = world.role === "reader";
    const nothing = world.connection === "closed" && !world.opened;
    for (const group of /** @type {NodeListOf<HTMLFieldSetElement>} */ (document.querySelectorAll("fieldset.able"))) {
      group.disabled = nothing || (reads && !(world.recording && group.closest(".deck")));
      set(group, "title", group.disabled && (world.recording ? msg`This is a recording` : readerOf(world)));
    }
    set(this.element("READ_ONLY"), "hidden", !reads || !!world.people); // a class says so in its bar
    put(this.element("READ_ONLY"), this.readOnly(world));
    set(this.element("NOTHING"), "hidden", !nothing);
    put(this.element("NOTHING_WORDS"), world.reason);
  }

  /** Why nothing can be set here. @param {World} world */
  readOnly(world) {
    if (world.recording) return msg`This is a recording: the model is not in it, so nothing can be changed.`;
    if (this.actions.run.role === "reader") return msg`Read only, because the address says role=reader. Open it without that to take over.`;
    return msg`Read only: another page is in control. Load this page again to take over.`;
  }

  /** Ask once before a run with more than its first moment goes. */
  askReset() {
    const more = this.store.world.history.size - 1;
    if (more < 1) return this.actions.reset();
    put(this.element("RESET_WORDS"), counted(more, "Reset run: {0} moment goes, with branches and training.", "Reset run: {0} moments go, with branches and training."));
    set(this.element("RESET_ASK"), "hidden", false);
    this.element("KEEP").focus();
  }

  /** @param {boolean} reset */
  answerReset(reset) {
    set(this.element("RESET_ASK"), "hidden", true);
    this.element("RESET").focus();
    if (reset) this.actions.reset();
  }

  /** @param {World} world */
  deck(world) {
    const phase = world.moved?.phase ?? world.opened?.scenario.phase;
    if (phase) document.documentElement.dataset.phase = phase;
    const { playing } = world.playing;
    const why = reasons(world);
    for (const [names, reason, says] of /** @type {[string[], string, string][]} */ ([
      [["STEP", "STEP_PHONE"], why.step, msg`One step on`], [["BACK", "BACK_PHONE"], why.back, msg`One moment back`],
      [["PLAY", "PLAY_PHONE"], playing ? why.pause : why.step, playing ? msg`Pause (Space)` : msg`Step again and again (Space); the dot beside the timeline says where it stops`],
    ])) for (const name of names) {
      set(this.element(name), "disabled", !!reason);
      set(this.element(name), "title", reason || says);
    }
    put(/** @type {any} */ (document.querySelector(`#${this.ids.PLAY} .words`)), playing ? msg`Pause` : msg`Play`);
    set(this.element("PLAY_PHONE"), "aria-label", playing ? msg`Pause` : msg`Play`);
    document.documentElement.toggleAttribute("data-playing", playing);
    this.told.tell(this.ids.PHASE, { disabled: !!world.held });
    set(/** @type {any} */ (document.querySelector(`[data-place="${this.ids.PHASE}"]`)), "title", world.held || null);
    this.told.tell(this.ids.RATE, { value: String(this.actions.rate) });
    const units = [{ value: "step", label: phase === "train" ? msg`update` : msg`token` }, { value: "stage", label: msg`stage` }, { value: "op", label: msg`op` }];
    this.told.tell(this.ids.UNIT, { value: this.actions.unit, data: units });
    this.where(world);
  }

  /** @param {World} world */
  where(world) {
    const { moved } = world;
    if (!moved) return;
    const last = moved.stages.findLast((/** @type {any} */ s) => s.ms !== null);
    const stage = moved.stage ? msg`after ${stageName(moved.stage).toLowerCase()}` : last?.rows ? counted(last.rows, "{0} new row", "{0} new rows") : msg`at the start`;
    put(this.element("WHERE"), place(world));
    put(this.element("WHERE_NOTE"), moved.phase === "train" && !moved.stage ? "" : moved.ended ? msg`the end` : stage);
  }

  /** @param {World} world */
  status(world) {
    const state = world.connection === "open" && world.role === "reader" ? "reader" : world.connection;
    put(this.element("STATUS"), this.stateWords(world, state));
    set(this.element("STATUS_DOT"), "data-state", state === "open" && isBroken(world) ? "broken" : state);
    set(this.element("STATUS_RETRY"), "hidden", state !== "offline" && state !== "closed");
    document.documentElement.toggleAttribute("data-stale", world.connection === "offline" || world.connection === "closed");
  }

  /** @param {World} world @param {World["connection"] | "reader"} state */
  stateWords(world, state) {
    const ms = world.moved?.forward_ms ?? 0;
    const device = world.opened?.device.replace(/^cpu$/, "CPU") ?? "";
    switch (state) {
      case "reader": return world.recording ? msg`A recording, ${device}` : world.people?.follows ? msg`Following the teacher` : world.people?.over ? msg`Read only: the class is over` : this.actions.run.role === "reader" ? msg`Read only, as the address says` : msg`Read only: another page is in control`;
      case "open":
        if (isBroken(world)) return world.moved.phase === "train" ? msg`Diverged, ${place(world)}` : msg`Not finite, ${place(world)}`;
        if (!device) return msg`Connected`;
        return ms ? msg`PyTorch, ${device}, ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms forward` : msg`PyTorch, ${device}`;
      case "closed": return msg`Not connected: ${world.reason}`;
      case "offline": return msg`Connection lost, trying again`;
      default: return msg`Connecting`;
    }
  }
}

/** Why a reader in a class can set nothing, or false. @param {World} world */
const readerOf = (world) => world.role === "reader" && !!world.people && reasons(world).step;

/** @param {World} world */
const isBroken = (world) => !!world.opened && !!world.moved && broken(world) !== null;
