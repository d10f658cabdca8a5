import assert from "node:assert/strict";
import test from "node:test";

import { able, edits } from "../../../assets/lib/deck/undoing.mjs";
import { node } from "../views/world.mjs";

const run = (...commands) => new Map(commands.map((command, i) => [i, node(i, i ? i - 1 : null, "decode", i, { command })]));

test("a change can be taken back, then made again, until another one is made; steps leave that alone", () => {
  const history = run("open", "change", "step", "change", "undo", "undo", "step", "redo", "change");
  const said = [...history.keys()].map((at) => Object.values(edits(history, at)));
  assert.deepEqual(said, [[0, 0], [1, 0], [1, 0], [2, 0], [1, 1], [0, 2], [0, 2], [1, 1], [2, 0]]);
  assert.deepEqual(edits(run("open", "redo"), 1), { undo: 1, redo: 0 }, "what was taken back in a run that was left is made again");
});

test("what is offered: nothing at the start, an earlier run where one was left, nothing to a reader", () => {
  const history = run("open", "change");
  const at = (/** @type {number} */ at, left = 0, role = "writer") => able(/** @type {any} */ ({ history, moved: { at }, opened: { left }, role, connection: "open" }));
  assert.deepEqual([at(0), at(0, 1), at(1), at(1, 1, "reader")], [{ undo: false, redo: false }, { undo: true, redo: false }, { undo: true, redo: false }, { undo: false, redo: false }]);
  const back = { history, moved: { at: 0 }, opened: { left: 0, again: 1 }, role: "writer", connection: "open" };
  assert.ok(able(/** @type {any} */ (back)).redo, "a part that was exchanged and taken back is exchanged again");
});
