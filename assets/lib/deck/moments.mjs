// @ts-check
/** The tree of moments: the line that goes through one of them, its passes over the requests, and the other lines. Pure. */

/** @typedef {import("../types").World} World */
/** @typedef {{id: number, parent: number | null, phase: string, step: number, stage: string, label: string, command: string, changed?: string}} Node */
/** @typedef {Map<number, Node>} History */
/** One place of a line. Edits of one step are one place, shown by the newest or the current of them; `edits`: those not taken back.
 * @typedef {{node: Node, all: Node[], edits: number, state: "done" | "now" | "ahead", starts: boolean}} Stop */

/** What is known of a tree, which only grows. @typedef {{seen: number, of: Map<number, Node[]>}} Tree */
/** @type {WeakMap<History, Tree>} */
const trees = new WeakMap();

/** @param {History} history @returns {Tree} */
function treeOf(history) {
  let tree = trees.get(history);
  if (!tree) trees.set(history, (tree = { seen: 0, of: new Map() }));
  if (tree.seen !== history.size) grow(tree, history);
  return tree;
}

/** The moments that follow from this one, in the order in which they were made.
 * @param {History} history @param {number} id @returns {Node[]} */
export const children = (history, id) => treeOf(history).of.get(id) ?? NONE;

/** @type {Node[]} */
const NONE = [];

/** How many lines there are: moments that nothing follows from.
 * @param {History} history */
export const lineCount = (history) => Math.max(1, history.size - treeOf(history).of.size);

/** @param {Tree} tree @param {History} history */
function grow(tree, history) {
  let i = 0;
  for (const node of history.values()) {
    if (i++ < tree.seen || node.parent === null || !history.has(node.parent)) continue;
    const list = tree.of.get(node.parent);
    if (list) list.push(node);
    else tree.of.set(node.parent, [node]);
  }
  tree.seen = history.size;
}

/** From the oldest known moment to this one.
 * @param {History} history @param {number} at @returns {Node[]} */
export function before(history, at) {
  /** @type {Node[]} */
  const found = [];
  for (let node = history.get(at); node; node = node.parent === null ? undefined : history.get(node.parent)) found.push(node);
  return found.reverse();
}

/** Whether two moments of a run have the same weights: one update made them, or none did. Pure.
 * @param {History} history @param {number} one @param {number} other */
export function sameWeights(history, one, other) {
  const [a, b] = [one, other].map((at) => before(history, at).findLast((n) => n.parent === null || (n.phase === "train" && n.command === "step" && !n.stage)));
  return a === b;
}

/** The line through a moment: from the root to it, and on. It goes on to `head` where that lies ahead, so that going back and
 * forth on a line does not change it; then along what was done last in the same pass, then along what was done last.
 * @param {History} history @param {number} at @param {number} [head] @returns {Node[]} */
export function path(history, at, head = at) {
  const asked = `${history.size} ${at} ${head}`;
  const known = newest.get(history);
  if (known?.asked === asked) return known.path;
  const found = walk(history, at, head);
  newest.set(history, { asked, path: found });
  return found;
}

/** The newest answer of `path`: one draw asks for it several times. @type {WeakMap<History, {asked: string, path: Node[]}>} */
const newest = new WeakMap();

/** The end of the line through the current moment: the one that was followed, while the moment lies on it.
 * @param {World} world @param {number | undefined} head @returns {number | undefined} */
export function lineEnd(world, head) {
  const at = world.moved?.at;
  return at === undefined ? undefined : path(world.history, at, head !== undefined && world.history.has(head) ? head : at).at(-1)?.id;
}

/** What a person chose next on the line that is followed: Step goes to it again. Null: Step decides by the policy.
 * @param {World} world @returns {Node | null} */
export function chosenNext(world) {
  const end = world.recording ? undefined : lineEnd(world, world.line);
  const next = end === undefined ? undefined : path(world.history, world.moved.at, end).find((n) => n.parent === world.moved.at);
  return next?.command === "choose" ? next : null;
}

/** @param {History} history @param {number} at @param {number} head @returns {Node[]} */
function walk(history, at, head) {
  const along = before(history, head);
  const found = along.some((n) => n.id === at) ? along : before(history, at);
  for (let last = found.at(-1); last; ) {
    const next = children(history, last.id);
    const here = /** @type {Node} */ (last);
    last = next.findLast((n) => !starts(n, here)) ?? next.at(-1);
    if (last) found.push(last);
  }
  return found;
}

/** @param {Node} node */
const turn = (node) => node.command === "join" || node.command === "leave";

/** @param {Node} node */
const edit = (node) => node.command === "change" || node.command === "undo" || node.command === "redo";

/** Whether a pass begins here: its phase was entered, or another text was given.
 * @param {Node} node @param {Node | undefined} before */
function starts(node, before) {
  if (!before) return true;
  if (node.phase === "train") return before.phase !== "train";
  return node.step === 0 && !node.stage && !((edit(node) || turn(node)) && before.phase === node.phase && before.step === 0 && !before.stage);
}

/** The places of the whole line through a moment. What lies inside a step is a place only while the run stands there.
 * @param {History} history @param {number} at @param {number} [head] @returns {Stop[]} */
export function line(history, at, head = at) {
  const along = path(history, at, head);
  const here = along.findIndex((n) => n.id === at);
  /** @type {Stop[]} */
  const found = [];
  along.forEach((node, i) => {
    const begins = starts(node, along[i - 1]);
    const state = i === here ? "now" : i < here ? "done" : "ahead";
    const last = found.at(-1);
    if (node.stage && state !== "now") return;
    if (last && !begins && edit(node) && last.node.step === node.step && last.node.stage === node.stage && last.node.phase === node.phase) merge(last, node, state);
    else found.push({ node, all: [node], edits: 0, state, starts: begins || !found.length });
  });
  return found;
}

/** @param {Stop} place @param {Node} node an edit of it @param {Stop["state"]} state */
function merge(place, node, state) {
  place.all.push(node);
  if (state !== "ahead" || place.state === "ahead") place.edits = Math.max(0, place.edits + (node.command === "undo" ? -1 : 1));
  if (place.state !== "now") Object.assign(place, { node, state });
}

/** The pass that the run is in: from where its phase was entered or its text given to where it was left for something else.
 * @param {Stop[]} all of a line @returns {Stop[]} */
export function pass(all) {
  const here = all.findIndex((s) => s.state === "now");
  const begin = all.findLastIndex((s, i) => i <= here && s.starts);
  const end = all.findIndex((s, i) => i > here && s.starts);
  return all.slice(Math.max(0, begin), end < 0 ? undefined : end);
}

/** Other moments that follow from the same one and stand at the same stage: the branches at this place, itself left out.
 * @param {History} history @param {Node} node @returns {Node[]} */
export const branches = (history, node) =>
  node.parent === null ? [] : children(history, node.parent).filter((n) => n.id !== node.id && n.phase === node.phase && n.stage === node.stage);

/** Whether anything else follows from where this place follows from. @param {History} history @param {Node[]} all */
const branchesOff = (history, all) => all.some((n) => n.parent !== null && children(history, n.parent).length > 1);

/** The same for a place, whichever of its edits is shown.
 * @param {History} history @param {Node[]} all @returns {Node[]} */
export const alternatives = (history, all) => !branchesOff(history, all) ? NONE : [...new Set(all.flatMap((n) => branches(history, n)))].filter((n) => !all.includes(n));

/** The last moment before this one that belongs to another text or an earlier pass, or null.
 * @param {History} history @param {Node} first of a pass @returns {number | null} */
export function earlier(history, first) {
  let node = first.parent === null ? undefined : history.get(first.parent);
  while (node && node.phase === "train") node = node.parent === null ? undefined : history.get(node.parent);
  return node?.id ?? null;
}

/** A line of the tree: its first own moment and what stands in its place on the line that it leaves (`of`, an index), its end, and from which
 * depth to which it runs, in moments.
 * @typedef {{first: Node, beside: Node | null, end: Node, of: number, from: number, to: number}} Line */

/** All lines: the one through `at` first, then the newest first. Each but the first leaves one above it.
 * @param {History} history @param {number} at @param {number} [head] @returns {Line[]} */
export function lines(history, at, head = at) {
  const main = path(history, at, head);
  if (!main.length) return [];
  /** @type {Map<number, {row: number, depth: number}>} */
  const places = new Map(main.map((n, depth) => [n.id, { row: 0, depth }]));
  /** @type {Line[]} */
  const found = [{ first: main[0], beside: null, end: /** @type {Node} */ (main.at(-1)), of: -1, from: 0, to: main.length - 1 }];
  const ends = [...history.values()].filter((n) => !children(history, n.id).length && !places.has(n.id)).reverse();
  for (const end of ends) {
    const own = before(history, end.id).filter((n) => !places.has(n.id));
    const first = own[0];
    const left = first.parent === null ? undefined : places.get(first.parent);
    const from = (left?.depth ?? -1) + 1;
    const beside = first.parent === null ? undefined : children(history, first.parent).find((n) => places.get(n.id)?.row === left?.row);
    own.forEach((n, i) => places.set(n.id, { row: found.length, depth: from + i }));
    found.push({ first, beside: beside ?? null, end, of: left?.row ?? 0, from, to: from + own.length - 1 });
  }
  return found;
}
