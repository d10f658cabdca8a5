import assert from "node:assert/strict";
import test from "node:test";

import { chips } from "../../../assets/views/draft.mjs";

test("a round shows what was kept, what was not, and the model's own token", () => {
  assert.deepEqual(chips({ proposed: ["a", "b"], kept: 1, own: "c" }).map((c) => `${c.token} ${c.kind}`), ["a kept", "b not", "c own"]);
  assert.deepEqual(chips({ proposed: ["a"], kept: 1, own: null }).length, 1);
});
