import assert from "node:assert/strict";
import test from "node:test";

import { keyed } from "../../../assets/lib/setup/chipkeys.mjs";

/** A row of three tokens that writes down what it is told, and a key pressed on one of its chips or in its input. */
function pressed(key, target, more = {}) {
  const { shiftKey = false, ctrlKey = false, suggested = null, ...chips } = more;
  const told = [];
  const does = (name) => (...given) => void told.push([name, ...given]);
  const row = Object.fromEntries(["commit", "stop", "put", "move", "focus", "edit"].map((name) => [name, does(name)]));
  const event = { key, shiftKey, ctrlKey, altKey: false, metaKey: false, isComposing: false, target, preventDefault: () => told.push("taken"), stopPropagation() {} };
  keyed({ ...row, tokens: ["a", "b", "c"], editing: null, how: { characters: false }, suggest: { key: () => suggested }, ...chips }, event);
  return told;
}
const chip = (at) => ({ tagName: "BUTTON", dataset: { at: String(at) } });
const input = (value, selectionStart = value.length) => ({ tagName: "INPUT", dataset: {}, value, selectionStart });

test("on a chip keys go, move, edit and remove; others are left to the page", () => {
  assert.deepEqual(pressed("ArrowRight", chip(1)), ["taken", ["focus", 2]]);
  assert.deepEqual(pressed("ArrowLeft", chip(1), { shiftKey: true }), ["taken", ["move", 1, 0]]);
  assert.deepEqual([pressed("End", chip(0))[1], pressed("Home", chip(2))[1]], [["focus", 2], ["focus", 0]]);
  assert.deepEqual([pressed("F2", chip(1))[1], pressed("Insert", chip(1))[1]], [["edit", 1, false], ["edit", 1, true]]);
  assert.deepEqual([pressed("Delete", chip(1))[1], pressed("Backspace", chip(1))[1]], [["put", 1, 1, [], 1], ["put", 1, 1, [], 0]]);
  for (const told of [pressed("x", chip(1)), pressed("ArrowRight", chip(1), { ctrlKey: true }), pressed("Enter", { tagName: "BUTTON", dataset: {} })]) assert.deepEqual(told, []);
});

test("in the input Enter ends a word, a space begins the next one, Backspace in an empty one takes the token before", () => {
  assert.deepEqual([pressed("Enter", input("cat"))[1], pressed("Escape", input("cat"), { editing: { index: 2, insert: false } })[1]], [["commit", "cat"], ["stop", 2]]);
  assert.deepEqual(pressed(" ", input("cat")), ["taken", ["commit", "cat", { more: true }]]);
  assert.deepEqual(pressed(" ", input(" ")), ["taken"], "no empty word");
  assert.deepEqual([pressed(" ", input("cat", 1)), pressed(" ", input("cat"), { how: { characters: true } })], [[], []], "a space inside, or a text of characters");
  assert.deepEqual(pressed("Backspace", input(""), { editing: { index: 2, insert: true } }), ["taken", ["put", 1, 1, [], 1]]);
  assert.deepEqual([pressed("Backspace", input(""), { editing: { index: 0, insert: true } }), pressed("Backspace", input("c"), { editing: { index: 2, insert: true } })], [[], []]);
  const told = [];
  pressed("Enter", input("ca"), { suggested: () => told.push("suggested") });
  assert.deepEqual(told, ["suggested"], "what is suggested goes first");
});
