import assert from "node:assert/strict";
import test from "node:test";

import { layout } from "../../../assets/lib/picture/layout.mjs";
import { patchLayout } from "../../../assets/lib/picture/patches.mjs";
import { ranked } from "../../../assets/lib/picture/places.mjs";
import { percents } from "../../../assets/lib/picture/weights.mjs";

const inside = (box, width, height) => box.x >= 0 && box.y >= 0 && box.x + box.w <= width && box.y + box.h <= height;
const apart = (a, b) => a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;

test("picture, weights and words lie apart on every canvas, for few rows and many, and do not move when rows come", () => {
  for (const [width, height] of [[565, 230], [662, 165], [362, 272], [900, 300]]) {
    for (const cut of [{ lines: 6, columns: 6 }, { lines: 3, columns: 6 }, { lines: 12, columns: 12 }]) {
      for (const rows of [1, 8, 20]) {
        const { picture, weights, small } = layout(width, height, rows, cut);
        const all = [picture, weights, ...Array.from({ length: rows }, (_, r) => small(r))];
        all.forEach((box, i) => {
          assert.ok(inside(box, width, height), `${i} of ${rows} in ${width}x${height}: ${JSON.stringify(box)}`);
          all.slice(0, i).forEach((other) => assert.ok(apart(box, other)));
        });
        assert.deepEqual([weights.y, weights.w, weights.h], [picture.y, picture.w, picture.h], "one geometry");
      }
      assert.deepEqual(layout(width, height, 1, cut).small(0), layout(width, height, 8, cut).small(0));
    }
  }
});

test("a point on either large one is a place, on a small one a place of its row, else nothing", () => {
  const cut = { lines: 6, columns: 6 };
  const { picture, weights, small, at } = layout(565, 230, 3, cut);
  const middle = (box, key) => at(box.x + ((key % 6) + 0.5) * (box.w / 6), box.y + (Math.floor(key / 6) + 0.5) * (box.h / 6));
  assert.deepEqual(middle(picture, 13), { row: null, place: 13 });
  assert.deepEqual(middle(weights, 35), { row: null, place: 35 });
  assert.deepEqual(middle(small(2), 7), { row: 2, place: 7 });
  assert.equal(at(picture.x + picture.w + 5, 50), null);
});

test("the list holds the most probable places, the drawn one wherever it stands, and what the others have", () => {
  const shares = [0.05, 0.3, 0.02, 0.25, 0.2, 0.1, 0.08];
  const { top, rest, others } = ranked(shares, 2, 3);
  assert.deepEqual(top.map((l) => l.key), [1, 3, 2]);
  assert.equal(others, 4);
  assert.ok(Math.abs(rest - 0.43) < 1e-9);
  assert.deepEqual(ranked(shares, null, 3).top.map((l) => l.key), [1, 3, 4]);
  assert.deepEqual(ranked([NaN, NaN], null), { top: [], rest: 0, others: 0 }, "not read yet");
});

test("a share is printed in percent in at most two signs", () => {
  assert.deepEqual([0, 0.0004, 0.003, 0.0094, 0.0096, 0.036, 0.464, 1].map(percents), ["0", "0", ".3", ".9", "1", "4", "46", "100"]);
});

test("the strip of places lies over the words, a point on it is a place or a row, and without room there is none", () => {
  const geo = patchLayout(565, 230, 36, 6);
  const middle = (b) => geo.at(b.x + b.w / 2, b.y + b.h / 2);
  for (const key of [0, 17, 35]) assert.deepEqual(middle(geo.patch(key)), { row: null, place: key });
  for (const row of [0, 5]) assert.deepEqual(middle(geo.chip(row)), { row, place: null });
  assert.ok([...Array(36).keys()].every((key) => inside(geo.patch(key), 565, geo.bottom)) && inside(geo.chip(5), 565, geo.height));
  assert.equal(geo.at(10, 5), null);
  assert.equal(patchLayout(565, 165, 36, 6), null);
  assert.equal(patchLayout(362, 272, 144, 6), null);
});
