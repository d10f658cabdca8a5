/** Runs of the real engine (made by make.py) as the page's store takes them in: a world after each command. */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import { Store } from "../../../assets/lib/run/store.mjs";
import { decode } from "../../../assets/lib/run/wire.mjs";

/** The frames of a run, up to and with the reply to its n-th command (0: opening).
 * @param {string} name @param {number} commands */
function* frames(name, commands) {
  const whole = gunzipSync(readFileSync(new URL(`${name}.run.gz`, import.meta.url)));
  for (let at = 0, done = 0; at < whole.length && done <= commands; ) {
    const size = whole.readUInt32LE(at);
    const frame = decode(whole.buffer.slice(whole.byteOffset + at + 4, whole.byteOffset + at + 4 + size));
    at += 4 + size;
    if (frame.kind === "reply") done++;
    yield frame;
  }
}

/** The world after so many commands of a run; its values answer any view.
 * @param {string} name @param {number} [commands] @param {any} [look] */
export function recorded(name, commands = Infinity, look = {}) {
  const store = new Store();
  const { world } = store;
  store.inForce = ["0", "1", "2"];
  store.blocks = new Map(store.inForce.map((key) => [key, new Map()]));
  for (const frame of frames(name, commands)) {
    store.apply(frame);
    if (frame.kind === "reply") Object.assign(world, { refused: frame.event.ok ? null : frame.event.errors });
  }
  clearTimeout(store.patience);
  world.connection = "open";
  Object.assign(world.look, { relation: world.opened.relations.at(-1).name, layer: 1 }, look);
  return Object.assign(world, { read: (path) => [...store.blocks.values()].flatMap((known) => [...known.values()]).filter((k) => k.path === path) });
}

/** Answer a view's selectors from all that was recorded, as if it had watched them.
 * @param {any} world @param {import("../../../assets/lib/types").View} view */
export function watching(world, view) {
  world.values = (_, n) => world.read(view.wants(world)[n]?.path ?? "");
  return world;
}
