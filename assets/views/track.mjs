// @ts-check
/** When: the moments of this run as blocks, where it stands, its branches; below, the operations inside the current step. */

import { h, list, set, text } from "../lib/dom.mjs";
import * as read from "../lib/reads.mjs";
import { place } from "./sentence.mjs";
import { capital, duration, opName, plural, severalStacks, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** @typedef {{id: number, parent: number | null, phase: string, step: number, stage: string, label: string, command: string}} Node */
/** @typedef {{key: string, node: number | null, title: string, token: string, note: string, grow: number, state: "done" | "now" | "ahead" | "todo", others: number[], earlier?: number | null}} Block */

/** The path through a moment: from the root to it, then on along what was done last from there. Pure.
 * @param {Map<number, Node>} history @param {number} at @returns {Node[]} */
export function path(history, at) {
  /** @type {Node[]} */
  const found = [];
  for (let node = history.get(at); node; node = node.parent === null ? undefined : history.get(node.parent)) found.push(node);
  found.reverse();
  const children = byParent(history);
  for (let next = children.get(at)?.at(-1); next; next = children.get(next.id)?.at(-1)) found.push(next);
  return found;
}

/** @param {Map<number, Node>} history @returns {Map<number, Node[]>} children in the order in which they were made */
function byParent(history) {
  /** @type {Map<number, Node[]>} */
  const children = new Map();
  for (const node of [...history.values()].sort((a, b) => a.id - b.id)) {
    if (node.parent !== null) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  }
  return children;
}

/** Other moments that follow from the same one: the branches at this place, itself left out.
 * @param {Map<number, Node>} history @param {Node} node */
export function branches(history, node) {
  if (node.parent === null) return [];
  const key = (/** @type {Node} */ n) => `${n.phase} ${n.stage}`;
  return [...history.values()].filter((n) => n.parent === node.parent && n.id !== node.id && key(n) === key(node)).map((n) => n.id).sort((a, b) => a - b);
}

/** @typedef {{node: Node, all: Node[], edits: number, state: "done" | "now" | "ahead"}} Stop edits: those that were not taken back */

/** @param {Node} node */
const edit = (node) => node.command === "change" || node.command === "undo";

/** Whether a pass over the requests begins here: its phase was entered, or another text was given.
 * @param {Node} node @param {Node | undefined} before */
const starts = (node, before) => node.phase === "train" || (node.step === 0 && !node.stage && !(edit(node) && before?.phase === node.phase && before.step === 0 && !before.stage));

/** The moments of this pass over the requests, in order: from where its phase was entered or its text given to where it was left for
 * something else. Edits of one step are one place, shown by the newest or the current of them. Pure.
 * @param {Map<number, Node>} history @param {number} at @returns {Stop[]} */
export function pass(history, at) {
  const along = path(history, at);
  const here = along.findIndex((n) => n.id === at);
  const begin = along.findLastIndex((n, i) => i <= here && starts(n, along[i - 1]));
  const end = along.findIndex((n, i) => i > here && starts(n, along[i - 1]));
  /** @type {Stop[]} */
  const found = [];
  along.slice(Math.max(0, begin), end < 0 ? undefined : end).forEach((node, i) => {
    const place = i + Math.max(0, begin);
    const state = place === here ? "now" : place < here ? "done" : "ahead";
    const last = found.at(-1);
    if (node.stage && state !== "now") return;
    if (last && edit(node) && last.node.step === node.step && last.node.stage === node.stage) {
      last.all.push(node);
      if (state !== "ahead" || last.state === "ahead") last.edits = Math.max(0, last.edits + (node.command === "undo" ? -1 : 1));
      if (last.state !== "now") Object.assign(last, { node, state });
    } else found.push({ node, all: [node], edits: 0, state });
  });
  return found;
}

/** The last moment before this pass that belongs to another text or an earlier pass, or null.
 * @param {Map<number, Node>} history @param {Node} first of this pass @returns {number | null} */
export function earlier(history, first) {
  let node = first.parent === null ? undefined : history.get(first.parent);
  while (node && node.phase === "train") node = node.parent === null ? undefined : history.get(node.parent);
  return node?.id ?? null;
}

/** Rows that are read in one call before anything is decided. @param {World} world */
const promptRows = (world) => (world.moved?.requests ?? []).flatMap((/** @type {any} */ r) => r.target).filter((/** @type {any} */ r) => r.origin !== "model" && r.origin !== "chosen" && r.state !== "padded").length;

/** The blocks of prefill and decode, then places that are free. Pure.
 * @param {World} world @param {number} [reserve] free places at the end @returns {Block[]} */
export function steps(world, reserve = 4) {
  const prompt = read.rows(world, "t").filter((r) => r.origin !== "model" && r.origin !== "chosen" && r.state !== "padded").length;
  /** @type {Block[]} */
  const blocks = pass(world.history, world.moved?.at ?? 0).map(({ node, all, edits, state }, i) => {
    const decode = node.phase === "decode" && node.step > 0;
    const title = decode ? "" : titleOf(node);
    const back = i ? null : earlier(world.history, all[0]);
    const others = back !== null ? [] : [...new Set(all.flatMap((n) => branches(world.history, n)))].filter((id) => !all.some((n) => n.id === id));
    return {
      key: String(all[0].id), node: node.id, title, token: decode ? shown(node.label) : "",
      note: [title === "Prefill" ? `${plural(promptRows(world), "row")} in one call` : "", node.stage ? `after ${node.stage}` : "", edits ? "edited" : ""].filter(Boolean).join(", "),
      grow: decode || title === "Start" ? 1 : Math.min(6, Math.max(2.6, prompt)), state, others, earlier: back,
    };
  });
  for (let i = 0; i < (world.moved?.ended ? 0 : reserve); i++) blocks.push({ key: `free ${i}`, node: null, title: "", token: "", note: "", grow: 1, state: "todo", others: [] });
  return blocks;
}

/** @param {Node} node of prefill, or where decode was entered: then its prompt was read at once */
const titleOf = (node) => (node.phase === "decode" || node.step > 0 ? "Prefill" : node.stage === "encode" ? "Encode source" : "Start");

/** Widths of stages settle: after ten updates they stay at what those took on average, until the run is reset.
 * @typedef {{moments: number, updates: number[], sums: number[]}} Held */
const SETTLED = 10;

/** What is held after this moment. Pure.
 * @param {Held} held @param {World} world @returns {Held} */
export function settle(held, world) {
  const moments = world.history.size;
  /** @type {Held} */
  const before = moments < held.moments ? { moments, updates: [], sums: [] } : held;
  const [update, all] = [world.moved?.train?.update, world.moved?.stages ?? []];
  const whole = update !== undefined && all.length > 0 && all.every((/** @type {any} */ s) => s.ms !== null);
  if (!whole || before.updates.length >= SETTLED || before.updates.includes(update)) return { ...before, moments };
  return { moments, updates: [...before.updates, update], sums: all.map((/** @type {any} */ s, /** @type {number} */ i) => (before.sums[i] ?? 0) + s.ms) };
}

/** The blocks of one update: its stages, as wide as they took. A stage inside update U stands at step U - 1, its end at U. Pure.
 * @param {World} world @param {Held} [held] @returns {Block[]} */
export function stages(world, held = { moments: 0, updates: [], sums: [] }) {
  const all = world.moved?.stages ?? [];
  const along = path(world.history, world.moved?.at ?? 0);
  const update = world.moved?.train?.update ?? (world.moved?.step ?? 0) + 1;
  const done = all.findLastIndex((/** @type {any} */ s) => s.ms !== null);
  return all.map((/** @type {any} */ stage, /** @type {number} */ i) => {
    const end = i === all.length - 1;
    const node = along.findLast((n) => n.phase === "train" && ((n.step === update - 1 && n.stage === stage.name) || (end && n.step === update && n.stage === "")));
    return {
      key: stage.name, node: node?.id ?? null, title: capital(stage.name), token: "", note: stage.ms === null ? "" : duration(stage.ms),
      grow: held.updates.length >= SETTLED ? held.sums[i] / SETTLED : (stage.ms ?? 0), state: i === done ? "now" : i < done ? "done" : node ? "ahead" : "todo", others: node ? branches(world.history, node) : [],
    };
  });
}

/** The operations inside the current step: scopes with short names, in the order in which they ran.
 * @param {World} world */
export function operations(world) {
  const all = read.operations(world);
  const several = severalStacks(all);
  return all.map((path) => ({ path, name: opName(path, several) }));
}

/** What this step computed, before its operations: where the run stands, and how many rows its call had. Pure.
 * @param {World} world @returns {string} */
export function callName(world) {
  const { moved } = world;
  if (!moved) return "";
  const call = moved.stages.findLast((/** @type {any} */ s) => s.ms !== null && s.rows);
  const name = capital(place(world));
  if (read.phase(world) === "train") return moved.stages.some((/** @type {any} */ s) => s.ms !== null) ? `Inside ${place(world)}` : `${name}: not begun`;
  if (!moved.step) return call ? `${name}: ${call.name === "encode" && moved.stage === "encode" ? plural(call.rows, "source row") : plural(call.rows, "row")} in one call` : moved.phase === "decode" ? `${name}: the prompt is read` : `${name}: not run yet`;
  if (moved.phase === "prefill") return `${name}: ${plural(call?.rows ?? 0, "row")} in one call`;
  return `${name}: ${read.closing(world) ? "no new row" : call ? plural(call.rows, "new row") : moved.stage === "choose" ? "chosen, not read" : "no new row"}`;
}

/** What a chosen operation makes the page look at: its relation and layer where it is a read, and it as the op cursor.
 * @param {World} world @param {string} scope */
export function lookAt(world, scope) {
  const found = read.readAt(world.opened?.relations ?? [], scope);
  if (found) return { op: scope, relation: found.info.name, layer: found.layer, path: null };
  return { op: scope, path: read.lastTap(world, scope) };
}

/** @type {WeakMap<HTMLElement, Held>} */
const widths = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "track",
  title: "Timeline",
  slot: "track",
  phases: ["train", "prefill", "decode"],
  wants: () => [],

  mount(element) {
    element.append(
      h("ol", { class: "track", "aria-label": "Timeline" }),
      h("div", { class: "ops", role: "group", "aria-label": "Operations inside this step" }, h("span", { class: "lab" }), h("span", { class: "op-list" }), h("span", { class: "note" })),
    );
  },

  draw(element, world, context) {
    const [track, ops] = /** @type {any} */ (element.children);
    const training = read.phase(world) === "train";
    const held = settle(widths.get(element) ?? { moments: 0, updates: [], sums: [] }, world);
    widths.set(element, held);
    const blocks = training ? stages(world, held) : steps(world);
    set(track, "aria-label", training ? "Stages of this update; a block is as wide as its time" : "Steps of this run; a block is as wide as its rows");
    set(track, "data-phase", training ? "train" : "read");
    list(track, blocks, (b) => b.key, block, (li, b) => fill(li, b, world, context));
    queueMicrotask(() => reveal(track, `${world.moved?.at}`)); // when all is drawn: it asks where things lie
    operationRow(ops, world, context);
    text(ops.lastElementChild, training ? "width = measured time" : "width = rows of the call");
  },
};

/** @returns {HTMLElement} */
const block = () => h("li", { class: "blk" }, h("button", { class: "blk-go", type: "button" }, h("span", { class: "sr" }), h("span"), h("b"), h("small"), h("span", { class: "sr" })), h("button", { class: "blk-branch", type: "button", hidden: true }));

/** @param {any} li @param {Block} b @param {World} world @param {Context} context */
function fill(li, b, world, context) {
  const [go, branch] = li.children;
  const may = (world.role === "writer" || world.recording) && world.connection === "open";
  set(li, "class", `blk ${b.state}`);
  const grow = `${read.phase(world) === "train" ? Math.max(0.001, b.grow) : b.grow} 1 0px`;
  if (li.dataset.grow !== grow) li.style.flex = li.dataset.grow = grow;
  const [lead, after] = spoken(b);
  [lead, b.title, b.token, b.note, after].forEach((said, i) => text(go.children[i], said));
  set(go, "aria-current", b.state === "now" ? "step" : null);
  set(go, "disabled", b.node === null || !may);
  go.onclick = () => b.node !== null && b.state !== "now" && context.send({ kind: "go", moment: b.node });
  const back = b.earlier ?? null;
  branch.hidden = !b.others.length && back === null;
  if (back !== null) return mark(branch, back, "‹ earlier", "‹ earlier: go back to what was read before this", may, context);
  if (!b.others.length) return;
  const next = b.others.find((id) => id > /** @type {number} */ (b.node)) ?? b.others[0];
  const label = world.history.get(next)?.label;
  mark(branch, next, `+${b.others.length}`, `+${plural(b.others.length, "other branch", "other branches")} here; go to ${label ? shown(label) : "the next"}`, may, context);
}

/** What a screen reader hears before and after what stands in a block. Pure.
 * @param {Block} b @returns {[string, string]} */
export function spoken(b) {
  const said = b.title || b.token ? "" : "free";
  if (b.state === "now") return ["Here: ", ""];
  if (b.node !== null) return ["Go to ", ""];
  return [said, b.state === "todo" ? ", not run yet" : ", done inside one step"];
}

/** @param {any} button @param {number} moment @param {string} said @param {string} name @param {boolean} may @param {Context} context */
function mark(button, moment, said, name, may, context) {
  text(button, said);
  set(button, "aria-label", name);
  set(button, "title", name);
  set(button, "disabled", !may);
  button.onclick = () => context.send({ kind: "go", moment });
}

/** Keep the current block in sight when it changes, without moving the page.
 * @param {HTMLElement} track @param {string} name */
function reveal(track, name) {
  if (track.dataset.at === name) return;
  track.dataset.at = name;
  const now = /** @type {HTMLElement | null} */ (track.querySelector(".blk.now"));
  if (!now) return;
  const [left, right] = [now.offsetLeft - 90, now.offsetLeft + now.offsetWidth + 180];
  if (left < track.scrollLeft || right > track.scrollLeft + track.clientWidth) track.scrollLeft = Math.max(0, right - track.clientWidth);
}

/** @param {any} element @param {World} world @param {Context} context */
function operationRow(element, world, context) {
  const ops = operations(world);
  const cursor = ops.findIndex((o) => o.path === world.look.op);
  text(element.children[0], callName(world));
  list(element.children[1], ops, (o) => o.path, () => h("button", { class: "op", type: "button" }), (button, o, i) => {
    set(button, "class", `op${i === cursor ? " on" : ""}${cursor >= 0 && i > cursor ? " todo" : ""}`);
    set(button, "aria-pressed", String(i === cursor));
    set(button, "title", o.path);
    text(button, o.name);
    button.onclick = () => context.look(i === cursor ? { op: null } : lookAt(world, o.path));
  });
}
