// @ts-check
/** What the page's one sentence says where there is a state to tell: cold, empty, refused, offline, diverged, not finite, replaying. */

import { msg, parts } from "../language.mjs";
import * as read from "../reads.mjs";
import { age, capital, number, opName, shown } from "../words.mjs";

/** @typedef {import("../types").World} World */
/** @typedef {{text: string, role?: "q" | "k" | "v" | "g" | "d" | "p" | "dim"}} Part */
/** What one can do about it: a command, or an act of the page (data-act).
 * @typedef {{name: string, command?: Record<string, any>, act?: string, look?: any, dismiss?: boolean}} Action */
/** @typedef {{parts: Part[], tone: "" | "bad" | "warn", action?: Action | null}} Said */
/** ms: since the page began to load, and how long that took the last time (0: never). @typedef {{waited: number, usual: number}} Clock */

/** @param {string} value @param {Part["role"]} [role] @returns {Part} */
export const part = (value, role) => ({ text: value, role });
/** @param {string} token @param {Part["role"]} role */
export const token = (token, role) => part(shown(token), role);

/** A message in pieces as parts: text between them has no role.
 * @param {(string | Part | Part[])[]} pieces from `parts` @returns {Part[]} */
export const told = (pieces) => pieces.flat().map((p) => (typeof p === "string" ? part(p) : p));

/** The state that is told instead of what happened, or null.
 * @param {World} world @param {number} now ms @param {Clock} [clock] @returns {Said | null} */
export function state(world, now, clock = { waited: 0, usual: 0 }) {
  if (world.connection === "closed") return { tone: "bad", parts: told(parts`This session is closed. ${part(world.reason, "dim")}`), action: { name: msg`Start a new run`, act: "startNew" } };
  if (world.connection === "offline") return offline(world, now);
  if (world.refused?.length) return refusal(world.refused, world.opened && world.moved ? broken(world) : null);
  const replay = replaying(world);
  if (replay !== null) return { tone: "", parts: told(parts`Replaying ${part(msg`… ${replay} %`, "dim")}`) };
  if (!world.opened || !world.moved) return cold(clock);
  return waits(world) ?? broken(world) ?? empty(world);
}

/** What was pressed waits until a measurement is done. @param {World} world @returns {Said | null} */
function waits(world) {
  if (!world.behind) return null;
  const { progress = 0 } = world.analysis[world.behind] ?? {};
  const far = part(msg`… ${Math.round((progress < 1 ? progress : 0) * 100)} %`, "dim");
  return { tone: "", parts: told(parts`A measurement is running ${far}. What you pressed waits for it.`), action: { name: msg`Cancel the measurement`, command: { kind: "cancel" } } };
}

/** @param {World} world @param {number} now @returns {Said} */
function offline(world, now) {
  const where = world.moved ? part(msg`Showing ${place(world)}, measured ${age(now - Number(world.reason))} ago. Trying again by itself.`, "dim") : part(msg`Trying again by itself.`, "dim");
  return { tone: "warn", parts: told(parts`Connection lost. ${where}`), action: { name: msg`Try now`, act: "retry" } };
}

/** Where numbers are none, what is refused has the way back beside it. @param {any[]} errors @param {Said | null} standing @returns {Said} */
function refusal(errors, standing) {
  const more = errors.length > 1 ? msg` (and ${errors.length - 1} more)` : "";
  return { tone: "bad", parts: [part(errors[0].message + more)], action: standing?.action ?? { name: msg`Close`, dismiss: true } };
}

/** @param {Clock} clock @returns {Said} */
function cold({ waited, usual }) {
  const ready = msg`The set-up is ready to edit.`;
  if (waited < 1000) return { tone: "", parts: told(parts`Starting the model. ${part(ready, "dim")}`) };
  const often = usual ? msg`${age(waited)} so far; the last start took ${age(usual)}.` : msg`${age(waited)} so far.`;
  return { tone: "", parts: told(parts`Starting the model, ${part(often, "dim")} ${part(ready, "dim")}`) };
}

/** Numbers that are none, in a read or in an update.
 * @param {World} world @returns {Said | null} */
export function broken(world) {
  const { moved } = world;
  if (!moved) return null; // it is opened, and not there yet
  if (read.phase(world) !== "train") {
    if (!moved.unreadable) return null;
    return { tone: "bad", parts: told(parts`There is no distribution to choose from: ${part(moved.unreadable, "p")} is not finite.`), action: undoing(world) };
  }
  const notice = world.notices.findLast((n) => n.code === "diverged");
  const { train } = moved;
  const finite = (/** @type {any} */ value) => value === null || value === undefined || Number.isFinite(number(value));
  const failed = world.checked?.checks.find((/** @type {any} */ c) => c.id === "finite" && c.status === "fail");
  const offer = notice?.offer ? { name: offerName(notice.offer, world.history), command: notice.offer } : { name: msg`Back`, command: { kind: "back" } };
  const paused = part(msg`Paused before the update.`, "dim");
  const update = capital(place(world));
  if (train && !finite(train.loss)) return { tone: "bad", action: offer, parts: told(failed ? parts`${update}: the loss is not finite, first in ${part(opName(failed.place.path, true), "p")}. ${paused}` : parts`${update}: the loss is not finite. ${paused}`) };
  const first = train?.parameter_norms?.find((/** @type {any} */ [, norm]) => !finite(norm));
  if (train && (first || !finite(train.norm))) return { tone: "bad", action: offer, parts: told(first ? parts`${update}: the ${part(msg`gradient`, "g")} is not finite in ${part(opName(first[0], true), "p")}. ${paused}` : parts`${update}: the norm of the ${part(msg`gradient`, "g")} is not finite. ${paused}`) };
  if (!notice) return null;
  return { tone: "bad", action: offer, parts: told(parts`Training diverged at ${place(world)}. ${part(moved.ended ? msg`It cannot go on from here.` : msg`Going on will not mend it.`, "dim")}`) };
}

/** What takes back a number that is none: the edits, else one moment.
 * @param {World} world @returns {Action} */
function undoing(world) {
  const edited = (world.opened.scenario.edits ?? []).some((/** @type {any} */ e) => e.enabled);
  return edited ? { name: msg`Take the edits back`, command: { kind: "change", fields: { edits: [] } } } : { name: msg`Back`, command: { kind: "back" } };
}

/** @param {World} world @returns {Said | null} */
function empty(world) {
  if (read.phase(world) === "train") return null;
  const view = read.requestView(world);
  if (view && (view.source === null || view.source.length)) return null;
  return { tone: "", parts: [part(view ? msg`Type a source sentence to begin.` : msg`Type what the model reads.`)], action: { name: msg`Reset run`, command: { kind: "reset" } } };
}

/** How far the replay of a run is, in percent, or null where none is under way: what was told last is not what will stand then.
 * @param {World} world @returns {number | null} */
export function replaying(world) {
  const { replay } = world.analysis;
  return replay && replay.progress < 1 && (world.busy || !world.moved) ? Math.round(replay.progress * 100) : null;
}

/** Where the run stands, in two words: "decode 3", "update 412", "prefill".
 * @param {World} world */
export function place(world) {
  const name = read.phase(world);
  const step = world.moved?.step ?? 0;
  return name === "train" ? msg`update ${world.moved?.train?.update ?? step}` : name === "decode" ? msg`decode ${step}` : msg`prefill`;
}

/** What a button says that sends this command.
 * @param {any} command @param {Map<number, any>} history */
export function offerName(command, history) {
  const to = history.get(command.moment);
  switch (command.kind) {
    case "go": return to?.phase === "train" ? msg`Back to update ${to.step}` : msg`Go back`;
    case "back": return msg`Back`;
    case "undo": return msg`Undo`;
    case "redo": return msg`Redo`;
    case "reset": return msg`Reset run`;
    case "change": return msg`Mend it`;
    case "open": return msg`Begin anew`;
    case "pause": return msg`Pause`;
    default: return msg`Do it`;
  }
}
