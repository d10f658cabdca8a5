// @ts-check
/** Whether a change can be taken back, or made again, where a run stands (app/session/taking_back.py says the same). Pure. */

/** @typedef {Map<number, any>} History @typedef {{undo: number, redo: number}} Edits changes that can be taken back, and made again */

/** By node, so that a step costs one look. @type {WeakMap<any, Edits>} */
const known = new WeakMap();
const NONE = { undo: 0, redo: 0 };

/** @param {History} history @param {number} at @returns {Edits} */
export function edits(history, at) {
  const way = [];
  let node = history.get(at);
  for (; node && !known.has(node); node = history.get(node.parent)) way.push(node);
  let found = (node && known.get(node)) ?? NONE;
  for (const next of way.reverse()) known.set(next, (found = after(found, next)));
  return found;
}

/** @param {Edits} before @param {any} node @returns {Edits} */
function after({ undo, redo }, node) {
  if (node.parent === null) return NONE;
  switch (node.command) {
    case "change": return { undo: undo + 1, redo: 0 };
    case "undo": return { undo: undo - 1, redo: redo + 1 };
    case "redo": return { undo: undo + 1, redo: Math.max(0, redo - 1) }; // what was taken back in a run that was left is not among these
    default: return { undo, redo };
  }
}

/** What Undo and Redo can do now. @param {import("../types").World} world @returns {{undo: boolean, redo: boolean}} */
export function able(world) {
  const may = world.role === "writer" && world.connection === "open" && !!world.moved;
  const { undo, redo } = may ? edits(world.history, world.moved.at) : NONE;
  return { undo: may && undo + (world.opened?.left ?? 0) > 0, redo: may && redo + (world.opened?.again ?? 0) > 0 };
}
