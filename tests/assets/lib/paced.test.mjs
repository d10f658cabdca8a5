import assert from "node:assert/strict";
import test from "node:test";

import { paced } from "../../../assets/lib/run/paced.mjs";

test("one at a time, and of what waits only the newest", async () => {
  /** @type {number[]} */
  const sent = [];
  /** @type {(() => void)[]} */
  const answers = [];
  const go = paced((/** @type {number} */ moment) => {
    sent.push(moment);
    return new Promise((resolve) => answers.push(() => resolve(undefined)));
  });
  const idle = [1, 2, 3, 4].map(go).at(-1);
  assert.deepEqual(sent, [1]);
  answers[0]();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(sent, [1, 4]);
  answers[1]();
  await idle;
  go(5);
  assert.deepEqual(sent, [1, 4, 5]);
});
