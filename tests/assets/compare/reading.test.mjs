import assert from "node:assert/strict";
import test from "node:test";

import { column } from "../../../assets/compare/reading.mjs";

test("columns stay as wide as they are while rows come, keys leave room for the rows' names, and all rows fit", () => {
  for (const width of [246, 372, 490]) {
    for (const keys of [1, 4, 9]) {
      const wide = column(width, keys, 1);
      for (let rows = 1; rows <= keys; rows++) assert.equal(column(width, keys, rows), wide);
      for (const rows of [1, keys, 12]) {
        assert.ok(keys * column(width, keys, rows) <= width - 62 + 1e-9);
        assert.ok((rows + 1) * column(width, keys, rows) <= width + 1e-9, "the token to come too");
      }
    }
  }
});
