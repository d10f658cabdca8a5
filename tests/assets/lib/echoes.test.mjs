import assert from "node:assert/strict";
import test from "node:test";

import { Echoes } from "../../../assets/lib/page/echoes.mjs";

test("what a control was told before is an echo for a moment, and a choice afterwards", () => {
  const echoes = new Echoes();
  echoes.gone("preset value", '"translation/0"', 1000);
  assert.equal(echoes.has("preset value", '"translation/0"', 1300), true);
  assert.equal(echoes.has("preset value", '"language_model/0"', 1300), false);
  assert.equal(echoes.has("phase value", '"translation/0"', 1300), false);
  assert.equal(echoes.has("preset value", '"translation/0"', 4000), false);
});
