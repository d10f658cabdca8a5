import assert from "node:assert/strict";
import test from "node:test";

import { placeAt } from "../../../assets/lib/setup/reorder.mjs";
import { effectOf } from "../../../assets/lib/setup/requests.mjs";

test("what a change did to the next token is said in figures", () => {
  const [dort, court] = [{ id: 5, token: "dort", probability: 0.861 }, { id: 9, token: "court", probability: 0.62 }];
  assert.equal(effectOf(0, [dort], [court]), "Next token: dort 0.861 before this change, court 0.620 after it.");
  assert.equal(effectOf(0, [dort], [{ ...dort, probability: 0.5 }]), "Next token: dort, 0.861 before this change, 0.500 after it.");
  assert.deepEqual([effectOf(-1, [dort], [court]), effectOf(0, [null], [court])], ["", ""]);
  assert.equal(effectOf(0, [{ ...dort, at: "decode 2 3" }], [{ ...court, at: "decode 0 1" }]), "", "two rows are not compared");
});

test("a carried token is put before the chip that it is over, in the line that it is over", () => {
  const box = (left, top) => ({ left, right: left + 40, top, bottom: top + 24 });
  const boxes = [box(0, 0), box(50, 0), box(0, 30), box(50, 30)];
  assert.deepEqual([placeAt(boxes, 5, 10), placeAt(boxes, 45, 10), placeAt(boxes, 95, 10)], [0, 1, 2]);
  assert.deepEqual([placeAt(boxes, 5, 40), placeAt(boxes, 95, 40), placeAt(boxes, 5, 900)], [2, 3, 2]);
});
