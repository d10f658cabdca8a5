// @ts-check
/** Commands of the person that were not answered yet: whether one takes long, and whether one waits behind a measurement. */

/** What takes longer than this shows as under way, ms. */
const PATIENCE = 150;

export class Underway {
  /** @param {import("./store.mjs").Store} store */
  constructor(store) {
    this.store = store;
    this.open = 0;
    /** Analyses among them, oldest first. @type {string[]} */
    this.analyses = [];
    /** @type {any} */
    this.timer = 0;
  }

  /** @param {string} analysis its name, or "" */
  begun(analysis) {
    if (analysis) this.analyses.push(analysis);
    this.open++;
    if (this.open === 1) this.timer = setTimeout(() => this.store.set({ busy: true }), PATIENCE);
    else setTimeout(() => this.tell(), PATIENCE);
  }

  /** @param {string} analysis */
  ended(analysis) {
    if (analysis) this.analyses.splice(this.analyses.indexOf(analysis), 1);
    this.open--;
    this.tell();
    if (this.open > 0) return;
    clearTimeout(this.timer);
    if (this.store.world.busy) this.store.set({ busy: false });
  }

  /** Which analysis a command waits behind. */
  tell() {
    const behind = this.open > this.analyses.length ? (this.analyses[0] ?? "") : "";
    if (behind !== this.store.world.behind) this.store.set({ behind });
  }
}
