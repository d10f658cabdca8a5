import assert from "node:assert/strict";
import test from "node:test";

import { squares, squareSizes } from "../../../assets/lib/map/minis.mjs";

const world = (count) => ({
  moved: { phase: "decode", requests: [{ target: Array.from({ length: count }, () => ({ token: "a", state: "known" })), source: null }] },
  opened: { scenario: { phase: "decode", requests: [{}] }, relations: [{ name: "target_self", query: "t", key: "t", path: "l{layer}", layers: 1, heads: 1 }] },
  look: { relation: "target_self", request: 0, layer: 0, head: 0 },
  schema: { taps: [] },
});

test("a square shows the largest number that is known of its cells", () => {
  const cells = [[0.1, 0.2, NaN], [0.4, NaN, NaN]];
  const shown = squares((r, k) => cells[r]?.[k] ?? NaN, 2);
  assert.equal(shown(0, 0), 0.4);
  assert.ok(Number.isNaN(shown(0, 1)));
  const same = () => 0.5;
  assert.equal(squares(same, 1), same);
});

test("what is watched stays the same while squares grow, up to 128 rows", () => {
  assert.deepEqual([6, 64, 65, 128, 130].map((rows) => squareSizes(world(rows))), [
    { shown: 1, sent: 1 }, { shown: 1, sent: 1 }, { shown: 2, sent: 1 }, { shown: 2, sent: 1 }, { shown: 4, sent: 4 },
  ]);
});
