import assert from "node:assert/strict";
import { test } from "node:test";

import { nearest, placeOf } from "../../../assets/lib/deck/scrub.mjs";
import { over } from "../../../assets/views/track.mjs";

test("the bar's places stand over their blocks while all of them are shown, else they are as far from each other", () => {
  const line = [{ node: { id: 4 } }, { node: { id: 6 } }];
  const blocks = [{ node: null, left: 0, width: 50 }, { node: 4, left: 52, width: 100 }, { node: 6, left: 152, width: 50 }, { node: null, left: 202, width: 50 }];
  assert.deepEqual(over(blocks, line, 404), [0.25, 0.4375]);
  assert.equal(over(blocks, line, 160), null, "scrolled out of sight");
  assert.equal(over(blocks.slice(2), line, 404), null, "of an earlier pass");
  const shown = { over: [0.25, 0.4375], count: 2 };
  assert.deepEqual([placeOf(shown, 1), nearest(shown, 0.3), nearest(shown, 0.9)], [0.4375, 0, 1]);
  assert.deepEqual([placeOf({ over: null, count: 3 }, 1), nearest({ over: null, count: 3 }, 0.9)], [0.5, 2]);
});
