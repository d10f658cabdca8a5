// @ts-check
/** Scales that are printed beside pictures: each stands for one tensor of one model until a person fits it, so that colours can be compared
 * from step to step. */

/** @typedef {import("../types").World} World @typedef {{max: number, diverging: boolean}} Scale */

export class Scales {
  constructor() {
    this.model = "";
    /** @type {Map<string, Scale>} */
    this.held = new Map();
  }

  /** The scale of a tensor; made when its first finite numbers are there. Another model begins with scales of its own.
   * @param {World} world @param {string} name of the tensor @param {Scale | null} first what the numbers in sight ask for @returns {Scale} */
  of(world, name, first) {
    const { architecture, config, task, weights } = world.opened.scenario;
    const model = JSON.stringify([architecture, config, task, weights]);
    if (model !== this.model) this.held.clear();
    this.model = model;
    if (first && !this.held.has(name)) this.held.set(name, first);
    return this.held.get(name) ?? { max: 1, diverging: false };
  }

  /** To what is in sight when it is asked for next. @param {string} name */
  fit(name) {
    this.held.delete(name);
  }
}
