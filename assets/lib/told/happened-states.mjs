// @ts-check
/** What one row of a model without reads does, in words: it is written into a state, or reads a window. Pure. */

import { msg, parts } from "../language.mjs";
import * as read from "../reads.mjs";
import { part, token, told } from "./states.mjs";
import * as tapes from "../states/tapes.mjs";
import { percent } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("./states.mjs").Part} Part */

/** The locked row, or the newest one: what it reads, and how much of the state before it stays.
 * @param {World} world @returns {Part[]} */
export function statePart(world) {
  const owner = world.look.lock ? tapes.owner(world) : "t";
  const group = tapes.shown(world, owner);
  const row = world.look.lock?.row ?? read.newest(world, owner);
  const here = read.rows(world, owner)[row];
  if (!group || !here || !tapes.computed(world, group, row)) return [];
  const name = token(here.token, owner === "s" ? "k" : "q");
  const who = told(owner === "s" ? parts`Source row ${String(row)} ${name}` : parts`Row ${String(row)} ${name}`);
  const window = owner === "t" ? tapes.windowSize(world) : 0;
  if (window) return windowed(world, who, row, window);
  const reads = told([...who, reading(world, owner, row)]);
  const kept = keptPart(world, group, row);
  return kept.length ? told(parts`${reads}; ${kept}`) : reads;
}

/** @param {World} world @param {Part[]} who @param {number} row @param {number} window @returns {Part[]} */
function windowed(world, who, row, window) {
  const first = row - window + 1;
  if (first <= 0) return told(parts`${who} reads every row so far, each by its place: the window holds ${String(window)}`);
  return told(parts`${who} reads only the newest ${part(String(window), "v")} rows, from ${token(read.rows(world, "t")[first].token, "k")} on`);
}

/** What a row is made of beside itself. @param {World} world @param {"s" | "t"} owner @param {number} row */
function reading(world, owner, row) {
  const summary = owner === "t" ? tapes.summary(world) : null;
  const first = owner === "t" ? row === 0 : row === firstOf(world);
  if (first) return summary?.start || (summary && !summary.every) ? msg` begins from the summary of the source` : summary ? msg` begins from zeros and reads the summary of the source` : msg` begins from a state of zeros`;
  return summary?.every ? msg` reads only the state and the summary` : msg` reads only the state`;
}

/** The source row that its loop begins with. @param {World} world */
const firstOf = (world) => (tapes.backwards(world, tapes.shown(world, "s")) ? read.lastKnown(read.rows(world, "s")) : 0);

/** @param {World} world @param {tapes.Group} group @param {number} row @returns {Part[]} */
function keptPart(world, group, row) {
  const gate = tapes.keeping(world, group);
  if (row === (group.owner === "s" ? firstOf(world) : 0)) return [];
  const share = tapes.mean(gate, tapes.values(world, "sentence", tapes.gateSelectors(world).length), tapes.width(world, group), row);
  const [said, many] = [part(percent(share), "v"), tapes.groupsOf(world, group.owner).length > 1];
  if (gate?.letter === "f" && Number.isFinite(share)) return told(many ? parts`the forget gates of ${group.name} kept ${said} of its cell` : parts`the forget gates kept ${said} of the cell`);
  if (gate?.channel && Number.isFinite(share)) return told(parts`channel ${String(world.look.head)} of ${group.name} kept ${said} of its state`);
  if (gate && Number.isFinite(share)) return told(many ? parts`the update gates of ${group.name} kept ${said} of its state` : parts`the update gates kept ${said} of it`);
  if (gate) return [];
  const cell = group.tapes.some((t) => t.carried && t.name === "cell");
  return cell ? [part(msg`no gate forgets: it adds to the cell`)] : [];
}
