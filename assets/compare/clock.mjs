// @ts-check
/** The one clock of all columns: a step, the way back, a place of the track, a phase. What is next waits for all of them. */

import { ended, placeOf, START, stepOf, whyNot } from "./said.mjs";

/** @typedef {import("./columns.mjs").Column} Column @typedef {import("./link.mjs").Comparison} Comparison */
/** What the page is, of which the clock moves the columns.
 * @typedef {{now: Comparison, columns: Column[], refused: string, playing: number, busy: boolean, owed: boolean}} Page */

const PLAY = { prefill: 600, decode: 600, train: 30 }; // ms between steps
const PATIENCE = 100; // ms that a step waits for the slowest model, so that it is one picture

/** The moment before this one in the same pass; null where the pass begins, or another input did. @param {Column} c */
const before = (c) => {
  const { world } = c, node = world.history.get(world.moved?.at ?? -1);
  return node && (node.command === "step" || node.command === "choose") ? (world.history.get(node.parent) ?? null) : null;
};

export class Clock {
  /** @param {Page} page @param {{paint: (whole?: Column[]) => void, rested: () => void}} told paint: what is said changed, and all of some columns; rested: a move has ended */
  constructor(page, { paint, rested }) {
    this.page = page;
    this.paint = paint;
    this.rested = rested;
  }

  /** The same command to some columns. @param {(c: Column) => Promise<any>} act @param {Column[]} [columns] @returns {Promise<any[]>} their replies */
  async together(act, columns = this.page.columns) {
    const { page } = this;
    if (page.busy) return [];
    page.busy = true;
    this.refuse("");
    for (const c of columns) c.awaited = true;
    const late = setTimeout(() => this.answered(columns), PATIENCE);
    const replies = await Promise.all(columns.map(act));
    clearTimeout(late);
    page.busy = false;
    this.answered(columns);
    const [error] = replies.find((r) => r && !r.ok)?.errors ?? [];
    this.refuse(error ? whyNot(error) : page.refused); // what was refused meanwhile stays said
    this.rested();
    return replies;
  }

  /** Another input for all models: where one does not take it, all stay with the one before.
   * @param {Comparison} next @param {(c: Column) => any[]} requests of a column, by `page.now` */
  async reads(next, requests) {
    const { page } = this, old = page.now;
    while (page.busy) await new Promise((done) => setTimeout(done, 20)); // a step is under way
    page.now = next;
    const replies = await this.together((c) => c.commands.change({ requests: requests(c) }));
    if (replies.length && replies.every((r) => r.ok)) return;
    page.now = old;
    await Promise.all(page.columns.map((c, i) => replies[i]?.ok && c.commands.undo()));
    this.rested();
  }

  /** Nothing of these is waited for any more. @param {Column[]} columns */
  answered(columns) {
    for (const c of columns) c.awaited = false;
    if (this.page.owed) this.paint([]);
  }

  /** @param {string} sentence */
  refuse(sentence) {
    if (sentence === this.page.refused) return;
    this.page.refused = sentence;
    this.paint([]);
  }

  /** An update, the prefill, or a token: of all models. */
  async step() {
    const { columns, now } = this.page, going = columns.filter((c) => !ended(c));
    const [leader] = columns;
    if (now.phase === "train" || now.lead === "own" || ended(leader)) return this.together((c) => c.commands.step(), going);
    const word = leader.world.opened?.vocabulary.target[leader.request()?.choice ?? -1];
    const own = (/** @type {Column} */ c) => c.world.opened?.vocabulary.target.indexOf(word) ?? -1;
    return this.together((c) => (c === leader || own(c) < 0 ? c.commands.step() : c.commands.choose(0, own(c))), going);
  }

  /** Whether there is something before what is shown. */
  get behind() {
    const { columns, now } = this.page;
    return now.phase === "train" ? columns.some(before) : stepOf(this.page) > START;
  }

  /** Those that are furthest, a step back; before the first token, to where nothing is read. */
  back() {
    if (!this.behind) return;
    const most = stepOf(this.page), furthest = this.page.columns.filter((c) => placeOf(c) === most && before(c));
    return furthest.length ? this.together((c) => c.commands.back(), furthest) : this.enter("prefill");
  }

  /** To the start of a phase. @param {Comparison["phase"]} phase */
  async enter(phase) {
    this.stop();
    this.page.now = { ...this.page.now, phase };
    await this.together(async (c) => {
      const reply = await c.commands.enter(phase);
      await c.watch();
      return reply;
    });
  }

  /** To a place that was passed, or onwards. @param {number} to */
  async go(to) {
    if (to === START) return this.enter("prefill");
    this.stop();
    await this.together((c) => {
      const { history, moved } = c.world;
      let node = history.get(moved?.at);
      while (node && placeOf(c, node) > to && node.parent !== null) node = history.get(node.parent);
      return node && node.id !== moved?.at ? c.commands.go(node.id) : Promise.resolve({ ok: true, errors: [] });
    });
    while (stepOf(this.page) < to && this.page.columns.some((c) => !ended(c)) && !this.page.refused) await this.step();
  }

  play() {
    const { page } = this;
    if (page.playing) return this.stop();
    const tick = async () => {
      await this.step();
      if (page.playing && page.columns.some((c) => !ended(c)) && !page.refused) page.playing = window.setTimeout(tick, PLAY[page.now.phase]);
      else this.stop();
    };
    page.playing = window.setTimeout(tick, 0);
    this.paint([]);
  }

  stop() {
    clearTimeout(this.page.playing);
    if (this.page.playing) this.paint([]);
    this.page.playing = 0;
  }
}
