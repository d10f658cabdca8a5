import assert from "node:assert/strict";
import test from "node:test";

import { alternatives, branches, earlier, line, lines, pass, path } from "../../../assets/lib/deck/moments.mjs";
import { node } from "../views/world.mjs";

const tree = (...nodes) => new Map(nodes.map((n) => [n.id, n]));
const start = node(0, null, "prefill", 0, { command: "open" });
const ids = (nodes) => nodes.map((n) => n.id);
const here = (history, at) => pass(line(history, at));

test("the path goes through a moment, and on along what was done last", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1), node(3, 2, "decode", 2), node(4, 2, "decode", 2), node(5, 4, "decode", 3));
  assert.deepEqual(ids(path(history, 1)), [0, 1, 2, 4, 5]);
  assert.deepEqual(ids(path(history, 3)), [0, 1, 2, 3]);
  assert.deepEqual(ids(branches(history, history.get(4))), [3]);
  assert.deepEqual(branches(history, start), []);
});

test("a line that is followed stays the same while one goes back and forth on it", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1), node(3, 1, "decode", 1));
  assert.deepEqual(ids(path(history, 1)), [0, 1, 3]);
  assert.deepEqual(ids(path(history, 1, 2)), [0, 1, 2]);
  assert.deepEqual(ids(path(history, 3, 2)), [0, 1, 3], "another line was gone to");
  history.set(4, node(4, 2, "decode", 2));
  assert.deepEqual(ids(path(history, 0, 2)), [0, 1, 2, 4], "what grew is found");
});

test("a line goes on in its own pass before it goes on in a later one", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1), node(3, 1, "train", 0, { command: "enter" }));
  assert.deepEqual(ids(path(history, 1)), [0, 1, 2]);
  assert.deepEqual(ids(path(history, 3)), [0, 1, 3]);
});

test("stages inside a step are one place, and edits of a step too", () => {
  const history = tree(start, node(1, 0, "prefill", 0, { stage: "encode" }), node(2, 1, "prefill", 1), node(3, 2, "prefill", 1, { command: "change" }), node(4, 3, "decode", 1));
  assert.deepEqual(here(history, 4).map((b) => [b.node.id, b.all.length, b.state]), [[0, 1, "done"], [3, 2, "done"], [4, 1, "now"]]);
  assert.deepEqual(here(history, 1).map((b) => [b.node.id, b.state]), [[0, "done"], [1, "now"], [3, "ahead"], [4, "ahead"]]);
  assert.deepEqual(here(history, 2).map((b) => [b.node.id, b.state]), [[0, "done"], [2, "now"], [4, "ahead"]]);
});

test("a pass begins where its phase was entered and ends where it is entered again; the line holds all of them", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "train", 0, { command: "enter" }), node(3, 2, "train", 1), node(4, 3, "decode", 0, { command: "enter" }), node(5, 4, "decode", 1));
  assert.deepEqual(here(history, 5).map((b) => b.node.id), [4, 5]);
  assert.deepEqual(here(history, 3).map((b) => b.node.id), [2, 3]);
  assert.deepEqual(here(history, 1).map((b) => b.node.id), [0, 1]);
  assert.deepEqual(line(history, 3).map((s) => [s.node.id, s.starts]), [[0, true], [1, false], [2, true], [3, false], [4, true], [5, false]]);
});

test("another text begins the line anew, with the way back to the earlier one", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1), node(3, 2, "prefill", 0, { command: "change" }), node(4, 3, "prefill", 1), node(5, 4, "prefill", 0, { command: "undo" }));
  assert.deepEqual(here(history, 4).map((b) => [b.node.id, b.edits]), [[3, 0], [4, 0]]);
  assert.deepEqual(here(history, 2).map((b) => b.node.id), [0, 1, 2]);
  assert.deepEqual([earlier(history, history.get(3)), earlier(history, start)], [2, null]);
  assert.deepEqual(here(history, 5).map((b) => [b.node.id, b.edits]), [[5, 0]]);
});

test("an edit marks its step until it is taken back", () => {
  const edited = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1), node(3, 2, "decode", 1, { command: "change" }));
  assert.deepEqual(here(edited, 3).map((b) => b.edits), [0, 0, 1]);
  assert.deepEqual(here(edited, 2).map((b) => b.edits), [0, 0, 0]);
  edited.set(4, node(4, 3, "decode", 1, { command: "undo" }));
  assert.deepEqual(here(edited, 4).map((b) => [b.node.id, b.edits]), [[0, 0], [1, 0], [4, 0]]);
  const first = tree(start, node(1, 0, "prefill", 0, { command: "change" }));
  assert.deepEqual(here(first, 1).map((b) => [b.node.id, b.edits]), [[1, 1]]);
});

test("the lines of a run: the current one first, each other from where it leaves one above it", () => {
  const history = tree(start, node(1, 0, "prefill", 1), node(2, 1, "decode", 1, { label: "le" }), node(3, 2, "decode", 2, { label: "chat" }), node(4, 1, "decode", 1, { label: "un" }), node(5, 4, "decode", 2, { label: "chien" }), node(6, 4, "decode", 2, { label: "roi" }));
  const found = lines(history, 3);
  assert.deepEqual(found.map((l) => [l.first.id, l.beside?.id ?? null, l.end.id, l.of, l.from, l.to]), [[0, null, 3, -1, 0, 3], [4, 2, 6, 0, 2, 3], [5, 6, 5, 1, 3, 3]]);
  assert.equal(lines(history, 5)[0].end.id, 5);
  assert.deepEqual(ids(alternatives(history, [history.get(2)])), [4]);
});

test("thirty branches of one moment are thirty lines", () => {
  const history = tree(start, ...Array.from({ length: 30 }, (_, i) => node(i + 1, 0, "decode", 1, { label: `w${i}` })));
  assert.equal(lines(history, 7).length, 30);
  assert.equal(alternatives(history, [history.get(7)]).length, 29);
});
