import assert from "node:assert/strict";
import test from "node:test";

import { placeSet, withPlace } from "../../../assets/lib/picture/draws.mjs";

const world = (draws, request = 0) => ({ opened: { scenario: { draws, requests: [{}, {}] } }, moved: { phase: "decode", requests: [{}, {}] }, look: { request } });

test("a place is set for one row of one request, moved by another, and free again by the same", () => {
  const first = withPlace(world([]), 2, 5);
  assert.deepEqual(first, [{ request: 0, row: 2, place: 5 }]);
  assert.equal(placeSet(world(first), 2), 5);
  assert.equal(placeSet(world(first, 1), 2), null);
  assert.deepEqual(withPlace(world(first), 2, 6), [{ request: 0, row: 2, place: 6 }]);
  assert.deepEqual(withPlace(world(first), 2, 5), []);
  assert.equal(withPlace(world(first, 1), 2, 5).length, 2);
});
