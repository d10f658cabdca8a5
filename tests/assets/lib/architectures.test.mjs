import assert from "node:assert/strict";
import test from "node:test";

import { nearest } from "../../../assets/lib/setup/architectures.mjs";

const box = (left, top) => ({ left, top, bottom: top + 40 });

test("up and down go to the nearest box beyond, in the same column where there is one", () => {
  const boxes = [box(0, 0), box(300, 0), box(0, 50), box(0, 150), box(300, 150)];
  assert.equal(nearest(boxes, 1, 1), 4); // the row between has no box under it
  assert.equal(nearest(boxes, 4, -1), 1);
  assert.equal(nearest(boxes, 0, 1), 2);
  assert.equal(nearest(boxes, 0, -1), -1);
});
