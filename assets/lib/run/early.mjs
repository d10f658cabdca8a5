// @ts-check
/** A visit that begins as the last one did: the page's first lines (app/ui/parts.py) ask for the run before these scripts are read, in the
 * words that were kept here. See docs/decisions/0029-a-later-visit-asks-first.md. */

import { commands } from "./commands.mjs";
import { lasting } from "../storage.mjs";

/** @typedef {import("../types").Selector} Selector */

const KEY = "lookback-opening";
const page = /** @type {any} */ (globalThis);
const build = /** @type {any} */ (commands(/** @type {any} */ ((/** @type {any} */ command) => command)));

/** The first two messages of a new run, as lib/run/socket.mjs numbers them.
 * @param {Selector[]} selectors @param {any} first the scenario @returns {string[]} */
const messages = (selectors, first) => [build.watch(selectors, 1), build.open(first)].map((command, i) => JSON.stringify({ seq: i + 1, command }));

/** Keep what a new run began with. @param {Selector[]} selectors @param {any} first */
export const keep = (selectors, first) => lasting.setItem(KEY, JSON.stringify(messages(selectors, first)));

/** The connection that the first lines made, if they asked for what this page begins with.
 * @param {any} first @returns {{client: string, selectors: Selector[], open: (url: string) => WebSocket, deliver: () => void} | null} */
export function early(first) {
  const made = page.lookbackEarly;
  if (!made) return null;
  delete page.lookbackEarly;
  const { client, socket, sent, heard } = made;
  const { selectors } = JSON.parse(sent[0]).command;
  if (socket.readyState > 1 || messages(selectors, first).join() !== sent.join()) {
    socket.close();
    return null;
  }
  const asked = new Set();
  const send = socket.send.bind(socket);
  socket.send = (/** @type {string} */ text) => asked.delete(text) || send(text);
  let taken = false;
  const open = (/** @type {string} */ url) => {
    if (taken) return new WebSocket(url);
    taken = true;
    if (socket.readyState === 1) for (const text of sent) asked.add(text);
    return socket;
  };
  const deliver = () => {
    if (socket.readyState === 1) socket.onopen();
    for (const message of heard) socket.onmessage(message);
  };
  return { client, selectors, open, deliver };
}
