import assert from "node:assert/strict";
import test from "node:test";

import { reached } from "../../../assets/lib/states/fields.mjs";
import { words } from "../../../assets/views/field.mjs";

test("the line counts known rows that the wiring reaches", () => {
  const field = reached([{ name: "layer0", kernel: 2, dilation: 1 }, { name: "layer1", kernel: 2, dilation: 3 }]);
  assert.equal(words({ field, tokens: ["a", "b", "c"], newest: 2 }), "Row 2 c can be reached from 2 of 3 known rows.");
  assert.equal(words({ field, tokens: ["a", "b", "c", "d", "e", "f"], newest: 5 }), "Row 5 f can be reached from 4 of 6 known rows.");
});
