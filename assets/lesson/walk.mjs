// @ts-check
/** One lesson walked through on the run of this page: what is kept, what is asked, and the commands that it sends. */

import { data } from "../lib/data.mjs";
import { whenIdle } from "../lib/dom.mjs";
import { isLink } from "../lib/run/link.mjs";
import { passing } from "../lib/storage.mjs";
import * as judge from "./judge.mjs";
import { Panel } from "./panel.mjs";
import { hued, plain } from "./said.mjs";
import * as progress from "./progress.mjs";
import { ASKER, See, wants } from "./see.mjs";

/** @typedef {import("./types").Lesson} Lesson @typedef {import("./types").Start} Start @typedef {import("./types").Progress} Progress */

/** In this tab: whose run it is. */
const RUNS = "lookback-lesson-runs";
/** Of a step at most. */
const STAGES = 8;

/** A scenario with what a lesson left out, as the page has it before a server has filled it. @param {Record<string, any>} scenario */
const whole = (scenario) => ({ ...data.scenario, config: {}, ...scenario, requests: (scenario.requests ?? data.scenario.requests).map((/** @type {any} */ request) => ({ target: [], ...request })) });

export class Walk {
  /** @param {any} page the store, the run, the registry, where a sentence is said @param {{lesson: Lesson, number: number, following: Lesson | null, step: number | null}} o step: the one that the address asks for */
  constructor({ store, run, registry, say }, { lesson, number, following, step }) {
    /** @type {import("../lib/run/store.mjs").Store} */
    this.store = store;
    /** @type {{waiting: boolean}} */
    this.registry = registry;
    /** @type {import("../lib/run/run.mjs").Run} */
    this.run = run;
    /** @type {(sentence: string) => void} */
    this.say = say;
    this.lesson = lesson;
    this.number = number;
    this.following = following;
    /** @type {Progress} */
    this.progress = progress.load(lesson);
    if (step !== null) this.progress = progress.at(this.progress, step, lesson.steps.length);
    if (step !== null && step !== this.progress.step) this.address(); // it was not reached
    this.waiting = false;
    /** What the first step speaks of is in sight. */
    this.brought = false;
    /** A command of the lesson is under way. */
    this.going = false;
    this.panel = new Panel(/** @type {HTMLElement} */ (document.getElementById("lesson")), this.acts());
    registry.also(ASKER, () => wants(lesson, store.world));
    store.listen((/** @type {string[]} */ parts) => parts.some((p) => p !== "hover" && p !== "held") && this.changed());
    this.draw();
  }

  /** The run of another lesson that this tab had is left as it is. */
  own() {
    const { run, lesson } = this;
    if (passing.getItem(RUNS) !== lesson.id && !isLink(location.hash) && !history.state?.session) run.bar.forget();
    passing.setItem(RUNS, lesson.id);
    const start = this.start();
    run.first = whole(start.scenario);
    run.log = start.log ?? [];
    if (start.look) this.store.set({ look: { ...this.store.world.look, ...start.look } });
  }

  /** Where the step that is shown begins: as itself, or the last before it, says. @returns {Start} */
  start() {
    const { steps, begin } = this.lesson;
    return steps.slice(0, this.progress.step + 1).findLast((step) => step.at)?.at?.start ?? begin;
  }

  get step() {
    return this.lesson.steps[this.progress.step];
  }

  get kept() {
    return this.progress.steps[this.progress.step] ?? {};
  }

  see(kept = this.kept) {
    return new See(this.store.world, this.lesson, kept, progress.notes(this.progress));
  }

  /** The run changed: what of the step is done now, and then one picture. */
  changed() {
    const { world, unsettled } = this.store;
    if (!unsettled && !this.going && world.connection === "open" && world.opened && world.moved) {
      const next = judge.advanced(this.lesson, (kept) => this.see(kept), this.progress);
      if (next !== this.progress) this.keep(next);
      this.hold();
    }
    this.ask();
  }

  /** What computes on waits for the answer. */
  hold() {
    const question = judge.question(this.step, this.see(), this.kept);
    const held = plain(question);
    if (held !== this.store.world.held) this.store.set({ held, question: hued(question) });
  }

  /** @param {Progress} next */
  keep(next) {
    this.progress = next;
    progress.save(this.lesson, next);
  }

  ask() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.waiting = false;
    const { lesson, number, following, progress: { step, done } } = this;
    const see = this.see();
    this.panel.draw({ lesson, number, following, see, kept: this.kept, step, done, going: this.going, after: this.progress.steps[step + 1]?.from ? undefined : lesson.steps[step + 1] });
    ring(see.world.moved ? (this.step.ring?.(see) ?? "") : "");
    if (!see.world.moved || this.brought) return;
    this.brought = true;
    this.bringFirst();
  }

  /** Once the views stand at their heights. */
  bringFirst() {
    requestAnimationFrame(() => (this.registry.waiting ? this.bringFirst() : bring()));
  }

  acts() {
    return {
      choose: (/** @type {string} */ chosen) => this.keeping({ chosen }),
      reveal: () => this.reveal(),
      go: (/** @type {number} */ step) => this.go(step),
      next: () => this.next(),
      begin: () => this.begin(),
      write: (/** @type {string} */ wrote) => this.keeping({ wrote }),
      ask: () => this.ask(),
      give: () => this.keeping({ given: true }),
    };
  }

  /** @param {Partial<import("./types").Kept>} more */
  keeping(more) {
    this.keep(progress.keeping(this.progress, more));
    this.changed();
  }

  /** The answer stands; then the same command as Step, where that is what computes it. */
  async reveal() {
    const { predict } = this.step;
    const { chosen } = this.kept;
    if (!predict || chosen === undefined || !judge.asking(this.step, this.see(), this.kept)) return;
    this.keeping({ said: chosen });
    if (!(await this.compute(predict))) return this.keeping({ said: undefined });
    requestAnimationFrame(() => this.panel.focusRuling());
  }

  /** What is asked is computed: by a step, or by one stage after another until its numbers are there; or the person does it. Whether nothing was refused.
   * @param {import("./types").Question} question */
  async compute({ reveal, measured }) {
    if (reveal === "you") return true;
    if (reveal === "step") return (await this.run.commands.step()).ok;
    for (let stages = 0; stages < STAGES && !measured(this.see()); stages++) if (!(await this.run.commands.step("stage")).ok) return false;
    return true;
  }

  /** Who goes on is taken to where the next step begins; who goes back is offered it. @param {number} step that was reached */
  go(step) {
    const next = progress.at(this.progress, step, this.lesson.steps.length);
    if (next === this.progress) return;
    const onward = step > this.progress.step;
    this.keep(next);
    this.address();
    const { at } = this.step;
    if (onward && this.store.world.connection === "open" && judge.afar(this.step, this.see(), this.kept)) this.begin();
    else if (at?.start.look && judge.stands(this.step, this.see())) this.run.look(at.start.look);
    this.changed();
    this.draw();
    this.panel.focusStep();
    bring();
    whenIdle(() => this.say(this.step.title()));
  }

  next() {
    if (this.progress.step < this.lesson.steps.length - 1) return this.go(this.progress.step + 1);
    location.assign(this.following ? `?n=${this.following.id}` : "./");
  }

  /** To where the step begins: its scenario and what is done in it, anew. */
  async begin() {
    const start = this.start();
    this.going = true;
    const reply = await this.run.commands.open(whole(start.scenario), start.log ?? []);
    this.going = false;
    if (!reply.ok) return this.changed();
    if (start.look) this.run.look(start.look);
    this.keep(progress.again(this.progress));
    this.changed();
    requestAnimationFrame(() => bring());
  }

  /** The address says which step is shown. */
  address() {
    history.replaceState(history.state, "", `${location.pathname}?n=${this.lesson.id}&step=${this.progress.step + 1}${location.hash}`);
  }
}

/** On a phone what the step speaks of, else the sentence and the rows, is brought above the sheet that the lesson is there; on its side, into the stage. */
function bring() {
  if (!matchMedia("(max-width: 720px), (max-height: 560px)").matches) return;
  const upright = matchMedia("(max-width: 720px)").matches; // there Step has a bar of its own
  const ringed = document.querySelector(`[data-ring]:not(.phone-nav *${upright ? ", .deck *" : ""})`) ?? document.querySelector(".stage .read");
  ringed?.scrollIntoView({ block: "start" });
}

/** The control that the step speaks of carries an ink ring. @param {string} selector */
function ring(selector) {
  const wanted = new Set(selector ? document.querySelectorAll(selector) : []);
  for (const element of document.querySelectorAll("[data-ring]")) if (!wanted.has(element)) element.removeAttribute("data-ring");
  for (const element of wanted) element.setAttribute("data-ring", "");
}
