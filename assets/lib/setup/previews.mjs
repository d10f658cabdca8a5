// @ts-check
/** What a variant would be, asked of the server while a person edits: one question under way, and only the newest waits. */

import { whenIdle } from "../dom.mjs";

/** @typedef {{parameters: number, weights: "trained" | "random", allowed: Record<string, import("../numbers.mjs").Fitting>}} Variant */
/** @param {any} scenario @returns {Promise<Variant | null>} null when it is refused */
async function post(scenario) {
  await new Promise((due) => whenIdle(() => due(null))); // what is asked for at the start waits for the first picture
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(new URL("api/scenario/validate", document.baseURI), { method: "POST", headers, body: JSON.stringify(scenario) });
  return response.ok ? response.json() : null;
}

export class Previews {
  /** @param {(scenario: any, variant: Variant | null) => void} told @param {(scenario: any) => Promise<Variant | null>} [ask] */
  constructor(told, ask = post) {
    this.told = told;
    this.askOf = ask;
    this.busy = false;
    /** @type {any} */
    this.next = null;
    /** @type {Map<string, Variant>} what was answered lately */
    this.known = new Map();
  }

  /** @param {any} scenario */
  ask(scenario) {
    const known = this.known.get(JSON.stringify(scenario));
    this.next = known ? null : scenario;
    if (known) this.told(scenario, known);
    else if (!this.busy) this.run();
  }

  async run() {
    this.busy = true;
    while (this.next) {
      const scenario = this.next;
      this.next = null;
      const variant = await this.askOf(scenario).catch(() => null); // offline: nothing is known of it
      if (variant) this.keep(JSON.stringify(scenario), variant);
      if (!this.next) this.told(scenario, variant);
    }
    this.busy = false;
  }

  /** @param {string} key @param {Variant} variant */
  keep(key, variant) {
    this.known.set(key, variant);
    if (this.known.size > 200) this.known.delete(/** @type {string} */ (this.known.keys().next().value));
  }
}
