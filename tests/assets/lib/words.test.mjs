import assert from "node:assert/strict";
import test from "node:test";

import { brief } from "../../../assets/lib/words.mjs";

const x = (n) => "x".repeat(n);

test("of a word that is longer than a line, the beginning is said; what closes it stays", () => {
  assert.equal(brief(`“${x(500)}” is not in the vocabulary.`), `“${x(31)}…” is not in the vocabulary.`);
  assert.equal(brief(`one: ${x(500)}.`), `one: ${x(32)}….`);
  assert.equal(brief(`${x(39)} ${x(40)}`), `${x(39)} ${x(32)}…`);
  assert.equal(brief(".".repeat(500)), `${".".repeat(32)}…`);
});
