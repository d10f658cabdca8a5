// @ts-check
/** The blocks of the timeline: in prefill and decode one a call, as wide as its rows; in training one a stage, as wide as its time. Pure. */

import { writes } from "../answers.mjs";
import { counted, msg } from "../language.mjs";
import { alternatives, branches, children, earlier, path } from "./moments.mjs";
import { stageName } from "./ops.mjs";
import { isTurn, promptRows, turnName } from "./turns.mjs";
import * as read from "../reads.mjs";
import { loops } from "../states/tapes.mjs";
import { duration, shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").PlayStop} PlayStop */
/** @typedef {import("./moments.mjs").Node} Node @typedef {import("./moments.mjs").Stop} Stop */
/** One block. `size`: rows of its call, or its time in ms; `left`, `width`: px once it is placed; `cut`: a line before it.
 * @typedef {{key: string, kind: "start" | "pieces" | "encode" | "prefill" | "decode" | "join" | "leave" | "stage", node: number | null, title: string, token: string, note: string,
 *   size: number, state: "done" | "now" | "ahead" | "todo" | "never", others: Node[], earlier: number | null, stop: PlayStop | null, cut: boolean, left: number, width: number}} Block */

/** @param {Partial<Block> & {key: string, kind: Block["kind"]}} more @returns {Block} */
const made = (more) => ({ node: null, title: "", token: "", note: "", size: 1, state: "todo", others: [], earlier: null, stop: null, cut: false, left: 0, width: 0, ...more });

/** @param {any} row */
export const given = (row) => row.origin !== "model" && row.origin !== "chosen";

/** How many rows a call has, for all requests together and for one. @param {any[][]} all @returns {{one: number, said: string}} */
function calls(all) {
  const one = Math.max(0, ...all.map((rows) => rows.length));
  return { one, said: all.length > 1 ? msg`${all.length} × ${one} rows` : counted(one, "{0} row", "{0} rows") };
}

/** The blocks of the pass that the run is in, one for each call that was made, then places that are free. Pure.
 * @param {World} world @param {Stop[]} pass @param {number} places for decode steps, taken or free @returns {Block[]} */
export function steps(world, pass, places) {
  const requests = (world.moved?.requests ?? []).filter((/** @type {any} */ r) => r.joined == null); // who came later was read in a call of its own
  const first = pass[0];
  const whole = first?.node.phase === "decode"; // entered as decode: the prompt was read at once
  const blocks = first && !whole ? [taken(made({ key: "start", kind: "start", title: msg`Start` }), world, pass.find((s) => s.node.phase === "prefill" && !s.node.step && !s.node.stage))] : [];
  if (world.opened?.task?.tokenizer) {
    const cut = calls(requests.map((/** @type {any} */ r) => r.target.filter(given).slice(1)));
    blocks.push(before(made({ key: "pieces", kind: "pieces", title: msg`Pieces`, note: msg`text to ids`, size: Math.max(1, cut.one), cut: !whole }), "pieces", world, pass, whole));
  }
  if (world.opened?.vocabulary?.source && writes(world)) blocks.push(encode(world, pass, calls(requests.map((/** @type {any} */ r) => r.source ?? [])), whole));
  const prompt = calls(requests.map((/** @type {any} */ r) => (writes(world) ? r.target.filter(given) : (r.source ?? []))));
  const prefill = made({ key: "prefill", kind: "prefill", title: writes(world) ? msg`Prefill` : msg`Whole input`, note: prompt.one > 1 && loops(world) ? msg`${prompt.said}, a loop: 1 row at a time` : msg`${prompt.said}, one call`, size: Math.max(1, prompt.one), stop: whole ? null : { kind: "stage", phase: "prefill", stage: "read" }, cut: blocks.length > 0 });
  blocks.push(taken(prefill, world, pass.find((s) => (s.node.phase === "prefill" ? s.node.step > 0 : s.node.step === 0 && !s.node.stage))));
  const back = first ? earlier(world.history, first.all[0]) : null;
  if (back !== null) blocks[0].earlier = back;
  return [...blocks, ...(writes(world) ? decodes(world, pass, places) : [])];
}

/** @param {Block} block @param {World} world @param {Stop | undefined} stop @returns {Block} */
function taken(block, world, stop) {
  if (!stop) return block;
  const note = [block.note, stop.node.stage === "choose" ? msg`not read yet` : "", stop.edits ? msg`edited` : ""].filter(Boolean).join(", ");
  return { ...block, node: stop.node.id, state: stop.state, note, others: alternatives(world.history, stop.all) };
}

/** @param {World} world @param {Stop[]} pass @param {{one: number, said: string}} source @param {boolean} whole */
function encode(world, pass, source, whole) {
  return before(made({ key: "encode", kind: "encode", title: msg`Encode source`, note: msg`${source.said}, once`, size: Math.max(1, source.one), cut: !whole }), "encode", world, pass, whole);
}

/** A stage before the prompt is read: it stands where it was stopped at, or lies inside the step that read the prompt.
 * @param {Block} block @param {string} stage @param {World} world @param {Stop[]} pass @param {boolean} whole @returns {Block} */
function before(block, stage, world, pass, whole) {
  const here = pass.find((s) => s.node.stage === stage);
  const stop = /** @type {PlayStop} */ ({ kind: "stage", phase: "prefill", stage });
  if (here) return taken({ ...block, stop }, world, here);
  const [start, next] = [pass[0], pass.find((s) => s.node.phase === "decode" || s.node.step > 0)];
  const node = whole ? null : (pass[0]?.all.flatMap((n) => children(world.history, n.id)).find((n) => n.stage === stage)?.id ?? null);
  const state = whole || (next && next.state !== "ahead") ? "done" : start && next ? "ahead" : "todo";
  return { ...block, node, state: /** @type {Block["state"]} */ (state), stop: whole ? null : stop };
}

/** @param {World} world @param {Stop[]} pass @param {number} places @returns {Block[]} */
function decodes(world, pass, places) {
  /** @type {Map<number, Stop>} the first at a step: while its token is chosen and not read, the run stands there */
  const found = new Map();
  for (const stop of pass.filter((s) => !isTurn(s.node))) {
    const number = stop.node.phase === "decode" ? stop.node.step + (stop.node.stage === "choose" ? 1 : 0) : 0;
    if (number && !found.has(number)) found.set(number, stop);
  }
  const last = Math.max(0, ...found.keys());
  const over = !!world.moved?.ended && pass.at(-1)?.state === "now";
  const count = Math.max(places, last + (over ? 0 : 2));
  const turns = (/** @type {number} */ step) => pass.filter((s) => isTurn(s.node) && s.node.step === step).map((s) => turned(s, world));
  const steps = Array.from({ length: count }, (_, i) => {
    const number = i + 1;
    const stop = found.get(number);
    const block = made({ key: `d${number}`, kind: "decode", token: stop ? shown(stop.node.label) : "", stop: { kind: "step", phase: "decode", step: number }, cut: i === 0 });
    return /** @type {Block} */ (stop ? taken(block, world, stop) : { ...block, state: over ? "never" : "todo", stop: over ? null : block.stop });
  });
  return [...turns(0), ...steps.flatMap((b, i) => [b, ...turns(i + 1)])];
}

/** A request joins (its prompt is read in a call of its own) or leaves. @param {Stop} stop @param {World} world @returns {Block} */
function turned(stop, world) {
  const { node } = stop;
  const joins = node.command === "join";
  const rows = joins ? promptRows(world.moved?.requests[Number(node.label)] ?? { target: [] }) : 0;
  const note = joins ? (rows ? msg`prefill of ${counted(rows, "{0} row", "{0} rows")}` : msg`prefill of its own`) : msg`its rows are freed`;
  return taken(made({ key: `t${node.id}`, kind: joins ? "join" : "leave", title: turnName(node), note, size: Math.max(1, rows) }), world, stop);
}

/** Widths of stages settle: after ten updates they stay at what those took on average, until the run is reset.
 * @typedef {{moments: number, updates: number[], sums: number[]}} Held */
const SETTLED = 10;
/** @type {Held} */
export const NOTHING_HELD = { moments: 0, updates: [], sums: [] };

/** What is held after this moment.
 * @param {Held} held @param {World} world @returns {Held} */
export function settle(held, world) {
  const moments = world.history.size;
  const before = moments < held.moments ? { ...NOTHING_HELD, moments } : held;
  const [update, all] = [world.moved?.train?.update, world.moved?.stages ?? []];
  const whole = update !== undefined && all.length > 0 && all.every((/** @type {any} */ s) => s.ms !== null);
  if (!whole || before.updates.length >= SETTLED || before.updates.includes(update)) return { ...before, moments };
  return { moments, updates: [...before.updates, update], sums: all.map((/** @type {any} */ s, /** @type {number} */ i) => (before.sums[i] ?? 0) + s.ms) };
}

/** The blocks of one update. A stage inside update U stands at step U - 1, its end at U. `size`: the mean time of the whole updates so far.
 * @param {World} world @param {number} [head] @param {Held} [held] @returns {Block[]} */
export function stages(world, head, held = NOTHING_HELD) {
  const all = world.moved?.stages ?? [];
  const along = path(world.history, world.moved?.at ?? 0, head);
  const update = world.moved?.train?.update ?? (world.moved?.step ?? 0) + 1;
  const done = all.findLastIndex((/** @type {any} */ s) => s.ms !== null);
  return all.map((/** @type {any} */ stage, /** @type {number} */ i) => {
    const end = i === all.length - 1;
    const node = along.findLast((n) => n.phase === "train" && ((n.step === update - 1 && n.stage === stage.name) || (end && n.step === update && n.stage === "")));
    const state = i === done ? "now" : i < done ? "done" : node ? "ahead" : "todo";
    return made({
      key: stage.name, kind: "stage", node: node?.id ?? null, title: stageName(stage.name), note: stage.ms === null ? "" : duration(stage.ms), state,
      size: held.updates.length ? held.sums[i] / held.updates.length : 0, others: node ? branches(world.history, node) : [], stop: { kind: "stage", phase: "train", stage: stage.name },
    });
  });
}

const GAP = 3;
const CUT = 9;

/** How many decode steps have a place at once, taken or free. @param {number} room px */
export const placesFor = (room) => (room < 500 ? 5 : 7);

/** Where each block of prefill and decode lies. Widths do not depend on the steps taken: a decode step is one unit, a call of N rows N,
 * up to what leaves room for the steps.
 * @param {Block[]} blocks @param {number} room px @returns {{blocks: Block[], width: number}} */
export function laid(blocks, room) {
  const most = room < 500 ? 2.6 : 5;
  const cutting = blocks.some((b) => b.kind === "pieces");
  const units = { start: () => (cutting ? 0.95 : 0.8), pieces: () => (room < 500 ? 1.7 : 1.3), encode: (/** @type {number} */ n) => Math.min(most, Math.max(1.9, n)), prefill: (/** @type {number} */ n) => Math.min(most, Math.max(1.3, n)), decode: () => 1, join: (/** @type {number} */ n) => Math.min(2.4, Math.max(1.4, n)), leave: () => 1.4, stage: () => 1 };
  const added = new Set(["decode", "join", "leave"]); // what the run adds changes no other width
  const fixed = blocks.filter((b) => !added.has(b.kind));
  const cuts = blocks.filter((b) => b.cut).length;
  const free = room - cuts * CUT - (fixed.length + placesFor(room) - 1) * GAP;
  const unit = Math.min(96, Math.max(34, free / (fixed.reduce((sum, b) => sum + units[b.kind](b.size), 0) + placesFor(room))));
  let left = 0;
  const placed = blocks.map((b, i) => {
    left += (i ? GAP : 0) + (b.cut ? CUT : 0);
    const width = Math.floor(units[b.kind](b.size) * unit);
    left += width;
    return { ...b, left: left - width, width };
  });
  return { blocks: placed, width: left };
}

/** Where each stage lies: all of the room, in proportion to its time, none narrower than 60 px. @param {Block[]} blocks @param {number} room */
export function timed(blocks, room) {
  const free = room - (blocks.length - 1) * GAP;
  const widths = shares(blocks.map((b) => b.size), free, Math.min(60, free / Math.max(1, blocks.length)));
  let left = 0;
  const placed = blocks.map((b, i) => ({ ...b, left: (left += i ? widths[i - 1] + GAP : 0), width: widths[i] }));
  return { blocks: placed, width: room };
}

/** Room shared in proportion, nobody under the least: who would be gets it, and the others share the rest.
 * @param {number[]} sizes @param {number} room @param {number} least @returns {number[]} */
export function shares(sizes, room, least) {
  /** @type {Set<number>} */
  const low = new Set();
  for (;;) {
    const rest = room - low.size * least;
    const sum = sizes.reduce((all, s, i) => all + (low.has(i) ? 0 : s), 0);
    const share = (/** @type {number} */ i) => (low.has(i) ? least : sum > 0 ? (rest * sizes[i]) / sum : rest / (sizes.length - low.size));
    const under = sizes.findIndex((_, i) => !low.has(i) && share(i) < least - 1e-9);
    if (under < 0) return sizes.map((_, i) => share(i));
    low.add(under);
  }
}

const LINES = 3; // that a block has room for
/** The tokens that several requests took in one step, a line each. @param {string} token joined by a dot @param {number} requests */
export function underEachOther(token, requests) {
  const all = requests > 1 ? token.split("·") : [token];
  return (all.length > LINES ? [...all.slice(0, LINES - 1), `+${all.length - LINES + 1}`] : all).join("\n");
}
