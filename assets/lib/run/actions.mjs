// @ts-check
/** What the controls and the keys do: each turns into commands, or changes the look. */

import { msg } from "../language.mjs";
import { chosenNext } from "../deck/moments.mjs";
import { lookAt, lookAway } from "../deck/ops.mjs";
import { fits, label, MOST, reached, toggled } from "../deck/stops.mjs";
import { exampleOf, opening, variantFor } from "../setup/examples.mjs";
import { groupsOf, owner } from "../states/tapes.mjs";
import { following, remember, remembered, scheme } from "../page/theme.mjs";

/** @typedef {import("./run.mjs").Run} Run @typedef {"step" | "stage" | "op"} Unit */

export class Actions {
  /** @param {{run: Run, catalogue: any, repaint: () => void}} o */
  constructor({ run, catalogue, repaint }) {
    this.run = run;
    this.store = run.store;
    this.commands = run.commands;
    this.catalogue = catalogue;
    this.repaint = repaint;
    /** @type {Unit} */
    this.unit = "step";
    this.rate = 2;
    /** The stops that the newest play was sent with. @type {any} */
    this.playedWith = null;
    this.store.listen((parts) => {
      if (parts.includes("look")) this.stopsMoved();
      if (parts.includes("playing")) this.stoppedAt(this.world.playing);
    });
  }

  get world() {
    return this.store.world;
  }

  /** What a person set: what was opened (or will be), with the changes that were sent and not answered yet.
   * @returns {any} */
  get scenario() {
    const { opened } = this.world;
    return opened ? { ...opened.scenario, ...this.world.asked } : { ...this.run.first, ...this.run.early };
  }

  // ---- time

  /** The operations of the newest stage that ran, in order. @returns {string[]} */
  ops() {
    return this.world.moved?.stages.findLast((/** @type {any} */ s) => s.ms !== null)?.ops ?? [];
  }

  async step() {
    if (this.unit !== "op") {
      this.cursor(null);
      return this.onward(this.unit);
    }
    const ops = this.ops();
    const at = ops.indexOf(this.world.look.op ?? "");
    if (at >= 0 && at < ops.length - 1) return this.cursor(ops[at + 1]);
    const reply = await this.onward("stage");
    if (reply.ok) this.cursor(this.ops()[0] ?? null);
    return reply;
  }

  /** A step, or to what was chosen here before on the line that is followed. @param {"step" | "stage"} unit */
  onward(unit) {
    const chosen = chosenNext(this.world);
    return chosen ? this.commands.go(chosen.id) : this.commands.step(unit);
  }

  async back() {
    const ops = this.ops();
    const at = ops.indexOf(this.world.look.op ?? "");
    if (this.unit === "op" && at > 0) return this.cursor(ops[at - 1]);
    const reply = await this.commands.back();
    if (reply.ok) this.cursor(this.unit === "op" ? (this.ops().at(-1) ?? null) : null);
    return reply;
  }

  /** The op cursor, and with it what the map, the read and the inspector look at. No message: all of it was recorded.
   * @param {string | null} scope */
  cursor(scope) {
    this.run.look(scope === null ? lookAway(this.world) : lookAt(this.world, scope));
  }

  play() {
    if (this.world.playing.playing) return this.pause();
    if (this.unit !== "op") return this.playOn(this.unit);
    this.store.set({ playing: { playing: true, unit: "op", rate: this.rate } });
    this.playOps();
  }

  /** @param {"step" | "stage"} unit */
  playOn(unit) {
    this.playedWith = this.world.look.stops;
    return this.commands.play(unit, this.rate, this.playedWith.filter((/** @type {any} */ s) => fits(this.world, s)));
  }

  /** Ops are played here, because the page alone moves over them. */
  playOps() {
    this.timer = setTimeout(async () => {
      const before = { moved: this.world.moved, op: this.world.look.op };
      const reply = await this.step();
      if (!this.world.playing.playing) return;
      const stop = reached(this.world.look.stops, before, { moved: this.world.moved, op: this.world.look.op });
      if (stop) this.tell(msg`Stopped where you asked: ${label(this.world, stop)}.`);
      if (stop || (reply && !reply.ok)) this.pause();
      else this.playOps();
    }, 1000 / this.rate);
  }

  /** @param {string} message stands until the run moves on */
  tell(message) {
    this.store.set({ notices: [...this.world.notices, { code: "stopped", message, offer: null, at: this.world.moved.at }] });
  }

  pause() {
    if (this.world.playing.unit !== "op") return this.commands.pause();
    clearTimeout(this.timer);
    this.store.set({ playing: { ...this.world.playing, playing: false } });
  }

  // ---- where Play stops

  /** @param {import("../types").PlayStop} stop */
  toggleStop(stop) {
    const { stops } = this.world.look;
    const next = toggled(stops, stop);
    if (next.length > MOST) return this.run.refuse([{ field: "stops", given: next.length, allowed: msg`at most ${MOST}`, message: msg`There are ${MOST} stops already; remove one first.` }]);
    this.run.look({ stops: next });
  }

  /** A stop where the run stands: at the op cursor, the stage, or the step. */
  stopHere() {
    const { moved, look } = this.world;
    if (!moved) return;
    const { phase } = moved;
    const stage = moved.stage || (phase === "train" ? moved.stages.findLast((/** @type {any} */ s) => s.ms !== null)?.name : "");
    if (look.op) return this.toggleStop({ kind: "op", phase, scope: look.op });
    if (stage) return this.toggleStop({ kind: "stage", phase, stage });
    return this.toggleStop({ kind: "step", phase, step: Math.max(1, moved.step) });
  }

  /** Stops that were changed while the run plays hold at once. */
  stopsMoved() {
    const { playing, look, role } = this.world;
    if (playing.playing && playing.unit !== "op" && role === "writer" && this.playedWith && this.playedWith !== look.stops) this.playOn(playing.unit);
  }

  /** Playing ended at an operation: the cursor goes there.
   * @param {any} playing */
  stoppedAt({ playing, stop }) {
    if (!playing && stop?.kind === "op" && this.playedWith && this.world.role === "writer") this.cursor(stop.scope);
    if (!playing) this.playedWith = null;
  }

  /** @param {Unit} unit */
  granularity(unit) {
    if (unit === this.unit) return;
    if (this.world.playing.playing) this.pause();
    this.unit = unit;
    this.cursor(unit === "op" ? (this.ops()[0] ?? null) : null);
    this.store.tell(["unit"]);
  }

  /** @param {number | string} rate */
  speed(rate) {
    if (!(Number(rate) >= 0.1 && Number(rate) <= 60)) return;
    this.rate = Number(rate);
    if (this.world.playing.playing && this.world.playing.unit !== "op") this.playOn(this.world.playing.unit);
  }

  /** @param {"train" | "prefill" | "decode"} phase */
  phase(phase) {
    if (!phase || phase === (this.world.moved?.phase ?? this.scenario?.phase)) return undefined;
    if (phase === "train" && this.world.look.editing) this.run.look({ editing: false }); // the map of masks would cover the loss
    return this.commands.enter(phase);
  }

  // ---- set-up

  /** One field of the scenario: "seed", "training.learning_rate", "config.layers".
   * @param {string} path @param {any} value */
  field(path, value) {
    const [group, name] = path.split(".");
    const old = name ? this.scenario[group]?.[name] : this.scenario[group];
    if (value === old) return;
    return this.commands.change(name ? { [group]: { ...this.scenario[group], [name]: value } } : { [group]: value });
  }

  /** @param {string} [id] @returns {any} */
  architecture(id = this.scenario?.architecture) {
    return this.catalogue.architectures.find((/** @type {any} */ a) => a.id === id);
  }

  /** @param {string} id */
  choose(id) {
    if (id && id !== this.scenario?.architecture) return this.commands.change({ architecture: id });
  }

  /** To the weights as they were before the first update here, in the same phase. Nothing is lost: the history keeps what came after. */
  async beforeUpdates() {
    const first = [...this.world.history.values()].find((node) => node.parent === null);
    const { phase } = this.world.moved;
    const reply = await this.commands.go(first.id);
    if (reply.ok && phase !== first.phase) await this.commands.enter(phase);
  }

  /** The example before or after the one that is shown, of the same task. @param {number} by */
  nextExample(by) {
    const task = this.task();
    const count = task?.presets.length ?? 0;
    const now = this.presetNow();
    const at = now ? Number(now.split("/")[1]) : by > 0 ? -1 : 0;
    if (count) return this.preset(`${task.id}/${(at + by + count) % count}`);
  }

  /** The architecture with which an example of this task opens. @param {any} task @returns {any} */
  opening(task) {
    return opening(task, this.architecture(), this.catalogue.architectures);
  }

  /** The name of the architecture that an example, "task/number", changes to; "" where the one that is set has its task.
   * @param {string} name */
  opens(name) {
    const task = this.task(name.split("/")[0]);
    return !task || !this.scenario || this.opening(task) === this.architecture() ? "" : this.opening(task).name;
  }

  /** A task's example, "task/number": with another architecture if this one does not have the task.
   * @param {string | null} name */
  preset(name) {
    const [id, number] = (name ?? "").split("/");
    const task = this.task(id);
    const preset = task?.presets[Number(number)];
    if (!preset || name === this.presetNow()) return;
    const request = Object.fromEntries(["source", "features", "target"].flatMap((name) => (preset[name] ? [[name, preset[name]]] : [])));
    if (task.id === this.scenario.task) return this.commands.change({ requests: [request] });
    const { opened } = this.world;
    const architecture = this.opening(task);
    const variant = architecture.id === this.scenario.architecture && opened?.weights.kind === "trained" ? variantFor(architecture, task.id, this.scenario.config) : {};
    return this.commands.change({ architecture: architecture.id, task: task.id, requests: [request], ...variant });
  }

  /** A task, as the catalogue has it: the one that is set. @returns {any} */
  task(id = this.scenario?.task) {
    return this.catalogue.tasks.find((/** @type {any} */ t) => t.id === id);
  }

  /** The example that the requests are, or null when a person wrote them. */
  presetNow() {
    const task = this.task();
    const found = exampleOf(task, this.scenario?.requests ?? []);
    return found < 0 ? null : `${task.id}/${found}`;
  }

  /** What to look at in the example that the requests are. @returns {string} */
  presetNote() {
    const [id, number] = (this.presetNow() ?? "").split("/");
    return this.task(id)?.presets[Number(number)].note ?? "";
  }

  /** @param {any[]} requests */
  requests(requests) {
    return this.commands.change({ requests });
  }

  undo() {
    return this.commands.undo();
  }

  redo() {
    return this.commands.redo();
  }

  reset() {
    return this.commands.reset();
  }

  // ---- look

  /** @param {"layer" | "head"} what @param {number} by */
  turn(what, by) {
    const { look, opened } = this.world;
    const info = opened?.relations.find((/** @type {any} */ r) => r.name === look.relation);
    const size = (what === "layer" ? (info?.layers ?? groupsOf(this.world, owner(this.world)).length) : info?.heads) ?? 0;
    const next = look[what] + by;
    if (next >= 0 && next < size) this.run.look({ [what]: next });
  }

  nextTheme() {
    this.theme(following(remembered()));
  }

  /** @param {"auto" | "light" | "dark"} theme */
  theme(theme) {
    remember(theme);
    document.documentElement.setAttribute("data-mantine-color-scheme", scheme(theme));
    if (this.world.look.theme !== theme) this.store.set({ look: { ...this.world.look, theme } });
    this.repaint();
  }
}
