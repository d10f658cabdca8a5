// @ts-check
/** What a model without reads works with: states that a loop carries from row to row, the gates that make them, a window of the newest
 * rows, one summary of the source. Found by the axes, types and names of its taps and by its Config, never by its name. Pure. */

import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { above, leaf } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Known} Known @typedef {import("../types").Selector} Selector */
/** One tape: a vector for each row. carried: the next row is made of it; gate: it lies in 0..1 (else it has a sign); channel: the axis of
 * which one channel is shown ("": none); single: one number for each row, of that channel.
 * @typedef {{path: string, name: string, letter: string, carried: boolean, gate: boolean, channel: string, single: boolean}} Tape */
/** The tapes of one scope; channel: the axis of those that have a state for each channel. @typedef {{scope: string, owner: "s" | "t", name: string, channel: string, tapes: Tape[]}} Group */
/** How much of the old state a gate keeps, and where the number comes from: kept = of(gate).
 * @typedef {{path: string, channel: string, letter: string, of: (value: number) => number, said: string}} Gate */

const GATES = new Set(["forget", "update", "reset", "input", "output", "kept"]);
/** Carried first, then gates with what they let in. */
const ORDER = ["state", "kept", "written", "step", "write_at", "read_at", "cell", "new_cell", "hidden", "new_hidden", "forget", "update", "reset", "input", "candidate", "output"];
/** @type {Record<string, string>} */
const LETTERS = { cell: "c", new_cell: "c", hidden: "h", new_hidden: "h", forget: "f", update: "z", reset: "r", input: "i", output: "o", candidate: "g", state: "S", kept: "a", written: "w", step: "Δ", write_at: "B", read_at: "C", content: "x", read: "y" };
/** Of a state with channels: what each channel has one number of at a row. */
const SINGLE = new Set(["step", "content", "read", "input"]);

/** Whether the model has no read at all: then its states are what there is to see. @param {World} world */
export const alone = (world) => !!world.opened && world.opened.relations.length === 0;

/** What was found in a schema, which never changes. @type {WeakMap<any[], Group[]>} */
const found = new WeakMap();

/** All tapes in groups, those of the source first, in the order in which they are made.
 * @param {World} world @returns {Group[]} */
export function groups(world) {
  const taps = world.schema?.taps;
  if (!taps) return [];
  let all = found.get(taps);
  if (!all) found.set(taps, (all = [...grouped(taps, "s"), ...grouped(taps, "t")]));
  return all;
}

/** @param {any[]} taps @param {"s" | "t"} owner @returns {Group[]} */
function grouped(taps, owner) {
  const rows = taps.filter((t) => (t.axes.length === 3 || t.axes.length === 4) && t.axes[0] === "b" && t.axes[1] === owner && t.type !== "parameter");
  const scopes = [...new Set(rows.filter((t) => t.type === "state").map((t) => above(t.path)))];
  if (!scopes.length && owner === "t") return plain(rows.filter((t) => t.axes.length === 3));
  return scopes.map((scope) => {
    const inside = rows.filter((t) => above(t.path) === scope);
    const { axes } = inside.find((t) => t.type === "state");
    const channel = axes.length === 4 ? axes[2] : "";
    const gru = inside.some((t) => leaf(t.path) === "update");
    const tapes = inside.filter((t) => vector(t, axes.at(-1), channel) || single(t, channel)).map((t) => tape(t, gru, channel));
    return { scope, owner, name: scopeName(scope, scopes), channel, tapes: tapes.sort((a, b) => place(a.name) - place(b.name)) };
  });
}

/** Whether a tap has a vector like the state's for each row, or for each channel of a row. @param {any} t @param {string} width @param {string} channel */
const vector = (t, width, channel) => t.axes.at(-1) === width && (t.axes.length === 3 ? /^(state|hidden)$/ : /^(state|hidden|coefficients)$/).test(t.type) && (t.axes.length === 3 || t.axes[2] === channel);

/** @param {any} t @param {string} channel */
const single = (t, channel) => channel !== "" && t.axes.length === 3 && t.axes[2] === channel && SINGLE.has(leaf(t.path));

/** Nothing is carried: what is made of each row alone. @param {any[]} rows @returns {Group[]} */
function plain(rows) {
  const tapes = rows.filter((t) => t.type === "hidden" && t.axes[2] !== "d").map((t) => tape(t, false, ""));
  return tapes.length ? [{ scope: above(tapes[0].path) || tapes[0].path, owner: "t", name: "", channel: "", tapes }] : [];
}

/** @param {any} t a TapInfo @param {boolean} gru @param {string} channel axis of its scope's state @returns {Tape} */
function tape(t, gru, channel) {
  const name = leaf(t.path);
  const one = single(t, channel);
  const letter = name === "candidate" && gru ? "h~" : one && name === "input" ? "u" : (LETTERS[name] ?? name[0]);
  const picked = one || t.axes.length === 4;
  return { path: t.path, name: name.replaceAll("_", " "), letter, carried: t.type === "state", gate: GATES.has(name) && !one, channel: picked ? t.axes[2] : "", single: one };
}

/** The letter of a tape, also of a tap of its scope that is none. @param {Group} group @param {string} name */
export const letterOf = (group, name) => group.tapes.find((t) => t.path === `${group.scope}.${name}`)?.letter ?? LETTERS[name] ?? name[0];

/** Which channel of a state with channels is shown, of how many. @param {World} world @param {Group | null} group */
export function channelOf(world, group) {
  const count = group?.channel ? (world.moved?.sizes?.[group.channel] ?? 0) : 0;
  return { at: Math.min(world.look.head, Math.max(0, count - 1)), count };
}

/** @param {string} name */
const place = (name) => (ORDER.indexOf(name.replaceAll(" ", "_")) + ORDER.length + 1) % (ORDER.length + 1);

/** What a scope is called beside its like: "layer 1", "backwards layer 1", or its last part. @param {string} scope @param {string[]} all */
function scopeName(scope, all) {
  const parts = scope.split(".");
  const layer = /^layer(\d+)$/.exec(parts.at(-1) ?? "");
  if (!layer) return parts.at(-1) ?? scope;
  const said = msg`layer ${Number(layer[1]) + 1}`;
  const before = parts.at(-2) ?? "";
  const several = new Set(all.map((s) => s.split(".").at(-2))).size > 1 && parts.length > 2;
  return several ? `${before} ${said}` : said;
}

/** Whose states are looked at: in `look.relation`, "s" or "t"; the target's if nothing is said. @param {World} world @returns {"s" | "t"} */
export const owner = (world) => (groups(world).some((g) => g.owner === "s") && ((alone(world) ? world.look.relation : world.look.states) === "s" || !groups(world).some((g) => g.owner === "t")) ? "s" : "t");

/** Whether there are states to look at beside the reads, in a model that has both. @param {World} world */
export const besideReads = (world) => !!world.opened && !alone(world) && groupsOf(world, "t").some((g) => g.tapes.some((t) => t.carried));

/** Whether they stand where the map stands otherwise. @param {World} world */
export const inMapsPlace = (world) => world.look.states !== "" && besideReads(world);

/** The groups of one owner. @param {World} world @param {"s" | "t"} of */
export const groupsOf = (world, of) => groups(world).filter((g) => g.owner === of);

/** The group that is looked at, or that of the same layer of another owner. @param {World} world @param {"s" | "t"} [of] @returns {Group | null} */
export function shown(world, of = owner(world)) {
  const all = groupsOf(world, of);
  return all[Math.min(world.look.layer, all.length - 1)] ?? null;
}

/** Whether a state is carried along the target rows so that they run one after another; not where a scan makes all states at once. @param {World} world */
export const loops = (world) => world.opened?.scenario?.config?.schedule !== "scan" && groupsOf(world, "t").some((g) => g.tapes.some((t) => t.carried));

/** The gate of a group that says how much of the old state stays; null where there is none. What z near 1 means is the Config's.
 * @param {World} world @param {Group | null} group @returns {Gate | null} */
export function keeping(world, group) {
  const gate = (/** @type {string} */ name) => group?.tapes.find((t) => t.gate && t.name === name);
  const [forget, update] = [gate("forget"), gate("update")];
  if (forget) return { path: forget.path, channel: "", letter: "f", of: (v) => v, said: msg`mean f` };
  const kept = group?.channel ? gate("kept") : null;
  if (kept) return { path: kept.path, channel: kept.channel, letter: "a", of: (v) => v, said: msg`mean a of the channel` };
  if (!update) return null;
  const writes = world.opened?.scenario?.config?.update === "writes";
  return writes ? { path: update.path, channel: "", letter: "z", of: (v) => 1 - v, said: msg`mean 1 − z` } : { path: update.path, channel: "", letter: "z", of: (v) => v, said: msg`mean z` };
}

/** The gate that says how much is written: the input gate, or what the update gate does not keep; null where there is none.
 * @param {World} world @param {Group | null} group @returns {Gate | null} */
export function writing(world, group) {
  const input = group?.tapes.find((t) => t.gate && t.name === "input");
  if (input) return { path: input.path, channel: "", letter: "i", of: (v) => v, said: msg`mean i` };
  const kept = group?.tapes.some((t) => t.name === "update") ? keeping(world, group) : null;
  return kept && { ...kept, of: (v) => 1 - kept.of(v), said: kept.said === msg`mean z` ? msg`mean 1 − z` : msg`mean z` };
}

/** One tape of the request that is looked at, of one channel where it has channels, in full precision. Views that show the same ask for the same.
 * @param {World} world @param {{path: string, channel: string}} tape @returns {Selector} */
export const selector = (world, { path, channel }) => ({ path, index: { b: read.request(world), ...(channel ? { [channel]: world.look.head } : {}) }, dtype: "f32" });

/** The gates that a chain is drawn with, of the source (if it has a chain) and of the target. @param {World} world @returns {Selector[]} */
export function gateSelectors(world) {
  const all = /** @type {("s" | "t")[]} */ (["s", "t"]).flatMap((of) => [keeping(world, shown(world, of)), writing(world, shown(world, of))]);
  const byPath = new Map(all.flatMap((g) => (g ? [[g.path, g]] : [])));
  return [...byPath.values()].map((gate) => selector(world, gate));
}

/** Values by path, of one request: (row, unit) to a number, NaN where nothing is known. @param {World} world @param {string} view @param {number} count of its selectors */
export function values(world, view, count) {
  const known = new Map(Array.from({ length: count }, (_, i) => world.values(view, i)).flat().map((k) => [k.path, k]));
  const request = read.request(world);
  const tapes = new Map(groups(world).flatMap((g) => g.tapes).map((t) => [t.path, t]));
  return (/** @type {string} */ path) => cells(known.get(path), request, world.look.head, tapes.get(path));
}

/** @param {Known | undefined} known @param {number} request @param {number} channel @param {Tape | undefined} tape @returns {(row: number, unit: number) => number} */
function cells(known, request, channel, tape) {
  if (!known) return () => NaN;
  const b = Math.min(request, known.shape[0] - 1);
  const c = Math.min(channel, known.shape[2] - 1); // an axis that was picked is as long as its index, or 1
  if (tape?.single) return (row) => known.at(b, row, c);
  if (tape?.channel) return (row, unit) => known.at(b, row, c, unit);
  return known.plane?.(b) ?? ((row, unit) => known.at(b, row, unit));
}

/** The mean of a gate over all units of one row; NaN where it is not known.
 * @param {Gate | null} gate @param {ReturnType<typeof values>} of @param {number} width @param {number} row */
export function mean(gate, of, width, row) {
  if (!gate || !width) return NaN;
  const at = of(gate.path);
  let sum = 0;
  for (let unit = 0; unit < width; unit++) sum += at(row, unit);
  return gate.of(sum / width);
}

/** How many units a group has. @param {World} world @param {Group | null} group */
export function width(world, group) {
  const axes = world.schema?.taps.find((/** @type {any} */ t) => t.path === group?.tapes[0]?.path)?.axes;
  return axes ? (world.moved?.sizes?.[axes.at(-1)] ?? 0) : 0;
}

/** How many of the newest rows a row reads by their place, or 0 where no tap has a window. @param {World} world @returns {number} */
export function windowSize(world) {
  const has = world.schema?.taps.some((/** @type {any} */ t) => t.type !== "parameter" && t.axes[1] === "t" && t.axes[2] === "k");
  return has ? (world.moved?.sizes?.k ?? world.opened?.scenario?.config?.window ?? 0) : 0;
}

/** Whether a row's tapes are computed at this moment: it is known, and the op cursor has passed what makes them.
 * @param {World} world @param {Group | null} group @param {number} row */
export function computed(world, group, row) {
  const at = group && read.rows(world, group.owner)[row];
  return !!at && read.known(at) && !(at.state === "new" && read.before(world, group.scope));
}

/** What the inspector shows while nobody chose a tensor: the first carried tape, in place of the read that there is not; without one, the last vectors of
 * the rows.
 * @param {World} world @returns {string | null} */
export const firstPath = (world) => (alone(world) ? (shown(world)?.tapes[0]?.path ?? lastVectors(world)) : null);

/** @param {World} world @returns {string | null} */
const lastVectors = (world) => world.schema?.taps.findLast((/** @type {any} */ t) => t.type === "hidden" && t.axes.length === 3 && /^[st]$/.test(t.axes[1]))?.path ?? null;

/** Whether a loop over the source goes from its last row to its first. @param {World} world @param {Group | null} group */
export const backwards = (world, group) => group?.owner === "s" && !!world.opened?.scenario?.config?.reverse !== group.scope.includes("backwards");

/** How a source comes to the target: which source rows make the summary (`ends`, `last`, or `all`), in words; how it is handed over.
 * kept: the summary itself stays between calls. null: there is no source, or no summary of it.
 * @param {World} world @returns {{from: "last" | "ends" | "all", made: string, start: boolean, every: boolean, handed: string[], kept: boolean, width: number, path: string} | null} */
export function summary(world) {
  const taps = world.schema?.taps ?? [];
  const made = taps.find((/** @type {any} */ t) => t.type === "state" && t.path.startsWith("encoder.") && t.axes.length === 2 && leaf(t.path) === "summary");
  if (!made) return null;
  const { reduction = "", delivery = "", readout = "" } = world.opened?.scenario?.config ?? {};
  const again = taps.some((/** @type {any} */ t) => t.type === "state" && t.axes.length === 2 && t.path === "decoder.summary");
  const start = taps.some((/** @type {any} */ t) => t.type === "state" && t.axes.length === 2 && t.path.startsWith("encoder.initial"));
  const every = delivery ? delivery !== "initial" : again;
  const handed = [...(start ? [msg`as first state`] : []), ...(every ? [msg`in every step`] : []), ...(readout === "maxout" ? [msg`in the readout`] : [])];
  const from = /^(final|projected|hidden_cell)$/.test(reduction) ? "last" : reduction === "endpoints" ? "ends" : "all";
  return { from, made: madeOf()[reduction] ?? msg`all rows, folded`, start, every, handed, kept: (world.moved?.kept ?? []).some((/** @type {any} */ k) => k.path === made.path), width: world.moved?.sizes?.[made.axes[1]] ?? 0, path: made.path };
}

/** @returns {Record<string, string>} */
const madeOf = () => ({
  final: msg`the last state`, projected: msg`last state, tanh`, hidden_cell: msg`the last h and c`, endpoints: msg`both ends`, mean: msg`the mean state`,
  max: msg`largest per unit`, pooled: msg`a weighted mean`,
});

/** What the page looks at when one number of a tape is locked: its row and unit, and in the inspector the tape at that row.
 * @param {World} world @param {"s" | "t"} of @param {number} row @param {number} unit @param {string} [path] of the tape, else the first
 * @returns {Partial<import("../types").Look>} */
export function lookAt(world, of, row, unit, path) {
  const tape = path ?? shown(world, of)?.tapes[0]?.path ?? null;
  const axes = world.schema?.taps.find((/** @type {any} */ t) => t.path === tape)?.axes ?? [];
  const channel = axes.length === 4 ? { [axes[2]]: world.look.head } : {};
  return { relation: of, lock: { row, key: unit }, path: tape, side: "value", layout: axes.length ? { columns: axes.at(-1), rows: "", panels: "", index: { [of]: row, ...channel } } : {} };
}
