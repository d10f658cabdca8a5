// @ts-check
/** Telling the class where this page's run stands, when that changed, at most a few times a second. */

import { msg } from "../lib/language.mjs";
import { whereOf } from "./people.mjs";

const PAUSE = 250;

export class Telling {
  /** @param {{store: import("../lib/run/store.mjs").Store, send: (message: Record<string, any>) => boolean, more?: () => Record<string, any>}} o more: what a student says beside it */
  constructor({ store, send, more = () => ({}) }) {
    this.store = store;
    this.send = send;
    this.more = more;
    this.told = "";
    /** @type {any} */
    this.timer = 0;
    store.listen((parts) => (parts.includes("moved") || parts.includes("opened")) && this.soon());
  }

  soon() {
    this.timer ||= setTimeout(() => this.now(), PAUSE);
  }

  /** @param {boolean} [again] it is said even if it was said before: the class came back */
  now(again = false) {
    clearTimeout(this.timer);
    this.timer = 0;
    const where = whereOf(this.store.world);
    if (!where) return;
    const text = JSON.stringify({ kind: "where", ...where, ...this.more() });
    if ((again || text !== this.told) && this.send(JSON.parse(text))) this.told = text;
  }
}

/** Put marks on the timeline, where they are others than before.
 * @param {import("../lib/run/store.mjs").Store} store @param {"teacher" | "follow" | "own" | "ended"} mode @param {import("../lib/types").Pin[]} pins */
export function pin(store, mode, pins) {
  const follows = mode === "follow";
  const next = { follows, over: mode === "ended", pins };
  const held = follows ? msg`The teacher steps and sets. Explore on your own to do so yourself.` : "";
  if (JSON.stringify(next) !== JSON.stringify(store.world.people)) store.set({ people: next, held });
}
