import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Told } from "../../../assets/lib/page/told.mjs";

/** A control with its properties, and a clock that each look moves on. */
let control, told, waiting;
const ID = "preset";
const says = (value) => told.chose(ID, (control.value = value), control["data-told"]);

beforeEach(() => {
  let time = 0;
  control = {};
  waiting = [];
  told = new Told({ set: (_, props) => Object.assign(control, props), now: () => ++time, later: (act) => waiting.push(act) });
});

test("what the page told is nobody's choice, what was never told is a person's", () => {
  told.tell(ID, { value: "translation/0" });
  assert.equal(says("translation/0"), false);
  assert.equal(says("translation/1"), true);
  assert.equal(control["data-told"], '"translation/1"');
});

test("an earlier value that comes once more is no choice, and the control is told again what it shows", () => {
  told.tell(ID, { value: "translation/0" });
  told.tell(ID, { value: "language_model/0" });
  assert.equal(says("translation/0"), false);
  assert.equal(control.value, "translation/0");
  waiting.forEach((act) => act());
  assert.equal(control.value, "language_model/0");
  assert.equal(says("language_model/0"), false);
});

test("a person may go back to what the page told before", () => {
  told.tell(ID, { value: "translation/0" });
  told.tell(ID, { value: "language_model/0" });
  told.touch([{ id: "" }, { id: ID }]);
  assert.equal(says("translation/0"), true);
});

test("an option lies outside its control, and belongs to it; a touch elsewhere does not", () => {
  told.tell(ID, { value: "translation/0" });
  told.tell(ID, { value: "language_model/0" });
  told.touch([{ id: "step" }]);
  assert.equal(says("translation/0"), false);
  told.touch([{ id: "x", matches: (list) => list === "[role=listbox]" }]);
  assert.equal(says("translation/0"), true);
});

test("a control that shows a value already is not told it", () => {
  told.tell(ID, { value: 1, disabled: false });
  control = {};
  told.tell(ID, { value: 1, disabled: true });
  assert.deepEqual(control, { disabled: true });
});
