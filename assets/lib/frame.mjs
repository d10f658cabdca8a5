// @ts-check
/** The page's own frame: what its controls show follows the run; where-am-I, status, flyouts and tabs. */

import { set, text as put } from "./dom.mjs";
import { msg } from "./language.mjs";
import { NumberField } from "./numbers.mjs";
import { Requests, weightsLine } from "./requests.mjs";
import { text } from "./text.mjs";

/** @typedef {import("./actions.mjs").Actions} Actions @typedef {import("./types").World} World */

export class Frame {
  /** @param {{actions: Actions, ids: Record<string, string>, fields: any[]}} o ids, fields: from app/ui/ids.py and controls.py */
  constructor({ actions, ids, fields }) {
    this.actions = actions;
    this.store = actions.store;
    this.ids = ids;
    this.fields = fields;
    /** What each control was last told, as text. @type {Map<string, string>} */
    this.told = new Map();
    this.numbers = new Map(fields.filter((f) => f.as === "number").map((f) => [f.path, this.number(f)]));
    this.requests = new Requests(this.element("REQUESTS"), (requests) => actions.requests(requests));
    this.store.listen((parts) => this.changed(parts));
    listenToPanels();
    this.changed(["opened", "moved", "playing", "connection"]);
  }

  /** @param {string} name @returns {any} */
  element(name) {
    return document.getElementById(this.ids[name]);
  }

  /** @param {any} field */
  number(field) {
    const place = /** @type {HTMLElement} */ (document.getElementById(field.id));
    return new NumberField(place, problemOf(field.path), field, (value) => this.actions.field(field.path, value));
  }

  /** @param {string[]} parts */
  changed(parts) {
    const has = (/** @type {string[]} */ ...names) => names.some((n) => parts.includes(n));
    const { world } = this.store;
    if (has("opened", "moved", "role", "connection", "refused")) this.requests.update(world);
    if (has("opened", "moved")) weightsLine(this.element("WEIGHTS_LINE"), world);
    if (has("opened", "refused", "set-up")) this.setUp();
    if (has("refused")) this.refusals(world.refused ?? []);
    if (has("moved", "refused")) this.tell(this.ids.PHASE, { value: world.moved?.phase ?? null });
    if (has("opened", "moved", "playing", "connection", "role", "unit")) this.deck(world);
    if (has("opened", "moved", "connection", "role")) this.status(world);
    if (has("role", "connection", "opened")) this.may(world);
    if (has("look")) this.tell(this.ids.THEME, { children: text.theme[world.look.theme], "aria-label": text.themeName[world.look.theme] });
  }

  /** Tell a control what to show, where it shows something else: telling it makes Dash draw it and call its binding, which
   * knows by `data-told` that no person did this.
   * @param {any} id @param {Record<string, any>} props */
  tell(id, props) {
    const fresh = Object.fromEntries(Object.entries(props).filter(([name, value]) => this.told.get(placeOf(id, name)) !== JSON.stringify(value)));
    for (const [name, value] of Object.entries(fresh)) {
      this.told.set(placeOf(id, name), JSON.stringify(value));
      if (name === "value" || name === "checked") fresh["data-told"] = JSON.stringify(value);
    }
    if (Object.keys(fresh).length) /** @type {any} */ (window).dash_clientside.set_props(id, fresh);
  }

  /** A person made a control show this.
   * @param {any} id @param {string} name @param {any} value */
  touched(id, name, value) {
    this.told.set(placeOf(id, name), JSON.stringify(value));
    /** @type {any} */ (window).dash_clientside.set_props(id, { "data-told": JSON.stringify(value) });
  }

  setUp() {
    const { scenario } = this.actions;
    if (!scenario) return;
    for (const panel of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-for]"))) panel.hidden = panel.dataset.for !== scenario.architecture;
    this.tell(this.ids.ARCHITECTURE, { value: scenario.architecture });
    this.tell(this.ids.PRESET, { value: this.actions.presetNow() });
    for (const { id, path, as } of this.fields) {
      const [group, name, of] = path.split(".");
      const value = name ? scenario[group][name] : scenario[group];
      if ((of && of !== scenario.architecture) || value === undefined) continue;
      if (as === "number") this.numbers.get(path)?.show(value);
      else this.tell(id, { [as === "checked" ? "checked" : "value"]: as === "text" ? String(value) : value });
    }
    const schema = this.actions.architecture()?.config_schema ?? [];
    this.tell(this.ids.DEFAULTS, { disabled: schema.every((/** @type {any} */ f) => scenario.config[f.name] === f.default) });
    put(this.element("PRESET_NOTE"), this.actions.presetNote());
    put(this.element("INPUT_TITLE"), this.actions.catalogue.tasks.find((/** @type {any} */ t) => t.id === scenario.task)?.name ?? "");
  }

  /** What this page may do at all: a reader's controls are disabled, and a page without a run offers a new one.
   * @param {World} world */
  may(world) {
    const reads = world.role === "reader";
    const nothing = world.connection === "closed" && !world.opened;
    for (const group of /** @type {NodeListOf<HTMLFieldSetElement>} */ (document.querySelectorAll("fieldset.able"))) {
      group.disabled = nothing || (reads && !(world.recording && group.closest(".deck")));
      set(group, "title", world.recording && group.disabled && msg`This is a recording`);
    }
    set(this.element("READ_ONLY"), "hidden", !reads);
    put(this.element("READ_ONLY"), world.recording ? msg`This is a recording: the model is not in it, so nothing can be changed.` : this.actions.run.role === "reader" ? text.takeOverAsked : text.takeOver);
    set(this.element("NOTHING"), "hidden", !nothing);
    put(this.element("NOTHING_WORDS"), world.reason);
  }

  /** Ask once before a run with more than its first moment goes. */
  askReset() {
    const more = this.store.world.history.size - 1;
    if (more < 1) return this.actions.reset();
    put(this.element("RESET_WORDS"), text.moments(more));
    set(this.element("RESET_ASK"), "hidden", false);
    this.element("KEEP").focus();
  }

  /** @param {boolean} reset */
  answerReset(reset) {
    set(this.element("RESET_ASK"), "hidden", true);
    this.element("RESET").focus();
    if (reset) this.actions.reset();
  }

  /** Why the server refused a value, beside its field.
   * @param {any[]} errors */
  refusals(errors) {
    const { architecture } = this.actions.scenario ?? {};
    for (const { path } of this.fields) {
      const error = errors.find((e) => path === e.field || path === `${e.field}.${architecture}`);
      const said = error ? text.notAllowed(error.given, error.allowed) : "";
      const number = this.numbers.get(path);
      if (number && said) number.refuse(said);
      else if (!number) {
        put(problemOf(path), said);
        set(problemOf(path), "hidden", !said);
      }
    }
  }

  /** @param {World} world */
  deck(world) {
    const phase = world.moved?.phase ?? world.opened?.scenario.phase;
    if (phase) document.documentElement.dataset.phase = phase;
    const able = world.connection === "open" && (world.role === "writer" || world.recording) && !!world.opened;
    const { playing } = world.playing;
    const first = !world.moved || world.history.get(world.moved.at)?.parent === null;
    for (const name of ["STEP", "STEP_PHONE"]) this.tell(this.ids[name], { disabled: !able || !!world.moved?.ended });
    for (const name of ["BACK", "BACK_PHONE"]) this.tell(this.ids[name], { disabled: !able || first });
    for (const name of ["PLAY", "PLAY_PHONE"]) this.tell(this.ids[name], { disabled: !able || (!!world.moved?.ended && !playing) });
    put(/** @type {any} */ (document.querySelector(`#${this.ids.PLAY} .words`)), playing ? text.pause : text.play);
    this.tell(this.ids.PLAY_PHONE, { "aria-label": playing ? text.pause : text.play });
    document.documentElement.toggleAttribute("data-playing", playing);
    this.tell(this.ids.RATE, { value: String(this.actions.rate) });
    const whole = phase === "train" ? text.update : text.token;
    this.tell(this.ids.UNIT, { value: this.actions.unit, data: [{ value: "step", label: whole }, ...["stage", "op"].map((u) => ({ value: u, label: u }))] });
    this.where(world);
  }

  /** @param {World} world */
  where(world) {
    const { moved } = world;
    if (!moved) return;
    const last = moved.stages.findLast((/** @type {any} */ s) => s.ms !== null);
    const step = moved.phase === "prefill" ? "" : ` ${moved.phase === "train" ? (moved.train?.update ?? moved.step) : moved.step}`;
    const stage = moved.stage ? text.stage(moved.stage) : last?.rows ? text.rows(last.rows) : text.atStart;
    put(this.element("WHERE"), text.phase[/** @type {"train"} */ (moved.phase)] + step);
    put(this.element("WHERE_NOTE"), moved.phase === "train" && !moved.stage ? "" : stage);
  }

  /** @param {World} world */
  status(world) {
    const state = world.connection === "open" && world.role === "reader" ? "reader" : world.connection;
    const reads = world.recording ? msg`A recording, ${world.opened?.device ?? ""}` : this.actions.run.role === "reader" ? text.readerAsked : text.reader;
    const said = state === "reader" ? reads : state === "open" ? text.ready(world.opened?.device ?? "", world.moved?.forward_ms ?? 0) : state === "closed" ? `${text.closed}: ${world.reason}` : text[/** @type {"offline"} */ (state)];
    put(this.element("STATUS"), said);
    set(this.element("STATUS_DOT"), "data-state", state);
    set(this.element("STATUS_RETRY"), "hidden", state !== "offline" && state !== "closed");
    document.documentElement.toggleAttribute("data-stale", world.connection === "offline" || world.connection === "closed");
  }
}

/** @param {string} path @returns {any} */
const problemOf = (path) => document.querySelector(`[data-problem="${path}"]`);

/** @param {any} id @param {string} name of a property */
const placeOf = (id, name) => `${typeof id === "string" ? id : `${id.type} ${id.path}`} ${name}`;

/** Flyouts of the narrow set-up and tabs of the phone: plain switches on the page itself. */
function listenToPanels() {
  addEventListener("click", (event) => {
    const target = /** @type {any} */ (event.target);
    const rail = target.closest?.("[data-rail]");
    const tab = target.closest?.("[data-tab-to]");
    if (tab) showTab(tab.dataset.tabTo);
    const setup = document.querySelector(".setup");
    if (rail) flyout(setup, setup?.getAttribute("data-open") === rail.dataset.rail ? "" : rail.dataset.rail);
    else if (setup && setup.getAttribute("data-open") !== "detail" && !setup.contains(target) && target.isConnected && !target.closest("[role=listbox], [data-portal]")) flyout(setup, "");
  });
  addEventListener("keydown", (event) => event.key === "Escape" && flyout(document.querySelector(".setup"), ""));
}

/** @param {Element | null} setup @param {string} name */
function flyout(setup, name) {
  setup?.setAttribute("data-open", name);
  for (const button of document.querySelectorAll("[data-rail]")) button.setAttribute("aria-expanded", String(/** @type {any} */ (button).dataset.rail === name));
}

/** @param {string} name */
function showTab(name) {
  document.documentElement.dataset.tab = name;
  for (const button of document.querySelectorAll("[data-tab-to]")) {
    if (/** @type {any} */ (button).dataset.tabTo === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  scrollTo(0, 0);
}
