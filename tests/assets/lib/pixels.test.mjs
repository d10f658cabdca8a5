import assert from "node:assert/strict";
import test from "node:test";

import { asFrames, blank, empty, free, ink, shape, stamp, upright, wipe, within } from "../../../assets/lib/setup/pixels.mjs";

test("a stroke has a dark middle and soft edges, without gaps, and what is outside is not there", () => {
  const made = ink(blank(4, 6), [1, 0], [1, 5]);
  assert.deepEqual(made[1], [1, 1, 1, 1, 1, 1]);
  assert.deepEqual(made[0], Array(6).fill(0.45));
  assert.deepEqual(made[3], Array(6).fill(0));
  assert.ok(empty(ink(blank(3, 3), [9, 9], [12, 12])));
  assert.ok(empty(wipe(made, [1, 0], [1, 5])));
});

test("a stamp over the edge is cut off, and one outside leaves nothing", () => {
  const piece = [[1, 0.5], [0, 1]];
  assert.deepEqual(stamp(blank(2, 2), piece, 1, 1), [[0, 0], [0, 1]]);
  assert.ok(empty(stamp(blank(2, 2), piece, -2, 0)));
  assert.equal(within(blank(2, 2), piece, 1, 1), 1);
  assert.equal(within(blank(2, 2), piece, 5, 0), 0);
});

test("a shape is the ink that touches, and moving it leaves the rest", () => {
  const lines = [[1, 0, 0], [0, 0.5, 0], [0, 0, 0], [0, 0, 1]];
  const found = shape(lines, 0, 0);
  assert.deepEqual(found?.piece, [[1, 0], [0, 0.5]]);
  assert.deepEqual(found?.rest, [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]);
  assert.deepEqual([found?.y, found?.x], [0, 0]);
  assert.equal(shape(lines, 0, 2), null);
});

test("a stamp that was not dragged goes where there is no ink yet", () => {
  const piece = blank(2, 2);
  const lines = blank(8, 8);
  assert.deepEqual(free(lines, piece), [1, 1]);
  lines[0][0] = 1;
  assert.deepEqual(free(lines, piece), [1, 5]);
});

test("frames stand upright with the lowest band below, and go back as they were", () => {
  const frames = [[1, 2, 3], [4, 5, 6]];
  assert.deepEqual(upright(frames), [[3, 6], [2, 5], [1, 4]]);
  assert.deepEqual(asFrames(upright(frames)), frames);
});
